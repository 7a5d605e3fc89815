//! The `hostwire` command.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "much is there for commands that need Linux")
)]

#[cfg(target_os = "linux")]
mod bench;
mod beside;
#[cfg(target_os = "linux")]
mod borrow;
#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod env;
mod events;
mod file;
mod html;
#[cfg(target_os = "linux")]
mod lend;
mod metrics;
mod pages;
mod plan;
mod plot;
mod recorded;
mod report;
mod reproduce;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod run_page;
mod sim;
#[cfg(target_os = "linux")]
mod stats;
mod text;
#[cfg(target_os = "linux")]
mod window;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

#[cfg(not(target_os = "linux"))]
use elsewhere::{bench, borrow, compare, doctor, env, lend, run, stats, window};

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
    hostwire bench all                measure this machine, and hostwire on it
    hostwire stats                    counters of the wires of running jobs
    hostwire window make PATH         a region of memory that several hosts map
    hostwire lend --memory 8G         lend memory of this host
    hostwire borrow --memory 8G PROG  run a program in memory of other hosts
    hostwire doctor                   which wires this machine can use
    eval \"$(hostwire env mpi)\"        let MPI programs of this shell use hostwire
    hostwire completions SHELL        completions for bash, zsh or fish")]
struct Cli {
    /// When to use colours: auto, always, never
    ///
    /// With auto, on a terminal, unless NO_COLOR is set, CLICOLOR is 0 or TERM is dumb; and
    /// elsewhere, if CLICOLOR_FORCE is 1.
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        global = true
    )]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    color: Colors,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Colors {
    Auto,
    Always,
    Never,
}

impl Colors {
    /// Sets the choice for all output.
    fn choose(self) {
        let choice = match self {
            Colors::Auto => anstream::ColorChoice::Auto,
            Colors::Always => anstream::ColorChoice::AlwaysAnsi,
            Colors::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    /// The choice of a command line that is wrong or asks for help.
    fn of_arguments() -> Self {
        let arguments: Vec<String> = std::env::args_os()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        let behind = arguments
            .iter()
            .zip(arguments.iter().skip(1))
            .find_map(|(name, value)| (name == "--color").then_some(value.as_str()));
        let joined = || {
            arguments
                .iter()
                .find_map(|all| all.strip_prefix("--color="))
        };
        let named = behind.or_else(joined);
        named
            .and_then(|name| Colors::from_str(name, false).ok())
            .unwrap_or(Colors::Auto)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    // The others are much smaller.
    Run(Box<run::Args>),
    Bench(bench::Args),
    Lend(lend::Args),
    Borrow(borrow::Args),
    Compare(compare::Args),
    Doctor(doctor::Args),
    Env(env::Args),
    Events(events::Args),
    Plan(plan::Args),
    Reproduce(reproduce::Args),
    Sim(sim::Args),
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
    /// Started by run itself; not for users.
    #[cfg(target_os = "linux")]
    #[command(name = run::warden::COMMAND, hide = true)]
    Warden,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            Colors::of_arguments().choose();
            return report::usage(&Cli::command(), &error);
        }
    };
    cli.color.choose();
    report::status(run(cli.command))
}

fn run(command: Command) -> ExitCode {
    match command {
        Command::Run(args) => run::main(&args),
        Command::Bench(args) => bench::main(&args),
        Command::Lend(args) => lend::main(&args),
        Command::Borrow(args) => borrow::main(&args),
        Command::Compare(args) => compare::main(&args),
        Command::Doctor(args) => doctor::main(&args),
        Command::Env(args) => env::main(&args),
        Command::Events(args) => events::main(&args),
        Command::Plan(args) => plan::main(&args),
        Command::Reproduce(args) => reproduce::main(&args),
        Command::Sim(args) => sim::main(&args),
        Command::Stats(args) => stats::main(&args),
        Command::Window(args) => window::main(&args),
        Command::Completions(args) => pages::completions(&args),
        Command::Manual(args) => pages::manual(&args),
        #[cfg(target_os = "linux")]
        Command::BenchPe(args) => bench::pe_main(&args),
        #[cfg(target_os = "linux")]
        Command::LendPe => lend::pe::main(),
        #[cfg(target_os = "linux")]
        Command::BorrowPager(args) => borrow::pager::main(&args),
        #[cfg(target_os = "linux")]
        Command::RunPage(args) => run_page::main(&args),
        #[cfg(target_os = "linux")]
        Command::Warden => {
            run::warden::main();
            ExitCode::SUCCESS
        }
    }
}
