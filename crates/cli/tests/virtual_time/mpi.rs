//! MPI programs in virtual time: those of an MPICH that is built for libfabric, whose `mpicc` and library are
//! taken as they are.

use std::process::Command;
use std::sync::OnceLock;

use hostwire_testing::{left_out, mpich_over_libfabric, need};
use rustix::process::Signal;
use tempfile::TempDir;

use super::job::{self, Ended, Job, hostwire};
use super::{KINDS, build_library, cluster};

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/virtual_time/mpi_times.c"
);

/// The program, unless this machine has no MPICH for it.
fn program() -> Option<String> {
    static MADE: OnceLock<Result<(TempDir, String), String>> = OnceLock::new();
    let make = || {
        let tools = mpich_over_libfabric()?;
        build_library("hostwire-clock");
        build_library("hostwire-fabric-provider");
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("mpi_times");
        let mut compiler = Command::new(tools.join("mpicc"));
        compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"]);
        let compiled = compiler.arg(&program).arg(SOURCE).output().unwrap();
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{errors}");
        Ok((folder, program.display().to_string()))
    };
    match MADE.get_or_init(make) {
        Ok((_, program)) => Some(program.clone()),
        Err(why) => {
            left_out(&need::MPICH_OVER_LIBFABRIC, why);
            None
        }
    }
}

fn arguments<'a>(cluster: &'a str, ranks: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--cluster", cluster, "-n", ranks], more].concat()
}

fn on(name: &str, ranks: &str, more: &[&str]) -> Ended {
    job::run(&arguments(&cluster(name), ranks, more))
}

/// What a run printed, which is the same in each.
fn times(name: &str, ranks: &str, more: &[&str]) -> Option<String> {
    let program = program()?;
    let [first, second] = [(); 2].map(|()| {
        let ended = on(
            name,
            ranks,
            &[more, &["--stats", &program, "times"]].concat(),
        );
        assert_eq!(ended.status, 0, "{ended:?}");
        let simulated = super::simulated(&ended);
        (ended.stdout, simulated)
    });
    assert_eq!(first, second);
    Some(first.0)
}

/// The time on the line with this name.
fn time(printed: &str, name: &str) -> f64 {
    let of = |line: &str| {
        let (_, rest) = line.split_once(name)?;
        rest.strip_prefix(": ")?.strip_suffix(" ns")?.parse().ok()
    };
    let found = printed.lines().find_map(of);
    found.unwrap_or_else(|| panic!("{name} in {printed}"))
}
