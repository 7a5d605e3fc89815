//! Two PEs greet each other, and say on which machines they are: what `make vm-demo` shows.
//!
//! Then they check gets, atomics and a long put, and measure how long a word takes.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use hostwire::settings::WIRE;
use hostwire::{Compare, Job, PeId, SignalOp, Symmetric};
use hostwire_examples::{Failure, run};

/// Sends a greeting each way between two PEs, and measures half a round trip.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// How many round trips are measured. Of more than a million, the last million counts.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,

    /// How long PE 1 waits for a word before that, to see what waiting costs.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    rest: u64,
}

/// The longest greeting.
const TEXT_BYTES: usize = 256;
/// Bytes of the long put.
const LONG_BYTES: usize = 1 << 20;
/// Most round trips that are kept.
const KEPT_MAX: usize = 1_000_000;
/// How often each PE adds to the counter.
const ADDS: u64 = 500;

fn main() -> ExitCode {
    run("greet", greet)
}

fn greet(job: &Job, args: Args) -> Result<(), Failure> {
    if job.pes() != 2 {
        let text = format!("two PEs greet each other, and here are {}", job.pes());
        return Err(Failure::Usage(text));
    }
    let text = job.alloc::<u8>(TEXT_BYTES)?;
    let signal = job.alloc::<u64>(1)?;
    for from in 0..2 {
        exchange(job, from, &text, &signal)?;
        job.barrier()?;
    }
    check_get(job, &text)?;
    check_atomics(job)?;
    check_long_put(job)?;
    if args.rest > 0 {
        rest(job, Duration::from_secs(args.rest))?;
    }
    measure(job, args.turns)
}

/// PE `from` puts a greeting into the memory of the other one, which prints it.
fn exchange(
    job: &Job,
    from: PeId,
    text: &Symmetric<u8>,
    signal: &Symmetric<u64>,
) -> Result<(), Failure> {
    let to = 1 - from;
    if job.pe() == from {
        let greeting = format!("greetings from {} to {}", name(job, from), name(job, to));
        let mut bytes = greeting.into_bytes();
        bytes.truncate(TEXT_BYTES);
        let len = SignalOp::Set(bytes.len() as u64);
        text.put_with_signal(to, 0, &bytes, signal, 0, len)?;
    } else {
        signal.wait_until(0, Compare::Ne, 0)?;
        let len = signal.load(0)? as usize;
        let mut bytes = vec![0; len.min(TEXT_BYTES)];
        text.read(0, &mut bytes)?;
        let greeting = String::from_utf8_lossy(&bytes);
        println!("{} finds in its memory: {greeting}", name(job, to));
    }
    Ok(())
}

fn name(job: &Job, pe: PeId) -> String {
    let nodes = job.nodes();
    let node = nodes.node_of(pe).map(|node| node as usize);
    let host = node.and_then(|node| nodes.nodes().get(node));
    format!("PE {pe} on {}", host.map_or("?", |node| node.host.as_str()))
}

/// Each reads what the other one has.
fn check_get(job: &Job, text: &Symmetric<u8>) -> Result<(), Failure> {
    let other = 1 - job.pe();
    let mut bytes = [0; TEXT_BYTES];
    text.get(other, 0, &mut bytes)?;
    let wanted = format!("greetings from {}", name(job, job.pe()));
    let is_right = bytes.starts_with(wanted.as_bytes());
    agree(job, is_right, "gets")
}

/// Both add to one counter.
fn check_atomics(job: &Job) -> Result<(), Failure> {
    let counter = job.alloc::<u64>(1)?;
    for _ in 0..ADDS {
        counter.fetch_add(0, 0, 1)?;
    }
    job.barrier()?;
    let is_right = counter.fetch(0, 0)? == 2 * ADDS;
    agree(job, is_right, "atomics")
}

/// PE 0 puts bytes that PE 1 knows.
fn check_long_put(job: &Job) -> Result<(), Failure> {
    let values = job.alloc::<u8>(LONG_BYTES)?;
    let expected: Vec<u8> = (0..LONG_BYTES).map(|i| (i * 7 + i / 251) as u8).collect();
    let begin = Instant::now();
    if job.pe() == 0 {
        values.put(1, 0, &expected)?;
        job.quiet()?;
    }
    let took = begin.elapsed();
    job.barrier()?;
    let is_right = job.pe() == 0 || values.to_vec()? == expected;
    agree(job, is_right, "long puts")?;
    if job.pe() == 0 {
        let rate = LONG_BYTES as f64 / took.as_secs_f64().max(1e-9) / 1e9;
        println!("a put of 1 MiB: {rate:.2} GB/s");
    }
    Ok(())
}

/// Says whether both PEs found it right.
fn agree(job: &Job, is_right: bool, what: &str) -> Result<(), Failure> {
    let mut wrong = [u64::from(!is_right)];
    job.all_reduce(&mut wrong, |a, b| a + b)?;
    match wrong[0] {
        0 if job.pe() == 0 => println!("{what}: right on both PEs"),
        0 => {}
        _ => return Err(Failure::Together(format!("{what}: wrong bytes"))),
    }
    Ok(())
}

/// PE 1 waits for a word so long that it sleeps.
fn rest(job: &Job, time: Duration) -> Result<(), Failure> {
    let word = job.alloc::<u64>(1)?;
    if job.pe() == 0 {
        std::thread::sleep(time);
        let begin = Instant::now();
        word.put(1, 0, &[1])?;
        word.wait_until(0, Compare::Eq, 1)?;
        let took = shown(begin.elapsed());
        println!("PE 1 slept; a word woke it, and its answer came after {took}");
    } else {
        let before = processor_time();
        word.wait_until(0, Compare::Eq, 1)?;
        let used = processor_time().saturating_sub(before);
        word.put(0, 0, &[1])?;
        let part = 100.0 * used.as_secs_f64() / time.as_secs_f64();
        println!(
            "PE 1 waited {} s, which took {part:.2} % of a processor",
            time.as_secs()
        );
    }
    job.barrier()?;
    Ok(())
}

/// What all threads of this process have used.
fn processor_time() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let times = threads.flatten().filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(times.sum())
}

/// Half of the time that a word takes to the other PE and back.
fn measure(job: &Job, turns: u32) -> Result<(), Failure> {
    let word = job.alloc::<u64>(1)?;
    let other = 1 - job.pe();
    let mut halves = vec![Duration::ZERO; KEPT_MAX.min(turns as usize)];
    let kept = halves.len();
    for turn in 1..=u64::from(turns) {
        let begin = Instant::now();
        if job.pe() == 0 {
            word.put(other, 0, &[turn])?;
        }
        word.wait_until(0, Compare::Ge, turn)?;
        if job.pe() == 1 {
            word.put(other, 0, &[turn])?;
        }
        halves[turn as usize % kept] = begin.elapsed() / 2;
    }
    job.barrier()?;
    if job.pe() == 0 {
        halves.sort_unstable();
        let at = |part: f64| halves[((halves.len() - 1) as f64 * part) as usize];
        let wire = std::env::var(WIRE.variable).unwrap_or_else(|_| "auto".to_owned());
        println!(
            "half round trip of a word over the wire {wire}: at least {}, half of them at most {}, \
             99 % at most {} ({turns} round trips)",
            shown(at(0.0)),
            shown(at(0.5)),
            shown(at(0.99)),
        );
    }
    Ok(())
}

fn shown(time: Duration) -> String {
    match time.as_nanos() {
        ns @ 0..10_000 => format!("{ns} ns"),
        ns @ 10_000..10_000_000 => format!("{} us", ns / 1000),
        ns => format!("{} ms", ns / 1_000_000),
    }
}
