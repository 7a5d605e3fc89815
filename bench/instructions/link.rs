//! A frame of the protocol between hosts, put together and taken apart, without a socket and in a time of its own.

use std::hint::black_box;

use hostwire_link::{Config, Endpoint, Identity, LinkId, Node, Ns, Transmit};

use crate::pair::{self, COUNTED, Failed, WARM_UP, count};

/// Two endpoints with an open link between them.
struct Ends {
    first: Endpoint,
    second: Endpoint,
    link: LinkId,
    now: Ns,
}

/// A put that leaves at once.
type Send = for<'a> fn(&'a mut Endpoint, LinkId, Ns, &[u8]) -> Option<Transmit<'a>>;
/// A frame is looked at, each of its packets too, and their buffers are given back. The number of packets.
type Receive = fn(&mut Endpoint, Ns, &[u8]) -> Option<usize>;

/// Not the same code twice: see `rows`.
macro_rules! rows {
    ($($send:ident, $receive:ident, $bytes:literal;)*) => {
        $(#[inline(never)]
        fn $send<'a>(
            from: &'a mut Endpoint,
            link: LinkId,
            now: Ns,
            bytes: &[u8],
        ) -> Option<Transmit<'a>> {
            from.put(link, $bytes, bytes).ok()?;
            from.flush(link);
            from.poll_transmit(now)
        }

        #[inline(never)]
        fn $receive(to: &mut Endpoint, now: Ns, frame: &[u8]) -> Option<usize> {
            let delivery = to.receive(now, frame).ok()??;
            let mut packets = $bytes;
            for packet in delivery.packets.clone() {
                black_box(packet);
                packets += 1;
            }
            to.release(now, delivery.link, delivery.filled()).ok()?;
            Some(packets - $bytes)
        })*
    };
}

rows! {
    row_frame_send_64, row_frame_receive_64, 64;
    row_frame_send_1024, row_frame_receive_1024, 1024;
}

/// Does all of them.
pub fn rows() -> pair::Result {
    let (first, link) = endpoint(1, 2)?;
    let (second, _) = endpoint(2, 1)?;
    let mut ends = Ends {
        first,
        second,
        link,
        now: Ns(1),
    };
    ends.settle();
    ends.frames(64, row_frame_send_64, row_frame_receive_64)?;
    ends.frames(1024, row_frame_send_1024, row_frame_receive_1024)
}

fn endpoint(node: u32, peer: u32) -> Result<(Endpoint, LinkId), Failed> {
    let identity = Identity {
        node: Node(node),
        job: 1,
        incarnation: 1,
    };
    let config = Config {
        frame_len_max: 1500,
        ..Config::default()
    };
    let mut endpoint = Endpoint::new(config, identity, node.into())?;
    let link = endpoint.link(Node(peer))?;
    endpoint.open(Ns(1), link)?;
    Ok((endpoint, link))
}

impl Ends {
    fn frames(&mut self, bytes: usize, send: Send, receive: Receive) -> pair::Result {
        let payload = vec![7; bytes];
        let mut frame = Vec::new();
        for turn in 0..WARM_UP + COUNTED {
            let counts = turn >= WARM_UP;
            self.now = self.now.after(1_000);
            let (link, now) = (self.link, self.now);
            let sent = match counts {
                true => count(|| send(&mut self.first, link, now, &payload)),
                false => send(&mut self.first, link, now, &payload),
            };
            frame.clear();
            frame.extend_from_slice(sent.ok_or("no frame was sent")?.frame);
            let packets = match counts {
                true => count(|| receive(&mut self.second, now, &frame)),
                false => receive(&mut self.second, now, &frame),
            };
            if packets.ok_or("a frame was dropped")? * 64 < bytes {
                return Err("a frame has not all packets".into());
            }
            self.settle();
        }
        Ok(())
    }

    /// Acknowledgements and all else that is left goes to and fro.
    fn settle(&mut self) {
        for _ in 0..16 {
            self.now = self.now.after(1_000);
            let there = pass(self.now, &mut self.first, &mut self.second);
            let back = pass(self.now, &mut self.second, &mut self.first);
            if !there && !back && self.first.is_open(self.link) == Ok(true) {
                break;
            }
        }
    }
}

fn pass(now: Ns, from: &mut Endpoint, to: &mut Endpoint) -> bool {
    let mut came = false;
    while let Some(transmit) = from.poll_transmit(now) {
        came = true;
        if let Ok(Some(delivery)) = to.receive(now, transmit.frame) {
            // What does not fit is counted there, and is no matter here.
            let _ = to.release(now, delivery.link, delivery.filled());
        }
    }
    came
}
