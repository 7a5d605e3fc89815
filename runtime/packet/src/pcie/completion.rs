use core::fmt;

use crate::bits::{need, room};
use crate::error::{Error, Result};

use super::fields::{ByteCount, DwLength, LowerAddress, RoutingId};
use super::first::{Common, TlpType, field};

/// Length of the header in bytes.
pub const LEN: usize = 12;

/// View of the header of a completion.
///
/// | bits | field |
/// |---|---|
/// | dword 0 | see [`Common`] |
/// | dword 1 `[31:16]` | Completer ID |
/// | dword 1 `[15:13]` | Status |
/// | dword 1 `[12]` | BCM |
/// | dword 1 `[11:0]` | Byte Count, 0 for 4096 |
/// | dword 2 `[31:16]` | Requester ID |
/// | dword 2 `[15:8]` | Tag |
/// | dword 2 `[6:0]` | Lower Address |
#[derive(Clone, Copy, Debug)]
pub struct Header<T: AsRef<[u8]>> {
    buffer: T,
    tlp_type: TlpType,
}

impl<T: AsRef<[u8]>> Header<T> {
    /// Checks length and type.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Value`] if this is another TLP.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let tlp_type = TlpType::of(buffer.as_ref())?;
        if !matches!(tlp_type, TlpType::Completion { .. }) {
            return Err(Error::Value {
                field: "pcie.completion.type",
                expected: "a completion",
                got: tlp_type.encode().into(),
            });
        }
        need("pcie.completion", buffer.as_ref(), LEN)?;
        Ok(Self { buffer, tlp_type })
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Type.
    pub fn tlp_type(&self) -> TlpType {
        self.tlp_type
    }

    /// Fields of dword 0 that all TLPs share.
    pub fn common(&self) -> Common {
        Common::read(self.buffer.as_ref())
    }

    /// Length of the data. Valid only with data.
    pub fn dwords(&self) -> DwLength {
        DwLength::from_field(field::LENGTH.get_be(self.buffer.as_ref()))
    }

    /// Completer ID.
    pub fn completer_id(&self) -> RoutingId {
        RoutingId(field::COMPLETER_ID.get_be(self.buffer.as_ref()) as u16)
    }

    /// Status as it stands, 3 bits.
    pub fn status(&self) -> u8 {
        field::STATUS.get_be(self.buffer.as_ref()) as u8
    }

    /// BCM: the byte count was changed by a PCI-X bridge.
    pub fn byte_count_modified(&self) -> bool {
        field::BCM.get_be(self.buffer.as_ref()) != 0
    }

    /// Bytes still to be completed, this completion included.
    pub fn byte_count(&self) -> ByteCount {
        ByteCount::from_field(field::BYTE_COUNT.get_be(self.buffer.as_ref()))
    }

    /// Requester ID.
    pub fn requester_id(&self) -> RoutingId {
        RoutingId(field::COMPLETION_REQUESTER_ID.get_be(self.buffer.as_ref()) as u16)
    }

    /// Tag of the request.
    pub fn tag(&self) -> u8 {
        field::COMPLETION_TAG.get_be(self.buffer.as_ref()) as u8
    }

    /// Low bits of the address of the first byte.
    pub fn lower_address(&self) -> LowerAddress {
        LowerAddress::from_wire(field::LOWER_ADDRESS.get_be(self.buffer.as_ref()))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Header<T> {
    /// Sets the fields of dword 0 that all TLPs share.
    pub fn set_common(&mut self, value: Common) {
        value.write(self.buffer.as_mut());
    }

    /// Sets Completer ID.
    pub fn set_completer_id(&mut self, value: RoutingId) {
        field::COMPLETER_ID.set_be(self.buffer.as_mut(), value.0.into());
    }

    /// Sets Status.
    pub fn set_status(&mut self, value: Status) {
        field::STATUS.set_be(self.buffer.as_mut(), value.encode());
    }

    /// Sets BCM.
    pub fn set_byte_count_modified(&mut self, value: bool) {
        field::BCM.set_be(self.buffer.as_mut(), value.into());
    }

    /// Sets Byte Count.
    pub fn set_byte_count(&mut self, value: ByteCount) {
        field::BYTE_COUNT.set_be(self.buffer.as_mut(), value.field());
    }

    /// Sets Requester ID.
    pub fn set_requester_id(&mut self, value: RoutingId) {
        field::COMPLETION_REQUESTER_ID.set_be(self.buffer.as_mut(), value.0.into());
    }

    /// Sets Tag.
    pub fn set_tag(&mut self, value: u8) {
        field::COMPLETION_TAG.set_be(self.buffer.as_mut(), value.into());
    }

    /// Sets Lower Address.
    pub fn set_lower_address(&mut self, value: LowerAddress) {
        field::LOWER_ADDRESS.set_be(self.buffer.as_mut(), value.get().into());
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Status {
    /// 000, SC.
    #[default]
    Success,
    /// 001, UR.
    UnsupportedRequest,
    /// 010, CRS.
    ConfigurationRetry,
    /// 100, CA.
    CompleterAbort,
}

impl Status {
    const fn encode(self) -> u32 {
        match self {
            Status::Success => 0,
            Status::UnsupportedRequest => 1,
            Status::ConfigurationRetry => 2,
            Status::CompleterAbort => 4,
        }
    }

    fn decode(bits: u8) -> Result<Self> {
        Ok(match bits {
            0 => Status::Success,
            1 => Status::UnsupportedRequest,
            2 => Status::ConfigurationRetry,
            4 => Status::CompleterAbort,
            reserved => {
                return Err(Error::Value {
                    field: "pcie.completion.status",
                    expected: "000 (SC), 001 (UR), 010 (CRS) or 100 (CA)",
                    got: reserved.into(),
                });
            }
        })
    }

    /// Short name as the specification has it.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Success => "SC",
            Status::UnsupportedRequest => "UR",
            Status::ConfigurationRetry => "CRS",
            Status::CompleterAbort => "CA",
        }
    }
}

/// Header of a completion as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Length of the data: `Some` for CplD, `None` for Cpl.
    pub dwords: Option<DwLength>,
    /// Fields that all TLPs share.
    pub common: Common,
    /// The device that answers.
    pub completer_id: RoutingId,
    /// How the request ended.
    pub status: Status,
    /// The byte count was changed by a PCI-X bridge.
    pub byte_count_modified: bool,
    /// Bytes still to be completed, this completion included.
    pub byte_count: ByteCount,
    /// The device that asked.
    pub requester_id: RoutingId,
    /// Tag of the request.
    pub tag: u8,
    /// Low bits of the address of the first byte.
    pub lower_address: LowerAddress,
}

impl Repr {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// As [`Header::new_checked`] and [`check`](Self::check); [`Error::Value`]
    /// for a reserved status.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let header = Header::new_checked(bytes)?;
        let repr = Self {
            dwords: header.tlp_type().has_data().then(|| header.dwords()),
            common: header.common(),
            completer_id: header.completer_id(),
            status: Status::decode(header.status())?,
            byte_count_modified: header.byte_count_modified(),
            byte_count: header.byte_count(),
            requester_id: header.requester_id(),
            tag: header.tag(),
            lower_address: header.lower_address(),
        };
        repr.check()?;
        Ok(repr)
    }

    /// Checks what the types of the fields cannot rule out.
    ///
    /// # Errors
    /// [`Error::Value`] for data with a status other than success.
    pub fn check(&self) -> Result<()> {
        if self.dwords.is_some() && self.status != Status::Success {
            return Err(Error::Value {
                field: "pcie.completion.status",
                expected: "000 (SC) in a completion with data",
                got: self.status.encode().into(),
            });
        }
        Ok(())
    }

    /// The type this completion is sent with.
    pub const fn tlp_type(&self) -> TlpType {
        TlpType::Completion {
            data: self.dwords.is_some(),
        }
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn buffer_len(&self) -> usize {
        LEN
    }

    /// Length in bytes of the data that has to follow, 0 for Cpl.
    pub const fn data_len(&self) -> usize {
        match self.dwords {
            Some(dwords) => dwords.len_bytes(),
            None => 0,
        }
    }

    /// Writes the header to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// As [`check`](Self::check), or [`Error::BufferTooSmall`]; with nothing
    /// written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        self.check()?;
        let tlp_type = self.tlp_type();
        let buffer = room("pcie.completion", buffer, LEN)?;
        buffer.fill(0);
        tlp_type.write(buffer, self.dwords.map_or(0, DwLength::field));
        let mut header = Header { buffer, tlp_type };
        header.set_common(self.common);
        header.set_completer_id(self.completer_id);
        header.set_status(self.status);
        header.set_byte_count_modified(self.byte_count_modified);
        header.set_byte_count(self.byte_count);
        header.set_requester_id(self.requester_id);
        header.set_tag(self.tag);
        header.set_lower_address(self.lower_address);
        Ok(LEN)
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.dwords.is_some() { "CplD" } else { "Cpl" };
        write!(
            f,
            "{name} cpl={} req={} tag={} {} count={}",
            self.completer_id,
            self.requester_id,
            self.tag,
            self.status.name(),
            self.byte_count
        )?;
        if let Some(dwords) = self.dwords {
            write!(f, " len={}", dwords.len_bytes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    /// CplD with 2 dwords from 00:00.0 to 01:00.0, tag 7, 8 bytes at ..0x44.
    const WITH_DATA: [u8; 12] = [
        0b0100_1010,
        0,
        0,
        2, // Fmt 010, Type 01010, Length 2
        0x00,
        0x00,
        0b0000_0000,
        8, // Completer ID, status 000, count 8
        0x01,
        0x00,
        7,
        0x44, // Requester ID, Tag, Lower Address
    ];

    fn with_data() -> Repr {
        Repr {
            dwords: Some(DwLength::new(2).unwrap()),
            common: Common::default(),
            completer_id: RoutingId(0),
            status: Status::Success,
            byte_count_modified: false,
            byte_count: ByteCount::new(8).unwrap(),
            requester_id: RoutingId(0x100),
            tag: 7,
            lower_address: LowerAddress::new(0x44).unwrap(),
        }
    }

    #[test]
    fn completion_with_data() {
        assert_eq!(Repr::parse(&WITH_DATA), Ok(with_data()));
        let mut bytes = [0; 12];
        assert_eq!(with_data().emit(&mut bytes), Ok(12));
        assert_eq!(bytes, WITH_DATA);
        assert_eq!(
            with_data().to_string(),
            "CplD cpl=00:00.0 req=01:00.0 tag=7 SC count=8 len=8"
        );
    }

    #[test]
    fn unsupported_request() {
        // Cpl, status 001, BCM, count 4096.
        let bytes = [0b0000_1010, 0, 0, 0, 0, 8, 0b0011_0000, 0, 1, 0, 7, 0];
        let repr = Repr {
            dwords: None,
            completer_id: RoutingId(8),
            status: Status::UnsupportedRequest,
            byte_count_modified: true,
            byte_count: ByteCount::MAX,
            lower_address: LowerAddress::MIN,
            ..with_data()
        };
        assert_eq!(Repr::parse(&bytes), Ok(repr));
        let mut out = [0; 12];
        repr.emit(&mut out).unwrap();
        assert_eq!(out, bytes);
        assert_eq!(repr.data_len(), 0);
    }

    #[test]
    fn errors() {
        let mut bytes = WITH_DATA;
        bytes[6] = 0b0110_0000;
        assert_eq!(
            Repr::parse(&bytes),
            Err(Error::Value {
                field: "pcie.completion.status",
                expected: "000 (SC), 001 (UR), 010 (CRS) or 100 (CA)",
                got: 3
            })
        );
        bytes[6] = 0b1000_0000;
        assert_eq!(
            Repr::parse(&bytes),
            Err(Error::Value {
                field: "pcie.completion.status",
                expected: "000 (SC) in a completion with data",
                got: 4
            })
        );
    }
}
