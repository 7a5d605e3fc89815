//! Bytes per second of long messages.
//!
//! `bandwidth` receives into symmetric memory: one copy. Its limit is a bare memcpy into the
//! other PE's memory. `bandwidth-staged` goes from private memory to private memory: two copies,
//! made by two cores at the same time. Its limit does the same without messages.

use super::measure::{Loop, Unit, measure};
use super::pe::{Context, place, time};
use super::{rate, two_core};
use hostwire::Result;

const TAG: u64 = 9;

pub fn run(bench: &Context) -> Result<()> {
    for size in bench.sizes(&[64 << 10, 1 << 20, 4 << 20]) {
        // All read this one: where in memory a source is decides how much of it a cache keeps.
        let source = vec![1_u8; size as usize];
        let staged = two_core::streams(bench, &source, &two_core::LONG)?;
        let kinds = [
            (
                "bandwidth",
                one_copy(bench, &source),
                vec![memcpy(bench, &source)?],
            ),
            ("bandwidth-staged", rate::ours(bench, &source), staged),
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
    bench.one_way(move || match bench.is_first() {
        true => job.send(peer, TAG, source),
        false => job
            .recv_into(peer, TAG, &bench.arena, place::DATA, source.len())
            .map(drop),
    })
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
