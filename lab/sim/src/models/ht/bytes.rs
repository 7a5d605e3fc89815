//! From modelled packets to bytes, by `hostwire-packet`.

use hostwire_packet::ht::{
    Address, ControlRepr, Dwords, MaskedDwords, PacketRepr, Read, ReadSize, RequestKind,
    RequestRepr, ResponseKind, ResponseRepr, ResponseStatus, RqUid, SeqId, SrcTag, UnitId, Write,
    WriteMode, WriteSize,
};

use crate::models::ht::{Command, Packet};

/// A modelled packet that no HyperTransport packet can express; the model's
/// fault.
pub type EncodeError = hostwire_packet::Error;

/// The bytes of a packet on the wire, without CRC.
///
/// # Errors
/// [`EncodeError`] for a packet that HyperTransport does not have.
pub fn packet_bytes(packet: &Packet) -> Result<Vec<u8>, EncodeError> {
    let unit_id = UnitId::new(packet.unit_id & 0x1f)?;
    let src_tag = SrcTag::new(packet.tag & 0x1f)?;
    let mut data = packet.data.clone();
    let request = |kind| {
        ControlRepr::Request(RequestRepr {
            unit_id,
            seq_id: SeqId::MIN,
            pass_pw: packet.pass_pw,
            kind,
        })
    };
    let response = |kind, status| {
        ControlRepr::Response(ResponseRepr {
            kind,
            unit_id,
            src_tag,
            rq_uid: RqUid::MIN,
            bridge: unit_id == UnitId::MIN,
            pass_pw: packet.pass_pw,
            isoc: false,
            status,
        })
    };
    let write = |size| -> Result<RequestKind, EncodeError> {
        Ok(RequestKind::Write(Write {
            mode: WriteMode::Posted {
                data_error: false,
                chain: false,
            },
            address: Address::new(packet.address & !3)?,
            size,
            isoc: false,
            coherent: true,
            compat: false,
        }))
    };
    match packet.command {
        Command::WriteDwords => {
            let size = WriteSize::Dwords(Dwords::from_len_bytes(data.len())?);
            emit(PacketRepr::new(request(write(size)?), &data)?)
        }
        Command::WriteMasked { mask } => {
            let size = WriteSize::Bytes(MaskedDwords::new((data.len() / 4) as u8)?);
            data.splice(0..0, mask.to_le_bytes());
            emit(PacketRepr::new(request(write(size)?), &data)?)
        }
        Command::Read { dwords } => {
            let read = Read {
                src_tag,
                address: Address::new(packet.address & !3)?,
                size: ReadSize::Dwords(Dwords::new(dwords)?),
                response_pass_pw: false,
                isoc: false,
                coherent: true,
                compat: false,
            };
            emit(PacketRepr::new(request(RequestKind::Read(read)), &[])?)
        }
        Command::Broadcast { vector } => {
            let address = broadcast(vector)?;
            let kind = RequestKind::Broadcast { address };
            emit(PacketRepr::new(request(kind), &[])?)
        }
        Command::ReadResponse => {
            let kind = ResponseKind::Read {
                dwords: Dwords::from_len_bytes(data.len())?,
            };
            emit(PacketRepr::new(
                response(kind, ResponseStatus::Normal),
                &data,
            )?)
        }
        Command::MasterAbort => {
            let abort = response(ResponseKind::TargetDone, ResponseStatus::MasterAbort);
            emit(PacketRepr::new(abort, &[])?)
        }
    }
}

/// Where a broadcast of this vector goes: system management messages lie here in the
/// HyperTransport address map, and the vector stands in bits 15:8.
fn broadcast(vector: u8) -> Result<Address, EncodeError> {
    Address::new(0xfd_f910_0000 | u64::from(vector) << 8)
}

fn emit(packet: PacketRepr<'_>) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = vec![0; packet.buffer_len()];
    packet.emit(&mut bytes)?;
    Ok(bytes)
}
