//! The memory of the protocol state of one host, counted by the allocator of this
//! process. (`hostwire-link` tests the sizes that the structures report.)

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hostwire_frames::{AdapterMemory, FrameNumbers};
use hostwire_link::seal::{End, JobKey, Life, Seals};
use hostwire_link::{Config, Endpoint, Identity, LinkId, Node, Ns};
use hostwire_transport::fork_guard::{ForkGuard, ProcessWords};

/// The system's allocator, which counts the bytes that one agent has in use.
struct Counting;

static IN_USE_BYTES: AtomicUsize = AtomicUsize::new(0);
/// Whether that agent is at work.
static COUNTS: AtomicBool = AtomicBool::new(false);

// SAFETY: every call goes to the system's allocator as it came; counting touches no memory
// but its own word.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTS.load(Ordering::Relaxed) {
            IN_USE_BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        }
        // SAFETY: the caller's layout, as it came.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if COUNTS.load(Ordering::Relaxed) {
            IN_USE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        }
        // SAFETY: a block of `alloc` above, which is the system's, with its layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Frames in flight to each peer: the maximum.
const FRAMES: usize = 128;
const NOW: Ns = Ns(2);

/// One end of links with its keys.
struct Agent {
    endpoint: Endpoint,
    links: Vec<LinkId>,
    seals: Seals<FrameNumbers>,
    /// Whether its memory is counted.
    counts: bool,
}

fn counted<R>(counts: bool, work: impl FnOnce() -> R) -> R {
    COUNTS.store(counts, Ordering::Relaxed);
    let result = work();
    COUNTS.store(false, Ordering::Relaxed);
    result
}

impl Agent {
    fn new(node: u32, peers: std::ops::Range<u32>, last: u32) -> Self {
        let default = Config::default();
        // As in the transport.
        let config = Config {
            buffers: [20 * default.frames_in_flight_max, 256, 256],
            ..default
        };
        let identity = Identity {
            node: Node(node),
            job: 1,
            incarnation: 1,
        };
        let mut endpoint = Endpoint::new(config, identity, node.into()).unwrap();
        let links = peers.map(|peer| endpoint.link(Node(peer)).unwrap());
        let links: Vec<LinkId> = links.collect();
        for link in &links {
            endpoint.open(Ns(1), *link).unwrap();
        }
        let own = End {
            node: Node(node),
            life: life(node),
        };
        let others = (0..=last).map(|peer| (peer != node).then(|| life(peer)));
        let fork_guard = ForkGuard::new(node).unwrap();
        let numbers =
            FrameNumbers::new(fork_guard, ProcessWords::new(last as usize + 1).unwrap()).unwrap();
        let seals = Seals::new(&JobKey::new([7; 32]), own, others, numbers);
        Self {
            endpoint,
            links,
            seals,
            counts: node == 0,
        }
    }

    /// The next frame, sealed, and its receiver.
    fn send(&mut self, sealed: &mut [u8]) -> Option<(Node, usize)> {
        counted(self.counts, || {
            let transmit = self.endpoint.poll_transmit(NOW)?;
            let peer = transmit.peer;
            let len = self.seals.seal(peer, transmit.frame, sealed).unwrap();
            Some((peer, len))
        })
    }

    fn receive(&mut self, sealed: &mut [u8]) {
        counted(self.counts, || {
            let (_, frame) = self.seals.open(sealed).unwrap();
            if let Ok(Some(delivery)) = self.endpoint.receive(NOW, frame) {
                let filled = delivery.filled();
                self.endpoint.release(NOW, delivery.link, filled).unwrap();
            }
        });
    }

    /// Fills every queue, and every link with frames that no peer acknowledges.
    fn fill(&mut self) {
        counted(self.counts, || {
            for link in &self.links {
                for line in 0.. {
                    let put = self.endpoint.put(*link, line * 64, &[1; 64]);
                    if put.is_err() {
                        break;
                    }
                    self.endpoint.flush(*link);
                    while self.endpoint.poll_transmit(NOW).is_some() {}
                }
            }
        });
    }
}

fn life(node: u32) -> Life {
    Life([node as u8; 16])
}

/// Everything that any of them has to send arrives.
fn exchange(hub: &mut Agent, peers: &mut [Agent]) {
    let mut sealed = [0; 2048];
    for _ in 0..4 {
        while let Some((peer, len)) = hub.send(&mut sealed) {
            peers[peer.0 as usize - 1].receive(&mut sealed[..len]);
        }
        for peer in &mut *peers {
            while let Some((_, len)) = peer.send(&mut sealed) {
                hub.receive(&mut sealed[..len]);
            }
        }
    }
}

/// Many short frames to each receiver, so that slow start lets more of them go.
fn stream(sender: &mut Agent, receivers: &mut [Agent]) {
    let mut sealed = [0; 2048];
    for at in 0..sender.links.len() {
        let link = sender.links[at];
        for _ in 0..FRAMES {
            let _ = counted(sender.counts, || sender.endpoint.put(link, 0, &[1; 64]));
            sender.endpoint.flush(link);
            while let Some((peer, len)) = sender.send(&mut sealed) {
                let receiver = (peer.0 as usize).saturating_sub(1);
                receivers[receiver].receive(&mut sealed[..len]);
            }
        }
    }
}

/// The most bytes that a host with so many peers needs while it receives, and then while it sends.
fn worst_case(peers_count: u32) -> [usize; 2] {
    let in_use = || IN_USE_BYTES.load(Ordering::Relaxed);
    let before = in_use();
    let peers = (1..=peers_count).map(|peer| Agent::new(peer, 0..1, peers_count));
    let mut peers: Vec<Agent> = peers.collect();
    let mut hub = counted(true, || Agent::new(0, 1..peers_count + 1, peers_count));
    exchange(&mut hub, &mut peers);
    for link in &hub.links {
        assert_eq!(hub.endpoint.is_open(*link), Ok(true));
    }

    for _ in 0..6 {
        for peer in &mut peers {
            stream(peer, std::slice::from_mut(&mut hub));
        }
        exchange(&mut hub, &mut peers);
    }

    // Receiving keeps nothing: every packet is delivered or dropped.
    for peer in &mut peers {
        peer.fill();
        assert_eq!(peer.endpoint.frames_kept(peer.links[0]), FRAMES);
    }
    exchange(&mut hub, &mut peers);
    let receiving = in_use() - before;

    for _ in 0..6 {
        stream(&mut hub, &mut peers);
        exchange(&mut hub, &mut peers);
    }
    hub.fill();
    for link in &hub.links {
        assert_eq!(hub.endpoint.frames_kept(*link), FRAMES);
    }
    let sending = in_use() - before;
    // Most of it is the size that the endpoint reports; the rest are keys.
    let keys = peers_count as usize * 6_000;
    let said = hub.endpoint.memory_bytes();
    assert!(
        said <= sending && sending - said < keys,
        "{said} of {sending}"
    );
    counted(true, || drop(hub));
    [receiving, sending]
}

/// One test, so that no other code allocates at the same time.
#[test]
fn a_host_needs_little_memory_for_its_links() {
    let [receiving, sending] = worst_case(32);
    assert!(receiving < 2_000_000, "{receiving}");
    assert!(sending < 8_000_000, "{sending}");

    // 64 PEs on each of 64 hosts: one endpoint, and the memory that its PEs share with the
    // adapter.
    let [receiving, sending] = worst_case(63);
    let shared = AdapterMemory::bytes(64 * 64, 64, 64);
    assert!(
        receiving.max(sending) + shared < 64_000_000,
        "{receiving}, {sending}, {shared}"
    );
}
