//! Generated nodes with several sockets: their routes and the cables that these use.

mod common;

use common::check_delivery;
use hostwire_plan::{Plan, Scheme};

fn planned(file: &str) -> Plan {
    let plan = hostwire_plan::plan("generated.toml", file.as_bytes());
    plan.unwrap_or_else(|rejected| panic!("{rejected}"))
}

/// A topology of nodes of 1 GiB, planned.
fn generated(shape: &str, processors: u8, links: u8, policy: &str) -> Plan {
    let file = format!(
        "[topology]\n{shape}\n[topology.node]\nmemory = \"1GiB\"\nprocessors = {processors}\n\
         links = {links}\n[routing]\npolicy = \"{policy}\"\n"
    );
    planned(&file)
}

#[test]
fn boards_of_two_sockets_use_the_cables_of_their_torus() {
    let file = include_str!("../../../examples/clusters/torus-two-sockets.toml");
    let plan = planned(file);
    assert_eq!(plan.warnings(), []);
    check_delivery(&plan);
    assert_eq!(plan.scheme(), Scheme::DimensionOrder);
    // Four cables in the same two dimensions, and a coherent link at either end.
    assert_eq!(plan.hop_statistics().hops_max, 4 + 2);
    let used = plan.channel_statistics();
    assert_eq!((used.cables_used, used.cables), (32, 32));
    assert_eq!((used.busiest_routes, used.routes), (48, 32 * 31));
    // 64 directions of cables, and 32 of coherent links.
    assert_eq!(used.channels, 64 + 32);
    for node in plan.nodes() {
        let exits = node.windows.iter().map(|window| window.exit.processor);
        assert!(
            node.windows.len() <= 4 && exits.clone().all(|exit| Some(exit) == exits.clone().next())
        );
    }
}

/// With four links per socket one cable of each board is on the other socket. Its dimension does
/// not wrap around.
#[test]
fn one_cable_on_the_other_socket() {
    let shapes = [
        ("kind = \"torus\"\nsize = [4, 4]", 10, 28, 13),
        ("kind = \"mesh\"\nsize = [8, 8]", 23, 112, 30),
    ];
    for (shape, hops_max, cables, on_a_tree) in shapes {
        let plan = generated(shape, 2, 4, "auto");
        check_delivery(&plan);
        assert_eq!(plan.scheme(), Scheme::DimensionOrder);
        assert_eq!(plan.hop_statistics().hops_max, hops_max);
        assert_eq!(plan.channel_statistics().cables_used, cables);
        let tree = generated(shape, 2, 4, "tree");
        assert!(tree.hop_statistics().hops_mean > plan.hop_statistics().hops_mean);
        assert!(tree.hop_statistics().hops_max <= on_a_tree);
    }
}

#[test]
fn boards_of_many_sockets_in_three_dimensions() {
    for (kind, processors, hops_max, cables) in [
        ("torus", 2, 8, 192),
        ("mesh", 2, 11, 144),
        ("torus", 4, 10, 192),
    ] {
        let shape = format!("kind = \"{kind}\"\nsize = [4, 4, 4]");
        let plan = generated(&shape, processors, 8, "auto");
        assert_eq!(plan.scheme(), Scheme::DimensionOrder);
        assert_eq!(plan.hop_statistics().hops_max, hops_max);
        assert_eq!(plan.channel_statistics().cables_used, cables);
    }
    let plan = generated("kind = \"full\"\nnodes = 4", 2, 4, "auto");
    check_delivery(&plan);
    assert_eq!(
        (plan.scheme(), plan.hop_statistics().hops_max),
        (Scheme::Direct, 3)
    );
}

/// No socket has links for all cables of its board: routes go up to a root and down. Those that nothing
/// uses are cables up on a second processor; the least mean of a spanning tree is that of the plans before.
#[test]
fn boards_whose_cables_are_on_several_sockets_go_up_and_down() {
    let square = "processors = 4\ncoherent = \"square\"\nlinks = 4";
    let ladder = "processors = 8\ncoherent = \"ladder\"\nlinks = 4";
    let torus = "kind = \"torus\"\nsize = [4, 4]";
    for (shape, node, hops_max, hops_mean_max, used, cables) in [
        (torus, square, 13, 5.18, 26, 32),
        ("kind = \"mesh\"\nsize = [4, 4]", square, 13, 5.40, 24, 24),
        ("kind = \"hypercube\"\nnodes = 16", square, 13, 5.18, 26, 32),
        ("kind = \"torus\"\nsize = [3, 5]", square, 12, 5.07, 24, 30),
        ("kind = \"full\"\nnodes = 8", square, 8, 3.88, 13, 28),
        (torus, ladder, 17, 7.40, 26, 32),
    ] {
        let file = |policy: &str| {
            format!(
                "[topology]\n{shape}\n[topology.node]\nmemory = \"1GiB\"\n{node}\n\
                 [routing]\npolicy = \"{policy}\"\n"
            )
        };
        let plan = planned(&file("auto"));
        check_delivery(&plan);
        assert_eq!(plan.scheme(), Scheme::UpDown, "{shape}");
        let hops = plan.hop_statistics();
        assert_eq!(hops.hops_max, hops_max, "{shape}");
        assert!(hops.hops_mean < hops_mean_max, "{shape}: {hops:?}");
        let statistics = plan.channel_statistics();
        let of_all = (statistics.cables_used, statistics.cables);
        assert_eq!(of_all, (used, cables), "{shape}");
        assert_eq!(plan.warnings().len(), usize::from(used < cables), "{shape}");
        // The northbridge of processor 0 has one of its eight ranges for the southbridge.
        assert!(plan.nodes().iter().all(|node| node.windows.len() <= 7));
        let tree = planned(&file("tree"));
        assert!(tree.hop_statistics().hops_mean > hops.hops_mean);
        assert!(tree.channel_statistics().cables_used <= used);
    }
}

/// With links for all cables on one socket, boards of four keep dimension order.
#[test]
fn four_sockets_with_sublinks_go_in_dimension_order() {
    for coherent in ["square", "full"] {
        let file = format!(
            "[topology]\nkind = \"torus\"\nsize = [4, 4]\n[topology.node]\nmemory = \"1GiB\"\n\
             processors = 4\ncoherent = \"{coherent}\"\nlinks = 8\n"
        );
        let plan = planned(&file);
        assert_eq!(plan.scheme(), Scheme::DimensionOrder);
        assert_eq!(plan.channel_statistics().cables_used, 32);
    }
}
