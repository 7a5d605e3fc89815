//! Runs checks over their corpora and over inputs made of them.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hostwire_transport::fuzzing::kit;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::mutate::Mutator;
use crate::report::Failure;
use crate::{Target, corpus};

/// The most memory that a check may have at a time, besides the memory at its beginning.
/// Limits of frames and files are well below.
pub const MEMORY_BYTES_MAX: usize = 64 << 20;
/// The most memory that a process of checks may have. An input with an endless allocation ends
/// the process before the machine runs out of memory.
pub const PROCESS_BYTES_MAX: usize = 1 << 30;
/// Most processor time of one input: a hundred thousand times the usual one.
pub const CPU_MAX: Duration = Duration::from_secs(20);
/// Longest time of one input on a loaded machine: it waits for something that never comes.
pub const WAIT_MAX: Duration = Duration::from_secs(300);
/// Tries to make a failing input shorter.
const SHORTENED_MAX: usize = 2_000;

/// How much memory there is, as the allocator of the program counts it.
#[derive(Debug, Clone, Copy)]
pub struct Meter {
    /// Most bytes more than there were at the last `reset`.
    pub peak_bytes: fn() -> usize,
    /// Counts from here.
    pub reset: fn(),
}

/// The targets to run.
#[derive(Debug)]
pub struct Plan {
    /// Inputs made for each check; expensive ones get fewer.
    pub cases: u64,
    /// The seed of all inputs.
    pub seed: u64,
    /// The file with the present input, for the process that finds this one dead.
    pub at_hand: Option<File>,
}

/// The result of a target.
#[derive(Debug)]
pub struct Outcome {
    /// Inputs that were tried.
    pub tried: u64,
    /// Of these, those that led somewhere new.
    pub added: usize,
    /// The first that failed.
    pub failure: Option<Failure>,
}

thread_local! {
    /// The message of a panic, and its place.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Inputs begun by this process: for [`watch`].
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Leaves the printing of panics to the reports.
pub fn catch_panics() {
    panic::set_hook(Box::new(|info| SAID.set(info.to_string())));
}

/// Denies this process more than [`PROCESS_BYTES_MAX`].
///
/// # Errors
/// As the system refuses the limit.
pub fn limit_memory() -> io::Result<()> {
    let limit = getrlimit(Resource::Data);
    let bytes = PROCESS_BYTES_MAX as u64;
    let current = limit.maximum.map_or(bytes, |most| most.min(bytes));
    let current = Some(current);
    Ok(setrlimit(Resource::Data, Rlimit { current, ..limit })?)
}

/// Ends this process when one input takes more than [`CPU_MAX`] of processor time, or than
/// [`WAIT_MAX`].
///
/// # Errors
/// As the system refuses a thread.
pub fn watch() -> io::Result<()> {
    let watch = || {
        let (mut seen, mut since, mut begin) = (0, Duration::ZERO, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let begun = BEGUN.load(Ordering::Relaxed);
            let now = cpu_time(ClockId::ProcessCPUTime);
            if begun != seen {
                (seen, since, begin) = (begun, now, Instant::now());
            } else if now.saturating_sub(since) > CPU_MAX || begin.elapsed() > WAIT_MAX {
                std::process::abort();
            }
        }
    };
    std::thread::Builder::new().spawn(watch).map(drop)
}

/// Runs one check over its corpus, then over inputs made of it.
///
/// # Errors
/// As the system refuses the corpus.
pub fn run(target: &Target, plan: &Plan, meter: Meter) -> io::Result<Outcome> {
    let files = corpus::of(target)?;
    let mut known = HashSet::new();
    let mut inputs = Vec::new();
    let mut tried = 0;
    for (name, bytes) in files {
        tried += 1;
        if let Some(why) = fails(target, &bytes, plan, meter) {
            let failure = Failure::new(target.name, format!("file {name}"), bytes, why);
            let failure = Some(failure);
            let added = 0;
            return Ok(Outcome {
                tried,
                added,
                failure,
            });
        }
        known.extend(kit::take_marks());
        inputs.push(bytes);
    }
    // The inputs of a target do not depend on the other targets.
    let seed = target.name.bytes().fold(plan.seed, |seed, byte| {
        seed.wrapping_mul(31).wrapping_add(byte.into())
    });
    let mut mutator = Mutator::new(seed, inputs);
    let mut added = 0;
    for case in 0..plan.cases / u64::from(target.cost.max(1)) {
        let bytes = mutator.next();
        tried += 1;
        if let Some(why) = fails(target, &bytes, plan, meter) {
            let origin = format!("seed {}, case {case}", plan.seed);
            let (bytes, why) = shortened(target, bytes, why, plan, meter);
            let failure = Some(Failure::new(target.name, origin, bytes, why));
            return Ok(Outcome {
                tried,
                added,
                failure,
            });
        }
        let marks = kit::take_marks();
        if !marks.iter().all(|mark| known.contains(mark)) {
            known.extend(marks);
            mutator.add(&bytes);
            added += 1;
        }
    }
    Ok(Outcome {
        tried,
        added,
        failure: None,
    })
}

/// The fault of one input.
pub fn fails(target: &Target, bytes: &[u8], plan: &Plan, meter: Meter) -> Option<String> {
    BEGUN.fetch_add(1, Ordering::Relaxed);
    if let Some(file) = &plan.at_hand {
        // If this fails, only the report of a process that dies lacks the input.
        let _ = file.write_all_at(&at_hand(target.name, bytes), 0);
    }
    (meter.reset)();
    let begin = cpu_time(ClockId::ThreadCPUTime);
    let caught = panic::catch_unwind(AssertUnwindSafe(|| (target.check)(bytes)));
    let taken = cpu_time(ClockId::ThreadCPUTime).saturating_sub(begin);
    let most = (meter.peak_bytes)();
    if caught.is_err() {
        return Some(SAID.take());
    }
    if most > MEMORY_BYTES_MAX {
        return Some(format!("{most} bytes of memory at a time"));
    }
    (taken > CPU_MAX).then(|| format!("{taken:?} of processor time"))
}

/// A shorter input that fails as well, if there is one: without parts of it, the longer ones
/// first, then with zeros for bytes.
fn shortened(
    target: &Target,
    mut bytes: Vec<u8>,
    mut why: String,
    plan: &Plan,
    meter: Meter,
) -> (Vec<u8>, String) {
    let mut tries = 0;
    let mut part = bytes.len().div_ceil(2);
    while part > 0 && tries < SHORTENED_MAX {
        let mut at = 0;
        while at < bytes.len() && tries < SHORTENED_MAX {
            let end = (at + part).min(bytes.len());
            let without = [&bytes[..at], &bytes[end..]].concat();
            tries += 1;
            match fails(target, &without, plan, meter) {
                Some(still) => (bytes, why) = (without, still),
                None => at = end,
            }
        }
        part /= 2;
    }
    for at in 0..bytes.len().min(SHORTENED_MAX - tries) {
        let mut zeroed = bytes.clone();
        zeroed[at] = 0;
        if zeroed != bytes
            && let Some(still) = fails(target, &zeroed, plan, meter)
        {
            (bytes, why) = (zeroed, still);
        }
    }
    (bytes, why)
}

fn cpu_time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The contents of the file with the present input: two lengths of four bytes, and both
/// parts.
fn at_hand(name: &str, bytes: &[u8]) -> Vec<u8> {
    let lens = [name.len() as u32, bytes.len() as u32].map(u32::to_le_bytes);
    [lens.as_flattened(), name.as_bytes(), bytes].concat()
}

/// Reads such a file.
pub fn read_at_hand(file: &[u8]) -> Option<(String, Vec<u8>)> {
    let (lens, rest) = file.split_first_chunk::<8>()?;
    let (name_len, len) = lens.split_at(4);
    let number = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize);
    let (name, rest) = rest.split_at_checked(number(name_len)?)?;
    let bytes = rest.get(..number(len)?)?;
    Some((String::from_utf8_lossy(name).into_owned(), bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_at_hand_is_read_back() {
        let file = [at_hand("name", &[1, 2, 3]), vec![9; 50]].concat();
        let read = read_at_hand(&file);
        assert_eq!(read, Some(("name".to_owned(), vec![1, 2, 3])));
        assert_eq!(read_at_hand(&[]), None);
    }
}
