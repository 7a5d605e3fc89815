//! `cargo xtask test`: runs the programs of tests that cargo builds, several at a time.
//!
//! Cargo runs them one after the other, although most of them wait: for a launcher, for a peer that
//! ends, for a limit of time. The arguments are those of `cargo test`.
//!
//! | module | what it does |
//! |---|---|
//! | `programs` | has cargo build the programs and asks it where they are |
//! | `progress` | reads what a program of tests prints: which tests run, and how long each took |
//! | `running` | runs one program, with a limit for silence |
//! | `stop` | signals that end this process, after what it has started |
//! | `report` | what is said at the end, and the file of times |
//! | `table` | `tests.toml`: which programs run alone, and which take long |

mod programs;
mod progress;
mod report;
mod running;
mod stop;
mod table;

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crate::{Error, root};

use programs::Program;
use report::Report;
use running::Ended;
use stop::Stop;
use table::Table;

/// What to run, and how.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Programs at a time; as many as tests.toml says if it is not given.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// A file that gets a line for each test: seconds, and its name.
    #[arg(long, value_name = "FILE")]
    times: Option<PathBuf>,
    /// Also the tests in documentation, as the last.
    #[arg(long)]
    documentation: bool,
    /// Arguments of `cargo test`; behind `--`, those of the programs.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    cargo: Vec<String>,
}

/// Builds and runs them.
///
/// # Errors
/// [`Error::Tests`] if a test fails, and other errors if cargo cannot build them. A signal that ends this process ends
/// the programs first; then it does not return.
pub fn run(args: &Args) -> Result<(), Error> {
    let begin = Instant::now();
    let table = Table::load(&root())?;
    let (cargo, own) = split(&args.cargo);
    let mut programs = programs::build(cargo)?;
    let build_seconds = begin.elapsed().as_secs();
    programs.sort_by_key(|program| table.turn(&program.name));
    // Cargo ends by itself, so a signal while it builds does what it always does.
    let stop = Stop::on_signals()?;

    let jobs = args.jobs.unwrap_or(table.at_once).get();
    let (alone, together): (Vec<_>, Vec<_>) = programs
        .into_iter()
        .partition(|program| table.is_alone(&program.name));
    let mut report = Report::new(build_seconds);
    several(together, jobs, own, &table, &stop, &mut report);
    several(alone, 1, own, &table, &stop, &mut report);
    if args.documentation && !stop.is_asked() {
        report.add(programs::documentation(cargo, own, &stop)?);
    }
    stop.obey()?;
    if let Some(file) = &args.times {
        report.write(file)?;
    }
    report.say();
    match report.failures() {
        0 => Ok(()),
        failed => Err(Error::Tests { failed }),
    }
}

/// Runs these, so many at a time, and reports each when it has ended.
fn several(
    programs: Vec<Program>,
    jobs: usize,
    own: &[String],
    table: &Table,
    stop: &Stop,
    into: &mut Report,
) {
    let queue = Mutex::new(programs.into_iter());
    let (sender, ended) = mpsc::channel::<Ended>();
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, queue) = (sender.clone(), &queue);
            scope.spawn(move || {
                // The lock is held only to take the next one.
                let next = || queue.lock().ok().and_then(|mut queue| queue.next());
                while let (false, Some(program)) = (stop.is_asked(), next()) {
                    let ended = running::run(&program, own, table.silence_max, stop);
                    if sender.send(ended).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for ended in ended {
            into.add(ended);
        }
    });
}

/// The arguments of cargo, and those of the programs behind `--`.
fn split(all: &[String]) -> (&[String], &[String]) {
    match all.iter().position(|word| word == "--") {
        Some(at) => (&all[..at], &all[at + 1..]),
        None => (all, &[]),
    }
}
