use core::fmt;

use crate::bits::{need, room};
use crate::error::{Error, Result};

/// Length of a header without 802.1Q tag, in bytes.
pub const LEN: usize = 14;

/// Length of a header with 802.1Q tag.
pub const TAGGED_LEN: usize = 18;

/// EtherType of HToE frames unless configured otherwise: local experimental
/// EtherType 1 of IEEE 802. The HToE specification's own value is not public.
pub const ETHER_TYPE_HTOE: u16 = 0x88b5;

/// EtherType of an 802.1Q tag.
pub const ETHER_TYPE_VLAN: u16 = 0x8100;

/// First value that is an EtherType; smaller ones are lengths.
pub const ETHER_TYPE_MIN: u16 = 0x0600;

/// Shortest frame from destination address to FCS; shorter ones are padded.
pub const FRAME_LEN_MIN: usize = 64;

/// Frame check sequence.
pub const FCS_LEN: usize = 4;

/// Preamble with start delimiter.
pub const PREAMBLE_LEN: usize = 8;

/// Shortest gap between frames.
pub const GAP_LEN: usize = 12;

/// Byte times that a frame takes on the wire: preamble, header, payload with
/// padding, FCS and gap.
pub const fn wire_len(header_len: usize, payload_len: usize) -> usize {
    let frame = header_len + payload_len + FCS_LEN;
    let padded = if frame < FRAME_LEN_MIN {
        FRAME_LEN_MIN
    } else {
        frame
    };
    PREAMBLE_LEN + padded + GAP_LEN
}

/// MAC address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// Whether this is a group address.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// View of an Ethernet II header, with or without 802.1Q tag.
///
/// | bytes | field |
/// |---|---|
/// | 0..6 | destination |
/// | 6..12 | source |
/// | 12..16 | 802.1Q tag: 0x8100, PCP in `[15:13]`, DEI in `[12]`, VID in `[11:0]` |
/// | last 2 | EtherType |
#[derive(Clone, Copy, Debug)]
pub struct Header<T: AsRef<[u8]>> {
    buffer: T,
}

pub(super) mod field {
    use core::ops::Range;

    pub const DESTINATION: Range<usize> = 0..6;
    pub const SOURCE: Range<usize> = 6..12;
    pub const ETHER_TYPE: Range<usize> = 12..14;
    pub const TAG: Range<usize> = 14..16;
    pub const TAGGED_ETHER_TYPE: Range<usize> = 16..18;
}

impl<T: AsRef<[u8]>> Header<T> {
    /// Checks the length.
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn new_checked(buffer: T) -> Result<Self> {
        need("ethernet.header", buffer.as_ref(), LEN)?;
        let header = Self { buffer };
        need("ethernet.header", header.buffer.as_ref(), header.len())?;
        Ok(header)
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Length of the header in bytes, 14 or 18.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        if self.u16_at(field::ETHER_TYPE) == ETHER_TYPE_VLAN {
            TAGGED_LEN
        } else {
            LEN
        }
    }

    /// Destination.
    pub fn destination(&self) -> MacAddress {
        self.mac_at(field::DESTINATION)
    }

    /// Source.
    pub fn source(&self) -> MacAddress {
        self.mac_at(field::SOURCE)
    }

    /// 802.1Q tag.
    pub fn vlan(&self) -> Option<VlanTag> {
        (self.len() == TAGGED_LEN).then(|| VlanTag(self.u16_at(field::TAG)))
    }

    /// EtherType behind the tag, if there is one.
    pub fn ether_type(&self) -> u16 {
        self.u16_at(if self.len() == TAGGED_LEN {
            field::TAGGED_ETHER_TYPE
        } else {
            field::ETHER_TYPE
        })
    }

    /// Bytes behind the header, padding included.
    pub fn payload(&self) -> &[u8] {
        self.buffer.as_ref().get(self.len()..).unwrap_or(&[])
    }

    fn u16_at(&self, range: core::ops::Range<usize>) -> u16 {
        let bytes = self.buffer.as_ref().get(range);
        u16::from_be_bytes(
            bytes
                .and_then(|b| b.first_chunk().copied())
                .unwrap_or([0; 2]),
        )
    }

    fn mac_at(&self, range: core::ops::Range<usize>) -> MacAddress {
        let bytes = self.buffer.as_ref().get(range);
        MacAddress(
            bytes
                .and_then(|b| b.first_chunk().copied())
                .unwrap_or([0; 6]),
        )
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Header<T> {
    /// Sets the destination.
    pub fn set_destination(&mut self, value: MacAddress) {
        self.put(field::DESTINATION, &value.0);
    }

    /// Sets the source.
    pub fn set_source(&mut self, value: MacAddress) {
        self.put(field::SOURCE, &value.0);
    }

    fn put(&mut self, range: core::ops::Range<usize>, bytes: &[u8]) {
        if let Some(slot) = self.buffer.as_mut().get_mut(range) {
            slot.copy_from_slice(bytes);
        }
    }
}

/// 802.1Q tag control information: PCP, DEI, VID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VlanTag(pub u16);

impl VlanTag {
    /// Priority code point, 0 to 7.
    pub const fn priority(self) -> u8 {
        (self.0 >> 13) as u8
    }

    /// VLAN id, 0 to 4095.
    pub const fn id(self) -> u16 {
        self.0 & 0xfff
    }
}

/// An Ethernet header as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Destination.
    pub destination: MacAddress,
    /// Source.
    pub source: MacAddress,
    /// 802.1Q tag.
    pub vlan: Option<VlanTag>,
    /// EtherType, at least 0x0600 and not that of a tag.
    pub ether_type: u16,
}

impl Repr {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Value`] for an 802.3 length field or a
    /// second tag.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let header = Header::new_checked(bytes)?;
        let repr = Self {
            destination: header.destination(),
            source: header.source(),
            vlan: header.vlan(),
            ether_type: header.ether_type(),
        };
        repr.check()?;
        Ok(repr)
    }

    fn check(&self) -> Result<()> {
        if self.ether_type < ETHER_TYPE_MIN || self.ether_type == ETHER_TYPE_VLAN {
            return Err(Error::Value {
                field: "ethernet.ether_type",
                expected: "an EtherType from 0x600 on, at most one tag before it",
                got: self.ether_type.into(),
            });
        }
        Ok(())
    }

    /// Bytes that [`emit`](Self::emit) writes: 14 or 18.
    pub const fn buffer_len(&self) -> usize {
        match self.vlan {
            None => LEN,
            Some(_) => TAGGED_LEN,
        }
    }

    /// Writes the header to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// [`Error::Value`] for an invalid EtherType, [`Error::BufferTooSmall`]; with nothing
    /// written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        self.check()?;
        let buffer = room("ethernet.header", buffer, self.buffer_len())?;
        let mut header = Header { buffer };
        header.set_destination(self.destination);
        header.set_source(self.source);
        let ether_type = self.ether_type.to_be_bytes();
        match self.vlan {
            None => header.put(field::ETHER_TYPE, &ether_type),
            Some(tag) => {
                header.put(field::ETHER_TYPE, &ETHER_TYPE_VLAN.to_be_bytes());
                header.put(field::TAG, &tag.0.to_be_bytes());
                header.put(field::TAGGED_ETHER_TYPE, &ether_type);
            }
        }
        Ok(self.buffer_len())
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}", self.source, self.destination)?;
        if let Some(tag) = self.vlan {
            write!(f, " vlan={} pcp={}", tag.id(), tag.priority())?;
        }
        write!(f, " type={:#06x}", self.ether_type)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    const PLAIN: [u8; 14] = [0x02, 0, 0, 0, 0, 0x01, 0x02, 0, 0, 0, 0, 0x02, 0x88, 0xb5];
    const TAGGED: [u8; 18] = [
        0x02, 0, 0, 0, 0, 0x01, 0x02, 0, 0, 0, 0, 0x02, 0x81, 0x00, 0xa0, 0x07, 0x88, 0xb5,
    ];

    fn repr() -> Repr {
        Repr {
            destination: MacAddress([2, 0, 0, 0, 0, 1]),
            source: MacAddress([2, 0, 0, 0, 0, 2]),
            vlan: None,
            ether_type: ETHER_TYPE_HTOE,
        }
    }

    #[test]
    fn plain_and_tagged() {
        let tagged = Repr {
            vlan: Some(VlanTag(0xa007)),
            ..repr()
        };
        for (bytes, repr) in [(&PLAIN[..], repr()), (&TAGGED[..], tagged)] {
            assert_eq!(Repr::parse(bytes), Ok(repr));
            let mut out = [0; 18];
            assert_eq!(repr.emit(&mut out), Ok(bytes.len()));
            assert_eq!(&out[..bytes.len()], bytes);
        }
        assert_eq!(
            tagged.to_string(),
            "02:00:00:00:00:02 > 02:00:00:00:00:01 vlan=7 pcp=5 type=0x88b5"
        );
    }

    #[test]
    fn lengths_on_the_wire() {
        // A full frame: 1500 + 14 + 4 + 8 + 12.
        assert_eq!(wire_len(LEN, 1500), 1538);
        // The shortest one is padded to 64, with a tag as well.
        assert_eq!(wire_len(LEN, 20), 84);
        assert_eq!(wire_len(TAGGED_LEN, 20), 84);
    }

    #[test]
    fn errors() {
        let mut bytes = PLAIN;
        bytes[12..].copy_from_slice(&[0x05, 0xdc]);
        assert!(matches!(
            Repr::parse(&bytes),
            Err(Error::Value {
                field: "ethernet.ether_type",
                got: 0x5dc,
                ..
            })
        ));
        let mut bytes = TAGGED;
        bytes[16..].copy_from_slice(&[0x81, 0x00]);
        assert!(Repr::parse(&bytes).is_err());
        assert_eq!(
            Repr::parse(&TAGGED[..17]),
            Err(Error::Truncated {
                field: "ethernet.header",
                expected_bytes: 18,
                got_bytes: 17
            })
        );
    }
}
