//! The options of `hostwire run`.

use std::ffi::OsString;
use std::time::Duration;

use super::bind::Bind;
use super::parse;

/// The wires that `--wire` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Wire {
    /// Shared memory of one host.
    Shm,
    /// Only by `HOSTWIRE_WIRE`: for tests of the library.
    #[value(skip)]
    Stores,
    /// Ethernet frames between hosts, shared memory within them.
    Ether,
    /// As ether, through AF_XDP: one PE per host.
    Xdp,
    /// As ether, in UDP datagrams.
    Udp,
}

impl Wire {
    /// The name, as in `--wire` and `HOSTWIRE_WIRE`.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Shm => "shm",
            Wire::Stores => "stores",
            Wire::Ether => "ether",
            Wire::Xdp => "xdp",
            Wire::Udp => "udp",
        }
    }

    /// The wire of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Shm, Self::Stores, Self::Ether, Self::Xdp, Self::Udp]
            .into_iter()
            .find(|wire| wire.name() == name)
    }

    /// Whether it goes from host to host.
    pub fn spans_hosts(self) -> bool {
        !matches!(self, Wire::Shm | Wire::Stores)
    }
}

/// Start a program as the PEs of one job on this host.
#[derive(Debug, clap::Args)]
#[command(override_usage = "hostwire run -n N [OPTIONS] [--] PROGRAM [ARGS]...")]
#[command(after_long_help = "\
EXAMPLES
    Four PEs, each line of output marked with the PE it came from:

        hostwire run -n 4 --label ./heat2d --size 512x512

    Give up after two minutes, and say what every PE was doing:

        hostwire run -n 8 --timeout 2m ./gups

    Two PEs on CPUs 0 and 2, with a symmetric heap of 1 GiB each:

        hostwire run -n 2 --bind 0,2 --heap 1G ./prog --its-own-option

    Six PEs on three hosts that are made of this machine for the job, to see \
how the program does over Ethernet (needs root):

        hostwire run -n 6 --wire ether --hosts 3 ./heat2d

EXIT STATUS
    0    every PE exited with 0
    1    what the PEs print could not be written
    2    something was wrong before anything was started
    124  --timeout passed
    130  Ctrl-C (128 + the signal that ended hostwire)
    Otherwise that of the PE that failed first; 128 + N if signal N killed it.

WHAT IS LEFT
    Nothing: whatever the PEs have started ends with the job, daemons included. After \
kill -9 of hostwire itself, that is done by a second process, hw-warden, which finds what \
the PEs have started by HOSTWIRE_JOB in its environment. It misses processes started \
with another environment (env -i, sudo) or by somebody else at their request (a service \
manager), and, if it is killed together with hostwire, all but the PEs.

OTHER LAUNCHERS
    The same program starts under mpiexec.hydra, mpirun of Open MPI and srun \
(--mpi=pmi2, pmix or none), and alone as a job of one PE. They are the way to \
several machines, with HOSTWIRE_WIRE=ether, xdp or udp; this command starts PEs on \
this machine only.

ENVIRONMENT
    HOSTWIRE_WIRE, HOSTWIRE_HEAP and HOSTWIRE_RING are what --wire, --heap and \
--ring are where those are not given. HOSTWIRE_STATS=1, HOSTWIRE_INSECURE_WIRE=1, \
HOSTWIRE_LOST_AFTER, HOSTWIRE_ATTACH_TIMEOUT and others are for the library in the \
PEs; docs/environment.md lists them all.
    Each PE finds PMI_FD, PMI_RANK and PMI_SIZE, and so does a program built \
with MPICH.")]
pub struct Args {
    /// How many PEs to start.
    ///
    /// At least 1, at most 4096. More PEs than CPUs is fine: a PE that waits
    /// sleeps.
    #[arg(short = 'n', long = "pes", value_name = "N", value_parser = parse::pes, allow_negative_numbers = true)]
    pub pes: u32,

    /// What carries the stores from PE to PE.
    ///
    /// shm by default, or what HOSTWIRE_WIRE says. With ether, xdp and udp the PEs
    /// are started on hosts that are made of this machine: network namespaces with a
    /// cable or a switch between them, which end with the job. That needs root. See
    /// --hosts.
    #[arg(long, value_name = "WIRE", value_enum)]
    pub wire: Option<Wire>,

    /// How many hosts to make of this machine, with --wire ether, xdp or udp.
    ///
    /// 1 to 64. By default 2, and with xdp one for each PE. The first PEs are on the
    /// first host, and so on.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub hosts: Option<u32>,

    /// Which CPU each PE runs on: auto, none, or a list such as 0,2-5.
    ///
    /// With a list, PE i gets the CPU at place i, from the start again when the
    /// list is shorter than the job. With auto, each PE gets a CPU of its own
    /// if there are enough, and no binding at all otherwise. Only CPUs that
    /// hostwire itself may use are handed out by auto.
    #[arg(long, value_name = "BIND", default_value = "auto", value_parser = parse::bind, allow_negative_numbers = true)]
    pub bind: Bind,

    /// End the job after this long: 30s, 2m, 1h, 500ms or plain seconds.
    ///
    /// The PEs still running are named with what each was doing. The exit
    /// status is 124.
    #[arg(long, value_name = "TIME", value_parser = parse::duration, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,

    /// Begin each line of output with the PE it came from, as in `[3] `.
    #[arg(long)]
    pub label: bool,

    /// Size of each PE's symmetric heap: bytes, or with K, M, G or T.
    ///
    /// Suffixes are powers of 1024. The heaps of all PEs must fit into this
    /// machine's memory together. 256M by default, or what HOSTWIRE_HEAP says.
    #[arg(long, value_name = "SIZE", value_parser = parse::size, allow_negative_numbers = true)]
    pub heap: Option<u64>,

    /// Size of the ring that each pair of PEs exchanges messages through.
    ///
    /// A power of two from 256 bytes to 1M, 4K by default, or what HOSTWIRE_RING
    /// says. A larger ring lets a sender run further ahead of its receiver.
    #[arg(long, value_name = "SIZE", value_parser = parse::ring, allow_negative_numbers = true)]
    pub ring: Option<u64>,

    /// Send the frames between hosts as they are, without encryption.
    ///
    /// Only with a wire between hosts. Whoever is on the network can then read and change the memory of the job.
    #[arg(long)]
    pub insecure_wire: bool,

    /// Let the others run on when a PE fails.
    ///
    /// Without this, the others are ended. The exit status is that of the PE
    /// that failed first in either case.
    #[arg(long)]
    pub keep_going: bool,

    /// Print what the wire has counted, at the end, on standard error.
    ///
    /// While the job runs, see hostwire stats.
    #[arg(long)]
    pub stats: bool,

    /// How long PEs that are ended have between SIGTERM and SIGKILL.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse::grace, allow_negative_numbers = true)]
    pub grace: Duration,

    /// The program and its arguments.
    ///
    /// Everything after the name of the program is the program's own. Standard
    /// input goes to PE 0; the others read nothing.
    #[arg(required = true, trailing_var_arg = true)]
    #[arg(value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

impl Args {
    /// A job with no options: what another command starts.
    pub fn quiet(pes: u32, wire: Wire, command: Vec<OsString>) -> Self {
        Self {
            pes,
            wire: Some(wire),
            hosts: None,
            bind: Bind::Auto,
            timeout: None,
            label: false,
            heap: None,
            ring: None,
            insecure_wire: false,
            keep_going: false,
            stats: false,
            grace: Duration::from_secs(2),
            command,
        }
    }
}
