use core::fmt;

use crate::bits::{need, put, room, word_at};
use crate::error::{Error, Result};

use super::fields::{CreditClass, CreditCost, TrafficClass};
use super::{completion, memory};

/// Length of the digest (ECRC) behind the data, if there is one.
pub const DIGEST_LEN: usize = 4;

/// Longest TLP: header of 4 dwords, 1024 dwords of data, digest.
pub const TLP_LEN_MAX: usize = 16 + 4096 + DIGEST_LEN;

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

/// Header of any TLP as a value. `Copy`, for device models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeaderRepr {
    /// MRd or MWr.
    Memory(memory::Repr),
    /// Cpl or CplD.
    Completion(completion::Repr),
}

impl HeaderRepr {
    /// Reads the header at the start of `bytes`; the data may be missing.
    ///
    /// # Errors
    /// As the `parse` of the format that the type selects.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Ok(match TlpType::of(bytes)? {
            TlpType::Completion { .. } => Self::Completion(completion::Repr::parse(bytes)?),
            _ => Self::Memory(memory::Repr::parse(bytes)?),
        })
    }

    /// Bytes that [`emit`](Self::emit) writes: 12 or 16.
    pub const fn buffer_len(&self) -> usize {
        match self {
            Self::Memory(repr) => repr.buffer_len(),
            Self::Completion(repr) => repr.buffer_len(),
        }
    }

    /// Writes the header to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// As the `emit` of the format; with nothing written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Self::Memory(repr) => repr.emit(buffer),
            Self::Completion(repr) => repr.emit(buffer),
        }
    }

    fn check(&self) -> Result<()> {
        match self {
            Self::Memory(repr) => repr.check(),
            Self::Completion(repr) => repr.check(),
        }
    }

    /// Fields that all TLPs share.
    pub const fn common(&self) -> &Common {
        match self {
            Self::Memory(repr) => &repr.common,
            Self::Completion(repr) => &repr.common,
        }
    }

    /// Length in bytes of the data that has to follow, 0 for none.
    pub const fn data_len(&self) -> usize {
        match self {
            Self::Memory(repr) => repr.data_len(),
            Self::Completion(repr) => repr.data_len(),
        }
    }

    /// Length of the whole TLP: header, data and digest, without the data
    /// link layer. See [`tlp_wire_len`](super::tlp_wire_len) for the link.
    pub const fn tlp_len(&self) -> usize {
        let digest = if self.common().has_digest {
            DIGEST_LEN
        } else {
            0
        };
        self.buffer_len() + self.data_len() + digest
    }

    /// Flow control credits that the TLP takes.
    pub const fn credit_cost(&self) -> CreditCost {
        let class = match self {
            Self::Memory(memory::Repr {
                operation: memory::Operation::Write,
                ..
            }) => CreditClass::Posted,
            Self::Memory(_) => CreditClass::NonPosted,
            Self::Completion(_) => CreditClass::Completion,
        };
        CreditCost {
            class,
            header: 1,
            data: self.data_len().div_ceil(16) as u16,
        }
    }

    /// Address of a memory request.
    pub const fn address(&self) -> Option<u64> {
        match self {
            Self::Memory(repr) => Some(repr.address),
            Self::Completion(_) => None,
        }
    }
}

impl From<memory::Repr> for HeaderRepr {
    fn from(repr: memory::Repr) -> Self {
        Self::Memory(repr)
    }
}

impl From<completion::Repr> for HeaderRepr {
    fn from(repr: completion::Repr) -> Self {
        Self::Completion(repr)
    }
}

impl fmt::Display for HeaderRepr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(repr) => repr.fmt(f),
            Self::Completion(repr) => repr.fmt(f),
        }
    }
}

/// View of a whole TLP: header, data and digest.
#[derive(Clone, Copy, Debug)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
    header_len: usize,
    data_len: usize,
    len: usize,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks the header, and that data and digest are present. Bytes behind the TLP
    /// are ignored.
    ///
    /// # Errors
    /// As [`HeaderRepr::parse`]; [`Error::Truncated`] for missing data.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let header = HeaderRepr::parse(buffer.as_ref())?;
        need("pcie.tlp", buffer.as_ref(), header.tlp_len())?;
        Ok(Self {
            header_len: header.buffer_len(),
            data_len: header.data_len(),
            len: header.tlp_len(),
            buffer,
        })
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Length of the TLP in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Bytes of the header.
    pub fn header(&self) -> &[u8] {
        self.buffer.as_ref().get(..self.header_len).unwrap_or(&[])
    }

    /// Data.
    pub fn data(&self) -> &[u8] {
        let range = self.header_len..self.header_len + self.data_len;
        self.buffer.as_ref().get(range).unwrap_or(&[])
    }

    /// Digest as it stands. Its value is not checked by this crate.
    pub fn digest(&self) -> Option<u32> {
        let end = self.header_len + self.data_len;
        (self.len > end).then(|| u32::from_be_bytes(word_at(self.buffer.as_ref(), end / 4)))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Data, to be changed in place.
    pub fn data_mut(&mut self) -> &mut [u8] {
        let range = self.header_len..self.header_len + self.data_len;
        self.buffer.as_mut().get_mut(range).unwrap_or_default()
    }
}

/// A whole TLP as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr<'a> {
    header: HeaderRepr,
    data: &'a [u8],
    digest: u32,
}

impl<'a> Repr<'a> {
    /// Puts header and data together. If the header announces a digest it is
    /// 0; see [`with_digest`](Self::with_digest).
    ///
    /// # Errors
    /// [`Error::Length`] if the data is not as long as the header says, and
    /// as the `check` of the header. Caller's fault.
    pub fn new(header: impl Into<HeaderRepr>, data: &'a [u8]) -> Result<Self> {
        let header = header.into();
        header.check()?;
        if data.len() != header.data_len() {
            return Err(Error::Length {
                field: "pcie.tlp.data",
                expected_bytes: header.data_len(),
                got_bytes: data.len(),
            });
        }
        Ok(Self {
            header,
            data,
            digest: 0,
        })
    }

    /// Sets the digest; does nothing if the header announces none.
    pub const fn with_digest(mut self, digest: u32) -> Self {
        if self.header.common().has_digest {
            self.digest = digest;
        }
        self
    }

    /// Reads the TLP at the start of `bytes`. Its length is
    /// [`buffer_len`](Self::buffer_len); bytes behind it are left alone.
    ///
    /// # Errors
    /// As [`Packet::new_checked`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let header = HeaderRepr::parse(bytes)?;
        let whole = need("pcie.tlp", bytes, header.tlp_len())?;
        let end = header.buffer_len() + header.data_len();
        let data = whole.get(header.buffer_len()..end).unwrap_or(&[]);
        let digest = u32::from_be_bytes(word_at(whole, end / 4));
        Ok(Self::new(header, data)?.with_digest(digest))
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn buffer_len(&self) -> usize {
        self.header.tlp_len()
    }

    /// Writes the TLP to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], with nothing written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let buffer = room("pcie.tlp", buffer, self.buffer_len())?;
        let header_len = self.header.emit(buffer)?;
        put(buffer, header_len, self.data);
        let end = header_len + self.data.len();
        // Falls behind the buffer if the header announces no digest.
        put(buffer, end, &self.digest.to_be_bytes());
        Ok(self.buffer_len())
    }

    /// Header.
    pub const fn header(&self) -> &HeaderRepr {
        &self.header
    }

    /// Data.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Digest, if the header announces one.
    pub const fn digest(&self) -> Option<u32> {
        if self.header.common().has_digest {
            Some(self.digest)
        } else {
            None
        }
    }
}

impl fmt::Display for Repr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.header.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcie::RoutingId;

    /// MWr, 3 DW, 8 bytes to 0x1000 with digest 0x01020304.
    const WRITE: [u8; 24] = [
        0x40, 0, 0x80, 2, 0, 0, 0, 0xff, 0, 0, 0x10, 0, // header
        1, 2, 3, 4, 5, 6, 7, 8, // data
        1, 2, 3, 4, // digest
    ];

    fn header() -> memory::Repr {
        let mut header =
            memory::Repr::covering(memory::Operation::Write, RoutingId(0), 0x1000, 8).unwrap();
        header.common.has_digest = true;
        header
    }

    #[test]
    fn types() {
        for byte in 0..=255 {
            if let Ok(tlp_type) = TlpType::decode(byte) {
                assert_eq!(tlp_type.encode(), byte);
            }
        }
        assert_eq!(
            TlpType::decode(0x04),
            Err(Error::Value {
                field: "pcie.tlp.fmt_type",
                expected: "MRd, MWr, Cpl or CplD",
                got: 4
            })
        );
    }

    #[test]
    fn write_with_digest() {
        let data = [1, 2, 3, 4, 5, 6, 7, 8];
        let repr = Repr::new(header(), &data).unwrap().with_digest(0x0102_0304);
        assert_eq!(Repr::parse(&WRITE), Ok(repr));
        let mut bytes = [0; 24];
        assert_eq!(repr.emit(&mut bytes), Ok(24));
        assert_eq!(bytes, WRITE);

        let packet = Packet::new_checked(&WRITE[..]).unwrap();
        assert_eq!(packet.header(), &WRITE[..12]);
        assert_eq!(packet.data(), data);
        assert_eq!(packet.digest(), Some(0x0102_0304));
    }

    #[test]
    fn credits() {
        let cost = |len| {
            let header =
                memory::Repr::covering(memory::Operation::Write, RoutingId(0), 0, len).unwrap();
            HeaderRepr::from(header).credit_cost()
        };
        assert_eq!(
            cost(256),
            CreditCost {
                class: CreditClass::Posted,
                header: 1,
                data: 16
            }
        );
        assert_eq!(cost(4).data, 1);
        assert_eq!(cost(20).data, 2);
    }

    #[test]
    fn errors() {
        assert_eq!(
            Repr::parse(&WRITE[..23]),
            Err(Error::Truncated {
                field: "pcie.tlp",
                expected_bytes: 24,
                got_bytes: 23
            })
        );
        assert_eq!(
            Repr::new(header(), &[0; 4]),
            Err(Error::Length {
                field: "pcie.tlp.data",
                expected_bytes: 8,
                got_bytes: 4
            })
        );
    }
}
