use core::fmt;

use crate::bits::{need, put, room, word_at};
use crate::error::{Error, Result};

use super::fields::{CreditClass, CreditCost};
use super::first::{Common, TlpType};
use super::{completion, memory};

/// Length of the digest (ECRC) behind the data, if there is one.
pub const DIGEST_LEN: usize = 4;

/// Longest TLP: header of 4 dwords, 1024 dwords of data, digest.
pub const TLP_LEN_MAX: usize = 16 + 4096 + DIGEST_LEN;

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
        // Lies beyond the buffer, and so is not written, if the header announces no
        // digest.
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
