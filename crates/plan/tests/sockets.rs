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
