//! `hostwire sim` and `hostwire reproduce`, end to end: the real binary.
#![allow(clippy::print_stderr)]

mod bad_input;
mod htea;
#[allow(dead_code, reason = "shared with the tests of `hostwire run`")]
#[path = "../../../../tools/cli/tests/run/job.rs"]
mod job;
mod memory;
mod mutations;
mod outputs;
mod page;
mod reproduce;
mod shipped;
mod sweeps;
mod tca;
mod traffic;

use std::path::{Path, PathBuf};

/// A path below the root of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// Two boards and a ping-pong between them, in one file.
const PING_PONG: &str = r#"
title = "two boards"

[[cluster.node]]
name = "left"
memory = "8GiB"

[[cluster.node]]
name = "right"
memory = "8GiB"

[[cluster.cable]]
from = "left.l2"
to = "right.l2"
width = "16bit"
frequency = "800MHz"
length = "30cm"
medium = "coax"

[workload]
kind = "ping-pong"
from = "left"
to = "right"
size = "56B"
"#;

/// Runs `hostwire sim` on a file of this text; more arguments may follow.
fn sim(text: impl AsRef<[u8]>, arguments: &[&str]) -> job::Ended {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("experiment.toml");
    std::fs::write(&file, text).unwrap();
    job::run(&[&["sim", file.to_str().unwrap()], arguments].concat())
}

/// The message for a file that is refused; it must have a code and a place.
#[track_caller]
fn refused(text: &str, code: &str, place: &str) -> String {
    let ended = sim(text, &[]);
    assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{ended:?}");
    let message = ended.stderr;
    assert!(message.contains(&format!("error[{code}]")), "{message}");
    assert!(message.contains(place), "{place}: {message}");
    message
}
