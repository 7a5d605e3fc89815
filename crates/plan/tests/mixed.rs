//! Islands of sockets joined by HTX boards, PEACH2 chips and HTEA adapters.

mod common;

use common::check_delivery;
use hostwire_plan::{AdapterKind, AdapterPlan, Plan, Scheme, report};

const MIXED: &str = include_str!("../../../examples/clusters/mixed.toml");

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

/// Routes of one's own lead over networks of all kinds: by the link or the kind of the adapter, and
/// where they come out is the destination, the only adapter of its island, or as they say.
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
