//! MPI programs in virtual time: those of an MPICH that is built for libfabric, whose `mpicc` and library are
//! taken as they are.

use std::process::Command;
use std::sync::OnceLock;

use hostwire_testing::{built, left_out, mpich_over_libfabric, need};
use rustix::process::Signal;
use tempfile::TempDir;

use super::job::{self, Ended, Job, hostwire};
use super::{CLOCKS, KINDS, cluster};

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/virtual_time/mpi_times.c"
);

/// The program, unless this machine has no MPICH for it.
fn program() -> Option<String> {
    static MADE: OnceLock<Result<(TempDir, String), String>> = OnceLock::new();
    let make = || {
        let tools = mpich_over_libfabric()?;
        built::library(CLOCKS);
        built::library("libhostwire_fi.so");
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
fn times(name: &str, ranks: &str, how: &str) -> Option<String> {
    let program = program()?;
    let [first, second] = [(); 2].map(|()| {
        let ended = on(name, ranks, &["--stats", &program, how]);
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

/// Half a round trip of eight bytes, without the look at the clock.
fn half(cluster: &str, expected_ns: f64) {
    let Some(printed) = times(cluster, "2", "times") else {
        return;
    };
    // Clocks tell whole nanoseconds. One is looked at once in 20 round trips.
    let expected = expected_ns + 25.0 / 20.0 / 2.0;
    let got = time(&printed, "8 B");
    assert!(
        (got - expected).abs() < 0.03,
        "{got} instead of {expected}, of {printed}"
    );
    for longer in ["64 B", "4096 B", "65536 B", "allreduce"] {
        assert!(time(&printed, longer) > 0.0, "{printed}");
    }
}

/// A message of up to 32 bytes is a line between two fences: `send_work`, the issue of 64 bytes, and 6.108 ns for
/// each fence. Then its sender looks at its memory once in 74 ns; by the last of so many looks the answer
/// is there.
fn by_looks(looks: f64) -> f64 {
    (6.108 + 12.898 + 11.516 + 6.108 + looks * 74.0) / 2.0
}

#[test]
fn messages_between_boards_take_what_their_parts_take() {
    half("two-boards.toml", by_looks(6.0));
}

#[test]
fn messages_over_ethernet_take_what_their_parts_take() {
    half("htea-eight.toml", by_looks(46.0));
}

/// A fence; root ports, three links of 64 bytes, 16 of header and 8 of framing, two chips; memory and the look.
#[test]
fn messages_between_neighbours_of_a_ring_take_what_their_parts_take() {
    let links = 3.0 * (f64::from(64 + 16 + 8) / 4.0 + 5.0);
    let half_ns = 2.31 + 90.0 + links + 2.0 * 62.0 * 4.0 + 110.0 + 50.0;
    half("peach2-double-ring.toml", half_ns);
}

/// Work, the issue of 40 bytes and a fence; looks at the ring; one that finds a message, with its line and a look at
/// what comes behind it.
#[test]
fn messages_between_htx_boards_take_what_their_parts_take() {
    let found = 60.0 + 78.0 + 60.0;
    let round_trip = 18.0 + 10.0 + 10.0 + 34.0 * 60.0 + found;
    half("htx-pair.toml", round_trip / 2.0);
}

#[test]
fn several_ranks_get_right_sums_at_the_same_times_in_each_run() {
    for (cluster, ranks) in [
        ("two-boards.toml", "4"),
        ("htx-pair.toml", "4"),
        ("peach2-double-ring.toml", "5"),
        ("htea-eight.toml", "8"),
    ] {
        times(cluster, ranks, "sums");
    }
}

/// A second of looks at a queue, which ends by the clock, costs less than a million hand-overs of the turn.
#[test]
fn a_program_that_polls_until_a_time_ends() {
    let Some(program) = program() else {
        return;
    };
    let ended = on("two-boards.toml", "2", &["--stats", &program, "second"]);
    assert_eq!(ended.status, 0, "{ended:?}");
    assert_eq!(ended.stdout, "a second: ok\n");
    let (events, ..) = super::simulated(&ended);
    assert!(events.parse::<u64>().unwrap() < 1_000_000, "{ended:?}");
}

#[test]
fn jobs_of_mpi_end_as_others_do() {
    let Some(program) = program() else {
        return;
    };
    for (name, _) in KINDS {
        let died = on(name, "2", &[&program, "dies"]);
        assert_eq!(died.status, 137, "{name}: {died:?}");
        let said = "PE 1 was killed by SIGKILL";
        assert!(died.stderr.contains(said), "{died:?}");
        let aborted = on(name, "2", &[&program, "aborts"]);
        assert_eq!(aborted.status, 3, "{name}: {aborted:?}");
        let early = on(name, "2", &["--until", "1us", &program, "waits"]);
        assert_eq!(early.status, 1, "{name}: {early:?}");
        assert!(
            early.stderr.contains("1000.000 ns have passed"),
            "{early:?}"
        );
    }
    let cluster = cluster("two-boards.toml");
    let mut running = Job::start(hostwire(&arguments(&cluster, "2", &[&program, "polls"])));
    assert_eq!(running.line(), "rank 0 polls");
    assert_eq!(running.signal_until_end(Signal::INT), Some(130));
}

/// Which program it is does not matter: the second endpoint of a process is refused, with a reason.
#[test]
fn what_a_process_cannot_have_in_virtual_time_is_said() {
    let Some(program) = program() else {
        return;
    };
    let ended = on("two-boards.toml", "2", &[&program, "again"]);
    assert_ne!(ended.status, 0, "{ended:?}");
    let said = "by one job or one endpoint, once in its life";
    assert!(ended.stderr.contains(said), "{ended:?}");
}
