//! Programs that crash, and what is put before programs to find out why.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use hostwire_testing::{is_installed, left_out, need};

use crate::job::{Ended, Job, hostwire, probe, run, run_with_input};

/// Crashes as the PE that its argument names; the others wait.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void crash_here(volatile int *nowhere)
{
    *nowhere = 1;
}

int main(int count, char **arguments)
{
    printf("%s\n", arguments[count - 1]);
    fflush(stdout);
    if (strcmp(arguments[1], getenv("PMI_RANK")) == 0)
        crash_here(NULL);
    sleep(1000);
}
"#;

/// A folder with the program in it.
fn compiled() -> Option<(tempfile::TempDir, PathBuf)> {
    if !is_installed("cc", &need::C) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("crash.c"), PROGRAM).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-g", "-O0", "-o", "crash", "crash.c"]);
    let status = compiler.current_dir(folder.path()).status();
    assert!(status.unwrap().success());
    let program = folder.path().join("crash");
    Some((folder, program))
}

/// Runs a job in `folder` whose core files have at most so many bytes: a number, or `unlimited`.
fn run_with_cores(folder: &Path, limit: &str, arguments: &[&str]) -> Ended {
    let launcher = hostwire(arguments);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -c {limit} && exec \"$0\" \"$@\"")])
        .arg(launcher.get_program())
        .args(launcher.get_args())
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    Job::start(command).end()
}

#[test]
fn the_line_says_where_the_core_file_is() {
    let Some((folder, program)) = compiled() else {
        return;
    };
    let arguments = ["run", "-n", "2", program.to_str().unwrap(), "1", "x"];
    let ended = run_with_cores(folder.path(), "0", &arguments);
    assert_eq!(ended.status, 139, "{ended:#?}");
    let begin = "hostwire: PE 1 was killed by SIGSEGV (";
    assert!(ended.stderr.starts_with(begin), "{ended:#?}");
    assert!(
        ended.stderr.ends_with("); ended the other PE\n"),
        "{ended:#?}"
    );

    // Where the kernel writes files, and not everywhere.
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    if pattern.starts_with('|') || pattern.contains('/') {
        return left_out(&need::CORE_FILES, pattern);
    }
    assert!(ended.stderr.contains("'ulimit -c unlimited'"), "{ended:#?}");
    let ended = run_with_cores(folder.path(), "unlimited", &arguments);
    let told = ended.stderr.strip_prefix(begin).unwrap();
    let core = told.strip_prefix("core file: ").unwrap();
    let core = core.strip_suffix("); ended the other PE\n").unwrap();
    let begin = std::fs::read(core).unwrap();
    assert!(begin.starts_with(b"\x7fELF"), "{core}");
}

#[test]
fn a_backtrace_names_function_and_line() {
    let Some((_folder, program)) = compiled() else {
        return;
    };
    if !is_installed("gdb", &need::GDB) {
        return;
    }
    let program = program.to_str().unwrap();
    let arguments = ["run", "-n", "2", "--backtrace", program, "1", "a \"b' $c"];
    let ended = run(&arguments);
    assert_eq!(ended.status, 139, "{ended:#?}");
    // The other PE may have been ended before it could print.
    let mut lines = ended.stdout.lines();
    assert_eq!(lines.next(), Some("a \"b' $c"), "{ended:#?}");
    let has = |text: &str| {
        ended
            .stderr
            .lines()
            .any(|line| line.starts_with("PE 1: ") && line.contains(text))
    };
    assert!(has("signal 11 in thread 1"), "{ended:#?}");
    assert!(has("crash_here (nowhere=0x0) at crash.c:9"), "{ended:#?}");
    let last = "hostwire: PE 1 was killed by SIGSEGV; ended the other PE\n";
    assert!(ended.stderr.ends_with(last), "{ended:#?}");
}

/// A PE under a debugger is one like the others.
#[test]
fn what_does_not_crash_does_not_notice_a_debugger() {
    if !is_installed("gdb", &need::GDB) {
        return;
    }
    let script = "cat; echo \"$SHELL ${LINES-}\" >&2; trap 'echo usr' USR1; kill -USR1 $$; exit 5";
    let ended = run_with_input(
        &["run", "-n", "1", "--gdb", "0", "sh", "-c", script],
        "in\n",
    );
    let shell = std::env::var("SHELL").unwrap_or_default();
    assert_eq!(
        (ended.status, &*ended.stdout),
        (5, "in\nusr\n"),
        "{ended:#?}"
    );
    let expected = format!("{shell} \nhostwire: PE 0 exited with status 5\n");
    assert_eq!(ended.stderr, expected);
    // A job with PMI.
    let ended = run(&["run", "-n", "2", "--backtrace", &probe(), "exchange"]);
    let plain = run(&["run", "-n", "2", &probe(), "exchange"]);
    assert_eq!(ended.status, plain.status, "{ended:#?} {plain:#?}");
    assert_eq!(ended.sorted_lines(), plain.sorted_lines());
}

/// Signals of the launcher are for the program, and gdb says nothing about them.
#[test]
fn a_pe_under_a_debugger_may_say_good_bye() {
    if !is_installed("gdb", &need::GDB) {
        return;
    }
    let script = "if [ $PMI_RANK = 0 ]; then cat; exit 3; fi; \
                  trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let arguments = [
        "run",
        "-n",
        "2",
        "--backtrace",
        "--grace",
        "60s",
        "sh",
        "-c",
        script,
    ];
    let mut command = hostwire(&arguments);
    command.stdin(std::process::Stdio::piped());
    let mut job = Job::start(command);
    assert_eq!(job.line(), "ready");
    let ended = job.close_stdin_and_end();
    assert_eq!((ended.status, ended.stdout.as_str()), (3, "bye\n"));
    let line = "hostwire: PE 0 exited with status 3; ended the other PE\n";
    // The shell may say that its child was terminated.
    assert!(ended.stderr.starts_with(line), "{ended:#?}");
    assert!(!ended.stderr.contains("gdb"), "{ended:#?}");
}

#[test]
fn a_debugger_has_the_terminal() {
    let Some((_folder, program)) = compiled() else {
        return;
    };
    if !is_installed("gdb", &need::GDB) || !is_installed("script", &need::UTIL_LINUX) {
        return;
    }
    // `script` is a terminal, and passes its input on.
    let launcher = env!("CARGO_BIN_EXE_hostwire");
    let program = program.display();
    let line = format!("{launcher} run -n 1 --timeout 100s --gdb 0 {program} 0 x; echo status $?");
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .envs([("SHELL", "/bin/sh"), ("TERM", "dumb")])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = script.spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut seen = Vec::new();
    // What is typed before gdb asks may be dropped.
    for typed in [
        "set confirm off",
        "break crash_here",
        "run",
        "print nowhere",
        "kill",
        "quit",
    ] {
        let from = seen.len();
        let mut byte = [0];
        while !seen[from..].ends_with(b"(gdb) ") {
            let text = String::from_utf8_lossy(&seen);
            assert_eq!(screen.read(&mut byte).unwrap(), 1, "{typed}: {text}");
            seen.extend(byte);
        }
        keys.write_all(format!("{typed}\n").as_bytes()).unwrap();
    }
    screen.read_to_end(&mut seen).unwrap();
    child.wait().unwrap();
    let text = String::from_utf8_lossy(&seen);
    for expected in [
        "crash_here (nowhere=0x0) at crash.c:9",
        "$1 = (volatile int *) 0x0",
        "status 0",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn a_command_comes_before_the_program() {
    let arguments = [
        "run",
        "-n",
        "2",
        "--label",
        "--wrap",
        "env 'X={pe} of {pes}'",
    ];
    let ended = run(&[&arguments[..], &["sh", "-c", "echo $X, $0", "a b"]].concat());
    assert_eq!((ended.status, &*ended.stderr), (0, ""), "{ended:#?}");
    assert_eq!(ended.sorted_lines(), ["[0] 0 of 2, a b", "[1] 1 of 2, a b"]);
}

#[test]
fn what_cannot_be_put_before_the_program_is_refused() {
    let refusal = |arguments: &[&str]| {
        let ended = run(&[&["run", "-n", "2"], arguments].concat());
        assert_eq!((ended.status, &*ended.stdout), (2, ""), "{ended:#?}");
        ended.stderr
    };
    for (arguments, text) in [
        (
            &["--wrap", "no-such-tool -q", "true"][..],
            "--wrap: cannot run 'no-such-tool': not found in PATH",
        ),
        (
            &["--wrap", "a 'b", "true"],
            "there is no ' to end the part that begins with one",
        ),
        (
            &["--gdb", "2", "true"],
            "--gdb 2: the job has the PEs 0 to 1",
        ),
        (
            &["--gdb", "0", "--wrap", "env", "true"],
            "cannot be used with",
        ),
        (
            &["--backtrace", "--gdb", "1", "true"],
            "cannot be used with",
        ),
    ] {
        let said = refusal(arguments);
        assert!(said.contains(text), "{arguments:?}: {said}");
    }
    let mut command = hostwire(&["run", "-n", "1", "--backtrace", "/bin/sh", "-c", ":"]);
    command.env("PATH", "/no/such/folder");
    let ended = Job::start(command).end();
    assert_eq!(ended.status, 2, "{ended:#?}");
    assert!(ended.stderr.contains("gdb is not installed"), "{ended:#?}");
}
