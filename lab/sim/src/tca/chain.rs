//! Chains of transfers, as one table of descriptors holds them.

use crate::models::pcie::peach2::chip::{DESCRIPTORS_MAX, LENGTH_BYTES_MAX};

use super::device_address::DeviceAddress;
use super::error::TcaError;

/// One descriptor: consecutive bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where to.
    pub destination: DeviceAddress,
    /// Where from.
    pub source: DeviceAddress,
    /// How many, a multiple of 4.
    pub bytes: u64,
}

/// Blocks at regular distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stride {
    /// Bytes of a block.
    pub block_bytes: u64,
    /// How many blocks.
    pub blocks: u64,
    /// From the start of a block to that of the next one, at the destination.
    pub destination_step: u64,
    /// The same, at the source.
    pub source_step: u64,
}

/// Transfers that one table holds: at most 255 descriptors, run in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    pieces: Vec<Piece>,
}

impl Chain {
    /// An empty chain.
    pub fn new() -> Chain {
        Chain::default()
    }

    /// Its descriptors.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Bytes of all transfers.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    /// Adds a copy of consecutive bytes, in as many descriptors as it takes: one for each
    /// 262,140 bytes.
    ///
    /// # Errors
    /// [`TcaError::Misaligned`], [`TcaError::TooManyDescriptors`]; the chain is as before.
    pub fn copy(
        &mut self,
        destination: DeviceAddress,
        source: DeviceAddress,
        bytes: u64,
    ) -> Result<(), TcaError> {
        self.block_stride(
            destination,
            source,
            Stride {
                block_bytes: bytes,
                blocks: 1,
                destination_step: 0,
                source_step: 0,
            },
        )
    }

    /// Adds a block-stride transfer: a descriptor for each block, or several for large ones.
    ///
    /// # Errors
    /// [`TcaError::Misaligned`], [`TcaError::TooManyDescriptors`],
    /// [`TcaError::OutOfRange`] for offsets that do not exist; the chain is as before.
    pub fn block_stride(
        &mut self,
        destination: DeviceAddress,
        source: DeviceAddress,
        stride: Stride,
    ) -> Result<(), TcaError> {
        let Stride {
            block_bytes,
            blocks,
            ..
        } = stride;
        for (place, step) in [
            (destination, stride.destination_step),
            (source, stride.source_step),
        ] {
            if !(place.offset | block_bytes | step).is_multiple_of(4) {
                let len = block_bytes;
                return Err(TcaError::Misaligned { place, len });
            }
        }
        let per_block = block_bytes.div_ceil(LENGTH_BYTES_MAX);
        let descriptors =
            (self.pieces.len() as u64).saturating_add(per_block.saturating_mul(blocks));
        if descriptors > DESCRIPTORS_MAX as u64 {
            return Err(TcaError::TooManyDescriptors { descriptors });
        }
        if per_block == 0 {
            return Ok(());
        }
        let before = self.pieces.len();
        for block in 0..blocks {
            let mut done = 0;
            while done < block_bytes {
                let bytes = (block_bytes - done).min(LENGTH_BYTES_MAX);
                let at = |place: DeviceAddress, step: u64| {
                    let there = step
                        .checked_mul(block)
                        .and_then(|skip| skip.checked_add(done));
                    there.and_then(|skip| place.after(skip))
                };
                let ends =
                    at(destination, stride.destination_step).zip(at(source, stride.source_step));
                let Some((to, from)) = ends else {
                    self.pieces.truncate(before);
                    return Err(TcaError::OutOfRange {
                        place: destination,
                        len: stride.destination_step.saturating_mul(blocks),
                        first: 0,
                        end: u64::MAX,
                    });
                };
                self.pieces.push(Piece {
                    destination: to,
                    source: from,
                    bytes,
                });
                done += bytes;
            }
        }
        Ok(())
    }
}
