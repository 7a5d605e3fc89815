//! An all-reduce of a group that is spread over hosts with several members each. The members of a host combine what
//! they have before it goes to other hosts, so each wire between hosts carries the values once, not once for each
//! member.

use core::ops::Range;

use super::circle::{Circle, Hosts};
use super::collective::{Combine, Cut, PIECE_BYTES, Then};
use super::lane::{ALIGN_BYTES, Done, Members};

impl Members {
    /// Combines `values` of all members, in place: first of those of each host, then of the hosts.
    ///
    /// A block has a piece for each member of a host, and a piece has a part for each host. Five steps work on five
    /// blocks at a time, in the same order at all members, so each lane sends and takes everything in one order. A lane
    /// is used in two steps, each with two blocks on their way at most. It has as many buffers, so members never wait
    /// for each other's room.
    pub(super) fn all_reduce_by_hosts(
        &mut self,
        hosts: &Hosts,
        values: &mut [u8],
        combine: &dyn Combine,
    ) -> Done {
        let Hosts { near, across } = hosts;
        let piece_bytes = PIECE_BYTES.min(self.buffer_bytes());
        let cut = Cut::of(values.len(), near.members().len(), piece_bytes);
        for turn in 0..cut.blocks + 4 {
            let block = |step: usize| turn.checked_sub(step).filter(|block| *block < cut.blocks);
            if let Some(block) = block(0) {
                for (place, other) in near.others() {
                    self.put_some(other, &values[cut.piece(block, place)])?;
                }
            }
            if let Some(block) = block(1) {
                let own = &mut values[cut.piece(block, near.own())];
                self.fold(near, own, combine, Then::Keep)?;
                for (place, other) in across.others() {
                    self.put_some(other, &own[part(own.len(), across, place)])?;
                }
            }
            if let Some(block) = block(2) {
                let own = &mut values[cut.piece(block, near.own())];
                let part = part(own.len(), across, across.own());
                self.fold(across, &mut own[part], combine, Then::PutToAll)?;
            }
            if let Some(block) = block(3) {
                let own = &mut values[cut.piece(block, near.own())];
                for (place, other) in across.others() {
                    let part = part(own.len(), across, place);
                    self.receive_some(other, &mut own[part])?;
                }
                for (_, other) in near.others() {
                    self.put_some(other, own)?;
                }
            }
            if let Some(block) = block(4) {
                for (place, other) in near.others() {
                    self.receive_some(other, &mut values[cut.piece(block, place)])?;
                }
            }
        }
        Ok(())
    }
}

/// The part of a piece of `len` bytes that the host at `place` combines. It may be empty.
fn part(len: usize, across: &Circle, place: usize) -> Range<usize> {
    let each = len.div_ceil(across.members().len());
    super::collective::nth(len, place, each.next_multiple_of(ALIGN_BYTES))
}
