//! PE 0 hears from all others, one after the other.

use std::error::Error;

use hostwire::{Job, Sizes};
use rustix::process::{Signal, getpid, kill_process};

type Done = Result<(), Box<dyn Error>>;

/// Eager buffers of 80 KiB that may have memory at a time.
const ROOMS: usize = 8;
const ROOM_BYTES: usize = 80 << 10;
/// Messages of a PE: more than are needed to ask for a buffer, and again.
const MANY: usize = 120;
/// They go in lines, and through both areas of a buffer.
const LENGTHS: [usize; 5] = [300, 900, 4000, 20_000, 32_000];
const LONGEST: usize = 32_000;

fn message(pe: u32, number: usize) -> Vec<u8> {
    let seed = number * 31 + pe as usize;
    let len = LENGTHS[number % LENGTHS.len()];
    (0..len).map(|at| (at * 7 + seed) as u8).collect()
}

/// Two PEs use all of both rings, and of the staging memory of PE 0.
fn meet(job: &Job, other: u32) -> Done {
    let (mut line, long) = ([0u8; LENGTHS[0]], 300_000);
    for _ in 0..20 {
        match job.pe() {
            0 => {
                job.recv(other, 1, &mut line)?;
                job.send(other, 1, &line)?;
            }
            _ => {
                job.send(other, 1, &line)?;
                job.recv(other, 1, &mut line)?;
            }
        }
    }
    match job.pe() {
        0 => drop(job.recv(other, 1, &mut vec![0u8; long])?),
        _ => job.send(other, 1, &vec![0u8; long])?,
    }
    Ok(())
}

/// PE 0 prints how much shared memory it uses, in KiB: before these messages, and at most behind those of a PE. With `how` "die" the last PE is
/// killed in the middle of its messages.
pub fn hear(how: &str) -> Done {
    let job = Job::attach_with(|sizes| Sizes {
        eager_memory_bytes: ROOMS * ROOM_BYTES,
        ..sizes
    })?;
    let (pe, pes) = (job.pe(), job.pes());
    if pe > 0 {
        meet(&job, 0)?;
        job.recv::<u8>(0, 2, &mut [0])?;
        for number in 0..MANY {
            if how == "die" && pe == pes - 1 && number == MANY / 2 {
                kill_process(getpid(), Signal::KILL)?;
            }
            job.send(0, 3, &message(pe, number))?;
        }
        return Ok(job.finalize()?);
    }
    for from in 1..pes {
        meet(&job, from)?;
    }
    let before = shared_kib()?;
    let (mut most, mut room) = (before, vec![0u8; LONGEST]);
    for from in 1..pes {
        job.send(from, 2, &[1u8])?;
        for number in 0..MANY {
            let len = job.recv(from, 3, &mut room)?;
            if room[..len] != message(from, number) {
                return Err(format!("message {number} of PE {from} is wrong").into());
            }
        }
        most = most.max(shared_kib()?);
    }
    println!("{before} {most}");
    Ok(job.finalize()?)
}

/// Shared memory that is mapped and there.
fn shared_kib() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssShmem:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("no RssShmem")?.parse()?)
}
