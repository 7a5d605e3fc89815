//! Programs on several hosts, which `oshrun` makes of this machine: Ethernet between the hosts,
//! shared memory within them. Without the right to make hosts these tests say so and pass.

use std::env;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hostwire_testing::{left_out, need, or_long};

use crate::build::{Language, Short, oshrun, program, program_with, tree};
use crate::{output, succeeds, text};

/// PEs and hosts.
type Shapes = &'static [(usize, usize)];

/// One PE alone on its host, and two that share the other one.
fn shapes() -> Shapes {
    or_long(&[(3, 2)], &[(2, 2), (3, 2)])
}

/// More, for programs in which everybody talks to everybody.
fn more_shapes() -> Shapes {
    or_long(&[(3, 2), (3, 3)], &[(2, 2), (3, 2), (4, 2), (3, 3)])
}

/// The variable that names another wire between the hosts than Ethernet, for all tests of this file
/// that do not name theirs.
const WIRE: &str = "SHMEM_TEST_WIRE";

/// `oshrun` for so many PEs on so many hosts.
fn on_hosts(pes: usize, hosts: usize) -> Option<Command> {
    let wire = env::var(WIRE);
    on_hosts_by(wire.as_deref().unwrap_or("ether"), pes, hosts)
}

/// The same by this wire.
fn on_hosts_by(wire: &str, pes: usize, hosts: usize) -> Option<Command> {
    let mut command = oshrun(tree()?, pes);
    command.args(["--wire", wire, "--hosts", &hosts.to_string()]);
    if wire == "fabric" {
        command.arg("--insecure-wire");
    }
    command.args(["-x", &format!("SHMEM_TEST_HOSTS={hosts}")]);
    Some(command)
}

/// Lets jobs on hosts run one after the other: each wants all cores.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether hosts can be made. The guard is the turn.
fn may_make_hosts() -> Option<MutexGuard<'static, ()>> {
    static REFUSAL: OnceLock<Option<String>> = OnceLock::new();
    let mut trial = on_hosts(2, 2)?;
    let refusal = REFUSAL.get_or_init(|| {
        let tried = output(trial.arg("true"));
        (!tried.status.success()).then(|| {
            format!(
                "no hosts can be made of this machine: {}",
                text(&tried).trim()
            )
        })
    });
    if let Some(why) = refusal {
        left_out(&need::NAMESPACES, why);
        return None;
    }
    Some(turn())
}

fn runs(name: &str, language: Language, shapes: Shapes, arguments: &[&str]) {
    let (Some(tree), Some(_turn)) = (tree(), may_make_hosts()) else {
        return;
    };
    let program = program(tree, name, language);
    for &(pes, hosts) in shapes {
        let Some(mut command) = on_hosts(pes, hosts) else {
            return;
        };
        succeeds(command.arg(&program).args(arguments));
    }
}

macro_rules! programs {
    ($kind:meta; $($test:ident: $name:literal $arguments:tt on $shapes:ident;)*) => { $(
        #[test]
        #[$kind]
        fn $test() {
            runs($name, Language::C11, $shapes(), &$arguments);
        }
    )* };
}

// Everything that differs between hosts: puts and gets of all lengths, who shares memory, work by agents, start and
// end.
programs! {
    cfg(all());
    puts_and_gets: "rma" [] on shapes;
    teams_contexts_and_who_shares_memory: "teams" [] on more_shapes;
    static_objects: "statics" [] on shapes;
    random_traffic: "random" ["7"] on more_shapes;
    work_on_a_pe_that_computes: "progress" ["loop"] on shapes;
    work_on_a_pe_that_sleeps: "progress" ["read"] on shapes;
    many_beginnings_and_ends: "lifecycle" ["repeated"] on more_shapes;
    an_end_at_exit: "lifecycle" ["implicit"] on shapes;
    blocks_that_are_left_over: "lifecycle" ["left-over"] on shapes;
}

programs! {
    ignore = "the same code as within a host, above the wire; make test-long";
    signals: "signal" [] on shapes;
    atomics: "atomic" [] on shapes;
    collectives: "collective" [] on more_shapes;
    reductions: "reduce" [] on shapes;
    waits: "wait" [] on shapes;
    setup_and_memory: "setup" [] on shapes;
    locks: "lock" [] on shapes;
    threads: "threads" [] on shapes;
    arguments_at_their_limits: "edges" [] on shapes;
    handles_at_their_limits: "handles" [] on shapes;
    threads_with_teams_of_their_own: "parallel" [] on shapes;
}

/// What programs use most, over another wire than the one of the tests above.
const MOST: &[(&str, &str)] = &[
    ("rma", ""),
    ("signal", ""),
    ("atomic", ""),
    ("collective", ""),
    ("wait", ""),
    ("lock", ""),
    ("random", "7"),
    ("short", "7"),
    ("lifecycle", "repeated"),
];

/// Those of them in which one wire differs from another: puts and gets of all lengths, and how a job begins and ends.
const SOME: &[(&str, &str)] = &[
    ("rma", ""),
    ("random", "7"),
    ("short", "7 500"),
    ("lifecycle", "repeated"),
];

fn some_run_over(wire: &str, shapes: &[(usize, usize)]) {
    let Some(tree) = tree() else {
        return;
    };
    for (name, arguments) in or_long(SOME, MOST) {
        let program = program(tree, name, Language::C11);
        for &(pes, hosts) in shapes {
            let Some(mut command) = on_hosts_by(wire, pes, hosts) else {
                return;
            };
            succeeds(command.arg(&program).args(arguments.split(' ')));
        }
    }
}

/// The reason why a wire is missing, as the wire reports it when a program starts.
fn lacks(wire: &str, word: &str) -> Option<String> {
    let program = program(tree()?, "rma", Language::C11);
    let said = text(&output(on_hosts_by(wire, 2, 2)?.arg(program)));
    said.contains(word).then(|| said.trim().to_owned())
}

/// The same frames by AF_XDP.
#[test]
fn programs_run_over_xdp() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    if let Some(why) = lacks("xdp", "AF_XDP") {
        return left_out(&need::AF_XDP, format!("no AF_XDP here: {why}"));
    }
    some_run_over("xdp", or_long(&[(3, 3)], &[(2, 2), (3, 3)]));
}

/// The first provider of libfabric that leads to other hosts.
#[test]
fn programs_run_over_fabric() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    if let Some(why) = lacks("fabric", "libfabric.so.1") {
        return left_out(&need::LIBFABRIC, format!("no libfabric here: {why}"));
    }
    some_run_over("fabric", &[(3, 2)]);
}

/// A file that all hosts map.
#[test]
fn programs_run_over_a_window() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    some_run_over("window", &[(3, 2)]);
}

/// Faults that a wire may have: stores that come late and twice, over wires without frames.
#[test]
fn stores_that_come_late_and_twice_do_not_matter() {
    let (Some(tree), Some(_turn)) = (tree(), may_make_hosts()) else {
        return;
    };
    for name in ["collective", "signal", "lock"] {
        let program = program(tree, name, Language::C11);
        let Some(mut command) = on_hosts_by("window", 3, 2) else {
            return;
        };
        command.args(["-x", "HOSTWIRE_FAULTS=reorder=0.2,dup=0.2,seed=1"]);
        succeeds(command.arg(&program));
    }
}

/// Frames that are lost have to be sent again, also those of a PE that ends first.
#[test]
fn lost_frames_do_not_matter() {
    let (Some(tree), Some(_turn)) = (tree(), may_make_hosts()) else {
        return;
    };
    for (name, argument) in [("lifecycle", "repeated"), ("random", "3")] {
        let program = program(tree, name, Language::C11);
        for seed in 1..=or_long(1, 3) {
            let Some(mut command) = on_hosts_by("ether", 3, 3) else {
                return;
            };
            let faults = format!("HOSTWIRE_FAULTS=drop=0.05,seed={seed}");
            command.args(["-x", &faults]).arg(&program).arg(argument);
            succeeds(&mut command);
        }
    }
}

/// A PE on another host ends without leaving the job.
#[test]
fn a_death_on_another_host_is_told() {
    let (Some(tree), Some(_turn)) = (tree(), may_make_hosts()) else {
        return;
    };
    let program = program(tree, "lifecycle", Language::C11);
    let Some(mut command) = on_hosts(4, 2) else {
        return;
    };
    let ended = output(command.args(["--keep-going"]).arg(program).arg("death"));
    let said = text(&ended);
    assert!(!ended.status.success(), "{said}");
    assert!(
        said.contains("shmem_finalize: PE 3 on host1 is lost"),
        "{said}"
    );
}

/// Operations between hosts are calls, those within a host too: not all PEs are in reach.
#[test]
fn programs_with_inline_operations_are_the_same() {
    let (Some(tree), Some(_turn)) = (tree(), may_make_hosts()) else {
        return;
    };
    let programs = or_long(
        &[("random", "7"), ("short", "7 500")][..],
        &[("random", "7"), ("short", "7"), ("atomic", ""), ("rma", "")],
    );
    for (name, arguments) in programs {
        let program = program_with(tree, name, Language::C11, Short::Inline);
        for &(pes, hosts) in shapes() {
            let Some(mut command) = on_hosts(pes, hosts) else {
                return;
            };
            succeeds(command.arg(&program).args(arguments.split(' ')));
        }
    }
}

/// The exit status of the whole job.
#[test]
fn global_exit_ends_all_hosts() {
    let (Some(tree), Some(_turn)) = (tree(), may_make_hosts()) else {
        return;
    };
    let program = program(tree, "lifecycle", Language::C11);
    let Some(mut command) = on_hosts(3, 2) else {
        return;
    };
    let ended = output(command.arg(program).arg("global-exit"));
    assert_eq!(ended.status.code(), Some(7), "{}", text(&ended));
}
