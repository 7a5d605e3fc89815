//! Puts of any length as packets, and back.

use hostwire_packet::ht::{
    Address, ControlRepr, DataPhase, Dwords, MASKED_BLOCK, MASKED_LEN_MAX, MaskedDwords,
    PacketRepr, RequestKind, RequestRepr, SeqId, UnitId, Write, WriteMode, WriteSize,
};
use hostwire_packet::{Error, Result};

/// Bytes that one packet can reach: an aligned block.
const BLOCK: u64 = 64;

/// The packet that carries the first bytes of a put, and their number.
///
/// Whole dwords go as dword writes, up to the end of their 64-byte block. A rest shorter
/// than a dword goes as a byte write, and so does a put that fits into one byte write.
/// The data of byte writes is assembled in `scratch`.
///
/// # Shapes and units
/// - `address`: byte address at the target; any alignment.
/// - `data`: not empty.
///
/// # Errors
/// [`Error::OutOfRange`] if the put is empty or ends beyond 2^64; caller's
/// fault.
pub fn first_packet<'a>(
    address: u64,
    data: &'a [u8],
    scratch: &'a mut [u8; MASKED_LEN_MAX],
) -> Result<(PacketRepr<'a>, usize)> {
    let last = u64::try_from(data.len())
        .ok()
        .and_then(|len| address.checked_add(len.checked_sub(1)?));
    let Some(last) = last else {
        return Err(Error::OutOfRange {
            field: "put.len_bytes",
            min: 1,
            max: u64::MAX - address,
            got: data.len() as u64,
        });
    };
    if address.is_multiple_of(4) && data.len() >= 4 {
        let in_block = (BLOCK - address % BLOCK) as usize;
        let len = data.len().min(in_block) & !3;
        let (data, _) = data.split_at(len);
        let write = RequestRepr::posted_write(
            UnitId::MIN,
            Address::new(address)?,
            Dwords::from_len_bytes(len)?,
        );
        return Ok((PacketRepr::new(write, data)?, len));
    }
    let block = MASKED_BLOCK as u64;
    let end = if address / block == last / block {
        last
    } else {
        last.min(address | 3)
    };
    let len = (end - address) as usize + 1;
    let base = address & !3;
    let lead = (address - base) as usize;
    let dwords = (lead + len).div_ceil(4);
    scratch.fill(0);
    let mask = (((1u64 << len) - 1) << (address % block)) as u32;
    let (mask_bytes, bytes) = scratch.split_at_mut(4);
    mask_bytes.copy_from_slice(&mask.to_le_bytes());
    if let (Some(place), Some(data)) = (bytes.get_mut(lead..lead + len), data.get(..len)) {
        place.copy_from_slice(data);
    }
    let write = RequestRepr {
        unit_id: UnitId::MIN,
        seq_id: SeqId::MIN,
        pass_pw: false,
        kind: RequestKind::Write(Write {
            mode: WriteMode::Posted {
                data_error: false,
                chain: false,
            },
            address: Address::new(base)?,
            size: WriteSize::Bytes(MaskedDwords::new(dwords as u8)?),
            isoc: false,
            coherent: false,
            compat: false,
        }),
    };
    let data = scratch.get(..4 + dwords * 4).unwrap_or(&[]);
    Ok((PacketRepr::new(write, data)?, len))
}

/// The runs of bytes that a write stores, and their addresses, lowest first. Empty for
/// packets other than writes.
pub fn runs<'a>(packet: &PacketRepr<'a>) -> Runs<'a> {
    let nothing = Runs {
        address: 0,
        bytes: &[],
        mask: 0,
    };
    let ControlRepr::Request(request) = packet.control() else {
        return nothing;
    };
    let RequestKind::Write(write) = request.kind else {
        return nothing;
    };
    let address = write.address.get();
    match packet.data_phase() {
        DataPhase::None => nothing,
        DataPhase::Dwords(bytes) => Runs {
            address,
            bytes,
            mask: u64::MAX,
        },
        DataPhase::Masked(masked) => Runs {
            address,
            bytes: masked.dwords(),
            mask: u64::from(masked.mask()) >> (address % MASKED_BLOCK as u64),
        },
    }
}

/// Runs of bytes that a write stores; made by [`runs`].
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    address: u64,
    bytes: &'a [u8],
    /// Bit i stands for byte i of `bytes`, of which there are at most 64.
    mask: u64,
}

impl<'a> Iterator for Runs<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let skip = self.mask.trailing_zeros() as usize;
        let bytes = self.bytes.get(skip..).filter(|bytes| !bytes.is_empty())?;
        let mask = self.mask >> skip;
        let len = (mask.trailing_ones() as usize).min(bytes.len());
        let (run, rest) = bytes.split_at_checked(len)?;
        let address = self.address.wrapping_add(skip as u64);
        *self = Self {
            address: address.wrapping_add(len as u64),
            bytes: rest,
            mask: mask.checked_shr(len as u32).unwrap_or(0),
        };
        Some((address, run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of one packet, with their addresses.
    type Stored = Vec<(u64, Vec<u8>)>;

    /// Lengths of the packets of a put, and what they store.
    fn put(address: u64, data: &[u8]) -> Vec<(usize, Stored)> {
        let mut packets = Vec::new();
        let mut done = 0;
        while done < data.len() {
            let mut scratch = [0; MASKED_LEN_MAX];
            let at = address + done as u64;
            let (packet, len) = first_packet(at, &data[done..], &mut scratch).unwrap();
            let runs = runs(&packet).map(|(at, run)| (at, run.to_vec())).collect();
            packets.push((packet.buffer_len(), runs));
            done += len;
        }
        packets
    }

    #[test]
    fn every_alignment_and_length() {
        let data: Vec<u8> = (0..200).collect();
        for offset in 0..130u64 {
            for len in 1..=130 {
                let mut memory = [0xee; 400];
                let mut expected = memory;
                let at = offset as usize;
                expected[at..at + len].copy_from_slice(&data[..len]);
                for (_, runs) in put(offset, &data[..len]) {
                    for (address, run) in runs {
                        let at = address as usize;
                        memory[at..at + run.len()].copy_from_slice(&run);
                    }
                }
                assert_eq!(memory, expected, "{len} bytes to {offset}");
            }
        }
    }

    #[test]
    fn aligned_lines_are_one_packet_each() {
        let lengths = |address, len| {
            put(address, &[7; 256][..len])
                .iter()
                .map(|(len, _)| *len)
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(0, 256), [72, 72, 72, 72]);
        assert_eq!(lengths(1 << 40, 64), [76]);
        assert_eq!(lengths(8, 8), [16]);
        assert_eq!(lengths(3, 1), [16]);
        // One byte write rather than three packets.
        assert_eq!(lengths(3, 14), [8 + 4 + 20]);
        assert_eq!(lengths(60, 8), [12, 12]);
    }

    #[test]
    fn ends_of_the_address_space() {
        let mut scratch = [0; MASKED_LEN_MAX];
        assert!(first_packet(0, &[], &mut scratch).is_err());
        assert!(first_packet(u64::MAX, &[1, 2], &mut scratch).is_err());
        let (packet, len) = first_packet(u64::MAX, &[9], &mut scratch).unwrap();
        assert_eq!(len, 1);
        let stored: Vec<_> = runs(&packet).collect();
        assert_eq!(stored, [(u64::MAX, &[9][..])]);
    }
}
