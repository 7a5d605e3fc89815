//! Loads of the processor from addresses below a bridge.
//!
//! A HyperTransport read becomes a memory read request with the same tag: the host is one unit, whose tags
//! are all different.

use std::collections::{BTreeMap, VecDeque};

use hostwire_packet::pcie::{CompletionRepr, CompletionStatus, RoutingId};

use crate::models::ht::{Command, Packet, PacketBuffers};
use crate::models::pcie::Tlp;

use super::DWORD_BYTES;

/// A load that has not been answered.
struct Load {
    unit_id: u8,
    bytes: usize,
    data: Vec<u8>,
}

/// See the [module text](self).
#[derive(Default)]
pub(super) struct Loads {
    open: BTreeMap<u8, Load>,
    /// The receive buffers of requests that the PCI Express link has not begun to transmit.
    pub(super) going: VecDeque<PacketBuffers>,
    /// Answers, each with the number of posted writes that leave before it.
    answers: VecDeque<(u64, Packet)>,
}

impl Loads {
    /// Loads that have not been answered.
    pub(super) fn open(&self) -> usize {
        self.open.len() + self.answers.len()
    }

    /// The request for a load; `None` if there cannot be one.
    pub(super) fn begin(&mut self, id: RoutingId, packet: &Packet) -> Option<Tlp> {
        let Command::Read { dwords } = packet.command else {
            return None;
        };
        let bytes = usize::from(dwords) * DWORD_BYTES as usize;
        let tlp = Tlp::read(id, packet.tag, packet.address, bytes).ok()?;
        let load = Load {
            unit_id: packet.unit_id,
            bytes,
            data: Vec::new(),
        };
        self.open.insert(packet.tag, load);
        Some(tlp)
    }

    /// Takes a completion. `after`: posted writes that came before it. False if nobody has asked.
    pub(super) fn complete(&mut self, header: &CompletionRepr, data: &[u8], after: u64) -> bool {
        let Some(load) = self.open.get_mut(&header.tag) else {
            return false;
        };
        let failed = header.status != CompletionStatus::Success;
        load.data.extend_from_slice(data);
        if !failed && load.data.len() < load.bytes {
            return true;
        }
        let Some(load) = self.open.remove(&header.tag) else {
            return false;
        };
        let answer = match failed {
            true => Packet::new(Command::MasterAbort, 0),
            false => Packet {
                data: load.data,
                ..Packet::new(Command::ReadResponse, 0)
            },
        };
        self.reply(header.tag, load.unit_id, answer, after);
        true
    }

    /// Answers a load for which there can be no request.
    pub(super) fn abort(&mut self, packet: &Packet, after: u64) {
        let answer = Packet::new(Command::MasterAbort, 0);
        self.reply(packet.tag, packet.unit_id, answer, after);
    }

    fn reply(&mut self, tag: u8, unit_id: u8, answer: Packet, after: u64) {
        let answer = Packet {
            tag,
            unit_id,
            ..answer
        };
        self.answers.push_back((after, answer));
    }

    /// The next answer, if all writes before it are among the `gone` ones that have left.
    pub(super) fn next(&mut self, gone: u64) -> Option<Packet> {
        let (after, _) = self.answers.front()?;
        match *after <= gone {
            true => self.answers.pop_front().map(|(_, answer)| answer),
            false => None,
        }
    }
}
