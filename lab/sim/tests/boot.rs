//! Boots the paper's prototypes, and leaves out one measure after the other.

use crate::common::clusters::{
    FOUR_SUPERNODES, ONE_BOARD, TWO_BOARDS, address, load, machine, store,
};
use hostwire_sim::engine::{Ps, RunError};
use hostwire_sim::firmware::{BootFailure, BootOptions, Measure, boot, boot_all};
use hostwire_sim::machine::Machine;
use hostwire_sim::models::ht::opteron::route::AbortReason;
use hostwire_sim::models::ht::opteron::{Op, Script};
use hostwire_sim::models::link::End;

const LINE: [u8; 64] = [0xa5; 64];

fn booted_without(text: &str, measure: Measure) -> Machine {
    let mut machine = machine(text);
    boot(&mut machine, &BootOptions::without(measure)).unwrap_or_else(|e| panic!("{e}"));
    machine
}

fn failure(text: &str, measure: Measure) -> BootFailure {
    let mut machine = machine(text);
    boot(&mut machine, &BootOptions::without(measure))
        .expect_err("must not boot")
        .failure
}

/// Stores from node 0 to node 1; gives the abort reasons of node 0.
fn aborts(machine: &mut Machine) -> Vec<AbortReason> {
    let to = address(machine, 1, 0x1000);
    store(machine, 0, to, &LINE).unwrap();
    assert_eq!(load(machine, 1, to, 64), [0; 64], "nothing may arrive");
    machine
        .socket(0)
        .counters()
        .aborts
        .keys()
        .copied()
        .collect()
}

/// Every processor stores a line of its own into every memory.
fn all_to_all(machine: &mut Machine) {
    let sockets = machine.sockets().len();
    for from in 0..sockets {
        let mut ops = Vec::new();
        for to in 0..sockets {
            let id = machine.sockets()[to].id;
            let memory = machine.plan().processor(id).unwrap().memory;
            let mut data = vec![to as u8; 64];
            data[0] = from as u8;
            ops.push(Op::Store {
                address: memory.start.0 + 64 * from as u64,
                data,
            });
        }
        ops.push(Op::Fence);
        machine.start(from, Script::new(ops)).unwrap();
    }
    machine.sim.run().unwrap();
    for to in 0..sockets {
        let id = machine.sockets()[to].id;
        let start = machine.plan().processor(id).unwrap().memory.start.0;
        assert_eq!(
            machine.socket(to).incidents(),
            [],
            "{}",
            machine.sockets()[to].name
        );
        for from in 0..sockets {
            let line = load(machine, to, start + 64 * from as u64, 64);
            assert_eq!(line[..2], [from as u8, to as u8], "from {from} to {to}");
        }
    }
}

#[test]
fn two_boards_boot_and_store() {
    let mut machine = machine(TWO_BOARDS);
    let log = boot_all(&mut machine).unwrap();
    for text in [
        "TCCluster, ignored",
        "force non-coherent: left link 2",
        "16 bit, 800 MHz, non-coherent",
        "southbridge",
    ] {
        assert!(log.find(text).is_some(), "{text} is missing in\n{log}");
    }
    for (from, to) in [(0, 1), (1, 0)] {
        let at = address(&machine, to as u16, 0x1000);
        store(&mut machine, from, at, &LINE).unwrap();
        assert_eq!(load(&machine, to, at, 64), LINE);
        assert!(machine.socket(to).incidents().is_empty());
    }
    assert_eq!(
        machine.socket(1).counters().writes,
        1,
        "64 bytes are one packet"
    );
}

#[test]
fn one_board_boots_and_stores() {
    let mut machine = machine(ONE_BOARD);
    let log = boot_all(&mut machine).unwrap();
    assert!(
        log.find("socket1 is node 1, over link 2 of node 0")
            .is_some(),
        "{log}"
    );
    assert!(log.find("2400 MHz, non-coherent").is_some(), "{log}");
    // In the end both believe to be node 0.
    for socket in 0..2 {
        assert_eq!(machine.socket(socket).registers.node_id(), 0);
    }
    let at = address(&machine, 1, 0x40);
    store(&mut machine, 0, at, &LINE).unwrap();
    assert_eq!(load(&machine, 1, at, 64), LINE);
}

#[test]
fn supernodes_boot_and_every_processor_reaches_every_memory() {
    let mut machine = machine(&FOUR_SUPERNODES);
    boot_all(&mut machine).unwrap_or_else(|e| panic!("{e}"));
    let sockets = machine.sockets().len();
    assert_eq!((sockets, machine.systems()), (16, 4));
    all_to_all(&mut machine);
}

/// Eight processors use up all NodeIDs, also the seven that means "not visited".
#[test]
fn supernodes_of_eight_boot() {
    for coherent in ["cube", "ladder", "full"] {
        let links = if coherent == "full" { 8 } else { 4 };
        let supernode = |name: &str| {
            let width = if links == 8 {
                "link_width = \"8bit\"\n"
            } else {
                ""
            };
            format!(
                "[[supernode]]\nname = \"{name}\"\nprocessors = 8\nmemory = \"8GiB\"\n\
                 coherent = \"{coherent}\"\nlinks = {links}\nsouthbridge = \"l{}\"\n{width}",
                links - 1
            )
        };
        let cable = format!(
            "[[cable]]\nfrom = \"a.p7.l{0}\"\nto = \"b.p7.l{0}\"\n",
            links - 1
        );
        let link = "[link]\nwidth = \"8bit\"\nfrequency = \"800MHz\"\nmedium = \"coax\"\n";
        let mut machine = machine(&format!(
            "{link}{}{}{cable}",
            supernode("a"),
            supernode("b")
        ));
        boot_all(&mut machine).unwrap_or_else(|e| panic!("{coherent}: {e}"));
        let mut ids: Vec<u8> = (0..8)
            .map(|socket| machine.socket(socket).registers.node_id())
            .collect();
        ids.sort_unstable();
        assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6, 7]);
        all_to_all(&mut machine);
    }
}

#[test]
fn the_log_can_be_read() {
    let mut machine = machine(TWO_BOARDS);
    let log = boot_all(&mut machine).unwrap().to_string();
    let lines: Vec<_> = log.lines().collect();
    assert!(lines.len() > 15 && lines.len() < 60, "{log}");
    assert!(
        lines[0].contains("system 0: cold reset of 2 systems"),
        "{log}"
    );
}

#[test]
fn without_cold_reset_there_is_no_code() {
    assert_eq!(
        failure(TWO_BOARDS, Measure::ColdReset),
        BootFailure::NoCode {
            socket: "left".into()
        }
    );
}

#[test]
fn without_coherent_enumeration_the_second_socket_cannot_be_configured() {
    assert!(matches!(
        failure(ONE_BOARD, Measure::CoherentEnumeration),
        BootFailure::Unreachable { node: 1, .. }
    ));
}

#[test]
fn enumeration_over_a_tccluster_link_finds_the_other_system() {
    let failure = failure(TWO_BOARDS, Measure::IgnoreInCoherentEnumeration);
    let BootFailure::Topology {
        found: 2,
        expected: 1,
        extra,
    } = failure
    else {
        panic!("{failure}")
    };
    assert!(extra.contains("right"), "{extra}");
}

#[test]
fn a_link_left_coherent_takes_no_io_packets() {
    for measure in [Measure::ForceNoncoherent, Measure::WarmReset] {
        let mut machine = booted_without(TWO_BOARDS, measure);
        assert_eq!(
            aborts(&mut machine),
            [AbortReason::LinkCoherent { link: 2 }],
            "{measure:?}"
        );
    }
}

#[test]
fn a_reset_of_one_side_only_takes_the_link_down() {
    let mut machine = booted_without(TWO_BOARDS, Measure::WarmResetTogether);
    assert_eq!(aborts(&mut machine), [AbortReason::LinkDown { link: 2 }]);
}

#[test]
fn without_link_speed_the_link_stays_at_200_mhz_and_8_bit() {
    let machine = booted_without(TWO_BOARDS, Measure::LinkSpeed);
    let (wire, _) = machine.across(0, 2).unwrap();
    let mode = machine.link(wire).mode().unwrap();
    assert_eq!(
        (mode.mhz, mode.width_ab_bits, mode.noncoherent),
        (200, 8, true)
    );
    assert_eq!(mode.raw_bytes_per_s(End::A), 400e6);
}

#[test]
fn without_northbridge_init_nobody_claims_the_address() {
    let mut machine = booted_without(TWO_BOARDS, Measure::NorthbridgeInit);
    assert_eq!(aborts(&mut machine), [AbortReason::NoRange]);
}

/// A write-back window makes the processor fetch the line first, and TCCluster
/// cannot route the response.
#[test]
fn without_memory_types_a_store_hangs_in_its_line_fill() {
    let mut machine = booted_without(TWO_BOARDS, Measure::MsrInit);
    let to = address(&machine, 1, 0x1000);
    let error = store(&mut machine, 0, to, &LINE).unwrap_err();
    assert!(error.contains("line fill"), "{error}");
    assert!(error.contains("left waits for"), "{error}");
    assert_eq!(machine.socket(1).counters().unmatched_responses, 1);
}

#[test]
fn a_remote_load_is_never_answered() {
    let mut machine = machine(TWO_BOARDS);
    boot_all(&mut machine).unwrap();
    let at = address(&machine, 1, 0x1000);
    machine
        .start(
            0,
            Script::new(vec![Op::Load {
                address: at,
                bytes: 8,
            }]),
        )
        .unwrap();
    let Err(RunError::Stalled { report, .. }) = machine.sim.run() else {
        panic!("must stall")
    };
    assert!(
        report.to_string().contains("the response to a read"),
        "{report}"
    );
    assert!(
        machine.socket(1).incidents()[0]
            .what
            .contains("matches no read")
    );
}

/// The paper: a store over TCCluster invalidates no cache, so what is received
/// must be mapped uncached.
#[test]
fn a_receive_buffer_mapped_cacheable_never_changes() {
    let poll_ends = |cacheable: bool| {
        let mut machine = machine(TWO_BOARDS);
        boot_all(&mut machine).unwrap();
        if cacheable {
            // The MTRRs of local memory say write-back.
            machine
                .socket_mut(1)
                .mappings
                .iter_mut()
                .for_each(|mapping| mapping.page_type = None);
        }
        let at = address(&machine, 1, 0x1000);
        machine
            .start(
                1,
                Script::new(vec![Op::Poll {
                    address: at,
                    not: vec![0; 8],
                }]),
            )
            .unwrap();
        machine.pass(Ps::from_us(1));
        store(&mut machine, 0, at, &LINE)
    };
    assert_eq!(poll_ends(false), Ok(()));
    let error = poll_ends(true).unwrap_err();
    assert!(
        error.contains("right waits for core 0: a store to 0x"),
        "{error}"
    );
    assert!(
        error.contains("a remote store does not invalidate it"),
        "{error}"
    );
}

#[test]
fn without_memory_init_stores_are_lost() {
    let mut machine = booted_without(TWO_BOARDS, Measure::MemoryInit);
    assert_eq!(aborts(&mut machine), []);
    assert_eq!(machine.socket(1).counters().writes_lost, 1);
}

#[test]
fn in_cache_as_ram_firmware_is_slow_and_cannot_hand_over() {
    let took = |measure: Option<Measure>| {
        let mut machine = machine(TWO_BOARDS);
        let options = BootOptions {
            omit: measure.into_iter().collect(),
            ..BootOptions::default()
        };
        let log = match boot(&mut machine, &options) {
            Ok(log) => log,
            Err(error) => {
                let why = "the cache still serves as memory";
                assert_eq!(error.failure, BootFailure::HandOver { why });
                error.log
            }
        };
        let from = log.find("cache-as-RAM").unwrap().time;
        (log.find("non-coherent enumeration: done").unwrap().time - from).as_ns()
    };
    assert!(took(Some(Measure::ExitCar)) > 5.0 * took(None));
}

#[test]
fn io_enumeration_over_a_tccluster_link_is_never_answered() {
    let want = BootFailure::NoAnswer {
        socket: "left".into(),
        link: 2,
    };
    assert_eq!(failure(TWO_BOARDS, Measure::IgnoreInIoEnumeration), want);
}

#[test]
fn without_io_enumeration_there_is_no_disk() {
    assert!(matches!(
        failure(TWO_BOARDS, Measure::IoEnumeration),
        BootFailure::HandOver { .. }
    ));
}

#[test]
fn a_stock_kernel_interrupts_the_other_system() {
    let mut machine = booted_without(TWO_BOARDS, Measure::CustomKernel);
    machine.sim.run().unwrap();
    for socket in 0..2 {
        assert_eq!(machine.socket(socket).counters().foreign_interrupts, 1);
        assert!(
            machine.socket(socket).incidents()[0]
                .what
                .contains("interrupt of another system")
        );
    }
    let mut quiet = self::machine(TWO_BOARDS);
    boot_all(&mut quiet).unwrap();
    quiet.sim.run().unwrap();
    assert_eq!(quiet.socket(0).counters().foreign_interrupts, 0);
}

#[test]
fn without_the_driver_a_store_is_a_page_fault() {
    let mut machine = booted_without(TWO_BOARDS, Measure::RemoteMapping);
    assert_eq!(aborts(&mut machine), []);
    assert!(machine.socket(0).incidents()[0].what.contains("page fault"));
}

#[test]
fn a_boot_and_a_store_have_a_known_hash() {
    // Pinned: the same in debug and release, on every machine.
    let mut machine = self::machine(TWO_BOARDS);
    boot_all(&mut machine).unwrap();
    let at = address(&machine, 1, 0x1000);
    store(&mut machine, 0, at, &LINE).unwrap();
    assert_eq!(machine.sim.hash().to_string(), "319644cea463898b");
}

#[test]
fn booting_is_deterministic() {
    let hash = || {
        let mut machine = machine(&FOUR_SUPERNODES);
        let log = boot_all(&mut machine).unwrap_or_else(|e| panic!("{e}"));
        (machine.sim.hash(), log)
    };
    assert_eq!(hash(), hash());
}
