//! `cargo xtask package`: what distributions install.
//!
//! | module | |
//! |---|---|
//! | `contents` | which package has which file, and where |
//! | `control` | what each package says of itself |
//! | `deb` | packages for Debian and Ubuntu, of these two |
//! | `recipes` | the sources, and how Spack and EasyBuild build them |
//! | `wheel` | the Python package for all distributions |
#![expect(
    clippy::print_stderr,
    reason = "what a chore says to who has started it"
)]

mod contents;
mod control;
mod deb;
mod recipes;
mod wheel;

use std::path::PathBuf;

use hostwire_shmem_table::Table;

use crate::Error;
use crate::machine::cargo_dir;

/// The names of the files that a release has of them, as far as they are known before.
///
/// # Errors
/// There is no dpkg here.
pub fn names() -> Result<Vec<String>, Error> {
    let mut names = deb::names()?;
    names.extend(recipes::names());
    names.push("hostwire-*.whl".to_owned());
    Ok(names)
}

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
    /// Spack and EasyBuild: an archive of what is committed, and recipes that build it.
    Recipes {
        /// The folder that gets them; below the target folder if it is not given.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Python from 3.11 on, and glibc from 2.28 on: needs Python with venv, and the package index, which has the linker.
    Wheel {
        /// Another processor, such as aarch64-unknown-linux-gnu.
        #[arg(long, value_name = "TARGET")]
        target: Option<String>,
        /// The folder that gets the wheel; below the target folder if it is not given.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Builds them.
pub fn run(table: &Table, args: &Args) -> Result<(), Error> {
    let folder =
        |out: &Option<PathBuf>, name| out.clone().unwrap_or_else(|| cargo_dir().join(name));
    let built = match &args.kind {
        Kind::Deb { out } => deb::build(table, &folder(out, "deb"))?,
        Kind::Recipes { out } => recipes::build(&folder(out, "recipes"))?,
        Kind::Wheel { target, out } => {
            vec![wheel::build(target.as_deref(), &folder(out, "wheels"))?]
        }
    };
    for path in built {
        eprintln!("{}", path.display());
    }
    Ok(())
}

pub use deb::build as debs;
pub use recipes::build as recipes;
pub use wheel::build as wheel;
