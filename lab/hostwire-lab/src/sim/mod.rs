//! `hostwire sim`: runs an experiment file.
//!
//! | file | |
//! |---|---|
//! | [`args`] | the command line |
//! | [`watch`] | progress and Ctrl-C |
//! | [`report`] | text for people |
//! | [`plots`] | every metric over the swept key |
//! | [`part`] | which points of a sweep are to be run |
//! | [`sweep`] | points in parallel processes |

mod args;
#[cfg(target_os = "linux")]
mod launch;
#[cfg(not(target_os = "linux"))]
mod launch {
    //! Programs of experiments need Linux.

    use hostwire_sim::experiments::file::{Monitor, Program, ProgramRan};

    use crate::recorded::Recorded;

    pub fn launch(
        _: &super::Args,
        _: &Recorded,
        _: &Monitor,
        (_, program): (usize, &Program),
    ) -> Result<ProgramRan, String> {
        let name = program.program.join(" ");
        Err(format!(
            "cannot run {name}: programs of experiments need Linux"
        ))
    }
}
mod part;
mod plots;
mod report;
mod sweep;
mod watch;

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use hostwire_sim::experiments::ExperimentError;
use hostwire_sim::experiments::file::{
    Experiment, Monitor, Outcome, Surroundings, SweepRange, read_swept,
};
use hostwire_transport::visible;

pub use args::Args;
pub use watch::Watch;

use crate::plan;
use crate::recorded::Recorded;
use hostwire_cli::text;
use hostwire_cli::text::paint;

const BAD_OUTPUT: u8 = 1;
const BAD_INPUT: u8 = 2;
const INTERRUPTED: u8 = 130;

/// Exit status and message, ending in a newline.
type Failure = (u8, String);

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

fn run(args: &Args) -> Result<(), Failure> {
    let experiment = load(args)?;
    check_outputs(args, &experiment)?;
    let outcome = if args.is_sweep() {
        sweep::run(args, &experiment)?
    } else {
        run_here(args, &experiment)?
    };
    if let Some(folder) = &args.plot {
        plots::write(&outcome, folder).map_err(|why| failure(BAD_OUTPUT, &why))?;
    }
    print(args, &outcome)
}

/// Every point in turn, in this process.
fn run_here(args: &Args, experiment: &Experiment) -> Result<Outcome, Failure> {
    let recorded = recorded(args);
    recorded.check().map_err(|why| failure(BAD_OUTPUT, &why))?;
    // A program is recorded where it runs: see `launch`.
    let recording = match experiment.runs_program() {
        true => None,
        false => recorded.begin(),
    };
    let monitor = Arc::new(Monitor::default());
    let watch = Watch::new(Arc::clone(&monitor));
    let surroundings = Surroundings {
        open: &open_beside(&args.file),
        launch: &|place, program| launch::launch(args, &recorded, &monitor, (place, program)),
    };
    let outcome = experiment.run_with(&monitor, recording.as_ref(), surroundings);
    drop(watch);
    // A recording is most useful if the run failed.
    if let Some(recording) = &recording {
        recorded
            .write(recording)
            .map_err(|why| failure(BAD_OUTPUT, &why))?;
    }
    let mut outcome = outcome.map_err(|error| did_not_end(&args.file, &error))?;
    outcome.peak_memory_bytes = peak_memory_bytes();
    Ok(outcome)
}

fn recorded(args: &Args) -> Recorded {
    Recorded {
        trace: args.trace.clone(),
        pcap: args.pcap.clone(),
        events: args.events.clone(),
        which: args.which.clone(),
    }
}

/// The highest memory use of this process so far. `None` if the system does not report
/// it.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Opens traces by their path from the folder of `file`.
fn open_beside(file: &Path) -> impl Fn(&str) -> std::io::Result<Box<dyn BufRead>> {
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    move |path| {
        let file = File::open(folder.join(path))?;
        Ok(Box::new(BufReader::with_capacity(1 << 20, file)))
    }
}

fn load(args: &Args) -> Result<Experiment, Failure> {
    let file = args.file.as_path();
    let swept = args.sweep.as_deref().map(str::parse::<SweepRange>);
    let swept = swept
        .transpose()
        .map_err(|error| failure(BAD_INPUT, &format!("--sweep: {error}")))?;
    let name = file.display().to_string();
    let bytes = plan::read(file)
        .map_err(|error| failure(BAD_INPUT, &format!("cannot read {name}: {error}")))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let cluster = |path: &str| {
        // Here `-` would be an experiment and its cluster in one stream.
        let path = folder.join(path);
        plan::read(&path).map_err(|error| error.to_string())
    };
    read_swept(&name, &bytes, swept.as_ref(), &cluster)
        .map_err(|bad| (BAD_INPUT, paint::diagnostics(&bad.to_string())))
}

fn check_outputs(args: &Args, experiment: &Experiment) -> Result<(), Failure> {
    let recorded = recorded(args);
    if recorded.is_wanted() && experiment.sweep().is_some() {
        let why = "--trace, --pcap and --events record one run, and this experiment has a [sweep]";
        return Err(failure(BAD_INPUT, why));
    }
    if recorded.events.is_some() && !experiment.has_events() {
        let why = "--events records the events of a model, and this experiment has none";
        return Err(failure(BAD_INPUT, why));
    }
    if recorded.wants_links() && !experiment.has_links() {
        let why = "--trace and --pcap record what crosses links, and this experiment has none";
        return Err(failure(BAD_INPUT, why));
    }
    // A program would be started first; other experiments say it themselves.
    if let Some(Err(why)) = (experiment.hardware(0)).map(|it| recorded.check_events(&it)) {
        return Err(failure(
            BAD_INPUT,
            &format!("{}: {why}", args.file.display()),
        ));
    }
    if args.plot.is_some() && experiment.sweep().is_none() {
        let why = "--plot shows results over a swept key, and this experiment has no [sweep]; \
                   add one, or --sweep";
        return Err(failure(BAD_INPUT, why));
    }
    Ok(())
}

fn did_not_end(file: &Path, error: &ExperimentError) -> Failure {
    let status = match error {
        ExperimentError::Cancelled { .. } => INTERRUPTED,
        _ => BAD_INPUT,
    };
    failure(status, &format!("{}: {error}", file.display()))
}

fn failure(status: u8, why: &str) -> Failure {
    let name = paint::styled(paint::NAME, "hostwire sim:");
    (status, format!("{name} {}\n", visible(why.trim_end())))
}

fn print(args: &Args, outcome: &Outcome) -> Result<(), Failure> {
    let shown = if args.json {
        serde_json::to_string_pretty(outcome)
            .map_err(|error| failure(BAD_OUTPUT, &format!("cannot form JSON: {error}")))?
            + "\n"
    } else {
        report::text(outcome, text::columns())
    };
    match std::io::stdout().write_all(shown.as_bytes()) {
        // `hostwire sim ... | head` is no error.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            let why = format!("cannot write the results: {error}");
            Err(failure(BAD_OUTPUT, &why))
        }
        _ => Ok(()),
    }
}
