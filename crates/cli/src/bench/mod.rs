//! `hostwire bench`: how fast this machine is, and how close hostwire comes to it.
//!
//! The command starts jobs of itself. In a job of two PEs, pinned to two CPUs, every
//! figure is measured in turn with the physical limit, batch by batch, so that both see
//! the machine in the same mood; what counts is their ratio.
//!
//! | file | |
//! |---|---|
//! | [`args`] | the command line, of the command and of its PEs |
//! | [`measure`] | pairs of timings and what is made of them |
//! | [`pe`] | what each PE does |
//! | [`report`] | a table for people, JSON for programs |
//! | `latency` ... `collective` | one benchmark each |

mod args;
mod atomic;
mod bandwidth;
mod bare;
mod collective;
mod hosts;
mod latency;
mod measure;
mod pe;
mod rate;
mod report;
mod rma;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub use args::{Args, PeArgs};
pub use pe::main as pe_main;

use crate::run;
use args::Bench;

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
    if !args.json {
        report::head(args.wire.name());
    }
    for (pes, bench) in jobs {
        let status = run_job(args, &program, pes, bench);
        if status != ExitCode::SUCCESS {
            return status;
        }
    }
    if wanted == Bench::All && args.pes.is_none() && !args.wire.spans_hosts() {
        let status = startup(args, &program);
        if status != ExitCode::SUCCESS {
            return status;
        }
    }
    if !args.json {
        report::foot();
    }
    ExitCode::SUCCESS
}

/// What cannot be measured.
fn check(args: &Args) -> Result<(), String> {
    let name = args.bench.name();
    match args.pes {
        Some(pes) if pes != 2 && !args.bench.is_collective() => Err(format!(
            "bench {name} takes 2 PEs, not {pes}; barrier and allreduce take more"
        )),
        _ if args.bench == Bench::Pingpong && !args.wire.spans_hosts() => Err(format!(
            "bench {name} is for wires between hosts; say --wire ether, xdp or udp"
        )),
        _ => Ok(()),
    }
}

fn run_job(args: &Args, program: &std::path::Path, pes: u32, bench: Bench) -> ExitCode {
    let mut command: Vec<OsString> = vec![program.into(), PE_COMMAND.into(), bench.name().into()];
    command.push(format!("--repeats={}", args.repeats).into());
    command.push(format!("--wire={}", args.wire.name()).into());
    if !args.size.is_empty() {
        let sizes: Vec<String> = args.size.iter().map(ToString::to_string).collect();
        command.push(format!("--size={}", sizes.join(",")).into());
    }
    if args.json {
        command.push("--json".into());
    }
    let insecure_wire = args.insecure_wire;
    let quiet = run::Args::quiet(pes, args.wire, command);
    run::main(&run::Args {
        insecure_wire,
        ..quiet
    })
}

/// A job of 64 PEs: start, one barrier, end.
fn startup(args: &Args, program: &std::path::Path) -> ExitCode {
    const PES: u32 = 64;
    let mut times = Vec::new();
    for _ in 0..args.repeats {
        let begin = Instant::now();
        let status = run_job(args, program, PES, Bench::Startup);
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
    line.print(args.json);
    ExitCode::SUCCESS
}
