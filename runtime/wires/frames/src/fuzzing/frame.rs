//! Input from the network and the kernel: packets for the segment, frames in their places.

use hostwire_address::JobMap;
use hostwire_link::Misuse;
use hostwire_packet::ht::PacketRepr;
use hostwire_transport::fuzzing::kit::{Input, Script, Seeds, Target, named, shown};
use hostwire_transport::memory::Memory;
use hostwire_transport::visibility::Visibility;
use hostwire_transport::window::{FIRST_FREE_OFFSET_BYTES, Window};

use crate::apply::{Bells, apply, store_lines};
use crate::ended_pes::EndedPes;
use crate::own::Own;
use crate::socket::ring::frame_in;
use crate::socket::udp::receiver::frames;

/// Packets of peers, applied to the segment. The result is compared with a copy. A script:
/// steps of one byte, then a packet with its length (if the byte is even), or an address and
/// lines (if it is odd).
pub(super) const APPLY: Target = Target {
    name: "ether_apply",
    check: applied,
    seeds: apply_seeds,
    cost: 1,
};

/// A place of the receive ring of a packet socket.
pub(super) const PLACE: Target = Target {
    name: "packet_place",
    check: |bytes| {
        let mut place = bytes.to_vec();
        if let Some((_, frame)) = frame_in(&mut place) {
            assert!(frame.len() <= bytes.len());
        }
    },
    seeds: || {
        let mut place = vec![0; 200];
        place[4..8].copy_from_slice(&60_u32.to_ne_bytes());
        place[10..12].copy_from_slice(&100_u16.to_ne_bytes());
        let mut beyond = place.clone();
        beyond[4..8].copy_from_slice(&97_u32.to_ne_bytes());
        let mut before = place.clone();
        before[10..12].copy_from_slice(&3_u16.to_ne_bytes());
        named(vec![
            ("frame", place),
            ("beyond", beyond),
            ("before", before),
        ])
    },
    cost: 1,
};

/// Datagrams that the kernel has coalesced. Two bytes with their length as the kernel says,
/// then the message.
pub(super) const RUNS: Target = Target {
    name: "udp_runs",
    check: |bytes| {
        let mut input = Input::new(bytes);
        let len = match input.byte() {
            0 => None,
            1 => Some(usize::MAX),
            _ => Some(usize::from(input.byte())),
        };
        let mut message = input.rest().to_vec();
        let whole = message.clone();
        let runs: Vec<Vec<u8>> = frames(&mut message, len).map(|run| run.to_vec()).collect();
        assert_eq!(runs.concat(), whole);
        assert!(!runs.is_empty() && runs.len() <= whole.len().max(1));
    },
    seeds: || {
        let message = |head: &[u8], len| [head, &vec![7; len]].concat();
        named(vec![
            ("one", message(&[0], 9)),
            ("three", message(&[2, 3], 9)),
            ("short_last", message(&[2, 4], 9)),
            ("of_nothing", message(&[2, 0], 3)),
            ("empty", message(&[2, 3], 0)),
        ])
    },
    cost: 1,
};

const SEGMENT_BYTES: usize = FIRST_FREE_OFFSET_BYTES + 1024;

fn applied(bytes: &[u8]) {
    let window = Window::new(Memory::anonymous(SEGMENT_BYTES), Visibility::Coherent);
    let window = window.expect("room for a doorbell");
    // The first PE: its addresses are offsets.
    let map = JobMap::new(1, SEGMENT_BYTES as u64).expect("a small job");
    let ended = EndedPes::alone(1).expect("a small job");
    let own = Own::new([(0, window.clone())], ended, map).expect("PE 0");
    let mut bells = Bells::default();
    let mut model = Model::new();
    let mut input = Input::new(bytes);
    while !input.is_empty() {
        let step = input.byte();
        if step % 2 == 1 {
            let at = input.number() as usize;
            let lines = input.chunk();
            let stored = store_lines(&own, at as u64, lines, &mut bells);
            assert_eq!(
                lines.is_empty() || stored.is_ok(),
                lines
                    .chunks(64)
                    .enumerate()
                    .all(|(n, line)| { model.put(at.saturating_add(n * 64), line) })
            );
            continue;
        }
        let packet = input.chunk();
        let Ok(packet) = PacketRepr::parse(packet) else {
            continue;
        };
        match apply(&own, &packet, &mut bells) {
            Ok(()) => {
                for (address, run) in hostwire_link::put::runs(&packet) {
                    assert!(model.put(address as usize, run), "outside of the segment");
                }
            }
            Err(why) => {
                shown(why);
                // Runs before one that is outside are stored.
                for (address, run) in hostwire_link::put::runs(&packet) {
                    if why == Misuse::Outside && !model.put(address as usize, run) {
                        break;
                    }
                }
            }
        }
    }
    let mut got = vec![0; SEGMENT_BYTES];
    window.get(0, &mut got).expect("the whole segment");
    assert!(
        got == model.segment,
        "the segment is not as the packets say"
    );
}

/// The memory of a host with one PE.
struct Model {
    segment: Vec<u8>,
    /// The table of ended PEs. Its contents are not checked.
    table: usize,
}

impl Model {
    fn new() -> Self {
        Self {
            segment: vec![0; SEGMENT_BYTES],
            table: SEGMENT_BYTES.next_power_of_two(),
        }
    }

    /// Returns whether the range exists.
    fn put(&mut self, at: usize, run: &[u8]) -> bool {
        let Some(end) = at.checked_add(run.len()) else {
            return false;
        };
        if at >= self.table && at < self.table + EndedPes::bytes(1) {
            return end <= self.table + EndedPes::bytes(1);
        }
        match self.segment.get_mut(at..end) {
            Some(place) => {
                place.copy_from_slice(run);
                true
            }
            None => false,
        }
    }
}

fn apply_seeds() -> Seeds {
    let packets = |address: u64, data: &[u8]| {
        let mut script = Script::new();
        let mut done = 0;
        while let Some(rest) = data.get(done..).filter(|rest| !rest.is_empty()) {
            let mut scratch = [0; hostwire_packet::ht::MASKED_LEN_MAX];
            let at = address + done as u64;
            let first = hostwire_link::put::first_packet(at, rest, &mut scratch);
            let (packet, len) = first.expect("a packet");
            let mut bytes = vec![0; packet.buffer_len()];
            packet.emit(&mut bytes).expect("a buffer of this length");
            script = script.byte(0).chunk(&bytes);
            done += len;
        }
        script
    };
    let data: Vec<u8> = (1..=200).collect();
    let flush = {
        let mut requests = hostwire_link::Requests::new();
        let packet = requests.flush(7).expect("a packet");
        let mut bytes = vec![0; packet.buffer_len()];
        packet.emit(&mut bytes).expect("a buffer of this length");
        Script::new().byte(0).chunk(&bytes)
    };
    named(vec![
        ("line", packets(4096, &data[..64]).done()),
        ("odd", packets(4099, &data[..61]).done()),
        ("long", packets(4160, &data).done()),
        ("end", packets(SEGMENT_BYTES as u64 - 8, &data[..8]).done()),
        (
            "outside",
            packets(SEGMENT_BYTES as u64 - 4, &data[..64]).done(),
        ),
        ("far", packets(1 << 40, &data[..8]).done()),
        (
            "lines",
            Script::new()
                .byte(1)
                .number(4096)
                .chunk(&data[..128])
                .done(),
        ),
        (
            "lines_outside",
            Script::new()
                .byte(1)
                .number(SEGMENT_BYTES as u64 - 64)
                .chunk(&data[..128])
                .done(),
        ),
        ("no_write", flush.done()),
    ])
}
