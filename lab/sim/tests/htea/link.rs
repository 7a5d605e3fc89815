//! The same workload on endpoints of `hostwire-link`, on a network without delay.

use hostwire_link::{Config as LinkConfig, Endpoint, Identity, LinkId, Node, Ns};
use hostwire_packet::ht::VirtualChannel;
use hostwire_sim::models::htea::fast::{Config, Counts, CreditsLeft};

/// Time stands still, so no timer of the engine runs out.
const NOW: Ns = Ns(1);
const LINE: [u8; 64] = [0x5a; 64];

struct Network {
    senders: Vec<(Endpoint, LinkId)>,
    receiver: Endpoint,
    counts: Counts,
}

/// Runs a configuration whose payloads are all full.
pub fn run(config: &Config) -> (Counts, CreditsLeft) {
    let mut network = Network::open(config);
    let payloads = config.packets / config.senders() / config.packets_per_frame;
    for _ in 0..payloads {
        for sender in 0..network.senders.len() {
            for packet in 0..config.packets_per_frame {
                let (endpoint, link) = &mut network.senders[sender];
                // No line follows another, because the paper's adapter has no bursts.
                let put = endpoint.put(*link, packet * 128, &LINE);
                assert_eq!(put, Ok(64));
            }
            network.settle();
        }
    }
    let mut left = CreditsLeft {
        total: config.credits() * config.senders(),
        ..CreditsLeft::default()
    };
    for (endpoint, link) in &network.senders {
        let credits = endpoint.credits(*link, VirtualChannel::Posted);
        left.held += u64::from(credits.has.data);
        network.counts.packets_sent += endpoint.counters().packets_sent[0];
        network.counts.nops_received += endpoint.counters().nops_received;
        network.counts.nop_frames_received += endpoint.counters().frames_received;
    }
    for link in network.receiver.links() {
        let credits = network.receiver.credits(link, VirtualChannel::Posted);
        left.owed += u64::from(credits.owed.data);
    }
    let received = network.receiver.counters();
    network.counts.packets_received = received.packets_received[0];
    network.counts.frames_received = received.frames_received;
    network.counts.nop_frames_sent = received.frames_sent;
    network.counts.nops_sent = received.nops_sent;
    (network.counts, left)
}

impl Network {
    fn open(config: &Config) -> Network {
        let frame_len = 20 + 72 * config.packets_per_frame;
        let nops_len = 20 + 4 * config.nops_per_frame;
        let endpoint = |node: u64, frame_len: u64| {
            let config = LinkConfig {
                frame_len_max: frame_len.max(128) as usize,
                buffers: [config.credits() as u16, 1, 1],
                credit_batch: [config.credit_batch() as u16, 1, 1],
                ..LinkConfig::default()
            };
            let identity = Identity {
                node: Node(node as u32),
                job: 1,
                incarnation: 1,
            };
            Endpoint::new(config, identity, node).unwrap()
        };
        // Both ends take the shorter one: it has to hold a batch of NOPs as well.
        assert!(nops_len <= frame_len.max(128), "{config:?}");
        let mut receiver = endpoint(0, frame_len);
        let senders = (1..=config.senders())
            .map(|node| {
                let link = receiver.link(Node(node as u32)).unwrap();
                receiver.open(NOW, link).unwrap();
                let mut sender = endpoint(node, frame_len);
                let link = sender.link(Node(0)).unwrap();
                sender.open(NOW, link).unwrap();
                (sender, link)
            })
            .collect();
        let mut network = Network {
            senders,
            receiver,
            counts: Counts::default(),
        };
        network.settle();
        for (sender, link) in &network.senders {
            assert_eq!(sender.is_open(*link), Ok(true));
        }
        network.counts = Counts::default();
        network
    }

    /// Carries frames until no endpoint has any.
    fn settle(&mut self) {
        loop {
            let mut moved = false;
            for (sender, _) in &mut self.senders {
                while let Some(frame) = next(sender) {
                    moved = true;
                    self.counts.frames_sent += u64::from(frame.counted);
                    if frame.counted {
                        self.counts.frame_bytes_sent += frame.bytes.len() as u64;
                    }
                    let delivery = self.receiver.receive(NOW, &frame.bytes).unwrap();
                    if let Some(delivery) = delivery {
                        self.counts.packets_delivered += delivery.packets.clone().count() as u64;
                        let (link, filled) = (delivery.link, delivery.filled());
                        self.receiver.release(NOW, link, filled).unwrap();
                    }
                }
            }
            while let Some(frame) = next(&mut self.receiver) {
                moved = true;
                let to = (u64::from(frame.to) - 1) as usize;
                let (sender, _) = &mut self.senders[to];
                sender.receive(NOW, &frame.bytes).unwrap();
            }
            if !moved {
                return;
            }
        }
    }
}

struct Sent {
    bytes: Vec<u8>,
    to: u32,
    /// A numbered frame, sent for the first time: no ack, no reset.
    counted: bool,
}

fn next(endpoint: &mut Endpoint) -> Option<Sent> {
    let before = endpoint.counters().frames_sent;
    let transmit = endpoint.poll_transmit(NOW)?;
    let (bytes, to) = (transmit.frame.to_vec(), transmit.peer.0);
    Some(Sent {
        bytes,
        to,
        counted: endpoint.counters().frames_sent > before,
    })
}
