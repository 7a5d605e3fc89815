//! Everything at once: random operations of all PEs against a model.
//!
//! All PEs draw the same list of operations from one seed, carry out their own ones in
//! the order of the list, and keep the same model of the memory of all PEs. At the end
//! of a round each compares its own memory with the model.

use std::fmt;
use std::ops::Range;

use super::{Random, Setup, apart};
use crate::{Compare, Job, PeId, Result, SignalOp, Symmetric};

/// Sets the seed of the random cases.
pub const SEED_VARIABLE: &str = "HOSTWIRE_TEST_SEED";

const ROUNDS: u64 = 4;
const OPERATIONS: usize = 60;
/// Bytes of each PE's memory that one writer has to itself.
const AREA_BYTES: usize = 3000;
const COUNTERS: usize = 3;

/// After random operations of all kinds memory agrees with the model.
///
/// The seed is fixed, or that of the environment variable [`SEED_VARIABLE`].
///
/// # Panics
/// With the seed, if they do not.
pub fn random_traffic(setup: &Setup<'_>) {
    let seed = seed();
    let setup = setup.with_ring(Random::new(seed).pick(&[256, 1024, 4096]));
    setup.job(|job| {
        let mut traffic = Traffic::new(job, setup.eager_bytes(), Repeat(seed));
        for round in 0..ROUNDS {
            traffic.round(Random::new(seed.wrapping_mul(ROUNDS).wrapping_add(round)));
        }
    });
}

/// That of the environment, or the usual one.
pub(super) fn seed() -> u64 {
    match std::env::var(SEED_VARIABLE) {
        Ok(text) => text.parse().expect("a seed is a number"),
        Err(_) => 20_110_516,
    }
}

/// How to see a failure again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeat(pub(super) u64);

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "repeat with {SEED_VARIABLE}={}", self.0)
    }
}

impl Repeat {
    #[track_caller]
    pub(super) fn ok<T>(self, result: Result<T>) -> T {
        result.unwrap_or_else(|error| panic!("{error}; {self}"))
    }
}

#[derive(Debug, Clone)]
enum Operation {
    /// Into the area that `from` has at `to`, with a signal or without.
    Put {
        from: PeId,
        to: PeId,
        at: usize,
        bytes: Vec<u8>,
        signal: bool,
    },
    /// From the area of `writer` at `from`.
    Get {
        by: PeId,
        from: PeId,
        writer: PeId,
        range: Range<usize>,
    },
    Add {
        by: PeId,
        to: PeId,
        counter: usize,
        value: u64,
    },
    /// Received at once, or later in any order.
    Message {
        from: PeId,
        to: PeId,
        tag: u64,
        bytes: Vec<u8>,
        later: bool,
    },
    Barrier,
    Sum(Vec<u64>),
    Broadcast {
        root: PeId,
        bytes: Vec<u8>,
    },
}

impl Operation {
    fn draw(random: &mut Random, pes: u32, eager: usize, tag: u64) -> Self {
        let pe = |random: &mut Random| random.below(pes as usize) as PeId;
        match random.below(20) {
            0..=6 => {
                let len = random.pick(&[0, 1, 4, 8, 13, 56, 64, 100, 700]);
                Self::Put {
                    from: pe(random),
                    to: pe(random),
                    at: random.below(AREA_BYTES - len),
                    bytes: random.bytes(len),
                    signal: random.one_in(3),
                }
            }
            7..=9 => {
                let start = random.below(AREA_BYTES);
                Self::Get {
                    by: pe(random),
                    from: pe(random),
                    writer: pe(random),
                    range: start..start + random.below(AREA_BYTES - start),
                }
            }
            10..=12 => Self::Add {
                by: pe(random),
                to: pe(random),
                counter: random.below(COUNTERS),
                value: random.word(),
            },
            13..=17 => {
                let long = random.one_in(5);
                let len = match long {
                    true => random.below(200_000),
                    false => random.below(eager.min(1500) + 1),
                };
                Self::Message {
                    from: pe(random),
                    to: pe(random),
                    // A few share a tag, and then keep their order.
                    tag: tag / 2,
                    bytes: random.bytes(len),
                    later: len <= eager && random.one_in(2),
                }
            }
            18 if random.one_in(2) => Self::Barrier,
            18 => Self::Sum((0..random.below(200)).map(|_| random.word()).collect()),
            _ => {
                let len = random.pick(&[0, 1, 100, 513, 9000]);
                Self::Broadcast {
                    root: pe(random),
                    bytes: random.bytes(len),
                }
            }
        }
    }

    /// The area that it writes: target and writer.
    fn written(&self) -> Option<(PeId, PeId)> {
        match self {
            Self::Put { from, to, .. } => Some((*to, *from)),
            _ => None,
        }
    }
}

struct Traffic<'a> {
    job: &'a Job,
    /// Longer messages wait for their receiver.
    eager_bytes: usize,
    repeat: Repeat,
    memory: Symmetric<u8>,
    /// From one area to the next.
    area_step_bytes: usize,
    counters: Symmetric<u64>,
    signals: Symmetric<u64>,
    /// The model of the memory of all PEs.
    model: Vec<Vec<u8>>,
    sums: Vec<[u64; COUNTERS]>,
    signalled: Vec<u64>,
    /// Own puts since the last fence: target and place.
    unordered: Vec<(PeId, Range<usize>)>,
    /// Messages to this PE that are to be received later.
    pending: Vec<(PeId, u64, Vec<u8>)>,
}

impl<'a> Traffic<'a> {
    fn new(job: &'a Job, eager_bytes: usize, repeat: Repeat) -> Self {
        let pes = job.pes() as usize;
        let area_step_bytes = apart(job, AREA_BYTES);
        Self {
            job,
            eager_bytes,
            repeat,
            memory: repeat.ok(job.alloc(pes * area_step_bytes)),
            area_step_bytes,
            counters: repeat.ok(job.alloc(COUNTERS)),
            signals: repeat.ok(job.alloc(1)),
            model: vec![vec![0; pes * area_step_bytes]; pes],
            sums: vec![[0; COUNTERS]; pes],
            signalled: vec![0; pes],
            unordered: Vec::new(),
            pending: Vec::new(),
        }
    }

    fn round(&mut self, mut random: Random) {
        let (pes, eager) = (self.job.pes(), self.eager_bytes);
        let operations: Vec<Operation> = (0..OPERATIONS)
            .map(|number| Operation::draw(&mut random, pes, eager, number as u64))
            .collect();
        let written: Vec<_> = operations.iter().filter_map(Operation::written).collect();
        // From here on each PE draws its own numbers.
        let mut own = Random::new(random.word().wrapping_add(self.job.pe().into()));
        for operation in operations {
            self.apply(operation, &written);
            while own.one_in(3) && self.receive_pending(&mut own) {}
        }
        while self.receive_pending(&mut own) {}
        self.compare();
    }

    fn message(&mut self, (from, to): (PeId, PeId), tag: u64, bytes: Vec<u8>, later: bool) {
        let own = self.job.pe();
        if from == own {
            self.repeat.ok(self.job.send(to, tag, &bytes));
        }
        if to == own {
            // Earlier messages with this tag have to be received before.
            let same = |(f, t, _): &(PeId, u64, Vec<u8>)| (*f, *t) == (from, tag);
            self.pending.push((from, tag, bytes));
            while !later && self.pending.iter().any(same) {
                let first = self.pending.iter().position(same).unwrap_or(0);
                self.receive(first);
            }
        }
    }

    fn apply(&mut self, operation: Operation, written: &[(PeId, PeId)]) {
        let (job, repeat, own) = (self.job, self.repeat, self.job.pe());
        match operation {
            Operation::Put {
                from,
                to,
                at,
                bytes,
                signal,
            } => {
                let place = self.area(from).start + at;
                self.model[to as usize][place..place + bytes.len()].copy_from_slice(&bytes);
                self.signalled[to as usize] += u64::from(signal);
                if from == own {
                    self.put(to, place, &bytes, signal);
                }
            }
            Operation::Get {
                by,
                from,
                writer,
                range,
            } => {
                // Elements that no PE writes in this round, or only this PE.
                let settled = writer == by || !written.contains(&(from, writer));
                if by == own && settled {
                    let start = self.area(writer).start + range.start;
                    let mut got = vec![0; range.len()];
                    repeat.ok(job.quiet());
                    self.unordered.clear();
                    repeat.ok(self.memory.get(from, start, &mut got));
                    let expected = &self.model[from as usize][start..start + range.len()];
                    assert!(got == expected, "get from PE {from}; {repeat}");
                }
            }
            Operation::Add {
                by,
                to,
                counter,
                value,
            } => {
                let sum = &mut self.sums[to as usize][counter];
                *sum = sum.wrapping_add(value);
                if by == own {
                    repeat.ok(self.counters.add(to, counter, value));
                }
            }
            Operation::Message {
                from,
                to,
                tag,
                bytes,
                later,
            } => {
                self.message((from, to), tag, bytes, later);
            }
            Operation::Barrier => {
                repeat.ok(job.barrier());
                self.unordered.clear();
            }
            Operation::Sum(values) => {
                let mut got: Vec<u64> = values.iter().map(|v| v ^ u64::from(own)).collect();
                repeat.ok(job.all_reduce(&mut got, u64::wrapping_add));
                for (got, value) in got.into_iter().zip(values) {
                    let all = (0..job.pes()).map(|pe| value ^ u64::from(pe));
                    assert_eq!(got, all.fold(0, u64::wrapping_add), "{repeat}");
                }
            }
            Operation::Broadcast { root, bytes } => {
                let mut got = if root == own {
                    bytes.clone()
                } else {
                    vec![0; bytes.len()]
                };
                repeat.ok(job.broadcast(root, &mut got));
                assert!(got == bytes, "broadcast of PE {root}; {repeat}");
            }
        }
    }

    fn put(&mut self, to: PeId, place: usize, bytes: &[u8], signal: bool) {
        let range = place..place + bytes.len();
        let overlaps = |(pe, other): &(PeId, Range<usize>)| {
            *pe == to && range.start < other.end && other.start < range.end
        };
        if self.unordered.iter().any(overlaps) {
            self.repeat.ok(self.job.fence());
            self.unordered.clear();
        }
        self.repeat.ok(if signal {
            let add = SignalOp::Add(1);
            self.memory
                .put_with_signal(to, place, bytes, &self.signals, 0, add)
        } else {
            self.memory.put(to, place, bytes)
        });
        self.unordered.push((to, range));
    }

    /// Receives any message whose predecessors with its tag have been received.
    fn receive_pending(&mut self, random: &mut Random) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        let chosen = random.below(self.pending.len());
        let (from, tag, _) = self.pending[chosen];
        let first = self
            .pending
            .iter()
            .position(|(f, t, _)| (*f, *t) == (from, tag));
        self.receive(first.unwrap_or(chosen));
        true
    }

    fn receive(&mut self, index: usize) {
        let (from, tag, expected) = self.pending.remove(index);
        let got: Vec<u8> = self.repeat.ok(self.job.recv_vec(from, tag));
        let (len, repeat) = (got.len(), self.repeat);
        assert!(
            got == expected,
            "{len} bytes from PE {from}, tag {tag}; {repeat}"
        );
    }

    /// Compares the own memory with the model, while no PE writes.
    fn compare(&mut self) {
        let (repeat, own) = (self.repeat, self.job.pe() as usize);
        let signalled = self.signalled[own];
        repeat.ok(self.signals.wait_until(0, Compare::Ge, signalled));
        repeat.ok(self.job.barrier());
        self.unordered.clear();
        assert_eq!(self.signals.load(0), Ok(signalled), "{repeat}");
        assert_eq!(
            repeat.ok(self.counters.to_vec()),
            self.sums[own],
            "{repeat}"
        );
        let memory = repeat.ok(self.memory.to_vec());
        let differs = memory
            .iter()
            .zip(&self.model[own])
            .position(|(a, b)| a != b);
        assert_eq!(differs, None, "first byte that differs; {repeat}");
        repeat.ok(self.job.barrier());
    }

    fn area(&self, writer: PeId) -> Range<usize> {
        let start = writer as usize * self.area_step_bytes;
        start..start + AREA_BYTES
    }
}
