//! What cargo has built for the tests.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A library that programs load, with this name, beside the commands that look for it there. The package of the calling
/// test is the library's, or depends on it, so cargo has built the library. But cargo leaves it in the folder for parts
/// of tests.
///
/// # Panics
/// If it is not there.
#[expect(
    clippy::must_use_candidate,
    reason = "that it is there may be all that a test needs"
)]
pub fn library(file: &str) -> PathBuf {
    let deps = deps();
    let beside = deps.with_file_name(file);
    place(&deps.join(file), &beside);
    beside
}

/// The launcher. It belongs to a package of its own. Cargo builds that for a test of the whole workspace, but not for a
/// test of another package alone: then it is built here, once.
///
/// # Panics
/// If it cannot be built.
pub fn launcher() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| program("hostwire-cli", "hostwire"))
}

/// The program that plans and simulates, beside the launcher, which starts it. As [`launcher`].
///
/// # Panics
/// If it cannot be built.
pub fn laboratory() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| program("hostwire-lab", "hostwire-lab"))
}

fn program(package: &str, name: &str) -> PathBuf {
    let path = deps().with_file_name(name);
    if !path.exists() {
        let mut build = cargo();
        build.args(["build", "--package", package]);
        if path
            .parent()
            .is_some_and(|folder| folder.ends_with("release"))
        {
            build.arg("--release");
        }
        let built = build.status();
        assert!(
            built.is_ok_and(|status| status.success()),
            "cannot build {name}"
        );
    }
    path
}

/// A command of cargo, without the variables that cargo sets for the programs it starts. Build scripts that look at
/// them would see a change, and everything above them would be compiled again.
#[must_use]
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let is_of_program = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_CRATE_",
            "CARGO_BIN_",
            "OUT_DIR",
        ];
        if is_of_program.iter().any(|start| name.starts_with(start)) {
            command.env_remove(&*name);
        }
    }
    command
}

/// Where cargo has put the program of tests that calls this.
fn deps() -> PathBuf {
    let test = env::current_exe().unwrap_or_else(|error| panic!("this program: {error}"));
    test.parent().unwrap_or(Path::new("/")).to_path_buf()
}

/// Gives `from` the name `to` as well. Tests of other programs may do so, or read it, at the same time.
fn place(from: &Path, to: &Path) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let own = to.with_extension(std::process::id().to_string());
    let placed = fs::hard_link(from, &own).and_then(|()| fs::rename(&own, to));
    // It still exists if both names were one file before.
    let _ = fs::remove_file(&own);
    placed.unwrap_or_else(|error| panic!("{}: {error}", from.display()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gets_a_name_again_and_anew() {
        let folder = env::temp_dir().join(format!("hostwire-built-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let (from, to) = (folder.join("from"), folder.join("to.so"));
        for text in ["first", "first", "second"] {
            let _ = fs::remove_file(&from);
            fs::write(&from, text).unwrap();
            place(&from, &to);
            place(&from, &to);
            assert_eq!(fs::read_to_string(&to).unwrap(), text);
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }
}
