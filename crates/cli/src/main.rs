//! The `hostwire` command.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod plan;
mod plot;
mod report;
mod reproduce;
#[cfg(target_os = "linux")]
mod run;
mod sim;
#[cfg(target_os = "linux")]
mod stats;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[cfg(not(target_os = "linux"))]
use elsewhere::{bench, doctor, run, stats};

/// The exit status for a command that was not even begun.
pub const USAGE_STATUS: u8 = 2;

#[derive(Debug, Parser)]
#[command(name = "hostwire", version)]
#[command(
    about = "Program a cluster as one address space that is only ever written across the wire."
)]
#[command(long_about = "\
Program a cluster as one address space that is only ever written across the wire.

hostwire starts the processes of a parallel program and gives them memory that \
each may write in all the others.

    hostwire run -n 4 ./program       start 4 processes (PEs) of one job
    hostwire run --help               everything that can be said about that
    hostwire plan CLUSTER.toml        address map, routes and registers of a cluster
    hostwire sim EXPERIMENT.toml      run an experiment on simulated hardware
    hostwire reproduce                the papers' numbers, published and simulated
    hostwire bench all                how fast this machine is, and hostwire on it
    hostwire stats                    what the wires of running jobs have counted
    hostwire doctor                   which wires this machine can use")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Bench(bench::Args),
    Doctor(doctor::Args),
    Plan(plan::Args),
    Reproduce(reproduce::Args),
    Sim(sim::Args),
    Stats(stats::Args),
    /// Started by bench itself; not for users.
    #[cfg(target_os = "linux")]
    #[command(name = bench::PE_COMMAND, hide = true)]
    BenchPe(bench::PeArgs),
    /// Started by run itself; not for users.
    #[cfg(target_os = "linux")]
    #[command(name = run::warden::COMMAND, hide = true)]
    Warden,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return report::usage(&error),
    };
    match cli.command {
        Command::Run(args) => run::main(&args),
        Command::Bench(args) => bench::main(&args),
        Command::Doctor(args) => doctor::main(&args),
        Command::Plan(args) => plan::main(&args),
        Command::Reproduce(args) => reproduce::main(&args),
        Command::Sim(args) => sim::main(&args),
        Command::Stats(args) => stats::main(&args),
        #[cfg(target_os = "linux")]
        Command::BenchPe(args) => bench::pe_main(&args),
        #[cfg(target_os = "linux")]
        Command::Warden => {
            run::warden::main();
            ExitCode::SUCCESS
        }
    }
}
