//! Requests of a host, and whether an answer is one.

use hostwire_packet::Error;
use hostwire_packet::ht::{
    Address, Dwords, MaskedDwords, PacketRepr, Read, ReadSize, RequestKind, RequestRepr,
    ResponseRepr, ResponseStatus, SeqId, SrcTag, UnitId, Write, WriteMode, WriteSize,
};

use super::packets::Packet;
use crate::random::Random;

/// The data of a write.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// Whole dwords.
    Dwords(&'a [u8]),
    /// Dwords, with a mask of the bytes of their block of 32 bytes.
    Masked(u32, &'a [u8]),
}

/// A write; non-posted ones have a tag.
///
/// # Errors
/// If there is no such packet.
pub fn write(address: u64, data: Data<'_>, tag: Option<u8>) -> Result<Packet, Error> {
    let (size, bytes) = match data {
        Data::Dwords(data) => (
            WriteSize::Dwords(Dwords::new((data.len() / 4) as u8)?),
            data.to_vec(),
        ),
        Data::Masked(mask, data) => {
            let size = WriteSize::Bytes(MaskedDwords::new((data.len() / 4) as u8)?);
            (size, [&mask.to_le_bytes()[..], data].concat())
        }
    };
    let mode = match tag {
        Some(tag) => WriteMode::NonPosted {
            src_tag: SrcTag::new(tag)?,
        },
        None => WriteMode::Posted {
            data_error: false,
            chain: false,
        },
    };
    let write = Write {
        mode,
        address: Address::new(address)?,
        size,
        isoc: false,
        coherent: false,
        compat: false,
    };
    request(RequestKind::Write(write), &bytes)
}

/// A read.
///
/// # Errors
/// If there is no such packet.
pub fn read(address: u64, size: ReadSize, tag: u8) -> Result<Packet, Error> {
    let read = Read {
        src_tag: SrcTag::new(tag)?,
        address: Address::new(address)?,
        size,
        response_pass_pw: false,
        isoc: false,
        coherent: false,
        compat: false,
    };
    request(RequestKind::Read(read), &[])
}

/// A request of the host.
///
/// # Errors
/// If there is no such packet.
pub fn request(kind: RequestKind, data: &[u8]) -> Result<Packet, Error> {
    let request = RequestRepr {
        unit_id: UnitId::new(0)?,
        seq_id: SeqId::MIN,
        pass_pw: false,
        kind,
    };
    let packet = PacketRepr::new(request, data)?;
    let mut bytes = vec![0; packet.buffer_len()];
    let len = packet.emit(&mut bytes)?;
    Packet::parse(bytes.get(..len).unwrap_or(&[]))
}

/// The same read or write with other flags: coherent, isochronous, SeqID, PassPW, and for a read PassPW of its answer.
#[must_use]
pub fn vary(mut packet: Packet, random: &mut Random) -> Packet {
    let first = packet.control.saturating_sub(8);
    let Some([low, high]) = packet.bytes.get_mut(first..first + 2) else {
        return packet;
    };
    let flags = if *low >> 4 & 3 == 1 { 0xcb } else { 0xc3 };
    *low ^= random.next() as u8 & flags;
    *high ^= random.next() as u8 & 0xe0;
    packet
}

/// Whether the answer to a read or a non-posted write may pass posted packets.
pub fn answer_passes(packet: &Packet) -> bool {
    let first = packet.control.saturating_sub(8);
    let byte = |at| packet.bytes.get(first + at).copied().unwrap_or(0);
    if byte(0) >> 4 & 3 == 1 {
        byte(0) >> 3 & 1 == 1
    } else {
        byte(1) >> 7 == 1
    }
}

/// A posted write of one dword.
///
/// # Errors
/// If there is no such packet.
pub fn dword(address: u64, value: u32) -> Result<Packet, Error> {
    write(address, Data::Dwords(&value.to_le_bytes()), None)
}

/// Whether a packet is a response without error.
pub fn is_normal(packet: &Packet) -> bool {
    ResponseRepr::parse(&packet.bytes)
        .is_ok_and(|response| response.status == ResponseStatus::Normal)
}
