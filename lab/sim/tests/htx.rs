//! PEs on hosts with HTX boards: the suites for transports and for the API, as coroutines and as
//! processes have it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::boards::Boards;
use crate::common::threads::run_threads;
use hostwire::AgentMode;
use hostwire::conformance::Setup;
use hostwire_sim::wire::{Settings, WireError, run};
use hostwire_testing::or_long;
use hostwire_transport::Wire;
use hostwire_transport::conformance::{Case as WireCase, Program, Testbed};

/// Two PEs on each host.
const PAIRS: Boards = Boards {
    pes_per_host: 2,
    ..Boards::ONE_EACH
};
/// The smallest rings: eight slots for each sender.
const SMALL: Boards = Boards {
    ring: "4KiB",
    ..Boards::ONE_EACH
};

/// As processes have it.
struct Beside(Boards);

impl Testbed for Beside {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let mut cluster = self.0.cluster(pes as usize);
        let settings = self.0.settings(pes as usize, 0);
        if let Err(error) = run_threads(&mut cluster, &settings, segment_bytes, program) {
            panic!("{error}");
        }
    }
}

mod wire {
    use super::*;

    fn run(name: &str) {
        let cases: &[WireCase] = hostwire_transport::conformance::CASES;
        let case = cases.iter().find(|case| case.name == name).unwrap();
        for &pes in or_long(&[3][..], &[1, 2, 3, 4]) {
            (case.run)(&Boards::ONE_EACH, pes);
        }
        (case.run)(&SMALL, 4);
        for &pes in or_long(&[3][..], &[3, 4]) {
            (case.run)(&PAIRS, pes);
        }
        (case.run)(&Beside(PAIRS), 4);
    }

    hostwire_transport::transport_cases!(cases!());
}

mod api {
    use super::*;

    fn run(name: &str) {
        let cases = hostwire::conformance::CASES;
        let case = cases.iter().find(|case| case.name == name).unwrap();
        for &pes in or_long(&[2][..], &[2, 3, 4]) {
            (case.run)(&Setup::new(&Boards::ONE_EACH, pes, AgentMode::Polled));
        }
        if or_long(false, true) {
            (case.run)(&Setup::new(&PAIRS, 4, AgentMode::Polled));
        }
    }

    hostwire::conformance_cases!(cases!());
}

const FLAGS: usize = 4096;
const DATA: usize = 1 << 16;

/// The flag that a PE has set here.
fn flag(wire: &dyn Wire, pe: u32) -> u64 {
    let mut word = [0; 8];
    let memory = wire.segment().memory();
    memory.copy_out(FLAGS + 8 * pe as usize, &mut word).unwrap();
    u64::from_ne_bytes(word)
}

/// All PEs store to the first one at the same time, more than its ring holds. It looks late.
fn many_to_one(wire: &dyn Wire) {
    const BYTES: usize = 8000;
    let data = |pe: u32| vec![pe as u8 + 1; BYTES];
    if wire.pe() > 0 {
        let place = DATA + BYTES * wire.pe() as usize;
        wire.store(0, place, &data(wire.pe())).unwrap();
        let own = FLAGS + 8 * wire.pe() as usize;
        wire.store_word(0, own, 1).unwrap();
        wire.quiet().unwrap();
        return;
    }
    wire.nap(Duration::from_micros(50));
    for pe in 1..wire.pes() {
        while flag(wire, pe) == 0 {
            wire.arm(Duration::MAX);
            if flag(wire, pe) == 0 {
                wire.sleep(Duration::MAX);
            }
        }
        let mut got = vec![0; BYTES];
        let memory = wire.segment().memory();
        memory
            .copy_out(DATA + BYTES * pe as usize, &mut got)
            .unwrap();
        assert!(got == data(pe), "of {pe}");
    }
}

/// The same events compiled into the run and beside it, in every run, and nothing is lost.
#[test]
fn nothing_is_lost_and_processes_make_the_same_events() {
    const SEGMENT_BYTES: usize = 1 << 18;
    for (boards, pes) in [(SMALL, 4), (PAIRS, 4), (Boards::ONE_EACH, 3)] {
        let inside = || {
            let mut cluster = boards.cluster(pes);
            let settings = boards.settings(pes, SEGMENT_BYTES);
            run(&mut cluster, &settings, &|wire| many_to_one(&*wire)).unwrap()
        };
        let first = inside();
        assert_eq!(first.hash, inside().hash);
        let mut cluster = boards.cluster(pes);
        let settings = boards.settings(pes, 0);
        let program = |wire: Arc<dyn Wire>| many_to_one(&*wire);
        let beside = run_threads(&mut cluster, &settings, SEGMENT_BYTES, &program).unwrap();
        assert_eq!(first.hash, beside.hash);
        for host in 0..cluster.hosts().len() {
            assert_eq!(cluster.board(host).unwrap().counters().unroutable, 0);
        }
    }
}

/// A store is visible when its target has looked: quiet waits for that, and a PE that has ended
/// keeps nobody waiting.
#[test]
fn quiet_waits_for_the_look_of_the_target() {
    let times = Mutex::new([Duration::ZERO; 2]);
    let boards = Boards::ONE_EACH;
    boards.run(2, 1 << 16, &|wire| {
        let begin = wire.now();
        if wire.pe() == 1 {
            wire.nap(Duration::from_micros(30));
            wire.poll().unwrap();
            return;
        }
        wire.store_word(1, FLAGS, 1).unwrap();
        let stored = wire.now() - begin;
        wire.quiet().unwrap();
        let quiet = wire.now() - begin;
        // Now the other one has ended.
        wire.store_word(1, FLAGS, 2).unwrap();
        wire.quiet().unwrap();
        assert!(wire.now() - begin < quiet + Duration::from_micros(40));
        *times.lock().unwrap() = [stored, quiet];
    });
    let [stored, quiet] = times.into_inner().unwrap();
    assert!(stored < Duration::from_nanos(100), "{stored:?}");
    assert!(quiet > Duration::from_micros(30), "{quiet:?}");
}

#[test]
fn who_waits_for_ever_is_named() {
    let run = |program: &Program<'_>| {
        let mut cluster = Boards::ONE_EACH.cluster(2);
        let settings = Settings::new(2, 0);
        let ran = run_threads(&mut cluster, &settings, 1 << 16, program);
        match ran {
            Err(WireError::Stalled { pes, .. }) => pes.join("; "),
            other => panic!("{other:?}"),
        }
    };
    let said = run(&|wire| {
        if wire.pe() == 1 {
            wire.sleep(Duration::MAX);
        }
    });
    assert!(
        said.starts_with("PE 1 on h1 has waited for a store"),
        "{said}"
    );
}

#[test]
fn a_host_has_as_many_pes_as_messages_can_name() {
    let mut cluster = Boards::ONE_EACH.cluster(2);
    let settings = Settings {
        sockets: vec![0; 65],
        ..Settings::new(0, 4096)
    };
    let ran = run(&mut cluster, &settings, &|_| {});
    assert_eq!(ran.unwrap_err(), WireError::TooManyPes { host: 0, pes: 65 });
}
