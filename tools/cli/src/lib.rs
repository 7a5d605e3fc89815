//! The command `hostwire`, as a library: the program `hostwire-lab` has the same face, and starts jobs the same way.
#![forbid(unsafe_code)]
#![doc(hidden)]
#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::private_intra_doc_links,
    reason = "nobody reads pages of it: its comments are for who reads the code, and the help of the command"
)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "much is there for commands that need Linux")
)]

#[cfg(target_os = "linux")]
pub mod bench;
mod beside;
#[cfg(target_os = "linux")]
mod borrow;
pub mod colors;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod env;
pub mod events;
pub mod file;
pub mod html;
mod laboratory;
#[cfg(target_os = "linux")]
mod lend;
pub mod pages;
pub mod plot;
pub mod report;
#[cfg(target_os = "linux")]
pub mod run;
#[cfg(target_os = "linux")]
mod run_page;
#[cfg(target_os = "linux")]
mod stats;
pub mod text;
#[cfg(target_os = "linux")]
mod window;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use colors::{ColorOption, Colors};
#[cfg(not(target_os = "linux"))]
use elsewhere::{bench, borrow, doctor, env, lend, run, stats, window};

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
    hostwire run --help               all options of run
    hostwire plan CLUSTER.toml        address map, routes and registers of a cluster
    hostwire sim EXPERIMENT.toml      run an experiment on simulated hardware
    hostwire events FILE              events of a simulation that was traced
    hostwire reproduce                the papers' numbers, published and simulated
    hostwire compare -n 4 ./program   run a program on wires and on simulated hardware
    hostwire bench all                measure this machine, and hostwire on it
    hostwire stats                    counters of the wires of running jobs
    hostwire window make PATH         a region of memory that several hosts map
    hostwire lend --memory 8G         lend memory of this host
    hostwire borrow --memory 8G PROG  run a program in memory of other hosts
    hostwire doctor                   which wires this machine can use
    hostwire doctor --on a,b          which wires work between machines
    eval \"$(hostwire env mpi)\"        let MPI programs of this shell use hostwire
    hostwire completions SHELL        completions for bash, zsh or fish")]
struct Cli {
    #[command(flatten)]
    colors: ColorOption,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    // The others are much smaller.
    Run(Box<run::Args>),
    Bench(bench::Args),
    Lend(lend::Args),
    Borrow(borrow::Args),
    /// Run one program on several wires and on modelled hardware, and compare
    #[command(disable_help_flag = true)]
    Compare(laboratory::Args),
    Doctor(doctor::Args),
    Env(env::Args),
    /// Show an event trace of simulated hardware
    #[command(disable_help_flag = true)]
    Events(laboratory::Args),
    /// Plan a cluster: address map, routes and register values
    #[command(disable_help_flag = true)]
    Plan(laboratory::Args),
    /// Simulate the experiments of the papers and compare the numbers
    #[command(disable_help_flag = true)]
    Reproduce(laboratory::Args),
    /// Run an experiment on simulated hardware, in virtual time
    #[command(disable_help_flag = true)]
    Sim(laboratory::Args),
    Stats(stats::Args),
    Window(window::Args),
    Completions(pages::CompletionsArgs),
    /// For packagers.
    #[command(hide = true)]
    Manual(pages::ManualArgs),
    /// Started by bench itself; not for users.
    #[cfg(target_os = "linux")]
    #[command(name = bench::PE_COMMAND, hide = true)]
    BenchPe(bench::PeArgs),
    /// Started by doctor itself, on each host; not for users.
    #[cfg(target_os = "linux")]
    #[command(name = doctor::survey::COMMAND, hide = true)]
    DoctorPe,
    /// Started by lend itself; not for users.
    #[cfg(target_os = "linux")]
    #[command(name = lend::pe::COMMAND, hide = true)]
    LendPe,
    /// Started by borrow itself; not for users.
    #[cfg(target_os = "linux")]
    #[command(name = borrow::pager::COMMAND, hide = true)]
    BorrowPager(borrow::pager::Args),
    /// Started by `make run`; not for users.
    #[cfg(target_os = "linux")]
    #[command(name = run_page::COMMAND, hide = true)]
    RunPage(run_page::Args),
    #[cfg(target_os = "linux")]
    #[command(name = run::starter::COMMAND, hide = true)]
    Starter(run::starter::Args),
    /// Started by run itself; not for users.
    #[cfg(target_os = "linux")]
    #[command(name = run::warden::COMMAND, hide = true)]
    Warden,
}

/// The options of the command and of its commands.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Does what the command line says.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(status) = laboratory::help() {
                return status;
            }
            Colors::of_arguments().choose();
            return report::usage(&command(), &error);
        }
    };
    cli.colors.color.choose();
    report::status(run(cli.command))
}

fn run(command: Command) -> ExitCode {
    match command {
        Command::Run(args) => run::main(&args),
        Command::Bench(args) => bench::main(&args),
        Command::Lend(args) => lend::main(&args),
        Command::Borrow(args) => borrow::main(&args),
        Command::Compare(_) => laboratory::start("compare"),
        Command::Doctor(args) => doctor::main(&args),
        Command::Env(args) => env::main(&args),
        Command::Events(_) => laboratory::start("events"),
        Command::Plan(_) => laboratory::start("plan"),
        Command::Reproduce(_) => laboratory::start("reproduce"),
        Command::Sim(_) => laboratory::start("sim"),
        Command::Stats(args) => stats::main(&args),
        Command::Window(args) => window::main(&args),
        // The program of the laboratory knows the options of its commands, too.
        Command::Completions(args) => match laboratory::program() {
            Ok(_) => laboratory::start("completions"),
            Err(_) => pages::completions(&args, crate::command()),
        },
        Command::Manual(args) => match laboratory::program() {
            Ok(_) => laboratory::start("manual"),
            Err(_) => pages::manual(&args, crate::command()),
        },
        #[cfg(target_os = "linux")]
        Command::BenchPe(args) => bench::pe_main(&args),
        #[cfg(target_os = "linux")]
        Command::DoctorPe => doctor::survey::main(),
        #[cfg(target_os = "linux")]
        Command::LendPe => lend::pe::main(),
        #[cfg(target_os = "linux")]
        Command::BorrowPager(args) => borrow::pager::main(&args),
        #[cfg(target_os = "linux")]
        Command::RunPage(args) => run_page::main(&args),
        #[cfg(target_os = "linux")]
        Command::Starter(args) => run::starter::main(&args),
        #[cfg(target_os = "linux")]
        Command::Warden => {
            run::warden::main();
            ExitCode::SUCCESS
        }
    }
}
