//! The machine that libraries and programs are built for: this one, or another one with a cross compiler here.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use hostwire_testing::built;

use crate::{Error, root};

/// What something is built for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// The names that Rust and the GNU tools have for another machine; `None` is this one.
    other: Option<Names>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Names {
    /// Such as `aarch64-unknown-linux-gnu`.
    rust: String,
    /// The same machine without its vendor, `aarch64-linux-gnu`.
    gnu: String,
}

impl Machine {
    /// The one that this runs on.
    pub fn this() -> Self {
        Self::default()
    }

    /// The one that Rust calls `target`.
    ///
    /// # Errors
    /// [`Error::Argument`] if that is no name for a Linux machine with the GNU C library: the
    /// libraries are linked by GNU tools.
    pub fn other(target: &str) -> Result<Self, Error> {
        let parts: Vec<&str> = target.split('-').collect();
        let is_name = |part: &&str| {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !part.is_empty() && part.chars().all(is_letter)
        };
        match parts[..] {
            [processor, _, "linux", abi] if abi.starts_with("gnu") && parts.iter().all(is_name) => {
                let (rust, gnu) = (target.to_owned(), format!("{processor}-linux-{abi}"));
                let other = Some(Names { rust, gnu });
                Ok(Self { other })
            }
            _ => Err(Error::Argument(format!(
                "expected a target of Rust such as aarch64-unknown-linux-gnu, not '{target}'"
            ))),
        }
    }

    /// What Rust calls it; `None` for this machine.
    pub fn target(&self) -> Option<&str> {
        self.other.as_ref().map(|names| names.rust.as_str())
    }

    /// Where cargo puts what it builds for it.
    pub fn target_dir(&self) -> PathBuf {
        let all = cargo_dir();
        self.target()
            .map_or_else(|| all.clone(), |target| all.join(target))
    }

    /// A tool for its object files, such as `ld`.
    pub fn tool(&self, name: &str) -> Command {
        match &self.other {
            Some(names) => Command::new(format!("{}-{name}", names.gnu)),
            None => Command::new(name),
        }
    }

    /// The C compiler. `CC` names the one of this machine, and never that of another.
    pub fn compiler(&self) -> Command {
        match &self.other {
            Some(_) => self.tool("gcc"),
            None => Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into())),
        }
    }

    /// A command of cargo that builds for it.
    pub fn cargo(&self, chore: &str) -> Command {
        let mut command = built::cargo();
        command.current_dir(root()).arg(chore);
        command.arg("--target-dir").arg(cargo_dir());
        if let Some(target) = self.target() {
            command.args(["--target", target]);
        }
        command
    }
}

/// Where cargo puts what it builds, for all machines.
pub(crate) fn cargo_dir() -> PathBuf {
    let root = root();
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_another_machine_have_its_name_in_front() {
        let arm = Machine::other("aarch64-unknown-linux-gnu").expect("a machine");
        assert_eq!(arm.tool("ld").get_program(), "aarch64-linux-gnu-ld");
        assert_eq!(arm.compiler().get_program(), "aarch64-linux-gnu-gcc");
        assert!(arm.target_dir().ends_with("aarch64-unknown-linux-gnu"));
        let hard_float = Machine::other("armv7-unknown-linux-gnueabihf").expect("a machine");
        assert_eq!(
            hard_float.tool("ar").get_program(),
            "armv7-linux-gnueabihf-ar"
        );
    }

    #[test]
    fn tools_of_this_machine_have_their_own_names() {
        assert_eq!(Machine::this().tool("ld").get_program(), "ld");
        assert_eq!(Machine::this().target(), None);
    }

    #[test]
    fn machines_that_the_tools_cannot_link_for_are_refused() {
        for target in [
            "",
            "aarch64",
            "aarch64-apple-darwin",
            "aarch64-unknown-linux-musl",
            "../x-unknown-linux-gnu",
            "-unknown-linux-gnu",
        ] {
            let error = Machine::other(target).expect_err(target).to_string();
            let expected = format!(
                "expected a target of Rust such as aarch64-unknown-linux-gnu, not '{target}'"
            );
            assert_eq!(error, expected);
        }
    }
}
