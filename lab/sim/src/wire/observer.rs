//! From the modelled memory to the segments of the PEs.

use std::ops::Range;

use hostwire_transport::Memory;

use crate::engine::Ps;
use crate::models::ht::opteron::{OpteronConfig, WriteObserver, origin};
use crate::models::ht::{Command, Packet};

use super::board::SharedBoard;
use super::messages::Looks;

/// Told of every write to the memory of one PE's socket.
pub(super) struct SegmentObserver {
    pub(super) board: SharedBoard,
    pub(super) pe: usize,
    /// Global addresses of the segment.
    pub(super) addresses: Range<u64>,
    pub(super) segment: Memory,
    looks: Looks,
    /// It also tells that packets have arrived: one observer of each socket does.
    counts: bool,
}

impl SegmentObserver {
    pub(super) fn new(
        board: SharedBoard,
        pe: usize,
        addresses: Range<u64>,
        segment: Memory,
        config: &OpteronConfig,
        counts: bool,
    ) -> Self {
        Self {
            board,
            pe,
            addresses,
            segment,
            looks: Looks::new(config),
            counts,
        }
    }

    /// Copies the part that lies in the segment. Returns whether there was such a part.
    fn copy(&self, address: u64, bytes: &[u8]) -> bool {
        let end = address.saturating_add(bytes.len() as u64);
        let first = address.max(self.addresses.start);
        let last = end.min(self.addresses.end);
        if first >= last {
            return false;
        }
        let from = (first - address) as usize..(last - address) as usize;
        let Some(bytes) = bytes.get(from) else {
            return false;
        };
        let offset = (first - self.addresses.start) as usize;
        self.segment.copy_in(offset, bytes).is_ok()
    }

    fn copy_packet(&self, packet: &Packet) -> bool {
        let Command::WriteMasked { mask } = packet.command else {
            return self.copy(packet.address, &packet.data);
        };
        let mut copied = false;
        for (address, byte) in (packet.address..).zip(&packet.data) {
            if mask >> (address % 32) & 1 == 1 {
                copied |= self.copy(address, &[*byte]);
            }
        }
        copied
    }
}

impl WriteObserver for SegmentObserver {
    fn wrote(&mut self, now: Ps, packet: &Packet) {
        let copied = self.copy_packet(packet);
        let board = &mut *self.board.lock();
        if self.counts {
            board.arrived(origin(packet), 1, packet.number, now);
        }
        if copied && let Some(pe) = board.pes.get_mut(self.pe) {
            pe.rings += 1;
            board.wake_sleeper(self.pe, now, self.looks);
        }
    }
}
