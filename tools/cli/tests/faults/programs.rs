//! The programs that are started, and how.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use hostwire_testing::{left_out, need};

use crate::job::{Ended, Job};

/// The program of the library that does harm.
pub fn fault_probe() -> String {
    let hostwire = PathBuf::from(env!("CARGO_BIN_EXE_hostwire"));
    let probe = hostwire.with_file_name("examples").join("fault_probe");
    assert!(
        probe.exists(),
        "build it first: cargo build --package hostwire-cli --examples"
    );
    probe.into_os_string().into_string().unwrap()
}

/// `hostwire run -n PES OPTIONS... fault_probe ARGUMENTS...`.
pub fn run_probe(pes: u32, options: &[&str], arguments: &[&str]) -> Ended {
    let (pes, probe) = (pes.to_string(), fault_probe());
    let all = [&["run", "-n", &pes], options, &[&probe], arguments].concat();
    crate::job::run(&all)
}

/// Runs a command to its end.
pub fn run(program: &str, arguments: &[&str]) -> Ended {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Job::start(command).end()
}

/// Runs a shell script to its end, with `$PROBE` and `$HOSTWIRE` to start.
pub fn run_script(script: &str) -> Ended {
    let setting = format!(
        "PROBE='{}'; HOSTWIRE='{}'; ",
        fault_probe(),
        env!("CARGO_BIN_EXE_hostwire")
    );
    run("sh", &["-c", &(setting + script)])
}

/// Whether this is root. Says so if it is not.
pub fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        left_out(&need::ROOT, "only root can do this");
    }
    root
}

/// What all PEs of `work::everything` print, sorted.
pub fn all_fine(pes: u32) -> Vec<String> {
    let mut lines: Vec<String> = (0..pes)
        .map(|pe| format!("PE {pe} of {pes} is fine"))
        .collect();
    lines.sort_unstable();
    lines
}
