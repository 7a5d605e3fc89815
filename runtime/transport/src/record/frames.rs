//! Stores as frames.

use std::collections::BTreeMap;

use hostwire_link::put::first_packet;
use hostwire_packet::ht::MASKED_LEN_MAX;
use hostwire_packet::htoe::{
    ETHER_TYPE_HTOE, EthernetRepr, FrameBuilder, HeaderRepr, MacAddress, ethernet,
};

use crate::error::PeId;

/// The payload of plain Ethernet.
const MTU_BYTES: usize = 1500;

/// Makes the frames of one PE.
#[derive(Debug)]
pub(super) struct Frames {
    own: PeId,
    /// The next SEQ, by target.
    sequences: BTreeMap<PeId, u16>,
    buffer: Box<[u8]>,
}

impl Frames {
    pub(super) fn of(own: PeId) -> Self {
        Self {
            own,
            sequences: BTreeMap::new(),
            buffer: vec![0; ethernet::LEN + MTU_BYTES].into(),
        }
    }

    /// Gives `take` the frames that store `bytes` at `address` of PE `pe`, one after the other.
    pub(super) fn each(
        &mut self,
        pe: PeId,
        mut address: u64,
        mut bytes: &[u8],
        mut take: impl FnMut(&[u8]),
    ) {
        while let Some((len, stored)) = self.next(pe, address, bytes) {
            take(self.buffer.get(..len).unwrap_or_default());
            address += stored as u64;
            bytes = bytes.get(stored..).unwrap_or_default();
        }
    }

    /// Writes a frame with the first of the bytes. Returns its length, and the number of
    /// these bytes. `None` if there are no bytes.
    fn next(&mut self, pe: PeId, address: u64, bytes: &[u8]) -> Option<(usize, usize)> {
        if bytes.is_empty() {
            return None;
        }
        let sequence = self.sequences.entry(pe).or_default();
        let header = HeaderRepr::data(self.own as u16, *sequence, None);
        *sequence = sequence.wrapping_add(1);
        let (front, payload) = self.buffer.split_at_mut_checked(ethernet::LEN)?;
        let ethernet = EthernetRepr {
            destination: station(pe),
            source: station(self.own),
            vlan: None,
            ether_type: ETHER_TYPE_HTOE,
        };
        ethernet.emit(front).ok()?;
        let mut builder = FrameBuilder::new(header, payload).ok()?;
        let mut stored = 0;
        while let Some(rest) = bytes.get(stored..).filter(|rest| !rest.is_empty()) {
            let mut scratch = [0; MASKED_LEN_MAX];
            let at = address.checked_add(stored as u64)?;
            let (packet, len) = first_packet(at, rest, &mut scratch).ok()?;
            if !builder.fits_packet(packet.buffer_len()) {
                break;
            }
            builder.push_packet(&packet).ok()?;
            stored += len;
        }
        Some((ethernet::LEN + builder.finish().ok()?, stored))
    }
}

/// The address of a PE: a locally administered one.
fn station(pe: PeId) -> MacAddress {
    let [a, b, c, d] = pe.to_be_bytes();
    MacAddress([0x02, 0, a, b, c, d])
}
