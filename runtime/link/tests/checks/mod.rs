//! An endpoint must survive any bytes at any time.
//!
//! Shared by `qa/fuzzing`, which runs them as fuzz targets, and a property test.

use hostwire_link::seal::{self, End, JobKey, Life, Numbers, Seals};
use hostwire_link::{Config, Counters, Endpoint, Identity, LinkId, Node, Ns};
use hostwire_packet::ht::VirtualChannel;
use hostwire_packet::htoe::{Contents, FrameRepr, FrameType, HeaderRepr, seal};

const BUFFERS: [u16; 3] = [8, 4, 4];

struct Pair {
    a: Endpoint,
    b: Endpoint,
    link: LinkId,
    now: Ns,
    /// The last data frame that `a` took from `b`.
    header: HeaderRepr,
}

fn endpoint(node: u32, peer: u32) -> (Endpoint, LinkId) {
    let config = Config {
        buffers: BUFFERS,
        frames_in_flight_max: 8,
        pool_frames_max: 8,
        early_frames_max: 4,
        ..Config::default()
    };
    let identity = Identity {
        node: Node(node),
        job: 0x4a4f_4221,
        incarnation: 16,
    };
    let mut endpoint = Endpoint::new(config, identity, 3).unwrap();
    let link = endpoint.link(Node(peer)).unwrap();
    endpoint.open(Ns(1), link).unwrap();
    (endpoint, link)
}

/// A script. Each step is one byte for what to do, one for the length of its
/// argument, and the argument:
///
/// | step, modulo 8 | what |
/// |---|---|
/// | 0 | the argument is a frame |
/// | 1 | its checksums are put right first |
/// | 2 | so they are, and link, key, number and ack are those of the next frame |
/// | 3 | the argument is the payload of such a frame: NOPs and packets in its first two bytes |
/// | 4 | both ends exchange what they have to say |
/// | 5 | time passes, in units of 100 us; one frame is lost |
/// | 6 | the argument is put |
/// | 7 | open again, finish, or ask for an ack |
pub fn link_receive(bytes: &[u8]) {
    run(bytes);
}

/// As [`link_receive`]; gives the endpoint that got the frames.
pub fn run(bytes: &[u8]) -> Endpoint {
    let (a, link) = endpoint(1, 2);
    let (b, _) = endpoint(2, 1);
    let mut pair = Pair {
        a,
        b,
        link,
        now: Ns(10),
        header: HeaderRepr::data(0, 0, None),
    };
    let mut rest = bytes;
    while let [step, len, tail @ ..] = rest {
        let (argument, tail) = tail.split_at(usize::from(*len).min(tail.len()));
        rest = tail;
        pair.step(step % 8, argument);
        pair.check();
    }
    // Time-outs end every state: nothing loops for ever.
    for _ in 0..64 {
        let Some(at) = pair.a.deadline() else { break };
        pair.now = pair.now.max(at);
        pair.a.on_timeout(pair.now);
        for _ in 0..64 {
            if pair.a.poll_transmit(pair.now).is_none() {
                break;
            }
        }
        pair.check();
    }
    pair.a
}

impl Pair {
    /// A frame whose header is made of these bytes. With `is_expected` the fields that say where it
    /// belongs are right.
    fn give_forged(&mut self, is_expected: bool, argument: &[u8]) {
        let mut bytes = argument.to_vec();
        bytes.resize(bytes.len().max(20), 0);
        let contents = Contents {
            packets: bytes[8],
            nops: bytes[9],
            len: u16::from_be_bytes([bytes[10], bytes[11]]),
        };
        let kind = match bytes[0] & 3 {
            0 => FrameType::Data,
            1 => FrameType::Ack,
            2 => FrameType::Reset,
            _ => FrameType::Close,
        };
        let number = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let header = if is_expected {
            HeaderRepr {
                frame_type: kind,
                nak: bytes[1] & 2 != 0,
                ..self.next_header()
            }
        } else {
            HeaderRepr {
                frame_type: kind,
                virtual_link: number(2),
                sequence: number(4),
                ack: Some(number(6)),
                nak: bytes[1] & 2 != 0,
                syn: bytes[1] & 4 != 0,
                ack_wanted: bytes[1] & 8 != 0,
                marked: bytes[1] & 16 != 0,
                key: number(14),
            }
        };
        bytes.resize(bytes.len() + 64, 0);
        if seal(&header, contents, &mut bytes).is_ok() {
            self.give(&bytes);
        }
    }

    fn step(&mut self, step: u8, argument: &[u8]) {
        match step {
            0 => self.give(argument),
            1 | 2 => self.give_forged(step == 2, argument),
            3 => {
                let [nops, packets, payload @ ..] = argument else {
                    return;
                };
                let mut bytes = vec![0; 16];
                bytes.extend_from_slice(payload);
                bytes.extend_from_slice(&[0; 4]);
                let contents = Contents {
                    nops: *nops,
                    packets: *packets,
                    len: payload.len() as u16,
                };
                if seal(&self.next_header(), contents, &mut bytes).is_ok() {
                    self.give(&bytes);
                }
            }
            4 => self.exchange(),
            5 => {
                let units = argument.first().copied().unwrap_or(1);
                self.now = self.now.after(u64::from(units) * 100_000);
                self.a.on_timeout(self.now);
                self.b.on_timeout(self.now);
                let _ = self.a.poll_transmit(self.now);
            }
            6 => {
                let address = argument.first().copied().unwrap_or(0);
                if self
                    .a
                    .put_alone(self.link, address.into(), argument)
                    .is_some()
                {
                    self.a.has_left(self.now, self.link);
                }
                let _ = self.a.put(self.link, address.into(), argument);
            }
            _ => match argument.first().copied().unwrap_or(0) % 4 {
                0 => self.a.open(self.now, self.link).unwrap(),
                1 => self.a.finish(self.now, self.link),
                2 => self.a.flush(self.link),
                _ => drop(self.a.ticket(self.link)),
            },
        }
    }

    fn next_header(&self) -> HeaderRepr {
        HeaderRepr {
            sequence: self.header.sequence.wrapping_add(1),
            ..self.header
        }
    }

    fn give(&mut self, bytes: &[u8]) {
        self.give_one(bytes);
        while let Some(early) = self.a.take_early(self.link) {
            self.give_one(&early);
        }
    }

    fn give_one(&mut self, bytes: &[u8]) {
        let Ok(Some(delivery)) = self.a.receive(self.now, bytes) else {
            return;
        };
        if let Ok(frame) = FrameRepr::parse(bytes) {
            self.header = *frame.header();
        }
        for packet in delivery.packets.clone() {
            for (_, run) in hostwire_link::put::runs(&packet) {
                assert!(run.len() <= 64);
            }
        }
        self.a
            .release(self.now, delivery.link, delivery.filled())
            .unwrap();
    }

    fn exchange(&mut self) {
        for _ in 0..16 {
            let mut quiet = true;
            // A peer that received nonsense may send some, but only a bounded amount.
            for _ in 0..32 {
                let Some(transmit) = self.b.poll_transmit(self.now) else {
                    break;
                };
                quiet = false;
                let bytes = transmit.frame.to_vec();
                self.give(&bytes);
            }
            for _ in 0..32 {
                let Some(transmit) = self.a.poll_transmit(self.now) else {
                    break;
                };
                quiet = false;
                if let Ok(Some(delivery)) = self.b.receive(self.now, transmit.frame) {
                    self.b
                        .release(self.now, delivery.link, delivery.filled())
                        .unwrap();
                }
            }
            if self.header.key == 0 {
                // The first data frame shows the values that frames to `a` have to
                // carry.
                let link = self.b.links().next().unwrap();
                if self.b.put(link, 0, &[1; 4]).is_ok() {
                    self.b.flush(link);
                    quiet = false;
                }
            }
            if quiet {
                break;
            }
        }
    }

    /// No buffer is lost or made, and memory is bounded.
    fn check(&mut self) {
        let open = self.a.is_open(self.link) == Ok(true);
        for channel in VirtualChannel::ALL {
            let credits = self.a.credits(self.link, channel);
            let sum = credits.granted.command + credits.filled.command + credits.owed.command;
            let buffers = BUFFERS[channel.index()];
            assert_eq!(sum, if open { buffers } else { 0 });
        }
        assert!(self.a.frames_kept_total() <= 9);
        assert!(self.a.memory_bytes() < 1 << 20);
        while let Some(event) = self.a.poll_event() {
            let _ = format!("{event:?}");
        }
    }
}

/// Life of the end that gets the frames.
const LIFE: Life = Life([1; 16]);
const PEER_LIFE: Life = Life([2; 16]);
const NODES: [u32; 2] = [1, 2];

/// In plain memory, because these processes are never copied.
#[derive(Debug, Default)]
struct Counted(u64);

impl Numbers for Counted {
    fn next(&mut self, _: Node) -> Option<u64> {
        self.0 += 1;
        Some(self.0 - 1)
    }

    fn is_copy(&self) -> bool {
        false
    }
}

fn seals(own: usize) -> Seals<Counted> {
    let lives = [LIFE, PEER_LIFE];
    let end = End {
        node: Node(NODES[own]),
        life: lives[own],
    };
    let peer = 1 - own;
    let peers = (0..3).map(|node| (node == NODES[peer]).then_some(lives[peer]));
    Seals::new(&JobKey::new([9; 32]), end, peers, Counted::default())
}

/// A script for the receiver of sealed frames. Each step is one byte for what to do, one
/// for the length of its argument, and the argument:
///
/// | step, modulo 5 | what |
/// |---|---|
/// | 0 | the argument is a frame |
/// | 1 | the argument is sealed by the peer and arrives |
/// | 2 | so it is, but cut to as many bytes as its first byte says |
/// | 3 | so it is, but the byte at its first byte, XOR its second byte, arrives first; then the frame as it was |
/// | 4 | the frame that was opened last arrives again |
pub fn sealed_receive(bytes: &[u8]) {
    run_sealed(bytes);
}

/// As [`sealed_receive`]; gives how many frames were opened, and dropped by cause.
pub fn run_sealed(bytes: &[u8]) -> (u64, Counters) {
    let (mut receiver, mut peer) = (seals(0), seals(1));
    let mut counters = Counters::default();
    let mut opened = 0;
    let mut last = Vec::new();
    let mut rest = bytes;
    while let [step, len, tail @ ..] = rest {
        let (argument, tail) = tail.split_at(usize::from(*len).min(tail.len()));
        rest = tail;
        let mut sealed = vec![0; argument.len() + seal::OVERHEAD];
        let made = peer.seal(Node(NODES[0]), argument, &mut sealed);
        assert_eq!(made, Ok(sealed.len()));
        let mut take = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            match receiver.open(&mut bytes) {
                Ok((node, frame)) => {
                    assert_eq!(node, Node(NODES[1]));
                    opened += 1;
                    Some(frame.to_vec())
                }
                Err(cause) => {
                    counters.drop_frame(cause);
                    None
                }
            }
        };
        let (first, second) = match argument {
            [first, second, ..] => (usize::from(*first), *second),
            _ => (0, 0),
        };
        match step % 5 {
            // A tag of 128 bits cannot be found by trying.
            0 => assert_eq!(take(argument), None),
            1 => {
                assert_eq!(take(&sealed).as_deref(), Some(argument));
                last = sealed;
            }
            2 => {
                let cut = first.min(sealed.len() - 1);
                assert_eq!(take(&sealed[..cut]), None);
            }
            3 => {
                let mut changed = sealed.clone();
                let at = first % changed.len();
                changed[at] ^= second;
                if second != 0 {
                    assert_eq!(take(&changed), None);
                }
                assert_eq!(take(&sealed).as_deref(), Some(argument));
                last = sealed;
            }
            _ => assert_eq!(take(&last), None),
        }
    }
    (opened, counters)
}
