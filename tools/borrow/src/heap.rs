//! Borrowed memory for programs that ask for it.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use std::sync::Arc;

use zerocopy::{FromBytes, IntoBytes};

use crate::client::{BorrowError, Client};

/// The memory that `hostwire borrow` has borrowed for this program.
///
/// What is allocated here is ordinary memory of this process: slices, references and threads work as ever.
/// A page that is not here comes when it is touched. If the memory is lost because a lender dies, the process is
/// ended; it never reads wrong bytes. A forked child does not have it.
///
/// # Examples
/// ```no_run
/// # fn main() -> Result<(), hostwire_borrow::client::BorrowError> {
/// let heap = hostwire_borrow::RemoteHeap::open()?;
/// let mut table = heap.alloc::<u64>(1 << 30)?;
/// table[17] = 4;
/// assert_eq!(table.iter().sum::<u64>(), 4);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct RemoteHeap {
    client: Arc<Client>,
}

impl RemoteHeap {
    /// Connects to the pager of `hostwire borrow`, under which this program was started.
    ///
    /// # Errors
    /// [`BorrowError`].
    pub fn open() -> Result<Self, BorrowError> {
        Client::from_env().map(Self::of)
    }

    /// Uses a client that is connected already.
    pub fn of(client: Client) -> Self {
        Self {
            client: Arc::new(client),
        }
    }

    /// Allocates `len` zeroed elements, in whole pages.
    ///
    /// # Errors
    /// [`BorrowError::Full`], [`BorrowError::Lost`], [`BorrowError::System`].
    pub fn alloc<T: FromBytes + IntoBytes>(
        &self,
        len: usize,
    ) -> Result<RemoteSlice<T>, BorrowError> {
        let bytes = size_of::<T>().checked_mul(len);
        let bytes = bytes.ok_or(BorrowError::Full { bytes: usize::MAX })?;
        let address = match bytes {
            0 => align_of::<T>(),
            _ => self.client.take(bytes)?,
        };
        // Pages begin at multiples of 4096.
        if !address.is_multiple_of(align_of::<T>()) {
            self.client.give_back(address, bytes)?;
            return Err(BorrowError::Full { bytes });
        }
        Ok(RemoteSlice {
            client: Arc::clone(&self.client),
            address,
            len,
            elements: PhantomData,
        })
    }
}

/// Elements in borrowed memory. Made by [`RemoteHeap::alloc`]; given back when it is dropped.
#[derive(Debug)]
pub struct RemoteSlice<T> {
    client: Arc<Client>,
    address: usize,
    len: usize,
    elements: PhantomData<Vec<T>>,
}

impl<T> RemoteSlice<T> {
    fn ptr(&self) -> *mut T {
        core::ptr::with_exposed_provenance_mut(self.address)
    }
}

impl<T> Deref for RemoteSlice<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `address` is aligned for `T`. If there are bytes, `len` elements lie there in a mapping that only
        // this object has, until it is dropped. They were zeros at first, which are valid because `alloc` requires `T:
        // FromBytes`. The pager changes no byte: a page comes back as it left.
        unsafe { core::slice::from_raw_parts(self.ptr(), self.len) }
    }
}

impl<T> DerefMut for RemoteSlice<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: `address` is aligned for `T`, and `len` initialised elements lie there. The mapping
        // belongs to this object, which is borrowed mutably, so no other reference leads there.
        unsafe { core::slice::from_raw_parts_mut(self.ptr(), self.len) }
    }
}

impl<T> Drop for RemoteSlice<T> {
    fn drop(&mut self) {
        let bytes = self.len * size_of::<T>();
        if bytes > 0 {
            // If the pager is gone, nothing has to be given back.
            let _ = self.client.give_back(self.address, bytes);
        }
    }
}
