//! The `hostwire` command.
#![forbid(unsafe_code)]

mod plan;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "hostwire", version, disable_help_subcommand = true)]
#[command(
    about = "Program a cluster as one address space that is only ever written across the wire."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Plan(plan::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Plan(args) => plan::main(&args),
    }
}
