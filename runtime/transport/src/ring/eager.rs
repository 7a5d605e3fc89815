//! The eager buffer of a pair: where the bytes of messages go that are longer than a few lines.
//!
//! A line of the ring validates itself, because the wire may carry one line before another. Coherent memory does not, so
//! there a long message needs no stamp in each line. Its sender copies the bytes in one piece into a buffer beside the ring, in
//! the receiver's memory, and stores one line in the ring:
//!
//! | word of that line | what it says |
//! |---|---|
//! | header | kind [`KIND_CONTINUED`], which begins no other message, the length of this payload, and the tag |
//! | 1 | bytes of the message in bits 31:0, its kind in bits 39:32, in bit 40 whether they were copied past the caches, and in bit 41 whether all of them are there |
//! | 2, 3 | its first [`FRONT_BYTES`] bytes |
//!
//! The line is stored behind the first [`PIECE_BYTES`] of the rest, which are there when it is. Of a longer message the sender
//! stores behind each further piece how many bytes are there, and the number of the message, in a word of the receiver's memory:
//! so both copy at the same time.
//!
//! Elsewhere (over a network, or through a window that is not coherent) the line is stored behind all bytes, and behind what orders them.
//! No part of the message waits for an answer of the receiver.
//!
//! The buffer has two areas, each of them a ring of bytes. Shorter messages go through the smaller one, so that what is used of the
//! memory stays in the nearest caches: with one area of 64 KiB, messages of 4 KiB took 1.1 times as long, and of a stream of them there
//! were 0.6 times as many. Where all of a message is there with its line, it is in the larger area, because credits come back later.
//! Each message begins at a line of its own. The
//! receiver returns credits, as it does with lines: the lines that it has taken out of each area, 31 bits each in one word. The highest
//! bit of each says whether it wants the bytes of that area [staged](crate::copy_choice).

use core::ops::Range;

use super::{FRONT_BYTES, FRONT_WORDS, KIND_CONTINUED, KIND_LIMIT, PlainLine};
use crate::copy_choice::{Choice, Trials};
use crate::error::TransportError;
use crate::sync::Ordering;

/// So many bytes are there when the line of their message is, and then always so many more. Fitted.
pub(super) const PIECE_BYTES: usize = if cfg!(any(memory_model, loom)) {
    128
} else {
    8 << 10
};
/// Up to this length lines are faster: two of them where memory is coherent, some more elsewhere. Fitted.
const LINES_BYTES_MAX: usize = 112;
const LINES_ELSEWHERE_BYTES_MAX: usize = 320;
/// Messages of at most so many bytes are prefetched. Fitted: where the cores are far from each other, 256 bytes are there after 0.8
/// of the time.
const EXPECTED_BYTES_MAX: usize = 512;
/// Of shorter ones the bytes are never [staged](crate::copy_choice). Fitted.
const STAGED_BYTES_MIN: usize = 1900;
/// Bytes of the payload of the line of a message.
pub(super) const LINE_BYTES: usize = 8 + FRONT_BYTES;

const KIND_SHIFT: u32 = 32;
const STAGED: u64 = 1 << 40;
const WHOLE: u64 = 1 << 41;
const NUMBER_SHIFT: u32 = 32;
const LINE: u64 = 64;
const AREAS: usize = 2;
/// In the credit of an area: the lines that were taken out of it, and that messages are to be staged.
const LINES_MASK: u32 = !WANTS_STAGED;
const WANTS_STAGED: u32 = 1 << 31;

/// How the bytes of a message and its line follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EagerOrder {
    /// The line behind the first bytes. The others follow while the receiver copies.
    Pieces,
    /// The line behind all bytes.
    Whole,
}

/// The longest message that goes in lines through a ring which takes messages of `ring_bytes_max`, where there is an eager buffer.
pub(super) fn lines_bytes_max(ring_bytes_max: usize, order: EagerOrder) -> usize {
    ring_bytes_max.min(match order {
        EagerOrder::Pieces => LINES_BYTES_MAX,
        EagerOrder::Whole => LINES_ELSEWHERE_BYTES_MAX,
    })
}

/// How large an eager buffer is, by its larger area: a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EagerBytes(usize);

/// One of the areas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    index: usize,
    /// Where it begins in the buffer.
    begin: usize,
    /// A power of two.
    bytes: usize,
}

impl EagerBytes {
    /// `None` unless there is such a buffer.
    pub fn new(larger_area_bytes: usize) -> Option<Self> {
        // The smaller area has at least a line.
        let range = 8 * LINE as usize..=1 << 30;
        (larger_area_bytes.is_power_of_two() && range.contains(&larger_area_bytes))
            .then_some(Self(larger_area_bytes))
    }

    /// Bytes of the whole buffer: a multiple of 64.
    #[inline(always)]
    pub fn bytes(self) -> usize {
        self.0 + self.0 / 4
    }

    /// The longest message: half of an area, so that credits that are held back can never starve it.
    #[inline(always)]
    pub fn message_bytes_max(self) -> usize {
        self.0 / 2 + FRONT_BYTES
    }

    #[inline(always)]
    fn area(self, index: usize) -> Area {
        let smaller = self.0 / 4;
        match index {
            0 => Area {
                index,
                begin: 0,
                bytes: smaller,
            },
            _ => Area {
                index,
                begin: smaller,
                bytes: self.0,
            },
        }
    }

    /// The area for so many bytes of a message. `is_whole`: all of them are there with its line.
    #[inline(always)]
    pub(super) fn area_for(self, len: usize, is_whole: bool) -> Area {
        self.area(usize::from(is_whole | (len > self.0 / 16)))
    }
}

/// How much of an area has been taken that the sender has not been told of, at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owed {
    Little,
    /// It is to be told before the next message is looked for. No more is held back.
    Quarter,
    /// It is to be told at once: it may need the room before the receiver is called again.
    Half,
}

impl Area {
    /// The ranges of the buffer that `len` bytes at `position` of the area lie in: where each begins, and which of the bytes go
    /// there. The second one may be empty.
    #[inline(always)]
    pub(super) fn ranges(self, position: u64, len: usize) -> [(usize, Range<usize>); 2] {
        let at = position as usize & (self.bytes - 1);
        let first = len.min(self.bytes - at);
        [(self.begin + at, 0..first), (self.begin, first..len)]
    }

    /// Does `copy` with these one or two ranges.
    #[inline(always)]
    pub(super) fn each(
        self,
        position: u64,
        len: usize,
        mut copy: impl FnMut(usize, Range<usize>) -> Result<(), TransportError>,
    ) -> Result<(), TransportError> {
        let at = position as usize & (self.bytes - 1);
        let first = len.min(self.bytes - at);
        copy(self.begin + at, 0..first)?;
        match first < len {
            true => copy(self.begin, first..len),
            false => Ok(()),
        }
    }
}

/// What the line of a message says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) kind: u8,
    pub(super) len_bytes: usize,
    /// Its first bytes were copied [past the caches](crate::Memory::copy_in_staged).
    pub(super) is_staged: bool,
    /// All of it is there with its line.
    pub(super) is_whole: bool,
}

/// The message at hand: what its line says of it, and its first words, each with its least byte first.
pub(super) type Front = (Summary, [u64; FRONT_WORDS]);

/// The words behind the header of a line that is there.
#[inline(always)]
pub(super) fn words(line: &PlainLine) -> [u64; 1 + FRONT_WORDS] {
    [1, 2, 3].map(|at| u64::from_le(line[at].load(Ordering::Relaxed)))
}

impl Summary {
    /// The payload of the line, where it is stored in one piece.
    pub(super) fn line(self, front: [u64; FRONT_WORDS]) -> [u8; LINE_BYTES] {
        let mut line = [0; LINE_BYTES];
        let words = core::iter::once(self.word()).chain(front);
        for (bytes, word) in line.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        line
    }

    /// The first word of the payload of the line.
    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        let staged = if self.is_staged { STAGED } else { 0 };
        let whole = if self.is_whole { WHOLE } else { 0 };
        staged | whole | u64::from(self.kind) << KIND_SHIFT | self.len_bytes as u64
    }

    /// `None` if there can be no such message.
    #[inline(always)]
    pub(super) fn parse(word: u64, eager: EagerBytes) -> Option<Self> {
        let (kind, len_bytes) = (
            (word & !(STAGED | WHOLE)) >> KIND_SHIFT,
            word as u32 as usize,
        );
        let is_kind = kind > u64::from(KIND_CONTINUED) && kind < u64::from(KIND_LIMIT);
        let is_len = (FRONT_BYTES..=eager.message_bytes_max()).contains(&len_bytes);
        (is_kind && is_len).then_some(Self {
            kind: kind as u8,
            len_bytes,
            is_staged: word & STAGED != 0,
            is_whole: word & WHOLE != 0,
        })
    }
}

/// What a sender knows of the buffer.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) eager: EagerBytes,
    /// The line of a message is stored behind all of it.
    pub(super) is_whole: bool,
    /// By area: where its next message begins, since the beginning.
    next: [u64; AREAS],
    /// By area: up to where there is room, as far as we have looked.
    granted: [u64; AREAS],
    /// By area: whether the receiver wants messages staged, and which go the other way.
    wants_staged: [bool; AREAS],
    trials: [Trials; AREAS],
    /// Of the last message.
    number: u32,
}

/// Where the bytes of a message go.
pub(super) struct Room {
    pub(super) area: Area,
    pub(super) position: u64,
    /// Its bytes are [staged](crate::copy_choice).
    pub(super) is_staged: bool,
    number: u32,
}

impl Room {
    /// That so many bytes of the message are there.
    #[inline(always)]
    pub(super) fn said(&self, bytes: usize) -> u64 {
        u64::from(self.number) << NUMBER_SHIFT | bytes as u64
    }
}

impl Outgoing {
    pub(super) fn new(eager: EagerBytes, order: EagerOrder) -> Self {
        Self {
            eager,
            is_whole: order == EagerOrder::Whole,
            next: [0; AREAS],
            granted: [0, 1].map(|index| eager.area(index).bytes as u64),
            wants_staged: [false; AREAS],
            trials: Default::default(),
            number: 0,
        }
    }

    /// Whether there is room for so many bytes.
    #[inline(always)]
    pub(super) fn has_room(&self, len: usize) -> bool {
        let Area { index, .. } = self.eager.area_for(len, self.is_whole);
        self.granted[index] - self.next[index] >= len as u64
    }

    /// Where a message of so many bytes goes, if there is room for it.
    #[inline(always)]
    pub(super) fn take(&mut self, len: usize) -> Option<Room> {
        let area = self.eager.area_for(len, self.is_whole);
        let (next, granted) = (&mut self.next[area.index], self.granted[area.index]);
        let position = *next;
        if granted - position < len as u64 {
            return None;
        }
        // The room is a multiple of a line, so this stays within it.
        *next += (len as u64).next_multiple_of(LINE);
        self.number = self.number.wrapping_add(1);
        let is_long = len >= STAGED_BYTES_MIN && !self.is_whole;
        let is_staged = is_long && self.trials[area.index].next(self.wants_staged[area.index]);
        Some(Room {
            area,
            position,
            is_staged,
            number: self.number,
        })
    }

    /// The receiver says what it has taken. If it cannot have: at least and at most how many lines, and how many it says.
    pub(super) fn heed(&mut self, credit: u64) -> core::result::Result<(), (u64, u64, u64)> {
        let mut granted = self.granted;
        for (index, granted) in granted.iter_mut().enumerate() {
            let bytes = self.eager.area(index).bytes as u64;
            let (known, next) = (*granted - bytes, self.next[index]);
            let word = (credit >> (32 * index)) as u32;
            let said = word & LINES_MASK;
            let more = u64::from(said.wrapping_sub((known / LINE) as u32) & LINES_MASK) * LINE;
            if more > next - known {
                return Err((known / LINE, next / LINE, said.into()));
            }
            *granted += more;
            self.wants_staged[index] = word & WANTS_STAGED != 0;
        }
        self.granted = granted;
        Ok(())
    }
}

/// What a sender knows of whether it may use the buffer: see `opening.rs`.
#[derive(Debug, Default)]
pub(super) struct Opening {
    pub(super) is_closed: bool,
    /// The receiver [wants long messages announced](super::RingReceiver::want_announced).
    pub(super) announced: bool,
    /// Since the sender has asked: messages that had to go in another way.
    pub(super) detours: u32,
}

/// What a receiver knows of the buffer.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) eager: EagerBytes,
    /// By area: where the message at hand, or else the next one, begins.
    next: [u64; AREAS],
    /// What the sender has been told of that.
    returned: [u64; AREAS],
    /// By area: whether its bytes are to be staged.
    choices: [Choice; AREAS],
    /// Of the message at hand, or else the next one.
    number: u32,
    /// The message at hand, if it is in the buffer.
    pub(super) at_hand: Option<Front>,
    /// Bytes in the buffer of the last message.
    last: usize,
}

impl Incoming {
    pub(super) fn new(eager: EagerBytes) -> Self {
        Self {
            eager,
            next: [0; AREAS],
            returned: [0; AREAS],
            choices: [false; AREAS].map(Choice::new),
            number: 1,
            at_hand: None,
            last: 0,
        }
    }

    /// How many messages have come, modulo 2^32.
    pub(super) fn messages(&self) -> u32 {
        self.number.wrapping_sub(1)
    }

    /// Where a message of so many bytes is, if it is the next one.
    #[inline(always)]
    pub(super) fn place(&self, len: usize, is_whole: bool) -> (Area, u64) {
        let area = self.eager.area_for(len, is_whole);
        (area, self.next[area.index])
    }

    /// Whether it is to be [measured](Choice) how long it takes to copy `len` bytes out.
    #[inline(always)]
    pub(super) fn is_to_measure(&self, area: Area, len: usize, is_staged: bool) -> bool {
        self.choices[area.index].is_new(is_staged) && len >= STAGED_BYTES_MIN
    }

    pub(super) fn choice(&mut self, area: Area) -> &mut Choice {
        &mut self.choices[area.index]
    }

    /// Where the next message begins, and how long it is, if it is like the last one, and that was short.
    #[inline(always)]
    pub(super) fn expected(&self) -> Option<(usize, usize)> {
        let len = self.last;
        if len == 0 || len > EXPECTED_BYTES_MAX {
            return None;
        }
        let (area, position) = self.place(len, false);
        let [(at, first), _] = area.ranges(position, len);
        Some((at, first.len()))
    }

    /// The credit for what has been taken, if the sender has not been told.
    pub(super) fn credit(&self) -> Option<u64> {
        let [smaller, larger] = [0, 1].map(|index| {
            let lines = (self.next[index] / LINE) as u32 & LINES_MASK;
            let wish = if self.choices[index].is_staged() {
                WANTS_STAGED
            } else {
                0
            };
            u64::from(lines | wish)
        });
        (self.returned != self.next).then_some(larger << 32 | smaller)
    }

    /// The sender has been told.
    pub(super) fn told(&mut self) {
        self.returned = self.next;
    }

    /// The message at hand, of so many bytes, has been taken. Which part of its area the sender has not been told of.
    #[inline(always)]
    pub(super) fn advance(&mut self, len: usize, is_whole: bool) -> Owed {
        let Area { index, bytes, .. } = self.eager.area_for(len, is_whole);
        self.next[index] += (len as u64).next_multiple_of(LINE);
        self.number = self.number.wrapping_add(1);
        self.at_hand = None;
        self.last = len;
        // Without a division, which takes as long as a short message.
        match self.next[index] - self.returned[index] {
            owed if owed >= bytes as u64 / 2 => Owed::Half,
            owed if owed >= bytes as u64 / 4 => Owed::Quarter,
            _ => Owed::Little,
        }
    }

    /// Of the message at hand, of `len` bytes, how many are there, if its sender has [said](Room::said) so. If it cannot have: how many
    /// it says.
    pub(super) fn there(&self, said: u64, len: usize) -> core::result::Result<usize, u64> {
        let first = len.min(PIECE_BYTES);
        let (of, bytes) = ((said >> NUMBER_SHIFT) as u32, said as u32 as usize);
        match of.wrapping_sub(self.number).cast_signed() {
            // It has been in the middle of an earlier one.
            ..0 => Ok(first),
            0 if bytes > len => Err(bytes as u64),
            0 => Ok(bytes.max(first)),
            // It has stored this one, and is in the middle of a later one.
            1.. => Ok(len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_kind_and_length() {
        let eager = EagerBytes::new(4096).unwrap();
        for (is_staged, is_whole, expected) in [
            (false, false, 5 << 32 | 2064),
            (true, false, 0x105 << 32 | 2064),
            (false, true, 0x205 << 32 | 2064),
        ] {
            let summary = Summary {
                kind: 5,
                len_bytes: 2064,
                is_staged,
                is_whole,
            };
            let line = summary.line([0x0707_0707_0707_0707; 2]);
            let word = u64::from_le_bytes(line[..8].try_into().unwrap());
            assert_eq!(word, expected);
            assert_eq!(Summary::parse(word, eager), Some(summary));
        }
        for (kind, len) in [(0, 100), (8, 100), (1, 15), (1, 2065), (1 << 20, 100)] {
            let word = kind << 32 | len;
            assert_eq!(Summary::parse(word, eager), None, "{kind} {len}");
        }
    }

    #[test]
    fn areas_follow_each_other_and_wrap_around() {
        let eager = EagerBytes::new(2048).unwrap();
        assert_eq!(eager.bytes(), 2560);
        let seen = |len: usize, position| {
            let mut seen = Vec::new();
            let area = eager.area_for(len, false);
            area.each(position, len, |at, part| {
                seen.push((at, part));
                Ok(())
            })
            .unwrap();
            seen
        };
        assert_eq!(seen(128, 3 * 512 + 448), [(448, 0..64), (0, 64..128)]);
        assert_eq!(seen(129, 64), [(576, 0..129)]);
        assert_eq!(seen(512, 1984), [(2496, 0..64), (512, 64..512)]);
        assert_eq!(eager.area_for(128, true), eager.area_for(129, false));
        assert_eq!(EagerBytes::new(2000), None);
        assert_eq!(EagerBytes::new(256), None);
    }

    #[test]
    fn credits_are_lines_of_both_areas() {
        let eager = EagerBytes::new(1 << 14).unwrap();
        let mut out = Outgoing::new(eager, EagerOrder::Pieces);
        let mut incoming = Incoming::new(eager);
        assert_eq!(incoming.credit(), None);
        for (len, owed) in [(100, Owed::Little), (5000, Owed::Quarter)] {
            assert_eq!(
                out.take(len).unwrap().position,
                incoming.place(len, false).1
            );
            assert_eq!(incoming.advance(len, false), owed);
        }
        assert!(!out.has_room(1 << 14));
        assert_eq!(incoming.credit(), Some(79 << 32 | 2));
        for (credit, expected) in [(3, (0, 2, 3)), (80 << 32, (0, 79, 80))] {
            assert_eq!(out.heed(credit), Err(expected));
        }
        assert_eq!(out.heed(79 << 32 | 2), Ok(()));
        assert!(out.has_room(1 << 14));
        assert_eq!(out.heed(1), Err((2, 2, 1)), "less than before");
        incoming.told();
        assert_eq!(incoming.credit(), None);
    }

    #[test]
    fn what_is_there_is_said_with_the_number_of_the_message() {
        let eager = EagerBytes::new(1 << 16).unwrap();
        let mut out = Outgoing::new(eager, EagerOrder::Pieces);
        let mut incoming = Incoming::new(eager);
        assert_eq!(incoming.there(0, 9000), Ok(PIECE_BYTES));
        assert_eq!(incoming.there(0, 100), Ok(100));
        let first = out.take(9000).unwrap();
        assert_eq!(incoming.there(first.said(8999), 9000), Ok(8999));
        assert_eq!(incoming.there(first.said(9001), 9000), Err(9001));
        assert_eq!(
            incoming.there(out.take(9999).unwrap().said(8192), 9000),
            Ok(9000)
        );
        assert_eq!(incoming.advance(9000, false), Owed::Little);
        assert_eq!(incoming.there(first.said(9000), 9999), Ok(PIECE_BYTES));
    }
}
