//! Looking at writes as they reach memory.

use crate::engine::{ComponentId, Ps};
use crate::models::ht::Packet;

/// An observer outside of the model that is called for each write. It changes nothing in
/// the model.
pub trait WriteObserver {
    /// `packet` has just been written to memory.
    fn wrote(&mut self, now: Ps, packet: &Packet);
}

/// Index of the component that sent a packet: every origin numbers its own.
pub fn origin(packet: &Packet) -> usize {
    origin_of(packet.number)
}

/// As [`origin`], by the number of the packet.
pub fn origin_of(number: u64) -> usize {
    (number >> NUMBER_BITS) as usize
}

/// The number of the packet that is the `count`th of its origin.
pub fn packet_number(origin: ComponentId, count: u64) -> u64 {
    (origin.index() as u64) << NUMBER_BITS | count
}

/// Bits of a packet's number that count the packets of one origin.
const NUMBER_BITS: u32 = 40;
