//! Traffic between all PEs until PE 0 ends it, with every byte checked.

use std::error::Error;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hostwire::{Compare, Job, SignalOp};

type Done = Result<(), Box<dyn Error>>;

/// More than a ring holds, and no whole number of frames.
const MESSAGE_BYTES: usize = 10_007;

/// Goes on until the standard input of PE 0 ends, at least for `rounds_min` rounds. Says when it has begun and when it is
/// done. `block_bytes` are put to the right neighbour in each round.
pub fn steady(block_bytes: usize, rounds_min: u64) -> Done {
    let job = Job::attach()?;
    let (pe, pes) = (job.pe(), job.pes());
    let end = end_of_input(pe == 0);
    match rounds(&job, block_bytes, rounds_min, &end) {
        Ok(()) => println!("PE {pe} of {pes} is fine"),
        Err(error) => println!("PE {pe} saw: {error}"),
    }
    Ok(job.finalize()?)
}

/// Becomes true when the standard input ends; it is true at once where nobody reads.
pub fn end_of_input(reads: bool) -> Arc<AtomicBool> {
    let end = Arc::new(AtomicBool::new(!reads));
    if reads {
        let end = Arc::clone(&end);
        std::thread::spawn(move || {
            let mut rest = Vec::new();
            let _ = std::io::stdin().read_to_end(&mut rest);
            end.store(true, Ordering::Relaxed);
        });
    }
    end
}

fn rounds(job: &Job, block_bytes: usize, rounds_min: u64, end: &AtomicBool) -> Done {
    let (pe, pes) = (job.pe(), job.pes());
    let (left, right) = ((pe + pes - 1) % pes, (pe + 1) % pes);
    let block = job.alloc::<u8>(block_bytes)?;
    let signals = job.alloc::<u64>(1)?;
    let sums = job.alloc::<u64>(1)?;
    for round in 1.. {
        block.put_with_signal(
            right,
            0,
            &pattern(pe, round, block_bytes),
            &signals,
            0,
            SignalOp::Set(round),
        )?;
        signals.wait_until(0, Compare::Ge, round)?;
        expect(
            "a put",
            round,
            block.to_vec()? == pattern(left, round, block_bytes),
        )?;

        let message = pattern(pe, round + 7, MESSAGE_BYTES);
        let mut got = vec![0; MESSAGE_BYTES];
        job.exchange(right, &message, left, &mut got, 5)?;
        expect(
            "a message",
            round,
            got == pattern(left, round + 7, MESSAGE_BYTES),
        )?;

        sums.add(0, 0, u64::from(pe) + 1)?;
        // All have read and added; PE 0 decides whether to go on.
        let enough = pe == 0 && round >= rounds_min && end.load(Ordering::Relaxed);
        let mut all = [u64::from(enough), 1];
        job.all_reduce(&mut all, |a, b| a + b)?;
        let mut sum = [0];
        sums.get(0, 0, &mut sum)?;
        let expected = round * u64::from(pes) * u64::from(pes + 1) / 2;
        expect(
            "a sum of atomics",
            round,
            sum[0] == expected && all[1] == u64::from(pes),
        )?;
        job.barrier()?;
        if round == 1 {
            println!("PE {pe} is process {}", std::process::id());
        }
        if all[0] > 0 {
            return Ok(());
        }
    }
    Ok(())
}

pub fn pattern(pe: u32, round: u64, len: usize) -> Vec<u8> {
    let mut state = u64::from(pe) << 32 ^ round;
    let next = |_| {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 56) as u8
    };
    (0..len).map(next).collect()
}

pub fn expect(what: &str, round: u64, right: bool) -> Done {
    match right {
        true => Ok(()),
        false => Err(format!("{what} is wrong in round {round}").into()),
    }
}

/// Only waits in a job for some seconds, on a word that PE 0 sets at the end. Prints how
/// much of a core that took.
pub fn idle(seconds: u64) -> Done {
    let job = Job::attach()?;
    let word = job.alloc::<u64>(1)?;
    job.barrier()?;
    // Earlier work has a second to finish.
    std::thread::sleep(Duration::from_secs(u64::from(job.pe() == 0)));
    let (begin, cpu) = (Instant::now(), cpu_seconds()?);
    if job.pe() == 0 {
        std::thread::sleep(Duration::from_secs(seconds));
        for pe in 0..job.pes() {
            word.put(pe, 0, &[1])?;
        }
    }
    word.wait_until(0, Compare::Eq, 1)?;
    let used = (cpu_seconds()? - cpu) / begin.elapsed().as_secs_f64();
    println!("{used:.3}");
    Ok(job.finalize()?)
}

/// Of all threads of this process.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}
