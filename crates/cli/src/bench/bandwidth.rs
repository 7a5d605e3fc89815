//! Bytes per second of long messages beside a bare memcpy into the other's memory.
//!
//! `bandwidth` receives into symmetric memory: one copy. `bandwidth-staged` goes from
//! private memory to private memory: two copies, at work at the same time.

use hostwire::Result;

use super::measure::{Loop, Unit, measure};
use super::pe::{Context, place, time};
use super::rate;

const TAG: u32 = 9;

pub fn run(bench: &Context) -> Result<()> {
    for size in bench.sizes(&[64 << 10, 1 << 20, 4 << 20]) {
        let turns = ((64 << 20) / size).clamp(4, 256);
        let kinds: [(&'static str, Loop<'_>); 2] = [
            ("bandwidth", one_copy(bench, size as usize)),
            ("bandwidth-staged", rate::ours(bench, size as usize)),
        ];
        for (name, ours) in kinds {
            let line = measure(
                &bench.job,
                name,
                size,
                Unit::GBPerS { bytes: size as f64 },
                bench.plan(5, turns),
                ours,
                vec![memcpy(bench, size as usize)?],
            )?;
            bench.print(&line);
        }
    }
    Ok(())
}

pub fn one_copy(bench: &Context, size: usize) -> Loop<'_> {
    let buffer = vec![1_u8; size];
    let (job, peer) = (&bench.job, bench.peer());
    Box::new(move |n| {
        time(|| {
            for _ in 0..n {
                if bench.is_first() {
                    job.send(peer, TAG, &buffer)?;
                } else {
                    job.recv_into(peer, TAG, &bench.arena, place::DATA, size)?;
                }
            }
            job.barrier()
        })
    })
}

/// PE 0 copies; PE 1 looks on.
pub fn memcpy(bench: &Context, size: usize) -> Result<Loop<'_>> {
    let buffer = vec![2_u8; size];
    let (memory, base) = bench.memory(1)?;
    Ok(Box::new(move |n| {
        time(|| {
            if bench.is_first() {
                for _ in 0..n {
                    memory.copy_in(base + place::DATA, std::hint::black_box(&buffer))?;
                }
            }
            Ok(())
        })
    }))
}
