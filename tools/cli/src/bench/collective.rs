//! Barrier and all-reduce of all PEs, compared with the same on bare shared memory.

use hostwire::Result;
use hostwire_transport::limits;

use super::measure::{Limits, Loop, Unit, measure};
use super::pe::{Context, place, time};
use super::{all_pes, hosts, two_core};

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
    let limits = bare_barrier(bench, &mut turn)?;
    let line = measure(bench, "barrier", 0, UNIT, plan, ours, limits)?;
    bench.print(&line);
    Ok(())
}

pub fn all_reduce(bench: &Context) -> Result<()> {
    let mut turn = 0;
    for size in bench.sizes(&[8, 64 << 10]) {
        let mut values = vec![1.0_f64; (size as usize).div_ceil(8)];
        let size = size_of_val(&values[..]) as u64;
        let words = values.len();
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
        let limits = match small {
            true => bare_barrier(bench, &mut turn)?,
            false => bare_all_reduce(bench, words)?,
        };
        let line = measure(bench, "allreduce", size, UNIT, plan, ours, limits)?;
        bench.print(&line);
    }
    Ok(())
}

/// The limit of a barrier, and of all-reduces of a few words, which nobody ends before all have begun.
fn bare_barrier<'a>(bench: &'a Context, turn: &'a mut u64) -> Result<Limits<'a>> {
    let limits = match (bench.is_mapped(), bench.job.pes()) {
        (false, _) => return Ok(hosts::NO_LIMIT),
        (true, 2) => vec![flag_barrier(bench, turn)?],
        (true, _) => all_pes::barriers(bench)?,
    };
    Ok(limits.into())
}

fn bare_all_reduce(bench: &Context, words: usize) -> Result<Limits<'_>> {
    if !bench.is_mapped() {
        return Ok(hosts::NO_LIMIT);
    }
    let mut limits = all_pes::all_reduces(bench, words)?;
    if bench.job.pes() == 2 {
        limits.extend(two_core::all_reduces(bench, words, &two_core::MESSAGES)?);
    }
    Ok(limits.into())
}

fn flag_barrier<'a>(bench: &'a Context, turn: &'a mut u64) -> Result<Loop<'a>> {
    let mine = bench.word(bench.peer(), place::BARRIER)?;
    let theirs = bench.word(bench.job.pe(), place::BARRIER)?;
    // Goes on where earlier benchmarks left the words.
    let begin = theirs.load(hostwire_transport::sync::Ordering::Acquire);
    *turn = begin.max(*turn);
    Ok(Box::new(move |n| {
        time(|| {
            limits::flag_barrier(mine, theirs, turn, n);
            Ok(())
        })
    }))
}
