//! Copies from device to device, and what is left when a process is killed.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hostwire_testing::built;

use crate::job::run;

const CHAIN: &str = env!("CARGO_BIN_EXE_chain");

#[test]
fn blocks_go_around_the_ring() {
    for (pes, arguments, memory) in [
        (1, &["--steps", "3"][..], "host memory"),
        (3, &["--block", "8000", "--steps", "5"][..], "host memory"),
        (
            3,
            &["--device", "0", "--rows", "40", "--steps", "5"][..],
            "modelled device 0",
        ),
        (
            2,
            &[
                "--device", "0", "--rows", "3", "--block", "300000", "--steps", "3",
            ][..],
            "modelled device 0",
        ),
    ] {
        let ended = run(pes, CHAIN, arguments).well();
        let first = format!("{pes} PEs, fields in {memory}");
        assert!(ended.stdout.starts_with(&first), "{ended:?}");
        assert!(ended.stdout.contains("\nstep: "), "{ended:?}");
    }
}

#[test]
fn a_device_that_is_not_there_is_named() {
    let ended = run(2, CHAIN, &["--device", "7"]);
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("has no device 7: it has 1"),
        "{ended:?}"
    );
}

/// A job that pauses in the middle, so that a process can be killed.
struct Resting {
    launcher: Child,
    /// By PE.
    devices: Vec<u32>,
}

impl Resting {
    fn start() -> Self {
        let mut command = Command::new(built::launcher());
        command.args([
            "run",
            "-n",
            "2",
            "--keep-going",
            "--devices",
            "modelled",
            "--timeout",
            "100s",
        ]);
        command.args([
            "--", CHAIN, "--device", "0", "--rows", "4", "--steps", "3", "--rest", "2",
        ]);
        let launcher = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut launcher = launcher.unwrap();
        let lines = BufReader::new(launcher.stdout.take().unwrap()).lines();
        let mut devices = vec![0; 2];
        let named = lines.map_while(Result::ok).filter_map(|line| {
            let (pe, device) = line.strip_prefix("PE ")?.split_once(" has ")?;
            let (_, process) = device.split_once("(process ")?;
            Some((
                pe.parse::<usize>().ok()?,
                process.trim_end_matches(')').parse().ok()?,
            ))
        });
        for (pe, process) in named.take(2) {
            devices[pe] = process;
        }
        assert!(!devices.contains(&0), "{devices:?}");
        Self { launcher, devices }
    }

    /// The PE that has a device.
    fn pe(&self, of: usize) -> u32 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.devices[of])).unwrap();
        let (_, rest) = stat.rsplit_once(") ").unwrap();
        rest.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// What the PEs say on standard error, when all is over and no device is left.
    fn end(mut self) -> String {
        let mut said = String::new();
        let mut errors = self.launcher.stderr.take().unwrap();
        errors.read_to_string(&mut said).unwrap();
        assert!(!self.launcher.wait().unwrap().success(), "{said}");
        let begin = Instant::now();
        while let Some(left) = self.devices.iter().find(|device| is_running(**device)) {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "{left} is left: {said}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        said
    }
}

/// Whether the process with this number is a device, and no zombie.
fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.contains("(hostwire-device)") && !stat.contains(") Z ")
}

fn kill(process: u32) {
    let status = Command::new("kill")
        .args(["-9", &process.to_string()])
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn a_device_that_is_killed_is_an_error_of_its_pe() {
    let job = Resting::start();
    kill(job.devices[1]);
    let said = job.end();
    assert!(said.contains("PE 1: PE 1: modelled device 0"), "{said}");
    assert!(
        said.contains("is lost with its memory: its process was ended by signal 9"),
        "{said}"
    );
}

#[test]
fn the_device_of_a_pe_that_is_killed_ends_with_it() {
    let job = Resting::start();
    kill(job.pe(1));
    let said = job.end();
    assert!(said.contains("PE 1 was killed by SIGKILL"), "{said}");
    assert!(said.contains("PE 0: PE 1 is lost"), "{said}");
}
