//! `oshcc` and `oshc++` with a compiler that is itself a wrapper.
//!
//! Without a guard they call themselves for ever, so everything here runs under `timeout`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hostwire_testing::{is_installed, need};

use crate::build::tree;
use crate::{output, succeeds, text};

const PROGRAM: &str = "\
#include <shmem.h>
#include <math.h>
int main(int argc, char **argv)
{
    (void)argv;
    return argc == 100 ? (shmem_init(), (int)sqrt((double)argc)) : 0;
}
";

/// A folder with a program, and names under which the wrappers can be found there.
struct Folder {
    folder: tempfile::TempDir,
    bin: PathBuf,
}

impl Folder {
    fn new(tree: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let bin = tree.join("bin");
        fs::write(folder.path().join("program.c"), PROGRAM).expect("a file");
        let place = Self { folder, bin };
        for (wrapper, link) in [("oshcc", "linked"), ("oshc++", "linked++")] {
            symlink(place.bin.join(wrapper), place.path(link)).expect("a link");
            let script = format!("#!/bin/sh\nexec {} \"$@\"\n", place.tool(wrapper).display());
            place.script(&format!("hidden-{wrapper}"), &script);
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tool(&self, wrapper: &str) -> PathBuf {
        self.bin.join(wrapper)
    }

    fn script(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a script");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(name), mode).expect("a program");
    }

    /// A command in the folder that finds the wrappers and ends in any case.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("timeout");
        command.arg("100").arg(program);
        command.current_dir(self.folder.path());
        command.env("PATH", format!("{}:{path}", self.bin.display()));
        for name in ["CC", "CXX", "OSHCC", "OSHCXX", "HOSTWIRE_WRAPPER_DEPTH"] {
            command.env_remove(name);
        }
        command
    }
}

/// With each of these in `CC`, in `OSHCC`, and the like in `CXX` and `OSHCXX`.
#[test]
fn a_wrapper_whose_compiler_is_a_wrapper_uses_the_systems() {
    let Some(tree) = tree() else { return };
    let place = Folder::new(tree);
    for (wrapper, variables, linked) in [
        ("oshcc", ["CC", "OSHCC"], "./linked"),
        ("oshc++", ["CXX", "OSHCXX"], "./linked++"),
    ] {
        let compiler = wrapper.trim_start_matches("osh");
        if !is_installed(compiler, &need::CXX) {
            continue;
        }
        let by_path = place.tool(wrapper);
        for (value, expected) in [
            (wrapper.to_string(), compiler.to_string()),
            (format!("{wrapper} "), compiler.into()),
            (format!("{wrapper} -O2 -g"), format!("{compiler} -O2 -g")),
            (
                format!("{} -O2", by_path.display()),
                format!("{compiler} -O2"),
            ),
            (format!("{linked} -O2"), format!("{compiler} -O2")),
            (
                format!("env A=1 {wrapper} -O2"),
                format!("env A=1 {compiler} -O2"),
            ),
            (format!("{wrapper} --inline"), compiler.into()),
            // It can only be noticed by what it does.
            (
                format!("./hidden-{wrapper} -O2"),
                format!("./hidden-{wrapper} -O2"),
            ),
            ("oshcc -O1".into(), format!("{compiler} -O1")),
        ] {
            for variable in variables {
                let with = || {
                    let mut command = place.command(wrapper);
                    command.env(variable, &value);
                    command
                };
                let said = succeeds(with().arg("--showme:command"));
                assert_eq!(said.trim(), expected, "{variable}='{value}'");
                succeeds(
                    with()
                        .args(["-x", if wrapper == "oshcc" { "c" } else { "c++" }])
                        .args(["program.c", "-x", "none", "-o", "program"]),
                );
                succeeds(&mut Command::new(place.path("program")));
            }
        }
    }
}

/// It ends with an error that says what to do, and does not fork for ever.
#[test]
fn a_wrapper_that_finds_no_other_compiler_says_so() {
    let Some(tree) = tree() else { return };
    let place = Folder::new(tree);
    let only = place.path("only");
    fs::create_dir(&only).expect("a folder");
    for tool in ["sh", "readlink", "dirname", "basename"] {
        let found = succeeds(Command::new("sh").args(["-c", &format!("command -v {tool}")]));
        symlink(found.trim(), only.join(tool)).expect("a link");
    }
    let refused = |path: &Path| -> Output {
        let timeout = succeeds(Command::new("sh").args(["-c", "command -v timeout"]));
        let mut command = Command::new(timeout.trim());
        command.arg("100").arg(place.tool("oshcc")).arg("program.c");
        command.current_dir(place.folder.path());
        output(
            command
                .env("PATH", path)
                .env("CC", "oshcc -O2")
                .env_remove("OSHCC"),
        )
    };
    let none = refused(&only);
    assert_eq!(none.status.code(), Some(2), "{}", text(&none));
    assert!(text(&none).contains("set OSHCC"), "{}", text(&none));
    // The only compiler is a wrapper again, under a name that does not show it.
    symlink(place.path("hidden-oshcc"), only.join("cc")).expect("a link");
    let endless = refused(&only);
    assert_eq!(endless.status.code(), Some(2), "{}", text(&endless));
    assert!(text(&endless).contains("for ever"), "{}", text(&endless));
    assert!(text(&endless).contains("set OSHCC"), "{}", text(&endless));
}

/// make exports what is set on its command line.
#[test]
fn make_may_be_told_to_use_the_wrapper_with_options() {
    let Some(tree) = tree() else { return };
    if !is_installed("make", &need::MAKE) {
        return;
    }
    let place = Folder::new(tree);
    for compiler in ["oshcc", "oshcc -O2", "oshcc "] {
        let _ = fs::remove_file(place.path("program"));
        succeeds(
            place
                .command("make")
                .arg(format!("CC={compiler}"))
                .arg("program"),
        );
        succeeds(&mut Command::new(place.path("program")));
    }
}

/// Newer ones try `CC="oshcc "`, with or without an option after it.
#[test]
fn a_configure_script_may_be_told_to_use_the_wrapper() {
    let Some(tree) = tree() else { return };
    if !is_installed("autoconf", &need::AUTOCONF) {
        return;
    }
    let place = Folder::new(tree);
    let script = "\
AC_INIT([program], [1])
AC_PROG_CC
AC_PROG_CXX
AC_CHECK_FUNCS([shmem_init shmem_finalize])
AC_CHECK_HEADERS([shmem.h])
AC_CONFIG_FILES([result])
AC_OUTPUT
";
    fs::write(place.path("configure.ac"), script).expect("a file");
    fs::write(place.path("result.in"), "CC='@CC@'\nDEFS='@DEFS@'\n").expect("a file");
    succeeds(&mut place.command("autoconf"));
    for compiler in ["oshcc", "oshcc -O2"] {
        let mut configure = place.command("./configure");
        succeeds(configure.arg(format!("CC={compiler}")).arg("CXX=oshc++"));
        let result = fs::read_to_string(place.path("result")).expect("what it found");
        assert!(result.contains(&format!("CC='{compiler}")), "{result}");
        for found in ["HAVE_SHMEM_INIT=1", "HAVE_SHMEM_H=1"] {
            assert!(result.contains(found), "no {found}: {result}");
        }
    }
}
