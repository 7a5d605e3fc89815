//! Write-combining buffers, and the packets that they become.

use std::collections::VecDeque;

use super::segment::{Line, Segment, WORDS, Word, merge};
use super::setting::Chunks;
use crate::conformance::Random;

/// As few as the smallest processor has, so that unexpected evictions come early.
const BUFFERS: usize = 4;

#[derive(Debug)]
struct Buffer {
    line: Line,
    data: [u64; WORDS],
    masks: [u64; WORDS],
}

impl Buffer {
    fn new(line: Line) -> Self {
        Self {
            line,
            data: [0; WORDS],
            masks: [0; WORDS],
        }
    }
}

/// A piece of data that crosses the wire as one.
#[derive(Debug)]
enum Packet {
    Line(Line, [u64; WORDS]),
    Chunk(Word, u64, u64),
}

/// The buffers of one PE.
#[derive(Debug, Default)]
pub(super) struct Combiner {
    buffers: Vec<Buffer>,
}

/// The posted packets of one PE to another, in order.
#[derive(Debug, Default)]
pub(super) struct Path(VecDeque<Packet>);

impl Path {
    /// Lets the first packet arrive.
    pub(super) fn deliver(&mut self, time: u64, memory: &mut [Segment]) -> bool {
        match self.0.pop_front() {
            None => return false,
            Some(Packet::Line(line, data)) => {
                for (index, value) in data.iter().enumerate() {
                    let at = line.word(index);
                    memory[at.segment].write(time, at.word, *value, u64::MAX);
                }
            }
            Some(Packet::Chunk(at, value, mask)) => {
                memory[at.segment].write(time, at.word, value, mask);
            }
        }
        true
    }
}

impl Combiner {
    /// A store: into the buffer of its line.
    pub(super) fn store(
        &mut self,
        word: Word,
        value: u64,
        mask: u64,
        dice: &mut Random,
        chunks: Chunks,
        paths: &mut [Path],
    ) {
        let line = word.line();
        let found = self.buffers.iter().position(|buffer| buffer.line == line);
        let at = match found {
            Some(at) => at,
            None => {
                if self.buffers.len() == BUFFERS {
                    self.evict_one(dice, chunks, paths);
                }
                self.buffers.push(Buffer::new(line));
                self.buffers.len() - 1
            }
        };
        let (buffer, index) = (&mut self.buffers[at], word.word % WORDS);
        buffer.data[index] = merge(buffer.data[index], value, mask);
        buffer.masks[index] |= mask;
    }

    /// Evicts one of the buffers, if there are any: a full one as one packet, another one
    /// in chunks.
    pub(super) fn evict_one(&mut self, dice: &mut Random, chunks: Chunks, paths: &mut [Path]) {
        if self.buffers.is_empty() {
            return;
        }
        let buffer = self.buffers.swap_remove(dice.below(self.buffers.len()));
        let path = &mut paths[buffer.line.segment];
        if buffer.masks == [u64::MAX; WORDS] {
            path.0.push_back(Packet::Line(buffer.line, buffer.data));
            return;
        }
        let mut order: [usize; WORDS] = std::array::from_fn(|index| index);
        match chunks {
            Chunks::HeaderFirst => {}
            Chunks::Reversed => order.reverse(),
            Chunks::Any => {
                for last in (1..WORDS).rev() {
                    order.swap(last, dice.below(last + 1));
                }
            }
        }
        for index in order {
            let (value, mask) = (buffer.data[index], buffer.masks[index]);
            if mask != 0 {
                let word = buffer.line.word(index);
                path.0.push_back(Packet::Chunk(word, value, mask));
            }
        }
    }

    /// Evicts all buffers, in any order.
    pub(super) fn evict_all(&mut self, dice: &mut Random, chunks: Chunks, paths: &mut [Path]) {
        while !self.buffers.is_empty() {
            self.evict_one(dice, chunks, paths);
        }
    }
}
