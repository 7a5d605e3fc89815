//! Whether the crates break what the version before promised, by cargo-semver-checks.

use std::process::Command;

use super::git;
use super::version::Version;
use crate::library::stdout;
use crate::{Error, root};

/// The tag of the version before this one, if there is one.
fn tag_before(version: &Version) -> Result<Option<String>, Error> {
    let tags = git(&["tag", "--merged", "HEAD", "--list", "v*"])?;
    let tags = tags.lines().filter_map(|tag| tag.strip_prefix('v'));
    let versions = tags.filter_map(|text| text.parse::<Version>().ok());
    let before = versions.filter(|other| other < version).max();
    Ok(before.map(|before| format!("v{before}")))
}

/// What is wrong with the interfaces of the crates, compared with the version before.
///
/// # Errors
/// There is no git.
pub fn problem(version: &Version) -> Result<Option<String>, Error> {
    let Some(tag) = tag_before(version)? else {
        return Ok(None);
    };
    let cargo = || {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.current_dir(root()).arg("semver-checks");
        cargo
    };
    if stdout(cargo().arg("--version")).is_err() {
        let how = "`cargo install --locked cargo-semver-checks`";
        return Ok(Some(format!(
            "the crates cannot be compared with {tag}: {how} brings what does it"
        )));
    }
    // It leaves out what is not published, and knows which number has to grow before 1.0.
    let mut check = cargo();
    check.args(["--workspace", "--baseline-rev", &tag]);
    let problem = || format!("crates break what {tag} promised, by more than {version} says");
    Ok(stdout(&mut check).is_err().then(problem))
}
