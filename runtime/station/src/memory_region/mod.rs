//! Memory of this process that stations let others use, by keys.
//!
//! Whoever asks for it says a key and where; the owner looks whether there is such memory, whether it
//! is all there and may be used so, and only then touches it. So a peer that asks for anything else
//! gets a [`Refusal`], and nothing has happened. Between [`MemoryRegions::remove`] and the end of the
//! process nobody changes the memory, nor gets what is in it.

mod atomic;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atomic::Cell;
pub use atomic::{Atomic, Change, Number};
use hostwire_transport::Memory;

/// What others may do with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rights {
    /// Get it, and fetch by atomic operations.
    pub read: bool,
    /// Put to it, and change it by atomic operations.
    pub write: bool,
}

impl Rights {
    /// To read alone.
    pub const READ: Self = Self {
        read: true,
        write: false,
    };
    /// To write alone.
    pub const WRITE: Self = Self {
        read: false,
        write: true,
    };

    fn include(self, other: Self) -> bool {
        (self.read || !other.read) && (self.write || !other.write)
    }
}

/// Learns what others have done to a region, from whoever takes note of its use.
pub trait Witness: Send + Sync {
    /// An operation that reads or writes has ended.
    fn ended(&self, did: Rights);
}

/// A piece of memory that others may use.
#[derive(Clone)]
pub struct MemoryRegion {
    /// Its bytes.
    pub memory: Memory,
    /// What others call its first byte: 0, or its address.
    pub first: u64,
    /// What they may do.
    pub rights: Rights,
    /// Who learns of it, if anybody does.
    pub witness: Option<Arc<dyn Witness>>,
}

impl MemoryRegion {
    /// Where in the memory `len` bytes begin that others call `at`.
    fn offset(&self, at: u64, len: u64) -> Result<usize, Refusal> {
        let offset = at.checked_sub(self.first).ok_or(Refusal::Outside)?;
        let end = offset.checked_add(len).ok_or(Refusal::Outside)?;
        if end > self.memory.len_bytes() as u64 {
            return Err(Refusal::Outside);
        }
        usize::try_from(offset).map_err(|_| Refusal::Outside)
    }
}

/// Bytes of a region of somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionRange {
    /// The key of the region.
    pub key: u64,
    /// What its owner's peers call the first of them: see [`MemoryRegion::first`].
    pub at: u64,
    /// How many.
    pub len: u64,
}

/// Why the owner of memory does not do what it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[repr(u8)]
pub enum Refusal {
    /// It has no region with the key.
    #[error("there is no memory with this key")]
    NoKey = 1,
    /// The region is shorter, or lies elsewhere.
    #[error("the memory with this key has no such bytes")]
    Outside = 2,
    /// The region may not be used so.
    #[error("the memory with this key may not be used so")]
    NoRight = 3,
    /// The bytes of a put lie where the owner of the memory cannot copy them from, or its own memory is not
    /// there.
    #[error("its owner cannot copy the bytes to it")]
    NotCopied = 4,
}

impl Refusal {
    /// The one with this number, as it crosses the wire.
    pub fn from_code(code: u64) -> Option<Self> {
        [Self::NoKey, Self::Outside, Self::NoRight, Self::NotCopied]
            .into_iter()
            .find(|refusal| *refusal as u64 == code)
    }
}

/// All regions of some stations.
#[derive(Default)]
pub struct MemoryRegions {
    books: Mutex<Books>,
}

/// Where bytes of a region are, for who copies them by itself. Two of the same places are equal only if nobody has removed
/// the region between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loan {
    /// In this process.
    pub address: u64,
    /// The number of the region, which no other has had.
    number: u64,
}

#[derive(Default)]
struct Books {
    by_key: HashMap<u64, Known>,
    /// How many there ever were.
    added: u64,
    /// The last key that was drawn.
    drawn: u64,
}

struct Known {
    region: MemoryRegion,
    number: u64,
}

impl Books {
    fn find(
        &self,
        place: &RegionRange,
        for_what: Rights,
    ) -> Result<(&MemoryRegion, usize), Refusal> {
        let known = self.by_key.get(&place.key).ok_or(Refusal::NoKey)?;
        let region = &known.region;
        if !region.rights.include(for_what) {
            return Err(Refusal::NoRight);
        }
        Ok((region, region.offset(place.at, place.len)?))
    }
}

impl MemoryRegions {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets others use a region with this key, or with one that was never used here before. `None` if
    /// there is a region with the key.
    pub fn add(&self, key: Option<u64>, region: MemoryRegion) -> Option<u64> {
        let books = &mut *self.books();
        let key = key.unwrap_or_else(|| {
            loop {
                books.drawn = books.drawn.wrapping_add(1);
                if !books.by_key.contains_key(&books.drawn) {
                    return books.drawn;
                }
            }
        });
        if books.by_key.contains_key(&key) {
            return None;
        }
        books.added += 1;
        let number = books.added;
        books.by_key.insert(key, Known { region, number });
        Some(key)
    }

    /// Who learns of a region from now on. False if there is none with the key.
    pub fn watch(&self, key: u64, witness: Arc<dyn Witness>) -> bool {
        match self.books().by_key.get_mut(&key) {
            Some(known) => {
                known.region.witness = Some(witness);
                true
            }
            None => false,
        }
    }

    /// Nobody changes the region with this key any more when this returns, and nobody gets it: a peer of this host that is in
    /// the middle of copying it is refused. Whether there was one.
    pub fn remove(&self, key: u64) -> bool {
        self.books().by_key.remove(&key).is_some()
    }

    /// Whether all bytes of all places are there and may be used so. Of no bytes nothing is asked.
    ///
    /// # Errors
    /// Why the memory is not used so.
    pub fn check(&self, places: &[RegionRange], for_what: Rights) -> Result<(), Refusal> {
        let books = self.books();
        let mut some = places.iter().filter(|place| place.len > 0);
        some.try_for_each(|place| books.find(place, for_what).map(|_| ()))
    }

    /// Copies `bytes` to the places, from byte `skip` of all of them on. They have as many bytes.
    ///
    /// # Errors
    /// Why the memory is not used so.
    pub fn store(&self, places: &[RegionRange], skip: u64, bytes: &[u8]) -> Result<(), Refusal> {
        let books = self.books();
        let mut rest = bytes;
        for place in parts(places, skip, bytes.len()) {
            let (region, offset) = books.find(&place, Rights::WRITE)?;
            let (now, behind) = rest.split_at(rest.len().min(place.len as usize));
            let stored = region.memory.copy_in(offset, now);
            stored.map_err(|_| Refusal::Outside)?;
            rest = behind;
        }
        Ok(())
    }

    /// Has `write` write bytes `skip .. skip + len` of the places: it gets a memory, where in it, how many,
    /// and how many were before. Whether it has done all.
    ///
    /// # Errors
    /// Why the memory is not used so.
    pub fn fill(
        &self,
        places: &[RegionRange],
        skip: u64,
        len: usize,
        mut write: impl FnMut((&Memory, usize, usize), u64) -> bool,
    ) -> Result<bool, Refusal> {
        let books = self.books();
        let mut done = 0;
        for place in parts(places, skip, len) {
            let (region, offset) = books.find(&place, Rights::WRITE)?;
            if !write((&region.memory, offset, place.len as usize), done) {
                return Ok(false);
            }
            done += place.len;
        }
        Ok(true)
    }

    /// Where the bytes of the places are, for who is to read them.
    ///
    /// # Errors
    /// Why the memory is not used so.
    pub fn lend(&self, places: &[RegionRange]) -> Result<Vec<Loan>, Refusal> {
        let books = self.books();
        let loan = |place: &RegionRange| {
            // Of no bytes nothing is asked.
            if place.len == 0 {
                return Ok(Loan {
                    address: 0,
                    number: 0,
                });
            }
            let (region, offset) = books.find(place, Rights::READ)?;
            let at = region.memory.range(offset, place.len as usize);
            let number = books.by_key.get(&place.key).map_or(0, |known| known.number);
            Ok(Loan {
                address: at.map_err(|_| Refusal::Outside)? as u64,
                number,
            })
        };
        places.iter().map(loan).collect()
    }

    /// Copies from the places to `out`, from byte `skip` of all of them on. They have as many bytes.
    ///
    /// # Errors
    /// Why the memory is not used so.
    pub fn load(&self, places: &[RegionRange], skip: u64, out: &mut [u8]) -> Result<(), Refusal> {
        let books = self.books();
        let mut rest = out;
        for place in parts(places, skip, rest.len()) {
            let (region, offset) = books.find(&place, Rights::READ)?;
            let (now, behind) = rest.split_at_mut((place.len as usize).min(rest.len()));
            let loaded = region.memory.copy_out(offset, now);
            loaded.map_err(|_| Refusal::Outside)?;
            rest = behind;
        }
        Ok(())
    }

    /// Does an atomic operation with each number at the places, and gives what was there.
    /// `operands` has as many numbers, or none if the operation needs none; so has `compares`.
    ///
    /// # Errors
    /// Why the memory is not used so.
    pub fn change(
        &self,
        places: &[RegionRange],
        atomic: Atomic,
        operands: &[u8],
        compares: &[u8],
    ) -> Result<Vec<u8>, Refusal> {
        let books = self.books();
        let size = atomic.number.bytes();
        let mut old = Vec::new();
        for place in places {
            let (region, offset) = books.find(place, atomic.rights(false))?;
            for at in (0..place.len as usize).step_by(size) {
                let operand = old.len()..old.len() + size;
                let cell = Cell {
                    operand: operands.get(operand.clone()).unwrap_or_default(),
                    compare: compares.get(operand).unwrap_or_default(),
                };
                let was = atomic.apply(&region.memory, offset + at, cell);
                let was = was.map_err(|_| Refusal::Outside)?;
                old.extend_from_slice(&was[..size]);
            }
        }
        Ok(old)
    }

    /// Who learns of an operation on these places.
    pub fn witnesses(&self, places: &[RegionRange]) -> Vec<Arc<dyn Witness>> {
        let books = self.books();
        let witness = |place: &RegionRange| books.by_key.get(&place.key)?.region.witness.clone();
        places.iter().filter_map(witness).collect()
    }
}

/// Where bytes `skip .. skip + len` of all places are.
fn parts(places: &[RegionRange], skip: u64, len: usize) -> impl Iterator<Item = RegionRange> {
    let mut skip = skip;
    let mut rest = len as u64;
    places.iter().filter_map(move |place| {
        let before = skip.min(place.len);
        skip -= before;
        let len = rest.min(place.len - before);
        rest -= len;
        // What wraps around is in no region.
        let at = place.at.checked_add(before)?;
        (len > 0).then_some(RegionRange { at, len, ..*place })
    })
}

#[cfg(test)]
mod tests;
