//! Puts and gets, compared with bare stores, loads and memcpy. The target does not
//! look.

use std::cell::RefCell;
use std::hint::black_box;

use hostwire::{IntoBytes, Result, Symmetric};
use hostwire_transport::limits;

use super::bandwidth::memcpy;
use super::measure::{Loop, Unit, measure};
use super::pe::{Context, place};

/// Below this a figure is a rate, from here on a bandwidth.
const RATE_BYTES_MAX: u64 = 4 << 10;

fn unit(size: u64) -> Unit {
    if size < RATE_BYTES_MAX {
        Unit::MPerS
    } else {
        Unit::GBPerS { bytes: size as f64 }
    }
}

const LINE_BYTES: usize = 64;

/// The source of short puts: both sides of a comparison read the same line. Separate
/// sources could lie across two lines, or at addresses whose low bits make loads wait for
/// unrelated stores.
#[repr(align(64))]
struct Source([u64; 8]);

pub fn put(bench: &Context) -> Result<()> {
    let words = bench.job.alloc::<u64>(512)?;
    let source = Source([5; 8]);
    for size in bench.sizes(&[8, 64, 4 << 10, 1 << 20]) {
        // Both sides read this one: where in memory it is decides how much of it a cache keeps.
        let long = vec![5_u8; size as usize];
        let ours = match size {
            8 => put_words::<1>(bench, &words, &source),
            64 => put_words::<8>(bench, &words, &source),
            _ => put_bytes(bench, &long),
        };
        let limit = stores(bench, &words, &source, &long)?;
        put_beside_stores(bench, size, ours, limit)?;
    }
    words.free()
}

fn put_beside_stores<'a>(
    bench: &'a Context,
    size: u64,
    ours: Loop<'a>,
    limit: Loop<'a>,
) -> Result<()> {
    let plan = bench.plan(9, 100_000, size);
    let line = measure(bench, "put", size, unit(size), plan, ours, vec![limit])?;
    bench.print(&line);
    Ok(())
}

/// Bare stores of as much as is in `long`: short ones of `source`, to 8 places in turn.
fn stores<'a>(
    bench: &'a Context,
    words: &'a Symmetric<u64>,
    source: &'a Source,
    long: &'a [u8],
) -> Result<Loop<'a>> {
    if bench.is_flushed() {
        return flushed_stores(bench, words, source, long);
    }
    let is_word = match long.len() {
        8 => true,
        64 => false,
        _ => return memcpy(bench, long),
    };
    Ok(Box::new(move |n| {
        bench.one_sided(|| {
            let (memory, at) = bench.mapped(words, 1)?;
            match is_word {
                true => limits::store_8(memory, at, n)?,
                false => limits::store_64(memory, at, &source.0, n)?,
            }
            Ok(())
        })
    }))
}

/// As [`stores`], with the flushes that they need.
fn flushed_stores<'a>(
    bench: &'a Context,
    words: &'a Symmetric<u64>,
    source: &'a Source,
    long: &'a [u8],
) -> Result<Loop<'a>> {
    let (memory, at, src) = match source.0.as_bytes().get(..long.len()) {
        Some(short) => {
            let (memory, at) = bench.mapped(words, 1)?;
            (memory, at, short)
        }
        None => {
            let (memory, base) = bench.memory(1)?;
            (memory, base + place::DATA, long)
        }
    };
    Ok(Box::new(move |n| {
        bench.one_sided(|| Ok(limits::flushed::stores(memory, at, src, n)?))
    }))
}

/// Puts whose size the compiler knows, to 8 places in turn.
fn put_words<'a, const N: usize>(
    bench: &'a Context,
    words: &'a Symmetric<u64>,
    source: &'a Source,
) -> Loop<'a> {
    let values: &[u64; N] = source.0.first_chunk().unwrap_or(&[5; N]);
    Box::new(move |n| {
        bench.one_sided(|| {
            put_n(words, values, n)?;
            bench.job.quiet()
        })
    })
}

/// A function of its own, like the limit, so that its loop can use all registers.
#[inline(never)]
fn put_n<const N: usize>(words: &Symmetric<u64>, values: &[u64; N], n: u64) -> Result<()> {
    for i in 0..n as usize {
        // The compiler may know the length, but not the values.
        let values: &[u64; N] = black_box(values);
        words.put(1, i % 8 * N, values)?;
    }
    Ok(())
}

fn put_bytes<'a>(bench: &'a Context, values: &'a [u8]) -> Loop<'a> {
    Box::new(move |n| {
        bench.one_sided(|| {
            for _ in 0..n {
                bench.arena.put(1, place::DATA, black_box(values))?;
            }
            bench.job.quiet()?;
            Ok(())
        })
    })
}

pub fn get(bench: &Context) -> Result<()> {
    for size in bench.sizes(&[8, 64, 4 << 10, 1 << 20]) {
        let (memory, base) = bench.memory(1)?;
        // As for puts, but this buffer is written. A copy takes twice as long if it lies across two
        // lines.
        let buffer = RefCell::new(vec![0_u8; size as usize + LINE_BYTES]);
        let into = |buffer: &mut Vec<u8>| {
            let begin = buffer.as_ptr().align_offset(LINE_BYTES);
            begin..begin + size as usize
        };
        let limit: Loop<'_> = Box::new(|n| {
            let buffer = &mut *buffer.borrow_mut();
            let values = into(buffer);
            let values = buffer.get_mut(values).unwrap_or_default();
            if bench.is_flushed() {
                let at = base + place::DATA;
                return bench.one_sided(|| Ok(limits::flushed::loads(memory, at, values, n)?));
            }
            bench.one_sided(|| {
                for _ in 0..n {
                    memory.copy_out(base + place::DATA, black_box(&mut *values))?;
                }
                Ok(())
            })
        });
        let ours: Loop<'_> = Box::new(|n| {
            let buffer = &mut *buffer.borrow_mut();
            let values = into(buffer);
            let values = buffer.get_mut(values).unwrap_or_default();
            bench.one_sided(|| {
                for _ in 0..n {
                    bench.arena.get(1, place::DATA, black_box(&mut *values))?;
                }
                Ok(())
            })
        });
        let plan = bench.plan(9, 100_000, size);
        let line = measure(bench, "get", size, unit(size), plan, ours, vec![limit])?;
        bench.print(&line);
    }
    Ok(())
}
