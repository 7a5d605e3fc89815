//! The stores of the other PEs of a job into the segment of this one: a script of stores that
//! are right, nearly right, or anything.

use std::collections::VecDeque;

use hostwire_transport::Window;
use hostwire_transport::fuzzing::kit::{Input, Script};
use hostwire_transport::fuzzing::wire::Peers;
use hostwire_transport::ring::{Header, KIND_LIMIT, PAYLOAD_BYTES, Stamp};

use crate::layout::{Count, Layout, Mail};
use crate::message::long::Announcement;

/// PEs of the jobs of all checks; this one is PE 0.
pub(super) const PES: u32 = 3;

/// One store, or a few that belong together. The byte before its arguments, modulo 8:
///
/// | byte | arguments | |
/// |---|---|---|
/// | 0, 1 | PE, kind, tag, length, payload | a line of a message: its next, with its stamp |
/// | 2 | PE, tag, number, length, source | a line that announces a long message |
/// | 3 | PE, word, value, value | a word of a mail line: the first value in its upper half |
/// | 4 | PE, number, old value, status | a reply of its agent |
/// | 5 | PE, operation, operand bytes, number, offset, operand, compare | a request to the agent |
/// | 6 | slot, place, value | a flag of a barrier, or a word of a line of a team |
/// | 7 | offset, value | any word of the segment |
#[derive(Debug, Clone)]
pub(super) enum Store {
    Line(usize, Header, Vec<u8>),
    Mail(usize, usize, u64),
    Reply(usize, [u64; 3]),
    Request(usize, u64, [u64; 3]),
    Flag(usize, usize, u64),
    /// Slot, operation, PE, word.
    Meeting(usize, u64, usize, usize, u64),
    Word(u64, u64),
}

/// A PE that is not this one.
fn peer(input: &mut Input<'_>) -> usize {
    usize::from(input.byte()) % (PES as usize - 1) + 1
}

impl Store {
    /// The next of a script.
    pub(super) fn read(input: &mut Input<'_>) -> Self {
        match input.byte() % 8 {
            0 | 1 => {
                let pe = peer(input);
                let kind = input.byte() % KIND_LIMIT;
                let tag = u32::from(input.byte());
                let len = input.number() as usize & 8191;
                let payload = input.chunk();
                let header = Header::new(Stamp::BLANK, kind, len, tag);
                Self::Line(pe, header, payload.to_vec())
            }
            2 => {
                let pe = peer(input);
                let tag = u32::from(input.byte());
                // Without data, and with a tag that fits the header.
                let words = [input.number(), input.number(), input.number(), 0, 0];
                let header = Header::new(Stamp::BLANK, 3, Announcement::BYTES, tag);
                Self::Line(
                    pe,
                    header,
                    words.map(u64::to_le_bytes).as_flattened().to_vec(),
                )
            }
            3 => {
                let (pe, word) = (peer(input), usize::from(input.byte() % 7));
                Self::Mail(pe, word, input.number() << 32 | input.number())
            }
            4 => Self::Reply(
                peer(input),
                [input.number(), input.number(), input.number()],
            ),
            5 => {
                let pe = peer(input);
                let (operation, bytes) = (u64::from(input.byte()), u64::from(input.byte()));
                let header = operation << 32 | bytes << 40 | (input.number() & 0xffff_ffff);
                let words = [input.number(), input.number(), input.number()];
                Self::Request(pe, header, words)
            }
            6 => {
                let (slot, place) = (usize::from(input.byte() % 64), input.byte());
                let bits = |from: u8, count: u8| usize::from(place >> from & ((1 << count) - 1));
                match place < LINE {
                    true => Self::Flag(slot, usize::from(place % 12), input.number()),
                    false => {
                        let (pe, entry, word) = (bits(0, 1) + 1, bits(1, 2), bits(3, 3));
                        Self::Meeting(slot, entry as u64, pe, word, input.number())
                    }
                }
            }
            _ => Self::Word(input.number(), input.number()),
        }
    }
}

/// Peers that do these stores in turn, one per look of this PE.
pub(super) fn peers(layout: Layout, stores: Vec<Store>) -> Peers {
    let mut stores = VecDeque::from(stores);
    // Lines that each PE has written.
    let mut lines = vec![0_u64; PES as usize];
    Box::new(move |segment: &Window| match stores.pop_front() {
        None => false,
        Some(store) => {
            do_it(&layout, &mut lines, segment, &store);
            true
        }
    })
}

fn do_it(layout: &Layout, lines: &mut [u64], segment: &Window, store: &Store) {
    let put = |at: usize, word: u64| segment.put_word(at, word).expect("a word of the layout");
    let put_words = |at: usize, words: &[u64]| {
        for (index, word) in words.iter().enumerate() {
            put(at + index * 8, *word);
        }
    };
    match store {
        Store::Line(pe, header, payload) => {
            let slots = layout.slots();
            let line = lines[*pe];
            lines[*pe] += 1;
            let at = layout.ring(*pe as u32) + slots.slot(line) * 64;
            let payload = &payload[..payload.len().min(PAYLOAD_BYTES)];
            segment.put(at + 8, payload).expect("a line of the ring");
            let stamp = Stamp::of_lap(line / slots.count());
            put(at, header.0 | u64::from(stamp.0));
        }
        Store::Mail(pe, word, value) => {
            let at = match word {
                3 => layout.count(*pe as u32, Count::Freed),
                4 => layout.count(*pe as u32, Count::Delivered),
                word => layout.mail(*pe as u32, Mail::Credit) + word * 8,
            };
            put(at, *value);
        }
        Store::Reply(pe, [number, old, status]) => {
            put_words(
                layout.reply(*pe as u32, *number as u32),
                &[*number, *old, *status],
            );
        }
        Store::Request(pe, header, words) => {
            let at = layout.request(*pe as u32, *header as u32);
            put_words(at + 8, words);
            put(at, *header);
        }
        Store::Meeting(slot, entry, pe, word, value) => {
            put(layout.slot(*slot).line(*entry, *pe) + word * 8, *value);
        }
        Store::Flag(slot, round, value) => put(layout.slot(*slot).flag(*round), *value),
        Store::Word(offset, value) => {
            let words = layout.segment_bytes() as u64 / 8;
            put((offset % words * 8) as usize, *value);
        }
    }
}

/// Seeds of scripts.
pub(super) trait StoreScript {
    /// A line of a message of PE 1.
    fn line(self, kind: u8, tag: u8, len: u64, payload: &[u8]) -> Self;
    /// An announcement of PE 1.
    fn announce(self, tag: u8, words: [u64; 3]) -> Self;
    /// A word of PE 1 about long message `number`.
    fn answer(self, number: u8, word: u64) -> Self;
    /// A word of the mail line of PE 1.
    fn mail(self, word: u8, high: u64, low: u64) -> Self;
    /// A reply of the agent of PE 1.
    fn reply(self, words: [u64; 3]) -> Self;
    /// A line of PE `pe` in an operation of all, number 1: its tag, data and stamp.
    fn meet(self, pe: u8, tag: u64, data: u64) -> Self;
}

/// With this bit the place in the slot of a team is a line, not a flag: bit 0 is the PE, bits 1
/// and 2 are the number of the operation, bits 3 to 5 the word of the line.
const LINE: u8 = 0x80;

/// The mark of a store in a script of operations and stores.
pub(super) const STORE: u8 = 0x80;

impl StoreScript for Script {
    fn line(self, kind: u8, tag: u8, len: u64, payload: &[u8]) -> Self {
        self.bytes(&[STORE, 0, kind, tag])
            .number(len)
            .chunk(payload)
    }

    fn announce(self, tag: u8, words: [u64; 3]) -> Self {
        words
            .into_iter()
            .fold(self.bytes(&[STORE | 2, 0, tag]), Self::number)
    }

    fn answer(self, number: u8, word: u64) -> Self {
        self.line(6, number, 8, &word.to_le_bytes())
    }

    fn mail(self, word: u8, high: u64, low: u64) -> Self {
        self.bytes(&[STORE | 3, 0, word]).number(high).number(low)
    }

    fn meet(self, pe: u8, tag: u64, data: u64) -> Self {
        let words = [(1, tag), (2, data), (0, crate::core::FIRST_STAMP)];
        words.into_iter().fold(self, |script, (word, value)| {
            let place = LINE | (pe - 1) | 1 << 1 | word << 3;
            script.bytes(&[STORE | 6, 0, place]).number(value)
        })
    }

    fn reply(self, words: [u64; 3]) -> Self {
        words
            .into_iter()
            .fold(self.bytes(&[STORE | 4, 0]), Self::number)
    }
}
