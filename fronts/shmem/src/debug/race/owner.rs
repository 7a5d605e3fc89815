//! The record of a PE's own memory, which its detector keeps for all PEs that use this
//! memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

use hostwire::attachment::Operation;

use super::access::{Access, Footprint, Kind};
use super::clock::{Clock, Epoch, STORES, Who};
use super::finding::{Finding, Names};
use super::meetings::Meetings;
use super::message::{Change, Touch};
use super::shadow::{Conflict, Shadow};
use super::words::{Release, Words};
use crate::remote;
use crate::runtime::Runtime;

/// A block of the symmetric heap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) len_bytes: usize,
    /// Where it was allocated.
    pub(super) place: u64,
}

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) me: u32,
    shadow: Shadow,
    pub(super) words: Words,
    /// The knowledge for the next PE that takes a lock in this PE's memory, by offset.
    locks: HashMap<usize, Clock>,
    pub(super) meetings: Meetings,
    /// By offset in a segment.
    pub(super) blocks: BTreeMap<usize, Block>,
    pub(super) names: Names,
    /// The knowledge that others have sent.
    clocks: HashMap<Who, Arc<Clock>>,
    /// The knowledge of a thread that has sent none.
    nothing: Arc<Clock>,
}

/// The offsets of static objects and the heap in a segment, folded together: there is other
/// memory between.
fn fold(runtime: &Runtime, offset: usize) -> usize {
    match offset.checked_sub(runtime.heap_region.offset) {
        Some(in_heap) => runtime.statics.len_bytes.next_multiple_of(4096) + in_heap,
        None => offset.saturating_sub(runtime.statics.offset),
    }
}

fn unfold(runtime: &Runtime, folded: usize) -> usize {
    match folded.checked_sub(runtime.statics.len_bytes.next_multiple_of(4096)) {
        Some(in_heap) => runtime.heap_region.offset + in_heap,
        None => runtime.statics.offset + folded,
    }
}

/// Whether all these bytes are symmetric.
fn is_symmetric(runtime: &Runtime, footprint: Footprint) -> bool {
    let is_in = |start: usize, len: usize| {
        [runtime.heap_region, runtime.statics].iter().any(|region| {
            let at = start.wrapping_sub(region.offset);
            at <= region.len_bytes && len <= region.len_bytes - at
        })
    };
    footprint.distance().is_some_and(|last| {
        is_in(footprint.start, footprint.block_bytes)
            && is_in(
                footprint.start.wrapping_add_signed(last),
                footprint.block_bytes,
            )
    })
}

impl Owner {
    pub(super) fn new(me: u32, pes: u32) -> Self {
        Self {
            me,
            shadow: Shadow::default(),
            words: Words::default(),
            locks: HashMap::new(),
            meetings: Meetings::default(),
            blocks: BTreeMap::new(),
            names: Names::default(),
            clocks: HashMap::new(),
            nothing: Arc::new(Clock::new(pes)),
        }
    }

    /// The knowledge of this thread from here on.
    pub(super) fn knows(&mut self, who: Who, clock: Clock) {
        self.clocks.insert(who, Arc::new(clock));
    }

    pub(super) fn clock(&self, who: Who) -> Arc<Clock> {
        Arc::clone(self.clocks.get(&who).unwrap_or(&self.nothing))
    }

    /// Records an access by a PE with `clock`. `None` if it is to memory that is not
    /// symmetric.
    pub(super) fn touch(
        &mut self,
        runtime: &Runtime,
        touch: &Touch<'_>,
        clock: &Clock,
    ) -> Option<Vec<Finding>> {
        if !is_symmetric(runtime, touch.footprint) {
            return None;
        }
        let mut access = touch.access;
        if !access.is_of_program() {
            access.name = self.names.number(touch.name);
        }
        let folded = touch.footprint.at(fold(runtime, touch.footprint.start));
        let found = self.shadow.record(folded, &access, clock, self.me);
        Some(self.findings(runtime, found, &access, clock))
    }

    fn findings(
        &self,
        runtime: &Runtime,
        found: Vec<Conflict>,
        access: &Access,
        clock: &Clock,
    ) -> Vec<Finding> {
        let finding = |conflict: Conflict| {
            let (before, who) = (conflict.before, conflict.before.who());
            Finding {
                offset: unfold(runtime, conflict.offset),
                before,
                is_begun_before: who == access.who() || clock.passed(who) >= before.epoch,
                access: *access,
            }
        };
        found.into_iter().map(finding).collect()
    }

    /// An access to a word by which PEs synchronise. Returns the races, the old value and the
    /// knowledge behind it.
    pub(super) fn word(
        &mut self,
        runtime: &Runtime,
        touch: &Touch<'_>,
        clock: &Arc<Clock>,
        (change, data): (Option<Change>, Option<Epoch>),
        is_fetching: bool,
    ) -> Option<(Vec<Finding>, u64, Clock)> {
        let (offset, size) = (touch.footprint.start, touch.footprint.block_bytes);
        if !matches!(size, 4 | 8) || !offset.is_multiple_of(size) {
            return None;
        }
        let findings = self.touch(runtime, touch, clock)?;
        let access = touch.access;
        let mut known = Clock::new(clock.pes());
        if is_fetching {
            self.words.present(offset, &mut known, self.me);
        }
        let mut old = 0;
        let mut event = Some((None, false));
        if let Some(change) = change {
            let operation = operation_of(change.operation)?;
            old = remote::atomic_at(
                runtime,
                "SHMEM_DEBUG=race",
                self.me,
                offset,
                size,
                operation,
                change.operand,
                change.compare,
            );
            event = value_after(operation, change, old, size)
                .map(|value| (Some(value), operation != Operation::Swap || is_fetching));
        }
        if let Some(event) = event {
            let mut delivered = vec![(access.slot, access.epoch, access.epoch)];
            if access.fenced > 0 {
                delivered.push((access.slot, 1, access.fenced));
                delivered.push((STORES, 1, access.fenced));
            }
            delivered.extend(data.map(|epoch| (access.slot, epoch, epoch)));
            let release = Release {
                who: access.who(),
                passed: access.epoch,
                clock: Arc::clone(clock),
                delivered,
            };
            self.words
                .event(offset, size as u8, event, release, self.me);
        }
        Some((findings, old, known))
    }

    /// The next PE that takes the lock learns this.
    pub(super) fn unlock(&mut self, offset: usize, mut known: Clock, who: Who, passed: Epoch) {
        known.pass(who, passed);
        self.locks.insert(offset, known);
    }

    pub(super) fn lock(&self, offset: usize, pes: u32) -> Clock {
        let known = self.locks.get(&offset);
        known.cloned().unwrap_or_else(|| Clock::new(pes))
    }

    /// A block is new.
    pub(super) fn allocated(&mut self, runtime: &Runtime, offset: usize, block: Block) {
        self.shadow.forget(fold(runtime, offset), block.len_bytes);
        self.words.forget(offset, block.len_bytes);
        self.blocks.insert(offset, block);
    }

    /// A block is given back. An operation that is not over by then has no memory to go to.
    pub(super) fn freed(
        &mut self,
        runtime: &Runtime,
        offset: usize,
        access: &Access,
        clock: &Clock,
    ) -> Vec<Finding> {
        let Some(block) = self.blocks.get(&offset).copied() else {
            return Vec::new();
        };
        let mut access = *access;
        access.name = self.names.number("shmem_free");
        let bytes = Footprint::run(fold(runtime, offset), block.len_bytes);
        let found = self.shadow.check(bytes, &access, clock, self.me);
        self.shadow.forget(bytes.start, block.len_bytes);
        self.words.forget(offset, block.len_bytes);
        self.findings(runtime, found, &access, clock)
    }

    /// Non-blocking operations with these local buffers that `who` knows of are complete.
    pub(super) fn close(
        &mut self,
        runtime: &Runtime,
        buffer: Footprint,
        slot: u16,
        (who, epoch, clock): (Who, Epoch, &Clock),
    ) {
        let is_over = |access: &Access| {
            let is_buffer = matches!(access.kind, Kind::NbiSource | Kind::NbiDestination);
            let is_own = access.pe == who.pe && access.slot == slot && is_buffer;
            is_own && (access.thread == who.thread || clock.passed(access.who()) >= access.epoch)
        };
        let folded = buffer.at(fold(runtime, buffer.start));
        self.shadow.close(folded, is_over, (who.thread, epoch));
    }
}

fn operation_of(code: u8) -> Option<Operation> {
    Operation::from_code(code).filter(|operation| *operation != Operation::Get)
}

/// The new value of a word; `None` if it was not changed.
fn value_after(operation: Operation, change: Change, old: u64, size: usize) -> Option<u64> {
    let is_changed = match operation {
        Operation::Get | Operation::Fetch => false,
        Operation::CompareSwap => old == change.compare,
        _ => true,
    };
    is_changed.then(|| match size {
        4 => {
            let half = AtomicU32::new(old as u32);
            operation.apply_32(&half, change.operand as u32, change.compare as u32);
            half.into_inner().into()
        }
        _ => {
            let word = AtomicU64::new(old);
            operation.apply_64(&word, change.operand, change.compare);
            word.into_inner()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_that_an_atomic_leaves() {
        let change = Change {
            operation: 0,
            operand: u64::from(u32::MAX),
            compare: 7,
        };
        let after = |operation, old| value_after(operation, change, old, 4);
        assert_eq!(after(Operation::Add, 2), Some(1));
        assert_eq!(after(Operation::Fetch, 2), None);
        assert_eq!(after(Operation::CompareSwap, 6), None);
        assert_eq!(after(Operation::CompareSwap, 7), Some(u64::from(u32::MAX)));
        assert_eq!(value_after(Operation::Add, change, 1, 8), Some(1 << 32));
    }
}
