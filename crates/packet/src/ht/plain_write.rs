//! The short way for the packet that nearly all are: a posted write of whole
//! dwords to a 40-bit address, with no bit set that need not be. What is not
//! one goes the long way, through [`ControlRepr`], which gives the same.

use super::fields::{Address, Dwords, SeqId, UnitId};
use super::packet::{ControlRepr, Repr};
use super::request::{self, Kind, Write, WriteMode, WriteSize, field};

/// Command of a posted write of dwords, neither isochronous nor coherent.
const COMMAND: u32 = 0b10_1100;

/// Bits of the first dword that may be anything.
const FREE: u32 = field::UNIT_ID.mask() | field::MASK_COUNT.mask() | field::ADDRESS_7_2.mask();

const CONTROL_LEN: usize = 8;

/// Reads a plain write with its data; `None` for anything else, broken or not.
#[inline]
pub(super) fn parse(bytes: &[u8]) -> Option<Repr<'_>> {
    let (dwords, rest) = bytes.as_chunks::<4>().0.split_first_chunk::<2>()?;
    let [first, second] = dwords.map(u32::from_le_bytes);
    if first & !FREE != COMMAND {
        return None;
    }
    let bits = u64::from(second) << 6 | u64::from(field::ADDRESS_7_2.extract(first));
    let address = Address::from_wire(bits, None);
    let dwords = Dwords::from_count(field::MASK_COUNT.extract(first));
    let len = dwords.len_bytes();
    if (address.get() & 63) as usize + len > 64 {
        return None;
    }
    let data = rest.as_flattened().get(..len)?;
    let unit_id = UnitId::from_wire(field::UNIT_ID.extract(first));
    let write = request::Repr::posted_write(unit_id, address, dwords);
    Some(Repr::from_valid(ControlRepr::Request(write), data))
}

/// Writes a packet if it is a plain write and has room; `None` for all else,
/// with nothing written.
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

    /// Every first dword with at most three bits away from a plain write, and
    /// every count and low address: the short way gives what the long way does
    /// or nothing.
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
