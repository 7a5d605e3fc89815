//! Which bytes of the symmetric heap belong to a block, to the byte.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Blocks by offset in the heap, with the bytes that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Bounds(Mutex<BTreeMap<usize, usize>>);

impl Bounds {
    pub(crate) fn allocated(&self, offset: usize, size: usize) {
        self.blocks().insert(offset, size);
    }

    pub(crate) fn freed(&self, offset: usize) {
        self.blocks().remove(&offset);
    }

    fn blocks(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fault of an access of `len` bytes at `offset`.
    pub(crate) fn check(&self, offset: usize, len: usize) -> Result<(), String> {
        let blocks = self.blocks();
        let Some((&start, &size)) = blocks.range(..=offset).next_back() else {
            return Err("no block of the symmetric heap is there".into());
        };
        let inside = offset - start;
        if len <= size.saturating_sub(inside) && inside <= size {
            return Ok(());
        }
        if inside >= size.next_multiple_of(64) {
            return Err("no block of the symmetric heap is there, or it was freed".into());
        }
        Err(format!(
            "{len} bytes from byte {inside} of a block of {size} bytes reach {} beyond its end",
            inside + len - size
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_checked_to_the_byte() {
        let bounds = Bounds::default();
        bounds.allocated(64, 10);
        bounds.allocated(128, 64);
        assert!(bounds.check(64, 10).is_ok() && bounds.check(70, 4).is_ok());
        assert!(bounds.check(64, 11).unwrap_err().contains("reach 1 beyond"));
        assert!(bounds.check(0, 1).unwrap_err().contains("no block"));
        assert!(
            bounds
                .check(130, 100)
                .unwrap_err()
                .contains("block of 64 bytes")
        );
        bounds.freed(128);
        assert!(bounds.check(130, 1).unwrap_err().contains("freed"));
    }
}
