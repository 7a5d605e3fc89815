//! HPC Challenge RandomAccess: how many words anywhere in the job can be updated per
//! second, in giga updates per second (GUPS).
//!
//! The rules (<https://hpcchallenge.org/projectsfiles/hpcc/RandomAccess.html>): a table
//! of `2^k` 64-bit words, spread over all PEs, with `table[i] = i`. `4 * 2^k` updates
//! `table[a mod 2^k] ^= a`, where the numbers `a` come from a fixed random sequence. A
//! PE may hold back at most 1024 updates. Doing all updates a second time must give the
//! first table again, except for at most 1 % of its words.
//!
//! The rules also want a table of half the machine's memory; here its size is yours.

use std::process::ExitCode;
use std::time::{Duration, Instant};

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
    /// Collected by target, put there many at a time, and applied by the owner.
    Bucket,
}

/// The rules' limit on updates that a PE may hold back.
const LOOK_AHEAD: usize = 1024;
/// Updates that are done together.
const AT_ONCE: usize = 128;
/// Updates for others that a PE holds back, beside those of its own words.
const HELD_MAX: usize = LOOK_AHEAD - AT_ONCE;
/// Updates per word of the table.
const UPDATES_PER_WORD: u64 = 4;
/// `--sabotage` leaves out one of so many updates.
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
    let mut buckets = Buckets::new(job).map_err(needs_heap)?;
    let own = share(updates, job.pe(), job.pes());

    let left_out = args.sabotage.then_some(LEFT_OUT);
    let numbers = Sequence::from(own.start)
        .zip(own)
        .map(|(number, index)| match left_out {
            Some(every) if index % every == 0 => 0, // changes nothing
            _ => number,
        });
    job.barrier()?;
    let begin = Instant::now();
    match args.mode {
        Mode::Atomic => table.update_by_atomics(numbers)?,
        Mode::Bucket => buckets.update(&table, numbers)?,
    }
    job.barrier()?;
    let seconds = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    table.update_alone(updates)?;
    let mut wrong = [table.wrong_words()?];
    job.all_reduce(&mut wrong, |a, b| a + b)?;
    let check_seconds = begin.elapsed().as_secs_f64();
    let wrong_percent = wrong[0] as f64 / words as f64 * 100.0;

    if job.pe() == 0 {
        println!(
            "{:.4} GUPS: {updates} updates of 2^{} words ({} MiB) by {} PEs in {seconds:.3} s",
            updates as f64 / seconds * 1e-9,
            args.log2_words,
            (words * 8) >> 20,
            job.pes(),
        );
        // For comparisons: hostwire compare reads such lines.
        println!("update: {:.1} ns", seconds * 1e9 / updates.max(1) as f64);
        println!(
            "check: {} wrong words of {words}, {wrong_percent:.4} % (at most 1 %), in {check_seconds:.3} s",
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

/// Does updates of own words. Looks at all of a few before it changes any, so that they come
/// from memory together: an update waits for its word.
///
/// No other PE updates them meanwhile. In reach an update is a load and a store.
fn update_words(table: &Table, numbers: &[u64]) -> hostwire::Result<()> {
    let (words, own) = (&table.memory, table.pe);
    let mut indices = [0; AT_ONCE];
    for numbers in numbers.chunks(AT_ONCE) {
        let mut word = [0];
        let mut seen = 0;
        for (index, number) in indices.iter_mut().zip(numbers) {
            (_, *index) = table.locate(*number);
        }
        for index in &indices[..numbers.len()] {
            words.get(own, *index, &mut word)?;
            seen ^= word[0];
        }
        std::hint::black_box(seen);
        for (index, number) in indices.iter().zip(numbers) {
            words.get(own, *index, &mut word)?;
            words.put(own, *index, &[word[0] ^ number])?;
        }
    }
    Ok(())
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

    /// Does the updates of all PEs a second time: each PE goes through all of them and takes those
    /// of its own words. Nothing is sent, so no fault of the communication can hide.
    fn update_alone(&self, updates: u64) -> hostwire::Result<()> {
        const STEP: u64 = 1 << 20;
        let mut progress = Progress::new(self.pe == 0, updates);
        let mut found = Vec::with_capacity(AT_ONCE);
        let mut numbers = Sequence::from(0);
        for begin in (0..updates).step_by(STEP as usize) {
            for number in numbers.by_ref().take(STEP.min(updates - begin) as usize) {
                let (pe, _) = self.locate(number);
                if pe == self.pe {
                    found.push(number);
                    if found.len() == AT_ONCE {
                        update_words(self, &found)?;
                        found.clear();
                    }
                }
            }
            progress.tell(begin);
        }
        update_words(self, &found)
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

/// Says on standard error how far the check is, once a second, if it takes longer than one.
struct Progress {
    is_told: bool,
    all: u64,
    next: Instant,
}

impl Progress {
    const INTERVAL: Duration = Duration::from_secs(1);

    fn new(is_told: bool, all: u64) -> Self {
        Self {
            is_told,
            all,
            next: Instant::now() + Self::INTERVAL,
        }
    }

    fn tell(&mut self, done: u64) {
        let now = Instant::now();
        if self.is_told && now >= self.next {
            self.next = now + Self::INTERVAL;
            eprintln!("gups: checking: {} %", done * 100 / self.all);
        }
    }
}

/// Every PE has a ring in the memory of each other one, and puts many numbers there at a time.
/// A word that comes behind them says how many there are. Their owner does the updates whenever
/// it has collected enough of its own, and reports how many it has taken. So no PE waits until
/// a ring is full.
struct Buckets {
    pe: PeId,
    pes: u32,
    /// Numbers that a ring holds: a power of two, and more than a PE may hold back.
    room: usize,
    /// By sender.
    rings: Symmetric<u64>,
    /// By sender, what it has put: twice the count since the beginning, and 1 more when that is
    /// all. Behind these, by receiver, how many it has taken.
    counts: Symmetric<u64>,
    peers: Vec<Peer>,
}

/// The state of a PE's rings to and from another one.
#[derive(Default)]
struct Peer {
    bucket: Vec<u64>,
    put: u64,
    taken: u64,
    /// The number of those that was reported to the sender.
    told: u64,
    has_ended: bool,
}

/// The numbers that all rings of a PE hold together, if that leaves enough for each.
const RINGS: usize = 1 << 18;

impl Buckets {
    fn new(job: &Job) -> hostwire::Result<Self> {
        let pes = job.pes() as usize;
        let room = (RINGS / pes).next_power_of_two();
        let room = room.clamp(2 * LOOK_AHEAD, 8 * LOOK_AHEAD);
        Ok(Self {
            pe: job.pe(),
            pes: job.pes(),
            room,
            rings: job.alloc(pes * room)?,
            counts: job.alloc(pes * 2)?,
            peers: (0..pes).map(|_| Peer::default()).collect(),
        })
    }

    /// All PEs call this, with or without numbers of their own, and once.
    fn update(
        &mut self,
        table: &Table,
        numbers: impl Iterator<Item = u64>,
    ) -> hostwire::Result<()> {
        let mut held = 0;
        for number in numbers {
            let (pe, _) = table.locate(number);
            let bucket = &mut self.peers[pe as usize].bucket;
            bucket.push(number);
            if pe == self.pe {
                if bucket.len() == AT_ONCE {
                    update_words(table, bucket)?;
                    bucket.clear();
                }
                continue;
            }
            held += 1;
            if held == HELD_MAX {
                held -= self.put_fullest(table, held)?;
                self.take(table)?;
            }
        }
        let bucket = &mut self.peers[self.pe as usize].bucket;
        update_words(table, bucket)?;
        bucket.clear();
        for to in self.others() {
            self.put(table, to, true)?;
        }
        while let Some(from) = self.others().find(|pe| !self.peers[*pe as usize].has_ended) {
            if !self.take(table)? {
                self.pause(from)?;
            }
        }
        Ok(())
    }

    /// Nothing can be done before `pe` has done something.
    fn pause(&self, pe: PeId) -> hostwire::Result<()> {
        std::thread::yield_now();
        // An empty put: fails if the PE is lost.
        self.rings.put(pe, 0, &[])
    }

    /// Puts the buckets that are not below the average. Says how many numbers they had.
    fn put_fullest(&mut self, table: &Table, held: usize) -> hostwire::Result<usize> {
        let average = held / (self.pes as usize - 1);
        let mut done = 0;
        for to in self.others() {
            let len = self.peers[to as usize].bucket.len();
            if len > 0 && len >= average {
                self.put(table, to, false)?;
                done += len;
            }
        }
        Ok(done)
    }

    /// Puts the bucket for `to` into the ring there, when it has room.
    fn put(&mut self, table: &Table, to: PeId, is_last: bool) -> hostwire::Result<()> {
        let freed_at = (self.pes + to) as usize;
        let end = self.peers[to as usize].put + self.peers[to as usize].bucket.len() as u64;
        while !self
            .counts
            .test(freed_at, Compare::Ge, end.saturating_sub(self.room as u64))?
        {
            // The other one may be waiting for room here.
            if !self.take(table)? {
                self.pause(to)?;
            }
        }
        let peer = &mut self.peers[to as usize];
        let ring = self.pe as usize * self.room;
        let at = peer.put as usize % self.room;
        let until_end = (self.room - at).min(peer.bucket.len());
        let (front, back) = peer.bucket.split_at(until_end);
        self.rings.put(to, ring + at, front)?;
        let count = SignalOp::Set(end * 2 + u64::from(is_last));
        let own = self.pe as usize;
        self.rings
            .put_with_signal(to, ring, back, &self.counts, own, count)?;
        peer.put = end;
        peer.bucket.clear();
        Ok(())
    }

    /// Does the updates that have arrived. Returns whether there were any.
    fn take(&mut self, table: &Table) -> hostwire::Result<bool> {
        let mut any = false;
        let mut numbers = [0; LOOK_AHEAD];
        for from in self.others() {
            let (ring, peer) = (from as usize * self.room, &mut self.peers[from as usize]);
            let count_at = from as usize;
            if peer.has_ended || !self.counts.test(count_at, Compare::Gt, peer.taken * 2)? {
                continue;
            }
            any = true;
            let count = self.counts.load(count_at)?;
            while peer.taken < count / 2 {
                let at = peer.taken as usize % self.room;
                let len = LOOK_AHEAD.min(self.room - at);
                let len = len.min((count / 2 - peer.taken) as usize);
                let numbers = &mut numbers[..len];
                self.rings.read(ring + at, numbers)?;
                update_words(table, numbers)?;
                peer.taken += len as u64;
            }
            peer.has_ended = count % 2 == 1;
            if peer.taken - peer.told >= self.room as u64 / 4 {
                peer.told = peer.taken;
                let taken_at = (self.pes + self.pe) as usize;
                self.counts.put(from, taken_at, &[peer.taken])?;
            }
        }
        Ok(any)
    }

    /// All other PEs, beginning with the next one, so that not all put to the same.
    fn others(&self) -> impl Iterator<Item = PeId> + use<> {
        let (pe, pes) = (self.pe, self.pes);
        (1..pes).map(move |step| (pe + step) % pes)
    }
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
        let mut buckets = Buckets::new(&job).unwrap();
        buckets.update(&by_buckets, numbers()).unwrap();
        assert_eq!(by_buckets.memory.to_vec().unwrap(), expected);
        let changed = (0..).zip(&expected).filter(|(i, word)| i != *word).count();
        assert_eq!(by_buckets.wrong_words().unwrap(), changed as u64);
        assert!(changed > 10);
        // The second time gives the first table back.
        by_buckets.update_alone(words * 4).unwrap();
        assert_eq!(by_buckets.wrong_words().unwrap(), 0);
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
