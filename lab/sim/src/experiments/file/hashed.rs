//! The hash of a trace while it is read.

use std::cell::Cell;
use std::io::{BufRead, Read};
use std::rc::Rc;

use crate::experiments::ExperimentError;

use super::Open;
use super::configuration::{FNV_BASIS, fnv1a};

/// Hashes what is read of a trace.
pub(super) struct Hashed<R> {
    input: R,
    hash: Rc<Cell<u64>>,
}

impl Hashed<Box<dyn BufRead>> {
    /// Opens a trace. The second value is the hash of what was read so far.
    pub(super) fn open(
        path: &str,
        open: Open<'_>,
    ) -> Result<(Self, Rc<Cell<u64>>), ExperimentError> {
        let input = open(path).map_err(|error| ExperimentError::Trace {
            file: path.to_owned(),
            message: error.to_string(),
        })?;
        let hash = Rc::new(Cell::new(FNV_BASIS));
        let hashed = Hashed {
            input,
            hash: Rc::clone(&hash),
        };
        Ok((hashed, hash))
    }
}

impl<R: BufRead> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.input.read(into)?;
        let read = into.get(..bytes).unwrap_or_default();
        self.hash.set(fnv1a(self.hash.get(), read));
        Ok(bytes)
    }
}

impl<R: BufRead> BufRead for Hashed<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        if let Ok(buffer) = self.input.fill_buf() {
            let taken = buffer.get(..bytes).unwrap_or_default();
            self.hash.set(fnv1a(self.hash.get(), taken));
        }
        self.input.consume(bytes);
    }
}
