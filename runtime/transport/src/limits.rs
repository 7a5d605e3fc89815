//! The speed of the machine without the code of hostwire: the other side of every ratio
//! that `hostwire bench` prints.
//!
//! Each function is the best known loop for its task on shared memory. If there is a
//! better one, the ratios have to be measured against it.

pub mod flushed;
pub mod staged;

use core::hint::black_box;

use crate::error::TransportError;
use crate::memory::Memory;
use crate::sync::{AtomicU64, Ordering};

/// Which end of a two-party loop this process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The side that begins, and whose clock counts.
    First,
    /// The side that answers.
    Second,
}

/// `n` round trips of one cache line, each side writing a line of its own. `turn` counts
/// on from call to call, from 0, on both sides.
pub fn ping_pong(side: Side, mine: &AtomicU64, theirs: &AtomicU64, turn: &mut u64, n: u64) {
    let store = |value| mine.store(value, Ordering::Release);
    let wait = |value| while theirs.load(Ordering::Acquire) != value {};
    for now in *turn + 1..=*turn + n {
        match side {
            Side::First => {
                store(now);
                wait(now);
            }
            Side::Second => {
                wait(now);
                store(now);
            }
        }
    }
    *turn += n;
}

/// `n` barriers of two parties: each signals the other and waits for it.
pub fn flag_barrier(mine: &AtomicU64, theirs: &AtomicU64, turn: &mut u64, n: u64) {
    for now in *turn + 1..=*turn + n {
        mine.store(now, Ordering::Release);
        while theirs.load(Ordering::Acquire) < now {}
    }
    *turn += n;
}

/// `n` stores of 64 bytes to 8 lines in turn.
pub fn store_64(
    to: &Memory,
    offset_bytes: usize,
    src: &[u64; 8],
    n: u64,
) -> Result<(), TransportError> {
    let at = to.range(offset_bytes, 8 * 64)?;
    for i in 0..n as usize {
        let src = black_box(src).as_ptr().cast::<u8>();
        let dst = at.wrapping_add(i % 8 * 64);
        // SAFETY: `range` checked 8 lines at `at`; `src` is 64 bytes of private memory.
        unsafe { core::ptr::copy_nonoverlapping(src, dst, 64) }
    }
    Ok(())
}

/// `n` stores of one word to 8 words in turn.
pub fn store_8(to: &Memory, offset_bytes: usize, n: u64) -> Result<(), TransportError> {
    let lines: Vec<&AtomicU64> = (0..64)
        .map(|word| to.word(offset_bytes + word * 8))
        .collect::<Result<_, _>>()?;
    for i in 0..n {
        lines[i as usize % 8].store(black_box(i), Ordering::Relaxed);
    }
    Ok(())
}

/// A ring of self-validating lines: the best known loop for payloads of up to 56 bytes
/// that have to be visible one by one. Messages of 64 bytes take two lines.
#[derive(Debug)]
pub struct LineRing<'a> {
    lines: Vec<&'a [AtomicU64; 8]>,
    freed: &'a AtomicU64,
    lines_per_message: u64,
    done: u64,
    known: u64,
}

impl<'a> LineRing<'a> {
    /// One end of a ring of `slots` lines at `ring` with its credit word at `freed`.
    pub fn new(
        memory: &'a Memory,
        ring: usize,
        slots: usize,
        freed: &'a AtomicU64,
        lines_per_message: u64,
    ) -> Result<Self, TransportError> {
        Ok(Self {
            lines: (0..slots)
                .map(|slot| memory.line(ring + slot * 64))
                .collect::<Result<_, _>>()?,
            freed,
            lines_per_message,
            done: 0,
            known: 0,
        })
    }

    /// Sends `n` messages.
    pub fn send(&mut self, payload: &[u64; 8], n: u64) {
        let slots = self.lines.len() as u64;
        for _ in 0..n * self.lines_per_message {
            while self.done >= self.known + slots {
                self.known = self.freed.load(Ordering::Acquire);
            }
            let payload = black_box(payload);
            let line = self.lines[(self.done % slots) as usize];
            for word in 1..8 {
                line[word].store(payload[word], Ordering::Relaxed);
            }
            self.done += 1;
            line[0].store(self.done.div_ceil(slots), Ordering::Release);
        }
    }

    /// Receives `n` messages.
    pub fn receive(&mut self, n: u64) {
        let slots = self.lines.len() as u64;
        for _ in 0..n * self.lines_per_message {
            let line = self.lines[(self.done % slots) as usize];
            self.done += 1;
            let stamp = self.done.div_ceil(slots);
            while line[0].load(Ordering::Acquire) != stamp {}
            let mut sum = 0_u64;
            for word in &line[1..] {
                sum = sum.wrapping_add(word.load(Ordering::Relaxed));
            }
            black_box(sum);
            if self.done.is_multiple_of(slots / 4) {
                self.freed.store(self.done, Ordering::Release);
            }
        }
    }
}

/// A ring of 64-byte payloads with a head index that is stored behind each of them.
#[derive(Debug)]
pub struct IndexRing<'a> {
    lines: Vec<&'a [AtomicU64; 8]>,
    head: &'a AtomicU64,
    freed: &'a AtomicU64,
    done: u64,
    known: u64,
}

impl<'a> IndexRing<'a> {
    /// One end of a ring of `slots` payloads at `ring`.
    pub fn new(
        memory: &'a Memory,
        ring: usize,
        slots: usize,
        head: &'a AtomicU64,
        freed: &'a AtomicU64,
    ) -> Result<Self, TransportError> {
        Ok(Self {
            lines: (0..slots)
                .map(|slot| memory.line(ring + slot * 64))
                .collect::<Result<_, _>>()?,
            head,
            freed,
            done: 0,
            known: 0,
        })
    }

    /// Sends `n` messages.
    pub fn send(&mut self, payload: &[u64; 8], n: u64) {
        let slots = self.lines.len() as u64;
        for _ in 0..n {
            while self.done >= self.known + slots {
                self.known = self.freed.load(Ordering::Acquire);
            }
            let payload = black_box(payload);
            let line = self.lines[(self.done % slots) as usize];
            for (word, value) in line.iter().zip(payload) {
                word.store(*value, Ordering::Relaxed);
            }
            self.done += 1;
            self.head.store(self.done, Ordering::Release);
        }
    }

    /// Receives `n` messages.
    pub fn receive(&mut self, n: u64) {
        let slots = self.lines.len() as u64;
        for _ in 0..n {
            while self.done >= self.known {
                self.known = self.head.load(Ordering::Acquire);
            }
            let line = self.lines[(self.done % slots) as usize];
            let mut sum = 0_u64;
            for word in line {
                sum = sum.wrapping_add(word.load(Ordering::Relaxed));
            }
            black_box(sum);
            self.done += 1;
            if self.done.is_multiple_of(slots / 4) {
                self.freed.store(self.done, Ordering::Release);
            }
        }
    }
}
