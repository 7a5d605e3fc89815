//! `hostwire events`: shows an event trace.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hostwire_sim::engine::{TraceError, TraceReader, TraceRecord};
use hostwire_transport::{printable, visible};
use serde::Serialize;

use hostwire_cli::text::paint;

const BAD_OUTPUT: u8 = 1;
const BAD_INPUT: u8 = 2;
/// Columns are not wider than that for the sake of a few long names.
const COLUMN_CHARS_MAX: usize = 32;
const BUFFER_BYTES: usize = 1 << 16;

/// Show an event trace of simulated hardware
///
/// Prints a line for each event that `hostwire sim --events` or `hostwire run --events` has
/// written: the time in nanoseconds, the component that handled it, what it was, the component
/// that sent it ("-" if it came from outside), and a digest of its contents. Two spaces at least
/// stand between them.
///
/// Two runs that are the same have the same lines; where they differ first is where they part.
///
/// Exits with status 2 if the file is broken or has no end, because the run was killed; first it prints
/// the events before that place.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
EXAMPLES
    The writes that reach the memory of one processor, and what crosses its links:

        hostwire run --cluster two-boards.toml -n 2 --events e.trace --events-of 'left*' ./program
        hostwire events e.trace | grep -e processor_write -e ht_arrive

    The first event in which two runs differ:

        diff <(hostwire events a.trace) <(hostwire events b.trace) | head -3")]
pub struct Args {
    /// The event trace; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print a JSON object for each event
    ///
    /// Keys: time_ns, component, kind, source (null if it came from outside), digest.
    #[arg(long)]
    json: bool,
}

/// Why not all was shown.
enum Failure {
    Input(TraceError),
    Output(io::Error),
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Failure::Input(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// An event as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    time_ns: f64,
    component: &'a str,
    kind: &'a str,
    source: Option<&'a str>,
    digest: String,
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let name = args.file.display();
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    let shown = match open(&args.file) {
        Ok(input) => show(input, args.json, &mut out),
        Err(error) => Err(Failure::Input(error.into())),
    };
    // Also what stands before a broken place.
    let flushed = out.flush().map_err(Failure::Output);
    match shown.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        // `hostwire events ... | head` is no error.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(Failure::Output(error)) => failed(BAD_OUTPUT, &format!("cannot write: {error}")),
        Err(Failure::Input(TraceError::Io(error))) => {
            failed(BAD_INPUT, &format!("cannot read {name}: {error}"))
        }
        Err(Failure::Input(error)) => failed(BAD_INPUT, &format!("{name}: {error}")),
    }
}

fn failed(status: u8, why: &str) -> ExitCode {
    let name = paint::styled(paint::NAME, "hostwire events:");
    // If standard error is closed, the message is lost.
    let _ = writeln!(anstream::stderr(), "{name} {}", visible(why));
    ExitCode::from(status)
}

fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path)?))
}

fn show(input: Box<dyn Read>, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let mut reader = TraceReader::new(BufReader::with_capacity(BUFFER_BYTES, input))?;
    // Names are not trusted: they could move the cursor.
    let shown = |names: &[String]| names.iter().map(|name| printable(name)).collect();
    let names = Names {
        components: shown(reader.names()),
        kinds: shown(reader.kinds()),
    };
    let widths = [&names.components, &names.kinds].map(|names| {
        let longest = names.iter().map(|name| name.chars().count()).max();
        longest.unwrap_or(0).min(COLUMN_CHARS_MAX)
    });
    while let Some(record) = reader.next_record()? {
        match json {
            true => {
                serde_json::to_writer(&mut *out, &names.of(&record)).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            false => line(out, &names.of(&record), widths)?,
        }
    }
    Ok(())
}

struct Names {
    components: Vec<String>,
    kinds: Vec<String>,
}

impl Names {
    /// The reader has checked that all of them exist.
    fn of(&self, record: &TraceRecord) -> Shown<'_> {
        let component = |index: u32| {
            let name = self.components.get(index as usize);
            name.map(String::as_str).unwrap_or_default()
        };
        let kind = self.kinds.get(usize::from(record.kind));
        Shown {
            time_ns: record.time.as_ns(),
            component: component(record.target),
            kind: kind.map(String::as_str).unwrap_or_default(),
            source: record.source.map(component),
            digest: format!("{:016x}", record.digest),
        }
    }
}

fn line(
    out: &mut impl Write,
    event: &Shown<'_>,
    [component_chars, kind_chars]: [usize; 2],
) -> io::Result<()> {
    writeln!(
        out,
        "{:>14.3}  {:<component_chars$}  {:<kind_chars$}  {:<component_chars$}  {}",
        event.time_ns,
        event.component,
        event.kind,
        event.source.unwrap_or("-"),
        event.digest
    )
}
