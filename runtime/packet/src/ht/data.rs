use core::fmt;

use crate::bits::{put, room, word_at};
use crate::error::{Error, Result};

use super::fields::{Address, MaskedDwords};

/// Longest data phase: 16 dwords.
pub const LEN_MAX: usize = 64;

/// Longest data phase of a byte write: mask and 8 dwords.
pub const MASKED_LEN_MAX: usize = 36;

/// Bytes of the aligned block that one byte write can reach.
pub const MASKED_BLOCK: usize = 32;

/// Data that follows a control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataPhase<'a> {
    /// None.
    None,
    /// Whole dwords, 4 to 64 bytes, lowest address first.
    Dwords(&'a [u8]),
    /// Dwords under a byte mask.
    Masked(Masked<'a>),
}

impl<'a> DataPhase<'a> {
    /// Bytes on the wire, with the mask.
    pub fn len(&self) -> usize {
        match self {
            DataPhase::None => 0,
            DataPhase::Dwords(bytes) => bytes.len(),
            DataPhase::Masked(masked) => 4 + masked.dwords.len(),
        }
    }

    /// Whether there is no data phase.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// View of the data phase of a byte write.
///
/// | bytes | field |
/// |---|---|
/// | 0..4 | mask, bit i enables byte i of the aligned 32-byte block |
/// | 4.. | 1 to 8 dwords; the first one belongs to the request's address |
///
/// The mask may only enable bytes whose dwords follow. The first dword belongs to the
/// request's address, not to the start of the block. This is common knowledge of the
/// format, and not checked against the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masked<'a> {
    mask: u32,
    address: Address,
    dwords: &'a [u8],
}

impl<'a> Masked<'a> {
    /// Takes the data phase of a byte write to `address`.
    ///
    /// # Errors
    /// [`Error::Length`] if it is not a mask and `count` dwords,
    /// [`Error::CrossesBlock`], or [`Error::Value`] if the mask enables bytes
    /// that do not exist.
    pub fn new_checked(address: Address, count: MaskedDwords, bytes: &'a [u8]) -> Result<Self> {
        let expected_bytes = 4 + count.len_bytes();
        let (Some(dwords), true) = (bytes.get(4..), bytes.len() == expected_bytes) else {
            return Err(Error::Length {
                field: "ht.data",
                expected_bytes,
                got_bytes: bytes.len(),
            });
        };
        crate::error::check_block(
            "ht.byte_write.count",
            MASKED_BLOCK as u64,
            address.get(),
            dwords.len() as u64,
        )?;
        let mask = u32::from_le_bytes(word_at(bytes, 0));
        if mask & !reachable(address, dwords.len()) != 0 {
            return Err(Error::Value {
                field: "ht.data.mask",
                expected: "enables inside the dwords that follow",
                got: mask.into(),
            });
        }
        Ok(Self {
            mask,
            address,
            dwords,
        })
    }

    /// Mask; bit i stands for byte i of the block.
    pub const fn mask(&self) -> u32 {
        self.mask
    }

    /// Address of the first dword.
    pub const fn address(&self) -> Address {
        self.address
    }

    /// Data dwords, enabled or not.
    pub const fn dwords(&self) -> &'a [u8] {
        self.dwords
    }

    /// Addresses and values of the enabled bytes, lowest address first.
    pub fn enabled(&self) -> impl Iterator<Item = (u64, u8)> + 'a {
        let Self {
            mask,
            address,
            dwords,
        } = *self;
        let first = block_offset(address);
        dwords
            .iter()
            .enumerate()
            .filter(move |(i, _)| mask >> (first + *i as u32) & 1 == 1)
            .map(move |(i, &byte)| (address.get() + i as u64, byte))
    }
}

const fn block_offset(address: Address) -> u32 {
    (address.get() % MASKED_BLOCK as u64) as u32
}

/// Mask bits of the dwords from `address` on; the access is inside its block.
const fn reachable(address: Address, len_bytes: usize) -> u32 {
    (((1u64 << len_bytes) - 1) << block_offset(address)) as u32
}

/// Collects single stores into the data phase of one byte write.
///
/// As a write-combining buffer does with a partial line: stores of any size and order
/// inside one aligned 32-byte block become one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedBlock {
    base: u64,
    mask: u32,
    bytes: [u8; MASKED_BLOCK],
}

impl MaskedBlock {
    /// An empty block around `address`.
    pub const fn around(address: u64) -> Self {
        Self {
            base: address & !(MASKED_BLOCK as u64 - 1),
            mask: 0,
            bytes: [0; MASKED_BLOCK],
        }
    }

    /// Puts bytes at an address of the block; the last store wins.
    ///
    /// # Errors
    /// [`Error::CrossesBlock`] if a byte lies outside, with nothing stored.
    pub fn store(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        let outside = Error::CrossesBlock {
            field: "ht.masked_block.store",
            block_bytes: MASKED_BLOCK as u64,
            address,
            len_bytes: bytes.len() as u64,
        };
        let offset = address
            .checked_sub(self.base)
            .and_then(|offset| usize::try_from(offset).ok())
            .ok_or(outside)?;
        let slots = offset
            .checked_add(bytes.len())
            .and_then(|end| self.bytes.get_mut(offset..end))
            .ok_or(outside)?;
        slots.copy_from_slice(bytes);
        self.mask |= (((1u64 << bytes.len()) - 1) << offset) as u32;
        Ok(())
    }

    /// Mask of the bytes stored so far.
    pub const fn mask(&self) -> u32 {
        self.mask
    }

    /// Address and count for the request: the smallest run of dwords that
    /// contains every stored byte. `None` while nothing is stored.
    pub fn span(&self) -> Option<(Address, MaskedDwords)> {
        if self.mask == 0 {
            return None;
        }
        let first = self.mask.trailing_zeros() / 4;
        let last = (31 - self.mask.leading_zeros()) / 4;
        let address = Address::new(self.base + u64::from(first) * 4).ok()?;
        Some((address, MaskedDwords::from_wire(last - first + 1)))
    }

    /// Writes mask and dwords to the start of `buffer`; returns the length,
    /// 0 while nothing is stored.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], with nothing written. [`MASKED_LEN_MAX`]
    /// bytes are always enough.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let Some((address, dwords)) = self.span() else {
            return Ok(0);
        };
        let len = 4 + dwords.len_bytes();
        let buffer = room("ht.data", buffer, len)?;
        let first = block_offset(address) as usize;
        let data = self
            .bytes
            .get(first..first + dwords.len_bytes())
            .unwrap_or(&[]);
        put(buffer, 0, &self.mask.to_le_bytes());
        put(buffer, 4, data);
        Ok(len)
    }
}

impl fmt::Display for DataPhase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataPhase::None => f.write_str("no data"),
            DataPhase::Dwords(bytes) => write!(f, "{} bytes", bytes.len()),
            DataPhase::Masked(masked) => write!(
                f,
                "{} of {} bytes, mask {:#010x}",
                masked.mask.count_ones(),
                masked.dwords.len(),
                masked.mask
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    /// Byte write to 0x1008: bytes 0x1009, 0x100a and 0x100f.
    const MASKED: [u8; 12] = [
        0x00,
        0b1000_0110,
        0x00,
        0x00, // mask bits 9, 10 and 15
        0xa8,
        0xa9,
        0xaa,
        0xab,
        0xac,
        0xad,
        0xae,
        0xaf,
    ];

    fn at(address: u64) -> Address {
        Address::new(address).unwrap()
    }

    #[test]
    fn enabled_bytes() {
        let count = MaskedDwords::new(2).unwrap();
        let masked = Masked::new_checked(at(0x1008), count, &MASKED).unwrap();
        let enabled: Vec<_> = masked.enabled().collect();
        assert_eq!(enabled, [(0x1009, 0xa9), (0x100a, 0xaa), (0x100f, 0xaf)]);
        assert_eq!(DataPhase::Masked(masked).len(), 12);
    }

    #[test]
    fn errors() {
        let count = MaskedDwords::new(2).unwrap();
        assert_eq!(
            Masked::new_checked(at(0x1008), count, &MASKED[..8]),
            Err(Error::Length {
                field: "ht.data",
                expected_bytes: 12,
                got_bytes: 8
            })
        );
        // The same mask four bytes further down points at missing dwords.
        assert_eq!(
            Masked::new_checked(at(0x1000), count, &MASKED),
            Err(Error::Value {
                field: "ht.data.mask",
                expected: "enables inside the dwords that follow",
                got: 0x8600
            })
        );
        assert!(matches!(
            Masked::new_checked(at(0x101c), count, &MASKED),
            Err(Error::CrossesBlock { .. })
        ));
    }

    #[test]
    fn stores_combine() {
        let mut block = MaskedBlock::around(0x1011);
        assert_eq!(block.span(), None);
        block.store(0x1009, &[0xa9, 0xaa]).unwrap();
        block.store(0x100f, &[0xaf]).unwrap();
        assert_eq!(
            block.span(),
            Some((at(0x1008), MaskedDwords::new(2).unwrap()))
        );
        let mut out = [0xee; MASKED_LEN_MAX];
        assert_eq!(block.emit(&mut out), Ok(12));
        assert_eq!(
            out[..12],
            [0, 0b1000_0110, 0, 0, 0, 0xa9, 0xaa, 0, 0, 0, 0, 0xaf]
        );
        assert!(block.store(0x101f, &[1, 2]).is_err());
        assert!(block.store(0xfff, &[1]).is_err());
        block.store(0x1000, &[7; 32]).unwrap();
        assert_eq!(block.mask(), u32::MAX);
        assert_eq!(block.emit(&mut out), Ok(MASKED_LEN_MAX));
    }

    /// A lone 4-byte store takes 8 bytes of data phase, as in the HTX board
    /// paper's table IV.
    #[test]
    fn four_byte_store_takes_eight() {
        let mut block = MaskedBlock::around(0x40);
        block.store(0x44, &[1, 2, 3, 4]).unwrap();
        let mut out = [0; MASKED_LEN_MAX];
        assert_eq!(block.emit(&mut out), Ok(8));
        assert_eq!(out[..8], [0xf0, 0, 0, 0, 1, 2, 3, 4]);
    }
}
