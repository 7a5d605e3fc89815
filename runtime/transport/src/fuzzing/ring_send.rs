//! The sending end of a ring and of an eager buffer, whose receiver says what it likes.

use super::kit::{Input, Script, Seeds, Target, blames, mark, named};
use super::ring::{CREDIT, EAGER, RING, Ring, SEGMENT_BYTES};
use crate::error::TransportError;
use crate::ring::{FRONT_BYTES, KIND_LIMIT, lines_for};

/// The sender of a ring, whose receiver writes any credits. A script: the size of the ring, from 3 on with an eager buffer, then steps of one
/// byte and arguments.
///
/// | step, modulo 8 | arguments | |
/// |---|---|---|
/// | 0, 1, 2 | kind, length | the sender sends |
/// | 3 | lines | the receiver frees so many more |
/// | 4 | area, lines | and so many of an area of the eager buffer |
/// | 5 | number | it writes this credit, bit 63 for a hold, bit 62 for announcements |
/// | 6 | number | it writes this credit of the eager buffer |
/// | 7 | | it closes the eager buffer, or opens it again |
pub(super) const SEND: Target = Target {
    name: "ring_send",
    check: send,
    seeds: send_seeds,
    cost: 1,
};

/// Of the larger area. The smaller one has a quarter.
const EAGER_BYTES: usize = 4096;
const AREAS: [(usize, usize); 2] = [(0, EAGER_BYTES / 4), (EAGER_BYTES / 4, EAGER_BYTES)];
const LINE: u64 = 64;
/// The bit of a credit that says that the receiver takes no more messages for now, and the one that long ones are to be announced.
const HOLD: u64 = 1 << 63;
const ANNOUNCED: u64 = 1 << 62;
/// Longer messages go through the eager buffer, unless the ring is so small that it takes none of that length.
const LINES_BYTES_MAX: usize = 112;
/// The lines in the credit of an area. The bit above says how bytes are to be copied.
const LINES_MASK: u32 = u32::MAX >> 1;

/// What a correct sender knows and does.
struct Model {
    slots: u64,
    /// Of a message in lines.
    longest: usize,
    has_eager: bool,
    is_open: bool,
    announced: bool,
    /// Lines stored, and lines freed: the receiver's count, and the count that the sender has seen; and how many
    /// lines the sender may have stored in all.
    stored: u64,
    told: u64,
    seen: u64,
    granted: u64,
    /// The same of each area, in bytes.
    eager_stored: [u64; 2],
    eager_told: u64,
    eager_seen: [u64; 2],
    /// What lies in the eager buffer and behind it.
    memory: Vec<u8>,
}

impl Model {
    fn new(ring: &Ring) -> Self {
        Self {
            slots: ring.slots.count(),
            longest: ring.slots.message_bytes_max(),
            has_eager: ring.has_eager,
            is_open: true,
            announced: false,
            stored: 0,
            told: 0,
            seen: 0,
            granted: ring.slots.count(),
            eager_stored: [0; 2],
            eager_told: 0,
            eager_seen: [0; 2],
            memory: vec![0; SEGMENT_BYTES - EAGER],
        }
    }

    fn message_bytes_max(&self) -> usize {
        match self.has_eager && self.is_open {
            true => EAGER_BYTES / 2 + FRONT_BYTES,
            false => self.longest,
        }
    }

    /// Looks at the credit of lines. False if no receiver can have said that.
    fn look(&mut self) -> bool {
        let freed = self.told & !(HOLD | ANNOUNCED);
        if !(self.seen..=self.stored).contains(&freed) {
            return false;
        }
        self.seen = freed;
        self.announced = self.told & ANNOUNCED != 0;
        let is_held = self.told & HOLD != 0;
        self.granted = match is_held {
            true => self.stored,
            false => self.seen + self.slots,
        };
        true
    }

    /// The same of the eager buffer.
    fn look_at_eager(&mut self) -> bool {
        let mut seen = self.eager_seen;
        for (area, seen) in seen.iter_mut().enumerate() {
            let said = (self.eager_told >> (32 * area)) as u32;
            let more = said.wrapping_sub((*seen / LINE) as u32) & LINES_MASK;
            let more = u64::from(more) * LINE;
            if more > self.eager_stored[area] - *seen {
                return false;
            }
            *seen += more;
        }
        self.eager_seen = seen;
        true
    }

    /// Whether it sends a message of so many bytes, and through which area; `None` if the receiver has said what it cannot.
    fn send(&mut self, len: usize) -> Option<(bool, Option<usize>)> {
        let is_eager = self.has_eager && self.is_open && len > self.longest.min(LINES_BYTES_MAX);
        if !is_eager {
            let lines = lines_for(len);
            let has_room = |it: &Self| it.granted - it.stored >= lines;
            if !has_room(self) && !self.look() {
                return None;
            }
            let is_sent = has_room(self);
            self.stored += if is_sent { lines } else { 0 };
            return Some((is_sent, None));
        }
        let body = len - FRONT_BYTES;
        let area = usize::from(body > EAGER_BYTES / 16);
        let has_room = |it: &Self| {
            let (_, bytes) = AREAS[area];
            let room = it.eager_seen[area] + bytes as u64 - it.eager_stored[area];
            it.granted > it.stored && room >= body as u64
        };
        let is_sound = has_room(self) || self.look() && self.look_at_eager();
        if !is_sound {
            return None;
        }
        let is_sent = has_room(self);
        self.stored += u64::from(is_sent);
        Some((is_sent, Some(area)))
    }

    /// What is to be found in memory after a message through this area.
    fn store(&mut self, area: usize, body: &[u8]) {
        let (begin, bytes) = AREAS[area];
        let position = self.eager_stored[area] as usize;
        for (at, byte) in body.iter().enumerate() {
            self.memory[begin + (position + at) % bytes] = *byte;
        }
        self.eager_stored[area] += (body.len() as u64).next_multiple_of(LINE);
    }
}

fn send(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut ring = Ring::new(input.byte(), EAGER_BYTES).expect("a ring");
    let mut model = Model::new(&ring);
    while !input.is_empty() {
        match input.byte() % 8 {
            0..3 => {
                if let Err(error) = send_one(&mut ring, &mut model, &mut input) {
                    blames(&error, &["PE 0"]);
                    return;
                }
            }
            7 => {
                model.is_open = !model.is_open;
                match model.is_open {
                    true => ring.sender.open_eager(),
                    false => ring.sender.close_eager(),
                }
            }
            step => say(&ring, &mut model, &mut input, step),
        }
    }
}

/// Sends a message. Gives the error that is expected.
fn send_one(
    ring: &mut Ring,
    model: &mut Model,
    input: &mut Input<'_>,
) -> Result<(), TransportError> {
    let kind = input.byte() % (KIND_LIMIT - 1) + 1;
    let len = input.number() as usize % (model.message_bytes_max() + 1);
    let number = model.stored as u8;
    let message: Vec<u8> = (0..len).map(|at| (at as u8).wrapping_add(number)).collect();
    let slot = ring.slots.slot(model.stored);
    let expected = model.send(len);
    let sent = ring.sender.try_send(kind, 0, &message);
    match (sent, expected) {
        (Ok(sent), Some((expected, _))) => assert_eq!(sent, expected, "{len} bytes"),
        (Err(error), None) => return Err(error),
        (sent, expected) => panic!("{sent:?}, expected {expected:?}"),
    }
    if let Some((true, Some(area))) = expected {
        mark("through the eager buffer");
        let segment = ring.wire.memory_of(0);
        let word = segment.load_word(RING + slot * 64 + 8);
        let word = word.expect("a line of the ring") & ((1 << 40) - 1);
        assert_eq!(word, u64::from(kind) << 32 | len as u64);
        model.store(area, &message[FRONT_BYTES..]);
        let mut memory = vec![0; model.memory.len()];
        segment.get(EAGER, &mut memory).expect("the eager buffer");
        assert!(memory == model.memory, "other bytes");
    }
    if model.is_open {
        let longest = match model.announced {
            true => model.longest,
            false => model.message_bytes_max(),
        };
        assert!(ring.sender.takes(longest) && !ring.sender.takes(longest + 1));
    }
    Ok(())
}

/// The receiver says something.
fn say(ring: &Ring, model: &mut Model, input: &mut Input<'_>, step: u8) {
    match step {
        3 => {
            let freed = (model.told & !(HOLD | ANNOUNCED)).saturating_add(input.byte().into());
            model.told = freed.min(model.stored);
        }
        4 => {
            let area = usize::from(input.byte() % 2);
            let shift = 32 * area;
            let freed = u64::from((model.eager_told >> shift) as u32) + u64::from(input.byte());
            let freed = freed.min(model.eager_stored[area] / LINE);
            model.eager_told &= !(u64::from(u32::MAX) << shift);
            model.eager_told |= freed << shift;
        }
        5 => model.told = input.number(),
        _ => model.eager_told = input.number(),
    }
    let own = ring.wire.memory_of(1);
    for (at, word) in [(CREDIT, model.told), (CREDIT + 8, model.eager_told)] {
        own.put_word(at, word).expect("the word of a credit");
    }
}

fn sending(script: Script, len: u64) -> Script {
    script.bytes(&[0, 0]).number(len)
}

fn send_seeds() -> Seeds {
    let full = |script: Script| (0..5).fold(script, |script, _| sending(script, 50));
    let ring = |choice: u8| Script::new().byte(choice);
    let mut seeds = named(vec![
        ("full", full(ring(0)).done()),
        ("freed", full(full(ring(0)).bytes(&[3, 4])).done()),
        ("long", sending(ring(2), 250).done()),
        ("too_much", full(ring(0).byte(5).number(9)).done()),
        ("huge", full(ring(0).byte(5).number(u64::MAX)).done()),
        (
            "held_and_let_go",
            full(full(full(ring(0)).byte(5).number(HOLD | 2)).bytes(&[3, 2])).done(),
        ),
        (
            "gone_back",
            full(full(full(ring(0)).bytes(&[3, 4])).byte(5).number(1)).done(),
        ),
    ]);
    seeds.extend(eager_seeds());
    seeds
}

/// Rings with an eager buffer.
fn eager_seeds() -> Seeds {
    let ring = || Script::new().byte(5);
    let long = |script: Script| sending(sending(script, 2064), 1500);
    let short = |script: Script| (0..3).fold(script, |script, _| sending(script, 330));
    let laps = (0..6).fold(ring(), |script, _| {
        let script = short(long(script).bytes(&[4, 1, 60]));
        script.bytes(&[4, 0, 20, 3, 9])
    });
    named(vec![
        ("eager", long(ring()).done()),
        ("eager_in_the_smaller_area", short(ring()).done()),
        ("eager_laps", laps.done()),
        (
            "eager_too_much",
            long(long(ring()).byte(6).number(90 << 32)).done(),
        ),
        (
            "eager_gone_back",
            long(
                long(long(ring()).bytes(&[4, 1, 50]))
                    .byte(6)
                    .number(9 << 32),
            )
            .done(),
        ),
        (
            "eager_is_held",
            long(long(ring()).byte(5).number(HOLD | 1)).done(),
        ),
        (
            "eager_is_announced",
            long(long(ring()).byte(5).number(ANNOUNCED | 1)).done(),
        ),
        (
            "eager_is_closed_and_opened",
            long(sending(long(ring()).byte(7), 400).bytes(&[7, 4, 1, 60])).done(),
        ),
    ])
}
