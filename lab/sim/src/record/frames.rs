//! The bytes of frames, as recordings have them.

use hostwire_packet::ht::PacketRepr;
use hostwire_packet::htoe::ethernet::{ETHER_TYPE_HTOE, FCS_LEN, FRAME_LEN_MIN};
use hostwire_packet::htoe::{FrameType, HeaderRepr};

use crate::models::ethernet::EtherFrame;
use crate::models::ht::carry::write_of;
use crate::models::ht::{EncodeError, Frame, packet_bytes};

use super::encode;

/// Forms of frames between HTX boards.
const ACKNOWLEDGEMENT: u8 = 0;
const MESSAGE: u8 = 1;
const PACKET: u8 = 2;
/// Flags of frames between HTX boards.
const REJECTS: u8 = 1;
const DAMAGED: u8 = 2;

/// An Ethernet frame without its check sequence: hosts have the addresses `02:00` and their number
/// in four bytes, as in recordings of jobs.
pub(super) fn ethernet(frame: &EtherFrame) -> Vec<u8> {
    let mut bytes = Vec::new();
    for host in [frame.to, frame.from] {
        bytes.extend([2, 0]);
        bytes.extend(u32::from(host).to_be_bytes());
    }
    bytes.extend(ETHER_TYPE_HTOE.to_be_bytes());
    bytes.extend(&frame.bytes);
    bytes.resize(bytes.len().max(FRAME_LEN_MIN - FCS_LEN), 0);
    bytes
}

/// What an Ethernet frame is, in traces.
pub(super) fn ethernet_name(frame: &EtherFrame) -> String {
    let Ok((header, contents)) = HeaderRepr::parse(&frame.bytes) else {
        return format!("frame {} B", frame.bytes.len());
    };
    match header.frame_type {
        FrameType::Data => {
            let (packets, nops) = (contents.packets, contents.nops);
            format!("data: {packets} packets, {nops} NOPs")
        }
        FrameType::Ack => "ack".to_owned(),
        FrameType::Reset => "reset".to_owned(),
        FrameType::Close => "close".to_owned(),
    }
}

/// A frame between HTX boards, and what it is in traces. The layout is one for recordings, as the
/// paper gives none: see `docs/sim/recordings.md`. `windows`: boards send each other packets as they
/// are on a link.
///
/// # Errors
/// [`EncodeError`] for a packet that HyperTransport does not have.
pub(super) fn board(frame: &Frame, windows: bool) -> Result<(String, Vec<u8>), EncodeError> {
    let (form, name, contents) = contents(frame, windows)?;
    let flags = [(frame.reject, REJECTS), (frame.damaged, DAMAGED)];
    let flags = flags.into_iter().filter(|(is, _)| *is);
    let mut bytes = vec![form, flags.map(|(_, flag)| flag).sum()];
    for field in [
        frame.destination,
        frame.source,
        frame.sequence.unwrap_or(0),
        frame.acknowledge,
    ] {
        bytes.extend(field.to_be_bytes());
    }
    bytes.extend(contents);
    Ok((name, bytes))
}

fn contents(frame: &Frame, windows: bool) -> Result<(u8, String, Vec<u8>), EncodeError> {
    if frame.sequence.is_none() {
        let name = match frame.reject {
            true => "rejection",
            false => "acknowledgement",
        };
        return Ok((ACKNOWLEDGEMENT, name.to_owned(), Vec::new()));
    }
    if let Some(carried) = frame.carried {
        let packet = carried.packet(frame.payload.clone());
        return Ok((PACKET, encode::name(&packet), packet_bytes(&packet)?));
    }
    let payload = frame.payload.clone();
    if !windows {
        return Ok((MESSAGE, format!("message {} B", payload.len()), payload));
    }
    let write = write_of(&PacketRepr::parse(&payload)?);
    let name = write.map_or_else(
        || format!("packet {} B", payload.len()),
        |write| encode::name(&write),
    );
    Ok((PACKET, name, payload))
}
