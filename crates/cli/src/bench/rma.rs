//! Puts and gets beside bare stores, loads and memcpy. The target does not look.

use std::hint::black_box;

use hostwire::{Result, Symmetric};
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

fn turns(size: u64) -> u64 {
    ((32 << 20) / size).clamp(8, 100_000)
}

pub fn put(bench: &Context) -> Result<()> {
    let words = bench.job.alloc::<u64>(512)?;
    for size in bench.sizes(&[8, 64, 4 << 10, 1 << 20]) {
        let (memory, base) = bench.memory(1)?;
        let source = [5; 64];
        let limit: Loop<'_> = match size {
            8 => Box::new(move |n| {
                bench.one_sided(|| {
                    limits::store_8(memory, base + place::DATA, n)?;
                    Ok(())
                })
            }),
            64 => Box::new(move |n| {
                bench.one_sided(|| {
                    limits::store_64(memory, base + place::DATA, &source, n)?;
                    Ok(())
                })
            }),
            _ => memcpy(bench, size as usize)?,
        };
        let ours = match size {
            8 => put_words::<1>(bench, &words),
            64 => put_words::<8>(bench, &words),
            _ => put_bytes(bench, size as usize),
        };
        let plan = bench.plan(9, turns(size));
        let line = measure(&bench.job, "put", size, unit(size), plan, ours, vec![limit])?;
        bench.print(&line);
    }
    words.free()
}

/// Puts whose size the compiler knows, to 8 places in turn.
fn put_words<'a, const N: usize>(bench: &'a Context, words: &'a Symmetric<u64>) -> Loop<'a> {
    let values = [5_u64; N];
    Box::new(move |n| {
        bench.one_sided(|| {
            for i in 0..n as usize {
                // The compiler may know the length, but not the values.
                let values: &[u64; N] = black_box(&values);
                words.put(1, i % 8 * N, values)?;
            }
            bench.job.quiet()?;
            Ok(())
        })
    })
}

fn put_bytes(bench: &Context, size: usize) -> Loop<'_> {
    let values = vec![5_u8; size];
    Box::new(move |n| {
        bench.one_sided(|| {
            for _ in 0..n {
                bench.arena.put(1, place::DATA, black_box(&values))?;
            }
            bench.job.quiet()?;
            Ok(())
        })
    })
}

pub fn get(bench: &Context) -> Result<()> {
    for size in bench.sizes(&[8, 64, 4 << 10, 1 << 20]) {
        let (memory, base) = bench.memory(1)?;
        let mut bare = vec![0_u8; size as usize];
        let limit: Loop<'_> = Box::new(move |n| {
            bench.one_sided(|| {
                for _ in 0..n {
                    memory.copy_out(base + place::DATA, black_box(&mut bare))?;
                }
                Ok(())
            })
        });
        let mut values = vec![0_u8; size as usize];
        let ours: Loop<'_> = Box::new(move |n| {
            bench.one_sided(|| {
                for _ in 0..n {
                    bench.arena.get(1, place::DATA, black_box(&mut values))?;
                }
                Ok(())
            })
        });
        let plan = bench.plan(9, turns(size));
        let line = measure(&bench.job, "get", size, unit(size), plan, ours, vec![limit])?;
        bench.print(&line);
    }
    Ok(())
}
