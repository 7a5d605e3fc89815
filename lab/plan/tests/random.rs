//! Random topologies: every plan delivers all addresses.

mod common;

use std::fmt::Write as _;

use common::check_delivery;
use proptest::prelude::*;

/// Plans a file; `None` if the topology does not fit the registers.
fn plan_or_reject(file: &str, allowed: &[&str]) -> Option<hostwire_plan::Plan> {
    match hostwire_plan::plan("random.toml", file.as_bytes()) {
        Ok(plan) => Some(plan),
        Err(rejected) => {
            for finding in &rejected.diagnostics {
                assert!(allowed.contains(&finding.code), "{rejected}\n{file}");
            }
            None
        }
    }
}

/// A connected graph: a random tree and some more edges, at most `degree` per node.
fn graph(nodes: usize, degree: usize, picks: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut used = vec![0; nodes];
    let mut edges = Vec::new();
    let mut join = |a: usize, b: usize, edges: &mut Vec<(usize, usize)>| {
        let free = used[a] < degree && used[b] < degree;
        if a != b && free && !edges.contains(&(a, b)) && !edges.contains(&(b, a)) {
            used[a] += 1;
            used[b] += 1;
            edges.push((a, b));
            return true;
        }
        false
    };
    for node in 1..nodes {
        let wish = picks.get(node).map_or(0, |p| p.0) % node;
        let parent = (0..node)
            .map(|i| (wish + i) % node)
            .find(|&p| join(p, node, &mut edges));
        assert!(
            parent.is_some(),
            "degree 2 or more always leaves a free node"
        );
    }
    for &(a, b) in picks {
        join(a % nodes, b % nodes, &mut edges);
    }
    edges
}

fn cluster(nodes: usize, processors: u8, family: &str, edges: &[(usize, usize)]) -> String {
    let mut file = format!("family = \"{family}\"\n");
    for node in 0..nodes {
        let _ = write!(
            file,
            "[[supernode]]\nname = \"n{node}\"\nmemory = \"1GiB\"\nlinks = 8\nprocessors = {processors}\n"
        );
    }
    let mut used = vec![0u8; nodes];
    let mut port = |node: usize| {
        // Cables in turn over the processors; links from the top, coherent ones take the lowest.
        let n = used[node];
        used[node] += 1;
        format!("n{node}.p{}.l{}", n % processors, 7 - n / processors)
    };
    for &(a, b) in edges {
        let (from, to) = (port(a), port(b));
        let _ = write!(file, "[[cable]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    }
    file
}

/// Kind, processors per node, and how many nodes each way: not too many, since following every
/// address from everywhere takes time with the square of the size. (Filtered here and not by
/// `prop_assume!`, of which a long run allows too few.)
fn small_grids() -> impl Strategy<Value = (&'static str, u8, usize, usize, usize)> {
    let kinds = vec!["ring", "mesh", "torus", "hypercube", "full"];
    (
        prop::sample::select(kinds),
        prop::sample::select(vec![1u8, 1, 2, 4, 8]),
        1usize..7,
        1usize..7,
        1usize..4,
    )
        .prop_filter("too large", |(kind, processors, a, b, c)| {
            let depth = if *kind == "torus" { *c } else { 1 };
            a * b * depth * usize::from(*processors) <= 64
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn listed_cables(
        nodes in 2usize..20,
        degree in 2usize..5,
        processors in prop::sample::select(vec![1u8, 1, 2, 4]),
        picks in prop::collection::vec((0usize..1000, 0usize..1000), 20..60),
        family in prop::sample::select(vec!["10h", "15h"]),
    ) {
        let file = cluster(nodes, processors, family, &graph(nodes, degree, &picks));
        // With degree 4 a tree needs at most 3 children + 2 ranges: it always fits.
        let plan = plan_or_reject(&file, &[]).expect("planned");
        check_delivery(&plan);
    }

    #[test]
    fn islands_with_adapters(
        sizes in prop::collection::vec(1usize..7, 2..5),
        degree in 2usize..4,
        picks in prop::collection::vec((0usize..1000, 0usize..1000), 8..20),
        gates in prop::collection::vec(1usize..3, 5),
        policy in prop::sample::select(vec!["auto", "tree"]),
    ) {
        let mut edges = Vec::new();
        let mut gateways = Vec::new();
        let mut first = 0;
        for (island, &size) in sizes.iter().enumerate() {
            let own = graph(size, degree, &picks);
            edges.extend(own.into_iter().map(|(a, b)| (first + a, first + b)));
            let gates = gates[island].min(size);
            gateways.extend((0..gates).map(|gate| first + (picks[gate].0 + gate) % size));
            first += size;
        }
        let mut file = format!("[routing]\npolicy = \"{policy}\"\n");
        for node in 0..first {
            let adapter = gateways.contains(&node);
            let _ = write!(
                file,
                "[[node]]\nname = \"n{node}\"\nmemory = \"1GiB\"\nlinks = 8\nadapter = {adapter}\n"
            );
        }
        let mut used = vec![0u8; first];
        let mut port = |node: usize| {
            used[node] += 1;
            format!("n{node}.l{}", 8 - used[node])
        };
        for (a, b) in edges {
            let (from, to) = (port(a), port(b));
            let _ = write!(file, "[[cable]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
        }
        if let Some(plan) = plan_or_reject(&file, &["interval-routing"]) {
            check_delivery(&plan);
        }
    }

    /// The planner takes its own choice, given as routes of a file, as it is.
    #[test]
    fn chosen_routes_as_routes_of_the_file(
        nodes in 2usize..12,
        degree in 2usize..5,
        processors in prop::sample::select(vec![1u8, 2]),
        picks in prop::collection::vec((0usize..1000, 0usize..1000), 12..40),
    ) {
        let file = cluster(nodes, processors, "10h", &graph(nodes, degree, &picks));
        let plan = plan_or_reject(&file, &[]).expect("planned");
        // Nodes in the order of their numbers, since a file with routes keeps its own.
        let mut tables: Vec<&str> = file.split("[[").collect();
        let place = |table: &str| {
            let name = table.lines().find_map(|line| line.strip_prefix("name = "));
            let name = name.map(|name| name.trim_matches('"'));
            name.map_or(0, |name| 1 + plan.node_by_name(name).expect("named").id.index())
        };
        let cables = tables.split_off(1 + nodes);
        tables.sort_by_key(|table| place(table));
        tables.extend(cables);
        let mut own = tables.join("[[");
        for node in plan.nodes() {
            for (other, window) in plan.nodes().iter().flat_map(|other| {
                let holds = |window: &&hostwire_plan::Window| window.range.contains(other.range.start);
                node.windows.iter().find(holds).map(|window| (other, window))
            }) {
                let exit = window.exit;
                let _ = write!(
                    own,
                    "[[route]]\nat = \"{}\"\nby = \"p{}.{}\"\nto = \"{}\"\n",
                    node.name, exit.processor.index, exit.link, other.name
                );
            }
        }
        let taken = plan_or_reject(&own, &[]).expect("planned");
        prop_assert_eq!(taken.scheme(), hostwire_plan::Scheme::File);
        prop_assert_eq!(taken.nodes(), plan.nodes());
        prop_assert_eq!(taken.channel_statistics(), plan.channel_statistics());
    }

    /// Any ways out at all: there is no plan, or one that delivers everything and cannot deadlock.
    #[test]
    fn any_routes_of_the_file(
        nodes in 2usize..7,
        picks in prop::collection::vec((0usize..1000, 0usize..1000), 12..20),
        ways in prop::collection::vec(0usize..1000, 49),
    ) {
        let edges = graph(nodes, 3, &picks);
        let mut file = cluster(nodes, 1, "10h", &edges);
        let degree = |node| edges.iter().filter(|(a, b)| *a == node || *b == node).count();
        for (at, to) in (0..nodes).flat_map(|at| (0..nodes).map(move |to| (at, to))) {
            if at != to {
                let link = 7 - ways[at * 7 + to] % degree(at);
                let _ = write!(file, "[[route]]\nat = \"n{at}\"\nby = \"l{link}\"\nto = \"n{to}\"\n");
            }
        }
        if let Some(plan) = plan_or_reject(&file, &["route", "deadlock"]) {
            check_delivery(&plan);
        }
    }

    #[test]
    fn listed_cables_of_high_degree(
        nodes in 2usize..24,
        degree in 5usize..8,
        picks in prop::collection::vec((0usize..1000, 0usize..1000), 24..120),
    ) {
        let file = cluster(nodes, 1, "10h", &graph(nodes, degree, &picks));
        if let Some(plan) = plan_or_reject(&file, &["interval-routing"]) {
            check_delivery(&plan);
        }
    }

    #[test]
    fn grids(
        (kind, processors, a, b, c) in small_grids(),
        links in prop::sample::select(vec![4u8, 8, 8]),
        islands in prop::sample::select(vec![1usize, 1, 1, 2, 3]),
        base in prop::sample::select(vec!["", "[map]\nbase = \"2TiB\"\n"]),
    ) {
        let shape = match kind {
            "mesh" => format!("size = [{a}, {b}]"),
            "torus" if c == 1 => format!("size = [{a}, {b}]"),
            "torus" => format!("size = [{a}, {b}, {c}]"),
            "hypercube" => format!("nodes = {}", 1 << a.min(4)),
            "full" => format!("nodes = {}", a.min(6)),
            _ => format!("nodes = {}", a * b),
        };
        let family = if base.is_empty() { "10h" } else { "15h" };
        let file = format!(
            "family = \"{family}\"\n{base}[topology]\nkind = \"{kind}\"\n{shape}\n\
             islands = {islands}\n[topology.node]\nmemory = \"1GiB\"\nlinks = {links}\n\
             processors = {processors}\nadapter = {}\n", islands > 1
        );
        if let Some(plan) = plan_or_reject(&file, &["interval-routing", "link-degree"]) {
            prop_assert_eq!(plan.adapters().len(), if islands > 1 { islands } else { 0 });
            prop_assert!(plan.nodes().len() == 1 || plan.hop_statistics().hops_max > 0);
            check_delivery(&plan);
            let again = plan_or_reject(&file, &[]);
            prop_assert!(again.as_ref() == Some(&plan));
            let tree = format!("{file}[routing]\npolicy = \"tree\"\n");
            let tree = plan_or_reject(&tree, &["interval-routing"]);
            let [own, of_tree] = [Some(&plan), tree.as_ref()]
                .map(|plan| plan.map_or(f64::MAX, |plan| plan.hop_statistics().hops_mean));
            prop_assert!(islands > 1 || own <= of_tree, "{own} hops, on a tree {of_tree}\n{file}");
        } else {
            // One processor per node always fits, if it has enough links.
            prop_assert!(processors > 1 || links == 4 || islands > 1);
        }
    }

    #[test]
    fn extended_ranges_of_family_10h(
        nodes in 1usize..9,
        gib in prop::sample::select(vec![1u64, 4, 16, 64]),
        kind in prop::sample::select(vec!["ring", "full"]),
    ) {
        let file = format!(
            "[map]\nbase = \"1TiB\"\n[topology]\nkind = \"{kind}\"\nnodes = {nodes}\n\
             [topology.node]\nmemory = \"{gib}GiB\"\nlinks = 8\n"
        );
        if let Some(plan) = plan_or_reject(&file, &["interval-routing"]) {
            check_delivery(&plan);
        }
    }

    #[test]
    fn memory_sizes(
        sizes in prop::collection::vec(1u64..96, 2..7),
    ) {
        let mut file = String::new();
        for (i, size) in sizes.iter().enumerate() {
            let mib = size * 256;
            let _ = write!(file, "[[node]]\nname = \"n{i}\"\nmemory = \"{mib}MiB\"\n");
        }
        for i in 1..sizes.len() {
            let _ = write!(file, "[[cable]]\nfrom = \"n{}.l1\"\nto = \"n{i}.l2\"\n", i - 1);
        }
        if let Some(plan) = plan_or_reject(&file, &["iorr", "mtrr"]) {
            check_delivery(&plan);
        }
    }

    #[test]
    fn peach2_rings(
        kind in prop::sample::select(vec!["ring", "double-ring"]),
        half in 2usize..13,
    ) {
        let file = format!(
            "fabric = \"peach2\"\n[topology]\nkind = \"{kind}\"\nnodes = {}\n\
             [topology.node]\nmemory = \"1GiB\"\n", half * 2
        );
        check_delivery(&plan_or_reject(&file, &[]).expect("planned"));
    }

    /// A ring listed in any order of its nodes is found to be one.
    #[test]
    fn listed_peach2_rings(order in Just((0..9).collect::<Vec<usize>>()).prop_shuffle()) {
        let mut file = "fabric = \"peach2\"\n".to_owned();
        for i in 0..order.len() {
            let _ = write!(file, "[[node]]\nname = \"n{i}\"\nmemory = \"1GiB\"\n");
        }
        for (i, a) in order.iter().enumerate() {
            let b = order[(i + 1) % order.len()];
            let _ = write!(file, "[[cable]]\nfrom = \"n{a}.east\"\nto = \"n{b}.west\"\n");
        }
        check_delivery(&plan_or_reject(&file, &[]).expect("planned"));
    }
}
