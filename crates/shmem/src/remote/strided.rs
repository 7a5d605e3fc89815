//! Strided and block-strided puts and gets.

use core::ffi::c_int;

use hostwire::PeId;

use super::{done, get_at, put_at, put_looked_at, resolve, stored, symmetric, target};
use crate::context;
use crate::copy;
use crate::debug::race::{Footprint, Transfer};
use crate::fail::fatal;
use crate::handle::Ctx;
use crate::runtime::{self, Runtime};

/// How elements of a strided operation lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strides {
    /// From one block to the next, in elements.
    pub(crate) dst: isize,
    pub(crate) sst: isize,
    pub(crate) block_elements: usize,
    pub(crate) blocks: usize,
    pub(crate) element_bytes: usize,
}

impl Strides {
    fn block_bytes(&self) -> usize {
        self.block_elements.saturating_mul(self.element_bytes)
    }

    /// The bytes of all blocks from `start` on, with this stride.
    fn footprint(&self, start: usize, stride: isize) -> Footprint {
        Footprint {
            start,
            block_bytes: self.block_bytes(),
            stride_bytes: stride.wrapping_mul(self.element_bytes as isize),
            blocks: self.blocks,
        }
    }

    /// The lowest byte that blocks with this stride touch, relative to the first one, and
    /// how many bytes they span. `None` if that is more than there can be.
    fn span(&self, stride: isize) -> Option<(isize, usize)> {
        let step = stride.checked_mul(self.element_bytes as isize)?;
        let last = isize::try_from(self.blocks - 1).ok()?.checked_mul(step)?;
        let span = last.unsigned_abs().checked_add(self.block_bytes())?;
        Some((last.min(0), span))
    }
}

/// Checks the symmetric side of a strided operation: the offset of its first block.
fn symmetric_blocks(
    runtime: &Runtime,
    what: &'static str,
    role: &str,
    address: *const u8,
    how: &Strides,
    stride: isize,
) -> usize {
    let Some((lowest, span)) = how.span(stride) else {
        fatal(what, "the blocks reach beyond the address space");
    };
    let first = address.wrapping_offset(lowest);
    let offset = symmetric(runtime, what, role, first, span);
    offset.wrapping_add_signed(lowest.wrapping_neg())
}

fn strided(
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

/// Strided and block-strided puts.
///
/// # Safety
/// The source is valid for all blocks.
pub(crate) unsafe fn put_strided(
    what: &'static str,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    how: Strides,
    pe: c_int,
) {
    let runtime = runtime::get(what);
    let pe = target(runtime, what, ctx, pe);
    let len = how.block_bytes();
    if how.blocks == 0 || len == 0 {
        return;
    }
    let first = symmetric_blocks(runtime, what, "the destination", dest, &how, how.dst);
    let sides = (
        how.footprint(first, how.dst),
        how.footprint(source as usize, how.sst),
    );
    if let Some(race) = runtime.debug.race() {
        if how.blocks == 1 {
            // SAFETY: the caller has the source; the destination was checked.
            return unsafe { put_looked_at(race, runtime, (what, false), ctx, sides, pe) };
        }
        race.put(runtime, strided(runtime, what, ctx, sides, pe), || 0);
    }
    let element = how.element_bytes as isize;
    for block in 0..how.blocks as isize {
        let offset = first.wrapping_add_signed(block * how.dst * element);
        let source = source.wrapping_offset(block * how.sst * element);
        match resolve(runtime, pe, offset) {
            // SAFETY: the span of all blocks was checked; the caller has the source.
            Some(at) => unsafe { copy::to_peer(at, source, len) },
            // SAFETY: as above.
            None => unsafe { put_at(runtime, what, pe, offset, source, len) },
        }
    }
    stored(runtime, what, pe);
}

/// Strided and block-strided gets.
///
/// # Safety
/// The destination is valid for all blocks.
pub(crate) unsafe fn get_strided(
    what: &'static str,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    how: Strides,
    pe: c_int,
) {
    let runtime = runtime::get(what);
    let pe = target(runtime, what, ctx, pe);
    let len = how.block_bytes();
    if how.blocks == 0 || len == 0 {
        return;
    }
    done(what, runtime.attachment.check(pe));
    let first = symmetric_blocks(runtime, what, "the source", source, &how, how.sst);
    if let Some(race) = runtime.debug.race() {
        let sides = (
            how.footprint(first, how.sst),
            how.footprint(dest as usize, how.dst),
        );
        race.get(runtime, strided(runtime, what, ctx, sides, pe));
    }
    let element = how.element_bytes as isize;
    for block in 0..how.blocks as isize {
        let offset = first.wrapping_add_signed(block * how.sst * element);
        let dest = dest.wrapping_offset(block * how.dst * element);
        match resolve(runtime, pe, offset) {
            // SAFETY: the span of all blocks was checked; the caller has the destination.
            Some(at) => unsafe { copy::from_peer(dest, at, len) },
            // SAFETY: as above.
            None => unsafe { get_at(runtime, what, pe, offset, dest, len) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_blocks_span_from_the_lowest_to_the_highest_byte() {
        let how = Strides {
            dst: 3,
            sst: -3,
            block_elements: 2,
            blocks: 4,
            element_bytes: 8,
        };
        assert_eq!(how.span(how.dst), Some((0, 3 * 3 * 8 + 16)));
        assert_eq!(how.span(how.sst), Some((-72, 72 + 16)));
        assert_eq!(how.span(isize::MAX), None);
        let none = Strides {
            blocks: usize::MAX,
            ..how
        };
        assert_eq!(none.span(1), None);
    }
}
