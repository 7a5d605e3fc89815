//! The memory for the state of the protocol.

use hostwire_link::{Config, Endpoint, Event, Identity, LinkId, Node, Ns};

fn endpoint(node: u32, peers: impl Iterator<Item = u32>) -> (Endpoint, Vec<LinkId>) {
    let identity = Identity {
        node: Node(node),
        job: 1,
        incarnation: 1,
    };
    let mut endpoint = Endpoint::new(Config::default(), identity, node.into()).unwrap();
    let links: Vec<_> = peers
        .map(|peer| endpoint.link(Node(peer)).unwrap())
        .collect();
    for &link in &links {
        endpoint.open(Ns(1), link).unwrap();
    }
    (endpoint, links)
}

/// A hub and `peers` leaves with open links.
fn star(peers: u32) -> (Endpoint, Vec<LinkId>, Vec<Endpoint>) {
    let (mut hub, links) = endpoint(0, 1..=peers);
    let mut leaves: Vec<_> = (1..=peers)
        .map(|leaf| endpoint(leaf, std::iter::once(0)).0)
        .collect();
    for _ in 0..4 {
        exchange(Ns(2), &mut hub, &mut leaves);
    }
    let opened = std::iter::from_fn(|| hub.poll_event())
        .filter(|event| matches!(event, Event::Opened { .. }))
        .count();
    assert_eq!(opened, peers as usize);
    (hub, links, leaves)
}

fn deliver(now: Ns, hub: &mut Endpoint, leaves: &mut [Endpoint]) {
    while let Some(transmit) = hub.poll_transmit(now) {
        let leaf = &mut leaves[transmit.peer.0 as usize - 1];
        if let Ok(Some(delivery)) = leaf.receive(now, transmit.frame) {
            leaf.release(now, delivery.link, delivery.filled()).unwrap();
        }
    }
}

fn exchange(now: Ns, hub: &mut Endpoint, leaves: &mut [Endpoint]) {
    deliver(now, hub, leaves);
    for leaf in leaves {
        while let Some(transmit) = leaf.poll_transmit(now) {
            if let Ok(Some(delivery)) = hub.receive(now, transmit.frame) {
                hub.release(now, delivery.link, delivery.filled()).unwrap();
            }
        }
    }
}

#[test]
fn thirty_two_peers_under_8_mb() {
    let (mut hub, links, mut leaves) = star(32);
    // Until slow start lets 128 frames go.
    let mut now = Ns(2);
    for _ in 0..8 {
        for &link in &links {
            for _ in 0..128 {
                let _ = hub.put(link, 0, &[1; 64]);
                hub.flush(link);
                deliver(now, &mut hub, &mut leaves);
            }
        }
        now = Ns(now.0 + 1_000_000);
        for _ in 0..4 {
            hub.on_timeout(now);
            exchange(now, &mut hub, &mut leaves);
        }
    }
    // As much in flight as can be: one packet per frame, and full queues.
    for &link in &links {
        for i in 0.. {
            if hub.put(link, i * 64, &[1; 64]).is_err() {
                break;
            }
            hub.flush(link);
            while hub.poll_transmit(now).is_some() {}
        }
        assert_eq!(hub.frames_kept(link), 128);
    }
    let bytes = hub.memory_bytes();
    assert!(bytes < 8_000_000, "{bytes}");
}

#[test]
fn a_thousand_links_stay_within_the_pool() {
    let (mut hub, links, _) = star(1_000);
    let idle = hub.memory_bytes();
    assert!(idle < 4_000_000, "{idle}");
    for &link in &links {
        for i in 0..200 {
            if hub.put(link, i * 64, &[1; 64]).is_err() {
                break;
            }
            hub.flush(link);
            while hub.poll_transmit(Ns(3)).is_some() {}
        }
        // The last link also gets one frame at least.
        assert!(hub.frames_kept(link) >= 1);
    }
    assert!(hub.frames_kept_total() <= Config::default().pool_frames_max + 1_000);
    let bytes = hub.memory_bytes();
    assert!(bytes < 40_000_000, "{bytes}");
}

/// All buffers exist after the first rounds: nothing more is allocated.
#[test]
fn steady_state_does_not_grow() {
    let (mut hub, links, mut leaves) = star(4);
    let mut held = 0;
    for round in 0..200u64 {
        let now = Ns(round * 1_000_000);
        for &link in &links {
            for i in 0..(300 + round % 7) {
                let _ = hub.put(link, i * 64, &[1; 64]);
            }
            hub.ticket(link);
        }
        hub.on_timeout(now);
        for _ in 0..4 {
            exchange(now, &mut hub, &mut leaves);
        }
        if round == 10 {
            held = hub.memory_bytes();
        }
    }
    assert_eq!(hub.memory_bytes(), held);
    assert!(hub.counters().packets_sent[0] > 200_000);
}

/// What the issue of large jobs allows for each other host.
const SILENT_MAX: usize = 40 << 10;
const BUSY_MAX: usize = 300 << 10;

#[expect(clippy::print_stdout, reason = "its figures are for docs/costs.md")]
#[test]
fn a_busy_link_has_its_memory_only_while_it_is_busy() {
    let config = Config::default();
    for peers in [15, 63, 1_023] {
        let (mut hub, links, mut leaves) = star(peers);
        let each = |hub: &Endpoint| hub.memory_bytes() / peers as usize;
        let silent = each(&hub);
        let mut now = Ns(2);
        for _ in 0..8 {
            for &link in &links {
                for at in 0..200 {
                    let _ = hub.put(link, at * 64, &[1; 64]);
                    hub.flush(link);
                    deliver(now, &mut hub, &mut leaves);
                }
            }
            now = now.after(1_000_000);
            hub.on_timeout(now);
            exchange(now, &mut hub, &mut leaves);
        }
        for &link in &links {
            for at in 0.. {
                if hub.put(link, at * 64, &[1; 64]).is_err() {
                    break;
                }
                hub.flush(link);
                while hub.poll_transmit(now).is_some() {}
            }
        }
        let busy = each(&hub);
        // The frames above are lost, so they are sent again.
        for _ in 0..8 {
            now = now.after(2 * config.keepalive_ns);
            let all = std::iter::once(&mut hub).chain(&mut leaves);
            all.for_each(|end| end.on_timeout(now));
            for _ in 0..300 {
                exchange(now, &mut hub, &mut leaves);
                if links.iter().all(|link| hub.frames_kept(*link) == 0) {
                    break;
                }
                now = now.after(100_000);
                hub.on_timeout(now);
            }
        }
        let again = each(&hub);
        println!("{peers} hosts: {silent} bytes for each when silent, {busy} busy, {again} later");
        assert!(silent <= SILENT_MAX / 8, "{silent}");
        assert!(busy <= BUSY_MAX, "{busy}");
        assert!(again <= SILENT_MAX / 4, "{again}");
    }
}
