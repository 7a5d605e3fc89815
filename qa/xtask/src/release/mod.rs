//! `cargo xtask release`: a version, from the changelog to what is uploaded.
//!
//! | module | |
//! |---|---|
//! | `version` | the places in this repository that name the version |
//! | `changelog` | what is not released becomes the section of a version |
//! | `semver` | whether crates break what the version before promised |
//! | `sbom` | what the programs are built of, as CycloneDX |
//! | `files` | packages, archives and their sums |
//!
//! `release prepare VERSION` writes the version everywhere and cuts the changelog. After that is committed, `release` checks
//! that all agrees, builds what is uploaded, and makes the tag. It neither pushes nor publishes anything.
#![expect(
    clippy::print_stderr,
    reason = "what a chore says to who has started it"
)]

mod changelog;
mod files;
mod sbom;
mod semver;
mod version;

use std::path::PathBuf;
use std::process::Command;

use hostwire_shmem_table::Table;

use crate::library::stdout;
use crate::{Error, root};
use changelog::Changelog;
use version::Version;

/// What to do.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    step: Option<Step>,
    /// Say what is not ready, and what would be done. Make no tag, and build nothing.
    #[arg(long, global = true)]
    dry_run: bool,
    /// The tag is there, and means what is checked out: build what is uploaded.
    #[arg(long)]
    tagged: bool,
    /// The folder that gets packages, sums and the list of parts; below the target folder if it is not given.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum Step {
    /// Write VERSION wherever the version is named, and make what the changelog has under "Unreleased" its section.
    Prepare {
        #[arg(value_name = "VERSION")]
        version: String,
        /// The day of the release, YYYY-MM-DD; today if it is not given.
        #[arg(long, value_name = "DAY")]
        day: Option<String>,
    },
}

/// Does it.
pub fn run(table: &Table, args: &Args) -> Result<(), Error> {
    match &args.step {
        Some(Step::Prepare { version, day }) => {
            prepare(&version.parse()?, day.as_deref(), args.dry_run)
        }
        None => release(table, args),
    }
}

fn prepare(new: &Version, day: Option<&str>, is_dry: bool) -> Result<(), Error> {
    let old = version::of_workspace()?;
    if *new <= old {
        return Err(Error::Argument(format!(
            "{new} is not later than {old}, the version of this repository"
        )));
    }
    let day = match day {
        Some(day) => day.to_owned(),
        None => stdout(Command::new("date").args(["-u", "+%F"]))?
            .trim()
            .to_owned(),
    };
    if !is_day(&day) {
        return Err(Error::Argument(format!("expected YYYY-MM-DD, not '{day}'")));
    }
    let mut written = version::replaced(&old, new, &day)?;
    let changelog = Changelog::read()?.cut(new, &day)?;
    written.add(changelog::NAME, changelog);
    for (path, _) in written.iter() {
        eprintln!("{}: {old} becomes {new}", path.display());
    }
    match is_dry {
        true => Ok(()),
        false => written.write(&root()),
    }
}

fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [4, 2, 2] && parts.iter().all(is_number)
}

fn release(table: &Table, args: &Args) -> Result<(), Error> {
    let version = version::of_workspace()?;
    let problems = problems(&version, args.tagged)?;
    for problem in &problems {
        eprintln!("not ready: {problem}");
    }
    let (tag, out) = (
        format!("v{version}"),
        files::folder(&version, args.out.as_deref()),
    );
    if args.dry_run {
        eprintln!("would build, into {}:", out.display());
        for name in files::names() {
            eprintln!("  {name}");
        }
        if !args.tagged {
            eprintln!("would make the tag {tag}");
        }
    }
    match (problems.len(), args.dry_run) {
        (0, true) => Ok(()),
        (0, false) => {
            files::build(table, &version, &out)?;
            eprintln!("{}", out.display());
            if !args.tagged {
                git(&["tag", "-a", &tag, "-m", &format!("hostwire {version}")])?;
                eprintln!("made the tag {tag}; `git push origin {tag}` publishes it");
            }
            Ok(())
        }
        (found, _) => Err(Error::NotReady { found }),
    }
}

/// What has to be mended before a release.
fn problems(version: &Version, is_tagged: bool) -> Result<Vec<String>, Error> {
    let mut problems = version::strangers(version)?;
    problems.extend(Changelog::read()?.problem(version));
    problems.extend(semver::problem(version)?);
    let changed = git(&["status", "--porcelain"])?;
    let changed: Vec<&str> = changed.lines().collect();
    if let [first, ..] = changed[..] {
        let first = first.trim();
        problems.push(format!(
            "{} files are not committed, such as '{first}'",
            changed.len()
        ));
    }
    let tag = format!("v{version}");
    let there = git(&["tag", "--points-at", "HEAD", "--list", &tag])?;
    if is_tagged && there.trim().is_empty() {
        problems.push(format!("what is checked out has no tag {tag}"));
    } else if !is_tagged && !git(&["tag", "--list", &tag])?.trim().is_empty() {
        problems.push(format!("there is a tag {tag} already"));
    }
    Ok(problems)
}

fn git(arguments: &[&str]) -> Result<String, Error> {
    stdout(Command::new("git").current_dir(root()).args(arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_in_full() {
        assert!(is_day("2026-11-29"));
        for wrong in ["", "2026-11", "26-11-29", "2026-11-2x", "2026-11-29-1"] {
            assert!(!is_day(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_release_goes_forward() {
        let old = version::of_workspace().unwrap();
        let error = prepare(&old, Some("2026-11-29"), true).unwrap_err();
        assert!(error.to_string().contains("is not later than"), "{error}");
    }
}
