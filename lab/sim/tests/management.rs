//! The management processors of PEACH2 chips: links at power-up, roles of ports south, one ring or
//! two while traffic goes on, cables that are pulled.

use hostwire_sim::engine::Ps;
use hostwire_sim::models::pcie::Role;
use hostwire_sim::models::pcie::peach2::chip::{
    Cell, Chip, ChipConfig, ChipEvent, DmaStatus, Dropped, Instruction, LOSSES, Program, REPLY,
};
use hostwire_sim::models::{DeviceEvent, Fabric};
use hostwire_sim::tca::{
    Chain, Config, Device, DeviceAddress, Engine, Start, SubCluster, TcaError,
};
use proptest::prelude::*;

const SOUTH: u8 = 2;

fn double_ring(nodes: usize) -> hostwire_plan::Plan {
    let file = format!(
        "fabric = \"peach2\"\n[topology]\nkind = \"double-ring\"\nnodes = {nodes}\n\
         [topology.node]\nmemory = \"1GiB\"\ngpus = 2\ngpu_memory = \"1GiB\"\n"
    );
    hostwire_plan::plan("rings.toml", file.as_bytes()).unwrap_or_else(|bad| panic!("{bad}"))
}

fn cluster(nodes: usize, start: Start) -> SubCluster<'static> {
    let config = Config {
        start,
        ..Config::default()
    };
    SubCluster::new(&double_ring(nodes), &config).unwrap()
}

fn host(node: u16, offset: u64) -> DeviceAddress {
    DeviceAddress::new(node, Device::Host, offset)
}

fn bytes(seed: u8, len: usize) -> Vec<u8> {
    (0..len).map(|at| seed ^ ((at * 7) >> 2) as u8).collect()
}

fn dropped(cluster: &SubCluster<'_>) -> u64 {
    let nodes = 0..cluster.nodes() as u16;
    nodes
        .map(|node| cluster.chip_counters(node).unwrap().dropped)
        .sum()
}

#[test]
fn power_up_brings_every_link_up() {
    let mut cluster = cluster(8, Start::Down);
    assert!(!cluster.port(0, 0).unwrap().link.is_up);
    let up = cluster.power_up().unwrap();
    // All ports are on within microseconds, and then links train for a millisecond.
    assert!(
        (Ps::from_us(1_000)..Ps::from_us(1_010)).contains(&up),
        "{up}"
    );
    for node in 0..8 {
        for port in 0..3 {
            let view = cluster.port(node, port).unwrap();
            assert!(view.link.is_up, "node {node} port {port}: {view:?}");
        }
    }
    cluster.store(0, host(6, 0), &[9; 100]).unwrap();
    cluster.settle().unwrap();
    assert_eq!(cluster.memory(host(6, 0), 100).unwrap(), [9; 100]);
    assert_eq!(dropped(&cluster), 0);
}

#[test]
fn a_trained_cluster_notices_nothing_of_its_processors() {
    let mut cluster = cluster(4, Start::Trained);
    assert_eq!(cluster.power_up().unwrap(), Ps::ZERO);
    cluster.store(0, host(3, 64), &[1; 64]).unwrap();
    cluster.settle().unwrap();
    assert_eq!(cluster.memory(host(3, 64), 64).unwrap(), [1; 64]);
    assert_eq!(cluster.register(2, LOSSES).unwrap(), 0);
}

#[test]
fn two_rings_become_one_network_and_two_again_while_data_moves() {
    let mut cluster = cluster(8, Start::Separate);
    cluster.store(0, host(5, 0), &[1; 8]).unwrap();
    cluster.settle().unwrap();
    assert_eq!(
        cluster.memory(host(5, 0), 8).unwrap(),
        [0; 8],
        "another ring"
    );
    assert_eq!(dropped(&cluster), 1);

    // 64 MiB within the first ring: it takes longer than what follows.
    let sent = bytes(3, 64 << 20);
    cluster.set_memory(host(1, 1 << 20), &sent).unwrap();
    let mut chain = Chain::new();
    let (to, from) = (host(2, 1 << 20), host(1, 1 << 20));
    for piece in 0..255u64 {
        let [to, from] = [to, from].map(|place| place.after(piece * 262_140).unwrap());
        chain.copy(to, from, 262_140).unwrap();
    }
    let transfer = cluster.launch(1, &chain, Engine::Pipelined).unwrap();

    let coupled = cluster.couple().unwrap();
    // A partial reconfiguration of 10 ms in the second ring, and a training.
    assert!(
        (Ps::from_us(11_000)..Ps::from_us(11_100)).contains(&coupled),
        "{coupled}"
    );
    for node in 0..8 {
        let south = cluster.port(node, SOUTH).unwrap();
        let expected = if node < 4 {
            Role::Endpoint
        } else {
            Role::RootComplex
        };
        assert_eq!(
            (south.role, south.link.is_up),
            (expected, true),
            "node {node}"
        );
    }
    for (from, to) in [(0, 5), (5, 0), (3, 4), (7, 2)] {
        let place = host(to, 64 * u64::from(from));
        cluster.store(from, place, &[7; 64]).unwrap();
        cluster.wait_for(to, place, &[7; 64]).unwrap();
    }
    let again = cluster.separate().unwrap();
    assert!(again - coupled < Ps::from_us(100), "{}", again - coupled);
    cluster.store(0, host(5, 128), &[2; 8]).unwrap();
    cluster.wait(transfer).unwrap();
    cluster.settle().unwrap();
    assert_eq!(
        cluster.memory(host(5, 128), 8).unwrap(),
        [0; 8],
        "two rings again"
    );
    let got = cluster.memory(to, 255 * 262_140).unwrap();
    assert!(got == sent[..255 * 262_140], "the transfer within a ring");
    assert_eq!(dropped(&cluster), 2, "only what went to the other ring");
    // No role changes this time.
    let before = cluster.now();
    let coupled = cluster.couple().unwrap();
    assert!(
        coupled - before < Ps::from_us(1_100),
        "{}",
        coupled - before
    );
}

#[test]
fn separating_drains_what_is_under_way() {
    let mut cluster = cluster(8, Start::Trained);
    let sent = bytes(9, 1 << 20);
    cluster.set_memory(host(0, 0), &sent).unwrap();
    let mut chain = Chain::new();
    chain.copy(host(5, 0), host(0, 0), 1 << 20).unwrap();
    let transfer = cluster.launch(0, &chain, Engine::Pipelined).unwrap();
    cluster.power_up().unwrap();
    let warm = cluster.now() + Ps::from_us(100);
    cluster.wait_for(0, host(0, 0), &sent[..4]).unwrap();
    while cluster.now() < warm {
        cluster.register(0, REPLY).unwrap();
    }
    cluster.separate().unwrap();
    let ended = cluster.wait(transfer);
    assert!(
        matches!(
            ended,
            Err(TcaError::Dma {
                node: 0,
                status: DmaStatus::NoRoute
            })
        ),
        "{ended:?}"
    );
    cluster.settle().unwrap();
    let got = cluster.memory(host(5, 0), 1 << 20).unwrap();
    let arrived = got.iter().zip(&sent).take_while(|(a, b)| a == b).count();
    assert!(arrived > 200_000 && arrived < 1 << 20, "{arrived}");
    assert!(
        got[arrived.next_multiple_of(256)..]
            .iter()
            .all(|byte| *byte == 0),
        "a prefix"
    );
    // The controller stopped at the first TLP without a port: the chips have lost none.
    let links = cluster.links();
    assert_eq!(links.iter().map(|link| link.counters.lost).sum::<u64>(), 0);
    assert_eq!(dropped(&cluster), 0);
}

#[test]
fn two_equal_roles_do_not_come_up() {
    let mut cluster = cluster(4, Start::Separate);
    let error = cluster.open_south().unwrap_err();
    assert_eq!(
        error.to_string(),
        "ports n0.south and n2.south are both an endpoint: a PCI Express link needs a root complex \
         at one end and an endpoint at the other"
    );
    // The processors gave up after the time that PCI Express gives a training.
    assert!(cluster.now() >= Ps::from_us(24_000));
    cluster.store(0, host(2, 0), &[1]).unwrap();
    cluster.settle().unwrap();
    assert_eq!(cluster.chip_counters(0).unwrap().dropped, 1);
    cluster.couple().unwrap();
    cluster.store(0, host(2, 0), &[1]).unwrap();
    cluster.settle().unwrap();
    assert_eq!(cluster.memory(host(2, 0), 1).unwrap(), [1]);

    let ring = hostwire_sim::experiments::tca_peach2::ring(4);
    let ring = hostwire_plan::plan("ring.toml", ring.as_bytes()).unwrap();
    let mut ring = SubCluster::new(&ring, &Config::default()).unwrap();
    assert_eq!(ring.couple(), Err(TcaError::NoSouth));
}

#[test]
fn a_cable_that_is_pulled_is_seen_and_comes_back() {
    let mut cluster = cluster(4, Start::Trained);
    cluster.power_up().unwrap();
    cluster.settle().unwrap();
    cluster.plug_south(0, false).unwrap();
    cluster.settle().unwrap();
    let port = cluster.port(2, SOUTH).unwrap();
    assert!(
        port.is_on && !port.link.is_up && !port.link.is_plugged,
        "{port:?}"
    );
    cluster.store(0, host(2, 0), &[5; 4]).unwrap();
    cluster.store(1, host(3, 0), &[6; 4]).unwrap();
    cluster.settle().unwrap();
    assert_eq!(cluster.memory(host(2, 0), 4).unwrap(), [0; 4]);
    assert_eq!(
        cluster.memory(host(3, 0), 4).unwrap(),
        [6; 4],
        "another cable"
    );
    let counters = cluster.chip_counters(0).unwrap();
    assert_eq!(
        (counters.dropped, counters.first_dropped),
        (1, Some(Dropped::LinkDown))
    );
    assert_eq!(cluster.register(0, LOSSES).unwrap(), 1);
    assert_eq!(cluster.register(1, LOSSES).unwrap(), 0);
    assert!(matches!(cluster.open_south(), Err(TcaError::NoCable { port }) if port == "n0.south"));

    cluster.plug_south(0, true).unwrap();
    cluster.settle().unwrap();
    assert_eq!(cluster.port(2, SOUTH).unwrap().link.trainings, 1);
    cluster.store(0, host(2, 0), &[5; 4]).unwrap();
    cluster.settle().unwrap();
    assert_eq!(cluster.memory(host(2, 0), 4).unwrap(), [5; 4]);
}

/// Pulled in the middle of a transfer: what was on the cable is lost and counted, buffers and
/// credits are not.
#[test]
fn a_cable_pulled_in_a_transfer_loses_and_goes_on() {
    let mut cluster = cluster(4, Start::Trained);
    cluster.power_up().unwrap();
    let mut chain = Chain::new();
    chain.copy(host(2, 0), host(0, 0), 1 << 20).unwrap();
    for _ in 0..3 {
        let transfer = cluster.launch(0, &chain, Engine::Pipelined).unwrap();
        while cluster.now() < transfer.launched() + Ps::from_us(50) {
            cluster.register(1, REPLY).unwrap();
        }
        cluster.plug_south(0, false).unwrap();
        // A posted write has no answer: the controller does not know.
        cluster.wait(transfer).unwrap();
        cluster.plug_south(0, true).unwrap();
        cluster.settle().unwrap();
    }
    let links = cluster.links();
    let lost: u64 = links.iter().map(|link| link.counters.lost).sum();
    assert!(lost > 0 && dropped(&cluster) > 1000, "{lost}");
    let sent = bytes(1, 1 << 20);
    cluster.set_memory(host(0, 0), &sent).unwrap();
    let transfer = cluster.launch(0, &chain, Engine::Pipelined).unwrap();
    cluster.wait(transfer).unwrap();
    cluster.settle().unwrap();
    assert!(cluster.memory(host(2, 0), 1 << 20).unwrap() == sent);
}

/// Sums the numbers up to 10 and leaves the sum in the reply register.
#[test]
fn programs_run_and_take_their_time() {
    let [sum, left, minus, zero, reply] = [0, 1, 2, 3, 4].map(Cell);
    let program = Program::new([
        Instruction::Set {
            to: left,
            value: 10,
        },
        Instruction::Set {
            to: minus,
            value: u64::MAX,
        },
        Instruction::Set {
            to: reply,
            value: REPLY,
        },
        Instruction::Add {
            to: sum,
            a: sum,
            b: left,
        },
        Instruction::Add {
            to: left,
            a: left,
            b: minus,
        },
        Instruction::BranchIfEqual {
            a: left,
            b: zero,
            target: 7,
        },
        Instruction::BranchIfEqual {
            a: zero,
            b: zero,
            target: 3,
        },
        Instruction::Store {
            from: sum,
            base: reply,
            offset: 0,
        },
        Instruction::Load {
            to: left,
            base: reply,
            offset: 0,
        },
    ]);
    let mut sim = Fabric::new();
    let mut chip = Chip::new(Default::default(), ChipConfig::default());
    chip.load_program(program);
    let chip = sim.add("chip", chip);
    sim.inject(Ps::ZERO, chip, DeviceEvent::Chip(ChipEvent::Boot))
        .unwrap();
    let summary = sim.run().unwrap();
    // 3 + 4 * 10 - 1 + 2 instructions of 6 clocks, two of them with 10 more.
    assert_eq!(summary.virtual_time, Ps::from_ns(4 * (44 * 6 + 2 * 10)));
    assert_eq!(sim.component::<Chip>(chip).unwrap().shown(REPLY), 55);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Rings are coupled and separated in any order while nodes copy within their rings: these
    /// copies arrive, nothing waits at the end, and the other ring is reached exactly when it
    /// should be.
    #[test]
    fn rings_are_untouched_by_what_ports_south_do(
        steps in prop::collection::vec(any::<bool>(), 1..5),
        seed in any::<u8>(),
    ) {
        let config = Config {
            start: Start::Separate,
            chip: ChipConfig { reconfiguration: Ps::from_us(50), ..ChipConfig::default() },
            ..Config::default()
        };
        let mut cluster = SubCluster::new(&double_ring(8), &config).unwrap();
        for (step, couple) in (1u8..).zip(steps) {
            let len = 400_000;
            let mut transfers = Vec::new();
            for from in [0u16, 2, 5, 7] {
                let data = bytes(seed ^ step ^ from as u8, len);
                cluster.set_memory(host(from, 0), &data).unwrap();
                let mut chain = Chain::new();
                let to = if from < 4 { (from + 1) % 4 } else { 4 + (from + 2) % 4 };
                chain.copy(host(to, 1 << 20), host(from, 0), len as u64).unwrap();
                transfers.push((to, data, cluster.launch(from, &chain, Engine::Pipelined).unwrap()));
            }
            let before = dropped(&cluster);
            if couple { cluster.couple().unwrap(); } else { cluster.separate().unwrap(); }
            cluster.store(1, host(6, 0), &[step]).unwrap();
            for (to, data, transfer) in transfers {
                cluster.wait(transfer).unwrap();
                cluster.settle().unwrap();
                prop_assert!(cluster.memory(host(to, 1 << 20), len as u64).unwrap() == data);
            }
            let reached = cluster.memory(host(6, 0), 1).unwrap() == [step];
            prop_assert_eq!(reached, couple);
            prop_assert_eq!(dropped(&cluster) - before, u64::from(!couple));
        }
        for link in cluster.links() {
            prop_assert_eq!(link.counters.lost, 0);
        }
    }
}

#[test]
fn hashes_are_pinned() {
    let mut cluster = cluster(4, Start::Down);
    cluster.power_up().unwrap();
    cluster.separate().unwrap();
    cluster.couple().unwrap();
    cluster.settle().unwrap();
    assert_eq!(cluster.summary().hash.to_string(), "31d4c0c9eff1ebaf");
}
