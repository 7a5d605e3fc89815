//! What changed for users, by version.

use std::fs;

use super::version::Version;
use crate::{Error, root};

/// Where it is.
pub const NAME: &str = "CHANGELOG.md";
/// The section of what is in no version yet.
const UNRELEASED: &str = "## [Unreleased]\n";

/// The text of the changelog.
pub struct Changelog(String);

impl Changelog {
    pub fn read() -> Result<Changelog, Error> {
        let path = root().join(NAME);
        Ok(Changelog(
            fs::read_to_string(&path).map_err(Error::file(&path))?,
        ))
    }

    /// What is unreleased becomes the section of a version, and nothing is unreleased.
    ///
    /// # Errors
    /// There is nothing, or the version has a section.
    pub fn cut(&self, version: &Version, day: &str) -> Result<String, Error> {
        if self.section(version).is_some() {
            return Err(Error::Argument(format!(
                "{NAME} has a section of {version}"
            )));
        }
        let (before, behind) = self.0.split_once(UNRELEASED).unwrap_or_default();
        let unreleased = behind.split("\n## [").next().unwrap_or_default();
        if unreleased.trim().is_empty() {
            return Err(Error::Argument(format!(
                "{NAME} has nothing under {}",
                UNRELEASED.trim()
            )));
        }
        Ok(format!(
            "{before}{UNRELEASED}\n## [{version}] - {day}\n{behind}"
        ))
    }

    /// Why a version cannot be released.
    pub fn problem(&self, version: &Version) -> Option<String> {
        match self.section(version) {
            None => Some(format!(
                "{NAME} has no section of {version}; `cargo xtask release prepare` makes it"
            )),
            Some(text) if text.trim().is_empty() => {
                Some(format!("{NAME} says nothing of {version}"))
            }
            Some(_) => None,
        }
    }

    /// The text of the section of a version.
    pub fn section(&self, version: &Version) -> Option<&str> {
        let (_, behind) = self.0.split_once(&format!("\n## [{version}] - "))?;
        let (_, text) = behind.split_once('\n')?;
        text.split("\n## [").next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_unreleased_becomes_a_section() {
        let changelog = Changelog("# C\n\n## [Unreleased]\n\n### Added\n\n- a\n".to_owned());
        let new = version("0.2.0");
        assert!(
            changelog
                .problem(&new)
                .unwrap()
                .contains("no section of 0.2.0")
        );
        let cut = changelog.cut(&new, "2026-11-29").unwrap();
        assert_eq!(
            cut,
            "# C\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-29\n\n### Added\n\n- a\n"
        );
        let cut = Changelog(cut);
        assert_eq!(cut.problem(&new), None);
        assert_eq!(cut.section(&new), Some("\n### Added\n\n- a\n"));
        // Twice, and with nothing to cut.
        for version in [new, version("0.3.0")] {
            assert!(cut.cut(&version, "2026-11-30").is_err(), "{version}");
        }
    }
}
