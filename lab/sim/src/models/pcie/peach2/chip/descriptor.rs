//! DMA descriptors: 16 bytes, at most 255 in a table of 4 KiB.
//!
//! A table begins with a row of 16 bytes whose last word the controller sets to the number of
//! the last descriptor that is done (EPLAST); descriptors follow. All words are little-endian.
//!
//! | word | bits | DMA write and read (Altera's chaining DMA) | pipelined (this project's) |
//! |---|---|---|---|
//! | 0 | `[15:0]` | length in dwords, 1 to 65535 | the same |
//! | 0 | `[27:24]` | zero | bits 37 to 34 of the source |
//! | 1 | all | offset in the chip's internal block | bits 33 to 2 of the source, from the node's first address |
//! | 2, 3 | all | address, high and low: in the window, or on the node's own bus | destination, the same |

use std::ops::Range;

/// Bytes of a descriptor, and of the row in front of the first one.
pub const DESCRIPTOR_BYTES: u64 = 16;
/// Largest table.
pub const TABLE_BYTES: u64 = 4096;
/// Most descriptors of a table (A19).
pub const DESCRIPTORS_MAX: usize = (TABLE_BYTES / DESCRIPTOR_BYTES - 1) as usize;
/// Most bytes that one descriptor moves: a multiple of 4.
pub const LENGTH_BYTES_MAX: u64 = u16::MAX as u64 * 4;
/// Most bytes of a table.
pub const CHAIN_BYTES_MAX: u64 = LENGTH_BYTES_MAX * DESCRIPTORS_MAX as u64;
/// A descriptor moves whole words.
pub const DMA_ALIGN_BYTES: u64 = 4;
/// Puts of programs go by DMA from so many bytes on. Source: `docs/sim/tca.md`.
pub const DMA_FROM_BYTES: u64 = 16 << 10;
/// Where EPLAST is in a table.
pub const EPLAST: u64 = 12;

/// One transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Length in dwords.
    pub dwords: u16,
    /// DMA write and read: offset in the internal block. Pipelined: source, from the node's
    /// first address, a multiple of 4.
    pub local: u64,
    /// The other address.
    pub address: u64,
}

const SOURCE_HIGH: u32 = 24;

impl Descriptor {
    /// Bytes that it moves.
    pub fn bytes(&self) -> u64 {
        u64::from(self.dwords) * 4
    }

    /// As a table has it.
    pub fn encode(&self, pipelined: bool) -> [u8; 16] {
        let [low, high] = if pipelined {
            [self.local >> 2, (self.local >> 34 & 0xf) << SOURCE_HIGH]
        } else {
            [self.local, 0]
        };
        let words = [
            u32::from(self.dwords) | high as u32,
            low as u32,
            (self.address >> 32) as u32,
            self.address as u32,
        ];
        let mut bytes = [0; 16];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// From a table.
    pub fn decode(bytes: &[u8; 16], pipelined: bool) -> Descriptor {
        let mut words = [0; 4];
        for (word, place) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = place.iter().rev().fold(0u32, |w, b| w << 8 | u32::from(*b));
        }
        let [first, low, high, address] = words;
        let local = if pipelined {
            u64::from(low) << 2 | u64::from(first >> SOURCE_HIGH & 0xf) << 34
        } else {
            u64::from(low)
        };
        Descriptor {
            dwords: first as u16,
            local,
            address: u64::from(high) << 32 | u64::from(address),
        }
    }
}

/// The table of these transfers: the row that the controller writes, and the descriptors.
pub fn table(list: &[Descriptor], pipelined: bool) -> Vec<u8> {
    let mut bytes = vec![0; DESCRIPTOR_BYTES as usize];
    bytes.extend(list.iter().flat_map(|d| d.encode(pipelined)));
    bytes
}

/// The part of a put of `len` bytes to `address` that goes by DMA: whole words, if it has at least
/// `from_bytes`.
pub fn dma_part(from_bytes: u64, address: u64, len: u64) -> Range<u64> {
    let head = address.next_multiple_of(DMA_ALIGN_BYTES) - address;
    let words = len.saturating_sub(head) / DMA_ALIGN_BYTES * DMA_ALIGN_BYTES;
    match words > 0 && len >= from_bytes {
        true => head..head + words,
        false => len..len,
    }
}

/// What starts the controller, written into a table header: that there are `count` descriptors in the
/// table at this bus address. `control` says what it does at the end.
pub fn doorbell(table: u64, count: u32, control: u16) -> [u8; 16] {
    let words = [
        u32::from(control) << 16 | count,
        (table >> 32) as u32,
        table as u32,
        count.saturating_sub(1),
    ];
    let mut bytes = [0; 16];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout() {
        assert_eq!(DESCRIPTORS_MAX, 255);
        let descriptor = Descriptor {
            dwords: 0x400,
            local: 0x1234_5678,
            address: 0x80_1122_3344,
        };
        let bytes = descriptor.encode(false);
        assert_eq!(
            bytes,
            [
                0x00, 0x04, 0, 0, 0x78, 0x56, 0x34, 0x12, 0x80, 0, 0, 0, 0x44, 0x33, 0x22, 0x11
            ]
        );
        assert_eq!(Descriptor::decode(&bytes, false), descriptor);
        let far = Descriptor {
            local: (1 << 38) - 4,
            ..descriptor
        };
        let bytes = far.encode(true);
        assert_eq!(bytes[..8], [0x00, 0x04, 0, 0x0f, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(Descriptor::decode(&bytes, true), far);
    }
}
