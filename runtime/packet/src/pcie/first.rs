//! The first dword of a TLP, and the fields of the others.

use crate::bits::need;
use crate::error::{Error, Result};

use super::fields::TrafficClass;

pub(crate) mod field {
    use crate::bits::{Field, tiles_word};

    pub const FMT_TYPE: Field = Field::new(0, 31, 24);
    pub const TRAFFIC_CLASS: Field = Field::new(0, 22, 20);
    pub const TD: Field = Field::new(0, 15, 15);
    pub const EP: Field = Field::new(0, 14, 14);
    pub const RELAXED_ORDERING: Field = Field::new(0, 13, 13);
    pub const NO_SNOOP: Field = Field::new(0, 12, 12);
    pub const LENGTH: Field = Field::new(0, 9, 0);

    const RESERVED_0: u32 = 1 << 23 | 0xf << 16 | 0b11 << 10;
    const DWORD_0: &[Field] = &[
        FMT_TYPE,
        TRAFFIC_CLASS,
        TD,
        EP,
        RELAXED_ORDERING,
        NO_SNOOP,
        LENGTH,
    ];
    const _: () = assert!(tiles_word(0, DWORD_0, RESERVED_0));

    // Memory requests.
    pub const REQUESTER_ID: Field = Field::new(1, 31, 16);
    pub const TAG: Field = Field::new(1, 15, 8);
    pub const LAST_BE: Field = Field::new(1, 7, 4);
    pub const FIRST_BE: Field = Field::new(1, 3, 0);
    pub const SHORT_ADDRESS_31_2: Field = Field::new(2, 31, 2);
    pub const DWORD_2: Field = Field::new(2, 31, 0);
    pub const LONG_ADDRESS_31_2: Field = Field::new(3, 31, 2);

    const _: () = assert!(tiles_word(1, &[REQUESTER_ID, TAG, LAST_BE, FIRST_BE], 0));
    const _: () = assert!(tiles_word(2, &[SHORT_ADDRESS_31_2], 0b11));
    const _: () = assert!(tiles_word(3, &[LONG_ADDRESS_31_2], 0b11));

    // Completions.
    pub const COMPLETER_ID: Field = Field::new(1, 31, 16);
    pub const STATUS: Field = Field::new(1, 15, 13);
    pub const BCM: Field = Field::new(1, 12, 12);
    pub const BYTE_COUNT: Field = Field::new(1, 11, 0);
    pub const COMPLETION_REQUESTER_ID: Field = Field::new(2, 31, 16);
    pub const COMPLETION_TAG: Field = Field::new(2, 15, 8);
    pub const LOWER_ADDRESS: Field = Field::new(2, 6, 0);

    const _: () = assert!(tiles_word(1, &[COMPLETER_ID, STATUS, BCM, BYTE_COUNT], 0));
    const DWORD_2_FIELDS: &[Field] = &[COMPLETION_REQUESTER_ID, COMPLETION_TAG, LOWER_ADDRESS];
    const _: () = assert!(tiles_word(2, DWORD_2_FIELDS, 1 << 7));
}

/// Fmt and Type of a TLP: byte 0.
///
/// | Fmt | Type | TLP |
/// |---|---|---|
/// | 000, 001 | 00000 | MRd with 3 or 4 dwords of header |
/// | 010, 011 | 00000 | MWr with 3 or 4 dwords of header |
/// | 000 | 01010 | Cpl |
/// | 010 | 01010 | CplD |
///
/// I/O, configuration, locked, message and AtomicOp TLPs are not covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TlpType {
    /// MRd.
    MemoryRead {
        /// Header of 4 dwords.
        long: bool,
    },
    /// MWr.
    MemoryWrite {
        /// Header of 4 dwords.
        long: bool,
    },
    /// Cpl or CplD.
    Completion {
        /// With data.
        data: bool,
    },
}

impl TlpType {
    /// Decodes byte 0.
    ///
    /// # Errors
    /// [`Error::Value`] for TLPs that this crate does not cover.
    pub const fn decode(byte: u8) -> Result<Self> {
        Ok(match byte {
            0b000_00000 => TlpType::MemoryRead { long: false },
            0b001_00000 => TlpType::MemoryRead { long: true },
            0b010_00000 => TlpType::MemoryWrite { long: false },
            0b011_00000 => TlpType::MemoryWrite { long: true },
            0b000_01010 => TlpType::Completion { data: false },
            0b010_01010 => TlpType::Completion { data: true },
            other => {
                return Err(Error::Value {
                    field: "pcie.tlp.fmt_type",
                    expected: "MRd, MWr, Cpl or CplD",
                    got: other as u64,
                });
            }
        })
    }

    /// Reads the type of the TLP at the start of `bytes`.
    ///
    /// # Errors
    /// As [`decode`](Self::decode); [`Error::Truncated`] without a dword.
    pub fn of(bytes: &[u8]) -> Result<Self> {
        let dword = need("pcie.tlp", bytes, 4)?;
        Self::decode(field::FMT_TYPE.get_be(dword) as u8)
    }

    /// Byte 0.
    pub const fn encode(self) -> u8 {
        match self {
            TlpType::MemoryRead { long } => (long as u8) << 5,
            TlpType::MemoryWrite { long } => 0b010_00000 | (long as u8) << 5,
            TlpType::Completion { data } => 0b000_01010 | (data as u8) << 6,
        }
    }

    /// Length of the header in bytes, 12 or 16.
    pub const fn header_len(self) -> usize {
        match self {
            TlpType::MemoryRead { long: true } | TlpType::MemoryWrite { long: true } => 16,
            _ => 12,
        }
    }

    /// Whether data follows the header.
    pub const fn has_data(self) -> bool {
        matches!(
            self,
            TlpType::MemoryWrite { .. } | TlpType::Completion { data: true }
        )
    }

    /// Writes type and length into dword 0.
    pub(crate) fn write(self, bytes: &mut [u8], length: u32) {
        field::FMT_TYPE.set_be(bytes, self.encode().into());
        field::LENGTH.set_be(bytes, length);
    }
}

/// Fields of dword 0 that all TLPs share.
///
/// | bits | field |
/// |---|---|
/// | `[31:29]` | Fmt |
/// | `[28:24]` | Type |
/// | `[22:20]` | TC |
/// | `[15]` | TD: a digest follows the data |
/// | `[14]` | EP: the data is poisoned |
/// | `[13]` | Attr: relaxed ordering |
/// | `[12]` | Attr: no snoop |
/// | `[9:0]` | Length in dwords, 0 for 1024 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Common {
    /// Traffic class.
    pub traffic_class: TrafficClass,
    /// TD: four bytes of digest follow the data.
    pub has_digest: bool,
    /// EP: the data is known to be bad.
    pub poisoned: bool,
    /// May pass earlier writes.
    pub relaxed_ordering: bool,
    /// No snoop: the host need not look into its caches.
    pub no_snoop: bool,
}

impl Common {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        Self {
            traffic_class: TrafficClass::from_wire(field::TRAFFIC_CLASS.get_be(bytes)),
            has_digest: field::TD.get_be(bytes) != 0,
            poisoned: field::EP.get_be(bytes) != 0,
            relaxed_ordering: field::RELAXED_ORDERING.get_be(bytes) != 0,
            no_snoop: field::NO_SNOOP.get_be(bytes) != 0,
        }
    }

    pub(crate) fn write(self, bytes: &mut [u8]) {
        field::TRAFFIC_CLASS.set_be(bytes, self.traffic_class.get().into());
        field::TD.set_be(bytes, self.has_digest.into());
        field::EP.set_be(bytes, self.poisoned.into());
        field::RELAXED_ORDERING.set_be(bytes, self.relaxed_ordering.into());
        field::NO_SNOOP.set_be(bytes, self.no_snoop.into());
    }
}
