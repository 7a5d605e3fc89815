//! Every cluster file in `examples/clusters` is planned and followed through its registers.

mod common;

use std::path::Path;

use common::{File, check_delivery};
use hostwire_plan::htx::{self, Device, HtxPlan};
use hostwire_plan::registers::{BootStep, Register};
use hostwire_plan::{Cluster, GlobalAddress, LinkRole, NodeId, Plan, Scheme, report};

fn example(name: &str) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/clusters")
        .join(name);
    let bytes = std::fs::read(path).expect("the example is part of the repository");
    match hostwire_plan::plan(name, &bytes) {
        Ok(plan) => {
            assert_eq!(plan.warnings(), [], "{name}");
            plan
        }
        Err(rejected) => panic!("{rejected}"),
    }
}

#[test]
fn all_examples_have_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/clusters");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is part of the repository")
        .map(|e| {
            e.expect("a readable folder")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    let tested = [
        "four-boards.toml",
        "four-supernodes.toml",
        "htea-eight.toml",
        "htx-pair.toml",
        "htx-regions.toml",
        "htx-switch.toml",
        "hypercube-64.toml",
        // For jobs in virtual time: hostwire-lab runs them.
        "large",
        "mesh-32x32.toml",
        // Its test is in mixed.rs.
        "mixed.toml",
        "one-board.toml",
        "own-routes.toml",
        "peach2-double-ring.toml",
        "peach2-ring.toml",
        "ring-islands.toml",
        // Its test is in mixed.rs.
        "several.toml",
        "torus-48bit.toml",
        "torus-4x4x8.toml",
        "torus-two-sockets.toml",
        "two-boards.toml",
        "two-islands.toml",
    ];
    assert_eq!(names, tested);
}

/// Register values of the two-board prototype, worked out by hand from the bit tables.
#[test]
fn two_boards_have_these_register_values() {
    let plan = example("two-boards.toml");
    check_delivery(&plan);
    let left = plan.node_by_name("left").expect("in the file");
    assert_eq!((left.range.start.0, left.range.bytes), (8 << 30, 8 << 30));
    let file = File::of(&left.processors[0]);
    let values = [
        // NodeID 0, one node, four cores; southbridge on link 0; rows to itself.
        (0, 0x60, 0x0003_0000),
        (0, 0x64, 0x0000_0000),
        (0, 0x40, 0x0004_0201),
        (0, 0x5C, 0x0004_0201),
        (0, 0x6C, 0),
        // Link 2: 16 bit both ways, 800 MHz (code 5), no retry, ganged.
        (0, 0xC4, 0x1100_0000),
        (0, 0xC8, 0x0000_0500),
        (0, 0xDC, 0),
        (0, 0x138, 0),
        (0, 0x178, 1),
        // DRAM 0: 0 to 16 MiB; DRAM 1: 8 GiB to 16 GiB.
        (1, 0x40, 0x0000_0003),
        (1, 0x44, 0x0000_0000),
        (1, 0x48, 0x0200_0003),
        (1, 0x4C, 0x03FF_0000),
        (1, 0x120, 0x40),
        (1, 0x124, 0x7F),
        // MMIO 0: the southbridge, 3 GiB to 4 GiB, link 0; MMIO 1: 16 GiB to 24 GiB, link 2.
        (1, 0x80, 0x00C0_0003),
        (1, 0x84, 0x00FF_FF00),
        (1, 0x88, 0x0400_0003),
        (1, 0x8C, 0x05FF_FF20),
        (1, 0x90, 0),
        (1, 0xC0, 0x0000_0003),
        (1, 0xC4, 0x01FF_F000),
        (1, 0xE0, 0xFF00_0003),
    ];
    for (function, offset, value) in values {
        assert_eq!(
            file.config(function, offset),
            value,
            "F{function}x{offset:02X}"
        );
    }
    let msrs = [
        (0xC001_001A, 0x0100_0000),
        (0xC001_0010, 1 << 20),
        // One IORR makes the local interval memory: 8 GiB, aligned.
        (0xC001_0016, 0x2_0000_0018),
        (0xC001_0017, 0xFFFE_0000_0800),
        (0x200, 0x0000_0006),
        (0x201, 0xFFFF_FF00_0800),
        (0x202, 0x2_0000_0006),
        (0x203, 0xFFFE_0000_0800),
        // The window and what lies above it, write-combining.
        (0x204, 0x4_0000_0001),
        (0x205, 0xFFFC_0000_0800),
        (0x2FF, 0x800),
    ];
    for (number, value) in msrs {
        assert_eq!(
            file.msr(number),
            value,
            "MSR {number:#x}: {:#x}",
            file.msr(number)
        );
    }
}

#[test]
fn limits_are_written_before_bases() {
    let plan = example("two-boards.toml");
    let writes = &plan.nodes()[0].processors[0].registers;
    let place = |offset| {
        writes.iter().position(|w| {
            w.register
                == Register::Config {
                    function: 1,
                    offset,
                }
        })
    };
    for i in 0..2 {
        assert!(place(0x44 + 8 * i) < place(0x40 + 8 * i));
        assert!(place(0x84 + 8 * i) < place(0x80 + 8 * i));
    }
    let place = |offset| {
        writes.iter().position(|w| {
            w.register
                == Register::Config {
                    function: 0,
                    offset,
                }
        })
    };
    assert!(place(0xDC) < place(0xC8), "Freq[4] before Freq[3:0]");
}

#[test]
fn boot_steps_split_the_writes() {
    let plan = example("two-boards.toml");
    let processor = &plan.nodes()[0].processors[0];
    let count = |step| processor.writes_of(step).count();
    assert_eq!(count(BootStep::Links), 5);
    assert_eq!(count(BootStep::Cores), 2 + 4 + 1 + 16 + 2);
    let all = [BootStep::Links, BootStep::Northbridge, BootStep::Cores].map(count);
    assert_eq!(all.iter().sum::<usize>(), processor.registers.len());
}

#[test]
fn one_board_has_a_link_for_configuration() {
    let plan = example("one-board.toml");
    check_delivery(&plan);
    let roles: Vec<_> = plan.nodes()[0].processors[0]
        .links
        .iter()
        .map(|l| l.role)
        .collect();
    assert_eq!(
        roles,
        [
            LinkRole::Southbridge,
            LinkRole::Fabric,
            LinkRole::Configuration
        ]
    );
}

#[test]
fn four_supernodes_are_addressed_as_four_nodes() {
    let plan = example("four-supernodes.toml");
    check_delivery(&plan);
    assert_eq!(plan.nodes().len(), 4);
    for node in plan.nodes() {
        assert_eq!((node.processors.len(), node.range.bytes), (4, 32 << 30));
        let ids: Vec<_> = node
            .processors
            .iter()
            .map(|p| File::of(p).config(0, 0x60) & 7)
            .collect();
        assert_eq!(ids, [0, 1, 2, 3]);
    }
}

#[test]
fn hypercube_takes_seven_of_eight_ranges() {
    let plan = example("hypercube-64.toml");
    check_delivery(&plan);
    assert_eq!(plan.hop_statistics().hops_max, 6);
    for node in plan.nodes() {
        assert_eq!(node.windows.len(), 6);
        assert_eq!(File::of(&node.processors[0]).mmio_ranges_in_use(), 7);
    }
}

#[test]
fn mesh_takes_one_range_per_direction() {
    let plan = example("mesh-32x32.toml");
    assert_eq!(plan.scheme(), Scheme::DimensionOrder);
    assert_eq!(plan.hop_statistics().hops_max, 62);
    for node in plan.nodes() {
        let (row, column) = (node.id.0 / 32, node.id.0 % 32);
        let neighbours = [row > 0, row < 31, column > 0, column < 31];
        assert_eq!(
            node.windows.len(),
            neighbours.iter().filter(|&&n| n).count()
        );
    }
    // The whole of it takes a million routes; a part of it, through the registers.
    for (from, to) in [(0, 1023), (1023, 0), (31, 992), (527, 496), (500, 501)] {
        let addr = plan.nodes()[to].range.last();
        let route = plan.route(NodeId(from), addr).expect("a route");
        let (a, b) = (usize::from(from), to);
        assert_eq!(
            route.len(),
            (a / 32).abs_diff(b / 32) + (a % 32).abs_diff(b % 32)
        );
    }
}

#[test]
fn tori_fit_and_use_their_wrap_around_cables() {
    let plan = example("torus-4x4x8.toml");
    check_delivery(&plan);
    assert!(plan.nodes().iter().all(|n| n.windows.len() <= 6));
    let plan = example("torus-48bit.toml");
    check_delivery(&plan);
    assert_eq!(plan.hop_statistics().hops_max, 6);
    assert_eq!(plan.map().start(), GlobalAddress(4 << 40));
    // High bits of the first window: 4 TiB is bit 42.
    let file = File::of(&plan.nodes()[63].processors[0]);
    assert_eq!(file.config(1, 0x184) & 0xFF, 4);
    assert_eq!(file.config(0, 0x68) >> 25 & 1, 1, "CHtExtAddrEn");
}

#[test]
fn routes_of_the_file_are_taken() {
    let plan = example("own-routes.toml");
    check_delivery(&plan);
    assert_eq!(plan.scheme(), Scheme::File);
    let way = |from: &str, to: &str| {
        let [from, to] = [from, to].map(|name| plan.node_by_name(name).expect("in the file"));
        let hops = plan.route(from.id, to.range.start).expect("a route");
        let names = hops.iter().map(|hop| plan.port_name(hop.from));
        names.collect::<Vec<_>>()
    };
    assert_eq!(way("a", "c"), ["a.l1", "b.l1"]);
    assert_eq!(way("c", "a"), ["c.l2", "b.l2"]);
    assert_eq!(way("b", "d"), ["b.l2", "a.l2"]);
    assert_eq!(way("d", "b"), ["d.l1", "a.l1"]);
    let text = report::text(&plan, report::TextOptions::new(false));
    assert!(
        text.contains("routing: routes of the file, at most 2 hops"),
        "{text}"
    );
}

#[test]
fn rings_of_peach2_and_switches_of_boards_take_routes() {
    let mut file = "fabric = \"peach2\"\n".to_owned();
    for n in 0..3 {
        file += &format!(
            "[[node]]\nname = \"n{n}\"\nmemory = \"1GiB\"\n\
             [[cable]]\nfrom = \"n{n}.east\"\nto = \"n{}.west\"\n",
            (n + 1) % 3
        );
    }
    // A line: nothing goes between n2 and n0.
    for (at, by, to) in [
        ("n0", "east", "\"*\""),
        ("n1", "east", "\"n2\""),
        ("n1", "west", "\"n0\""),
        ("n2", "west", "[\"n0\", \"n1\"]"),
    ] {
        file += &format!("[[route]]\nat = \"{at}\"\nby = \"{by}\"\nto = {to}\n");
    }
    let plan = hostwire_plan::plan("line.toml", file.as_bytes());
    let plan = plan.unwrap_or_else(|rejected| panic!("{rejected}"));
    check_delivery(&plan);
    assert_eq!(plan.hop_statistics().hops_max, 2);
    assert_eq!(plan.warnings()[0].code, "unused-cable");

    let mut file = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/clusters/htx-switch.toml"),
    )
    .expect("the example is part of the repository");
    for (at, by, to) in [
        ("a", "p0", "*"),
        ("b", "p0", "*"),
        ("c", "p0", "*"),
        ("d", "p0", "*"),
        ("s", "p0", "a"),
        ("s", "p1", "b"),
        ("s", "p2", "c"),
        ("s", "p3", "*"),
    ] {
        file += &format!("[[route]]\nat = \"{at}\"\nby = \"{by}\"\nto = \"{to}\"\n");
    }
    let plan = boards_of(&file);
    check_ways(&plan, |from, to| 2 * usize::from(from != to));
    assert_eq!(plan.scheme(), htx::Scheme::File);
}

#[test]
fn peach2_blocks_and_bounds() {
    let plan = example("peach2-double-ring.toml");
    check_delivery(&plan);
    // A13: 512 GB over 16 nodes is 32 GB each, in four blocks of 8 GB.
    let map = plan.map();
    assert_eq!(map.end().0 - map.start().0, 512 << 30);
    assert!(map.entries().iter().all(|e| e.range.bytes == 32 << 30));
    assert!(
        map.entries()
            .iter()
            .flat_map(|e| &e.parts)
            .all(|p| p.range.bytes == 8 << 30)
    );
    let node = plan.node_by_name("n1").expect("generated");
    let writes: Vec<_> = node.processors[0]
        .registers
        .iter()
        .map(|w| w.value)
        .collect();
    let base = 512 << 30;
    let at = |n: u64| base + (n << 35);
    let mask = !((1u64 << 35) - 1);
    let expected = [
        // East: 2 to 7. West: 0. South: the other ring. North: this node.
        [mask, at(2), at(7)],
        [mask, at(0), at(0)],
        [mask, at(8), at(15)],
        [mask, at(1), at(1)],
    ];
    assert_eq!(writes, expected.concat());
}

#[test]
fn eight_nodes_reach_each_other_by_adapters() {
    let plan = example("htea-eight.toml");
    check_delivery(&plan);
    assert_eq!(plan.scheme(), Scheme::Islands);
    assert_eq!(plan.hop_statistics().hops_max, 1);
    assert_eq!(plan.adapters().len(), 8);
    for (number, adapter) in plan.adapters().iter().enumerate() {
        // All other nodes, each by itself.
        let targets: Vec<usize> = adapter.targets.iter().map(|(_, to)| *to).collect();
        let others: Vec<usize> = (0..8).filter(|to| *to != number).collect();
        assert_eq!(targets, others);
        let node = &plan.nodes()[number];
        let file = File::of(&node.processors[0]);
        // The southbridge, and what lies below and above the own memory.
        let around = 1 + usize::from(number > 0) + usize::from(number < 7);
        assert_eq!(file.mmio_ranges_in_use(), around);
    }
}

#[test]
fn islands_send_over_their_gateways() {
    let plan = example("two-islands.toml");
    check_delivery(&plan);
    let ports: Vec<String> = plan
        .adapters()
        .iter()
        .map(|adapter| plan.port_name(adapter.port))
        .collect();
    assert_eq!(ports, ["a0.l3", "b0.l3"]);
    // An island is one run of addresses.
    for (adapter, other) in plan.adapters().iter().zip([1, 0]) {
        let [(range, to)] = adapter.targets[..] else {
            panic!("{:?}", adapter.targets);
        };
        assert_eq!((range.bytes, to), (32 << 30, other));
    }
    // Opposite corners: two cables, Ethernet, two cables.
    assert_eq!(plan.hop_statistics().hops_max, 5);
    let text = report::text(&plan, report::TextOptions::new(false));
    assert!(text.contains("a0.l3  adapter"), "{text}");
    let proof = "no deadlock: 22 channels, 20 dependencies between them, no cycle\n";
    assert!(text.contains(proof), "{text}");
    let dot = report::dot(&plan);
    assert!(dot.contains("-- \"switch\" [taillabel=\"l3\""), "{dot}");
}

#[test]
fn generated_islands_have_an_adapter_each() {
    let plan = example("ring-islands.toml");
    check_delivery(&plan);
    let ports: Vec<String> = plan
        .adapters()
        .iter()
        .map(|adapter| plan.port_name(adapter.port))
        .collect();
    // Link 0 is the southbridge's, 1 and 3 are those of the ring.
    assert_eq!(ports, ["n0.l1", "n4.l1", "n8.l1", "n12.l1"]);
    assert_eq!((plan.nodes().len(), plan.cables().len()), (16, 16));
    // Two cables, Ethernet, two cables.
    assert_eq!(plan.hop_statistics().hops_max, 5);
    // As the same islands, listed.
    let listed = example("two-islands.toml");
    let generated = include_str!("../../../examples/clusters/ring-islands.toml");
    let two = generated.replace("islands = 4", "islands = 2");
    let two = hostwire_plan::plan("two.toml", two.as_bytes()).expect("planned");
    assert_eq!(two.hop_statistics(), listed.hop_statistics());
    let [two, listed] = [two, listed].map(|plan| plan.channel_statistics());
    assert_eq!(
        (two.channels, two.cables_used),
        (listed.channels, listed.cables_used)
    );
    // Without cables there is one adapter per node.
    let alone = "[topology]\nkind = \"full\"\nnodes = 1\nislands = 8\n\
                 [topology.node]\nmemory = \"4GiB\"\nadapter = \"l1\"\n";
    let alone = hostwire_plan::plan("alone.toml", alone.as_bytes()).expect("planned");
    check_delivery(&alone);
    let eight = example("htea-eight.toml");
    assert_eq!(alone.channel_statistics(), eight.channel_statistics());
}

/// Shortest paths over these two rings wait for each other over Ethernet; other routes do not.
#[test]
fn islands_that_could_deadlock_get_other_routes() {
    let file = include_str!("diagnostics/islands-deadlock.toml");
    let file = file.replace("\"minimal\"", "\"auto\"");
    let plan = hostwire_plan::plan("islands.toml", file.as_bytes());
    check_delivery(&plan.unwrap_or_else(|rejected| panic!("{rejected}")));
}

#[test]
fn rings_of_all_peers_are_disjoint_and_inside() {
    for name in [
        "four-boards.toml",
        "hypercube-64.toml",
        "peach2-double-ring.toml",
        "peach2-ring.toml",
        "four-supernodes.toml",
    ] {
        let plan = example(name);
        check_delivery(&plan);
        let receiver = plan.nodes()[1].id;
        let mut rings: Vec<_> = plan
            .nodes()
            .iter()
            .filter_map(|n| plan.ring(receiver, n.id))
            .collect();
        assert_eq!(rings.len(), plan.nodes().len() - 1);
        rings.sort();
        assert!(rings.windows(2).all(|w| w[0].end() == w[1].start.0));
        for ring in &rings {
            let part = plan.part_of(ring.start).expect("in the map");
            let end = part.range.start.0 + part.backed_bytes;
            assert!(ring.end() <= end && plan.owner_of(ring.start) == Some(receiver));
        }
        assert_eq!(plan.ring(receiver, receiver), None);
    }
}

#[test]
fn reports_name_what_they_should() {
    let plan = example("two-boards.toml");
    let text = report::text(&plan, report::TextOptions::new(true));
    assert!(text.contains("MMIO by left.l2"), "{text}");
    assert!(text.contains("F1x8C        0x0000000005ffff20"), "{text}");
    let json = report::json(&plan, report::JsonOptions::new(true)).expect("JSON");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["nodes"][1]["view"][0]["range"]["start"], 8u64 << 30);
    assert_eq!(
        value["nodes"][0]["processors"][0]["registers"][0]["register"],
        "F0x60"
    );
    let dot = report::dot(&plan);
    assert!(
        dot.contains("\"n0.p0\" -- \"n1.p0\" [taillabel=\"l2\", headlabel=\"l2\""),
        "{dot}"
    );
}

/// The places of the nodes of a graph, by the names of the nodes.
fn places(dot: &str) -> Vec<(String, [f64; 2])> {
    let line = |line: &str| {
        let name = line.trim().strip_prefix('"')?.split('"').next()?;
        let pos = line.split("pos=\"").nth(1)?.split('!').next()?;
        let (x, y) = pos.split_once(',')?;
        Some((name.to_owned(), [x.parse().ok()?, y.parse().ok()?]))
    };
    dot.lines().filter_map(line).collect()
}

/// Every node has a fixed place of its own, and no picture is a strip.
#[test]
fn graphs_have_places_and_are_no_strips() {
    for file in [
        "two-boards.toml",
        "four-supernodes.toml",
        "torus-4x4x8.toml",
        "mesh-32x32.toml",
        "hypercube-64.toml",
        "peach2-double-ring.toml",
    ] {
        let plan = example(file);
        let dot = report::dot(&plan);
        assert!(dot.contains("layout=neato"), "{file}");
        let places = places(&dot);
        let processors: usize = plan.nodes().iter().map(|node| node.processors.len()).sum();
        let own = places.iter().filter(|(name, _)| {
            let (_, last) = name.rsplit_once('.').unwrap_or_default();
            last.starts_with('p')
        });
        let own: Vec<_> = own.collect();
        assert_eq!(own.len(), processors, "{file}");
        for (at, (name, a)) in own.iter().enumerate() {
            for (other, b) in &own[..at] {
                let apart = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
                assert!(apart > 0.8, "{file}: {name} and {other}");
            }
        }
        let extent = |axis: usize| {
            let values = own.iter().map(|(_, place)| place[axis]);
            values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min) + 1.5
        };
        let ratio = extent(0).max(extent(1)) / extent(0).min(extent(1));
        assert!(ratio < 4.0, "{file}: {} x {}", extent(0), extent(1));
    }
}

fn boards(name: &str) -> HtxPlan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/clusters")
        .join(name);
    boards_of(&std::fs::read_to_string(path).expect("the example is part of the repository"))
}

fn boards_of(file: &str) -> HtxPlan {
    match hostwire_plan::cluster("boards.toml", file.as_bytes()) {
        Ok(Cluster::Htx(plan)) => plan,
        other => panic!("{other:?}"),
    }
}

/// Every message comes to its host, over as many cables as expected.
fn check_ways(plan: &HtxPlan, hops: impl Fn(usize, usize) -> usize) {
    let hosts = plan.hosts().len();
    for (from, to) in (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to))) {
        let way = plan.route(from, to);
        assert_eq!(way.len(), hops(from, to), "{from} to {to}");
        if let Some(last) = way.last() {
            let end = plan.across(*last).expect("a cable");
            assert_eq!(end.device, Device::Host(to));
        }
    }
}

#[test]
fn two_htx_boards() {
    let plan = boards("htx-pair.toml");
    check_ways(&plan, |from, to| usize::from(from != to));
    assert_eq!(plan.warnings(), []);
    assert_eq!(plan.hosts()[0].ring_slots, 1024);
    assert_eq!(
        plan.text(),
        "HTX boards: 2 hosts, 0 switches, 1 cable\n\
         routing: shortest paths, at most 1 hop, 1.00 on average\n\n\
         cables\n  left.p0 -- right.p0, 25in\n\n\
         0 left: 2GiB, 1 core\n  \
         board: link 8 bit, 200 MHz; user logic 100 MHz; ATOLL ports at 100 MHz; \
         ring of 1024 slots\n  p0 to right\n\n\
         1 right: 2GiB, 1 core\n  \
         board: link 8 bit, 200 MHz; user logic 100 MHz; ATOLL ports at 100 MHz; \
         ring of 1024 slots\n  p0 to left\n"
    );
    let bytes = b"fabric = \"htx\"\n[[node]]\nname = \"a\"\nmemory = \"2GiB\"\n";
    let refused = hostwire_plan::plan("boards.toml", bytes).expect_err("it has no map");
    assert_eq!(refused.diagnostics[0].code, "fabric");
}

#[test]
fn htx_boards_around_a_switch() {
    let plan = boards("htx-switch.toml");
    check_ways(&plan, |from, to| 2 * usize::from(from != to));
    assert_eq!(plan.warnings(), []);
    assert_eq!(plan.switches()[0].routes, [0, 1, 2, 3]);
    assert_eq!(plan.scheme(), htx::Scheme::Minimal);
    assert!(plan.json().expect("JSON").contains("\"fabric\": \"htx\""));
    assert!(
        plan.dot()
            .contains("\"d\" -- \"s\" [taillabel=\"p0\", headlabel=\"p3\"]")
    );
}

/// Each of four hosts uses the end of the others' memory, at addresses one behind the other.
#[test]
fn htx_boards_with_regions() {
    const BYTES: u64 = 128 << 20;
    let plan = boards("htx-regions.toml");
    check_ways(&plan, |from, to| usize::from(from != to));
    assert_eq!(plan.regions().len(), 12);
    for at in 0..4 {
        let mut next = htx::REGION_BASE;
        for region in plan.regions().iter().filter(|region| region.at == at) {
            assert_eq!((region.address, region.bytes), (next, BYTES));
            assert_eq!(region.offset, 3 * BYTES);
            assert_ne!(region.of, at);
            next += BYTES;
        }
        assert_eq!(next, htx::REGION_BASE + 3 * BYTES);
    }
    let line = "b0: 0xa000000000 to 0xa007ffffff is 128MiB of b1, from 0x18000000 on";
    assert!(plan.text().contains(line), "{}", plan.text());
    assert!(plan.json().expect("JSON").contains("\"offset\": 402653184"));
}

/// Regions with a place of their own come first; the others take the highest that is left.
#[test]
fn regions_fill_the_memory_from_the_top() {
    let head = "fabric = \"htx\"\n[[node]]\nname = \"a\"\nmemory = \"64MiB\"\n\
                [[node]]\nname = \"b\"\nmemory = \"64MiB\"\n\
                [[cable]]\nfrom = \"a.p0\"\nto = \"b.p0\"\n";
    let region = |size: &str, more: &str| {
        format!("[[region]]\nof = \"b\"\nat = \"a\"\nsize = \"{size}\"\n{more}")
    };
    let file = [
        head.to_owned(),
        region("8MiB", ""),
        region("32MiB", ""),
        region("16MiB", "offset = \"40MiB\"\n"),
        region("4MiB", ""),
    ];
    let plan = boards_of(&file.concat());
    let offsets: Vec<u64> = plan.regions().iter().map(|r| r.offset >> 20).collect();
    assert_eq!(offsets, [56, 8, 40, 4]);
    let addresses = plan
        .regions()
        .iter()
        .map(|r| (r.address - htx::REGION_BASE) >> 20);
    assert_eq!(addresses.collect::<Vec<_>>(), [0, 8, 40, 56]);
}

/// The paper's fully connected network of seven; and a ring, on which shortest paths can deadlock.
#[test]
fn htx_boards_without_a_switch() {
    let node = |n: usize| format!("[[node]]\nname = \"n{n}\"\nmemory = \"2GiB\"\n");
    let cable = |(a, p): (usize, usize), (b, q): (usize, usize)| {
        format!("[[cable]]\nfrom = \"n{a}.p{p}\"\nto = \"n{b}.p{q}\"\n")
    };
    let mut full = "fabric = \"htx\"\n[board]\nport = \"sfp\"\n".to_owned();
    full.extend((0..7).map(node));
    for (a, b) in (0..7).flat_map(|a| (a + 1..7).map(move |b| (a, b))) {
        full += &cable((a, b - 1), (b, a));
    }
    check_ways(&boards_of(&full), |from, to| usize::from(from != to));
    let mut ring = "fabric = \"htx\"\n".to_owned();
    ring.extend((0..6).map(node));
    ring.extend((0..6).map(|n| cable((n, 0), ((n + 1) % 6, 1))));
    let plan = boards_of(&ring);
    assert_eq!(plan.scheme(), htx::Scheme::Tree);
    // Without the cable between 3 and 4 or 2 and 3, it is a line.
    assert_eq!(plan.warnings().len(), 1);
    for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))) {
        assert_eq!(plan.route(from, to).is_empty(), from == to);
    }
}
