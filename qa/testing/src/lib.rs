//! What the tests of this repository need of a machine, what happens if it is missing, and what cargo has [`built`] for
//! them.
//!
//! A test that cannot run here says so by [`left_out`] and passes. Where the environment has [`DEMAND`], as
//! `scripts/test.sh` sets it for continuous integration, it fails instead, unless the list in [`need`] excuses it:
//! otherwise nobody would notice that it does not run.
//!
//! ```
//! use hostwire_testing::{is_installed, need};
//!
//! fn frames_are_decoded() {
//!     if !is_installed("tshark", &need::TSHARK) {
//!         return;
//!     }
//!     // ...
//! }
//! # frames_are_decoded();
//! ```
#![forbid(unsafe_code)]

pub mod browser;
pub mod built;
pub mod need;
pub mod pcapng;
pub mod stand_in;

use std::ffi::OsStr;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use need::Need;

/// The environment variable that makes tests fail that cannot run. Any value will do.
pub const DEMAND: &str = "HOSTWIRE_TESTS_DEMAND";
/// The environment variable with which tests try all cases, and not only those that find most. `make test-long` sets
/// it.
pub const LONG: &str = "HOSTWIRE_TESTS_LONG";
/// The environment variable with the folder of programs of an MPICH that is built for libfabric.
pub const MPICH: &str = "HOSTWIRE_TESTS_MPICH";
/// The same of Open MPI 5.0. Their names are those of other MPIs, so they are not to be on the path of every test.
pub const OPEN_MPI_5: &str = "HOSTWIRE_TESTS_OPEN_MPI_5";

/// Says that a test, or a part of it, is left out because `need` is missing, as `why` shows.
///
/// # Panics
/// Where the environment demands what is needed.
#[track_caller]
pub fn left_out(need: &Need, why: impl Display) {
    match said(need, &why.to_string(), std::env::var_os(DEMAND).is_some()) {
        #[expect(clippy::print_stderr, reason = "who runs the tests should read it")]
        Ok(text) => eprintln!("{text}"),
        Err(text) => panic!("{text}"),
    }
}

/// The first number, or the second where the environment has [`LONG`]: numbers of PEs, of cases, of turns. The first
/// one finds most in little time.
///
/// ```
/// let pes = hostwire_testing::or_long(&[2, 3][..], &[1, 2, 3, 4, 8]);
/// # assert!(pes.contains(&3));
/// ```
pub fn or_long<T>(quick: T, long: T) -> T {
    match std::env::var_os(LONG) {
        Some(_) => long,
        None => quick,
    }
}

/// Gives an `mpirun` of Open MPI this folder for its session. Two that make the usual one at the same moment end with "File
/// exists", so each that may run beside another has its own.
pub fn own_session<'a>(mpirun: &'a mut Command, folder: &Path) -> &'a mut Command {
    mpirun
        .env("OMPI_MCA_orte_tmpdir_base", folder)
        .env("PRTE_MCA_prte_tmpdir_base", folder)
}

/// The folder of the programs of an MPICH that is built for libfabric: that of the variable [`MPICH`], or else the first
/// on the path, if it is one.
///
/// # Errors
/// Says what is there instead.
pub fn mpich_over_libfabric() -> Result<PathBuf, String> {
    let folder = folder_with(MPICH, &["mpichversion", "mpiexec", "mpicc"])?;
    let said = Command::new(folder.join("mpichversion")).output();
    let said = said.map_err(|e| format!("mpichversion: {e}"))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let device = said.lines().find(|line| line.contains("Device"));
    match device.filter(|line| line.contains("ofi")) {
        Some(_) => Ok(folder),
        None => Err(device.unwrap_or("no device").to_owned()),
    }
}

/// The folder of the programs of Open MPI 5.0, which starts processes by PRRTE: that of the variable [`OPEN_MPI_5`], or else
/// the first on the path.
///
/// # Errors
/// Says what is not there.
pub fn open_mpi_5() -> Result<PathBuf, String> {
    folder_with(OPEN_MPI_5, &["prterun", "mpirun", "mpicc"])
}

/// The folder that `variable` names, and else the first on the path with all these programs.
fn folder_with(variable: &str, programs: &[&str]) -> Result<PathBuf, String> {
    let has_all = |folder: &PathBuf| programs.iter().all(|name| folder.join(name).is_file());
    let search = std::env::var_os("PATH").unwrap_or_default();
    let found = match std::env::var_os(variable) {
        Some(named) => Some(PathBuf::from(named)).filter(has_all),
        None => std::env::split_paths(&search).find(has_all),
    };
    found.ok_or_else(|| {
        format!(
            "no folder has {}: set {variable}, or PATH",
            programs.join(", ")
        )
    })
}

/// Whether `program` can be started. Says that something is left out if it cannot.
///
/// # Panics
/// As [`left_out`].
#[track_caller]
pub fn is_installed(program: impl AsRef<OsStr>, need: &Need) -> bool {
    let program = program.as_ref();
    let mut asked = Command::new(program);
    asked.arg("--version").stdin(Stdio::null());
    let found = asked.output().is_ok();
    if !found {
        left_out(need, format!("{} is not installed", program.display()));
    }
    found
}

/// Runs `ip` with these words. Says that something is left out if it cannot, or may not.
///
/// # Panics
/// As [`left_out`].
#[track_caller]
#[must_use]
pub fn ip(arguments: &str) -> Option<()> {
    let done = Command::new("ip").args(arguments.split(' ')).status();
    if done.is_ok_and(|status| status.success()) {
        return Some(());
    }
    if is_installed("ip", &need::IP) {
        left_out(&need::NAMESPACES, format!("`ip {arguments}` fails"));
    }
    None
}

/// The line to print; an error if the test has to fail.
fn said(need: &Need, why: &str, is_demanded: bool) -> Result<String, String> {
    let package = match need.package {
        Some(package) => format!(" (Debian package {package})"),
        None => String::new(),
    };
    if is_demanded && need.excuse.is_none() {
        return Err(format!(
            "{why}{package}: {DEMAND} demands {need}. Install it (scripts/setup.sh test), or say in \
             qa/testing/src/need.rs why it cannot be had",
            need = need.name
        ));
    }
    Ok(format!("skipped: {why}{package}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_demanded_fails() {
        let text = said(&need::TSHARK, "tshark is not installed", true).unwrap_err();
        assert_eq!(
            text,
            "tshark is not installed (Debian package tshark): HOSTWIRE_TESTS_DEMAND demands \
             tshark. Install it (scripts/setup.sh test), or say in qa/testing/src/need.rs why \
             it cannot be had"
        );
    }

    #[test]
    fn what_nobody_demands_is_said() {
        let text = said(&need::TSHARK, "tshark is not installed", false);
        let expected = "skipped: tshark is not installed (Debian package tshark)";
        assert_eq!(text.as_deref(), Ok(expected));
    }

    #[test]
    fn what_is_excused_is_said_even_where_all_is_demanded() {
        let text = said(&need::ROOT, "only root can do this", true);
        assert_eq!(text.as_deref(), Ok("skipped: only root can do this"));
    }

    #[test]
    fn a_folder_has_all_programs_or_is_not_found() {
        let found = folder_with("A_FOLDER_OF_NOTHING", &["true", "there-is-no-such-program"]);
        assert_eq!(
            found.unwrap_err(),
            "no folder has true, there-is-no-such-program: set A_FOLDER_OF_NOTHING, or PATH"
        );
        let folder = folder_with("A_FOLDER_OF_NOTHING", &["true"]).unwrap();
        assert!(folder.join("true").is_file());
    }

    #[test]
    fn programs_are_found() {
        assert!(is_installed(env!("CARGO"), &need::TSHARK));
        let excused = Need {
            excuse: Some("it is made up"),
            ..need::TSHARK
        };
        assert!(!is_installed("there-is-no-such-program", &excused));
    }
}
