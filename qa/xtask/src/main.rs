//! `cargo xtask`: the chores of this repository that need more than a script.
#![forbid(unsafe_code)]
#![allow(clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hostwire_shmem_table::Table;
use xtask::machine::Machine;
use xtask::{
    Error, guide, headers, install, library, man, package, release, root, site, suite, tests, tidy,
};

#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Chores of this repository"
)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Run the commands of pages, and compare what they print with the pages.
    Guide(guide::Args),
    /// Write the C headers in include/ from the table of functions.
    Headers {
        /// Write nothing; report whether they agree with the table.
        #[arg(long)]
        check: bool,
    },
    /// Write a page of the manual for every OpenSHMEM function.
    Man {
        /// The folder that gets man1 and man3.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Steps of scripts/site.sh: what mdBook takes, and a check of what it makes.
    #[command(subcommand)]
    Site(site::Step),
    /// Write the headers that the C programs in fronts/shmem/tests/c include.
    Suite {
        /// The folder that gets them.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Build libshmem.so, libshmem.a, oshcc, oshc++ and oshrun, and print their folder.
    Library {
        /// Another machine that they are for, such as aarch64-unknown-linux-gnu; without the launcher.
        #[arg(long, value_name = "TARGET")]
        target: Option<String>,
    },
    /// Install headers, libraries, wrappers, man pages, pkg-config files and a CMake package.
    Install(install::Args),
    /// Build packages of distributions.
    Package(package::Args),
    /// Check that a version is ready, build what is uploaded, and make its tag.
    Release(release::Args),
    /// Build and run tests, several programs at a time; arguments are those of `cargo test`.
    Test(tests::Args),
    /// Report files that break a rule that no compiler checks; see tidy.toml.
    Tidy,
    /// Remove the installed files.
    Uninstall(install::Args),
}

fn main() -> ExitCode {
    match run(&Cli::parse().chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &Chore) -> Result<(), Error> {
    let table = Table::load()?;
    match chore {
        Chore::Guide(args) => guide::run(args, |line| eprintln!("guide: {line}")),
        Chore::Headers { check: true } => headers::tree(&table).check(&root().join("include")),
        Chore::Headers { check: false } => headers::tree(&table).write(&root().join("include")),
        Chore::Man { out } => man::tree(&table).write(out),
        Chore::Site(step) => site::run(step, &table),
        Chore::Suite { out } => suite::tree(&table).write(out),
        Chore::Library { target } => {
            let machine = target
                .as_deref()
                .map_or(Ok(Machine::this()), Machine::other)?;
            let built = library::build(&table, &machine, None)?;
            eprintln!("{}", built.display());
            Ok(())
        }
        Chore::Package(args) => package::run(&table, args),
        Chore::Release(args) => release::run(&table, args),
        Chore::Test(args) => tests::run(args),
        Chore::Tidy => tidy::check(&root()),
        Chore::Install(args) => install::install(&table, args),
        Chore::Uninstall(args) => install::uninstall(args),
    }
}
