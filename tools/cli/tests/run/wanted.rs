//! A file that was asked for is whole, or the exit status says that it is not: with each option that names
//! one, and on standard output, when there is no room.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hostwire_testing::{built, left_out, need};

use crate::job::{Ended, Job, run};

/// Has no room.
const FULL: &str = "/dev/full";

const EXPERIMENT: &str = r#"
cluster = "cluster.toml"

[workload]
kind = "ping-pong"
from = "left"
to = "right"
size = "56B"
"#;

/// The arguments of each command. `FULL` is a file without room. `DIR` is a folder in which the files with the names
/// after the bar have no room, or a folder on a system that lets no file grow.
const FILES: [(&str, &str); 19] = [
    ("run --trace", "MODEL --trace FULL PROBE turns figures"),
    ("run --pcap", "MODEL --pcap FULL PROBE turns figures"),
    ("run --events", "MODEL --events FULL PROBE turns figures"),
    // The run has failed by then. The lost file has to be reported nevertheless.
    ("run --trace", "MODEL --trace FULL PROBE turns deadlock"),
    ("plan --dot", "plan cluster.toml --dot FULL"),
    ("sim --trace", "sim one.toml --trace FULL"),
    ("sim --pcap", "sim one.toml --pcap FULL"),
    ("sim --events", "sim one.toml --events FULL"),
    ("sim --plot", "sim swept.toml --plot DIR"),
    ("sim --results", "sim swept.toml --results DIR"),
    ("bench --csv", "bench barrier --repeats 1 --csv FULL"),
    ("bench --html", "bench barrier --repeats 1 --html FULL"),
    (
        "compare --plot",
        "compare --on shm --rounds 1 -n 2 --plot DIR PROBE turns figures|barrier.svg",
    ),
    ("reproduce --plot", "reproduce htx-board --plot DIR"),
    (
        "reproduce --html",
        "reproduce htx-board --html DIR|index.html",
    ),
    ("completions", "completions bash > FULL"),
    ("manual", "manual DIR"),
    ("run-page", "run-page --report cluster.toml FULL"),
    ("run", "run -n 2 echo lost > FULL"),
];

/// What prints.
const PRINTED: [&str; 10] = [
    "plan cluster.toml",
    "plan cluster.toml --json",
    "sim one.toml",
    "sim one.toml --json",
    "events one.trace",
    "events one.trace --json",
    "compare --on shm --rounds 1 -n 2 PROBE turns figures",
    "bench barrier --repeats 1 --json",
    "reproduce htx-board --json",
    "doctor --json",
];

/// Options of files that are read, or that have tests of their own.
const OTHERS: [&str; 10] = [
    "borrow --key",
    "borrow --library",
    "doctor --hostfile",
    "lend --key",
    // A new file, never in the place of another one.
    "lend --new-key",
    // Below, on a file system of its own.
    "run --record",
    "run --cluster",
    "run --hostfile",
    // What can be tested without a device is `compare --plot`.
    "bench --plot",
    "window --socket",
];

/// A folder with what the commands read.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clusters = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/sim/clusters");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        fs::copy(
            clusters.join("two-boards.toml"),
            folder.path().join("cluster.toml"),
        )
        .unwrap();
        write("one.toml", EXPERIMENT);
        let sweep = "[sweep]\nkey = \"workload.size\"\nvalues = [\"8B\", \"16B\"]\n";
        write("swept.toml", &format!("{EXPERIMENT}{sweep}"));
        let place = Self(folder);
        let traced = place.run("sim one.toml --events one.trace");
        assert_eq!(traced.status, 0, "{traced:?}");
        place
    }

    fn run(&self, line: &str) -> Ended {
        built::library("libhostwire_clock.so");
        built::laboratory();
        let hostwire = PathBuf::from(env!("CARGO_BIN_EXE_hostwire"));
        let probe = hostwire.with_file_name("examples").join("fault_probe");
        let (line, names) = line.split_once('|').unwrap_or((line, ""));
        let is_limited = line.contains("DIR") && names.is_empty();
        let folder = tempfile::tempdir().unwrap();
        for name in names.split_whitespace() {
            symlink(FULL, folder.path().join(name)).unwrap();
        }
        let (line, is_lost) = match line.strip_suffix("> FULL") {
            Some(line) => (line, true),
            None => (line, false),
        };
        let arguments = line.split_whitespace().flat_map(|word| -> Vec<OsString> {
            match word {
                "MODEL" => "run --cluster cluster.toml --heap 4M -n 2"
                    .split(' ')
                    .map(Into::into)
                    .collect(),
                "PROBE" => vec![probe.clone().into()],
                "FULL" => vec![FULL.into()],
                "DIR" => vec![folder.path().into()],
                word => vec![word.into()],
            }
        });
        let mut command = Command::new("sh");
        let limit = if is_limited {
            "trap '' XFSZ; ulimit -f 0; "
        } else {
            ""
        };
        command
            .arg("-c")
            .arg(format!("{limit}exec \"$@\""))
            .arg("sh");
        command
            .arg(&hostwire)
            .args(arguments)
            .current_dir(self.0.path());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if is_lost {
            command.stdout(File::create(FULL).unwrap());
            let output = command.output().unwrap();
            return Ended {
                status: output.status.code().unwrap(),
                stdout: String::new(),
                stderr: String::from_utf8(output.stderr).unwrap(),
            };
        }
        Job::start(command).end()
    }
}

#[test]
fn what_cannot_be_written_is_said_and_gives_the_status() {
    let place = Folder::new();
    let printed = PRINTED.map(|line| (line, format!("{line} > FULL")));
    let files = FILES.map(|(option, line)| (option, line.to_owned()));
    for (what, line) in files.into_iter().chain(printed) {
        let ended = place.run(&line);
        assert_ne!(ended.status, 0, "{what}: {line}: {ended:?}");
        let reasons = ["No space left", "File too large"];
        let said = reasons.iter().any(|reason| ended.stderr.contains(reason));
        assert!(
            said && ended.stderr.contains("cannot write"),
            "{what}: {line}: {ended:?}"
        );
    }
}

/// A new option for a file has to be in the table.
#[test]
fn every_option_that_names_a_file_is_in_the_table() {
    built::laboratory();
    let help = run(&["--help"]).stdout;
    let (_, commands) = help.split_once("Commands:").unwrap();
    let (commands, _) = commands.split_once("Options:").unwrap();
    let commands = commands
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let mut found = BTreeSet::new();
    for command in commands {
        for line in run(&[command, "-h"]).stdout.lines() {
            let Some((_, option)) = line.split_once("--") else {
                continue;
            };
            let Some((option, value)) = option.split_once(" <") else {
                continue;
            };
            let value = value.split('>').next().unwrap_or_default();
            if ["FILE", "DIR", "PATH"].contains(&value) || value.starts_with("OUT.") {
                found.insert(format!("{command} --{option}"));
            }
        }
    }
    assert!(found.len() > 15, "the help is not what it was: {found:?}");
    let listed = FILES.iter().map(|(option, _)| *option).chain(OTHERS);
    let listed: BTreeSet<String> = listed.map(str::to_owned).collect();
    let missing: Vec<&String> = found.difference(&listed).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The recordings go to a file system of 16 KiB.
#[test]
fn a_recording_without_room_fails_the_job_at_its_end() {
    let script = "mount -t tmpfs -o size=16k none \"$1\" && exec \"$2\" run -n 2 --record \"$1\" \"$3\" everything";
    let folder = tempfile::tempdir().unwrap();
    let hostwire = env!("CARGO_BIN_EXE_hostwire");
    let probe = Path::new(hostwire)
        .with_file_name("examples")
        .join("fault_probe");
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script, "sh"]);
    command.arg(folder.path()).arg(hostwire).arg(probe);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ended = Job::start(command).end();
    if ended.stderr.contains("unshare:") || ended.stderr.contains("mount:") {
        left_out(&need::UTIL_LINUX, ended.stderr.trim());
        return;
    }
    assert_eq!(ended.status, 1, "{ended:#?}");
    let parts = ["recording to ", "pcapng", "No space left"];
    assert!(
        parts.iter().all(|part| ended.stderr.contains(part)),
        "{ended:#?}"
    );
}
