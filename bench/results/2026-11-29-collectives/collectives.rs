//! Collective operations of hostwire over private memory. `run.sh` starts it.

use std::time::Instant;

use hostwire::{Job, Result};

const SIZES: [usize; 7] = [256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// Microseconds of a call: the median of 9 batches.
fn measure(job: &Job, bytes: usize, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let calls = (4_000_000 / (bytes + 20_000)).clamp(5, 100);
    let mut batches = Vec::new();
    for batch in 0..10 {
        job.barrier()?;
        let begin = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        if batch > 0 {
            batches.push(begin.elapsed().as_secs_f64() * 1e6 / calls as f64);
        }
    }
    batches.sort_by(f64::total_cmp);
    Ok(batches[batches.len() / 2])
}

fn main() -> Result<()> {
    let job = Job::attach()?;
    let pes = job.pes() as usize;
    for bytes in SIZES {
        let words = bytes / 8;
        let mut values = vec![1.0_f64; words];
        let (out, mut all) = (vec![1.0_f64; words * pes], vec![0.0_f64; words * pes]);
        let world = job.world();
        let reduce = measure(&job, bytes, || {
            world.all_reduce(&mut values, |a: f64, b: f64| if a > b { a } else { b })
        })?;
        let gather = measure(&job, bytes, || world.all_gather(&out[..words], &mut all))?;
        let exchange = measure(&job, bytes, || world.all_to_all(&out, &mut all))?;
        // A root that sends again at once would measure how fast it can send: roots take turns.
        let mut root = 0;
        let broadcast = measure(&job, bytes, || {
            root = (root + 1) % pes as u32;
            world.broadcast(root, &mut values)
        })?;
        if job.pe() == 0 {
            println!("{pes} {bytes} {reduce:.2} {gather:.2} {exchange:.2} {broadcast:.2}");
        }
    }
    job.finalize()
}
