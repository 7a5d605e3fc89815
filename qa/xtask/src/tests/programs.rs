//! The programs of tests, as cargo builds them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use hostwire_testing::built;
use serde::Deserialize;

use super::progress::Progress;
use super::running::{self, Ended};
use super::stop::Stop;
use crate::{Error, root};

/// A program of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    /// The package, and the target in it: `hostwire-cli run`, `hostwire-cli lib`.
    pub(super) name: String,
    executable: PathBuf,
    /// The folder of its package.
    folder: PathBuf,
}

impl Program {
    /// The command that runs it where and how cargo would.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.folder)
            .env("CARGO", built::cargo().get_program())
            .env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }

    /// The file for what it prints.
    pub(super) fn output(&self) -> PathBuf {
        let deps = self.executable.parent().unwrap_or(Path::new("."));
        let file = format!("{}.txt", self.name.replace([' ', '/'], "-"));
        deps.with_file_name("tests").join(file)
    }
}

/// A line of cargo, as far as it says where a program is.
#[derive(Debug, Deserialize)]
struct Message {
    package_id: Option<String>,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

#[derive(Debug, Deserialize)]
struct Profile {
    test: bool,
}

/// Has cargo build the programs that these arguments of `cargo test` name.
pub(super) fn build(arguments: &[String]) -> Result<Vec<Program>, Error> {
    let mut command = built::cargo();
    command.current_dir(root()).arg("test").args(arguments);
    command.args(["--no-run", "--message-format", "json-render-diagnostics"]);
    let said = crate::library::stdout(&mut command)?;
    Ok(said.lines().filter_map(program).collect())
}

/// The program of tests that a line of cargo is about.
fn program(line: &str) -> Option<Program> {
    let message: Message = serde_json::from_str(line).ok()?;
    let (target, manifest) = (message.target?, message.manifest_path?);
    if !message.profile?.test {
        return None;
    }
    let package_id = message.package_id?;
    // `path+file:///folder#name@version`, or `...folder/name#version`.
    let (path, end) = package_id.rsplit_once('#')?;
    let package = match end.split_once('@') {
        Some((name, _)) => name,
        None => path.rsplit_once('/')?.1,
    };
    let target = match target.kind.first()?.as_str() {
        "test" => target.name,
        "bin" => format!("bin {}", target.name),
        "example" => format!("example {}", target.name),
        _ => "lib".to_owned(),
    };
    Some(Program {
        name: format!("{package} {target}"),
        executable: message.executable?,
        folder: manifest.parent()?.to_path_buf(),
    })
}

/// Runs the tests in documentation, which cargo compiles itself; they have no times of their own.
pub(super) fn documentation(
    arguments: &[String],
    own: &[String],
    stop: &Stop,
) -> Result<Ended, Error> {
    let begin = Instant::now();
    let mut command = built::cargo();
    command.current_dir(root()).arg("test").args(arguments);
    command.arg("--doc").arg("--").args(own);
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    let ended = running::output(&mut command, stop);
    let (status, said) = ended.map_err(|source| Error::Start {
        program: "cargo".to_owned(),
        source,
    })?;
    let mut progress = Progress::new(Vec::new(), 0);
    for line in said.lines() {
        progress.line(line, begin.elapsed());
    }
    Ok(Ended {
        program: "documentation".to_owned(),
        tests: progress.into_ended(),
        took: begin.elapsed(),
        failure: (!status.success()).then(|| status.to_string()),
        said,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, kind: &str, name: &str, test: bool) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"{id}","manifest_path":"/w/crates/x/Cargo.toml",
            "target":{{"kind":["{kind}"],"name":"{name}"}},"profile":{{"test":{test}}},
            "executable":"/w/target/debug/deps/{name}-1"}}"#
        )
    }

    #[test]
    fn programs_have_the_names_of_package_and_target() {
        let of = |id: &str, kind, name| program(&line(id, kind, name, true)).map(|of| of.name);
        let named = "path+file:///w/crates/x#hostwire-x@0.1.0";
        assert_eq!(of(named, "test", "run").as_deref(), Some("hostwire-x run"));
        assert_eq!(
            of(named, "lib", "hostwire_x").as_deref(),
            Some("hostwire-x lib")
        );
        let unnamed = "path+file:///w/xtask#0.1.0";
        assert_eq!(
            of(unnamed, "bin", "xtask").as_deref(),
            Some("xtask bin xtask")
        );
        assert_eq!(program(&line(named, "bin", "hostwire", false)), None);
    }

    #[test]
    fn a_program_runs_in_the_folder_of_its_package() {
        let id = "path+file:///w/crates/x#hostwire-x@0.1.0";
        let program = program(&line(id, "test", "run", true)).expect("a program");
        let command = program.command();
        assert_eq!(command.get_current_dir(), Some(Path::new("/w/crates/x")));
        assert_eq!(command.get_program(), "/w/target/debug/deps/run-1");
        assert_eq!(
            program.output(),
            Path::new("/w/target/debug/tests/hostwire-x-run.txt")
        );
    }

    #[test]
    fn other_lines_of_cargo_are_passed_over() {
        for line in [
            "",
            "{",
            "{}",
            r#"{"reason":"build-finished","success":true}"#,
        ] {
            assert_eq!(program(line), None, "{line}");
        }
    }
}
