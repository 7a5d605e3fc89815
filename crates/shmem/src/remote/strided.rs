//! Strided and block-strided puts and gets.

use core::ffi::c_int;

use hostwire::PeId;

use super::{done, put_looked_at, resolve, stored, symmetric, target};
use crate::buffer::{Blocks, InputBlocks, OutputBlocks};
use crate::context;
use crate::debug::race::{Footprint, Transfer};
use crate::fail::fatal;
use crate::fast::Mapped;
use crate::handle::Ctx;
use crate::runtime::{self, Runtime};

/// The symmetric side of a strided operation.
struct Symmetric {
    blocks: Blocks,
    /// Of the first block, in a segment.
    offset: usize,
    /// Of the lowest byte of all blocks.
    lowest: usize,
    /// From the lowest byte to the highest.
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

    /// All bytes at `pe`, if loads and stores reach them.
    fn resolve(&self, runtime: &Runtime, pe: PeId) -> Option<Mapped> {
        resolve(runtime, pe, self.lowest, self.span_bytes)
    }

    /// The offsets of the blocks in a segment.
    fn offsets(&self) -> impl Iterator<Item = usize> {
        let (blocks, first) = (self.blocks, self.offset);
        (0..blocks.count).map(move |block| first.wrapping_add_signed(blocks.distance(block)))
    }

    /// The block at an offset, in what [`resolve`](Self::resolve) gave.
    fn part(&self, memory: Option<Mapped>, offset: usize) -> Option<Mapped> {
        memory?.part(offset.wrapping_sub(self.lowest), self.blocks.block_bytes)
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

/// Strided and block-strided puts: to these blocks, of which the first is at `dest` here.
pub(crate) fn put_strided(
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
    let memory = dest.resolve(runtime, pe);
    for (offset, source) in dest.offsets().zip(sources.iter()) {
        match dest.part(memory, offset) {
            Some(memory) => memory.put(source),
            None => done(what, runtime.attachment.put(pe, offset, source.bytes())),
        }
    }
    stored(runtime, what, pe);
}

/// Strided and block-strided gets: of these blocks, of which the first is at `source` here.
pub(crate) fn get_strided(
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
    let memory = source.resolve(runtime, pe);
    for (block, offset) in source.offsets().enumerate() {
        let Some(mut dest) = dests.block(block) else {
            break;
        };
        match source.part(memory, offset) {
            Some(memory) => memory.get(dest),
            None => done(what, runtime.attachment.get(pe, offset, dest.bytes())),
        }
    }
}
