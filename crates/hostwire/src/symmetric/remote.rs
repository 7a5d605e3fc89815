//! The copy of one PE.

use hostwire_transport::reach;

use super::Symmetric;
use crate::PeId;
use crate::element::Element;
use crate::error::Result;

/// The copy of a [`Symmetric`] that one PE has, its address worked out once: for loops
/// over puts or gets to one PE. See [`Symmetric::of`].
pub struct Remote<'a, T: Element> {
    symmetric: &'a Symmetric<T>,
    pe: PeId,
    direct: Option<reach::Remote<'a, T>>,
}

impl<T: Element> Clone for Remote<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element> Copy for Remote<'_, T> {}

impl<T: Element> Symmetric<T> {
    /// The array of `pe`, with its address computed once. A put of 64 bytes is then the
    /// bare stores, one compare of the index and one check whether `pe` sleeps.
    ///
    /// # Errors
    /// [`crate::Error::NoSuchPe`], [`crate::Error::PeerLost`].
    ///
    /// # Examples
    /// ```
    /// # fn main() -> hostwire::Result<()> {
    /// let job = hostwire::Job::attach()?;
    /// let inbox = job.alloc::<u64>(64)?;
    /// let right = inbox.of((job.pe() + 1) % job.pes())?;
    /// for line in 0..8 {
    ///     right.put(line * 8, &[line as u64; 8])?;
    /// }
    /// job.barrier()?;
    /// assert_eq!(inbox.load(63)?, 7);
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn of(&self, pe: PeId) -> Result<Remote<'_, T>> {
        self.inner.check(pe)?;
        Ok(Remote {
            symmetric: self,
            pe,
            direct: self.extent.of(pe),
        })
    }
}

impl<T: Element> Remote<'_, T> {
    /// Whose copy it is.
    pub fn pe(&self) -> PeId {
        self.pe
    }

    /// As [`Symmetric::put`].
    ///
    /// # Errors
    /// As there.
    #[inline(always)]
    pub fn put(&self, index: usize, values: &[T]) -> Result<()> {
        let access = match self.direct {
            Some(direct) => direct.put(index, values),
            None => reach::Access::OutOfReach,
        };
        self.symmetric.put_done(access, self.pe, index, values)
    }

    /// As [`Symmetric::get`].
    ///
    /// # Errors
    /// As there.
    #[inline(always)]
    pub fn get(&self, index: usize, values: &mut [T]) -> Result<()> {
        let access = match self.direct {
            Some(direct) => direct.get(index, values),
            None => reach::Access::OutOfReach,
        };
        self.symmetric.get_done(access, self.pe, index, values)
    }
}
