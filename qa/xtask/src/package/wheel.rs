//! The Python package for all distributions, as `scripts/python.sh` builds it: that has the versions of its tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::library::stdout;
use crate::machine::Machine;
use crate::tree::root;

/// Builds the wheel for this processor, or for that of `target`, into a folder, and says which file it is.
///
/// # Errors
/// There is no Python 3.11, a tool cannot be had, or something in the wheel needs a newer C library than its name says.
pub fn build(target: Option<&str>, out: &Path) -> Result<PathBuf, Error> {
    let mut script = Command::new(root().join("scripts/python.sh"));
    script.args(["portable", "wheel"]).env_remove("TARGET");
    if let Some(target) = target {
        Machine::other(target)?;
        script.env("TARGET", target);
    }
    let said = stdout(&mut script)?;
    let built = Path::new(said.lines().last().unwrap_or_default());
    fs::create_dir_all(out).map_err(Error::file(out))?;
    let wheel = out.join(built.file_name().unwrap_or_default());
    fs::copy(built, &wheel).map_err(Error::file(built))?;
    Ok(wheel)
}
