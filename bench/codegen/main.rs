//! The 64-byte put as a function of its own, for `scripts/codegen.sh` to disassemble.
#![forbid(unsafe_code)]

use hostwire::{Job, Result, Symmetric};

/// The function that the listing in `bench/codegen/` shows.
#[inline(never)]
fn put_64(words: &Symmetric<u64>, pe: u32, index: usize, values: &[u64; 8]) -> Result<()> {
    words.put(pe, index, values)
}

fn main() -> Result<()> {
    let job = Job::attach()?;
    let words = job.alloc::<u64>(64)?;
    for index in std::hint::black_box([0, 8, 16]) {
        put_64(
            &words,
            std::hint::black_box(0),
            index,
            std::hint::black_box(&[7; 8]),
        )?;
    }
    assert_eq!(words.load(20)?, 7);
    drop(words);
    job.finalize()
}
