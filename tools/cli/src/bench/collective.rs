//! Barrier and all-reduce of all PEs; with two PEs, compared with a bare flag barrier.

use hostwire::Result;
use hostwire_transport::limits;

use super::hosts;
use super::measure::{Limits, Loop, Unit, measure};
use super::pe::{Context, place, time};

const UNIT: Unit = Unit::Ns { parts: 1.0 };

/// Fewer turns for more than two PEs: they may be more than the cores, and take long.
fn turns(bench: &Context, few: u64) -> u64 {
    if bench.job.pes() == 2 { few } else { 20 }
}

pub fn barrier(bench: &Context) -> Result<()> {
    let mut turn = 0;
    let ours: Loop<'_> = Box::new(|n| {
        time(|| {
            for _ in 0..n {
                bench.job.barrier()?;
            }
            Ok(())
        })
    });
    let few = if bench.is_mapped() { 1000 } else { 50 };
    let plan = bench.plan(60, turns(bench, few), 0);
    let limits = flag_barrier(bench, &mut turn)?;
    let line = measure(bench, "barrier", 0, UNIT, plan, ours, limits)?;
    bench.print(&line);
    Ok(())
}

pub fn all_reduce(bench: &Context) -> Result<()> {
    let mut turn = 0;
    for size in bench.sizes(&[8, 64 << 10]) {
        let mut values = vec![1.0_f64; (size as usize).div_ceil(8)];
        let size = size_of_val(&values[..]) as u64;
        let ours: Loop<'_> = Box::new(move |n| {
            time(|| {
                for _ in 0..n {
                    bench.job.all_reduce(&mut values, f64::max)?;
                }
                Ok(())
            })
        });
        let small = size <= 64;
        let plan = bench.plan(
            20,
            turns(bench, if small && bench.is_mapped() { 500 } else { 20 }),
            2 * size,
        );
        // A barrier of two PEs is a word each way.
        let limits = if small {
            flag_barrier(bench, &mut turn)?
        } else {
            Limits::None("no bare all-reduce of this size is measured")
        };
        let line = measure(bench, "allreduce", size, UNIT, plan, ours, limits)?;
        bench.print(&line);
    }
    Ok(())
}

fn flag_barrier<'a>(bench: &'a Context, turn: &'a mut u64) -> Result<Limits<'a>> {
    if !bench.is_mapped() {
        return Ok(hosts::NO_LIMIT);
    }
    if bench.job.pes() != 2 {
        return Ok(Limits::None("only two PEs have a bare barrier"));
    }
    let mine = bench.word(bench.peer(), place::BARRIER)?;
    let theirs = bench.word(bench.job.pe(), place::BARRIER)?;
    // Goes on where earlier benchmarks left the words.
    let begin = theirs.load(hostwire_transport::sync::Ordering::Acquire);
    *turn = begin.max(*turn);
    let bare: Loop<'_> = Box::new(move |n| {
        time(|| {
            limits::flag_barrier(mine, theirs, turn, n);
            Ok(())
        })
    });
    Ok(vec![bare].into())
}
