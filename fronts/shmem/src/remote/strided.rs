//! Strided and block-strided puts and gets.

use core::ffi::c_int;

use hostwire::PeId;

use super::{done, put_looked_at, resolve, stored, symmetric, target};
use crate::buffer::{Blocks, InputBlocks, OutputBlocks};
use crate::context;
use crate::debug::race::{Footprint, Transfer};
use crate::fail::fatal;
use crate::fast::{self, MappedPe, What};
use crate::handle::Ctx;
use crate::mapped::MappedBlocks;
use crate::runtime::{self, Runtime};

/// The symmetric side of a strided operation.
struct Symmetric {
    blocks: Blocks,
    /// The offset of the first block in a segment.
    offset: usize,
    /// The offset of the lowest byte of all blocks.
    lowest: usize,
    /// The bytes from the lowest to the highest.
    span_bytes: usize,
}

impl Symmetric {
    /// Ends the job if a block is not symmetric.
    fn new(
        runtime: &Runtime,
        what: &'static str,
        role: &str,
        address: *const u8,
        blocks: Blocks,
    ) -> Self {
        let Some((first, span_bytes)) = blocks.span() else {
            fatal(what, "the blocks reach beyond the address space");
        };
        let address = address.wrapping_offset(first);
        let lowest = symmetric(runtime, what, role, address, span_bytes);
        Self {
            blocks,
            offset: lowest.wrapping_add_signed(first.wrapping_neg()),
            lowest,
            span_bytes,
        }
    }

    /// The blocks at `pe`, if loads and stores reach them.
    fn resolve(&self, runtime: &Runtime, pe: PeId) -> Option<MappedBlocks> {
        let memory = resolve(runtime, pe, self.lowest, self.span_bytes)?;
        memory.blocks(self.offset.wrapping_sub(self.lowest), self.blocks)
    }

    /// The offsets of the blocks in a segment.
    fn offsets(&self) -> impl Iterator<Item = usize> {
        let (blocks, first) = (self.blocks, self.offset);
        (0..blocks.count).map(move |block| first.wrapping_add_signed(blocks.distance(block)))
    }
}

fn footprint(start: usize, blocks: Blocks) -> Footprint {
    Footprint {
        start,
        block_bytes: blocks.block_bytes,
        stride_bytes: blocks.distance(1),
        blocks: blocks.count,
    }
}

fn transfer(
    runtime: &'static Runtime,
    what: &'static str,
    ctx: Ctx,
    (remote, local): (Footprint, Footprint),
    pe: PeId,
) -> Transfer {
    Transfer {
        what,
        slot: context::of_race(runtime, what, ctx).0,
        pe,
        remote,
        local,
        is_nbi: false,
    }
}

/// The blocks at `pe`, if all of them are in reach, and where they lie.
#[inline]
fn in_reach(
    ctx: Ctx,
    address: *const u8,
    blocks: Blocks,
    pe: c_int,
) -> Option<(MappedPe, MappedBlocks)> {
    if !ctx.is_of_world() {
        return None;
    }
    let (lowest, span_bytes) = blocks.span()?;
    let place = fast::at(address.wrapping_offset(lowest), span_bytes, pe)?;
    let there = place.memory.blocks(lowest.unsigned_abs(), blocks)?;
    Some((place, there))
}

/// Strided and block-strided puts: to these blocks, of which the first is at `dest` here.
pub(crate) fn put_strided(
    what: What,
    ctx: Ctx,
    (dest, blocks): (*mut u8, Blocks),
    sources: InputBlocks<'_>,
    pe: c_int,
) {
    if let Some((place, there)) = in_reach(ctx, dest, blocks, pe) {
        there.put(sources);
        place.stored(what, pe);
    } else {
        put_out_of_reach(what, ctx, (dest, blocks), sources, pe);
    }
}

#[cold]
#[inline(never)]
fn put_out_of_reach(
    what: &'static str,
    ctx: Ctx,
    (dest, blocks): (*mut u8, Blocks),
    sources: InputBlocks<'_>,
    pe: c_int,
) {
    let runtime = runtime::get(what);
    let pe = target(runtime, what, ctx, pe);
    if blocks.is_empty() {
        return;
    }
    let dest = Symmetric::new(runtime, what, "the destination", dest, blocks);
    if let Some(race) = runtime.debug.race() {
        if blocks.count == 1
            && let Some(source) = sources.iter().next()
        {
            let at = (pe, dest.offset);
            return put_looked_at(race, runtime, (what, false), ctx, at, source);
        }
        let sides = (
            footprint(dest.offset, blocks),
            footprint(sources.address(), sources.blocks()),
        );
        race.put(runtime, transfer(runtime, what, ctx, sides, pe), || 0);
    }
    if let Some(there) = dest.resolve(runtime, pe) {
        there.put(sources);
        return stored(runtime, what, pe);
    }
    for (offset, source) in dest.offsets().zip(sources.iter()) {
        done(what, runtime.attachment.put(pe, offset, source.bytes()));
    }
}

/// Strided and block-strided gets: of these blocks, of which the first is at `source` here.
pub(crate) fn get_strided(
    what: What,
    ctx: Ctx,
    dests: OutputBlocks<'_>,
    (source, blocks): (*const u8, Blocks),
    pe: c_int,
) {
    match in_reach(ctx, source, blocks, pe) {
        Some((place, there)) if !place.may_be_dead() => there.get(dests),
        _ => get_out_of_reach(what, ctx, dests, (source, blocks), pe),
    }
}

#[cold]
#[inline(never)]
fn get_out_of_reach(
    what: &'static str,
    ctx: Ctx,
    mut dests: OutputBlocks<'_>,
    (source, blocks): (*const u8, Blocks),
    pe: c_int,
) {
    let runtime = runtime::get(what);
    let pe = target(runtime, what, ctx, pe);
    if blocks.is_empty() {
        return;
    }
    done(what, runtime.attachment.check(pe));
    let source = Symmetric::new(runtime, what, "the source", source, blocks);
    if let Some(race) = runtime.debug.race() {
        let sides = (
            footprint(source.offset, blocks),
            footprint(dests.address(), dests.blocks()),
        );
        race.get(runtime, transfer(runtime, what, ctx, sides, pe));
    }
    if let Some(there) = source.resolve(runtime, pe) {
        return there.get(dests);
    }
    for (block, offset) in source.offsets().enumerate() {
        if let Some(mut dest) = dests.block(block) {
            done(what, runtime.attachment.get(pe, offset, dest.bytes()));
        }
    }
}
