use core::fmt;

use crate::bits::{need, room};
use crate::error::{Error, Result};

use super::command::Command;
use super::fields::VcSet;

/// View of an extended flow control packet: frees buffers of virtual channels
/// beyond the three base channels (VCSets).
///
/// | bits | field |
/// |---|---|
/// | dword 0 `[5:0]` | command 110111 |
/// | dword 0 `[6]` | size: 0 for 4 bytes, 1 for 8 bytes |
/// | dword 0 `[10:8]` | VCSet |
/// | dword 0 `[15:12]` | VCSetRsv, left to the two devices |
/// | dword 0 `[23:16]` | VCSetFree0 |
/// | dword 0 `[31:24]` | 4 bytes: RxNextPacketToAck; 8 bytes: VCSetFree1 |
/// | dword 1 `[7:0]` | VCSetFree2 |
/// | dword 1 `[15:8]` | VCSetFree3 |
/// | dword 1 `[31:24]` | RxNextPacketToAck |
#[derive(Clone, Copy, Debug)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

mod field {
    use crate::bits::{Field, tiles_word};

    pub(crate) use crate::ht::command::COMMAND;
    pub const SIZE: Field = Field::new(0, 6, 6);
    pub const VC_SET: Field = Field::new(0, 10, 8);
    pub const VENDOR: Field = Field::new(0, 15, 12);
    pub const FREE_0: Field = Field::new(0, 23, 16);
    pub const FREE_1: Field = Field::new(0, 31, 24);
    pub const FREE_2: Field = Field::new(1, 7, 0);
    pub const FREE_3: Field = Field::new(1, 15, 8);
    pub const SHORT_NEXT_TO_ACK: Field = FREE_1;
    pub const LONG_NEXT_TO_ACK: Field = Field::new(1, 31, 24);

    const DWORD_0: &[Field] = &[COMMAND, SIZE, VC_SET, VENDOR, FREE_0, FREE_1];
    const _: () = assert!(tiles_word(0, DWORD_0, 1 << 7 | 1 << 11));
    const DWORD_1: &[Field] = &[FREE_2, FREE_3, LONG_NEXT_TO_ACK];
    const _: () = assert!(tiles_word(1, DWORD_1, 0x00ff_0000));
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks length and command.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Value`] if this is another packet.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let bytes = need("ht.ext_flow", buffer.as_ref(), 4)?;
        let command = field::COMMAND.get_le(bytes);
        if command != u32::from(Command::ExtendedFlowControl.encode()) {
            return Err(Error::Value {
                field: "ht.ext_flow.command",
                expected: "110111 (extended flow control)",
                got: command.into(),
            });
        }
        let packet = Self { buffer };
        need("ht.ext_flow", packet.buffer.as_ref(), packet.len())?;
        Ok(packet)
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Length in bytes, 4 or 8.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        if self.is_long() { 8 } else { 4 }
    }

    /// Whether this is the 8-byte form.
    pub fn is_long(&self) -> bool {
        field::SIZE.get_le(self.buffer.as_ref()) != 0
    }

    /// VCSet.
    pub fn vc_set(&self) -> VcSet {
        VcSet::from_wire(field::VC_SET.get_le(self.buffer.as_ref()))
    }

    /// VCSetRsv, 4 bits.
    pub fn vendor(&self) -> u8 {
        field::VENDOR.get_le(self.buffer.as_ref()) as u8
    }

    /// VCSetFree0 to 3; the 4-byte form has only the first.
    pub fn free(&self) -> Free {
        let bytes = self.buffer.as_ref();
        let first = field::FREE_0.get_le(bytes) as u8;
        if self.is_long() {
            Free::Four([
                first,
                field::FREE_1.get_le(bytes) as u8,
                field::FREE_2.get_le(bytes) as u8,
                field::FREE_3.get_le(bytes) as u8,
            ])
        } else {
            Free::One(first)
        }
    }

    /// RxNextPacketToAck.
    pub fn next_to_ack(&self) -> u8 {
        let field = if self.is_long() {
            field::LONG_NEXT_TO_ACK
        } else {
            field::SHORT_NEXT_TO_ACK
        };
        field.get_le(self.buffer.as_ref()) as u8
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets VCSet.
    pub fn set_vc_set(&mut self, value: VcSet) {
        field::VC_SET.set_le(self.buffer.as_mut(), value.get().into());
    }

    /// Sets VCSetRsv; the upper 4 bits of `value` are dropped.
    pub fn set_vendor(&mut self, value: u8) {
        field::VENDOR.set_le(self.buffer.as_mut(), value.into());
    }

    /// Sets RxNextPacketToAck.
    pub fn set_next_to_ack(&mut self, value: u8) {
        let field = if self.is_long() {
            field::LONG_NEXT_TO_ACK
        } else {
            field::SHORT_NEXT_TO_ACK
        };
        field.set_le(self.buffer.as_mut(), value.into());
    }
}

/// The VCSetFree fields, whose meaning depends on the VCSet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Free {
    /// 4-byte packet.
    One(u8),
    /// 8-byte packet.
    Four([u8; 4]),
}

/// An extended flow control packet as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// VCSet.
    pub vc_set: VcSet,
    /// VCSetFree fields; they decide the length of the packet.
    pub free: Free,
    /// VCSetRsv, 4 bits, left to the two devices.
    pub vendor: u8,
    /// RxNextPacketToAck.
    pub next_to_ack: u8,
}

impl Repr {
    /// Reads the packet at the start of `bytes`.
    ///
    /// # Errors
    /// As [`Packet::new_checked`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let packet = Packet::new_checked(bytes)?;
        Ok(Self {
            vc_set: packet.vc_set(),
            free: packet.free(),
            vendor: packet.vendor(),
            next_to_ack: packet.next_to_ack(),
        })
    }

    /// Bytes that [`emit`](Self::emit) writes: 4 or 8.
    pub const fn buffer_len(&self) -> usize {
        match self.free {
            Free::One(_) => 4,
            Free::Four(_) => 8,
        }
    }

    /// Writes the packet to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `vendor` needs more than 4 bits,
    /// [`Error::BufferTooSmall`]; with nothing written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        if self.vendor > 15 {
            return Err(Error::OutOfRange {
                field: "ht.ext_flow.vendor",
                min: 0,
                max: 15,
                got: self.vendor.into(),
            });
        }
        let buffer = room("ht.ext_flow", buffer, self.buffer_len())?;
        buffer.fill(0);
        field::COMMAND.set_le(buffer, Command::ExtendedFlowControl.encode().into());
        match self.free {
            Free::One(free) => field::FREE_0.set_le(buffer, free.into()),
            Free::Four(free) => {
                field::SIZE.set_le(buffer, 1);
                let fields = [field::FREE_0, field::FREE_1, field::FREE_2, field::FREE_3];
                for (field, free) in fields.into_iter().zip(free) {
                    field.set_le(buffer, free.into());
                }
            }
        }
        let mut packet = Packet { buffer };
        packet.set_vc_set(self.vc_set);
        packet.set_vendor(self.vendor);
        packet.set_next_to_ack(self.next_to_ack);
        Ok(self.buffer_len())
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExtFC set={} free=", self.vc_set)?;
        match self.free {
            Free::One(free) => write!(f, "{free}")?,
            Free::Four([a, b, c, d]) => write!(f, "{a}/{b}/{c}/{d}")?,
        }
        write!(f, " ack={}", self.next_to_ack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// VCSet 5, VCSetRsv 9, Free0 0x21, ack 0x43.
    const SHORT: [u8; 4] = [0b0011_0111, 0x95, 0x21, 0x43];
    /// The same with four Free fields.
    const LONG: [u8; 8] = [0b0111_0111, 0x95, 0x21, 0x22, 0x23, 0x24, 0x00, 0x43];

    fn repr(free: Free) -> Repr {
        Repr {
            vc_set: VcSet::new(5).unwrap(),
            free,
            vendor: 9,
            next_to_ack: 0x43,
        }
    }

    #[test]
    fn short() {
        let repr = repr(Free::One(0x21));
        assert_eq!(Repr::parse(&SHORT), Ok(repr));
        let mut bytes = [0; 4];
        assert_eq!(repr.emit(&mut bytes), Ok(4));
        assert_eq!(bytes, SHORT);
    }

    #[test]
    fn long() {
        let repr = repr(Free::Four([0x21, 0x22, 0x23, 0x24]));
        assert_eq!(Repr::parse(&LONG), Ok(repr));
        let mut bytes = [0; 8];
        assert_eq!(repr.emit(&mut bytes), Ok(8));
        assert_eq!(bytes, LONG);
    }

    #[test]
    fn errors() {
        assert_eq!(
            Repr::parse(&LONG[..7]),
            Err(Error::Truncated {
                field: "ht.ext_flow",
                expected_bytes: 8,
                got_bytes: 7
            })
        );
        let mut too_wide = repr(Free::One(0));
        too_wide.vendor = 16;
        assert!(matches!(
            too_wide.emit(&mut [0; 8]),
            Err(Error::OutOfRange {
                field: "ht.ext_flow.vendor",
                ..
            })
        ));
    }
}
