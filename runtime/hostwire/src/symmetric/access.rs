//! Reading and writing: here and at other PEs.

use hostwire_transport::{Access, Memory, Visibility, Window};
use zerocopy::IntoBytes;

use super::Symmetric;
use crate::PeId;
use crate::element::Element;
use crate::error::{Error, Result};

/// What a put with signal does to the signal word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalOp {
    /// Sets it.
    Set(u64),
    /// Adds to it, atomically.
    Add(u64),
}

impl<T: Element> Symmetric<T> {
    /// Copies `values` to elements `index ..` of `pe`.
    ///
    /// Posted: returns at *local completion*, `values` may be reused. Puts to one PE may
    /// become visible in any order unless [`crate::Job::fence`] lies between them;
    /// [`crate::Job::quiet`] waits until they are visible. A put of one aligned value
    /// of 4 or 8 bytes is visible whole or not at all.
    ///
    /// # Errors
    /// Nothing is stored then. [`Error::OutOfRange`] and [`Error::NoSuchPe`] are the
    /// caller's fault; [`Error::PeerLost`] is permanent, and may show only in the next
    /// operation that waits.
    ///
    /// # Cost
    /// A few compares around the stores on a mapped wire: no call, no lock, no
    /// allocation for sizes known at compile time. `bench/codegen/` has the listing.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> hostwire::Result<()> {
    /// let job = hostwire::Job::attach()?;
    /// let inbox = job.alloc::<u64>(1)?;
    /// let right = (job.pe() + 1) % job.pes();
    /// inbox.put(right, 0, &[job.pe().into()])?;
    /// job.barrier()?;
    /// # Ok(()) }
    /// ```
    #[inline(always)]
    pub fn put(&self, pe: PeId, index: usize, values: &[T]) -> Result<()> {
        // The other cases are tail calls with the same arguments, so they cost a plain put
        // nothing, not even a register.
        match self.extent.put(pe, index, values) {
            Access::Done => Ok(()),
            Access::Ring => self.put_and_ring(pe, index, values),
            Access::OutOfReach => self.put_slowly(pe, index, values),
        }
    }

    #[cold]
    #[inline(never)]
    fn put_and_ring(&self, pe: PeId, index: usize, values: &[T]) -> Result<()> {
        if self.extent.ring(pe) {
            return Ok(());
        }
        // The PE is lost; the slow path finds out.
        self.put_slowly(pe, index, values)
    }

    #[cold]
    #[inline(never)]
    fn put_slowly(&self, pe: PeId, index: usize, values: &[T]) -> Result<()> {
        let offset = self.locate(index, values.len())?;
        self.inner.put(pe, offset, values.as_bytes())
    }

    /// Copies elements `index ..` of `pe` into `values`.
    ///
    /// Complete on return. On a wire that carries only stores, the agent of `pe`
    /// answers, also while its program computes; [`get_nbi`](Self::get_nbi) does not wait for
    /// that.
    #[inline(always)]
    pub fn get(&self, pe: PeId, index: usize, values: &mut [T]) -> Result<()> {
        match self.extent.get(pe, index, values) {
            Access::Done => Ok(()),
            Access::Ring => self.get_and_ring(pe, index, values),
            Access::OutOfReach => self.get_slowly(pe, index, values),
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn get_and_ring(&self, pe: PeId, index: usize, values: &mut [T]) -> Result<()> {
        if self.extent.ring(pe) {
            return Ok(());
        }
        self.get_slowly(pe, index, values)
    }

    #[cold]
    #[inline(never)]
    fn get_slowly(&self, pe: PeId, index: usize, values: &mut [T]) -> Result<()> {
        let offset = self.locate(index, values.len())?;
        self.inner.get(pe, offset, values.as_mut_bytes())
    }

    /// Puts every `source_stride`-th of `values` to every `stride`-th element of `pe`
    /// from `index` on, `count` of them. Strides are in elements, at least 1.
    pub fn put_strided(
        &self,
        pe: PeId,
        index: usize,
        stride: usize,
        values: &[T],
        source_stride: usize,
        count: usize,
    ) -> Result<()> {
        self.check_strided(index, stride, values.len(), source_stride, count)?;
        for i in 0..count {
            let value = &values[i * source_stride..][..1];
            self.put(pe, index + i * stride, value)?;
        }
        Ok(())
    }

    /// Gets every `stride`-th element of `pe` from `index` on into every
    /// `target_stride`-th of `values`, `count` of them. Strides as in
    /// [`put_strided`](Self::put_strided).
    pub fn get_strided(
        &self,
        pe: PeId,
        index: usize,
        stride: usize,
        values: &mut [T],
        target_stride: usize,
        count: usize,
    ) -> Result<()> {
        self.check_strided(index, stride, values.len(), target_stride, count)?;
        for i in 0..count {
            let value = &mut values[i * target_stride..][..1];
            self.get(pe, index + i * stride, value)?;
        }
        Ok(())
    }

    /// Both sides of a strided copy, before anything is copied.
    fn check_strided(
        &self,
        index: usize,
        stride: usize,
        local: usize,
        local_stride: usize,
        count: usize,
    ) -> Result<()> {
        if stride == 0 || local_stride == 0 {
            return Err(Error::Length {
                what: "stride",
                expected: 1,
                got: 0,
            });
        }
        let span = |stride: usize| match count.checked_sub(1) {
            None => 0,
            Some(steps) => steps.saturating_mul(stride).saturating_add(1),
        };
        self.locate(index, span(stride))?;
        if span(local_stride) > local {
            return Err(Error::Length {
                what: "local side of a strided copy",
                expected: span(local_stride),
                got: local,
            });
        }
        Ok(())
    }

    /// Puts `values` and then updates word `signal_index` of `signal` at the same PE,
    /// which is never visible before the values. [`crate::Symmetric::wait_until`] on the word
    /// then waits for both.
    #[inline]
    pub fn put_with_signal(
        &self,
        pe: PeId,
        index: usize,
        values: &[T],
        signal: &Symmetric<u64>,
        signal_index: usize,
        op: SignalOp,
    ) -> Result<()> {
        let at = signal.locate(signal_index, 1)?;
        self.put(pe, index, values)?;
        match op {
            SignalOp::Set(value) => self.inner.put_word(pe, at, value),
            SignalOp::Add(value) => {
                self.inner.fence()?;
                signal.fetch_add(pe, signal_index, value).map(|_| ())
            }
        }
    }

    /// The own element `index`.
    ///
    /// # Panics
    /// Never; an index out of range is an error.
    #[inline]
    pub fn load(&self, index: usize) -> Result<T> {
        let mut value = T::new_zeroed();
        self.read(index, core::slice::from_mut(&mut value))?;
        Ok(value)
    }

    /// Sets the own element `index`.
    #[inline]
    pub fn store(&self, index: usize, value: T) -> Result<()> {
        self.write(index, core::slice::from_ref(&value))
    }

    /// Copies own elements `index ..` into `values`.
    #[inline]
    pub fn read(&self, index: usize, values: &mut [T]) -> Result<()> {
        let offset = self.locate(index, values.len())?;
        Ok(self.inner.segment().get(offset, values.as_mut_bytes())?)
    }

    /// Copies `values` to own elements `index ..`.
    #[inline]
    pub fn write(&self, index: usize, values: &[T]) -> Result<()> {
        let offset = self.locate(index, values.len())?;
        Ok(self.inner.segment().put(offset, values.as_bytes())?)
    }

    /// All own elements.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut values = vec![T::new_zeroed(); self.len()];
        self.read(0, &mut values)?;
        Ok(values)
    }

    /// The memory of `pe` behind this object and the offset of element 0 in it, where the
    /// wire allows direct access: words by atomics, runs of bytes by copying. Stores there need a
    /// [`crate::Job::fence`], as any put. A PE that sleeps may notice them only after 0.1 s.
    ///
    /// Of memory that is not cache-coherent (a `flushed` window) this gives only the own copy.
    /// Direct loads there may find old values after a peer has stored: use [`read`](Self::read)
    /// and [`load`](Self::load).
    pub fn memory(&self, pe: PeId) -> Option<(&Memory, usize)> {
        let (window, offset_bytes) = self.window(pe)?;
        let is_coherent = window.visibility() == Visibility::Coherent;
        (is_coherent || pe == self.inner.pe()).then_some((window.memory(), offset_bytes))
    }

    /// The window onto the memory of `pe`, if it may be loaded from, and the offset of element 0.
    /// Where it is not coherent, loads and stores need what its contract says. For tools.
    #[doc(hidden)]
    pub fn window(&self, pe: PeId) -> Option<(&Window, usize)> {
        Some((self.inner.load_window(pe)?, self.offset_bytes))
    }

    /// The address of element 0 of `pe` in this process, where the wire allows direct
    /// access. It stays valid as long as the job. The program must order its accesses with those
    /// of other PEs: a data race is undefined behaviour unless every access is atomic or
    /// volatile.
    pub fn local_ptr(&self, pe: PeId) -> Option<*mut T> {
        let (memory, offset) = self.memory(pe)?;
        let at = memory.range(offset, self.len * size_of::<T>()).ok()?;
        Some(at.cast())
    }
}
