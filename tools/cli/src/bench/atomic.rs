//! Atomics on a word of the other PE, compared with the bare instruction.

use std::hint::black_box;

use hostwire::{Result, Symmetric};
use hostwire_transport::sync::Ordering;

use super::hosts;
use super::measure::{Loop, Unit, measure};
use super::pe::{Context, place, time};

pub fn run(bench: &Context) -> Result<()> {
    if !bench.has_cpu_atomics() {
        return hosts::atomic(bench);
    }
    let words = bench.job.alloc::<u64>(8)?;
    let bare = bench.word(1, place::ATOMIC)?;
    type Name = &'static str;
    let bare_add: Loop<'_> = Box::new(|n| {
        bench.one_sided(|| {
            for _ in 0..n {
                black_box(bare.fetch_add(1, Ordering::SeqCst));
            }
            Ok(())
        })
    });
    let bare_swap: Loop<'_> = Box::new(|n| {
        bench.one_sided(|| {
            for i in 0..n {
                let _ = bare.compare_exchange(i, i + 1, Ordering::SeqCst, Ordering::SeqCst);
            }
            Ok(())
        })
    });
    let shared: Loop<'_> = Box::new(|n| {
        time(|| {
            for _ in 0..n {
                black_box(bare.fetch_add(1, Ordering::SeqCst));
            }
            Ok(())
        })
    });
    let kinds: [(Name, Loop<'_>, Loop<'_>); 3] = [
        ("fetch-add-shared", fetch_add_shared(&words), shared),
        ("fetch-add", fetch_add(bench, &words), bare_add),
        ("compare-swap", compare_swap(bench, &words), bare_swap),
    ];
    for (name, ours, limit) in kinds {
        let plan = bench.plan(20, 20_000, 8);
        let unit = Unit::Ns { parts: 1.0 };
        let line = measure(bench, name, 8, unit, plan, ours, vec![limit])?;
        bench.print(&line);
    }
    words.free()
}

/// Both PEs add to the word, so that its line really crosses the machine.
fn fetch_add_shared(words: &Symmetric<u64>) -> Loop<'_> {
    Box::new(move |n| {
        time(|| {
            for _ in 0..n {
                black_box(words.fetch_add(1, 0, 1)?);
            }
            Ok(())
        })
    })
}

fn fetch_add<'a>(bench: &'a Context, words: &'a Symmetric<u64>) -> Loop<'a> {
    Box::new(move |n| {
        bench.one_sided(|| {
            for _ in 0..n {
                black_box(words.fetch_add(1, 0, 1)?);
            }
            Ok(())
        })
    })
}

fn compare_swap<'a>(bench: &'a Context, words: &'a Symmetric<u64>) -> Loop<'a> {
    Box::new(move |n| {
        bench.one_sided(|| {
            for i in 0..n {
                black_box(words.compare_swap(1, 0, i, i + 1)?);
            }
            Ok(())
        })
    })
}
