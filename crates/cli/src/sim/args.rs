//! The options of `hostwire sim`.

use std::path::PathBuf;

/// Run an experiment on simulated hardware, in virtual time
#[derive(Debug, clap::Args)]
#[command(override_usage = "hostwire sim EXPERIMENT.toml [OPTIONS]")]
#[command(long_about = "\
Run an experiment on simulated hardware, in virtual time.

The file names a cluster (as `hostwire plan` reads it), a workload, parameters of the \
models to change, and a sweep over one key. The cluster is planned, built out of modelled \
processors and links, and booted by the modelled firmware; then programs run on it, and \
the clock that they read is simulated. The same file gives the same numbers everywhere.

Printed are the results, the configuration with all its defaults and a hash over it, and \
what the run cost. docs/experiments.md describes the file; experiments/ has some.")]
#[command(after_long_help = "\
EXAMPLES
    Latency between two boards, over message size:

        hostwire sim experiments/tccluster/latency-over-size.toml

    The same as JSON, and as a plot:

        hostwire sim experiments/tccluster/latency-over-size.toml --json --plot plots

    What crosses the links, for Wireshark and for Perfetto (ui.perfetto.dev):

        hostwire sim experiments/tccluster/ping-pong.toml --pcap a.pcapng --trace a.pftrace

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
    /// hash, the metrics with units, the use of every link, and what the run cost.
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
    /// Plot every metric over the swept key, as SVG files in DIR
    #[arg(long, value_name = "DIR")]
    pub plot: Option<PathBuf>,
}
