//! Names of modelled packets, and the bytes of NOPs.

use hostwire_packet::ht::{ChannelCredits, NopRepr};

use crate::models::ht::Credits;
use crate::models::ht::{Command, EncodeError, Packet};

/// The name of a packet in traces.
pub(super) fn name(packet: &Packet) -> String {
    match packet.command {
        Command::WriteDwords => format!("write {} B", packet.data.len()),
        Command::WriteMasked { mask } => format!("masked write {} B", mask.count_ones()),
        Command::Read { dwords } => format!("read {} B", u32::from(dwords) * 4),
        Command::ReadResponse => format!("read response {} B", packet.data.len()),
        Command::MasterAbort => "master abort".to_string(),
        Command::Broadcast { .. } => "broadcast".to_string(),
    }
}

/// The bytes of a NOP.
///
/// # Errors
/// [`EncodeError`] if a field is above 3.
pub fn nop_bytes(credits: &Credits, acknowledge: u64) -> Result<Vec<u8>, EncodeError> {
    let channel = |at: usize| ChannelCredits::new(credits.command[at], credits.data[at]);
    let nop = NopRepr {
        posted: channel(0)?,
        non_posted: channel(1)?,
        response: channel(2)?,
        next_to_ack: acknowledge as u8,
        ..NopRepr::default()
    };
    let mut bytes = vec![0; nop.buffer_len()];
    nop.emit(&mut bytes)?;
    Ok(bytes)
}
