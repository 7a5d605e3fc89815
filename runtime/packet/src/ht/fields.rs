//! Bounded field values that several HyperTransport packets share.

use core::fmt;

use crate::bits::bounded;
use crate::error::{Error, Result};

bounded! {
    /// UnitID: which unit of a chain sent the request or, in a downstream
    /// response, gets it. 0 is the host. 5 bits.
    UnitId(u8), 0 ..= 31, "ht.unit_id"
}

bounded! {
    /// SrcTag: distinguishes the outstanding non-posted requests of one unit. 5 bits.
    SrcTag(u8), 0 ..= 31, "ht.src_tag"
}

bounded! {
    /// SeqID: non-posted requests of one unit with the same non-zero SeqID
    /// stay in order. 4 bits, split over two places in the packet.
    SeqId(u8), 0 ..= 15, "ht.seq_id"
}

bounded! {
    /// RqUID: low two bits of the UnitID of the requester, in responses.
    RqUid(u8), 0 ..= 3, "ht.rq_uid"
}

bounded! {
    /// Dwords moved by a dword-sized read, write or read response: 1 to 16,
    /// that is 4 to 64 bytes. On the wire it is Count + 1.
    Dwords(u8), 1 ..= 16, "ht.dwords"
}

bounded! {
    /// Dwords of data behind the mask dword of a byte write: 1 to 8. On the
    /// wire it equals Count, because Count + 1 includes the mask.
    MaskedDwords(u8), 1 ..= 8, "ht.masked_dwords"
}

bounded! {
    /// Byte enables of a byte read, bit 0 for the lowest address. 4 bits.
    ByteEnables(u8), 0 ..= 15, "ht.byte_enables"
}

bounded! {
    /// VCSet number of an extended flow control packet. 3 bits.
    VcSet(u8), 0 ..= 7, "ht.vc_set"
}

impl Dwords {
    /// Length in bytes, 4 to 64.
    pub const fn len_bytes(self) -> usize {
        self.get() as usize * 4
    }

    /// The number of dwords that holds exactly `len_bytes` bytes.
    ///
    /// # Errors
    /// [`Error::Misaligned`] if it is no multiple of 4,
    /// [`Error::OutOfRange`] if it is not 4 to 64.
    pub const fn from_len_bytes(len_bytes: usize) -> Result<Self> {
        if !len_bytes.is_multiple_of(4) {
            return Err(Error::Misaligned {
                field: "ht.data.len_bytes",
                align_bytes: 4,
                got: len_bytes as u64,
            });
        }
        if len_bytes < 4 || len_bytes > 64 {
            return Err(Error::OutOfRange {
                field: "ht.data.len_bytes",
                min: 4,
                max: 64,
                got: len_bytes as u64,
            });
        }
        Self::new((len_bytes / 4) as u8)
    }

    pub(crate) const fn from_count(count: u32) -> Self {
        Self::from_wire((count & 15) + 1)
    }

    pub(crate) const fn count(self) -> u32 {
        self.get() as u32 - 1
    }
}

impl MaskedDwords {
    /// Length of the data dwords in bytes, without the mask, 4 to 32.
    pub const fn len_bytes(self) -> usize {
        self.get() as usize * 4
    }
}

/// Address of a request: a multiple of 4, with 40 or 64 bits.
///
/// Addresses from 2^40 on need an address extension, which puts one dword in
/// front of the request. An extension may also be used where it is not
/// needed; parsing and emitting keep it, because it changes the size of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Address {
    bytes: u64,
    extended: bool,
}

impl Address {
    /// First address that does not fit in a request without extension.
    pub const PLAIN_END: u64 = 1 << 40;

    /// Takes a byte address and picks the shortest form for it.
    ///
    /// # Errors
    /// [`Error::Misaligned`] if it is no multiple of 4, caller's fault.
    pub const fn new(bytes: u64) -> Result<Self> {
        if !bytes.is_multiple_of(4) {
            return Err(Error::Misaligned {
                field: "ht.address",
                align_bytes: 4,
                got: bytes,
            });
        }
        Ok(Self {
            bytes,
            extended: bytes >= Self::PLAIN_END,
        })
    }

    /// The same address, sent with an address extension in any case.
    pub const fn with_extension(self) -> Self {
        Self {
            bytes: self.bytes,
            extended: true,
        }
    }

    /// Byte address.
    pub const fn get(self) -> u64 {
        self.bytes
    }

    /// Whether the request carries an address extension.
    pub const fn is_extended(self) -> bool {
        self.extended
    }

    /// Address bits `[39:2]` and, if there is one, the extension `[63:40]`.
    pub(crate) const fn from_wire(bits_39_2: u64, extension: Option<u32>) -> Self {
        let low = (bits_39_2 << 2) & (Self::PLAIN_END - 1);
        match extension {
            None => Self {
                bytes: low,
                extended: false,
            },
            Some(high) => Self {
                bytes: low | (high as u64) << 40,
                extended: true,
            },
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(UnitId::new(31).map(UnitId::get), Ok(31));
        assert_eq!(
            UnitId::new(32),
            Err(Error::OutOfRange {
                field: "ht.unit_id",
                min: 0,
                max: 31,
                got: 32
            })
        );
        assert!(Dwords::new(0).is_err());
        assert!(Dwords::new(17).is_err());
        assert_eq!(Dwords::from_count(15).len_bytes(), 64);
        assert_eq!(Dwords::from_len_bytes(64), Ok(Dwords::MAX));
        assert!(Dwords::from_len_bytes(0).is_err());
        assert!(Dwords::from_len_bytes(6).is_err());
        assert!(Dwords::from_len_bytes(68).is_err());
    }

    #[test]
    fn addresses_pick_the_short_form() {
        assert!(!Address::new(0xff_ffff_fffc).unwrap().is_extended());
        assert!(Address::new(1 << 40).unwrap().is_extended());
        assert!(Address::new(0x1000).unwrap().with_extension().is_extended());
        assert_eq!(
            Address::new(2),
            Err(Error::Misaligned {
                field: "ht.address",
                align_bytes: 4,
                got: 2
            })
        );
    }
}
