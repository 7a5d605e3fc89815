//! The programs in virtual time, on modelled hardware.

use std::path::Path;

use hostwire_testing::or_long;

use crate::build::{Language, oshrun, program, tree};
use crate::succeeds;
use crate::tested::{add_program, is_emulated};

/// A cluster file of the simulator.
fn cluster(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/sim/clusters");
    folder.join(name).display().to_string()
}

fn run(name: &str, cluster_name: &str, pes: usize) -> Option<String> {
    // The usual one depends on the hardware.
    run_with(&["--heap", "64M"], name, cluster_name, pes)
}

fn run_with(heap: &[&str], name: &str, cluster_name: &str, pes: usize) -> Option<String> {
    let tree = tree().filter(|_| !is_emulated())?;
    let program = program(tree, name, Language::C11);
    let mut command = oshrun(tree, pes);
    command.arg("--stats").args(heap);
    command.args(["--cluster", &cluster(cluster_name)]);
    // No PE shares memory with another one.
    command.env("SHMEM_TEST_HOSTS", pes.to_string());
    Some(succeeds(add_program(&mut command, &program)))
}

/// The line of a run's output that is the same each time.
fn hash(said: &str) -> &str {
    let (_, hash) = said.split_once("hash ").expect("what the run says");
    hash.lines().next().expect("a hash")
}

/// Two boards, with a PE on each and with four; nodes with adapters for HyperTransport over Ethernet;
/// islands of boards with one adapter each; hosts with PEACH2 chips; hosts
/// with HTX boards, also around a switch.
const MACHINES: &[(&str, usize)] = &[
    ("two-boards.toml", 2),
    ("two-boards.toml", 8),
    ("htea-eight.toml", 3),
    ("two-islands.toml", 8),
    ("peach2-double-ring.toml", 2),
    ("peach2-double-ring.toml", 4),
    ("htx-pair.toml", 2),
    ("htx-pair.toml", 8),
    ("htx-switch.toml", 4),
];

/// One of each kind that programs differ on: several PEs on boards and adapters, boards in hosts, chips in hosts.
const FEW: &[(&str, usize)] = &[
    ("two-islands.toml", 8),
    ("htx-pair.toml", 2),
    ("peach2-double-ring.toml", 4),
];

/// Puts and gets run on all machines, the other operations of one PE on a few, and programs that combine these on one.
fn machines(program: &str) -> &'static [(&'static str, usize)] {
    match program {
        "rma" => MACHINES,
        "signal" | "atomic" => or_long(FEW, MACHINES),
        _ => or_long(&FEW[..1], MACHINES),
    }
}

/// One test for each program, on its machines.
macro_rules! programs {
    ($($test:ident: $name:literal;)*) => { $(
        #[test]
        fn $test() {
            for (cluster, pes) in machines($name) {
                run($name, cluster, *pes);
            }
        }
    )* };
}

programs! {
    puts_and_gets: "rma";
    signals: "signal";
    atomics: "atomic";
    collectives: "collective";
    reductions: "reduce";
    reductions_of_active_sets: "active";
    waits: "wait";
    setup_and_memory: "setup";
    teams_and_contexts: "teams";
    locks: "lock";
    static_objects: "statics";
}

/// A program that says no heap gets one for which a modelled host of 2 GiB has memory.
#[test]
fn the_usual_heap_fits_the_hardware() {
    run_with(&[], "rma", "htx-pair.toml", 8);
}

#[test]
fn a_run_is_the_same_each_time() {
    let clusters = [
        ("two-boards.toml", 3),
        ("torus-4x4x8.toml", 16),
        // Two on some of the 16 hosts.
        ("peach2-double-ring.toml", 20),
        ("htx-switch.toml", 6),
    ];
    for (cluster, pes) in clusters {
        let runs = [(); 2].map(|()| run("signal", cluster, pes));
        if let [Some(first), Some(second)] = &runs {
            assert_eq!(hash(first), hash(second));
        }
    }
}

/// Waits with a time limit take the time of the model, and the same events in each run.
#[test]
fn time_limits_are_those_of_the_model() {
    for (cluster, pes) in [
        ("two-boards.toml", 2),
        ("two-boards.toml", 8),
        ("peach2-double-ring.toml", 2),
        ("htx-pair.toml", 2),
    ] {
        let runs = [(); 2].map(|()| run("limits", cluster, pes));
        if let [Some(first), Some(second)] = &runs {
            assert_eq!(hash(first), hash(second));
        }
    }
}

/// Half a round trip of a word on this cluster has to take so long.
fn ping_pong(cluster: &str, expected_ns: f64) {
    let Some(said) = run("ping_pong", cluster, 2) else {
        return;
    };
    let half = said.lines().find_map(|line| {
        let (_, rest) = line.split_once("half round trip ")?;
        rest.strip_suffix(" ns")?.parse::<f64>().ok()
    });
    let half = half.expect("a time");
    // Clocks tell whole nanoseconds. The program looks at one once in 100 round trips.
    let expected = expected_ns + 25.0 / 100.0 / 2.0;
    assert!(
        (half - expected).abs() < 0.01,
        "{half} instead of {expected}"
    );
}

/// A put of a word takes `send_work`, the issue of eight bytes and an `sfence`: 20.446 ns. Then its
/// sender looks at its memory once in 74 ns; at the last of so many looks the answer is there.
fn by_looks(looks: f64) -> f64 {
    (12.898 + 11.516 / 8.0 + 6.108 + looks * 74.0) / 2.0
}

#[test]
fn a_ping_pong_takes_what_its_parts_take() {
    ping_pong("two-boards.toml", by_looks(6.0));
}

/// Two adapters, a switch and their links are between the boards, and no cable.
#[test]
fn a_ping_pong_over_ethernet_takes_what_its_parts_take() {
    ping_pong("htea-eight.toml", by_looks(44.0));
}

/// The word leaves its processor, crosses three links and two chips, and is seen in memory. Its sender does an `sfence`
/// and a look in the meantime, which is over before the answer comes.
#[test]
fn a_ping_pong_over_chips_takes_what_its_parts_take() {
    let (out, inbound, poll) = (90.0, 110.0, 50.0);
    // Header, data and framing at 4 B/ns, and 5 ns of cable.
    let link = (16.0 + 8.0 + 8.0) / 4.0 + 5.0;
    let chip = 62.0 * 4.0;
    let expected = out + 3.0 * link + 2.0 * chip + inbound + poll;
    ping_pong("peach2-double-ring.toml", expected);
}

/// A message with a word takes its work, the issue of 16 bytes and an `sfence`. Then its sender looks
/// at the ring once in 60 ns, until the answer is there; it loads the line, takes the message, and
/// looks at the next status. In the last round it takes two messages more, since the other PE has
/// begun to finalize: a question, which it answers, and a word.
#[test]
fn a_ping_pong_over_htx_boards_takes_what_its_parts_take() {
    let send = 18.0 + 16.0 / 4.0 + 10.0;
    let take = 60.0 + 18.0 + 60.0;
    let rounds = 100.0 * (send + 27.0 * 60.0 + take);
    let last = take + send + take;
    ping_pong("htx-pair.toml", (rounds + last) / 100.0 / 2.0);
}
