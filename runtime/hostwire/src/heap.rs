//! The allocator of the symmetric heap.
//!
//! Its records are in private memory. Every PE keeps its own records. All make the same
//! calls in the same order and so get the same offsets. PEs exchange nothing, and no peer
//! can corrupt the records. Best fit with immediate merging of neighbours.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};

/// Blocks are whole cache lines, so that two of them never share one.
const GRAIN: usize = 64;

/// The records of a symmetric heap: which blocks are free, and which are not. They hold
/// offsets relative to the heap, and never touch its memory.
#[derive(Debug)]
pub struct Heap {
    heap_bytes: usize,
    /// Free blocks by offset, with their length.
    free: BTreeMap<usize, usize>,
    /// The same, by length.
    by_length: BTreeSet<(usize, usize)>,
    /// Allocated blocks by offset.
    live: BTreeMap<usize, Live>,
    /// No byte at or after this offset was ever handed out: these are still zero and
    /// untouched.
    pristine: usize,
}

/// An allocated block.
#[derive(Debug, Clone, Copy)]
struct Live {
    /// In whole cache lines.
    length: usize,
    /// The requested size.
    asked_bytes: usize,
}

/// A block that was handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Where it begins.
    pub offset: usize,
    /// How many bytes from the beginning may hold old data.
    pub used_bytes: usize,
}

impl Heap {
    /// All of it free, and zero.
    pub fn new(heap_bytes: usize) -> Self {
        let mut heap = Self {
            heap_bytes,
            free: BTreeMap::new(),
            by_length: BTreeSet::new(),
            live: BTreeMap::new(),
            pristine: 0,
        };
        heap.insert_free(0, heap_bytes);
        heap
    }

    /// A block of `len_bytes` bytes at a multiple of `align_bytes`, a power of two.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn allocate(&mut self, len_bytes: usize, align_bytes: usize) -> Result<Block> {
        let align = align_bytes.max(GRAIN);
        let full = || self.out_of_memory(len_bytes);
        let length = len_bytes
            .max(1)
            .checked_next_multiple_of(GRAIN)
            .ok_or_else(full)?;
        let fits = |(free_len, offset): &(usize, usize)| {
            let padding = offset.next_multiple_of(align) - offset;
            padding
                .checked_add(length)
                .is_some_and(|needed| needed <= *free_len)
        };
        let (free_len, free_offset) = *self
            .by_length
            .range((length, 0)..)
            .find(|block| fits(block))
            .ok_or_else(full)?;
        self.remove_free(free_offset, free_len);
        let offset = free_offset.next_multiple_of(align);
        self.insert_free(free_offset, offset - free_offset);
        let end = offset + length;
        self.insert_free(end, free_offset + free_len - end);
        let asked_bytes = len_bytes;
        self.live.insert(
            offset,
            Live {
                length,
                asked_bytes,
            },
        );
        let used_bytes = self.pristine.saturating_sub(offset).min(length);
        self.pristine = self.pristine.max(end);
        Ok(Block { offset, used_bytes })
    }

    /// Gives the block at `offset` back. Returns false if there is none: freed twice,
    /// or never allocated.
    #[must_use]
    pub fn release(&mut self, offset: usize) -> bool {
        let Some(Live { mut length, .. }) = self.live.remove(&offset) else {
            return false;
        };
        let mut start = offset;
        if let Some((&before, &before_len)) = self.free.range(..start).next_back()
            && before + before_len == start
        {
            self.remove_free(before, before_len);
            start = before;
            length += before_len;
        }
        if let Some(&after_len) = self.free.get(&(start + length)) {
            self.remove_free(start + length, after_len);
            length += after_len;
        }
        self.insert_free(start, length);
        true
    }

    /// The bytes of the block that begins at `offset`, rounded up to whole cache lines.
    pub fn block_bytes(&self, offset: usize) -> Option<usize> {
        self.live.get(&offset).map(|live| live.length)
    }

    /// The block that has the byte at `offset`: where it begins, and how many bytes were asked for.
    pub fn block_of(&self, offset: usize) -> Option<(usize, usize)> {
        let (&start, live) = self.live.range(..=offset).next_back()?;
        (offset - start < live.length).then_some((start, live.asked_bytes))
    }

    /// Sets the requested size of the block at `offset` to `asked_bytes`, which must not be
    /// more than its size.
    pub fn resize(&mut self, offset: usize, asked_bytes: usize) {
        if let Some(live) = self.live.get_mut(&offset) {
            live.asked_bytes = asked_bytes.min(live.length);
        }
    }

    /// Gives back everything.
    pub fn clear(&mut self) {
        let offsets: Vec<usize> = self.live.keys().copied().collect();
        for offset in offsets {
            let _ = self.release(offset);
        }
    }

    /// How many blocks are allocated, and the bytes that were asked for.
    pub fn live(&self) -> (usize, usize) {
        let asked = self.live.values().map(|live| live.asked_bytes);
        (self.live.len(), asked.sum())
    }

    /// Bytes that are not allocated.
    pub fn free_bytes(&self) -> usize {
        self.free.values().sum()
    }

    fn out_of_memory(&self, asked_bytes: usize) -> Error {
        Error::OutOfMemory {
            asked_bytes,
            free_bytes: self.free_bytes(),
            largest_bytes: self.by_length.last().map_or(0, |(length, _)| *length),
            heap_bytes: self.heap_bytes,
        }
    }

    fn insert_free(&mut self, offset: usize, length: usize) {
        if length > 0 {
            self.free.insert(offset, length);
            self.by_length.insert((length, offset));
        }
    }

    fn remove_free(&mut self, offset: usize, length: usize) {
        self.free.remove(&offset);
        self.by_length.remove(&(length, offset));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn out_of_memory_says_what_there_is() {
        let mut heap = Heap::new(4096);
        heap.allocate(1024, 8).unwrap();
        assert_eq!(
            heap.allocate(4096, 8),
            Err(Error::OutOfMemory {
                asked_bytes: 4096,
                free_bytes: 3072,
                largest_bytes: 3072,
                heap_bytes: 4096,
            })
        );
        assert!(heap.allocate(usize::MAX, 8).is_err());
        assert!(heap.allocate(usize::MAX - 100, 1 << 40).is_err());
    }

    #[test]
    fn freeing_twice_or_a_foreign_offset_is_noticed() {
        let mut heap = Heap::new(4096);
        let block = heap.allocate(10, 8).unwrap();
        assert!(!heap.release(block.offset + 64));
        assert!(heap.release(block.offset));
        assert!(!heap.release(block.offset));
    }

    #[test]
    fn only_reused_bytes_count_as_used() {
        let mut heap = Heap::new(4096);
        let first = heap.allocate(128, 8).unwrap();
        assert_eq!(first.used_bytes, 0);
        assert!(heap.release(first.offset));
        assert_eq!(heap.allocate(256, 8).unwrap().used_bytes, 128);
    }

    #[test]
    fn what_was_asked_for_is_known() {
        let mut heap = Heap::new(4096);
        let block = heap.allocate(8, 8).unwrap();
        assert_eq!(heap.block_of(block.offset + 4), Some((block.offset, 8)));
        assert_eq!(heap.block_bytes(block.offset), Some(64));
        heap.resize(block.offset, 20);
        assert_eq!(heap.block_of(block.offset + 63), Some((block.offset, 20)));
        assert_eq!((heap.block_of(64), heap.live()), (None, (1, 20)));
    }

    proptest! {
        /// Blocks never overlap, stay inside, are aligned; and when all are freed the
        /// heap is one piece again.
        #[test]
        fn behaves_like_disjoint_intervals(
            ops in proptest::collection::vec((0..3u8, 0..5000usize, 0..10u32), 1..200)
        ) {
            let mut heap = Heap::new(1 << 16);
            let mut live: Vec<(usize, usize)> = Vec::new();
            for (op, number, align) in ops {
                if op < 2 {
                    let align = 1 << align;
                    if let Ok(block) = heap.allocate(number, align) {
                        prop_assert_eq!(block.offset % align, 0);
                        let end = block.offset + number.max(1);
                        prop_assert!(end <= 1 << 16);
                        prop_assert!(live.iter().all(|(o, e)| end <= *o || *e <= block.offset));
                        live.push((block.offset, end));
                    }
                } else if !live.is_empty() {
                    let (offset, _) = live.swap_remove(number % live.len());
                    prop_assert!(heap.release(offset));
                }
            }
            for (offset, _) in live {
                prop_assert!(heap.release(offset));
            }
            prop_assert_eq!(heap.free.iter().collect::<Vec<_>>(), [(&0, &(1 << 16))]);
            prop_assert_eq!(heap.by_length.len(), 1);
        }
    }
}
