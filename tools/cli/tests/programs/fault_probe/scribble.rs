//! The last PE writes random bytes over all memory that its peers let it write, and the
//! others go on as well as they can.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire::{AgentMode, Job, Layout, Lock, Source, Symmetric};
use hostwire_transport::conformance::Random;
use hostwire_transport::{Route, Wire};
use rustix::process::{Signal, getpid, kill_process};

use crate::by_hand;

/// `kind` is `storm` (whole segments, over and over), `drizzle` (single words of what is
/// not heap) or `echo` (copies of words to other places, which are likely to look
/// right).
pub fn scribble(kind: &str, seed: u64) -> Result<(), Box<dyn Error>> {
    let rank: u32 = std::env::var("PMI_RANK")?.parse()?;
    let size: u32 = std::env::var("PMI_SIZE")?.parse()?;
    if rank + 1 == size {
        return scribbler(kind, seed);
    }
    let job = Job::attach()?;
    let result = traffic(&job);
    // Every fault ends in a proper error.
    match result {
        Ok(()) => println!("PE {rank} has come to the end"),
        Err(error) => println!("PE {rank} has given up: {error}"),
    }
    Ok(())
}

/// Everything that reads what peers write, until something is wrong.
fn traffic(job: &Job) -> hostwire::Result<()> {
    let (me, pes) = (job.pe(), job.pes());
    let (left, right) = ((me + pes - 1) % pes, (me + 1) % pes);
    let memory = job.alloc::<u64>(40_000)?;
    let mut lock = job.lock()?;
    for round in 0u64.. {
        for len in [3, 100, 3000] {
            job.send(right, 1, &vec![round; len / 8])?;
            job.recv_vec::<u64>(left, 1)?;
        }
        for len in [10, 1000, 40_000] {
            let mut into = vec![0; len];
            job.exchange(right, &vec![round; len], left, &mut into, 2)?;
        }
        memory.put(right, 0, &[round; 100])?;
        memory.add(right, 200, 1)?;
        job.all_reduce(&mut [round], u64::wrapping_add)?;
        job.all_reduce(&mut vec![round; 2000], u64::wrapping_add)?;
        job.alloc::<u8>(1000)?.free()?;
        if let Some(team) = job.world().split(Some(me % 2), 0)? {
            team.barrier()?;
        }
        messages(job, round, (left, right))?;
        collectives(job, round)?;
        words(&memory, &mut lock, round, right)?;
    }
    Ok(())
}

/// Messages in the background, from any PE, and with a probe first.
fn messages(job: &Job, round: u64, (left, right): (u32, u32)) -> hostwire::Result<()> {
    let queue = job.queue::<u64>()?;
    for (tag, len) in [(3, 9), (4, 700), (5, 30_000)] {
        queue.send(right, tag, vec![round; len])?;
        queue.recv(Source::Any, tag, vec![0; len])?;
    }
    while let Some(done) = queue.wait()? {
        done.result?;
    }
    job.send(right, 6, &vec![round; 50])?;
    let found = job.probe(left, 6)?;
    let mut into = vec![0; 50];
    job.recv_any(found.from, 6, &mut into)?;
    job.try_recv::<u64>(left, 6, &mut into)?;
    Ok(())
}

fn collectives(job: &Job, round: u64) -> hostwire::Result<()> {
    let pes = job.pes() as usize;
    for len in [1, 300, 5000] {
        job.broadcast(0, &mut vec![round; len])?;
        job.all_gather(&vec![round; len], &mut vec![0; len * pes])?;
        job.all_to_all(&vec![round; len * pes], &mut vec![0; len * pes])?;
        job.scan(&mut vec![round; len], u64::wrapping_add)?;
    }
    Ok(())
}

fn words(memory: &Symmetric<u64>, lock: &mut Lock, round: u64, pe: u32) -> hostwire::Result<()> {
    memory.get(pe, 0, &mut vec![0; 30_000])?;
    memory.fetch_add(pe, 300, round)?;
    memory.compare_swap(pe, 301, round, round + 1)?;
    memory.swap(pe, 302, round)?;
    memory.start_get(pe, 400, 2000)?.wait()?;
    let guard = lock.acquire()?;
    memory.add(pe, 303, 1)?;
    guard.release()?;
    if let Some(guard) = lock.try_acquire()? {
        guard.release()?;
    }
    Ok(())
}

fn scribbler(kind: &str, seed: u64) -> Result<(), Box<dyn Error>> {
    let by_hand = by_hand::attach(|_| Ok(()))?;
    let (wire, sizes) = (by_hand.wire, by_hand.sizes);
    let layout = Layout::new(wire.pes(), sizes)?;
    let system_bytes = layout.segment_bytes() - sizes.heap_bytes;
    let writer = {
        let (wire, kind) = (Arc::clone(&wire), kind.to_owned());
        std::thread::spawn(move || write(&*wire, &kind, seed, system_bytes))
    };
    // Takes part, so that the others get far enough to be hit.
    let job = Job::over(wire, sizes, AgentMode::Thread)?;
    let _ = traffic(&job);
    let _ = writer.join();
    // The thread that writes ends the process.
    Ok(())
}

fn write(wire: &dyn Wire, kind: &str, seed: u64, system_bytes: usize) {
    let mut random = Random::new(seed);
    let all_bytes = wire.segment().memory().len_bytes();
    std::thread::sleep(Duration::from_millis(100));
    let end = Instant::now() + Duration::from_millis(700);
    while Instant::now() < end {
        let pe = random.below(wire.pes() as usize - 1) as u32;
        let at = random.below(system_bytes / 8) * 8;
        let done = match kind {
            "storm" => {
                let piece = random.bytes(4093);
                (0..all_bytes - piece.len())
                    .step_by(piece.len())
                    .try_for_each(|at| wire.store(pe, at, &piece))
            }
            "echo" => {
                let from = random.below(system_bytes / 8) * 8;
                let mut word = [0; 8];
                let route = wire.route(pe);
                let window = route.as_ref().and_then(Route::window);
                window
                    .unwrap_or(wire.segment())
                    .get(from, &mut word)
                    .and_then(|()| wire.store(pe, at, &word))
            }
            _ => wire.store(pe, at, &random.bytes(8)),
        };
        if done.is_err() {
            break;
        }
        if kind != "storm" {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    let _ = kill_process(getpid(), Signal::KILL);
}
