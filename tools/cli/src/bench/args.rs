//! The options of `hostwire bench`.

use std::path::PathBuf;

use hostwire::settings::{WIRE, WireName};
use hostwire_frames::FrameWire;

use crate::run::{parse_size, wire_parser};

/// The largest size that fits the memory of a PE in a benchmark.
const SIZE_BYTES_MAX: u64 = 64 << 20;

/// The measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Bench {
    /// Half round trip of a put; wires between hosts only.
    Pingpong,
    /// Half round trip of a tagged message.
    Latency,
    /// Messages per second, one way.
    Rate,
    /// Bytes per second of long messages.
    Bandwidth,
    /// Puts to a PE that does not look.
    Put,
    /// Gets from a PE that does not look.
    Get,
    /// Fetch-add and compare-swap on a word of the other PE.
    Atomic,
    /// Barrier of all PEs.
    Barrier,
    /// All-reduce of all PEs.
    Allreduce,
    /// Copies between memory of hosts and devices, beside a simulated PEACH2; not in `all`.
    Tca,
    /// All of these, then barrier and all-reduce with 8 PEs, then the start of 64.
    All,
    /// Only a barrier.
    #[value(skip)]
    Startup,
    /// Only the half round trip of a line.
    #[value(skip)]
    Line,
}

impl Bench {
    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pingpong => "pingpong",
            Self::Latency => "latency",
            Self::Rate => "rate",
            Self::Bandwidth => "bandwidth",
            Self::Put => "put",
            Self::Get => "get",
            Self::Atomic => "atomic",
            Self::Barrier => "barrier",
            Self::Allreduce => "allreduce",
            Self::Tca => "tca",
            Self::All => "all",
            Self::Startup => "startup",
            Self::Line => "line",
        }
    }

    /// Whether any number of PEs can take part.
    pub fn is_collective(self) -> bool {
        matches!(self, Self::Barrier | Self::Allreduce | Self::Startup)
    }

    fn from_name(name: &str) -> Result<Self, String> {
        use clap::ValueEnum;
        let hidden = [Self::Startup, Self::Line];
        let hidden = hidden.into_iter().find(|bench| bench.name() == name);
        hidden.map_or_else(|| Self::from_str(name, false), Ok)
    }
}

/// What is below the options.
fn after_help() -> String {
    let between = WireName::listed(WireName::is_network, "or");
    let frames = FrameWire::listed_with_ether_type("or");
    let (shm, ether) = (WireName::Shm, WireName::Ether);
    format!(
        "\
WHAT THE FIGURES MEAN
    Two PEs are started and pinned to two CPUs. Every figure is taken in turn \
with its limit: a bare cache-line ping-pong for latency, the best bare ring for \
the message rate, a bare memcpy or store loop for bandwidth, put and get, two \
cores that hand bytes on in pieces for bandwidth-staged, a bare atomic instruction, and barriers and all-reduces on bare shared memory. ratio is the median over the \
pairs: hostwire / limit for times (1.00 is perfect, more is slower), and for \
rates (1.00 is perfect, less is slower).
    With --wire {between} the two PEs are on two hosts that are made of this \
machine as network namespaces with a cable between them, which end with the \
command. That needs root. The limit of a half round trip is that of one frame over a bare \
packet socket ({frames}) or UDP socket (the others); of what is longer than a frame, \
that of as many bytes in full frames, or in a TCP stream. The limit of puts and of \
bandwidth is as many bytes one way in full frames, or in a TCP stream: short puts share \
frames, and their ratio says how much of the wire their bytes make. Gets, atomics, rate \
and collectives have no limit there; the lines below the table say which figures have none.
    A put or get over {shm} is to memory that its owner does not touch meanwhile: it \
measures stores and loads, not communication.

EXAMPLES
    hostwire bench all
    hostwire bench latency --size 8,64,1024
    hostwire bench barrier --pes 8 --json
    hostwire bench put --wire {ether} --size 64,1048576
    hostwire bench all --html bench.html --csv bench.csv
    hostwire bench tca --plot plots

NEAR, FAR AND NOISY
    The first line says whether the two cores are near each other or far, with the \
half round trip of a line: figures differ several times with it. It is measured again \
with each figure and at the end, since a hypervisor may move the cores; the last lines \
say so if that happened. A figure is noisy if the largest repeat of hostwire or of its \
limit is more than 3 times the smallest one. A figure that takes longer than 6 seconds \
has fewer batches and repeats.

JSON
    One object per line: bench, wire, pes, size_bytes, unit, median, p99, min, \
limit, ratio, repeats, spread, noisy, cores, line_ns, no_limit. For times p99 and min \
are the slowest 1 % and the fastest batch; for rates the rate that 99 % of the batches \
reach and the slowest batch. limit and ratio are null where there is no limit to compare \
with, and no_limit says why. spread is the largest repeat over the smallest one, noisy is \
true or false. cores is near, far, between, or moved (near and far while the figure was \
taken), line_ns the half round trip of a line; both are null between hosts and with more \
than 2 PEs. CSV has the same columns under a head; what is null is empty there, and noisy \
is noisy or empty."
    )
}

/// How often a measurement is repeated if nobody says it.
pub const REPEATS: u32 = 7;

/// Measure hostwire and compare it with the physical limit of this machine.
#[derive(Debug, clap::Args)]
#[command(after_long_help = after_help())]
pub struct Args {
    /// The measurement.
    #[arg(value_enum)]
    pub bench: Bench,

    /// Sizes, such as 8,64,16K, instead of the usual ones.
    ///
    /// At most 64M each. pingpong and allreduce round up to whole words of 8 bytes.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = size)]
    pub size: Vec<u64>,

    #[arg(long, value_name = "WIRE", help = WIRE.summary())]
    #[arg(value_parser = wire_parser(), default_value = WireName::Shm.name())]
    pub wire: WireName,

    /// Send the frames between hosts as they are, without encryption.
    ///
    /// Only with a wire between hosts.
    #[arg(long)]
    pub insecure_wire: bool,

    /// Print JSON, one object per line.
    #[arg(long)]
    pub json: bool,

    /// Write the figures as a table of comma-separated values to FILE.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Write the figures and their limits as a page with charts to FILE.
    ///
    /// The page needs no other file and no network.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Draw what bench tca measures and what a simulated PEACH2 does, as SVG in DIR.
    #[arg(long, value_name = "DIR")]
    pub plot: Option<PathBuf>,

    /// How many PEs. Only barrier and allreduce take more than 2.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=64))]
    pub pes: Option<u32>,

    /// How often to repeat each measurement.
    #[arg(long, value_name = "N", default_value_t = REPEATS, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: u32,
}

/// One size of `--size`.
fn size(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    match bytes <= SIZE_BYTES_MAX {
        true => Ok(bytes),
        false => Err("expected at most 64M".to_owned()),
    }
}

/// The options of a PE of a benchmark.
#[derive(Debug, clap::Args)]
pub struct PeArgs {
    #[arg(value_parser = Bench::from_name)]
    pub bench: Bench,
    #[arg(long, value_delimiter = ',')]
    pub size: Vec<u64>,
    #[arg(long)]
    pub json: bool,
    /// Say how far it is.
    #[arg(long)]
    pub progress: bool,
    /// Two PEs have a core each.
    #[arg(long)]
    pub two_cores: bool,
    #[arg(long, default_value_t = REPEATS)]
    pub repeats: u32,
    #[arg(long, value_parser = wire_parser(), default_value = WireName::Shm.name())]
    pub wire: WireName,
    /// Files for the figures, in addition to standard output.
    #[arg(long)]
    pub record: Option<PathBuf>,
}
