//! `hostwire reproduce`: the numbers of the papers, published and simulated.

mod curves;
mod html;
mod report;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::sim::Watch;
use hostwire_cli::text::paint;
use hostwire_sim::experiments::{
    ExperimentError, Row, elsewhere, htoe, htx_board, htx_rtl, pgas_cluster, tca_peach2, tccluster,
};
use hostwire_sim::machine::htx::BoardError;
use hostwire_transport::visible;

const BAD_OUTPUT: u8 = 1;
/// A number is outside its tolerance.
const NOT_REPRODUCED: u8 = 1;
/// The shipped experiments themselves failed.
const FAILED: u8 = 2;

/// The paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Paper {
    /// HyperTransport between processors (T1 to T17)
    Tccluster,
    /// The NIC on a HyperTransport slot (H1 to H18)
    HtxBoard,
    /// Remote memory against swap (P1 to P10)
    #[value(alias = "pgas")]
    PgasCluster,
    /// A put-only fabric of PCI Express chips between accelerators (A1 to A21)
    #[value(alias = "tca")]
    TcaPeach2,
    /// HyperTransport over Ethernet (E1 to E18)
    #[value(alias = "htea")]
    Htoe,
    /// What other papers and talks print of the same hardware (X1 to X14)
    Elsewhere,
    /// The HTX board as RTL beside its model (R1 to R8); needs what `scripts/rtl.sh build` makes
    Rtl,
    /// All five, what is published elsewhere, and RTL if it was built
    All,
}

impl Paper {
    fn includes(self, paper: Paper) -> bool {
        self == Paper::All || self == paper
    }
}

/// Simulate the experiments of the papers and compare the numbers
#[derive(Debug, clap::Args)]
#[command(long_about = "\
Simulate the experiments of the papers and compare the numbers: the papers' results, and those of \
their inputs that a model uses. What other papers and talks print of the same hardware stands behind \
them (elsewhere) and is counted apart.

Every number has a class that says what an agreement is worth. predicted: comes out of \
parameters that were not set from any result of the paper. bound: the paper gives a limit or a \
direction. tuned-assumption: a parameter was assumed, and with other values of it the row fails; \
the range that passes is shown. fitted: a parameter was set so that it comes out. identity: an \
input, a quotation, or arithmetic on inputs. own-number: not in the paper. unknowable: the text \
does not say enough. Only predicted and bound count as agreement, and rows that share a relation \
are one statement. Published values, classes and reasons are in experiments/*/claims.toml.")]
#[command(after_long_help = "\
EXAMPLES
    Everything, as a table:

        hostwire reproduce

    The numbers that fail:

        hostwire reproduce --json | jq '.[] | select(.verdict == \"fail\")'

    The size curves, with the published points marked:

        hostwire reproduce tccluster --plot plots

    The same as one page, with the curves and the configurations:

        hostwire reproduce --html page

    The numbers that agree:

        hostwire reproduce --json | jq -r '.[] | select(.verdict == \"agrees\") | .id'

EXIT STATUS
    0 if no number fails, 1 if one does or a result could not be written. A prediction that is
    known not to come out is shown as such and is no failure.")]
pub struct Args {
    /// Which paper
    #[arg(value_enum, default_value = "all")]
    paper: Paper,
    /// Print a JSON array with one object per number
    #[arg(long)]
    json: bool,
    /// Plot the curves as SVG files in DIR
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Write all of it as one page, DIR/index.html, that needs no other file and no network
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    match run(args) {
        Ok(status) => ExitCode::from(status),
        Err((status, why)) => {
            say(&why);
            ExitCode::from(status)
        }
    }
}

fn say(what: &str) {
    // If standard error is closed, the message is lost.
    let name = paint::styled(paint::NAME, "hostwire reproduce:");
    let _ = writeln!(anstream::stderr(), "{name} {}", visible(what));
}

fn run(args: &Args) -> Result<u8, (u8, String)> {
    let clock = Watch::clock();
    let rows = rows(args.paper).map_err(|error| (FAILED, error.to_string()))?;
    if args.plot.is_some() || args.html.is_some() {
        let charts = curves::charts(args.paper)?;
        if let Some(folder) = &args.html {
            html::write(&rows, &charts, folder)?;
        }
        if let Some(folder) = &args.plot {
            curves::write(charts, folder)?;
        }
    }
    drop(clock);
    let text = if args.json {
        serde_json::to_string_pretty(&rows)
            .map_err(|error| (BAD_OUTPUT, format!("cannot form JSON: {error}")))?
            + "\n"
    } else {
        report::text(&rows, hostwire_cli::text::columns())
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        // `hostwire reproduce | head` is no error.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            return Err((BAD_OUTPUT, format!("cannot write the results: {error}")));
        }
        _ => {}
    }
    let failed = rows.iter().any(|row| row.verdict.is_failure());
    Ok(if failed { NOT_REPRODUCED } else { 0 })
}

fn rows(paper: Paper) -> Result<Vec<Row>, ExperimentError> {
    let mut rows = Vec::new();
    if paper.includes(Paper::Tccluster) {
        rows.extend(tccluster::reproduce()?);
    }
    if paper.includes(Paper::HtxBoard) {
        rows.extend(htx_board::reproduce()?);
    }
    if paper.includes(Paper::PgasCluster) {
        rows.extend(pgas_cluster::reproduce()?);
    }
    if paper.includes(Paper::TcaPeach2) {
        rows.extend(tca_peach2::reproduce()?);
    }
    if paper.includes(Paper::Htoe) {
        rows.extend(htoe::reproduce()?);
    }
    if paper.includes(Paper::Elsewhere) {
        rows.extend(elsewhere::reproduce()?);
    }
    if paper.includes(Paper::Rtl) {
        match htx_rtl::reproduce() {
            Ok(more) => rows.extend(more),
            Err(error @ ExperimentError::Board(BoardError::NotBuilt(_))) if paper == Paper::All => {
                say(&format!("rtl is left out: {error}"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(rows)
}
