//! What cargo has built for the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A library that programs load, with this name, beside the commands that look for it there. The package of the test that
/// calls this is the library's, or has it as a dependency or dev-dependency, so cargo has built it; but cargo leaves it in the
/// folder of what tests are made of.
///
/// # Panics
/// If it is not there.
#[expect(
    clippy::must_use_candidate,
    reason = "that it is there may be all that a test needs"
)]
pub fn library(file: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap_or_else(|error| panic!("this program: {error}"));
    let deps = test.parent().unwrap_or(Path::new("/"));
    let beside = deps.parent().unwrap_or(deps).join(file);
    place(&deps.join(file), &beside);
    beside
}

/// Gives `from` the name `to` as well. Tests of other programs may do so, or read it, at the same time.
fn place(from: &Path, to: &Path) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let own = to.with_extension(std::process::id().to_string());
    let placed = fs::hard_link(from, &own).and_then(|()| fs::rename(&own, to));
    // It is still there if both were one file before.
    let _ = fs::remove_file(&own);
    placed.unwrap_or_else(|error| panic!("{}: {error}", from.display()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gets_a_name_again_and_anew() {
        let folder = std::env::temp_dir().join(format!("hostwire-built-{}", std::process::id()));
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
