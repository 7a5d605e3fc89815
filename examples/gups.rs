//! HPC Challenge RandomAccess: how many words anywhere in the job can be updated per
//! second, in giga updates per second (GUPS).
//!
//! The rules (<https://hpcchallenge.org/projectsfiles/hpcc/RandomAccess.html>): a table
//! of `2^k` 64-bit words, spread over all PEs, with `table[i] = i`. `4 * 2^k` updates
//! `table[a mod 2^k] ^= a`, where the numbers `a` come from a fixed random sequence. A
//! PE may hold back at most 1024 updates. Doing all updates a second time must
//! give the first table back, but for at most 1 % of its words.
//!
//! The rules also want a table of half the machine's memory; here its size is yours.

use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use hostwire::{Compare, Job, PeId, SignalOp, Symmetric};
use hostwire_examples::{Failure, run, share};

/// Measures random updates of words all over the job (HPC Challenge RandomAccess).
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Example: hostwire run -n 2 --heap 1G gups --log2-words 26

The exit status is 0 if at most 1 % of the words are wrong."
)]
struct Args {
    /// The table has 2^K words of 8 bytes, all PEs together.
    #[arg(long, value_name = "K", default_value_t = 23, value_parser = clap::value_parser!(u32).range(6..=40))]
    log2_words: u32,
    /// How updates travel.
    #[arg(long, value_enum, default_value = "bucket")]
    mode: Mode,
    /// Leave out every 50th update the first time, to see the check fail.
    #[arg(long)]
    sabotage: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Each is an atomic XOR on the word, wherever it lies.
    Atomic,
    /// Collected by target, put there 1024 at a time, and applied by the owner.
    Bucket,
}

/// The rules' limit on updates that a PE may hold back.
const LOOK_AHEAD: usize = 1024;
/// Updates per word of the table.
const UPDATES_PER_WORD: u64 = 4;
/// Of how many updates `--sabotage` leaves out one.
const LEFT_OUT: u64 = 50;

fn main() -> ExitCode {
    run("gups", gups)
}

fn gups(job: &Job, args: Args) -> Result<(), Failure> {
    let words = 1_u64 << args.log2_words;
    let updates = words * UPDATES_PER_WORD;
    if words < u64::from(job.pes()) {
        return Err(Failure::Usage(format!(
            "a table of {words} words cannot be spread over {} PEs",
            job.pes()
        )));
    }
    let table = Table::new(job, args.log2_words).map_err(needs_heap)?;
    let buckets = Buckets::new(job).map_err(needs_heap)?;
    let own = share(updates, job.pe(), job.pes());

    let update = |mode, left_out: Option<u64>| -> hostwire::Result<()> {
        let numbers = Sequence::from(own.start)
            .zip(own.clone())
            .map(|(number, index)| match left_out {
                Some(every) if index % every == 0 => 0, // changes nothing
                _ => number,
            });
        match mode {
            Mode::Atomic => table.update_by_atomics(numbers)?,
            Mode::Bucket => buckets.update(&table, numbers, rounds(updates, job.pes()))?,
        }
        job.barrier()
    };

    job.barrier()?;
    let begin = Instant::now();
    update(args.mode, args.sabotage.then_some(LEFT_OUT))?;
    let seconds = begin.elapsed().as_secs_f64();

    // The second time by the other way, so that neither can hide its own mistakes.
    update(
        match args.mode {
            Mode::Atomic => Mode::Bucket,
            Mode::Bucket => Mode::Atomic,
        },
        None,
    )?;
    let mut wrong = [table.wrong_words()?];
    job.all_reduce(&mut wrong, |a, b| a + b)?;
    let wrong_percent = wrong[0] as f64 / words as f64 * 100.0;

    if job.pe() == 0 {
        println!(
            "{:.4} GUPS: {updates} updates of 2^{} words ({} MiB) by {} PEs in {seconds:.3} s",
            updates as f64 / seconds * 1e-9,
            args.log2_words,
            (words * 8) >> 20,
            job.pes(),
        );
        println!(
            "check: {} wrong words of {words}, {wrong_percent:.4} % (at most 1 %)",
            wrong[0]
        );
    }
    if wrong_percent <= 1.0 {
        Ok(())
    } else {
        Err(Failure::Together(format!(
            "check failed: {wrong_percent:.4} % of the words are wrong"
        )))
    }
}

fn needs_heap(error: hostwire::Error) -> Failure {
    match error {
        hostwire::Error::OutOfMemory { .. } => {
            Failure::Together(format!("{error}; or take a smaller table (--log2-words)"))
        }
        other => other.into(),
    }
}

/// The table: its `2^k` words are split among the PEs as evenly as can be.
struct Table {
    memory: Symmetric<u64>,
    pe: PeId,
    log2_words: u32,
    /// The first word of each PE, and behind it the number of words.
    first: Vec<u64>,
}

impl Table {
    fn new(job: &Job, log2_words: u32) -> hostwire::Result<Self> {
        let most = (1_u64 << log2_words).div_ceil(job.pes().into());
        let table = Self {
            memory: job.alloc(most as usize)?,
            pe: job.pe(),
            log2_words,
            first: first_words(log2_words, job.pes()),
        };
        let initial: Vec<u64> = table.own_words().collect();
        table.memory.write(0, &initial)?;
        Ok(table)
    }

    fn own_words(&self) -> std::ops::Range<u64> {
        let pe = self.pe as usize;
        self.first[pe]..self.first[pe + 1]
    }

    /// Where word `number mod 2^k` lies.
    #[inline]
    fn locate(&self, number: u64) -> (PeId, usize) {
        let word = number & ((1 << self.log2_words) - 1);
        let pes = self.first.len() as u64 - 1;
        // A multiplication where a division would take longer than the update.
        let pe = (word * pes) >> self.log2_words;
        (pe as PeId, (word - self.first[pe as usize]) as usize)
    }

    fn update_by_atomics(&self, numbers: impl Iterator<Item = u64>) -> hostwire::Result<()> {
        for number in numbers {
            let (pe, index) = self.locate(number);
            self.memory.fetch_xor(pe, index, number)?;
        }
        Ok(())
    }

    /// Does updates of words of this PE. Nobody else changes them.
    #[inline]
    fn update_own(&self, numbers: &[u64]) -> hostwire::Result<()> {
        for number in numbers {
            let (_, index) = self.locate(*number);
            self.memory
                .store(index, self.memory.load(index)? ^ number)?;
        }
        Ok(())
    }

    /// How many words of this PE are not what they were at first.
    fn wrong_words(&self) -> hostwire::Result<u64> {
        let words = self.own_words().zip(self.memory.to_vec()?);
        Ok(words.filter(|(initial, word)| initial != word).count() as u64)
    }
}

/// The first word of each PE, and the number of words: the least `w` with
/// `w * pes / 2^k >= pe`.
fn first_words(log2_words: u32, pes: u32) -> Vec<u64> {
    (0..=u64::from(pes))
        .map(|pe| (pe << log2_words).div_ceil(pes.into()))
        .collect()
}

/// In each round, every PE puts what it has for another into that PE's inbox.
///
/// The signal of an inbox says which round it holds and how many numbers. Two inboxes
/// per sender, each with its signal, are enough: whoever has sent round `r` has emptied
/// its inboxes of round `r - 1`, and nobody begins round `r + 1` before it has round `r`
/// of everybody.
struct Buckets {
    pe: PeId,
    pes: u32,
    /// By sender and parity of the round.
    inboxes: Symmetric<u64>,
    /// Likewise: see [`signal`].
    signals: Symmetric<u64>,
    rounds_done: std::cell::Cell<u64>,
}

impl Buckets {
    fn new(job: &Job) -> hostwire::Result<Self> {
        let pes = job.pes();
        Ok(Self {
            pe: job.pe(),
            pes,
            inboxes: job.alloc(pes as usize * 2 * LOOK_AHEAD)?,
            signals: job.alloc(pes as usize * 2)?,
            rounds_done: std::cell::Cell::new(0),
        })
    }

    /// All PEs take part in all `rounds`, with or without numbers of their own.
    fn update(
        &self,
        table: &Table,
        mut numbers: impl Iterator<Item = u64>,
        rounds: u64,
    ) -> hostwire::Result<()> {
        let mut buckets = vec![Vec::with_capacity(LOOK_AHEAD); self.pes as usize];
        let mut got = [0; LOOK_AHEAD];
        for _ in 0..rounds {
            let round = self.rounds_done.get() + 1;
            self.rounds_done.set(round);
            for number in numbers.by_ref().take(LOOK_AHEAD) {
                let (pe, _) = table.locate(number);
                buckets[pe as usize].push(number);
            }
            for to in self.others() {
                let bucket = &mut buckets[to as usize];
                let signal = SignalOp::Set(signal(round, bucket.len()));
                let inbox = inbox(self.pe, round);
                let place = inbox * LOOK_AHEAD;
                self.inboxes
                    .put_with_signal(to, place, bucket, &self.signals, inbox, signal)?;
                bucket.clear();
            }
            let own = &mut buckets[self.pe as usize];
            table.update_own(own)?;
            own.clear();
            for from in self.others() {
                let inbox = inbox(from, round);
                let empty = signal(round, 0);
                self.signals.wait_until(inbox, Compare::Ge, empty)?;
                let count = (self.signals.load(inbox)? - empty) as usize;
                let got = &mut got[..count.min(LOOK_AHEAD)];
                self.inboxes.read(inbox * LOOK_AHEAD, got)?;
                table.update_own(got)?;
            }
        }
        Ok(())
    }

    /// All other PEs, beginning with the next one, so that not all put to the same.
    fn others(&self) -> impl Iterator<Item = PeId> + use<> {
        let (pe, pes) = (self.pe, self.pes);
        (1..pes).map(move |step| (pe + step) % pes)
    }
}

/// The inbox of a sender for a round.
fn inbox(from: PeId, round: u64) -> usize {
    from as usize * 2 + (round % 2) as usize
}

/// Rounds that the PE with the most updates needs.
fn rounds(updates: u64, pes: u32) -> u64 {
    updates.div_ceil(u64::from(pes)).div_ceil(LOOK_AHEAD as u64)
}

/// Says that an inbox holds the `count` numbers of `round`.
fn signal(round: u64, count: usize) -> u64 {
    round * 2 * LOOK_AHEAD as u64 + count as u64
}

/// The random sequence of the rules: `a' = a * x` in GF(2)\[x\] modulo
/// `x^63 + x^2 + x + 1`, from `a = 1`.
#[derive(Clone)]
struct Sequence(u64);

impl Sequence {
    const POLY: u64 = 7;
    /// After so many steps it begins again.
    const PERIOD: u64 = 1_317_624_576_693_539_401;

    /// The sequence from its element `index` on, element 0 being 1, as
    /// `HPCC_starts` of the reference code has it.
    fn from(index: u64) -> Self {
        let index = index % Self::PERIOD;
        if index == 0 {
            return Self(1);
        }
        // squares[i] is x^(2^(i+1)): column i of the matrix that squares.
        let mut squares = [0; 64];
        let mut power = 1;
        for square in &mut squares {
            *square = power;
            power = step(step(power));
        }
        let mut state: u64 = 2;
        for bit in (0..index.ilog2()).rev() {
            let squared = (0..64)
                .filter(|column| state >> column & 1 == 1)
                .fold(0, |sum, column| sum ^ squares[column]);
            state = if index >> bit & 1 == 1 {
                step(squared)
            } else {
                squared
            };
        }
        Self(state)
    }
}

#[inline]
fn step(a: u64) -> u64 {
    let carry = if (a as i64) < 0 { Sequence::POLY } else { 0 };
    a << 1 ^ carry
}

impl Iterator for Sequence {
    type Item = u64;

    /// The next element, and so never the first one, as in the reference code.
    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.0 = step(self.0);
        Some(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumping_ahead_is_the_same_as_walking() {
        let mut walking = 1;
        for index in 0..10_000 {
            assert_eq!(Sequence::from(index).0, walking, "{index}");
            walking = step(walking);
        }
        for index in [1 << 20, (1 << 40) + 12_345, Sequence::PERIOD - 3] {
            let mut walked = Sequence::from(index);
            assert_eq!(walked.nth(99), Some(Sequence::from(index + 100).0));
        }
    }

    #[test]
    fn the_period_is_that_of_the_rules() {
        assert_eq!(Sequence::from(Sequence::PERIOD - 1).next(), Some(1));
    }

    #[test]
    fn a_job_of_one_agrees_with_a_plain_loop() {
        let job = Job::attach().unwrap();
        let words = 256;
        let numbers = || Sequence::from(0).take(words as usize * 4);
        let mut expected: Vec<u64> = (0..words).collect();
        for number in numbers() {
            expected[(number % words) as usize] ^= number;
        }
        let by_atomics = Table::new(&job, 8).unwrap();
        by_atomics.update_by_atomics(numbers()).unwrap();
        assert_eq!(by_atomics.memory.to_vec().unwrap(), expected);
        let by_buckets = Table::new(&job, 8).unwrap();
        let buckets = Buckets::new(&job).unwrap();
        buckets
            .update(&by_buckets, numbers(), rounds(words * 4, 1))
            .unwrap();
        assert_eq!(by_buckets.memory.to_vec().unwrap(), expected);
        let changed = (0..).zip(&expected).filter(|(i, word)| i != *word).count();
        assert_eq!(by_buckets.wrong_words().unwrap(), changed as u64);
        assert!(changed > 10);
    }

    #[test]
    fn every_word_has_one_place() {
        let job = Job::attach().unwrap();
        let mut table = Table::new(&job, 6).unwrap();
        for pes in [1, 2, 3, 5, 64] {
            table.first = first_words(6, pes);
            let mut next = (0, 0);
            for word in 0..64 {
                let place = table.locate(word);
                if place != next {
                    next = (next.0 + 1, 0);
                }
                assert_eq!(place, next, "word {word} of {pes} PEs");
                assert_eq!(table.locate(word + 64), place);
                next.1 += 1;
            }
            assert_eq!(next.0, pes - 1);
        }
    }
}
