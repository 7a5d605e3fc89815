//! The options of modelled hardware.

use std::path::PathBuf;

use super::super::parse;
use crate::events::EventOptions;

/// The options of modelled hardware.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Virtual time")]
pub struct Options {
    /// Run the PEs on the modelled hardware of this cluster file, in virtual time.
    ///
    /// A file may also name a cluster file and say [parameters] of its models, as those of
    /// experiments do.
    ///
    /// The program is an ordinary one and need not know. It uses hostwire, OpenSHMEM, or an MPICH that
    /// is built for libfabric, which is told to use hostwire unless the environment says otherwise. Its
    /// stores become those of modelled processors, its time is that of the model, and one PE runs at a
    /// time. What the program computes takes no time. The same command gives the same result each time.
    #[arg(long, value_name = "FILE")]
    pub cluster: Option<PathBuf>,

    /// PROGRAM is one of the simulator's own, whose PEs take no processes: hello, or collectives.
    ///
    /// For jobs of thousands of PEs. The PEs use the same library as those of other programs do, and have the
    /// same times. collectives measures a message to a neighbour, barriers, and all-reduces of 8 bytes.
    #[arg(long, requires = "cluster", conflicts_with_all = [
        "compute", "env", "bind", "label", "keep_going", "grace", "timeout", "hosts"
    ])]
    pub built_in: bool,

    /// Which processor each PE runs on, by number or name, as in left,right.
    ///
    /// PE i gets the processor at place i, from the start again when the list is shorter than
    /// the job. By default PE i gets processor i, from 0 again when there are more PEs. PEs of one
    /// processor have a core each, or share cores. Hosts with PEACH2 chips count as processors.
    #[arg(long, value_name = "LIST", requires = "cluster", value_delimiter = ',')]
    pub place: Vec<String>,

    /// How long computing takes: zero, measured, or measured=3 for three times what it takes here.
    ///
    /// Measured is the processor time of the thread that uses the job. Such a run is not
    /// repeatable.
    #[arg(long, value_name = "HOW", requires = "cluster", default_value = "zero", value_parser = compute)]
    pub compute: Compute,

    /// End the job when this time has passed in the model: 500ns, 10us, 3ms, 1s.
    #[arg(long, value_name = "TIME", requires = "cluster", value_parser = parse::virtual_time)]
    pub until: Option<u64>,

    /// Begin each line of output with the virtual time at which it was written.
    #[arg(long, requires = "cluster")]
    pub stamp: bool,

    /// Write what crosses the modelled links, and what PEs do, as a Perfetto trace.
    ///
    /// A picosecond is shown as a nanosecond, as in hostwire sim.
    #[arg(long, value_name = "OUT.pftrace", requires = "cluster")]
    pub trace: Option<PathBuf>,

    /// Write what crosses the modelled links as a packet capture.
    ///
    /// Wireshark shows it with the dissector in tools/wireshark.
    #[arg(long, value_name = "OUT.pcapng", requires = "cluster")]
    pub pcap: Option<PathBuf>,

    /// Write every event of the model as an event trace.
    ///
    /// `hostwire events FILE` shows it. Times count from the begin of the job. It has 24 bytes for
    /// each event, so a second of the model may be gigabytes: see --events-of, --events-kind and
    /// --events-in.
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub events: Option<PathBuf>,

    #[command(flatten)]
    pub which: EventOptions,

    /// The file is an experiment, and the hardware that of this point. For hostwire sim.
    #[arg(long, hide = true, requires = "cluster")]
    pub point: Option<usize>,

    /// The sweep of that experiment, if it is not the file's.
    #[arg(long, hide = true, requires = "point")]
    pub swept: Option<String>,

    /// Where the use of links and the cost of the run go, as JSON. For hostwire sim.
    #[arg(long, hide = true, requires = "point")]
    pub figures: Option<PathBuf>,
}

/// How long computing takes in the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compute {
    /// No time.
    #[default]
    Zero,
    /// So many ns for a second of processor time.
    Measured {
        /// That many.
        ns_per_s: u64,
    },
}

/// `zero`, `measured` or `measured=FACTOR`.
fn compute(text: &str) -> Result<Compute, String> {
    const S_NS: f64 = 1e9;
    let expected =
        || "expected zero, measured, or measured=3 with a factor from 0.001 to 1000".to_owned();
    let factor = match text {
        "zero" => return Ok(Compute::Zero),
        "measured" => 1.0,
        _ => {
            let factor = text.strip_prefix("measured=").ok_or_else(expected)?;
            factor.parse::<f64>().map_err(|_| expected())?
        }
    };
    match (0.001..=1000.0).contains(&factor) {
        true => Ok(Compute::Measured {
            ns_per_s: (factor * S_NS).round() as u64,
        }),
        false => Err(expected()),
    }
}
