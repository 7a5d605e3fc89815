//! Bytes per second of long messages.
//!
//! `bandwidth` receives into symmetric memory: one copy. Its limit is a bare memcpy into the
//! other PE's memory. `bandwidth-staged` goes from private memory to private memory: two copies,
//! made by two cores at the same time. Its limit does the same without messages.

use hostwire::Result;
use hostwire_transport::limits::staged::{Copies, Staging};
use hostwire_transport::sync::Ordering;

use super::measure::{Loop, Unit, measure};
use super::pe::{Context, place, time};

const TAG: u64 = 9;

pub fn run(bench: &Context) -> Result<()> {
    for size in bench.sizes(&[64 << 10, 1 << 20, 4 << 20]) {
        // All read this one: where in memory a source is decides how much of it a cache keeps.
        let source = vec![1_u8; size as usize];
        let staged = vec![
            staging(bench, &source, (32 << 10, 8), Copies::Ordinary)?,
            staging(bench, &source, (64 << 10, 4), Copies::Staged)?,
        ];
        let kinds = [
            (
                "bandwidth",
                one_copy(bench, &source),
                vec![memcpy(bench, &source)?],
            ),
            ("bandwidth-staged", two_copies(bench, &source), staged),
        ];
        for (name, ours, limits) in kinds {
            let line = measure(
                bench,
                name,
                size,
                Unit::GBPerS { bytes: size as f64 },
                bench.plan(5, 256, size),
                ours,
                limits,
            )?;
            bench.print(&line);
        }
    }
    Ok(())
}

pub fn one_copy<'a>(bench: &'a Context, source: &'a [u8]) -> Loop<'a> {
    let (job, peer) = (&bench.job, bench.peer());
    Box::new(move |n| {
        time(|| {
            for _ in 0..n {
                if bench.is_first() {
                    job.send(peer, TAG, source)?;
                } else {
                    job.recv_into(peer, TAG, &bench.arena, place::DATA, source.len())?;
                }
            }
            job.barrier()
        })
    })
}

fn two_copies<'a>(bench: &'a Context, source: &'a [u8]) -> Loop<'a> {
    let mut buffer = vec![0_u8; source.len()];
    let (job, peer) = (&bench.job, bench.peer());
    Box::new(move |n| {
        time(|| {
            for _ in 0..n {
                if bench.is_first() {
                    job.send(peer, TAG, source)?;
                } else {
                    job.recv(peer, TAG, &mut buffer)?;
                }
            }
            job.barrier()
        })
    })
}

/// The bytes go through pieces of PE 1's memory: so many bytes, and so many of them.
fn staging<'a>(
    bench: &'a Context,
    source: &'a [u8],
    pieces: (usize, u64),
    copies: Copies,
) -> Result<Loop<'a>> {
    let (memory, base) = bench.memory(1)?;
    let line = match copies {
        Copies::Ordinary => place::STAGED,
        Copies::Staged => place::STAGED + 1,
    };
    let counts = (bench.word(1, line)?, bench.word(0, line)?);
    // Counts of a size that was measured before may be there.
    bench.job.barrier()?;
    if bench.is_first() {
        counts.0.store(0, Ordering::Relaxed);
        counts.1.store(0, Ordering::Relaxed);
    }
    bench.job.barrier()?;
    let mut ends = Staging::new((memory, base + place::DATA), pieces, copies, counts);
    let mut buffer = vec![0_u8; source.len()];
    Ok(Box::new(move |n| {
        time(|| {
            for _ in 0..n {
                match bench.is_first() {
                    true => ends.send(source)?,
                    false => ends.receive(&mut buffer)?,
                }
            }
            bench.job.barrier()
        })
    }))
}

/// PE 0 copies; PE 1 looks on.
pub fn memcpy<'a>(bench: &'a Context, source: &'a [u8]) -> Result<Loop<'a>> {
    let (memory, base) = bench.memory(1)?;
    Ok(Box::new(move |n| {
        time(|| {
            if bench.is_first() {
                for _ in 0..n {
                    memory.copy_in(base + place::DATA, std::hint::black_box(source))?;
                }
            }
            Ok(())
        })
    }))
}
