//! Credits of a HyperTransport link, and what a NOP can carry of them.

use super::PacketBuffers;

/// Largest number one credit field of a NOP can carry.
///
/// Source: NOP format, two bits per field.
pub(super) const NOP_FIELD_MAX: u8 = 3;

/// Credits of all channels, command and data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credits {
    /// Command buffers, per virtual channel.
    pub command: [u8; 3],
    /// Data buffers, per virtual channel.
    pub data: [u8; 3],
}

impl Credits {
    fn fields(&mut self) -> impl Iterator<Item = &mut u8> {
        self.command.iter_mut().chain(self.data.iter_mut())
    }

    pub(super) fn max(&self) -> u8 {
        self.command
            .iter()
            .chain(&self.data)
            .copied()
            .max()
            .unwrap_or(0)
    }

    pub(super) fn add(&mut self, other: &Credits) {
        let mut other = *other;
        for (mine, more) in self.fields().zip(other.fields()) {
            *mine = mine.saturating_add(*more);
        }
    }

    /// Takes the buffers of a packet. They are there: its transmitter had credits for them.
    pub(super) fn take(&mut self, place: &PacketBuffers) {
        let at = place.channel.index();
        self.command[at] = self.command[at].saturating_sub(1);
        if place.data {
            self.data[at] = self.data[at].saturating_sub(1);
        }
    }

    /// Takes what one NOP can carry.
    pub(super) fn take_nop(&mut self) -> Credits {
        let mut nop = *self;
        for (left, sent) in self.fields().zip(nop.fields()) {
            *sent = (*sent).min(NOP_FIELD_MAX);
            *left -= *sent;
        }
        nop
    }
}
