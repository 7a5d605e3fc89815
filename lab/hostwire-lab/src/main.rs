//! `hostwire-lab`: the commands of `hostwire` that plan and simulate. `hostwire` starts it for them.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod built_in;
#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod copies;
mod events;
#[cfg(target_os = "linux")]
mod links;
#[cfg(target_os = "linux")]
mod metrics;
#[cfg(target_os = "linux")]
mod model;
mod plan;
mod recorded;
mod reproduce;
mod sim;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use hostwire_cli::colors::{ColorOption, Colors};
#[cfg(target_os = "linux")]
use hostwire_cli::{bench, run};
use hostwire_cli::{pages, report};

/// Plan and simulate clusters: the commands of hostwire that need its laboratory.
///
/// `hostwire` has all of these commands as well, and starts this program for them.
#[derive(Debug, Parser)]
#[command(name = "hostwire-lab", bin_name = "hostwire", version)]
struct Cli {
    #[command(flatten)]
    colors: ColorOption,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[cfg(target_os = "linux")]
    Compare(compare::Args),
    Events(events::Args),
    Plan(plan::Args),
    Reproduce(reproduce::Args),
    // The others are much smaller.
    #[cfg(target_os = "linux")]
    Run(Box<run::Args>),
    Sim(sim::Args),
    /// Started by hostwire itself, which does not know the options of all commands.
    #[command(hide = true)]
    Completions(pages::CompletionsArgs),
    /// Started by hostwire itself.
    #[command(hide = true)]
    Manual(pages::ManualArgs),
    /// Started by `hostwire bench tca` itself.
    #[cfg(target_os = "linux")]
    #[command(name = bench::tca_model::COMMAND, hide = true)]
    Copies(copies::Args),
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
    cli.colors.color.choose();
    report::status(start(cli.command))
}

fn start(command: Command) -> ExitCode {
    match command {
        #[cfg(target_os = "linux")]
        Command::Compare(args) => compare::main(&args),
        Command::Events(args) => events::main(&args),
        Command::Plan(args) => plan::main(&args),
        Command::Reproduce(args) => reproduce::main(&args),
        #[cfg(target_os = "linux")]
        Command::Run(args) => match args.model.built_in {
            true => built_in::main(&args),
            false => run::main_with(&args, &model::Models),
        },
        Command::Sim(args) => sim::main(&args),
        Command::Completions(args) => pages::completions(&args, whole()),
        Command::Manual(args) => pages::manual(&args, whole()),
        #[cfg(target_os = "linux")]
        Command::Copies(args) => copies::main(&args),
        #[cfg(target_os = "linux")]
        Command::Warden => {
            run::warden::main();
            ExitCode::SUCCESS
        }
    }
}

/// All of `hostwire`, with the options of the commands that this program has.
fn whole() -> clap::Command {
    let own = Cli::command();
    let own = own.get_subcommands().filter(|part| !part.is_hide_set());
    own.fold(hostwire_cli::command(), |whole, part| {
        whole.mut_subcommand(part.get_name(), |_| part.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `hostwire --help` says of a command what its own help does.
    #[test]
    fn both_programs_say_the_same_of_a_command() {
        let (whole, first) = (whole(), hostwire_cli::command());
        for part in whole.get_subcommands() {
            let name = part.get_name();
            let there = first.find_subcommand(name).unwrap();
            let about = |part: &clap::Command| part.get_about().map(ToString::to_string);
            assert_eq!(about(part), about(there), "{name}");
        }
    }
}
