//! Bare copies from the private memory of one PE into that of the other, with both cores at work: the limit of messages
//! that are longer than a line.
//!
//! The best way depends on the length, and on how far the two cores are from each other. So each size is measured against all
//! ways, and the best one is its limit.

use hostwire::{IntoBytes, Result};
use hostwire_transport::limits::staged::{Copies, Staging};
use hostwire_transport::sync::Ordering;

use super::all_pes;
use super::measure::Loop;
use super::pe::{Context, place, time};

/// A way: bytes of a piece, how many pieces there are in turn, and how they are copied.
pub type Way = (usize, u64, Copies);

/// For messages of a few KiB.
pub const MESSAGES: [Way; 3] = [
    (4 << 10, 4, Copies::Ordinary),
    (4 << 10, 64, Copies::Ordinary),
    (16 << 10, 4, Copies::Staged),
];
/// For longer ones.
pub const LONG: [Way; 2] = [
    (32 << 10, 8, Copies::Ordinary),
    (64 << 10, 4, Copies::Staged),
];

/// PE 0 sends `source`, PE 1 receives it.
///
/// # Errors
/// The wire does not map memory.
pub fn streams<'a>(bench: &'a Context, source: &'a [u8], ways: &[Way]) -> Result<Vec<Loop<'a>>> {
    let mut loops: Vec<Loop<'_>> = Vec::new();
    for (number, way) in ways.iter().enumerate() {
        let mut end = end(bench, 1, number, *way)?;
        let mut buffer = vec![0_u8; source.len()];
        loops.push(bench.one_way(move || {
            match bench.is_first() {
                true => end.send(source)?,
                false => end.receive(&mut buffer)?,
            }
            Ok(())
        }));
    }
    Ok(loops)
}

/// `size` bytes there and back.
///
/// # Errors
/// The wire does not map memory.
pub fn round_trips<'a>(bench: &'a Context, size: usize, ways: &[Way]) -> Result<Vec<Loop<'a>>> {
    let mut loops: Vec<Loop<'_>> = Vec::new();
    for (number, way) in ways.iter().enumerate() {
        let mut there = end(bench, 1, number, *way)?;
        let mut back = end(bench, 0, number, *way)?;
        let mut buffer = vec![1_u8; size];
        loops.push(Box::new(move |n| {
            time(|| {
                for _ in 0..n {
                    if bench.is_first() {
                        there.send(&buffer)?;
                        back.receive(&mut buffer)?;
                    } else {
                        there.receive(&mut buffer)?;
                        back.send(&buffer)?;
                    }
                }
                Ok(())
            })
        }));
    }
    Ok(loops)
}

/// All-reduces of `words` numbers: each piece goes both ways at the same time and is combined where it comes in.
///
/// # Errors
/// The wire does not map memory.
pub fn all_reduces<'a>(bench: &'a Context, words: usize, ways: &[Way]) -> Result<Vec<Loop<'a>>> {
    let mut loops: Vec<Loop<'_>> = Vec::new();
    for (number, way) in ways.iter().enumerate() {
        let there = end(bench, 1, number, *way)?;
        let back = end(bench, 0, number, *way)?;
        let (mut out, mut into) = match bench.is_first() {
            true => (there, back),
            false => (back, there),
        };
        let mut values = all_pes::values(bench, words);
        let mut theirs = vec![0.0_f64; way.0 / size_of::<f64>()];
        loops.push(Box::new(move |n| {
            let time = time(|| {
                for _ in 0..n {
                    for piece in values.chunks_mut(theirs.len()) {
                        out.send(piece.as_bytes())?;
                        let theirs = theirs.get_mut(..piece.len()).unwrap_or_default();
                        into.receive(theirs.as_mut_bytes())?;
                        for (value, other) in piece.iter_mut().zip(&*theirs) {
                            *value = value.max(*other);
                        }
                    }
                }
                Ok(())
            })?;
            all_pes::check(bench, &values).map(|()| time)
        }));
    }
    Ok(loops)
}

/// One end of the pieces of way `number` in the memory of `receiver`.
fn end<'a>(
    bench: &'a Context,
    receiver: u32,
    number: usize,
    (piece_bytes, pieces, copies): Way,
) -> Result<Staging<'a>> {
    let (memory, base) = bench.memory(receiver)?;
    let line = place::STAGED + 2 * number + receiver as usize;
    let counts = (bench.word(receiver, line)?, bench.word(1 - receiver, line)?);
    // Counts of a size that was measured before may be there.
    bench.job.barrier()?;
    if bench.is_first() {
        counts.0.store(0, Ordering::Relaxed);
        counts.1.store(0, Ordering::Relaxed);
    }
    bench.job.barrier()?;
    let pieces = (piece_bytes, pieces);
    Ok(Staging::new(
        (memory, base + place::DATA),
        pieces,
        copies,
        counts,
    ))
}
