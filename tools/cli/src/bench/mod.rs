//! `hostwire bench`: how fast this machine is, and how close hostwire comes to it.
//!
//! The command starts jobs of itself. In a job of two PEs, pinned to two CPUs, every figure is
//! measured in turn with the physical limit, batch by batch, so that both see the machine in the
//! same state; what counts is their ratio.
//!
//! | file | |
//! |---|---|
//! | [`args`] | the command line, of the command and of its PEs |
//! | [`measure`] | pairs of timings and what is made of them |
//! | [`pe`] | what each PE does |
//! | [`report`] | a table for people, JSON for programs |
//! | [`cores`] | whether the two cores are near or far |
//! | [`record`] | how figures come from the PEs to the command |
//! | [`csv`], [`html`], [`bars`] | files of all figures; a few of them as bars |
//! | `latency` ... `collective`, `tca` | one benchmark each |
//! | [`two_core`], [`all_pes`], [`bare`], [`stream`] | limits: two cores, all PEs, sockets |
//! | [`tca_model`] | the copies of `tca` by a modelled PEACH2, and charts |

mod all_pes;
mod args;
mod atomic;
mod bandwidth;
mod bare;
pub mod bars;
mod collective;
mod cores;
pub mod csv;
mod hosts;
pub mod html;
mod latency;
mod measure;
mod pe;
mod rate;
mod record;
mod report;
mod rma;
mod stream;
mod tca;
pub mod tca_model;
mod two_core;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use args::Bench;
pub use args::{Args, PeArgs};
use hostwire::settings::{INSECURE_WIRE, WireName};
pub use pe::main as pe_main;
use record::Record;
pub use tca::{CHAIN, Shape};

use crate::{file, laboratory, run};

/// The hidden command that a PE of a benchmark runs.
pub const PE_COMMAND: &str = "bench-pe";

/// Runs the benchmarks that `args` name.
pub fn main(args: &Args) -> ExitCode {
    let Ok(program) = std::env::current_exe() else {
        crate::report::line("cannot find the program that is running");
        return ExitCode::from(crate::USAGE_STATUS);
    };
    let wanted = args.bench;
    if let Err(problem) = check(args) {
        crate::report::line(&problem);
        return ExitCode::from(crate::USAGE_STATUS);
    }
    let mut jobs = vec![(args.pes.unwrap_or(2), wanted)];
    if wanted == Bench::All && args.pes.is_none() {
        // More PEs than cores: what must not collapse.
        jobs.extend([(8, Bench::Barrier), (8, Bench::Allreduce)]);
    }
    let mut record = match Record::new() {
        Ok(record) => record,
        Err(error) => {
            crate::report::line(&format!(
                "cannot make a file in memory for the figures: {error}"
            ));
            return ExitCode::FAILURE;
        }
    };
    let first = (!args.json).then(|| head(args, &program)).flatten();
    for (pes, bench) in jobs {
        let status = run_job(args, &program, pes, bench, &record);
        if status != ExitCode::SUCCESS {
            return status;
        }
    }
    if wanted == Bench::All && args.pes.is_none() && !args.wire.is_network() {
        let status = startup(args, &program, &mut record);
        if status != ExitCode::SUCCESS {
            return status;
        }
    }
    if wanted == Bench::Tca
        && let Err(problem) = simulate(args, &mut record)
    {
        crate::report::line(&problem);
        return ExitCode::FAILURE;
    }
    if !args.json
        && let Err(problem) = foot(args, &program, first, &mut record)
    {
        crate::report::line(&problem);
        return ExitCode::FAILURE;
    }
    match write(args, &mut record) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            crate::report::line(&problem);
            ExitCode::FAILURE
        }
    }
}

/// The half round trip of a line between the two cores, by a job of its own. None if there are not two, or it failed: the
/// job said why.
fn line_ns(args: &Args, program: &Path) -> Option<f64> {
    if !has_two_cores() {
        return None;
    }
    let mut record = Record::new().ok()?;
    // Cores are as far from each other whatever the wire is, and this one can always measure it.
    run_over(WireName::Shm, args, program, (2, Bench::Line), &record);
    let lines = record.lines().ok()?;
    lines.first().map(|line| line.median)
}

fn has_two_cores() -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
}

/// Prints what is above the table, and returns the half round trip of a line.
fn head(args: &Args, program: &Path) -> Option<f64> {
    let first = line_ns(args, program);
    report::head(args.wire.name(), &cores::sentence(first, has_two_cores()));
    first
}

/// Prints what is below the table.
fn foot(
    args: &Args,
    program: &Path,
    first: Option<f64>,
    record: &mut Record,
) -> Result<(), String> {
    let last = line_ns(args, program);
    let lines = record.lines();
    let lines = lines.map_err(|error| format!("cannot read the figures again: {error}"))?;
    let changed = cores::changes(first, &lines, last);
    report::foot(&lines, changed.as_deref());
    Ok(())
}

/// Adds what a modelled PEACH2 does beside what was measured, and draws both.
fn simulate(args: &Args, record: &mut Record) -> Result<(), String> {
    let measured = record.lines();
    let mut lines = measured.map_err(|error| format!("cannot read the figures again: {error}"))?;
    if !args.json {
        crate::report::out("the same by a simulated PEACH2, to the next node:");
    }
    let simulated = match laboratory::program() {
        Ok(laboratory) => tca_model::lines(&laboratory, &lines)?,
        Err(why) => {
            crate::report::line(&format!("that needs the program hostwire-lab: {why}"));
            Vec::new()
        }
    };
    for line in simulated {
        line.print(args.json);
        let added = record.add(&line);
        added.map_err(|error| format!("cannot keep a figure: {error}"))?;
        lines.push(line);
    }
    match &args.plot {
        Some(folder) => tca_model::plot(&lines, folder),
        None => Ok(()),
    }
}

/// Writes the files that the options name.
fn write(args: &Args, record: &mut Record) -> Result<(), String> {
    if args.csv.is_none() && args.html.is_none() {
        return Ok(());
    }
    let lines = record.lines();
    let lines = lines.map_err(|error| format!("cannot read the figures again: {error}"))?;
    if let Some(path) = &args.csv {
        file::write_whole(path, csv::text(&lines).as_bytes())?;
    }
    if let Some(path) = &args.html {
        file::write_whole(path, html::whole(&lines, &machine()).as_bytes())?;
    }
    Ok(())
}

/// The machine in a line: CPUs, their model, the kernel.
pub fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |name: &str| {
        info.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    // Arm has numbers.
    let part = || {
        Some(format!(
            "{} of {}",
            value("CPU part")?,
            value("CPU implementer")?
        ))
    };
    let model = value("model name").or_else(part);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = rustix::system::uname();
    let kernel = kernel.release().to_string_lossy();
    let model = model.unwrap_or_else(|| "of an unknown model".to_owned());
    format!("{cpus} CPUs ({model}), Linux {kernel}")
}

/// Refuses measurements that are not possible.
fn check(args: &Args) -> Result<(), String> {
    let name = args.bench.name();
    for path in [&args.csv, &args.html].into_iter().flatten() {
        file::check(path)?;
    }
    if args.plot.is_some() && args.bench != Bench::Tca {
        return Err(format!(
            "--plot is for bench tca, not for bench {name}; --html draws all"
        ));
    }
    match args.pes {
        Some(pes) if pes != 2 && !args.bench.is_collective() => Err(format!(
            "bench {name} takes 2 PEs, not {pes}; barrier and allreduce take more"
        )),
        _ if args.bench == Bench::Pingpong && !args.wire.is_network() => Err(format!(
            "bench {name} is for wires between hosts; say --wire {}",
            WireName::listed(WireName::is_network, "or")
        )),
        _ => Ok(()),
    }
}

fn run_job(args: &Args, program: &Path, pes: u32, bench: Bench, record: &Record) -> ExitCode {
    run_over(args.wire, args, program, (pes, bench), record)
}

fn run_over(
    wire: WireName,
    args: &Args,
    program: &Path,
    (pes, bench): (u32, Bench),
    record: &Record,
) -> ExitCode {
    let mut command: Vec<OsString> = vec![program.into(), PE_COMMAND.into(), bench.name().into()];
    command.push(format!("--repeats={}", args.repeats).into());
    command.push(format!("--wire={}", wire.name()).into());
    command.push(format!("--record={}", record.path()).into());
    if !args.size.is_empty() {
        let sizes: Vec<String> = args.size.iter().map(ToString::to_string).collect();
        command.push(format!("--size={}", sizes.join(",")).into());
    }
    if args.json {
        command.push("--json".into());
    }
    if std::io::stderr().is_terminal() {
        command.push("--progress".into());
    }
    if has_two_cores() {
        command.push("--two-cores".into());
    }
    let mut quiet = run::Args::quiet(pes, wire, command);
    let is_insecure = args.insecure_wire && bench != Bench::Line;
    quiet.settings = quiet.settings.with_switch(&INSECURE_WIRE, is_insecure);
    run::main(&quiet)
}

/// A job of 64 PEs: start, one barrier, end.
fn startup(args: &Args, program: &Path, record: &mut Record) -> ExitCode {
    const PES: u32 = 64;
    let mut times = Vec::new();
    for _ in 0..args.repeats {
        let begin = Instant::now();
        let status = run_job(args, program, PES, Bench::Startup, record);
        if status != ExitCode::SUCCESS {
            return status;
        }
        times.push(begin.elapsed());
    }
    let seconds = |time: &Duration| time.as_secs_f64() * 1e3;
    let line = report::Line::alone(
        "startup",
        args.wire.name(),
        PES,
        0,
        "ms",
        times.iter().map(seconds).collect(),
        args.repeats,
    );
    let line = report::Line {
        no_limit: Some("no bare program starts and ends a job".into()),
        ..line
    };
    line.print(args.json);
    match record.add(&line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::report::line(&format!("cannot keep a figure: {error}"));
            ExitCode::FAILURE
        }
    }
}
