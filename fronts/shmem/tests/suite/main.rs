//! The C interface, as C and C++ programs see it: builds `libshmem` once as it is installed,
//! compiles the programs in `tests/c` with `oshcc` and `oshc++`, and runs them with `oshrun`.
//!
//! Without a C compiler the tests are left out, and say so. `SHMEM_TEST_RUNS` sets how often the random
//! traffic is repeated (10 by default, 100 in `make test-long`). `SHMEM_TEST_TARGET` builds for another machine, whose emulator
//! runs the tests of `programs`: see `scripts/test-arm.sh`. `SHMEM_TEST_WIRE` names the wire between hosts
//! of the tests of `hosts` (`ether` by default).

mod build;
mod exports;
mod hosts;
mod inline;
mod install;
mod launchers;
mod lifecycle;
mod mistakes;
mod model;
mod mpi;
mod programs;
mod races;
#[cfg(target_arch = "x86_64")]
mod registers;
mod tested;
mod wrapper;

use std::process::{Command, Output};

/// Runs a command to its end.
pub fn output(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"))
}

/// Runs a command that has to succeed, and returns what it prints.
pub fn succeeds(command: &mut Command) -> String {
    let output = output(command);
    let text = text(&output);
    assert!(
        output.status.success(),
        "{command:?} failed: {}\n{text}",
        output.status
    );
    text
}

/// Standard output, then standard error.
pub fn text(output: &Output) -> String {
    let parts = [&output.stdout, &output.stderr];
    parts
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .concat()
}
