//! Half round trip of a tagged, matched message, compared with a bare ping-pong: of a line, and of longer messages with the
//! best bare copies.

use hostwire::Result;
use hostwire_transport::limits;

use super::measure::{Loop, Unit, measure};
use super::pe::{Context, place, time};
use super::two_core;

const TAG: u64 = 7;
/// The longest message that one line can carry, or nearly so: the limit is that of a line.
const LINE_BYTES: u64 = 64;

pub fn run(bench: &Context) -> Result<()> {
    let mine = if bench.is_first() {
        place::FROM_FIRST
    } else {
        place::FROM_SECOND
    };
    let theirs = place::FROM_FIRST + place::FROM_SECOND - mine;
    // Each side's line lies with the other, as a put would leave it.
    let mine = bench.word(bench.peer(), mine)?;
    let theirs = bench.word(bench.job.pe(), theirs)?;
    let mut turn = 0;
    for size in bench.sizes(&[8, 64, 1024, 4096, 16 << 10, 64 << 10]) {
        let turns = if size > 2048 { 50 } else { 400 };
        let mut limit = |n| {
            time(|| {
                limits::ping_pong(bench.side(), mine, theirs, &mut turn, n);
                Ok(())
            })
        };
        let limits = match size <= LINE_BYTES {
            true => vec![Box::new(&mut limit) as Loop<'_>],
            false => two_core::round_trips(bench, size as usize, &two_core::MESSAGES)?,
        };
        let line = measure(
            bench,
            "latency",
            size,
            Unit::Ns { parts: 2.0 },
            bench.plan(60, turns, 2 * size),
            ours(bench, size as usize),
            limits,
        )?;
        bench.print(&line);
    }
    Ok(())
}

pub fn ours(bench: &Context, size: usize) -> Loop<'_> {
    let mut buffer = vec![1_u8; size];
    let (job, peer) = (&bench.job, bench.peer());
    Box::new(move |n| {
        time(|| {
            for _ in 0..n {
                if bench.is_first() {
                    job.send(peer, TAG, &buffer)?;
                    job.recv(peer, TAG, &mut buffer)?;
                } else {
                    job.recv(peer, TAG, &mut buffer)?;
                    job.send(peer, TAG, &buffer)?;
                }
            }
            Ok(())
        })
    })
}
