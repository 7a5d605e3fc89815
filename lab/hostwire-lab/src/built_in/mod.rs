//! `hostwire run --cluster FILE --built-in`: programs of the laboratory itself, for jobs of thousands of PEs.
//!
//! Each PE is a coroutine of this process, with a job of its own over the wire of the simulator. So it costs no process, and a
//! turn costs no system call. The library in it is that of all other programs.

mod programs;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use hostwire::{AgentMode, Job, Layout, Nodes, Sizes};
use hostwire_cli::report;
use hostwire_cli::run::{Args, StartError};
use hostwire_sim::engine::{Ps, Summary};
use hostwire_sim::wire::{Settings, VirtualWire, run_watched};
use hostwire_transport::Wire;
use programs::{PROGRAMS, Program};

use crate::links;
use crate::model::{self, Hardware};

/// The exit status of a command line that cannot be used.
const USAGE_STATUS: u8 = 2;
/// Up to so many PEs tell each other by stores that they leave, as PEs that are processes do.
const TOLD_BY_STORES_MAX: u32 = 64;
/// These programs need little memory.
const HEAP_BYTES: usize = 64 << 10;

/// Runs the program that `args` name, to its end.
pub fn main(args: &Args) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Start(why)) => {
            report::line(&why);
            ExitCode::from(USAGE_STATUS)
        }
        Err(Failed::Run(why)) => {
            report::line(&format!("virtual time: {why}"));
            ExitCode::FAILURE
        }
    }
}

/// Why there is no result.
enum Failed {
    /// It could not begin.
    Start(String),
    /// The run could not go on.
    Run(String),
}

impl From<StartError> for Failed {
    fn from(error: StartError) -> Self {
        Self::Start(error.to_string())
    }
}

fn run(args: &Args) -> Result<(), Failed> {
    let program = program(args)?;
    let cluster = args.model.cluster.as_deref().unwrap_or(Path::new(""));
    let pes = args.pes_of_host()?;
    let mut hardware = Hardware::new(cluster, &args.model, pes, None)?;
    let sizes = Sizes {
        heap_bytes: HEAP_BYTES,
        ..Sizes::default()
    };
    let layout = Layout::new(pes, sizes).map_err(|cause| Failed::Start(cause.to_string()))?;
    hardware.settings.segment_bytes = layout.segment_bytes();
    hardware.settings.announces = pes > TOLD_BY_STORES_MAX;
    let run = Run {
        program,
        sizes,
        hosts: hardware.hosts.clone(),
        stamps: args.model.stamp,
    };
    let lines = run.on(&hardware)?;
    if args.stats {
        lines.iter().for_each(|line| report::line(line));
    }
    Ok(())
}

/// The program with the name in `args`.
fn program(args: &Args) -> Result<&'static Program, Failed> {
    let words: Vec<_> = args
        .command
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let known = PROGRAMS.iter().map(|program| program.name);
    let known = known.collect::<Vec<_>>().join(", ");
    let wrong = |got: &str| {
        Failed::Start(format!(
            "--built-in: expected one of {known}, without arguments, got {got:?}"
        ))
    };
    match &words[..] {
        [name] => {
            let program = PROGRAMS.iter().find(|program| program.name == name);
            program.ok_or_else(|| wrong(name))
        }
        words => Err(wrong(&words.join(" "))),
    }
}

/// A job that is about to run.
struct Run {
    program: &'static Program,
    sizes: Sizes,
    hosts: Nodes,
    stamps: bool,
}

impl Run {
    /// Runs it. Returns what there is to say of the run.
    fn on(&self, hardware: &Hardware) -> Result<Vec<String>, Failed> {
        let said = |cause: &dyn std::fmt::Display| Failed::Run(cause.to_string());
        let mut built = hardware.models.build().map_err(|cause| said(&cause))?;
        let recording = hardware.recorded.begin();
        if let Some(recording) = &recording {
            built.record(recording).map_err(|cause| said(&cause))?;
        }
        let before = built.summary();
        let links = built.watch_links();
        let begin = before.virtual_time;
        let settings = Settings {
            until: hardware.settings.until.map(|until| begin + until),
            origin: begin,
            ..hardware.settings.clone()
        };
        let failed = RefCell::new(None);
        let body = |wire: Arc<VirtualWire>| {
            let pe = wire.pe();
            if let Err(error) = self.pe(wire, begin) {
                failed.borrow_mut().get_or_insert((pe, error));
            }
        };
        let watch = |_: &Summary| match failed.borrow().is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let ran = run_watched(built.platform(), &settings, &watch, &body);
        let written = recording.map_or(Ok(()), |all| hardware.recorded.write(&all));
        if let Some((pe, error)) = failed.into_inner() {
            return Err(Failed::Run(format!("PE {pe}: {error}")));
        }
        let all = ran.map_err(|cause| said(&cause))?;
        written.map_err(Failed::Run)?;
        let summary = Summary {
            events: all.events - before.events,
            virtual_time: all.virtual_time - before.virtual_time,
            wall: all.wall - before.wall,
            ..all
        };
        let mut lines = vec![model::said_of(&summary)];
        lines.extend(links::lines(&built.links(&links, summary.virtual_time)));
        Ok(lines)
    }

    /// One PE, from its begin to its end.
    fn pe(&self, wire: Arc<VirtualWire>, begin: Ps) -> Result<(), programs::Failed> {
        let (sizes, hosts) = (self.sizes, self.hosts.clone());
        let now = || wire.now() - begin;
        let job = Job::over_hosts(
            Arc::clone(&wire) as Arc<dyn Wire>,
            sizes,
            AgentMode::Polled,
            hosts,
        )?;
        let line = (self.program.run)(&job, &now)?;
        if let Some(line) = line {
            let at = now();
            match self.stamps {
                true => report::out(&format!("[{at}] {line}")),
                false => report::out(&line),
            }
        }
        Ok(job.finalize()?)
    }
}
