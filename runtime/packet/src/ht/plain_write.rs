//! The fast path for the most frequent packet: a posted write of whole dwords to a 40-bit
//! address, with no optional bit set. All other packets go through [`ControlRepr`], which
//! gives the same result.

use super::fields::{Address, Dwords, SeqId, UnitId};
use super::packet::{ControlRepr, Repr};
use super::request::{self, Kind, Write, WriteMode, WriteSize, field};

/// Command of a posted write of dwords, neither isochronous nor coherent.
const COMMAND: u32 = 0b10_1100;

/// Bits of the first dword that may be anything.
const FREE: u32 = field::UNIT_ID.mask() | field::MASK_COUNT.mask() | field::ADDRESS_7_2.mask();

const CONTROL_LEN: usize = 8;

/// Bytes that one packet writes at most: a line.
pub const LINE_LEN: usize = 64;

/// Bytes of a plain write of a whole line.
pub const LINE_PACKET_LEN: usize = CONTROL_LEN + LINE_LEN;

/// First dword of a write of a whole line to address 0 by unit 0.
pub(crate) const WHOLE_LINE: u32 = COMMAND | field::MASK_COUNT.insert(0, LINE_LEN as u32 / 4 - 1);

/// A plain write as it lies in a frame.
#[derive(Clone, Copy, Debug)]
struct Plain<'a> {
    first: u32,
    address: u64,
    data: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Plain<'a> {
    #[inline(always)]
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (control, behind) = bytes.split_first_chunk::<CONTROL_LEN>()?;
        let both = u64::from_le_bytes(*control);
        let first = both as u32;
        if first & !FREE != COMMAND {
            return None;
        }
        let low = u64::from(field::ADDRESS_7_2.extract(first)) << 2;
        let address = both >> 32 << 8 | low;
        let len = (field::MASK_COUNT.extract(first) as usize + 1) * 4;
        if (address % LINE_LEN as u64) as usize + len > LINE_LEN {
            return None;
        }
        let (data, rest) = behind.split_at_checked(len)?;
        Some(Self {
            first,
            address,
            data,
            rest,
        })
    }
}

/// A posted write of whole dwords without any optional field: nearly all packets are such
/// writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainWrite<'a> {
    /// Byte address, below 2^40.
    pub address: u64,
    /// 4 to 64 bytes, all of one line.
    pub data: &'a [u8],
}

impl<'a> PlainWrite<'a> {
    /// Reads a plain write at the start of `bytes`, and also returns the bytes after it;
    /// `None` for any other packet, valid or not.
    #[inline]
    pub fn split_first(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let Plain {
            address,
            data,
            rest,
            ..
        } = Plain::read(bytes)?;
        Some((Self { address, data }, rest))
    }

    /// The packet as a plain write by unit 0; `None` if it is not one.
    pub(crate) fn packet(&self) -> Option<Repr<'a>> {
        let address = Address::new(self.address).ok()?;
        let dwords = Dwords::from_len_bytes(self.data.len()).ok()?;
        let write = request::Repr::posted_write(UnitId::MIN, address, dwords);
        Repr::new(write, self.data).ok()
    }
}

/// Reads a plain write with its data; `None` for any other packet, valid or not.
#[inline]
pub(super) fn parse(bytes: &[u8]) -> Option<Repr<'_>> {
    let Plain {
        first,
        address,
        data,
        ..
    } = Plain::read(bytes)?;
    let address = Address::from_wire(address >> 2, None);
    let dwords = Dwords::from_count(field::MASK_COUNT.extract(first));
    let unit_id = UnitId::from_wire(field::UNIT_ID.extract(first));
    let write = request::Repr::posted_write(unit_id, address, dwords);
    Some(Repr::from_valid(ControlRepr::Request(write), data))
}

/// Writes a packet if it is a plain write and has room; otherwise writes nothing and
/// returns `None`.
#[inline]
pub(super) fn emit(packet: &Repr<'_>, buffer: &mut [u8]) -> Option<usize> {
    let ControlRepr::Request(request::Repr {
        unit_id,
        seq_id: SeqId::MIN,
        pass_pw: false,
        kind:
            Kind::Write(Write {
                mode:
                    WriteMode::Posted {
                        data_error: false,
                        chain: false,
                    },
                address,
                size: WriteSize::Dwords(dwords),
                isoc: false,
                coherent: false,
                compat: false,
            }),
    }) = *packet.control()
    else {
        return None;
    };
    if address.is_extended() {
        return None;
    }
    let len = CONTROL_LEN + packet.data().len();
    let (control, data) = buffer
        .get_mut(..len)?
        .split_first_chunk_mut::<CONTROL_LEN>()?;
    let bits = address.get() >> 2;
    let first = COMMAND
        | field::UNIT_ID.insert(0, unit_id.get().into())
        | field::MASK_COUNT.insert(0, dwords.count())
        | field::ADDRESS_7_2.insert(0, bits as u32);
    let both = u64::from(first) | (bits >> 6) << 32;
    *control = both.to_le_bytes();
    data.copy_from_slice(packet.data());
    Some(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ht::PACKET_LEN_MAX;

    /// Every first dword that differs from a plain write in at most three bits, and every
    /// count and low address: the fast path gives the result of the slow path, or none.
    #[test]
    fn both_ways_agree() {
        let mut bytes = [0x5a; PACKET_LEN_MAX];
        let mut plain = 0;
        let mut check = |first: u32| {
            bytes[..4].copy_from_slice(&first.to_le_bytes());
            let Some(short) = parse(&bytes) else { return };
            plain += 1;
            let control = ControlRepr::parse(&bytes).unwrap();
            let data = &bytes[8..8 + control.data_len()];
            assert_eq!(short, Repr::new(control, data).unwrap());
            let mut out = [0xee; PACKET_LEN_MAX];
            assert_eq!(emit(&short, &mut out), Some(short.buffer_len()));
            assert_eq!(out[..short.buffer_len()], bytes[..short.buffer_len()]);
            let mut long = [0; 8];
            control.emit(&mut long).unwrap();
            assert_eq!(long, bytes[..8]);
            assert_eq!(emit(&short, &mut out[..short.buffer_len() - 1]), None);
        };
        for a in 0..32 {
            for b in 0..32 {
                for c in 0..32 {
                    check(COMMAND ^ 1 << a ^ 1 << b ^ 1 << c);
                }
            }
        }
        for high in 0..1024 {
            check(COMMAND | high << 22);
        }
        assert!(plain > 500);
    }

    #[test]
    fn cut_data_is_left_to_the_long_way() {
        let mut bytes = [0; 72];
        bytes[..4].copy_from_slice(&(COMMAND | 15 << 22).to_le_bytes());
        assert!(parse(&bytes).is_some());
        assert!(parse(&bytes[..71]).is_none());
        assert!(parse(&bytes[..7]).is_none());
    }
}
