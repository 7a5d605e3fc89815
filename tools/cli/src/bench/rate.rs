//! Messages per second, one way, compared with the best bare ring of the same size.

use hostwire::Result;
use hostwire_transport::limits::{IndexRing, LineRing};
use hostwire_transport::ring::RING_BYTES_DEFAULT;

use super::measure::{Loop, Unit, measure};
use super::pe::{Context, place, time};
use super::two_core;

const TAG: u64 = 8;

pub fn run(bench: &Context) -> Result<()> {
    let slots = RING_BYTES_DEFAULT / 64;
    let (memory, base) = bench.memory(1)?;
    let ring = |at, credit, lines| {
        LineRing::new(memory, base + at, slots, bench.word(0, credit)?, lines)
            .map_err(hostwire::Error::from)
    };
    let mut one_line = ring(place::RING_1, place::CREDIT, 1)?;
    let mut two_lines = ring(place::RING_2, place::CREDIT_2, 2)?;
    let mut index = IndexRing::new(
        memory,
        base + place::RING_INDEX,
        slots,
        bench.word(1, place::HEAD)?,
        bench.word(0, place::INDEX_CREDIT)?,
    )?;
    let payload = [3; 8];
    for size in bench.sizes(&[8, 64, 1024, 4096]) {
        let source = vec![3_u8; size as usize];
        let mut limits: Vec<Loop<'_>> = Vec::new();
        if size <= 56 {
            limits.push(with_ack(bench, |n| match bench.is_first() {
                true => one_line.send(&payload, n),
                false => one_line.receive(n),
            }));
        } else if size <= 64 {
            limits.push(with_ack(bench, |n| match bench.is_first() {
                true => two_lines.send(&payload, n),
                false => two_lines.receive(n),
            }));
        }
        if size <= 64 {
            limits.push(with_ack(bench, |n| match bench.is_first() {
                true => index.send(&payload, n),
                false => index.receive(n),
            }));
        } else {
            limits = two_core::streams(bench, &source, &two_core::MESSAGES)?;
        }
        let line = measure(
            bench,
            "rate",
            size,
            Unit::MPerS,
            bench.plan(20, 50_000, size),
            ours(bench, &source),
            limits,
        )?;
        bench.print(&line);
    }
    Ok(())
}

/// Messages of `source` from private memory to private memory, until all have been received.
pub fn ours<'a>(bench: &'a Context, source: &'a [u8]) -> Loop<'a> {
    let mut buffer = vec![1_u8; source.len()];
    let (job, peer) = (&bench.job, bench.peer());
    bench.one_way(move || match bench.is_first() {
        true => job.send(peer, TAG, source),
        false => job.recv(peer, TAG, &mut buffer).map(drop),
    })
}

/// The limits end as the messages do: with a barrier, so that the clock stops when the
/// last one has been received.
fn with_ack<'a>(bench: &'a Context, mut run: impl FnMut(u64) + 'a) -> Loop<'a> {
    Box::new(move |n| {
        time(|| {
            run(n);
            bench.job.barrier()
        })
    })
}
