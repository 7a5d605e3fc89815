//! Jobs in virtual time: the same result every time, and clear errors.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use hostwire::{AgentMode, Job, Layout, SendOrder, Sizes};
use hostwire_sim::engine::{EventHash, Ps, RunError, Summary, TraceFilter};
use hostwire_sim::experiments::curves::chain;
use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::firmware::boot_all;
use hostwire_sim::machine::Machine;
use hostwire_sim::models::ht::opteron::{Op, Opteron, OpteronConfig, Script};
use hostwire_sim::wire::{Settings, VirtualWire, WireError, run, run_watched};
use hostwire_transport::{TransportError, Wire};

const SIZES: Sizes = Sizes {
    ring_bytes: 4096,
    heap_bytes: 1 << 20,
    ..Sizes::USUAL
};

fn boards(count: usize) -> Machine {
    booted(&chain(count, 16, 800)).unwrap()
}

fn settings(pes: usize) -> Settings {
    let layout = Layout::new(pes as u32, SIZES).unwrap();
    Settings::new(pes, layout.segment_bytes())
}

fn job(wire: Arc<VirtualWire>) -> Job {
    Job::over(wire, SIZES, AgentMode::Polled).unwrap()
}

/// Messages short and long, puts, atomics and collectives.
fn mixed_program(wire: Arc<VirtualWire>) -> u64 {
    let job = job(wire);
    let (pe, pes) = (job.pe(), job.pes());
    let right = (pe + 1) % pes;
    let left = (pe + pes - 1) % pes;
    let words = job.alloc::<u64>(1000).unwrap();
    for round in 0..5_u64 {
        words.put(right, 10, &[u64::from(pe) + round; 700]).unwrap();
        words.fetch_add(0, 0, 1 + round).unwrap();
        let mut into = vec![0_u8; 5000];
        let out = vec![pe as u8; 30 + 900 * round as usize];
        job.exchange(right, &out, left, &mut into, 7).unwrap();
        job.barrier().unwrap();
    }
    let mut sum = [words.read_sum()];
    job.all_reduce(&mut sum, |a, b| a + b).unwrap();
    job.finalize().unwrap();
    sum[0]
}

trait ReadSum {
    fn read_sum(&self) -> u64;
}

impl ReadSum for hostwire::Symmetric<u64> {
    fn read_sum(&self) -> u64 {
        self.to_vec().unwrap().iter().sum()
    }
}

/// Counts what is written to it.
#[derive(Clone, Default)]
struct Sink(Rc<Cell<usize>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn hash_of_a_job(trace: Option<Sink>) -> (EventHash, Ps, Vec<u64>) {
    let mut machine = boards(3);
    if let Some(sink) = trace {
        machine
            .sim
            .trace_to(Box::new(sink), TraceFilter::default())
            .unwrap();
    }
    let sums = RefCell::new(Vec::new());
    run(&mut machine, &settings(3), &|wire| {
        let sum = mixed_program(wire);
        sums.borrow_mut().push(sum);
    })
    .unwrap();
    (machine.sim.hash(), machine.sim.now(), sums.into_inner())
}

#[test]
fn the_same_job_has_the_same_hash_traced_or_not() {
    let sink = Sink::default();
    let first = hash_of_a_job(None);
    assert_eq!(first, hash_of_a_job(None));
    assert_eq!(first, hash_of_a_job(Some(sink.clone())));
    assert!(sink.0.get() > 0, "it was traced");
    let counted: u64 = 3 * (1 + 2 + 3 + 4 + 5);
    let put: u64 = (0..3).map(|pe| 700 * (pe + 4)).sum();
    assert_eq!(first.2, [counted + put; 3]);
}

/// A program on a torus of boards with four sockets, a PE on each: it ends, with right sums, and the same
/// in each run.
#[test]
fn a_job_on_a_torus_of_boards_with_four_sockets() {
    let torus = "[topology]\nkind = \"torus\"\nsize = [4, 4]\n[topology.node]\n\
        memory = \"1GiB\"\nprocessors = 4\n";
    let once = || {
        let mut machine = booted(torus).unwrap();
        let pes = machine.sockets().len();
        assert_eq!(pes, 64);
        let sums = RefCell::new(Vec::new());
        run(&mut machine, &settings(pes), &|wire| {
            let job = job(wire);
            // On the other side of the torus.
            let far = (job.pe() + 34) % job.pes();
            let words = job.alloc::<u64>(8).unwrap();
            words.put(far, 0, &[u64::from(job.pe()); 8]).unwrap();
            job.barrier().unwrap();
            let mut sum = [words.read_sum()];
            job.all_reduce(&mut sum, |a, b| a + b).unwrap();
            job.finalize().unwrap();
            sums.borrow_mut().push(sum[0]);
        })
        .unwrap();
        assert_eq!(sums.into_inner(), [8 * (63 * 64 / 2); 64]);
        (machine.sim.hash(), machine.sim.now())
    };
    assert_eq!(once(), once());
}

/// Writes that board 0 sends in a job in which PE 0 sends one message, if any.
fn packets(message_bytes: Option<usize>) -> u64 {
    let mut machine = boards(2);
    let before = machine.socket(0).counters().writes_out;
    run(&mut machine, &settings(2), &|wire| {
        let job = job(wire);
        job.set_send_order(SendOrder::Weak);
        if let Some(len) = message_bytes {
            if job.pe() == 0 {
                job.send(1, 0, &vec![1_u8; len]).unwrap();
            } else {
                assert_eq!(job.recv_vec::<u8>(0, 0).unwrap(), vec![1; len]);
            }
        }
        job.finalize().unwrap();
    })
    .unwrap();
    machine.socket(0).counters().writes_out - before
}

#[test]
fn each_line_of_a_message_is_one_packet() {
    let without = packets(None);
    for (bytes, lines) in [(0, 1), (1, 1), (56, 1), (57, 2), (112, 2), (800, 15)] {
        assert_eq!(packets(Some(bytes)) - without, lines, "{bytes} bytes");
    }
}

#[test]
fn waiting_for_nobody_is_told() {
    let mut machine = boards(2);
    let waited = run(&mut machine, &settings(2), &|wire| {
        let job = job(wire);
        let _ = job.recv_vec::<u64>(1 - job.pe(), 3);
    });
    let Err(error @ WireError::Stalled { devices: None, .. }) = waited else {
        panic!("{waited:?}")
    };
    let text = error.to_string();
    for pe in ["PE 0 on n0", "PE 1 on n1"] {
        assert!(
            text.contains(&format!("{pe} has waited for a store")),
            "{text}"
        );
    }
}

#[test]
fn polling_for_ever_is_given_up() {
    let mut machine = boards(2);
    let settings = Settings {
        events_max: 10_000,
        ..settings(1)
    };
    let ended = run(&mut machine, &settings, &|wire| {
        while wire.poll().is_ok() {}
    });
    assert!(
        matches!(
            ended,
            Err(WireError::Run(RunError::EventsSpent { events: 10_000, .. }))
        ),
        "{ended:?}"
    );
}

#[test]
fn whoever_watches_a_run_can_end_it() {
    let mut machine = boards(2);
    let looks = Cell::new(0);
    let watch = |summary: &Summary| {
        looks.set(looks.get() + 1);
        match summary.events > 300_000 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let ended = run_watched(&mut machine, &settings(1), &watch, &|wire| {
        while wire.poll().is_ok() {}
    });
    let Err(WireError::Interrupted { events, .. }) = ended else {
        panic!("{ended:?}")
    };
    assert!((300_000 - 131_072..600_000).contains(&events), "{events}");
    assert!(looks.get() >= 3, "{looks:?}");
}

#[test]
fn a_run_says_what_it_cost() {
    let mut machine = boards(2);
    let boot = machine.sim.summary();
    let summary = run(&mut machine, &settings(2), &|wire| {
        job(wire).finalize().unwrap()
    })
    .unwrap();
    assert_eq!(summary, machine.sim.summary());
    assert!(summary.events > boot.events && summary.virtual_time > boot.virtual_time);
    assert!(summary.wall > boot.wall);
}

#[test]
fn a_panic_of_a_pe_comes_out_and_the_others_are_unwound() {
    struct Note<'a>(&'a Cell<u32>);
    impl Drop for Note<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let mut machine = boards(3);
    let dropped = Cell::new(0);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        run(&mut machine, &settings(3), &|wire| {
            let job = job(wire.clone());
            let _note = Note(&dropped);
            wire.compute(Ps::from_us(u64::from(job.pe()))).unwrap();
            assert!(job.pe() != 1, "PE 1 has had enough");
            job.barrier().unwrap();
        })
    }))
    .unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"PE 1 has had enough"));
    assert_eq!(dropped.get(), 3);
}

#[test]
fn places_that_there_are_not_are_refused() {
    let mut machine = boards(2);
    let mut refused = |settings: Settings| {
        run(&mut machine, &settings, &|_| panic!("runs"))
            .unwrap_err()
            .to_string()
    };
    let with = |change: fn(&mut Settings)| {
        let mut settings = settings(2);
        change(&mut settings);
        settings
    };
    for (settings, said) in [
        (
            with(|s| s.sockets = vec![0, 2]),
            "socket 2, but the machine has 2",
        ),
        (with(|s| s.sockets = vec![1; 5_000]), "does not fit"),
        (with(|s| s.offset_bytes = 8 << 30), "does not fit"),
        (with(|s| s.offset_bytes = 100), "multiple of 64"),
        (with(|s| s.offset_bytes = u64::MAX - 63), "does not fit"),
        (with(|s| s.segment_bytes = 63), "segment of 63 bytes"),
    ] {
        let text = refused(settings);
        assert!(text.contains(said), "{text}");
    }
    for _ in 0..4 {
        machine.start(1, Script::new(vec![Op::Halt]));
    }
    let full = run(&mut machine, &settings(2), &|_| ());
    assert_eq!(full, Err(WireError::NoFreeCore { pe: 1, socket: 1 }));
}

#[test]
fn a_wire_works_only_in_its_run() {
    let mut machine = boards(2);
    let kept = RefCell::new(None);
    run(&mut machine, &settings(2), &|wire| {
        if wire.pe() == 0 {
            assert_eq!(wire.store_word(1, 64, 1), Ok(()));
            *kept.borrow_mut() = Some(wire);
        }
    })
    .unwrap();
    let wire = kept.into_inner().unwrap();
    for refused in [
        wire.store_word(1, 64, 1),
        wire.fence(),
        wire.quiet(),
        wire.poll().map(drop),
    ] {
        assert!(
            matches!(refused, Err(TransportError::Misused { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn time_is_what_the_calls_cost() {
    let mut machine = boards(2);
    let config = machine.socket(0).config().clone();
    run(&mut machine, &settings(2), &|wire| {
        if wire.pe() == 1 {
            return;
        }
        let cost = |call: &dyn Fn()| {
            let begin = wire.now();
            call();
            wire.now() - begin
        };
        let line = || wire.store_line(1, 64, 1, b"").unwrap();
        assert_eq!(cost(&line), config.send_work + config.store_line);
        assert_eq!(cost(&|| wire.fence().unwrap()), config.sfence);
        let put = || wire.store(1, 128, &[0; 64]).unwrap();
        assert_eq!(cost(&put), cost(&line), "one sender");
        wire.fence().unwrap();
        assert_eq!(cost(&|| wire.poll().map(drop).unwrap()), config.memory_read);
        assert_eq!(cost(&|| wire.compute(Ps(7)).unwrap()), Ps(7));
        // No earlier store is under way: one eighth of a line, and a fence.
        let word = || wire.store_word(1, 64, 1).unwrap();
        assert_eq!(cost(&word), Ps(config.store_line.0 / 8) + config.sfence);
        // The own memory is not part of the wire.
        assert_eq!(cost(&|| wire.store_word(0, 64, 1).unwrap()), Ps::ZERO);
    })
    .unwrap();
}

/// Each store of a peer wakes a PE that waits. It still says nothing again before time has passed: stores of all who wait would wake all.
#[test]
fn a_wait_stores_nothing_however_often_it_is_woken() {
    let stores = |wakes: u64| {
        let mut machine = boards(3);
        run(&mut machine, &settings(3), &|wire| {
            let job = job(wire);
            let words = job.alloc::<u64>(1).unwrap();
            let mut word = [0_u64];
            match job.pe() {
                // Has sent to both, which is what it could say again.
                0 => {
                    job.send(1, 0, &word).unwrap();
                    job.send(2, 0, &word).unwrap();
                    job.recv(2, 0, &mut word).unwrap();
                }
                1 => {
                    job.recv(0, 0, &mut word).unwrap();
                    for wake in 0..wakes {
                        words.put(0, 0, &[wake]).unwrap();
                        job.quiet().unwrap();
                    }
                    job.send(2, 0, &word).unwrap();
                }
                _ => {
                    job.recv(0, 0, &mut word).unwrap();
                    job.recv(1, 0, &mut word).unwrap();
                    job.send(0, 0, &word).unwrap();
                }
            }
            job.finalize().unwrap();
        })
        .unwrap();
        let first = machine.sockets()[0].component;
        let processor: &Opteron = machine.sim.component(first).unwrap();
        processor.counters().stores_sent
    };
    assert_eq!(stores(0), stores(50));
}

/// A job whose link never trained ends in a report that names the link, not only the PEs.
#[test]
fn a_job_over_a_link_that_never_trained_is_told_of_it() {
    let plan = hostwire_plan::plan("chain.toml", chain(2, 16, 800).as_bytes()).unwrap();
    let mut machine = Machine::new(plan, &OpteronConfig::shanghai()).unwrap();
    for wire in 0..machine.wires().len() {
        if machine.wires()[wire].role == hostwire_plan::LinkRole::Fabric {
            machine.limit_medium(wire, 400);
        }
    }
    boot_all(&mut machine).unwrap();
    let error = run(&mut machine, &settings(2), &|wire| {
        let job = job(wire);
        let _ = job.barrier();
    })
    .unwrap_err()
    .to_string();
    for part in [
        "PE 0 on n0 has waited for a store",
        "n0.l2 - n1.l1 never trained: 800 MHz is too fast for a medium of at most 400 MHz",
        "n0 has dropped",
        "is not initialised",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}
