//! Libraries that stand for those of hardware.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{is_installed, need};

/// A folder with a `libcuda.so.1` that needs no GPU, for `LD_LIBRARY_PATH` of a process that is started.
/// `drivers/cuda.c` of this crate says what it does. `None` without a C compiler.
///
/// # Panics
/// If it does not compile; as [`left_out`](crate::left_out).
#[track_caller]
pub fn cuda_driver() -> Option<PathBuf> {
    if !is_installed("cc", &need::C) {
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("drivers/cuda.c");
    let test = std::env::current_exe().unwrap_or_else(|error| panic!("this program: {error}"));
    let folder = test.with_file_name("stand-in-cuda");
    std::fs::create_dir_all(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    // Other tests may make it, and use it, at the same time.
    let own = folder.join(format!("{}.so", std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args([
        "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread", "-o",
    ]);
    let compiled = compiler.arg(&own).arg(source).output();
    let compiled = compiled.unwrap_or_else(|error| panic!("cc: {error}"));
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{errors}");
    let placed = std::fs::rename(&own, folder.join("libcuda.so.1"));
    placed.unwrap_or_else(|error| panic!("{}: {error}", own.display()));
    Some(folder)
}

/// Runs tests of this program, by a filter, in a process that has the stand-in for the driver of CUDA.
///
/// # Panics
/// If they fail, or none runs.
#[track_caller]
pub fn repeat_with_cuda(tests: &str, skipped: &str) {
    let Some(folder) = cuda_driver() else {
        return;
    };
    let test = std::env::current_exe().unwrap_or_else(|error| panic!("this program: {error}"));
    let mut command = Command::new(test);
    command.args([tests, "--skip", skipped, "--nocapture"]);
    let done = command.env("LD_LIBRARY_PATH", folder).output();
    let done = done.unwrap_or_else(|error| panic!("starting this program again: {error}"));
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    assert!(
        !said.contains("running 0 tests") && !said.contains("skipped: "),
        "{said}"
    );
}
