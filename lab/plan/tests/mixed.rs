//! Islands of sockets joined by HTX boards, PEACH2 chips and HTEA adapters.

mod common;

use common::check_delivery;
use hostwire_plan::{AdapterKind, AdapterPlan, Plan, Scheme, report};

const MIXED: &str = include_str!("../../../examples/clusters/mixed.toml");
const SEVERAL: &str = include_str!("../../../examples/clusters/several.toml");

fn planned(file: &str) -> Plan {
    let plan = hostwire_plan::plan("mixed.toml", file.as_bytes());
    plan.unwrap_or_else(|rejected| panic!("{rejected}"))
}

/// Each pair of islands has a network of its own.
#[test]
fn three_kinds_of_network_join_three_islands() {
    let plan = planned(MIXED);
    check_delivery(&plan);
    let names = |adapter: &AdapterPlan| {
        let targets = adapter.targets.iter();
        let targets = targets.map(|(range, to)| {
            let owner = plan.owner_of(range.start).and_then(|node| plan.node(node));
            let owner = owner.map_or("", |node| &node.name);
            let gib = range.bytes >> 30;
            format!(
                "{gib} GiB of {owner} {}",
                plan.port_name(plan.adapters()[*to].port)
            )
        });
        let port = plan.port_name(adapter.port);
        (adapter.kind, port, targets.collect::<Vec<_>>())
    };
    let found: Vec<_> = plan.adapters().iter().map(names).collect();
    let expected = [
        (AdapterKind::Htea, "b0.l3", "4 GiB of c0 c0.l3"),
        (AdapterKind::Htea, "c0.l3", "8 GiB of b0 b0.l3"),
        (AdapterKind::Htx, "a0.l2", "8 GiB of b0 b0.l2"),
        (AdapterKind::Htx, "b0.l2", "8 GiB of a0 a0.l2"),
        (AdapterKind::Peach2, "a0.l3", "4 GiB of c0 c0.l2"),
        (AdapterKind::Peach2, "c0.l2", "8 GiB of a0 a0.l3"),
    ];
    let expected = expected.map(|(kind, port, to)| (kind, port.to_owned(), vec![to.to_owned()]));
    assert_eq!(found, expected);
    // From a1 to b1: a cable, the boards, a cable.
    assert_eq!(plan.hop_statistics().hops_max, 3);
    // A board's link is slower than a cable.
    let a0 = plan.node_by_name("a0").expect("in the file");
    let links = a0.processors[0].links.iter();
    let rates: Vec<_> = links
        .map(|link| (link.width_bits, link.frequency_mhz))
        .collect();
    assert_eq!(
        rates,
        [
            (None, None),
            (Some(16), Some(800)),
            (Some(8), Some(200)),
            (Some(16), Some(2600))
        ]
    );
    // Registers of the chip of a0: east leads to c, north to a.
    let gib = |count: u64| count << 30;
    let values: Vec<u64> = plan.chips()[0].registers.iter().map(|w| w.value).collect();
    let last = |end: u64| gib(end) - (16 << 20);
    let mask = !((16 << 20) - 1);
    let none = [mask, u64::MAX, 0];
    let [a, c] = ["a0", "c0"].map(|name| plan.node_by_name(name).expect("in the file"));
    assert_eq!((a.range.start.0, c.range.start.0), (gib(4), gib(20)));
    let expected = [
        [mask, gib(20), last(24)],
        none,
        none,
        [mask, gib(4), last(12)],
    ];
    assert_eq!(values, expected.concat());
    let text = report::text(&plan, report::TextOptions::new(false));
    for line in [
        "  a0.l2  HTX board\n",
        "  a0.l2  board\n",
        "  a0.l3  PEACH2 chip below a bridge\n",
        "  a0.board.p0 -- b0.board.p0",
        "  a0.chip.east -- c0.chip.west\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let dot = report::dot(&plan);
    assert!(dot.contains("\"boards 1\" [label=\"HTX boards\""), "{dot}");
    let json = report::json(&plan, report::JsonOptions::new(false)).expect("values");
    assert!(json.contains("\"kind\": \"peach2\""), "{json}");
}

/// Nodes `names`, each with these adapters and no cables between links.
fn islands(nodes: &[(&str, &str)], cables: &[(&str, &str)]) -> String {
    let node = |(name, adapters): &(&str, &str)| {
        format!("[[node]]\nname = \"{name}\"\nmemory = \"4GiB\"\n{adapters}\n")
    };
    let cable =
        |(from, to): &(&str, &str)| format!("[[cable]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    let nodes: String = nodes.iter().map(node).collect();
    nodes + &cables.iter().map(cable).collect::<String>()
}

/// Over Ethernet to the island in the middle and over chips to the last one, although the file names
/// them in another order: a chip has one range of addresses behind a port.
#[test]
fn a_route_crosses_two_kinds_of_network() {
    let nodes = [
        ("mid", "adapter = true\nchip = true"),
        ("x", "adapter = true"),
        ("y", "chip = true"),
    ];
    let file = islands(&nodes, &[("mid.chip.east", "y.chip.west")]);
    let plan = planned(&file);
    check_delivery(&plan);
    assert_eq!(plan.hop_statistics().hops_max, 2);
    let order: Vec<&str> = plan.nodes().iter().map(|node| node.name.as_str()).collect();
    assert_eq!(order, ["mid", "x", "y"], "y is behind mid and x");
}

/// Networks in a ring of islands: shortest paths would wait for each other, a tree does not.
#[test]
fn a_ring_of_networks_becomes_a_tree() {
    let names = ["a", "b", "c", "d", "e"];
    let nodes = names.map(|name| (name, "board = true"));
    let file = islands(&nodes, &[]);
    let mut file = file.replace("board = true", "board = true\nchip = true\nlinks = 4");
    for at in 0..5 {
        let (from, to) = (names[at], names[(at + 1) % 5]);
        // Odd places are joined by chips.
        let ends = match at % 2 {
            0 => [format!("{from}.board.p0"), format!("{to}.board.p1")],
            _ => [format!("{from}.chip.east"), format!("{to}.chip.west")],
        };
        file += &format!("[[cable]]\nfrom = \"{}\"\nto = \"{}\"\n", ends[0], ends[1]);
    }
    // b and c, d and e have chips that are joined; a has none that is.
    file = file.replacen("board = true\nchip = true", "board = true", 1);
    let plan = planned(&file);
    check_delivery(&plan);
}

/// Targets of each adapter, by the names in the file: `hub.board1 -> b1.board: b1`.
fn ways(plan: &Plan) -> Vec<String> {
    let name = |adapter: &AdapterPlan| {
        let node = plan.node(adapter.port.processor.node).expect("planned");
        format!("{}.{}", node.name, adapter.kind.name(adapter.index))
    };
    let mut ways = Vec::new();
    for adapter in plan.adapters() {
        for (range, to) in &adapter.targets {
            let parts = plan.nodes().iter().flat_map(|node| {
                let processors = node.processors.iter();
                processors.map(move |processor| (node, processor))
            });
            let inside = parts.filter(|(_, processor)| range.contains(processor.memory.start));
            let mut owners: Vec<String> = Vec::new();
            for (node, processor) in inside {
                owners.push(match node.processors.len() {
                    1 => node.name.clone(),
                    _ => format!("{}.p{}", node.name, processor.id.index),
                });
            }
            let (from, to) = (name(adapter), name(&plan.adapters()[*to]));
            ways.push(format!("{from} -> {to}: {}", owners.join(" ")));
        }
    }
    ways
}

/// Two devices of each kind in one node: each island is reached over its own, and what comes over Ethernet
/// comes in near its processor.
#[test]
fn a_node_has_several_devices_of_a_kind() {
    let plan = planned(SEVERAL);
    assert_eq!(plan.warnings(), []);
    check_delivery(&plan);
    let ways = ways(&plan);
    for way in [
        "hub.board -> b0.board: b0",
        "hub.board1 -> b1.board: b1",
        "hub.chip -> c0.chip: c0",
        "hub.chip1 -> c1.chip: c1",
        "hub.adapter -> e.adapter: e",
    ] {
        assert!(ways.iter().any(|found| found == way), "{way}: {ways:#?}");
    }
    // The adapters are on processors 2 and 3; 0 is beside 2, and 1 beside 3.
    let to_hub: Vec<&String> = ways
        .iter()
        .filter(|way| way.starts_with("e.adapter -> hub"))
        .collect();
    let expected = [
        "e.adapter -> hub.adapter: hub.p0",
        "e.adapter -> hub.adapter1: hub.p1",
        "e.adapter -> hub.adapter: hub.p2",
        "e.adapter -> hub.adapter1: hub.p3",
    ];
    for way in expected {
        assert!(
            to_hub.iter().any(|found| found.starts_with(way)),
            "{way}: {to_hub:#?}"
        );
    }
    let text = report::text(&plan, report::TextOptions::new(false));
    for line in [
        "  hub.p1.l2  board1\n",
        "  hub.p2.l2  chip1\n",
        "  hub.p3.l2  adapter1\n",
        "  hub.board1.p0 -- b1.board.p0",
        "  hub.chip1.east -- c1.chip.west\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// Boards in a row whose ends are in one node: each end sends to what is nearer, and they share what is in
/// the middle.
#[test]
fn the_nearer_board_of_a_node_sends() {
    let nodes = [
        ("hub", "board = [\"l1\", \"l2\"]"),
        ("a", "board = true"),
        ("b", "board = true"),
        ("c", "board = true"),
    ];
    let cables = [
        ("hub.board.p0", "a.board.p0"),
        ("a.board.p1", "b.board.p0"),
        ("b.board.p1", "c.board.p0"),
        ("c.board.p1", "hub.board1.p0"),
    ];
    let plan = planned(&islands(&nodes, &cables));
    check_delivery(&plan);
    let ways = ways(&plan);
    let of = |board: &str, owner: &str| {
        ways.iter().any(|way| {
            let mut sides = way.split(": ");
            let from = sides
                .next()
                .is_some_and(|from| from.starts_with(&format!("{board} ->")));
            from && sides
                .next()
                .is_some_and(|to| to.split(' ').any(|to| to == owner))
        })
    };
    assert!(of("hub.board", "a") && of("hub.board1", "c"), "{ways:#?}");
    assert!(of("hub.board", "b") != of("hub.board1", "b"), "{ways:#?}");
}

/// Chips in a row whose ends are on two processors of one node: what comes in by one and what goes out by the
/// other would wait for each other over the coherent link, so one does all work.
#[test]
fn one_chip_of_a_node_works_where_two_could_deadlock() {
    let nodes = [("a", "chip = true"), ("b", "chip = true")];
    let cables = [
        ("hub.chip.east", "a.chip.west"),
        ("a.chip.east", "b.chip.west"),
        ("b.chip.east", "hub.chip1.west"),
    ];
    let hub = "[[supernode]]\nname = \"hub\"\nmemory = \"4GiB\"\nprocessors = 2\n\
               chip = [\"p0.l2\", \"p1.l2\"]\n";
    let plan = planned(&(hub.to_owned() + &islands(&nodes, &cables)));
    check_delivery(&plan);
    let ways = ways(&plan);
    for way in [
        "hub.chip -> a.chip: a",
        "hub.chip -> b.chip: b",
        "b.chip -> hub.chip: hub.p0 hub.p1",
    ] {
        assert!(
            ways.iter().any(|found| found.starts_with(way)),
            "{way}: {ways:#?}"
        );
    }
}

/// Adapters that are equally near share the destinations.
#[test]
fn adapters_of_a_node_share_what_leaves() {
    let second = "[[node]]\nname = \"e1\"\nmemory = \"2GiB\"\nadapter = true\n";
    let plan = planned(&SEVERAL.replacen("[[cable]]", &format!("{second}[[cable]]"), 1));
    check_delivery(&plan);
    let ways = ways(&plan);
    for way in [
        "hub.adapter -> e.adapter: e",
        "hub.adapter1 -> e1.adapter: e1",
    ] {
        assert!(ways.iter().any(|found| found == way), "{way}: {ways:#?}");
    }
}

/// Regions lie behind the map, one behind the other at each node, and each leaves by its board.
#[test]
fn regions_have_addresses_and_a_way() {
    let nodes = [
        ("hub", "board = [\"l1\", \"l2\"]"),
        ("a", "board = true"),
        ("b", "board = true"),
    ];
    let cables = [
        ("hub.board.p0", "a.board.p0"),
        ("hub.board1.p0", "b.board.p0"),
    ];
    let mut file = islands(&nodes, &cables);
    for (of, at, size) in [
        ("a.board", "hub.board", "64KiB"),
        ("a.board", "hub.board", "1MiB"),
        ("b.board", "hub.board1", "2MiB"),
        ("hub.board", "a.board", "64KiB"),
    ] {
        file += &format!("[[region]]\nof = \"{of}\"\nat = \"{at}\"\nsize = \"{size}\"\n");
    }
    let plan = planned(&file);
    check_delivery(&plan);
    let regions = plan.boards().expect("boards").regions();
    let base = hostwire_plan::htx::REGION_BASE;
    let addresses: Vec<u64> = regions.iter().map(|region| region.address - base).collect();
    assert_eq!(addresses, [0, 64 << 10, (64 << 10) + (1 << 20), 0]);
    // The rings of two peers are at the end of each node.
    let end = (4 << 30) - (64 << 10);
    let offsets: Vec<u64> = regions.iter().map(|region| region.offset).collect();
    let first = end - (64 << 10);
    assert_eq!(offsets, [first, first - (1 << 20), end - (2 << 20), first]);
    let windows = |name: &str| {
        let node = plan.node_by_name(name).expect("in the file");
        let windows = node.windows.iter();
        let windows = windows.filter(|window| window.range.start.0 >= base);
        let windows = windows.map(|window| {
            let from = window.range.start.0 - base;
            (from, window.range.bytes, plan.port_name(window.exit))
        });
        windows.collect::<Vec<_>>()
    };
    let both = (64 << 10) + (1 << 20);
    assert_eq!(
        windows("hub"),
        [
            (0, both, "hub.l1".to_owned()),
            (both, 2 << 20, "hub.l2".to_owned())
        ]
    );
    assert_eq!(windows("a"), [(0, 64 << 10, "a.l1".to_owned())]);
    assert_eq!(windows("b"), []);
    let text = report::text(&plan, report::TextOptions::new(false));
    let line =
        "  a.board: 0xa000000000 to 0xa00000ffff is 64KiB of hub.board, from 0xfffe0000 on\n";
    assert!(text.contains(line), "{text}");
}

/// Routes of the file lead over networks of all kinds. Their way out is a link or the kind of an adapter. They come out
/// at the destination, at the only adapter of its island, or where the route says.
#[test]
fn routes_of_the_file_lead_over_adapters() {
    let rule = |at: &str, by: &str, to: &str| {
        format!("[[route]]\nat = \"{at}\"\nby = \"{by}\"\nto = {to}\n")
    };
    let own = |of_b0: &[String], of_c0: &[String]| {
        let a = [
            rule("a0", "l1", "\"a1\""),
            rule("a0", "board", "[\"b0\", \"b1\"]"),
            rule("a0", "l3", "\"c0\""),
            rule("a1", "l1", "\"*\""),
            rule("b0", "l1", "\"b1\""),
            rule("b1", "l1", "\"*\""),
        ];
        let rules: Vec<String> = [&a, of_b0, of_c0].into_iter().flatten().cloned().collect();
        format!("{MIXED}\n{}", rules.join(""))
    };
    let as_planned = planned(&own(
        &[
            rule("b0", "l2", "[\"a0\", \"a1\"]"),
            rule("b0", "adapter", "\"c0\""),
        ],
        &[
            rule("c0", "chip", "[\"a0\", \"a1\"]"),
            rule("c0", "l3", "\"*\""),
        ],
    ));
    check_delivery(&as_planned);
    assert_eq!(as_planned.scheme(), Scheme::File);
    assert_eq!(as_planned.warnings(), []);
    let of_planner = planned(MIXED);
    let targets = |plan: &Plan| -> Vec<_> {
        let adapters = plan.adapters().iter();
        adapters.map(|adapter| adapter.targets.clone()).collect()
    };
    assert_eq!(targets(&as_planned), targets(&of_planner));
    // Not over Ethernet: from b to c by boards and chips, through a0.
    let through_a0 = planned(&own(
        &[rule("b0", "board", "\"*\"")],
        &[rule("c0", "chip", "\"*\"") + "over = \"a0\"\n"],
    ));
    check_delivery(&through_a0);
    assert_eq!(through_a0.hop_statistics().hops_max, 3);
    let unused = through_a0.warnings().iter();
    let unused: Vec<_> = unused.map(|warning| warning.code).collect();
    assert_eq!(unused, ["unused-adapter"; 2]);
    let first = hostwire_plan::plan("x", own(&[], &[]).as_bytes());
    let rejected = first.expect_err("b0 and c0 lack routes").to_string();
    assert!(rejected.contains("`c0` has no route to a0"), "{rejected}");
}
