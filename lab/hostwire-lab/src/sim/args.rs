//! The options of `hostwire sim`.

use std::num::NonZeroU16;
use std::path::PathBuf;

use hostwire_cli::events::EventOptions;

use super::part::Part;

/// Run an experiment on simulated hardware, in virtual time
#[derive(Debug, clap::Args)]
#[command(override_usage = "hostwire sim EXPERIMENT.toml [OPTIONS]")]
#[command(long_about = "\
Run an experiment on simulated hardware, in virtual time.

The file names a cluster (as `hostwire plan` reads it), a workload, parameters of the \
models to change, and a sweep over one key. The cluster is planned, built out of modelled \
processors and links, and booted by the modelled firmware; then programs run on it, and \
the clock that they read is simulated. The same file gives the same numbers everywhere.

It prints the results, the configuration with all its defaults and a hash over it, and \
the cost of the run. docs/experiments.md describes the file; experiments/ has some.")]
#[command(after_long_help = "\
EXAMPLES
    Latency between two boards, over message size:

        hostwire sim experiments/tccluster/latency-over-size.toml

    The same as JSON, and as a plot:

        hostwire sim experiments/tccluster/latency-over-size.toml --json --plot plots

    What crosses the links, for Wireshark and for Perfetto (ui.perfetto.dev):

        hostwire sim experiments/tccluster/ping-pong.toml --pcap a.pcapng --trace a.pftrace

    Every event of the first eleven milliseconds, of which the boot takes ten:

        hostwire sim experiments/tccluster/ping-pong.toml --events e.trace --events-in ..11ms
        hostwire events e.trace

    Over any key, two points at a time; the same command again goes on where it was ended:

        hostwire sim experiments/tccluster/ping-pong.toml --sweep parameters.hop=20ns..40ns:5ns -j 2

EXIT STATUS
    0 if the experiment ran; 1 if a result could not be written; 2 if the file is wrong or
    the workload can never finish; 130 if it was interrupted.")]
pub struct Args {
    /// The experiment (TOML); `-` reads standard input
    #[arg(value_name = "EXPERIMENT.toml")]
    pub file: PathBuf,
    /// Print JSON instead of text
    ///
    /// One object: version, title, the swept key, and per run the configuration and its
    /// hash, the metrics with units, the use of every link, and the cost of the run.
    #[arg(long)]
    pub json: bool,
    /// Write what crosses the links as a Perfetto trace
    ///
    /// A picosecond is shown as a nanosecond: the viewer counts whole ones, and a bit takes
    /// less. Not for sweeps.
    #[arg(long, value_name = "OUT.pftrace")]
    pub trace: Option<PathBuf>,
    /// Write what crosses the links as a packet capture
    ///
    /// Wireshark shows it with the dissector in tools/wireshark. Not for sweeps.
    #[arg(long, value_name = "OUT.pcapng")]
    pub pcap: Option<PathBuf>,
    /// Write every event of the simulation as an event trace
    ///
    /// `hostwire events FILE` shows it. It has 24 bytes for each event, so that of a long run may
    /// be gigabytes: see --events-of, --events-kind and --events-in. Not for sweeps.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    #[command(flatten)]
    pub which: EventOptions,
    /// Sweep KEY instead of what the file sweeps
    ///
    /// `KEY=FROM..TO` doubles sizes and counts numbers up by one; `FROM..TO:STEP` adds STEP,
    /// `FROM..TO:xN` multiplies by N, and `KEY=A,B,C` lists values. Points run in parallel
    /// processes, and results are kept: the same command goes on where it was ended.
    #[arg(long, value_name = "KEY=FROM..TO")]
    pub sweep: Option<String>,
    /// Points of a sweep at work at a time [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub jobs: Option<NonZeroU16>,
    /// Keep a file per point of a sweep in DIR [default: EXPERIMENT.sweep, in this folder]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Run only every Nth point of a sweep, from the Kth on: for job arrays
    #[arg(long, value_name = "K/N")]
    pub part: Option<Part>,
    /// Started by a sweep itself; not for users.
    #[arg(long, hide = true, requires = "part")]
    pub worker: bool,
    /// Plot every metric over the swept key, as SVG files in DIR
    #[arg(long, value_name = "DIR")]
    pub plot: Option<PathBuf>,
}

impl Args {
    /// Whether points run in processes of their own and are kept.
    pub fn is_sweep(&self) -> bool {
        self.sweep.is_some() || self.jobs.is_some() || self.results.is_some() || self.part.is_some()
    }
}

fn jobs(text: &str) -> Result<NonZeroU16, String> {
    text.parse()
        .map_err(|_| format!("expected a number from 1 to {}", u16::MAX))
}
