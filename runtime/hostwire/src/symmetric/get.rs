//! Gets that do not wait.

use hostwire_transport::Access;
use zerocopy::IntoBytes;

use super::Symmetric;
use crate::PeId;
use crate::agent::Getting;
use crate::element::Element;
use crate::error::Result;
use crate::inner::Inner;

/// A get that has begun. Made by [`Symmetric::get_nbi`]; [`wait`](Self::wait) ends it. Dropping it
/// gives it up.
#[must_use = "the values are there after `wait`"]
pub struct Get<'a, T: Element> {
    inner: &'a Inner,
    values: &'a mut [T],
    /// What is still on its way.
    getting: Option<Getting>,
}

impl<T: Element> Symmetric<T> {
    /// Begins to copy elements `index ..` of `pe` into `values`, and does not wait for them:
    /// [`Get::wait`] does. Any number of gets may have begun at the same time.
    ///
    /// Where this PE can load the memory of `pe`, the values are copied at once. Elsewhere the agent of
    /// `pe` is asked at once for as much as there is room for (8 requests to each PE, of 32 KiB
    /// each, and 256 KiB in all), and for the rest in `wait`. The values are those of some moment
    /// between the two calls; a put of this PE to `pe` before the first call is seen.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    ///
    /// # Examples
    /// ```
    /// # fn main() -> hostwire::Result<()> {
    /// let job = hostwire::Job::attach()?;
    /// let numbers = job.alloc::<u64>(4)?;
    /// numbers.write(0, &[u64::from(job.pe()); 4])?;
    /// job.barrier()?;
    /// let mut of_all = vec![[0; 4]; job.pes() as usize];
    /// let mut gets = Vec::new();
    /// for (pe, values) in (0..).zip(&mut of_all) {
    ///     gets.push(numbers.get_nbi(pe, 0, values)?);
    /// }
    /// // All of them are on their way.
    /// for get in gets {
    ///     get.wait()?;
    /// }
    /// assert_eq!(of_all[job.pe() as usize], [u64::from(job.pe()); 4]);
    /// job.finalize()
    /// # }
    /// ```
    #[inline]
    pub fn get_nbi<'a>(
        &'a self,
        pe: PeId,
        index: usize,
        values: &'a mut [T],
    ) -> Result<Get<'a, T>> {
        let getting = match self.extent.get(pe, index, values) {
            Access::Done => None,
            Access::Ring => {
                self.get_and_ring(pe, index, values)?;
                None
            }
            Access::OutOfReach => self.begin_get(pe, index, values)?,
        };
        Ok(Get {
            inner: &self.inner,
            values,
            getting,
        })
    }

    /// As [`get_nbi`](Self::get_nbi), into room of its own, which [`StartedGet::wait`] gives.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn start_get(&self, pe: PeId, index: usize, count: usize) -> Result<StartedGet<T>> {
        self.locate(index, count)?;
        let mut values = vec![T::new_zeroed(); count];
        let mut begun = self.get_nbi(pe, index, &mut values)?;
        let getting = begun.getting.take();
        drop(begun);
        Ok(StartedGet {
            array: self.part(..)?,
            values,
            getting,
        })
    }

    #[cold]
    #[inline(never)]
    fn begin_get(&self, pe: PeId, index: usize, values: &mut [T]) -> Result<Option<Getting>> {
        let offset = self.locate(index, values.len())?;
        self.inner.begin_get(pe, offset, values.as_mut_bytes())
    }
}

impl<T: Element> Get<'_, T> {
    /// Waits until all values are there.
    ///
    /// # Errors
    /// [`Error::PeerLost`](crate::Error::PeerLost), [`Error::PeerMisbehaved`](crate::Error::PeerMisbehaved);
    /// then some of the values may be there.
    #[inline]
    pub fn wait(mut self) -> Result<()> {
        match self.getting.take() {
            None => Ok(()),
            Some(getting) => getting.finish(self.inner, self.values.as_mut_bytes()),
        }
    }
}

impl<T: Element> Drop for Get<'_, T> {
    fn drop(&mut self) {
        if let Some(getting) = &mut self.getting {
            getting.forget(self.inner);
        }
    }
}

/// A get that has begun, and has the values itself. Made by [`Symmetric::start_get`];
/// [`wait`](Self::wait) ends it. Dropping it gives it up.
#[must_use = "the values are there after `wait`"]
pub struct StartedGet<T: Element> {
    /// Keeps the memory, and the job.
    array: Symmetric<T>,
    values: Vec<T>,
    /// What is still on its way.
    getting: Option<Getting>,
}

impl<T: Element> StartedGet<T> {
    /// Waits until all values are there.
    ///
    /// # Errors
    /// As [`Get::wait`].
    pub fn wait(mut self) -> Result<Vec<T>> {
        let mut values = core::mem::take(&mut self.values);
        if let Some(getting) = self.getting.take() {
            getting.finish(&self.array.inner, values.as_mut_bytes())?;
        }
        Ok(values)
    }
}

impl<T: Element> Drop for StartedGet<T> {
    fn drop(&mut self) {
        if let Some(getting) = &mut self.getting {
            getting.forget(&self.array.inner);
        }
    }
}
