use core::fmt;

use crate::bits::{need, room};
use crate::error::{Error, Result, check_block};

use super::fields::{ByteEnables, DwLength, RoutingId};
use super::first::{Common, TlpType, field};

/// First address that needs the header of 4 dwords.
pub const SHORT_END: u64 = 1 << 32;

/// Block that a memory request must not leave.
pub const BLOCK: u64 = 4096;

/// View of the header of a memory read or write.
///
/// | bits | field |
/// |---|---|
/// | dword 0 | see [`Common`] |
/// | dword 1 `[31:16]` | Requester ID |
/// | dword 1 `[15:8]` | Tag |
/// | dword 1 `[7:4]` | Last DW BE |
/// | dword 1 `[3:0]` | First DW BE |
/// | dword 2 (3 DW) | `Addr[31:2]` in `[31:2]` |
/// | dwords 2 and 3 (4 DW) | `Addr[63:32]`; `Addr[31:2]` in `[31:2]` |
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
        if !matches!(
            tlp_type,
            TlpType::MemoryRead { .. } | TlpType::MemoryWrite { .. }
        ) {
            return Err(Error::Value {
                field: "pcie.memory.type",
                expected: "a memory read or write",
                got: tlp_type.encode().into(),
            });
        }
        need("pcie.memory", buffer.as_ref(), tlp_type.header_len())?;
        Ok(Self { buffer, tlp_type })
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Length of the header in bytes, 12 or 16.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.tlp_type.header_len()
    }

    /// Type.
    pub fn tlp_type(&self) -> TlpType {
        self.tlp_type
    }

    /// Fields of dword 0 that all TLPs share.
    pub fn common(&self) -> Common {
        Common::read(self.buffer.as_ref())
    }

    /// Length of the data, read or written.
    pub fn dwords(&self) -> DwLength {
        DwLength::from_field(field::LENGTH.get_be(self.buffer.as_ref()))
    }

    /// Requester ID.
    pub fn requester_id(&self) -> RoutingId {
        RoutingId(field::REQUESTER_ID.get_be(self.buffer.as_ref()) as u16)
    }

    /// Tag.
    pub fn tag(&self) -> u8 {
        field::TAG.get_be(self.buffer.as_ref()) as u8
    }

    /// First DW BE.
    pub fn first_be(&self) -> ByteEnables {
        ByteEnables::from_wire(field::FIRST_BE.get_be(self.buffer.as_ref()))
    }

    /// Last DW BE.
    pub fn last_be(&self) -> ByteEnables {
        ByteEnables::from_wire(field::LAST_BE.get_be(self.buffer.as_ref()))
    }

    /// Address of the first dword.
    pub fn address(&self) -> u64 {
        let bytes = self.buffer.as_ref();
        if self.tlp_type.header_len() == 16 {
            u64::from(field::DWORD_2.get_be(bytes)) << 32
                | u64::from(field::LONG_ADDRESS_31_2.get_be(bytes)) << 2
        } else {
            u64::from(field::SHORT_ADDRESS_31_2.get_be(bytes)) << 2
        }
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Header<T> {
    /// Sets the fields of dword 0 that all TLPs share.
    pub fn set_common(&mut self, value: Common) {
        value.write(self.buffer.as_mut());
    }

    /// Sets Requester ID.
    pub fn set_requester_id(&mut self, value: RoutingId) {
        field::REQUESTER_ID.set_be(self.buffer.as_mut(), value.0.into());
    }

    /// Sets Tag.
    pub fn set_tag(&mut self, value: u8) {
        field::TAG.set_be(self.buffer.as_mut(), value.into());
    }

    /// Sets First DW BE and Last DW BE.
    pub fn set_byte_enables(&mut self, first: ByteEnables, last: ByteEnables) {
        field::FIRST_BE.set_be(self.buffer.as_mut(), first.get().into());
        field::LAST_BE.set_be(self.buffer.as_mut(), last.get().into());
    }

    /// Sets the address, as an address translation does; a header of 3 dwords
    /// keeps the low 32 bits only.
    pub fn set_address(&mut self, value: u64) {
        let low = (value >> 2) as u32 & 0x3fff_ffff;
        let long = self.tlp_type.header_len() == 16;
        let bytes = self.buffer.as_mut();
        if long {
            field::DWORD_2.set_be(bytes, (value >> 32) as u32);
            field::LONG_ADDRESS_31_2.set_be(bytes, low);
        } else {
            field::SHORT_ADDRESS_31_2.set_be(bytes, low);
        }
    }
}

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// MRd: answered by completions with data.
    Read,
    /// MWr: posted, carries data.
    Write,
}

/// Header of a memory request as a value.
///
/// The header has 3 dwords below 4 GiB and 4 dwords from there on; the
/// specification leaves no choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Read or write.
    pub operation: Operation,
    /// Fields that all TLPs share.
    pub common: Common,
    /// The device that asks.
    pub requester_id: RoutingId,
    /// Distinguishes the outstanding reads of a requester.
    pub tag: u8,
    /// Address of the first dword, a multiple of 4.
    pub address: u64,
    /// Length of the data.
    pub dwords: DwLength,
    /// Bytes of the first dword.
    pub first_be: ByteEnables,
    /// Bytes of the last dword; none if there is only one dword.
    pub last_be: ByteEnables,
}

impl Repr {
    /// A request for `len_bytes` bytes from `address` on, of any alignment.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a length that one request cannot have,
    /// [`Error::CrossesBlock`] if it leaves its block of 4 KiB.
    pub fn covering(
        operation: Operation,
        requester_id: RoutingId,
        address: u64,
        len_bytes: usize,
    ) -> Result<Self> {
        let len = len_bytes as u64;
        if len == 0 || len > BLOCK {
            return Err(Error::OutOfRange {
                field: "pcie.memory.len_bytes",
                min: 1,
                max: BLOCK,
                got: len,
            });
        }
        check_block("pcie.memory.len_bytes", BLOCK, address, len)?;
        let skipped = (address % 4) as u32;
        let end = skipped + len_bytes as u32;
        let dwords = DwLength::from_wire(end.div_ceil(4));
        let head = 0xf << skipped & 0xf;
        let tail = 0xf >> ((4 - end % 4) % 4);
        let (first_be, last_be) = if dwords == DwLength::MIN {
            (head & tail, 0)
        } else {
            (head, tail)
        };
        Ok(Self {
            operation,
            common: Common::default(),
            requester_id,
            tag: 0,
            address: address - u64::from(skipped),
            dwords,
            first_be: ByteEnables::from_wire(first_be),
            last_be: ByteEnables::from_wire(last_be),
        })
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// As [`Header::new_checked`] and [`check`](Self::check); [`Error::Value`]
    /// for a header of 4 dwords with an address below 4 GiB.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let header = Header::new_checked(bytes)?;
        let repr = Self {
            operation: match header.tlp_type() {
                TlpType::MemoryWrite { .. } => Operation::Write,
                _ => Operation::Read,
            },
            common: header.common(),
            requester_id: header.requester_id(),
            tag: header.tag(),
            address: header.address(),
            dwords: header.dwords(),
            first_be: header.first_be(),
            last_be: header.last_be(),
        };
        repr.check()?;
        if repr.buffer_len() != header.len() {
            return Err(Error::Value {
                field: "pcie.memory.address",
                expected: "4 GiB or more in a header of 4 dwords",
                got: repr.address,
            });
        }
        Ok(repr)
    }

    /// Checks what the types of the fields cannot rule out.
    ///
    /// # Errors
    /// [`Error::Misaligned`], [`Error::CrossesBlock`], or [`Error::Value`] for
    /// byte enables that do not go with the length.
    pub fn check(&self) -> Result<()> {
        if !self.address.is_multiple_of(4) {
            return Err(Error::Misaligned {
                field: "pcie.memory.address",
                align_bytes: 4,
                got: self.address,
            });
        }
        let len = self.dwords.len_bytes() as u64;
        check_block("pcie.memory.length", BLOCK, self.address, len)?;
        if self.dwords == DwLength::MIN {
            if self.last_be.get() != 0 {
                return Err(Error::Value {
                    field: "pcie.memory.last_be",
                    expected: "0 for one dword",
                    got: self.last_be.get().into(),
                });
            }
        } else {
            for (field, enables) in [
                ("pcie.memory.first_be", self.first_be),
                ("pcie.memory.last_be", self.last_be),
            ] {
                if enables.get() == 0 {
                    return Err(Error::Value {
                        field,
                        expected: "1 to 15 for more than one dword",
                        got: 0,
                    });
                }
            }
        }
        Ok(())
    }

    /// The type this request is sent with.
    pub const fn tlp_type(&self) -> TlpType {
        let long = self.address >= SHORT_END;
        match self.operation {
            Operation::Read => TlpType::MemoryRead { long },
            Operation::Write => TlpType::MemoryWrite { long },
        }
    }

    /// Bytes that [`emit`](Self::emit) writes: 12 or 16.
    pub const fn buffer_len(&self) -> usize {
        self.tlp_type().header_len()
    }

    /// Length in bytes of the data that has to follow, 0 for reads.
    pub const fn data_len(&self) -> usize {
        match self.operation {
            Operation::Read => 0,
            Operation::Write => self.dwords.len_bytes(),
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
        let buffer = room("pcie.memory", buffer, tlp_type.header_len())?;
        buffer.fill(0);
        tlp_type.write(buffer, self.dwords.field());
        let mut header = Header { buffer, tlp_type };
        header.set_common(self.common);
        header.set_requester_id(self.requester_id);
        header.set_tag(self.tag);
        header.set_byte_enables(self.first_be, self.last_be);
        header.set_address(self.address);
        Ok(tlp_type.header_len())
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.operation {
            Operation::Read => "MRd",
            Operation::Write => "MWr",
        };
        write!(
            f,
            "{name} req={} tag={} addr={:#x} len={}",
            self.requester_id,
            self.tag,
            self.address,
            self.dwords.len_bytes()
        )
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::super::fields::TrafficClass;
    use super::*;

    /// MWr, 4 DW, 16 bytes to 0x80_1234_5678, requester 01:00.0, tag 0x2a.
    const WRITE: [u8; 16] = [
        0b0110_0000,
        0,
        0,
        4, // Fmt 011, Type 00000, Length 4
        0x01,
        0x00,
        0x2a,
        0xff, // Requester ID, Tag, BEs
        0x00,
        0x00,
        0x00,
        0x80, // Addr[63:32]
        0x12,
        0x34,
        0x56,
        0x78, // Addr[31:2]
    ];

    fn write() -> Repr {
        Repr {
            tag: 0x2a,
            ..Repr::covering(Operation::Write, RoutingId(0x100), 0x80_1234_5678, 16).unwrap()
        }
    }

    #[test]
    fn long_write() {
        assert_eq!(Repr::parse(&WRITE), Ok(write()));
        let mut bytes = [0xee; 16];
        assert_eq!(write().emit(&mut bytes), Ok(16));
        assert_eq!(bytes, WRITE);
        assert_eq!(
            write().to_string(),
            "MWr req=01:00.0 tag=42 addr=0x8012345678 len=16"
        );
    }

    #[test]
    fn short_read_with_every_field() {
        // Fmt 000, TC 5, TD, EP, Attr 11, Length 1024; BEs 1110 and 0111.
        let bytes = [
            0x00, 0x50, 0xf0, 0x00, 0xab, 0xcd, 0x01, 0x7e, 0xff, 0xff, 0xf0, 0x00,
        ];
        let repr = Repr {
            operation: Operation::Read,
            common: Common {
                traffic_class: TrafficClass::new(5).unwrap(),
                has_digest: true,
                poisoned: true,
                relaxed_ordering: true,
                no_snoop: true,
            },
            requester_id: RoutingId(0xabcd),
            tag: 1,
            address: 0xffff_f000,
            dwords: DwLength::MAX,
            first_be: ByteEnables::new(0b1110).unwrap(),
            last_be: ByteEnables::new(0b0111).unwrap(),
        };
        assert_eq!(Repr::parse(&bytes), Ok(repr));
        let mut out = [0; 12];
        assert_eq!(repr.emit(&mut out), Ok(12));
        assert_eq!(out, bytes);
        assert_eq!(repr.data_len(), 0);
    }

    #[test]
    fn any_byte_range() {
        for (address, len, start, dwords, first, last) in [
            (0x1000, 4, 0x1000, 1, 0b1111, 0),
            (0x1001, 2, 0x1000, 1, 0b0110, 0),
            (0x1003, 2, 0x1000, 2, 0b1000, 0b0001),
            (0x1002, 7, 0x1000, 3, 0b1100, 0b0001),
            (0x1000, 4096, 0x1000, 1024, 0b1111, 0b1111),
        ] {
            let repr = Repr::covering(Operation::Write, RoutingId(0), address, len).unwrap();
            let got = (
                repr.address,
                repr.dwords.get(),
                repr.first_be.get(),
                repr.last_be.get(),
            );
            assert_eq!(got, (start, dwords, first, last), "{address:#x}+{len}");
            assert_eq!(repr.check(), Ok(()));
        }
        assert!(Repr::covering(Operation::Write, RoutingId(0), 0, 0).is_err());
        assert!(matches!(
            Repr::covering(Operation::Write, RoutingId(0), 0xfff, 2),
            Err(Error::CrossesBlock {
                block_bytes: 4096,
                ..
            })
        ));
    }

    #[test]
    fn rules() {
        // A long header for a low address.
        let mut bytes = WRITE;
        bytes[11] = 0;
        assert_eq!(
            Repr::parse(&bytes),
            Err(Error::Value {
                field: "pcie.memory.address",
                expected: "4 GiB or more in a header of 4 dwords",
                got: 0x1234_5678
            })
        );
        // No byte enables in the last dword.
        let mut bytes = WRITE;
        bytes[7] = 0x0f;
        assert_eq!(
            Repr::parse(&bytes),
            Err(Error::Value {
                field: "pcie.memory.last_be",
                expected: "1 to 15 for more than one dword",
                got: 0
            })
        );
        // One dword with byte enables for a last one.
        let mut bytes = WRITE;
        bytes[3] = 1;
        assert_eq!(
            Repr::parse(&bytes),
            Err(Error::Value {
                field: "pcie.memory.last_be",
                expected: "0 for one dword",
                got: 0xf
            })
        );
        assert_eq!(
            Repr::parse(&WRITE[..15]),
            Err(Error::Truncated {
                field: "pcie.memory",
                expected_bytes: 16,
                got_bytes: 15
            })
        );
    }
}
