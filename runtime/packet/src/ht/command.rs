use core::fmt;

use crate::bits::Field;
use crate::error::{Error, Result};

/// Where every packet has its command: bits `[5:0]` of its first dword.
pub(crate) const COMMAND: Field = Field::new(0, 5, 0);

/// Command of a control packet (`Cmd[5:0]`).
///
/// | bits | packet | bytes | channel | data |
/// |---|---|---|---|---|
/// | 000000 | NOP | 4 | none | no |
/// | 000010 | Flush | 4 | non-posted | no |
/// | 001xxx | sized write, non-posted | 8 | non-posted | yes |
/// | 01xxxx | sized read | 8 | non-posted | no |
/// | 101xxx | sized write, posted | 8 | posted | yes |
/// | 110000 | RdResponse | 4 | response | yes |
/// | 110011 | TgtDone | 4 | response | no |
/// | 110111 | extended flow control | 4 or 8 | none | no |
/// | 111010 | Broadcast | 8 | posted | no |
/// | 111100 | Fence | 4 | posted | no |
/// | 111101 | atomic read-modify-write | 8 | non-posted | yes |
/// | 111110 | address extension | 4, before an 8-byte request | | |
/// | 111111 | Sync | 4 | none | no |
///
/// Low bits of writes: 2 dword (1) or byte (0), 1 isochronous, 0 coherent.
/// Reads have the same and 3 for "the response may pass posted writes".
///
/// Source: HyperTransport I/O link specification as implemented by the
/// ht_tunnel core (freecores) and the HT-Core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// 000000
    Nop,
    /// 000010
    Flush,
    /// 001xxx
    WriteNonPosted {
        /// Bit 2: data is whole dwords, not bytes under a mask.
        dwords: bool,
        /// Bit 1.
        isoc: bool,
        /// Bit 0.
        coherent: bool,
    },
    /// 01xxxx
    Read {
        /// Bit 3: PassPW of the response.
        response_pass_pw: bool,
        /// Bit 2: whole dwords, not bytes of one dword.
        dwords: bool,
        /// Bit 1.
        isoc: bool,
        /// Bit 0.
        coherent: bool,
    },
    /// 101xxx
    WritePosted {
        /// Bit 2: data is whole dwords, not bytes under a mask.
        dwords: bool,
        /// Bit 1.
        isoc: bool,
        /// Bit 0.
        coherent: bool,
    },
    /// 110000
    ReadResponse,
    /// 110011
    TargetDone,
    /// 110111
    ExtendedFlowControl,
    /// 111010
    Broadcast,
    /// 111100
    Fence,
    /// 111101
    Atomic,
    /// 111110
    AddressExtension,
    /// 111111
    Sync,
}

impl Command {
    /// Decodes `Cmd[5:0]`; higher bits are ignored.
    ///
    /// # Errors
    /// [`Error::Value`] for the reserved codes.
    pub const fn decode(bits: u8) -> Result<Self> {
        let (dwords, isoc, coherent) = (bits & 4 != 0, bits & 2 != 0, bits & 1 != 0);
        Ok(match bits & 0x3f {
            0b00_0000 => Command::Nop,
            0b00_0010 => Command::Flush,
            0b00_1000..=0b00_1111 => Command::WriteNonPosted {
                dwords,
                isoc,
                coherent,
            },
            0b01_0000..=0b01_1111 => Command::Read {
                response_pass_pw: bits & 8 != 0,
                dwords,
                isoc,
                coherent,
            },
            0b10_1000..=0b10_1111 => Command::WritePosted {
                dwords,
                isoc,
                coherent,
            },
            0b11_0000 => Command::ReadResponse,
            0b11_0011 => Command::TargetDone,
            0b11_0111 => Command::ExtendedFlowControl,
            0b11_1010 => Command::Broadcast,
            0b11_1100 => Command::Fence,
            0b11_1101 => Command::Atomic,
            0b11_1110 => Command::AddressExtension,
            0b11_1111 => Command::Sync,
            reserved => {
                return Err(Error::Value {
                    field: "ht.command",
                    expected: "a defined command",
                    got: reserved as u64,
                });
            }
        })
    }

    /// Reads the command of the control packet at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] without a whole dword, [`Error::Value`] for a
    /// reserved code.
    pub fn of(bytes: &[u8]) -> Result<Self> {
        let dword = crate::bits::need("ht.command", bytes, 4)?;
        Self::decode((COMMAND.get_le(dword) & 0x3f) as u8)
    }

    /// `Cmd[5:0]`.
    pub const fn encode(self) -> u8 {
        const fn low(dwords: bool, isoc: bool, coherent: bool) -> u8 {
            (dwords as u8) << 2 | (isoc as u8) << 1 | coherent as u8
        }
        match self {
            Command::Nop => 0b00_0000,
            Command::Flush => 0b00_0010,
            Command::WriteNonPosted {
                dwords,
                isoc,
                coherent,
            } => 0b00_1000 | low(dwords, isoc, coherent),
            Command::Read {
                response_pass_pw,
                dwords,
                isoc,
                coherent,
            } => 0b01_0000 | (response_pass_pw as u8) << 3 | low(dwords, isoc, coherent),
            Command::WritePosted {
                dwords,
                isoc,
                coherent,
            } => 0b10_1000 | low(dwords, isoc, coherent),
            Command::ReadResponse => 0b11_0000,
            Command::TargetDone => 0b11_0011,
            Command::ExtendedFlowControl => 0b11_0111,
            Command::Broadcast => 0b11_1010,
            Command::Fence => 0b11_1100,
            Command::Atomic => 0b11_1101,
            Command::AddressExtension => 0b11_1110,
            Command::Sync => 0b11_1111,
        }
    }

    /// Whether this is a request that carries an address. Only such a request may
    /// follow an address extension.
    pub const fn has_address(self) -> bool {
        matches!(
            self,
            Command::WriteNonPosted { .. }
                | Command::Read { .. }
                | Command::WritePosted { .. }
                | Command::Broadcast
                | Command::Atomic
        )
    }

    /// Whether this is a request of any kind.
    pub const fn is_request(self) -> bool {
        self.has_address() || matches!(self, Command::Flush | Command::Fence)
    }

    /// Whether this is a response.
    pub const fn is_response(self) -> bool {
        matches!(self, Command::ReadResponse | Command::TargetDone)
    }

    /// Whether a data phase follows the control packet.
    pub const fn has_data(self) -> bool {
        matches!(
            self,
            Command::WriteNonPosted { .. }
                | Command::WritePosted { .. }
                | Command::Atomic
                | Command::ReadResponse
        )
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Nop => "NOP",
            Command::Flush => "Flush",
            Command::WriteNonPosted { .. } => "NpWr",
            Command::Read { .. } => "Rd",
            Command::WritePosted { .. } => "PWr",
            Command::ReadResponse => "RdResponse",
            Command::TargetDone => "TgtDone",
            Command::ExtendedFlowControl => "ExtFC",
            Command::Broadcast => "Broadcast",
            Command::Fence => "Fence",
            Command::Atomic => "AtomicRMW",
            Command::AddressExtension => "AddrExt",
            Command::Sync => "Sync",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_and_encode_are_inverse() {
        for bits in 0..64 {
            if let Ok(command) = Command::decode(bits) {
                assert_eq!(command.encode(), bits);
            }
        }
    }

    #[test]
    fn exactly_the_codes_of_the_table_are_defined() {
        let defined: u32 = (0..64).map(|b| u32::from(Command::decode(b).is_ok())).sum();
        // 8 non-posted writes, 16 reads, 8 posted writes, 10 single codes.
        assert_eq!(defined, 8 + 16 + 8 + 10);
        assert_eq!(
            Command::decode(0b00_0001),
            Err(Error::Value {
                field: "ht.command",
                expected: "a defined command",
                got: 1
            })
        );
    }

    #[test]
    fn posted_dword_write() {
        // A full cache line as an Opteron sends it: 101 1 0 0.
        assert_eq!(
            Command::decode(0b10_1100),
            Ok(Command::WritePosted {
                dwords: true,
                isoc: false,
                coherent: false
            })
        );
    }
}
