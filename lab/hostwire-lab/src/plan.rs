//! `hostwire plan`: plans a cluster and prints the plan.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hostwire_plan::{Cluster, FILE_BYTES_MAX, report};
use hostwire_transport::visible;

use hostwire_cli::file;
use hostwire_cli::text::{columns, fit, paint};

/// Exit status for a file that cannot be planned, or cannot be read.
const BAD_INPUT: u8 = 2;
/// Exit status for output that cannot be written.
const BAD_OUTPUT: u8 = 1;

/// Plan a cluster: address map, routes and register values.
///
/// Reads a description of nodes and cables, gives every node its part of one global address
/// space, finds routes that the address ranges of the hardware can hold and that cannot
/// deadlock, and prints the plan. docs/plan.md describes the file; examples/clusters has some.
///
/// Exits with status 2 if the file cannot be planned; errors are printed with their place.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The cluster file (TOML); `-` reads standard input
    #[arg(value_name = "CLUSTER.toml")]
    file: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    /// Print the offsets and values of all registers too
    #[arg(long)]
    registers: bool,
    /// Write the topology as a Graphviz graph to FILE
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err((status, message)) => {
            // If standard error is closed, the message is lost.
            let _ = anstream::stderr().write_all(message.as_bytes());
            ExitCode::from(status)
        }
    }
}

fn run(args: &Args) -> Result<(), (u8, String)> {
    let name = args.file.display().to_string();
    let bytes =
        read(&args.file).map_err(|e| (BAD_INPUT, said(&format!("cannot read {name}: {e}"))))?;
    let cluster = hostwire_plan::cluster(&name, &bytes)
        .map_err(|e| (BAD_INPUT, paint::diagnostics(&e.to_string())))?;
    warn(&name, &bytes, &cluster);
    if let Some(path) = &args.dot {
        let graph = match &cluster {
            Cluster::AddressMap(plan) => report::dot(plan),
            Cluster::Htx(plan) => plan.dot(),
        };
        file::write_whole(path, graph.as_bytes()).map_err(|why| (BAD_OUTPUT, said(&why)))?;
    }
    let output = if args.json {
        let options = report::JsonOptions::new(args.registers);
        let json = match &cluster {
            Cluster::AddressMap(plan) => report::json(plan, options),
            Cluster::Htx(plan) => plan.json(),
        };
        let json = json.map_err(|e| (BAD_OUTPUT, said(&format!("cannot form JSON: {e}"))))?;
        json + "\n"
    } else {
        let options = report::TextOptions::new(args.registers);
        let text = match &cluster {
            Cluster::AddressMap(plan) => report::text(plan, options),
            Cluster::Htx(plan) => plan.text(),
        };
        fit(&text, columns())
    };
    match io::stdout().write_all(output.as_bytes()) {
        // `hostwire plan ... | head` is no error.
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err((BAD_OUTPUT, said(&format!("cannot write the plan: {e}"))))
        }
        _ => Ok(()),
    }
}

fn said(what: &str) -> String {
    let name = paint::styled(paint::NAME, "hostwire plan:");
    format!("{name} {}\n", visible(what))
}

/// At most one byte more than a cluster file may have, so that a device file ends too.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let limit = FILE_BYTES_MAX as u64 + 1;
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().take(limit).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn warn(name: &str, bytes: &[u8], cluster: &Cluster) {
    if cluster.warnings().is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(bytes);
    let source = hostwire_plan::diagnostic::Source::new(name, text);
    for warning in cluster.warnings() {
        // If standard error is closed, the message is lost.
        let text = paint::diagnostics(&source.render(warning));
        let _ = writeln!(anstream::stderr(), "{text}");
    }
}
