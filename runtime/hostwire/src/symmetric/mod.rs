//! Symmetric memory: the same object in the segment of every PE.

mod access;
mod atomic;
mod get;
mod until;

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

pub use access::SignalOp;
pub use get::{Get, StartedGet};
use hostwire_transport::{Extent, TransportError};

use crate::board::Activity;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::team::Team;

/// An array of `T` that every PE has at the same place of its segment. Made by
/// [`crate::Job::alloc`]; zeroed.
///
/// Any PE may read and write any PE's copy at any time: values are copied in and out,
/// never borrowed.
///
/// A put, a get or an atomic names a PE and an index, and costs a few instructions more than the bare
/// access. [`part`](Self::part) gives an array of some of the elements, with indices of its own.
///
/// Dropping it is not collective and never waits. The memory is given back in the next
/// [`crate::Job::alloc`] after all PEs have dropped the array and its parts;
/// [`free`](Self::free) gives it back at once.
pub struct Symmetric<T: Element> {
    pub(crate) inner: Arc<Inner>,
    block: Arc<Owned>,
    /// All copies, where the CPU reaches them directly.
    pub(crate) extent: Extent<T>,
    /// Its offset in every segment.
    pub(crate) offset_bytes: usize,
    pub(crate) len: usize,
}

/// Elements start at a multiple of this, so that no two objects share a cache line.
const LINE_BYTES: usize = 64;

impl<T: Element> Symmetric<T> {
    /// Allocates `len` zeroed elements. Collective over the world.
    pub(crate) fn allocate(world: &Arc<Team>, len: usize) -> Result<Self> {
        let inner = &world.inner;
        inner.check_is_here()?;
        let _busy = inner.status.during(Activity::Allocating, None);
        let asked = size_of::<T>().checked_mul(len);
        let len_bytes = asked.unwrap_or(usize::MAX);
        release_dropped(world, len_bytes)?;
        let align = align_of::<T>().max(LINE_BYTES);
        let block = inner.heap().allocate(len_bytes, align)?;
        let offset_bytes = inner.layout.heap() + block.offset;
        let zeros = [0; 4096];
        let mut done = 0;
        while done < block.used_bytes {
            let now = zeros.len().min(block.used_bytes - done);
            inner.segment().put(offset_bytes + done, &zeros[..now])?;
            done += now;
        }
        let owned = Arc::new(Owned {
            world: Arc::clone(world),
            offset_bytes,
            is_dropped: true,
        });
        let symmetric = Self::within(&owned, offset_bytes, len)?;
        world.barrier()?;
        Ok(symmetric)
    }

    /// The elements that lie at an offset, in a block.
    fn within(block: &Arc<Owned>, offset_bytes: usize, len: usize) -> Result<Self> {
        let inner = &block.world.inner;
        Ok(Self {
            extent: match inner.wire.reach() {
                Some(reach) => reach.extent(offset_bytes, len)?,
                None => Extent::none(),
            },
            inner: Arc::clone(inner),
            block: Arc::clone(block),
            offset_bytes,
            len,
        })
    }

    /// The elements of `range` as an array: its element 0 is the first of them. Not collective; the
    /// memory stays as long as the array or one of its parts does.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # fn main() -> hostwire::Result<()> {
    /// let job = hostwire::Job::attach()?;
    /// // One allocation: a place for each PE, and counters.
    /// let words = job.alloc::<u64>(job.pes() as usize + 2)?;
    /// let (places, counters) = (words.part(..job.pes() as usize)?, words.part(job.pes() as usize..)?);
    /// counters.add(0, 1, 5)?;
    /// places.put(0, job.pe() as usize, &[7])?;
    /// job.barrier()?;
    /// assert_eq!(counters.load(1)?, if job.pe() == 0 { 5 * u64::from(job.pes()) } else { 0 });
    /// # job.finalize()
    /// # }
    /// ```
    pub fn part(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let begin = match range.start_bound() {
            Bound::Included(first) => *first,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => self.len,
        };
        let count = end.saturating_sub(begin);
        Self::within(&self.block, self.locate(begin, count)?, count)
    }

    /// The same memory as elements of another type. Not collective; it is one more part of the
    /// array, as those of [`part`](Self::part).
    ///
    /// # Errors
    /// [`Error::Length`] if the bytes are no whole number of `U`; [`Error::Misused`] if they do not lie
    /// as a `U` has to.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> hostwire::Result<()> {
    /// let job = hostwire::Job::attach()?;
    /// let bytes = job.alloc::<u8>(16)?;
    /// let words = bytes.cast::<u64>()?;
    /// words.store(1, 7)?;
    /// assert_eq!(bytes.to_vec()?[8..], 7_u64.to_ne_bytes());
    /// # job.finalize()
    /// # }
    /// ```
    pub fn cast<U: Element>(&self) -> Result<Symmetric<U>> {
        self.inner.check_is_here()?;
        let len_bytes = self.len * size_of::<T>();
        let (len, rest) = match size_of::<U>() {
            0 => (0, len_bytes),
            size => (len_bytes / size, len_bytes % size),
        };
        if rest != 0 {
            return Err(Error::Length {
                what: "the bytes of an array as elements of another type",
                expected: len_bytes - rest,
                got: len_bytes,
            });
        }
        let align_bytes = align_of::<U>();
        if !self.offset_bytes.is_multiple_of(align_bytes) {
            let offset_bytes = self.offset_bytes;
            return Err(Error::Misused(TransportError::Misaligned {
                offset_bytes,
                align_bytes,
            }));
        }
        Symmetric::within(&self.block, self.offset_bytes, len)
    }

    /// How many elements each PE has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where `count` elements from `index` on lie in a segment. Also an error in a copy
    /// of the process, because the segment does not belong to it.
    #[inline(always)]
    pub(crate) fn locate(&self, index: usize, count: usize) -> Result<usize> {
        self.inner.check_is_here()?;
        if index <= self.len && count <= self.len - index {
            Ok(self.offset_bytes + index * size_of::<T>())
        } else {
            Err(out_of_range(index, count, self.len))
        }
    }

    /// Gives the memory back. Collective over the world: waits for all PEs.
    ///
    /// # Errors
    /// [`Error::InUse`], without any wait, if there are other parts of the array. The memory is then
    /// given back after all of them have been dropped. As [`Job::barrier`](crate::Job::barrier).
    pub fn free(self) -> Result<()> {
        let Self { inner, block, .. } = self;
        inner.check_is_here()?;
        let others = Arc::strong_count(&block) - 1;
        let mut block = Arc::into_inner(block).ok_or(Error::InUse { others })?;
        let _busy = inner.status.during(Activity::Allocating, None);
        block.world.barrier()?;
        block.is_dropped = false;
        inner.release(block.offset_bytes)
    }
}

/// A block of the heap of every PE, in which arrays lie.
struct Owned {
    world: Arc<Team>,
    offset_bytes: usize,
    /// Dropping it records that this PE does not need the memory any more.
    is_dropped: bool,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // In a copy of the process the lock may belong to a thread that does not exist there.
        let inner = &self.world.inner;
        if self.is_dropped && inner.is_here() {
            inner.dropped().push(self.offset_bytes);
        }
    }
}

#[cold]
fn out_of_range(index: usize, count: usize, elements: usize) -> Error {
    Error::OutOfRange {
        index,
        count,
        elements,
    }
}

impl Inner {
    fn release(&self, offset_bytes: usize) -> Result<()> {
        let offset = offset_bytes - self.layout.heap();
        if self.heap().release(offset) {
            Ok(())
        } else {
            let what = "giving symmetric memory back";
            let got = format_args!("offset {offset} of the heap");
            Err(TransportError::misused(what, "an object of this PE", got).into())
        }
    }
}

/// Agrees with all PEs on the requested size. Returns the fewest and the most objects that a PE has dropped.
fn agree(world: &Team, len_bytes: usize, dropped: usize) -> Result<(u64, u64)> {
    let (len, dropped) = (len_bytes as u64, dropped as u64);
    let own = u64::from(world.inner.pe);
    // The shortest and the longest, each with its PE.
    let mut all = [[len, own, len, own, dropped, dropped]];
    world.all_reduce(&mut all, |one: [u64; 6], other: [u64; 6]| {
        let shorter = if other[0] < one[0] { other } else { one };
        let longer = if other[2] > one[2] { other } else { one };
        [
            shorter[0],
            shorter[1],
            longer[2],
            longer[3],
            one[4].min(other[4]),
            one[5].max(other[5]),
        ]
    })?;
    let [[shortest, shortest_at, longest, longest_at, fewest, most]] = all;
    for (theirs, pe) in [(shortest, shortest_at), (longest, longest_at)] {
        if theirs != len {
            return Err(Error::CollectiveMismatch {
                operation: "alloc",
                pe: u32::try_from(pe).unwrap_or(u32::MAX),
                theirs: format!("{theirs} bytes"),
                ours: format!("{len_bytes} bytes"),
            });
        }
    }
    Ok((fewest, most))
}

/// Agrees with all PEs on the requested size, and frees the objects that all have
/// dropped.
fn release_dropped(world: &Team, len_bytes: usize) -> Result<()> {
    let inner = &world.inner;
    let mut dropped: Vec<u64> = inner.dropped().iter().map(|o| *o as u64).collect();
    dropped.sort_unstable();
    let (fewest, most) = agree(world, len_bytes, dropped.len())?;
    if fewest == 0 {
        return Ok(()); // somebody still holds everything
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if most > inner.layout.heap_bytes() / LINE_BYTES {
        return Err(Error::CollectiveMismatch {
            operation: "alloc",
            pe: 0,
            theirs: format!("{most} dropped objects"),
            ours: "fewer than the heap can hold".into(),
        });
    }
    dropped.resize(most, u64::MAX);
    let mut lists = vec![0; most * world.size() as usize];
    world.all_gather(&dropped, &mut lists)?;
    let by_all: Vec<usize> = dropped
        .iter()
        .filter(|offset| **offset != u64::MAX)
        .filter(|offset| lists.chunks_exact(most).all(|list| list.contains(offset)))
        .map(|offset| *offset as usize)
        .collect();
    for offset in by_all {
        inner.dropped().retain(|one| *one != offset);
        inner.release(offset)?;
    }
    Ok(())
}
