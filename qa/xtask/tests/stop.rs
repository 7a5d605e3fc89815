//! A signal that ends `cargo xtask test` ends the programs of tests that it has started.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

const SIGTERM: i32 = 15;

/// A program of tests that never ends, and starts another one that never ends. Both hold the pipe
/// in which `xtask` prints, so the reader of the pipe sees when both have ended.
const PROGRAM: &str = r#"
case "$*" in *--list*) echo 'sleeps: test'; exit ;; esac
exec 3>"/proc/$PPID/fd/1"
sleep 600 &
echo 'it sleeps' >&3
wait
"#;

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}")).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a script that runs");
}

#[test]
fn programs_of_tests_end_before_it_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let deps = folder.path().join("deps");
    fs::create_dir(&deps).expect("a folder");
    let program = deps.join("sleeps");
    script(&program, PROGRAM);
    let built = format!(
        r#"{{"package_id":"path+file:///w#sleeper@0.1.0","manifest_path":"{}/Cargo.toml",
        "target":{{"kind":["test"],"name":"sleeps"}},"profile":{{"test":true}},"executable":"{}"}}"#,
        folder.path().display(),
        program.display(),
    );
    let cargo = folder.path().join("cargo");
    script(&cargo, &format!("echo '{}'\n", built.replace('\n', "")));

    let (prints, stdout) = io::pipe().expect("a pipe");
    // The command has the other end too, so it does not outlive this statement.
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("test")
        .env("CARGO", &cargo)
        .stdin(Stdio::null())
        .stdout(stdout)
        .spawn()
        .expect("xtask");
    let mut prints = BufReader::new(prints);
    let mut line = String::new();
    while line != "it sleeps\n" {
        line.clear();
        let read = prints.read_line(&mut line).expect("what xtask prints");
        assert!(read > 0, "xtask has ended: {:?}", xtask.wait());
    }

    let kill = Command::new("kill")
        .arg("-TERM")
        .arg(xtask.id().to_string())
        .status();
    assert!(kill.expect("kill").success());
    let status = xtask.wait().expect("xtask");
    assert_eq!(status.signal(), Some(SIGTERM), "{status}");
    // The pipe ends only if the program and its child have ended.
    let mut rest = String::new();
    prints.read_to_string(&mut rest).expect("the rest");
    assert!(rest.contains("sleeper sleeps: FAILED"), "{rest}");
}
