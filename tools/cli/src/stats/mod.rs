//! `hostwire stats`: the counters of the wires of running jobs.
//!
//! | file | |
//! |---|---|
//! | [`find`] | the counter files among the open files of processes |
//! | [`table`] | a table for people, JSON for programs |

mod find;
mod table;

use std::process::ExitCode;
use std::time::Duration;

pub use find::read;
use hostwire::counters::Record;
use hostwire::counters::counted;
pub use table::print as print_table;

use crate::borrow::PAGES;
use crate::report;
use crate::run::parse_duration;
use crate::text::columns;

/// Exit status where there is no job to say anything about.
const NO_JOB: u8 = 1;

const WHAT_IS_SHOWN: &str = "\
WHAT IS SHOWN
    A column per PE and their sum; COUNTERS, below, says what each line is. \
Counters that are 0 everywhere are left out. Each PE shows its own four times \
a second and when it leaves. Of a job on several hosts only the PEs of this \
host are seen; run it on the others too.

    Shared memory counts nothing: a PE stores there without asking anybody.

    hostwire borrow has a second table, with the faults and pages of its program. The process of a \
loan is a PE of the same job, below hostwire lend.

    Only the user of a job and root can see its counters.

EXAMPLES
    hostwire stats                all jobs of yours on this host
    hostwire stats 4711           the job that process 4711 started, or is in
    hostwire stats --watch 1s     again every second, while there are jobs
    hostwire run --stats ...      once, at the end
    HOSTWIRE_STATS=1 mpirun ...   each PE prints its own when it leaves

JSON
    One object per line and PE: job (the process that started the PE, or 0), \
pe, pes, wire, counters.

COUNTERS
    Packets are what frames carry. Those that are posted are the stores of programs.
";

/// What is shown, and what each counter is.
fn help() -> String {
    let widest = counted()
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or(0);
    let line = |(name, meaning)| format!("\n    {name:widest$}  {meaning}");
    counted()
        .into_iter()
        .fold(WHAT_IS_SHOWN.to_owned(), |text, row| text + &line(row))
}

/// Show the counters of the wires of running jobs: frames, packets, drops.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help())]
pub struct Args {
    /// The process that started the job (hostwire run, mpirun, srun), or a PE.
    #[arg(value_name = "PID", value_parser = pid)]
    pub pid: Option<u32>,

    /// Print JSON, one object per line and PE.
    #[arg(long)]
    pub json: bool,

    /// Print again after this long, until there is no job: 1s, 500ms.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub watch: Option<Duration>,
}

fn pid(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected the number of a process, such as 4711".to_owned())
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let mut shown = false;
    loop {
        let found = find::jobs(args.pid);
        if found.jobs.is_empty() {
            // The watched jobs have ended.
            if shown {
                return ExitCode::SUCCESS;
            }
            report::line(&nothing(args.pid, found.hidden));
            return ExitCode::from(NO_JOB);
        }
        for (number, job) in found.jobs.iter().enumerate() {
            if !args.json && (shown || number > 0) {
                report::out("");
            }
            match args.json {
                true => table::print_json(job.pid, &job.records),
                false => report::out(tables(job).trim_end()),
            }
        }
        shown = true;
        match args.watch {
            Some(interval) => std::thread::sleep(interval),
            None => return ExitCode::SUCCESS,
        }
    }
}

/// The counters of the wires of a job, and of its pager, which is a PE, too.
fn tables(job: &find::Job) -> String {
    let (of_pager, of_wires): (Vec<Record>, Vec<Record>) = job
        .records
        .iter()
        .cloned()
        .partition(|record| record.wire == PAGES);
    let start = format!("job of process {} ({})", job.pid, job.name);
    let mut text = String::new();
    if let Some(Record { pes, wire, .. }) = of_wires.first() {
        let here = of_wires.len();
        let title = format!("{start}: {here} of {pes} PEs here, wire {wire}");
        text += &table::text(&title, &of_wires, columns());
    }
    if !of_pager.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        let title = format!("{start}: {PAGES} of its program");
        text += &table::text(&title, &of_pager, columns());
    }
    text
}

fn nothing(pid: Option<u32>, hidden: usize) -> String {
    let hidden = match hidden {
        0 => String::new(),
        _ => format!(
            "; {hidden} processes could not be looked into: the jobs of others are seen by root \
             only"
        ),
    };
    match pid {
        None => format!("no job with counters runs on this host{hidden}"),
        Some(pid) => format!(
            "process {pid} is no PE with counters, and has not started any{hidden} (is it a \
             running hostwire run, mpirun, srun or PE on this host, with more than one PE?)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_says_what_each_counter_is() {
        let help = help();
        for (name, meaning) in counted() {
            let line = help
                .lines()
                .find(|line| line.starts_with(&format!("    {name}  ")));
            assert!(
                line.is_some_and(|line| line.ends_with(meaning)),
                "{name}: {line:?}"
            );
        }
    }
}
