//! Memory that a program hands to a routine, together with its length.
//!
//! C passes a pointer and a number, and promises that the memory is there. This promise is taken
//! once, where one of these types is made. What is done with it afterwards is safe.

use core::marker::PhantomData;

use hostwire::{FromBytes, IntoBytes};

use crate::copy;
use crate::element::Waitable;

/// Bytes that a routine reads.
// The two words are passed in registers, as C passes the pointer and the length.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Input<'a> {
    at: *const u8,
    len: usize,
    memory: PhantomData<&'a [u8]>,
}

impl<'a> Input<'a> {
    /// # Safety
    /// The `len` bytes at `at` can be read for as long as the value is used, and nobody writes
    /// them meanwhile. `at` may be anything if there are none.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *const u8, len: usize) -> Self {
        Self {
            at,
            len,
            memory: PhantomData,
        }
    }

    /// The bytes of a value.
    #[inline(always)]
    pub(crate) fn of<T: IntoBytes>(value: &'a T) -> Self {
        Self {
            at: core::ptr::from_ref(value).cast(),
            len: size_of::<T>(),
            memory: PhantomData,
        }
    }

    /// As [`of`](Self::of), of a slice.
    pub(crate) fn from(bytes: &'a [u8]) -> Self {
        Self {
            at: bytes.as_ptr(),
            len: bytes.len(),
            memory: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn at(self) -> *const u8 {
        self.at
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    pub(crate) fn address(self) -> usize {
        self.at as usize
    }

    /// The same bytes, if they are as many as [`copy::wide`] moves.
    #[inline(always)]
    pub(crate) fn as_wide(self) -> Option<WideInput<'a>> {
        copy::is_wide(self.len).then_some(WideInput(self))
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: whoever made the value promised that the bytes can be read, and that nobody
        // writes them meanwhile.
        unsafe { core::slice::from_raw_parts(self.at, self.len) }
    }

    /// The first 8 bytes as a number; those that are missing are 0.
    pub(crate) fn first_word(self) -> u64 {
        let mut word = [0; 8];
        let len = self.len.min(8);
        word[..len].copy_from_slice(&self.bytes()[..len]);
        u64::from_le_bytes(word)
    }
}

/// As many bytes as [`copy::wide`] moves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WideInput<'a>(Input<'a>);

impl<'a> WideInput<'a> {
    #[inline(always)]
    pub(crate) fn input(self) -> Input<'a> {
        self.0
    }
}

/// Bytes that a routine fills.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    at: *mut u8,
    len: usize,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Output<'a> {
    /// # Safety
    /// The `len` bytes at `at` can be written for as long as the value is used, and nobody else
    /// uses them meanwhile. `at` may be anything if there are none.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *mut u8, len: usize) -> Self {
        Self {
            at,
            len,
            memory: PhantomData,
        }
    }

    /// The bytes of a value.
    #[inline(always)]
    pub(crate) fn of<T: FromBytes + IntoBytes>(value: &'a mut T) -> Self {
        Self {
            at: core::ptr::from_mut(value).cast(),
            len: size_of::<T>(),
            memory: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn at(&mut self) -> *mut u8 {
        self.at
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn address(&self) -> usize {
        self.at as usize
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: whoever made the value promised that the bytes can be written, and that nobody
        // else uses them; the borrow keeps them from being used through this value.
        unsafe { core::slice::from_raw_parts_mut(self.at, self.len) }
    }
}

/// Blocks of as many elements each, at equal distances.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks {
    /// From one block to the next, in elements.
    stride: isize,
    element_bytes: usize,
    pub(crate) block_bytes: usize,
    pub(crate) count: usize,
}

impl Blocks {
    /// `count` blocks of `elements` each.
    pub(crate) fn of<T>(stride: isize, elements: usize, count: usize) -> Self {
        Self {
            stride,
            element_bytes: size_of::<T>(),
            block_bytes: elements.saturating_mul(size_of::<T>()),
            count,
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.count == 0 || self.block_bytes == 0
    }

    /// How far a block is from the first one, in bytes.
    #[inline]
    pub(crate) fn distance(self, block: usize) -> isize {
        let elements = (block as isize).wrapping_mul(self.stride);
        elements.wrapping_mul(self.element_bytes as isize)
    }

    /// The lowest byte of all blocks, relative to the first block, and how many bytes they span.
    /// `None` if that is more than there can be, or if there are no blocks.
    #[inline]
    pub(crate) fn span(self) -> Option<(isize, usize)> {
        let step = self.stride.checked_mul(self.element_bytes as isize)?;
        let steps = isize::try_from(self.count.checked_sub(1)?).ok()?;
        let last = steps.checked_mul(step)?;
        let span = last.unsigned_abs().checked_add(self.block_bytes)?;
        Some((last.min(0), span))
    }
}

/// Blocks that a routine reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputBlocks<'a> {
    at: *const u8,
    blocks: Blocks,
    memory: PhantomData<&'a [u8]>,
}

impl<'a> InputBlocks<'a> {
    /// # Safety
    /// As of [`Input::new`], for each of the blocks; the first one is at `at`.
    pub(crate) unsafe fn new(at: *const u8, blocks: Blocks) -> Self {
        Self {
            at,
            blocks,
            memory: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn at(self) -> *const u8 {
        self.at
    }

    pub(crate) fn address(self) -> usize {
        self.at as usize
    }

    pub(crate) fn blocks(self) -> Blocks {
        self.blocks
    }

    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = Input<'a>> {
        (0..self.blocks.count).map(move |block| {
            let at = self.at.wrapping_offset(self.blocks.distance(block));
            // SAFETY: one of the blocks that whoever made the value promised.
            unsafe { Input::new(at, self.blocks.block_bytes) }
        })
    }
}

/// Blocks that a routine fills.
#[derive(Debug)]
pub(crate) struct OutputBlocks<'a> {
    at: *mut u8,
    blocks: Blocks,
    memory: PhantomData<&'a mut [u8]>,
}

impl OutputBlocks<'_> {
    /// # Safety
    /// As of [`Output::new`], for each of the blocks; the first one is at `at`.
    pub(crate) unsafe fn new(at: *mut u8, blocks: Blocks) -> Self {
        Self {
            at,
            blocks,
            memory: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn at(&mut self) -> *mut u8 {
        self.at
    }

    pub(crate) fn address(&self) -> usize {
        self.at as usize
    }

    pub(crate) fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// One of the blocks. They may overlap, so there is one at a time.
    #[inline]
    pub(crate) fn block(&mut self, block: usize) -> Option<Output<'_>> {
        let at = self.at.wrapping_offset(self.blocks.distance(block));
        (block < self.blocks.count).then(|| {
            // SAFETY: one of the blocks that whoever made the value promised; the borrow keeps the
            // others from being used.
            unsafe { Output::new(at, self.blocks.block_bytes) }
        })
    }
}

/// Elements that a routine reads one by one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Array<'a, T> {
    at: *const T,
    len: usize,
    memory: PhantomData<&'a [T]>,
}

impl<T: Copy> Array<'_, T> {
    /// # Safety
    /// The `len` elements at `at` can be read for as long as the value is used.
    pub(crate) unsafe fn new(at: *const T, len: usize) -> Self {
        Self {
            at,
            len,
            memory: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<T> {
        // SAFETY: one of the elements that can be read, by the promise of who made the value.
        (index < self.len).then(|| unsafe { self.at.wrapping_add(index).read() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.len).filter_map(|index| self.get(index))
    }
}

/// Room for results, which a routine writes one after the other.
#[derive(Debug)]
pub(crate) struct Results<'a, T> {
    at: *mut T,
    room: usize,
    count: usize,
    memory: PhantomData<&'a mut [T]>,
}

impl<T: Copy> Results<'_, T> {
    /// # Safety
    /// `room` elements at `at` can be written for as long as the value is used, and nobody else
    /// uses them meanwhile.
    pub(crate) unsafe fn new(at: *mut T, room: usize) -> Self {
        Self {
            at,
            room,
            count: 0,
            memory: PhantomData,
        }
    }

    /// Writes the next one, if there is room.
    pub(crate) fn push(&mut self, value: T) {
        if self.count < self.room {
            // SAFETY: in the room that whoever made the value promised.
            unsafe { self.at.wrapping_add(self.count).write(value) };
            self.count += 1;
        }
    }

    /// Those that were written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.count).map(|index| {
            // SAFETY: `push` has written it.
            unsafe { self.at.wrapping_add(index).read() }
        })
    }
}

/// A word that other PEs may change at any time.
///
/// # Safety
/// `at` is valid and aligned for as long as the result is used. While it is used, the word is
/// changed only in one piece.
#[inline(always)]
pub(crate) unsafe fn word<'a, T: Waitable>(at: *const T) -> &'a T::Cell {
    const { T::IS_LIKE_CELL };
    // SAFETY: valid and aligned, by the promise of the caller; an atomic has the same size, may have
    // any bits, and may be changed by others.
    unsafe { &*at.cast() }
}

/// Words that other PEs may change at any time.
///
/// # Safety
/// As of [`word`], for each of `count` words, unless there are none.
#[inline(always)]
pub(crate) unsafe fn words<'a, T: Waitable>(at: *const T, count: usize) -> &'a [T::Cell] {
    const { T::IS_LIKE_CELL };
    if count == 0 {
        return &[];
    }
    // SAFETY: valid and aligned, by the promise of the caller; atomics have the same size, may have
    // any bits, and may be changed by others.
    unsafe { core::slice::from_raw_parts(at.cast(), count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_is_that_of_the_bytes_there_are() {
        let bytes = [1u8, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(Input::of(&bytes).first_word(), 0x0807_0605_0403_0201);
        assert_eq!(Input::of(&[1u8, 2]).first_word(), 0x0201);
        assert_eq!(Input::of(&[0u8; 0]).first_word(), 0);
    }

    #[test]
    fn blocks_span_from_the_lowest_to_the_highest_byte() {
        let blocks = |stride, count| Blocks::of::<u64>(stride, 2, count);
        assert_eq!(blocks(3, 4).span(), Some((0, 3 * 3 * 8 + 16)));
        assert_eq!(blocks(-3, 4).span(), Some((-72, 72 + 16)));
        assert_eq!(blocks(isize::MAX, 4).span(), None);
        assert_eq!(blocks(1, usize::MAX).span(), None);
        assert_eq!(blocks(1, 0).span(), None);
        assert_eq!(blocks(-3, 4).distance(2), -48);
    }

    #[test]
    fn blocks_that_are_read_are_those_at_their_distances() {
        let bytes: [u8; 10] = core::array::from_fn(|index| index as u8);
        // SAFETY: from byte 9 down to byte 1.
        let blocks = unsafe { InputBlocks::new(&raw const bytes[8], Blocks::of::<u8>(-7, 2, 2)) };
        let read: Vec<_> = blocks.iter().map(Input::bytes).collect();
        assert_eq!(read, [&bytes[8..], &bytes[1..3]]);
    }

    #[test]
    fn no_results_are_written_beyond_the_room() {
        let mut room = [0usize; 3];
        // SAFETY: room for two of the three.
        let mut results = unsafe { Results::new(room.as_mut_ptr(), 2) };
        for value in [5, 6, 7] {
            results.push(value);
        }
        assert_eq!(results.iter().collect::<Vec<_>>(), [5, 6]);
        assert_eq!(room, [5, 6, 0]);
    }

    #[test]
    fn an_array_has_its_elements_and_no_others() {
        let values = [3i32, 4];
        // SAFETY: two elements.
        let array = unsafe { Array::new(values.as_ptr(), 2) };
        assert_eq!(array.iter().collect::<Vec<_>>(), values);
        assert_eq!(array.get(2), None);
    }
}
