use core::fmt;

use crate::bits::{need, room};
use crate::error::{Error, Result};

use super::fields::{CreditClass, DataCredits, SequenceNumber, VcId};

/// Length in bytes, with CRC and without framing symbols.
pub const LEN: usize = 6;

/// Symbols on a Gen1 or Gen2 link: SDP, the DLLP, END.
pub const WIRE_LEN: usize = LEN + 2;

/// View of a data link layer packet.
///
/// | bits | field |
/// |---|---|
/// | `[31:24]` | type: Ack 0x00, Nak 0x10, InitFC1 0x40, InitFC2 0xC0, UpdateFC 0x80 (+ 0x00 P, 0x10 NP, 0x20 Cpl; VC in `[26:24]`) |
/// | `[11:0]` | Ack, Nak: sequence number |
/// | `[21:14]` | flow control: header credits |
/// | `[11:0]` | flow control: data credits |
/// | bytes 4 and 5 | CRC-16, see [`crc16`] |
#[derive(Clone, Copy, Debug)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

mod field {
    use crate::bits::{Field, tiles_word};

    pub const TYPE: Field = Field::new(0, 31, 24);
    pub const SEQUENCE: Field = Field::new(0, 11, 0);
    pub const HEADER_CREDITS: Field = Field::new(0, 21, 14);
    pub const DATA_CREDITS: Field = Field::new(0, 11, 0);
    pub const CRC: core::ops::Range<usize> = 4..6;

    const _: () = assert!(tiles_word(0, &[TYPE, SEQUENCE], 0x00ff_f000));
    const FLOW_CONTROL: &[Field] = &[TYPE, HEADER_CREDITS, DATA_CREDITS];
    const _: () = assert!(tiles_word(0, FLOW_CONTROL, 0b11 << 22 | 0b11 << 12));
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks the length only; see [`check_crc`](Self::check_crc).
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn new_checked(buffer: T) -> Result<Self> {
        need("pcie.dllp", buffer.as_ref(), LEN)?;
        Ok(Self { buffer })
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Type as it stands.
    pub fn dllp_type(&self) -> u8 {
        field::TYPE.get_be(self.buffer.as_ref()) as u8
    }

    /// Sequence number of Ack and Nak.
    pub fn sequence(&self) -> SequenceNumber {
        SequenceNumber::from_wire(field::SEQUENCE.get_be(self.buffer.as_ref()))
    }

    /// Header credits of flow control DLLPs.
    pub fn header_credits(&self) -> u8 {
        field::HEADER_CREDITS.get_be(self.buffer.as_ref()) as u8
    }

    /// Data credits of flow control DLLPs.
    pub fn data_credits(&self) -> DataCredits {
        DataCredits::from_wire(field::DATA_CREDITS.get_be(self.buffer.as_ref()))
    }

    /// CRC as it stands.
    pub fn crc(&self) -> u16 {
        let bytes = self.buffer.as_ref().get(field::CRC);
        u16::from_le_bytes(
            bytes
                .and_then(|b| b.first_chunk().copied())
                .unwrap_or([0; 2]),
        )
    }

    /// Compares the CRC with the bytes it covers.
    ///
    /// # Errors
    /// [`Error::Checksum`].
    pub fn check_crc(&self) -> Result<()> {
        let expected = self.computed_crc();
        if self.crc() != expected {
            return Err(Error::Checksum {
                field: "pcie.dllp.crc",
                expected: expected.into(),
                got: self.crc().into(),
            });
        }
        Ok(())
    }

    fn computed_crc(&self) -> u16 {
        crc16(self.buffer.as_ref().get(..field::CRC.start).unwrap_or(&[]))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    fn set_type(&mut self, value: u8) {
        field::TYPE.set_be(self.buffer.as_mut(), value.into());
    }

    /// Sets the sequence number of Ack and Nak.
    pub fn set_sequence(&mut self, value: SequenceNumber) {
        field::SEQUENCE.set_be(self.buffer.as_mut(), value.get().into());
    }

    /// Sets the header credits of flow control DLLPs.
    pub fn set_header_credits(&mut self, value: u8) {
        field::HEADER_CREDITS.set_be(self.buffer.as_mut(), value.into());
    }

    /// Sets the data credits of flow control DLLPs.
    pub fn set_data_credits(&mut self, value: DataCredits) {
        field::DATA_CREDITS.set_be(self.buffer.as_mut(), value.get().into());
    }

    /// Computes the CRC and puts it in.
    pub fn fill_crc(&mut self) {
        let crc = self.computed_crc().to_le_bytes();
        if let Some(slot) = self.buffer.as_mut().get_mut(field::CRC) {
            slot.copy_from_slice(&crc);
        }
    }
}

/// Phase of flow control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowControlPhase {
    /// InitFC1.
    Init1,
    /// InitFC2.
    Init2,
    /// UpdateFC.
    Update,
}

/// A data link layer packet as a value. Power management and vendor DLLPs are
/// not covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repr {
    /// Everything up to `sequence` has arrived.
    Ack {
        /// Last good TLP.
        sequence: SequenceNumber,
    },
    /// Everything up to `sequence` has arrived; send again what follows.
    Nak {
        /// Last good TLP.
        sequence: SequenceNumber,
    },
    /// Credits: in the init phases all there are, later the running total.
    FlowControl {
        /// Which phase.
        phase: FlowControlPhase,
        /// Which credits.
        class: CreditClass,
        /// Virtual channel.
        vc: VcId,
        /// Header credits, modulo 256.
        header: u8,
        /// Data credits in units of 16 bytes, modulo 4096.
        data: DataCredits,
    },
}

impl Repr {
    /// Reads the DLLP at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::Checksum`], or [`Error::Value`] for a
    /// type that is not covered.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let packet = Packet::new_checked(bytes)?;
        packet.check_crc()?;
        let sequence = packet.sequence();
        let dllp_type = packet.dllp_type();
        let unknown = Error::Value {
            field: "pcie.dllp.type",
            expected: "Ack, Nak, InitFC1, InitFC2 or UpdateFC",
            got: dllp_type.into(),
        };
        Ok(match dllp_type {
            0x00 => Self::Ack { sequence },
            0x10 => Self::Nak { sequence },
            _ => Self::FlowControl {
                phase: match dllp_type & 0xc0 {
                    0x40 => FlowControlPhase::Init1,
                    0xc0 => FlowControlPhase::Init2,
                    0x80 => FlowControlPhase::Update,
                    _ => return Err(unknown),
                },
                class: match dllp_type & 0x38 {
                    0x00 => CreditClass::Posted,
                    0x10 => CreditClass::NonPosted,
                    0x20 => CreditClass::Completion,
                    _ => return Err(unknown),
                },
                vc: VcId::from_wire((dllp_type & 7).into()),
                header: packet.header_credits(),
                data: packet.data_credits(),
            },
        })
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn buffer_len(&self) -> usize {
        LEN
    }

    /// Writes the DLLP with its CRC to the start of `buffer`; returns its
    /// length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], with nothing written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let buffer = room("pcie.dllp", buffer, LEN)?;
        buffer.fill(0);
        let mut packet = Packet { buffer };
        packet.set_type(self.dllp_type());
        match *self {
            Self::Ack { sequence } | Self::Nak { sequence } => packet.set_sequence(sequence),
            Self::FlowControl { header, data, .. } => {
                packet.set_header_credits(header);
                packet.set_data_credits(data);
            }
        }
        packet.fill_crc();
        Ok(LEN)
    }

    const fn dllp_type(&self) -> u8 {
        match *self {
            Self::Ack { .. } => 0x00,
            Self::Nak { .. } => 0x10,
            Self::FlowControl {
                phase, class, vc, ..
            } => {
                let phase = match phase {
                    FlowControlPhase::Init1 => 0x40,
                    FlowControlPhase::Init2 => 0xc0,
                    FlowControlPhase::Update => 0x80,
                };
                let class = match class {
                    CreditClass::Posted => 0x00,
                    CreditClass::NonPosted => 0x10,
                    CreditClass::Completion => 0x20,
                };
                phase | class | vc.get()
            }
        }
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ack { sequence } => write!(f, "Ack {sequence}"),
            Self::Nak { sequence } => write!(f, "Nak {sequence}"),
            Self::FlowControl {
                phase,
                class,
                vc,
                header,
                data,
            } => {
                let phase = match phase {
                    FlowControlPhase::Init1 => "InitFC1",
                    FlowControlPhase::Init2 => "InitFC2",
                    FlowControlPhase::Update => "UpdateFC",
                };
                write!(
                    f,
                    "{phase}-{} vc={vc} hdr={header} data={data}",
                    class.name()
                )
            }
        }
    }
}

/// CRC-16 of DLLPs: polynomial 0x100B, init all ones, bits least significant
/// first, complemented. Stored least significant byte first.
pub fn crc16(bytes: &[u8]) -> u16 {
    const REFLECTED: u16 = 0x100bu16.reverse_bits();
    let mut crc = u16::MAX;
    for &byte in bytes {
        crc ^= u16::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { REFLECTED } else { 0 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    /// An InitFC1-Cpl with infinite credits as a RockPro64 sends it. Its CRC,
    /// 0x92d8 as a number, is published with the tests of ecp5_pcie; the order
    /// of the two bytes is that of cocotbext-pcie.
    const INIT: [u8; 6] = [0x60, 0x00, 0x00, 0x00, 0xd8, 0x92];

    #[test]
    fn captured_init() {
        let repr = Repr::FlowControl {
            phase: FlowControlPhase::Init1,
            class: CreditClass::Completion,
            vc: VcId::MIN,
            header: 0,
            data: DataCredits::MIN,
        };
        assert_eq!(Repr::parse(&INIT), Ok(repr));
        let mut bytes = [0xee; 6];
        assert_eq!(repr.emit(&mut bytes), Ok(6));
        assert_eq!(bytes, INIT);
        assert_eq!(repr.to_string(), "InitFC1-Cpl vc=0 hdr=0 data=0");
    }

    /// The dword of a DLLP with its CRC computed.
    fn with_crc(dword: [u8; 4]) -> [u8; 6] {
        let [a, b, c, d] = dword;
        let [low, high] = crc16(&dword).to_le_bytes();
        [a, b, c, d, low, high]
    }

    fn assert_both_ways(dword: [u8; 4], repr: Repr) {
        let bytes = with_crc(dword);
        assert_eq!(Repr::parse(&bytes), Ok(repr));
        let mut out = [0xee; 6];
        repr.emit(&mut out).unwrap();
        assert_eq!(out, bytes);
    }

    #[test]
    fn ack_and_nak() {
        let sequence = SequenceNumber::new(0xabc).unwrap();
        assert_both_ways([0x00, 0, 0x0a, 0xbc], Repr::Ack { sequence });
        assert_both_ways([0x10, 0, 0x0a, 0xbc], Repr::Nak { sequence });
    }

    #[test]
    fn flow_control() {
        // UpdateFC-NP, VC 3, 0xa5 headers, 0xbcd data credits.
        assert_both_ways(
            [0x93, 0b0010_1001, 0b0100_1011, 0xcd],
            Repr::FlowControl {
                phase: FlowControlPhase::Update,
                class: CreditClass::NonPosted,
                vc: VcId::new(3).unwrap(),
                header: 0xa5,
                data: DataCredits::new(0xbcd).unwrap(),
            },
        );
        // InitFC2-P.
        assert_both_ways(
            [0xc0, 0, 0x40, 1],
            Repr::FlowControl {
                phase: FlowControlPhase::Init2,
                class: CreditClass::Posted,
                vc: VcId::MIN,
                header: 1,
                data: DataCredits::new(1).unwrap(),
            },
        );
    }

    #[test]
    fn errors() {
        let mut bytes = INIT;
        bytes[5] ^= 1;
        assert_eq!(
            Repr::parse(&bytes),
            Err(Error::Checksum {
                field: "pcie.dllp.crc",
                expected: 0x92d8,
                got: 0x93d8
            })
        );
        // PM_Enter_L1 and a flow control type with a reserved bit.
        for dllp_type in [0x20, 0x70, 0x48] {
            assert_eq!(
                Repr::parse(&with_crc([dllp_type, 0, 0, 0])),
                Err(Error::Value {
                    field: "pcie.dllp.type",
                    expected: "Ack, Nak, InitFC1, InitFC2 or UpdateFC",
                    got: dllp_type.into()
                })
            );
        }
        assert_eq!(
            Repr::parse(&INIT[..5]),
            Err(Error::Truncated {
                field: "pcie.dllp",
                expected_bytes: 6,
                got_bytes: 5
            })
        );
    }
}
