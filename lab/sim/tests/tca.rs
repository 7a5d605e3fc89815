//! TCA sub-clusters: what programs see, on sound and on damaged links.

use hostwire_plan::NodeId;
use hostwire_sim::engine::RunError;
use hostwire_sim::experiments::tca_peach2::{ping_pong, ring};
use hostwire_sim::models::link::Damage;
use hostwire_sim::tca::{
    BuildError, Chain, Config, Device, DeviceAddress, Engine, LOOPBACK, Stride, SubCluster,
    TcaError,
};
use proptest::prelude::*;

fn plan(nodes: usize) -> hostwire_plan::Plan {
    hostwire_plan::plan("ring.toml", ring(nodes).as_bytes()).unwrap_or_else(|bad| panic!("{bad}"))
}

fn cluster_with(nodes: usize, config: &Config) -> SubCluster<'static> {
    SubCluster::new(&plan(nodes), config).unwrap()
}

fn cluster(nodes: usize) -> SubCluster<'static> {
    cluster_with(nodes, &Config::default())
}

fn bytes(seed: u64, len: u64) -> Vec<u8> {
    (0..len)
        .map(|at| (seed.wrapping_mul(31).wrapping_add(at * 7) >> 1) as u8)
        .collect()
}

const GPU: DeviceAddress = DeviceAddress {
    node: 0,
    device: Device::Gpu0,
    offset: 0x2000,
};

/// No TLP was lost or sent to an address without a device, and no device waits.
fn check_sound(cluster: &SubCluster<'_>) {
    for node in 0..cluster.nodes() as u16 {
        let counters = cluster.chip_counters(node).unwrap();
        assert_eq!(counters.dropped, 0, "node {node}: {counters:?}");
        assert_eq!(cluster.unclaimed(node).unwrap(), 0, "node {node}");
    }
}

#[test]
fn every_device_of_every_node_can_be_reached_from_every_node() {
    for nodes in [2, 4, 8, 16] {
        let mut cluster = cluster(nodes);
        let count = nodes as u16;
        for from in 0..count {
            for to in (0..count).filter(|to| *to != from) {
                for device in [Device::Gpu0, Device::Gpu1, Device::Host, Device::Internal] {
                    let place = DeviceAddress::new(to, device, 0x10_0000 + u64::from(from) * 64);
                    cluster.store(from, place, &bytes(from.into(), 33)).unwrap();
                }
            }
        }
        cluster.settle().unwrap();
        for from in 0..count {
            for to in (0..count).filter(|to| *to != from) {
                for device in [Device::Gpu0, Device::Gpu1, Device::Host, Device::Internal] {
                    let place = DeviceAddress::new(to, device, 0x10_0000 + u64::from(from) * 64);
                    let got = cluster.memory(place, 33).unwrap();
                    assert_eq!(got, bytes(from.into(), 33), "{from} to {place}");
                }
            }
        }
        check_sound(&cluster);
    }
}

#[test]
fn stores_of_any_alignment_touch_their_bytes_only() {
    let mut cluster = cluster(2);
    for (offset, len) in [(1u64, 1u64), (2, 2), (3, 6), (61, 7), (4095, 2), (7, 300)] {
        let place = DeviceAddress::new(1, Device::Host, 0x8000 + offset);
        let around = DeviceAddress::new(1, Device::Host, 0x8000);
        cluster.set_memory(around, &[0xee; 5000]).unwrap();
        cluster.store(0, place, &bytes(len, len)).unwrap();
        cluster.settle().unwrap();
        let mut expected = vec![0xee; 5000];
        expected[offset as usize..(offset + len) as usize].copy_from_slice(&bytes(len, len));
        assert_eq!(
            cluster.memory(around, 5000).unwrap(),
            expected,
            "{offset} {len}"
        );
    }
}

/// A hop is a chip (62 cycles of 250 MHz), 28 symbols on the wire and 5 ns of cable.
#[test]
fn each_hop_adds_the_same() {
    let mut cluster = cluster(8);
    let half = |cluster: &mut SubCluster<'_>, to| ping_pong(cluster, [0, to], 4, 3).unwrap();
    let near = half(&mut cluster, 1);
    assert_eq!(near, 782.0);
    let plan = plan(8);
    for to in 2..8 {
        let hops = |from, to| {
            let target = plan.nodes()[usize::from(to)].range.start;
            plan.route(NodeId(from), target).unwrap().len() as f64
        };
        // The way back may be different: routes in a ring are chosen so that none can block.
        let mean = (hops(0, to) + hops(to, 0)) / 2.0;
        let expected = near + (mean - 1.0) * 260.0;
        assert_eq!(half(&mut cluster, to), expected, "node {to}");
    }
}

#[test]
fn both_engines_copy_between_devices() {
    for engine in [Engine::TwoPhase, Engine::Pipelined] {
        let mut cluster = cluster(4);
        let data = bytes(3, 70_004);
        cluster.set_memory(GPU, &data).unwrap();
        let destination = DeviceAddress::new(2, Device::Gpu1, 0x3004);
        let mut chain = Chain::new();
        chain.copy(destination, GPU, 70_004).unwrap();
        let transfer = cluster.launch(0, &chain, engine).unwrap();
        cluster.wait(transfer).unwrap();
        cluster.settle().unwrap();
        assert_eq!(
            cluster.memory(destination, 70_004).unwrap(),
            data,
            "{engine:?}"
        );
        check_sound(&cluster);
    }
}

#[test]
fn block_stride_gathers_and_scatters() {
    let mut cluster = cluster(2);
    let data = bytes(5, 64 << 10);
    cluster.set_memory(GPU, &data).unwrap();
    let destination = DeviceAddress::new(1, Device::Gpu0, 0x100);
    let mut chain = Chain::new();
    let stride = Stride {
        block_bytes: 96,
        blocks: 200,
        destination_step: 128,
        source_step: 260,
    };
    chain.block_stride(destination, GPU, stride).unwrap();
    assert_eq!((chain.pieces().len(), chain.bytes()), (200, 19_200));
    let transfer = cluster.launch(0, &chain, Engine::Pipelined).unwrap();
    cluster.wait(transfer).unwrap();
    cluster.settle().unwrap();
    let got = cluster.memory(destination, 200 * 128).unwrap();
    for block in 0..200usize {
        let expected = &data[block * 260..block * 260 + 96];
        assert_eq!(got[block * 128..block * 128 + 96], *expected, "{block}");
        assert!(
            got[block * 128 + 96..(block + 1) * 128]
                .iter()
                .all(|b| *b == 0)
        );
    }
}

/// The last word of a chain is behind all others: a program that sees it sees them.
#[test]
fn a_flag_at_the_end_of_a_chain_arrives_last() {
    let mut cluster = cluster(8);
    let flag = DeviceAddress::new(0, Device::Host, 0x40);
    cluster.set_memory(GPU, &bytes(9, 1 << 16)).unwrap();
    cluster.set_memory(flag, &[1, 0, 0, 0]).unwrap();
    let destination = DeviceAddress::new(3, Device::Gpu0, 0);
    let seen = DeviceAddress::new(3, Device::Host, 0x80);
    let mut chain = Chain::new();
    chain.copy(destination, GPU, 1 << 16).unwrap();
    chain.copy(seen, flag, 4).unwrap();
    let transfer = cluster.launch(0, &chain, Engine::Pipelined).unwrap();
    cluster.wait_for(3, seen, &[1, 0, 0, 0]).unwrap();
    assert_eq!(
        cluster.memory(destination, 1 << 16).unwrap(),
        bytes(9, 1 << 16)
    );
    cluster.wait(transfer).unwrap();
}

#[test]
fn only_writes_cross() {
    let mut cluster = cluster(4);
    let remote = DeviceAddress::new(2, Device::Host, 0x100);
    let refused = TcaError::RemoteRead {
        node: 0,
        target: remote,
    };
    assert_eq!(cluster.load(0, remote, 4), Err(refused.clone()));
    assert_eq!(cluster.wait_for(0, remote, &[1]), Err(refused.clone()));
    let mut chain = Chain::new();
    chain.copy(GPU, remote, 64).unwrap();
    let launched = cluster.launch(0, &chain, Engine::Pipelined);
    assert_eq!(launched, Err(refused.clone()));
    let message = refused.to_string();
    assert!(
        message.contains("only writes cross between nodes"),
        "{message}"
    );
    assert!(message.contains("let node 2 put it"), "{message}");
    // A program that loads nevertheless gets an error from the chip.
    let bare = cluster.bare_load(0, remote, 4);
    assert_eq!(bare, Err(TcaError::Refused { target: remote }));
    assert_eq!(cluster.chip_counters(0).unwrap().dropped, 1);
    // Its own chip it may read.
    let own = DeviceAddress::new(0, Device::Internal, 0x2001);
    cluster.set_memory(own, &[1, 2, 3]).unwrap();
    assert_eq!(cluster.bare_load(0, own, 3), Ok(vec![1, 2, 3]));
}

#[test]
fn bad_arguments_do_nothing() {
    let mut cluster = cluster(2);
    let place = |node, offset| DeviceAddress::new(node, Device::Gpu0, offset);
    let nowhere = TcaError::NoNode { node: 2, nodes: 2 };
    assert_eq!(cluster.store(0, place(2, 0), &[1]), Err(nowhere.clone()));
    assert_eq!(cluster.store(2, place(0, 0), &[1]), Err(nowhere));
    let end = 5 << 30;
    let out = cluster.store(0, place(1, end - 1), &[1, 2]);
    assert!(matches!(out, Err(TcaError::OutOfRange { .. })), "{out:?}");
    let out = cluster.store(0, place(1, u64::MAX), &[1, 2]);
    assert!(matches!(out, Err(TcaError::OutOfRange { .. })), "{out:?}");
    let registers = cluster.store(0, DeviceAddress::new(1, Device::Internal, 0x100), &[1]);
    assert!(
        matches!(registers, Err(TcaError::OutOfRange { .. })),
        "{registers:?}"
    );
    let mut chain = Chain::new();
    assert_eq!(
        cluster.launch(0, &chain, Engine::Pipelined),
        Err(TcaError::EmptyChain)
    );
    let odd = chain.copy(place(1, 2), GPU, 4);
    assert!(matches!(odd, Err(TcaError::Misaligned { .. })), "{odd:?}");
    let mut stride = Stride {
        block_bytes: 4,
        blocks: 256,
        destination_step: 4,
        source_step: 4,
    };
    let many = TcaError::TooManyDescriptors { descriptors: 256 };
    assert_eq!(chain.block_stride(place(1, 0), GPU, stride), Err(many));
    assert!(chain.pieces().is_empty());
    stride.blocks = 255;
    chain.block_stride(place(1, 0), GPU, stride).unwrap();
    let more = TcaError::TooManyDescriptors { descriptors: 256 };
    assert_eq!(chain.copy(place(1, 0), GPU, 4), Err(more));
    let transfer = cluster.launch(0, &chain, Engine::Pipelined).unwrap();
    let busy = cluster.launch(0, &chain, Engine::Pipelined);
    assert_eq!(busy, Err(TcaError::Busy { node: 0 }));
    cluster.wait(transfer).unwrap();
    let huge = Stride {
        block_bytes: u64::MAX - 3,
        blocks: u64::MAX,
        destination_step: 4,
        source_step: 4,
    };
    assert!(Chain::new().block_stride(place(1, 0), GPU, huge).is_err());
    // No device will ever write it.
    let never = cluster.wait_for(1, DeviceAddress::new(1, Device::Host, 0), &[9]);
    assert!(
        matches!(never, Err(TcaError::Never { node: 1, .. })),
        "{never:?}"
    );
    check_sound(&cluster);
}

#[test]
fn clusters_that_cannot_be() {
    let one = "fabric = \"peach2\"\n[[node]]\nname = \"a\"\nmemory = \"8GiB\"\n";
    let many = ring(8)
        .replace("nodes = 8", "nodes = 32")
        .replace("8GiB", "1GiB");
    let many = many.replace("5GiB", "1GiB");
    for (text, nodes) in [(one.to_owned(), 1), (many, 32)] {
        let plan = hostwire_plan::plan("bad.toml", text.as_bytes());
        let plan = plan.unwrap_or_else(|bad| panic!("{bad}"));
        let built = SubCluster::new(&plan, &Config::default()).err();
        assert_eq!(built, Some(BuildError::NodeCount { nodes }));
    }
    let opterons = include_bytes!("../../../examples/clusters/two-boards.toml");
    let opterons = hostwire_plan::plan("two-boards.toml", opterons).unwrap();
    let built = SubCluster::new(&opterons, &Config::default()).err();
    assert_eq!(built, Some(BuildError::NotPeach2));
    let tiny = LOOPBACK.replace("8GiB", "4KiB");
    let tiny = hostwire_plan::plan("tiny.toml", tiny.as_bytes()).unwrap();
    let built = SubCluster::new(&tiny, &Config::default()).err();
    assert!(
        matches!(built, Some(BuildError::Memory { node: 0, .. })),
        "{built:?}"
    );
}

fn damaged(tlp: Damage, dllp: Damage) -> Config {
    let mut config = Config::default();
    config.link.tlp_damage = [tlp.clone(), tlp];
    config.link.dllp_damage = [dllp.clone(), dllp];
    config
}

fn replays(cluster: &SubCluster<'_>) -> u64 {
    cluster
        .links()
        .iter()
        .map(|link| link.counters.replayed)
        .sum()
}

/// Copies 64 KiB over two cables and back of GPU 0 of node 0.
fn round_trip(config: &Config) -> SubCluster<'static> {
    let mut cluster = cluster_with(4, config);
    let data = bytes(7, 1 << 16);
    cluster.set_memory(GPU, &data).unwrap();
    let there = DeviceAddress::new(2, Device::Host, 0x1000);
    cluster.memcpy_peer(there, GPU, 1 << 16).unwrap();
    cluster.settle().unwrap();
    assert_eq!(cluster.memory(there, 1 << 16).unwrap(), data);
    check_sound(&cluster);
    cluster
}

#[test]
fn damage_is_repaired_by_replay() {
    let sound = round_trip(&Config::default());
    assert_eq!(replays(&sound), 0);
    for (tlp, dllp) in [
        (Damage::At(vec![1, 5, 6, 9, 200]), Damage::Never),
        (Damage::Every(7), Damage::Never),
        (Damage::Never, Damage::At(vec![1, 2, 3, 4, 5, 6])),
        (Damage::Every(11), Damage::Every(3)),
        // The replayed TLP is damaged again.
        (Damage::At(vec![20, 21, 22]), Damage::Never),
    ] {
        let config = damaged(tlp.clone(), dllp.clone());
        let cluster = round_trip(&config);
        let errors: u64 = cluster
            .links()
            .iter()
            .map(|link| link.counters.crc_errors)
            .sum();
        assert!(errors > 0, "{tlp:?} {dllp:?}");
        assert!(
            replays(&cluster) > 0 || tlp == Damage::Never,
            "{tlp:?} {dllp:?}"
        );
    }
}

/// A cable that lets nothing through retrains, gives up, and is named.
#[test]
fn a_dead_cable_is_an_error() {
    let mut cluster = cluster_with(2, &damaged(Damage::Every(1), Damage::Never));
    let place = DeviceAddress::new(1, Device::Host, 0x100);
    cluster.store(0, place, &[1, 2, 3, 4]).unwrap();
    let error = cluster.settle().unwrap_err();
    let TcaError::Run(RunError::Stalled { .. }) = error else {
        panic!("{error}");
    };
    assert!(
        error.to_string().contains("the link has given up"),
        "{error}"
    );
    assert_eq!(cluster.memory(place, 4).unwrap(), [0; 4]);
}

#[test]
fn a_run_can_be_limited() {
    let mut cluster = cluster(2);
    cluster.limit(1_000, None);
    let destination = DeviceAddress::new(1, Device::Gpu0, 0);
    let ended = cluster.memcpy_peer(destination, GPU, 1 << 20);
    assert!(
        matches!(ended, Err(TcaError::Run(RunError::EventsSpent { .. }))),
        "{ended:?}"
    );
}

/// The same in debug and release, in any directory.
#[test]
fn hashes_are_pinned() {
    let hash = |config: &Config| round_trip(config).summary().hash.to_string();
    let random = |seed| Damage::Random {
        hits: 20_000,
        of: 1_000_000,
        seed,
    };
    let hashes = [
        hash(&Config::default()),
        hash(&damaged(random(1), random(1 << 32))),
    ];
    assert_eq!(hashes, ["090843076774a771", "a0f2d6931d2514c5"]);
}

#[derive(Clone, Debug)]
struct Copy {
    from: u16,
    to: u16,
    devices: [Device; 2],
    offsets: [u64; 2],
    dwords: u64,
    pipelined: bool,
}

fn copies(nodes: u16) -> impl Strategy<Value = Vec<Copy>> {
    let device = || prop::sample::select(vec![Device::Gpu0, Device::Gpu1, Device::Host]);
    let copy = (
        (0..nodes, 0..nodes),
        [device(), device()],
        [0u64..2_000, 0u64..2_000],
        1u64..3_000,
        any::<bool>(),
    );
    let copy = copy.prop_map(|((from, to), devices, offsets, dwords, pipelined)| Copy {
        from,
        to,
        devices,
        offsets,
        dwords,
        pipelined,
    });
    prop::collection::vec(copy, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Copied data arrives once and no other byte changes, also with damage on the way and
    /// with as few credits as possible. At the end no device waits.
    #[test]
    fn copies_agree_with_an_oracle(
        nodes in prop::sample::select(vec![2usize, 3, 5, 8]),
        list in copies(2),
        credits in 1u8..6,
        damage in prop::sample::select(vec![0u32, 10_000, 100_000]),
        seed in any::<u64>(),
    ) {
        let random = |kind: u64| match damage {
            0 => Damage::Never,
            hits => Damage::Random { hits, of: 1_000_000, seed: seed ^ kind },
        };
        let mut config = damaged(random(0), random(1));
        for end in &mut config.link.credits {
            (end.header, end.data) = ([credits; 3], [u16::from(credits) * 16; 3]);
        }
        let mut cluster = cluster_with(nodes, &config);
        const AREA: u64 = 24_000;
        let devices = [Device::Gpu0, Device::Gpu1, Device::Host];
        let mut oracle = std::collections::BTreeMap::new();
        for node in 0..nodes as u16 {
            for device in devices {
                let data = bytes(u64::from(node) * 3 + device as u64, AREA);
                cluster.set_memory(DeviceAddress::new(node, device, 0), &data).unwrap();
                oracle.insert((node, device), data);
            }
        }
        for copy in &list {
            // The farthest node represents the other one.
            let node = |n: u16| if n == 0 { 0 } else { nodes as u16 / 2 };
            let (from, to) = (node(copy.from), node(copy.to));
            let source = DeviceAddress::new(from, copy.devices[0], copy.offsets[0] * 4);
            let destination = DeviceAddress::new(to, copy.devices[1], copy.offsets[1] * 4);
            // Overlapping copies have no order of their bytes.
            if (from, copy.devices[0]) == (to, copy.devices[1]) {
                continue;
            }
            let len = copy.dwords * 4;
            let mut chain = Chain::new();
            chain.copy(destination, source, len).unwrap();
            let engine = if copy.pipelined { Engine::Pipelined } else { Engine::TwoPhase };
            let transfer = cluster.launch(from, &chain, engine).unwrap();
            cluster.wait(transfer).unwrap();
            cluster.settle().unwrap();
            let at = source.offset as usize;
            let data = oracle[&(from, copy.devices[0])][at..at + len as usize].to_vec();
            let target = oracle.get_mut(&(to, copy.devices[1])).unwrap();
            let at = destination.offset as usize;
            target[at..at + len as usize].copy_from_slice(&data);
        }
        for ((node, device), expected) in &oracle {
            let got = cluster.memory(DeviceAddress::new(*node, *device, 0), AREA).unwrap();
            prop_assert!(got == *expected, "node {node} {device}");
        }
        check_sound(&cluster);
    }
}
