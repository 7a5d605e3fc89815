//! What all PEs of a host can do together on shared memory without messages: the limit of collectives of more than a word.

use hostwire::{EnvironmentFault, IntoBytes, Result};
use hostwire_transport::sync::{AtomicU64, Ordering};
use hostwire_transport::{Memory, TransportError};

use super::measure::Loop;
use super::pe::{Context, place, time};

/// Looks for the others before a PE gives its core away. The first is best where PEs are more than cores, the second where
/// each has one; the better one is the limit.
const LOOKS: [u32; 2] = [0, 1000];
const LINE_BYTES: usize = 64;

/// A barrier on one counter of all PEs.
struct Meeting<'a> {
    count: &'a AtomicU64,
    pes: u64,
    looks: u32,
    expected: u64,
}

impl<'a> Meeting<'a> {
    /// All PEs have to call it, with the same `number` of a counter.
    fn new(bench: &'a Context, number: usize, looks: u32) -> Result<Self> {
        let count = bench.word(0, place::COUNT + number)?;
        bench.job.barrier()?;
        // Goes on where an earlier one left the counter.
        let expected = count.load(Ordering::Acquire);
        bench.job.barrier()?;
        let pes = u64::from(bench.job.pes());
        Ok(Self {
            count,
            pes,
            looks,
            expected,
        })
    }

    /// Waits for all.
    fn wait(&mut self) {
        self.expected += self.pes;
        self.count.fetch_add(1, Ordering::AcqRel);
        let mut looks = 0;
        while self.count.load(Ordering::Acquire) < self.expected {
            match looks < self.looks {
                true => std::hint::spin_loop(),
                false => std::thread::yield_now(),
            }
            looks += 1;
        }
    }
}

/// Barriers.
///
/// # Errors
/// The wire does not map memory.
pub fn barriers(bench: &Context) -> Result<Vec<Loop<'_>>> {
    let mut loops: Vec<Loop<'_>> = Vec::new();
    for (number, looks) in LOOKS.into_iter().enumerate() {
        let mut meeting = Meeting::new(bench, number, looks)?;
        loops.push(Box::new(move |n| {
            time(|| {
                for _ in 0..n {
                    meeting.wait();
                }
                Ok(())
            })
        }));
    }
    Ok(loops)
}

/// All-reduces of `words` numbers: each PE combines a part of all, and takes the other parts from those who combined them.
///
/// # Errors
/// The wire does not map memory.
pub fn all_reduces(bench: &Context, words: usize) -> Result<Vec<Loop<'_>>> {
    let mut loops: Vec<Loop<'_>> = Vec::new();
    for (number, looks) in LOOKS.into_iter().enumerate() {
        let meeting = Meeting::new(bench, LOOKS.len() + number, looks)?;
        let mut all = AllReduce::new(bench, meeting, words)?;
        loops.push(Box::new(move |n| {
            let time = time(|| {
                for _ in 0..n {
                    all.turn()?;
                }
                Ok(())
            })?;
            check(bench, &all.values).map(|()| time)
        }));
    }
    Ok(loops)
}

struct AllReduce<'a> {
    meeting: Meeting<'a>,
    /// Of each PE: its memory, and where its values are.
    places: Vec<(&'a Memory, usize)>,
    pe: usize,
    /// From the values to the part that has been combined.
    combined: usize,
    values: Vec<f64>,
    theirs: Vec<f64>,
}

impl<'a> AllReduce<'a> {
    fn new(bench: &'a Context, meeting: Meeting<'a>, words: usize) -> Result<Self> {
        let places = (0..bench.job.pes()).map(|pe| {
            let (memory, base) = bench.memory(pe)?;
            Ok((memory, base + place::DATA))
        });
        let values = values(bench, words);
        Ok(Self {
            meeting,
            places: places.collect::<Result<_>>()?,
            pe: bench.job.pe() as usize,
            combined: size_of_val(&values[..]).next_multiple_of(LINE_BYTES),
            theirs: values.clone(),
            values,
        })
    }

    /// Where the part of `pe` begins, in words, and how long it is.
    fn part(&self, pe: usize) -> (usize, usize) {
        part(self.values.len(), self.places.len(), pe)
    }

    fn turn(&mut self) -> Result<()> {
        let (memory, at) = self.places[self.pe];
        memory.copy_in(at, self.values.as_bytes())?;
        self.meeting.wait();
        self.combine()?;
        // Nobody stores values again before all have come here, and so have read them.
        self.meeting.wait();
        for pe in 0..self.places.len() {
            let (begin, len) = self.part(pe);
            let (memory, at) = self.places[pe];
            if let Some(values) = self.values.get_mut(begin..begin + len) {
                memory.copy_out(at + self.combined + 8 * begin, values.as_mut_bytes())?;
            }
        }
        Ok(())
    }

    /// Combines the own part of all PEs, and leaves it where others find it.
    fn combine(&mut self) -> Result<()> {
        let (begin, len) = self.part(self.pe);
        let values = self.values.get_mut(begin..begin + len);
        let (values, theirs) = (
            values.unwrap_or_default(),
            self.theirs.get_mut(..len).unwrap_or_default(),
        );
        for (pe, (memory, at)) in self.places.iter().enumerate() {
            if pe == self.pe {
                continue;
            }
            memory.copy_out(at + 8 * begin, theirs.as_mut_bytes())?;
            for (value, other) in values.iter_mut().zip(&*theirs) {
                *value = value.max(*other);
            }
        }
        let (memory, at) = self.places[self.pe];
        Ok(memory.copy_in(at + self.combined + 8 * begin, values.as_bytes())?)
    }
}

/// What a PE brings to an all-reduce: its number, counted from 1.
pub fn values(bench: &Context, words: usize) -> Vec<f64> {
    vec![f64::from(bench.job.pe() + 1); words]
}

/// A limit that leaves something out is none: `values` have to be the largest of all PEs.
///
/// # Errors
/// They are not.
pub fn check(bench: &Context, values: &[f64]) -> Result<()> {
    let expected = f64::from(bench.job.pes());
    match values.iter().find(|value| **value != expected) {
        None => Ok(()),
        Some(got) => {
            let fault =
                EnvironmentFault::unexpected(format_args!("{expected}"), format_args!("{got}"));
            let doing = "checking an all-reduce without messages, the limit of this benchmark";
            Err(TransportError::environment(doing, fault).into())
        }
    }
}

/// Of `words` in `parts` parts, where part `number` begins and how long it is.
fn part(words: usize, parts: usize, number: usize) -> (usize, usize) {
    let len = words.div_ceil(parts);
    let begin = (number * len).min(words);
    (begin, len.min(words - begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_of_it_and_none_twice() {
        for (words, parts) in [(8192, 2), (8192, 8), (9, 8), (3, 8), (1, 2)] {
            let mut next = 0;
            for number in 0..parts {
                let (begin, len) = part(words, parts, number);
                assert_eq!(begin, next, "{words} words, {parts} parts");
                next += len;
            }
            assert_eq!(next, words, "{parts} parts");
        }
    }
}
