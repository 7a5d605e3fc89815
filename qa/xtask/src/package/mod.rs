//! `cargo xtask package`: what distributions install.
//!
//! | module | |
//! |---|---|
//! | `contents` | which package has which file, and where |
//! | `control` | what each package says of itself |
//! | `deb` | packages for Debian and Ubuntu, of these two |
#![expect(
    clippy::print_stderr,
    reason = "what a chore says to who has started it"
)]

mod contents;
mod control;
mod deb;

use std::path::PathBuf;

use hostwire_shmem_table::Table;

use crate::Error;
use crate::machine::cargo_dir;
pub use deb::names;

/// Which kind of packages.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, clap::Subcommand)]
enum Kind {
    /// Debian and Ubuntu: needs dpkg-deb and, for what libraries need, dpkg-shlibdeps (Debian: dpkg-dev).
    Deb {
        /// The folder that gets the packages; below the target folder if it is not given.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Builds them.
pub fn run(table: &Table, args: &Args) -> Result<(), Error> {
    let Kind::Deb { out } = &args.kind;
    let out = out.clone().unwrap_or_else(|| cargo_dir().join("deb"));
    for path in deb::build(table, &out)? {
        eprintln!("{}", path.display());
    }
    Ok(())
}

pub use deb::build as debs;
