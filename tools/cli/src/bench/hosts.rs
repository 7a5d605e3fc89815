//! The benchmarks on a wire between hosts, where memory is not mapped and the other side
//! of the ratio is a bare socket ([`super::bare`]).
//!
//! The target of one-sided work waits in the library: on this wire a thread has to
//! receive the frames, and an agent would have to share the core with a program that
//! computes.

use std::hint::black_box;

use hostwire::{Compare, Result, Symmetric};

use super::bare::Bare;
use super::measure::{Limits, Loop, Unit, measure};
use super::pe::{Context, place, time};
use super::{bandwidth, latency, rate};

/// Below this a figure is a rate, from here on a bandwidth.
const RATE_BYTES_MAX: u64 = 4 << 10;
/// Puts of up to so many bytes go to eight places in a row, longer ones to one.
const WORDS_BYTES_MAX: u64 = 64;

/// What hostwire does in an agent or by several messages has no bare counterpart.
pub const NO_LIMIT: Limits<'static> =
    Limits::None("between hosts there is no bare loop that does the same");

/// Half round trip of a put that the other PE waits for.
pub fn ping_pong(bench: &Context) -> Result<()> {
    let mut bare = Bare::open(bench)?;
    for size in bench.sizes(&[8, 64, 1024]) {
        let words = bench.job.alloc::<u64>((size as usize).div_ceil(8))?;
        let size = 8 * words.len() as u64;
        let limits = bare.ping_pong(bench, size);
        let line = measure(
            bench,
            "pingpong",
            size,
            Unit::Ns { parts: 2.0 },
            bench.plan(20, 100, 2 * size),
            put_and_wait(bench, &words),
            limits,
        )?;
        bench.print(&line);
        words.free()?;
    }
    Ok(())
}

/// The first and the last word show that all of it has arrived.
fn put_and_wait<'a>(bench: &'a Context, words: &'a Symmetric<u64>) -> Loop<'a> {
    let mut values = vec![0; words.len()];
    let ends = [0, words.len() - 1];
    let mut turn = 0;
    Box::new(move |n| {
        time(|| {
            for _ in 0..n {
                turn += 1;
                let mut put = || {
                    values.fill(turn);
                    words.put(bench.peer(), 0, black_box(&values))
                };
                let wait = || words.wait_until_all(&ends, Compare::Ge, turn);
                if bench.is_first() {
                    put()?;
                    wait()?;
                } else {
                    wait()?;
                    put()?;
                }
            }
            Ok(())
        })
    })
}

/// Half round trip of a tagged message.
pub fn messages(bench: &Context) -> Result<()> {
    let mut bare = Bare::open(bench)?;
    for size in bench.sizes(&[8, 64, 1024, 16 << 10]) {
        let limits = bare.ping_pong(bench, size);
        let line = measure(
            bench,
            "latency",
            size,
            Unit::Ns { parts: 2.0 },
            bench.plan(20, 100, 2 * size),
            latency::ours(bench, size as usize),
            limits,
        )?;
        bench.print(&line);
    }
    Ok(())
}

/// Messages per second, one way.
pub fn message_rate(bench: &Context) -> Result<()> {
    for size in bench.sizes(&[8, 64]) {
        let source = vec![3_u8; size as usize];
        let (plan, ours) = (bench.plan(10, 10_000, size), rate::ours(bench, &source));
        let line = measure(bench, "rate", size, Unit::MPerS, plan, ours, NO_LIMIT)?;
        bench.print(&line);
    }
    Ok(())
}

/// Bytes per second of long messages.
pub fn message_bandwidth(bench: &Context) -> Result<()> {
    let mut bare = Bare::open(bench)?;
    for size in bench.sizes(&[64 << 10, 1 << 20]) {
        let source = vec![1_u8; size as usize];
        let line = measure(
            bench,
            "bandwidth",
            size,
            Unit::GBPerS { bytes: size as f64 },
            bench.plan(5, 256, size),
            bandwidth::one_copy(bench, &source),
            bare.flood_of(bench, size),
        )?;
        bench.print(&line);
    }
    Ok(())
}

/// Puts, until they have arrived. Short ones share frames, so that one frame each would be no limit.
pub fn put(bench: &Context) -> Result<()> {
    let mut bare = Bare::open(bench)?;
    for size in bench.sizes(&[8, 64, 4 << 10, 1 << 20]) {
        let (unit, turns) = match size < RATE_BYTES_MAX {
            true => (Unit::MPerS, 20_000),
            false => (Unit::GBPerS { bytes: size as f64 }, 2_000),
        };
        let values = vec![5_u8; size as usize];
        // As over shared memory.
        let places = match size <= WORDS_BYTES_MAX {
            true => 8,
            false => 1,
        };
        let ours = bench.towards(move |n| {
            for i in 0..n as usize {
                let at = place::DATA + i % places * values.len();
                bench.arena.put(1, at, black_box(&values))?;
            }
            bench.job.quiet()
        });
        let line = measure(
            bench,
            "put",
            size,
            unit,
            bench.plan(9, turns, size),
            ours,
            bare.flood_of(bench, size),
        )?;
        bench.print(&line);
    }
    Ok(())
}

/// Gets: a question and its answer.
pub fn get(bench: &Context) -> Result<()> {
    for size in bench.sizes(&[8, 64, 4 << 10, 1 << 20]) {
        let (unit, turns) = match size < RATE_BYTES_MAX {
            true => (Unit::Ns { parts: 1.0 }, 200),
            false => (Unit::GBPerS { bytes: size as f64 }, 200),
        };
        let mut values = vec![0_u8; size as usize];
        let ours = bench.towards(move |n| {
            for _ in 0..n {
                bench.arena.get(1, place::DATA, black_box(&mut values))?;
            }
            Ok(())
        });
        let line = measure(
            bench,
            "get",
            size,
            unit,
            bench.plan(9, turns, size),
            ours,
            NO_LIMIT,
        )?;
        bench.print(&line);
    }
    Ok(())
}

/// A fetch-add: a question and its answer.
pub fn atomic(bench: &Context) -> Result<()> {
    let words = bench.job.alloc::<u64>(8)?;
    let ours = bench.towards(|n| {
        for _ in 0..n {
            black_box(words.fetch_add(1, 0, 1)?);
        }
        Ok(())
    });
    let unit = Unit::Ns { parts: 1.0 };
    let plan = bench.plan(9, 200, 8);
    let line = measure(bench, "fetch-add", 8, unit, plan, ours, NO_LIMIT)?;
    bench.print(&line);
    words.free()
}
