use proptest::prelude::*;

use super::*;

fn host(kernel: &str, namespace: &str, name: &str) -> Host {
    Host {
        kernel: kernel.into(),
        namespace: namespace.into(),
        name: name.into(),
    }
}

#[test]
fn one_network_namespace_of_one_kernel_is_a_node_whatever_it_is_called() {
    let nodes = Nodes::of(&[
        host("k1", "4:1", "n1"),
        host("k1", "4:1", "other"),
        host("k1", "4:2", "n1"),
        host("k2", "4:1", "n1"),
        host("k1", "4:1", "n1"),
    ]);
    let pes: Vec<_> = nodes.nodes().iter().map(|node| node.pes.clone()).collect();
    assert_eq!(pes, [vec![0, 1, 4], vec![2], vec![3]]);
    assert!(nodes.share_memory(0, 4) && !nodes.share_memory(0, 2));
    assert!(!nodes.share_memory(7, 7));
    assert!(!nodes.is_one_kernel());
    let first: Vec<_> = nodes.nodes().iter().map(Node::first_pe).collect();
    assert_eq!(first, [0, 2, 3]);
    assert_eq!(
        nodes.to_string(),
        "PEs 0-1, 4 on n1; PE 2 on n1; PE 3 on n1"
    );
}

#[test]
fn containers_of_one_machine_are_told_from_machines() {
    let containers = [host("k", "4:1", "a"), host("k", "4:2", "b")];
    assert!(Nodes::of(&containers).is_one_kernel());
    let machines = [host("k", "4:1", "a"), host("l", "4:1", "b")];
    assert!(!Nodes::of(&machines).is_one_kernel());
}

#[test]
fn without_a_boot_id_the_name_has_to_do() {
    let unknown = [
        host("", "4:1", "a"),
        host("", "4:1", "a"),
        host("", "4:1", "b"),
    ];
    let nodes = Nodes::of(&unknown);
    assert!(nodes.share_memory(0, 1) && !nodes.share_memory(0, 2));
    assert!(!nodes.is_one_kernel());
}

#[test]
fn many_hosts_are_not_all_named() {
    let hosts: Vec<_> = (0..12)
        .map(|n| host(&n.to_string(), "4:1", &format!("n{n}")))
        .collect();
    let text = Nodes::of(&hosts).to_string();
    assert!(text.starts_with("PE 0 on n0; PE 1 on n1; "), "{text}");
    assert!(text.ends_with("PE 7 on n7; and 4 more"), "{text}");
}

#[test]
fn a_literal_table() {
    let nodes = Nodes::of(&[
        host("k1", "4:1", "a"),
        host("k1", "4:1", "a"),
        host("k2", "4:1", "bc"),
    ]);
    let table = b"hwn\x01\x00\x02\0\0\0\x01a\x02bc\x02\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0";
    assert_eq!(nodes.emit(), table);
    assert_eq!(Nodes::parse(table, 3), Ok(nodes));
}

#[test]
fn tables_that_contradict_themselves_are_refused() {
    let problem = |table: &[u8], pes| match Nodes::parse(table, pes) {
        Err(NodesError::Table { problem, .. }) => problem,
        other => panic!("{other:?}"),
    };
    assert_eq!(problem(b"", 1), "its beginning is unknown");
    assert_eq!(problem(b"hwn\x02", 1), "its beginning is unknown");
    assert_eq!(problem(b"hwn\x01\0", 1), "it is cut off");
    assert_eq!(problem(b"hwn\x01\0\0\0\0\0", 1), "its number of hosts");
    assert_eq!(problem(b"hwn\x01\0\x02\0\0\0", 1), "its number of hosts");
    assert_eq!(problem(b"hwn\x01\0\x01\0\0\0\x05abc", 1), "it is cut off");
    let one = |run: u8, node: u8, more: &[u8]| {
        let mut table = b"hwn\x01\0\x01\0\0\0\x01a".to_vec();
        table.extend([run, 0, 0, 0, node, 0, 0, 0]);
        table.extend(more);
        table
    };
    assert_eq!(problem(&one(0, 0, b""), 1), "a number of PEs");
    assert_eq!(problem(&one(2, 0, b""), 1), "a number of PEs");
    assert_eq!(problem(&one(1, 1, b""), 1), "a number of a host");
    assert_eq!(problem(&one(1, 0, b"x"), 1), "not as many PEs as it says");
    assert_eq!(
        problem(b"hwn\x01\0\x02\0\0\0\x01a\x01b\x02\0\0\0\0\0\0\0", 2),
        "not as many PEs as it says"
    );
}

#[test]
fn what_a_pe_says_of_its_host_is_checked() {
    let here = Host::here();
    assert!(!here.name.is_empty() && !here.kernel.is_empty());
    assert_eq!(Host::parse(0, &here.emit()), Ok(here));
    for bad in [&b""[..], b"a\nb", b"a\nb\nc\nd", &[b'x'; 400]] {
        let error = Host::parse(3, bad).unwrap_err();
        assert!(matches!(error, NodesError::Host { pe: 3, .. }), "{error}");
    }
    assert_eq!(Host::parse(0, b"k\n\n\x1b[1m").unwrap().name, "?[1m");
    assert_eq!(
        Host::parse(0, b"k\nn\n").unwrap().name,
        "a host without a name"
    );
}

proptest! {
    #[test]
    fn tables_come_back(of in proptest::collection::vec(0u8..6, 1..40)) {
        let hosts: Vec<_> = of.iter().map(|n| host(&n.to_string(), "4:1", &format!("n{n}"))).collect();
        let nodes = Nodes::of(&hosts);
        for (a, host) in (0..).zip(&of) {
            for (b, other) in (0..).zip(&of) {
                prop_assert_eq!(nodes.share_memory(a, b), host == other);
            }
        }
        prop_assert_eq!(Nodes::parse(&nodes.emit(), of.len() as u32), Ok(nodes));
    }

    #[test]
    fn no_bytes_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..80),
        magic in any::<bool>(),
        pes in any::<u32>(),
    ) {
        if magic {
            bytes.splice(0..0, *b"hwn\x01\0\x01\0\0\0");
        }
        let _ = Nodes::parse(&bytes, pes);
        let _ = Host::parse(pes, &bytes);
    }
}
