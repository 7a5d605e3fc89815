//! The example in C that copies between memory of devices.

use std::path::Path;
use std::process::Command;

use hostwire_testing::{built, is_installed, need, stand_in};

use crate::job::{self, Job};

#[test]
fn the_example_in_c_copies_from_device_to_device() {
    if !is_installed("cc", &need::C) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = tempfile::tempdir().unwrap();
    let program = made.path().join("tca_ring");
    let library = built::library("libhostwire_tca.so");
    let folder = library.parent().unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-o"]);
    compiler.arg(&program).arg("-I").arg(root.join("include"));
    compiler.arg(root.join("examples/c/tca_ring.c"));
    let compiled = compiler
        .arg("-L")
        .arg(folder)
        .arg("-lhostwire_tca")
        .output();
    let compiled = compiled.unwrap();
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{errors}");
    let program = program.display().to_string();
    // There is a compiler.
    let driver = stand_in::cuda_driver().unwrap();
    let libraries = std::env::join_paths([folder, &driver]).unwrap();
    for (devices, pes, way) in [
        ("modelled", 3, "device to device"),
        ("cuda", 3, "device to device"),
        ("none", 2, "host to host"),
    ] {
        let count = pes.to_string();
        let arguments = ["run", "-n", &count, "--devices", devices, "--", &program];
        let mut command = job::hostwire(&arguments);
        command.env("LD_LIBRARY_PATH", &libraries);
        let ended = Job::start(command).end();
        assert_eq!(ended.status, 0, "{ended:?}");
        let told = format!("came 3 times, {way}");
        let lines = ended.stdout.lines().filter(|line| line.ends_with(&told));
        assert_eq!(lines.count(), pes, "{ended:?}");
    }
}
