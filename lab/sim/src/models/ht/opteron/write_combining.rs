//! The write-combining buffers of a core.
//!
//! Rules (paper, VI; AMD 25112 appendix B.3; Athlon guide 22007E p. 159): a
//! buffer holds one aligned 64-byte line and takes stores of any size and order;
//! it closes when it is full, when a new line needs a buffer and none is free
//! (the oldest goes), on a fence, on an uncached access. A closed buffer is
//! never reopened. Between buffers there is no order until a fence.

use std::collections::VecDeque;

use crate::models::ht::{Command, Packet};

/// Size of a buffer.
pub const LINE_BYTES: u64 = 64;

#[derive(Clone, Debug)]
struct Line {
    address: u64,
    valid: u64,
    data: [u8; LINE_BYTES as usize],
}

/// The buffers; the oldest open line stands first.
#[derive(Debug)]
pub(super) struct WriteCombiner {
    buffers: usize,
    open: VecDeque<Line>,
    /// Closed lines on their way out; they occupy buffers.
    closed: VecDeque<Line>,
}

impl WriteCombiner {
    pub(super) fn new(buffers: usize) -> WriteCombiner {
        WriteCombiner {
            buffers: buffers.max(1),
            open: VecDeque::new(),
            closed: VecDeque::new(),
        }
    }

    /// Stores bytes that lie within one line. `false`: no buffer is free; the
    /// caller drains one and tries again.
    pub(super) fn store(&mut self, address: u64, bytes: &[u8]) -> bool {
        let base = address & !(LINE_BYTES - 1);
        let index = match self.open.iter().position(|line| line.address == base) {
            Some(index) => index,
            None => {
                if self.is_full() {
                    let oldest = self.open.pop_front();
                    self.closed.extend(oldest);
                    return false;
                }
                self.open.push_back(Line {
                    address: base,
                    valid: 0,
                    data: [0; LINE_BYTES as usize],
                });
                self.open.len() - 1
            }
        };
        let line = &mut self.open[index];
        for (offset, &byte) in bytes.iter().enumerate() {
            let at = (address - base) as usize + offset;
            line.data[at] = byte;
            line.valid |= 1 << at;
        }
        if line.valid == u64::MAX {
            let line = self.open.remove(index);
            self.closed.extend(line);
        }
        true
    }

    pub(super) fn close_all(&mut self) {
        self.closed.append(&mut self.open);
    }

    /// The packets of the next closed line; its buffer becomes free.
    pub(super) fn drain(&mut self) -> Option<Vec<Packet>> {
        self.closed.pop_front().map(|line| packets(&line))
    }

    pub(super) fn has_closed(&self) -> bool {
        !self.closed.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.open.len() + self.closed.len() == self.buffers
    }
}

/// The packets of a closed line: runs of whole dwords go as dword writes, except that a
/// lone dword and every ragged part go as byte-masked writes, one per 32-byte block.
///
/// A lone dword as a masked write occupies 8 bytes of data phase. That rule was taken from
/// the 4-byte row of the HTX board's Table IV (H5) and has no other source.
fn packets(line: &Line) -> Vec<Packet> {
    let mut out = Vec::new();
    let whole = |dword: u32| line.valid >> (4 * dword) & 0xf == 0xf;
    let mut dword = 0;
    while dword < 16 {
        if whole(dword) {
            let mut end = dword;
            while end < 16 && whole(end) {
                end += 1;
            }
            if end - dword > 1 {
                let range = 4 * dword as usize..4 * end as usize;
                out.push(Packet::write(
                    line.address + u64::from(4 * dword),
                    line.data[range].to_vec(),
                ));
                dword = end;
                continue;
            }
        }
        let nibble = (line.valid >> (4 * dword) & 0xf) as u32;
        if nibble != 0 {
            let address = line.address + u64::from(4 * dword);
            let mask = nibble << (4 * (dword % 8));
            let range = 4 * dword as usize..4 * dword as usize + 4;
            let data = line.data[range].to_vec();
            out.push(Packet {
                data,
                ..Packet::new(Command::WriteMasked { mask }, address)
            });
        }
        dword += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::models::ht::opteron::memory::Memory;

    fn drained(combiner: &mut WriteCombiner) -> Vec<Packet> {
        combiner.close_all();
        std::iter::from_fn(|| combiner.drain()).flatten().collect()
    }

    #[test]
    fn eight_stores_make_one_packet() {
        let mut combiner = WriteCombiner::new(8);
        for at in 0..8u64 {
            assert!(combiner.store(0x1000 + 8 * at, &at.to_le_bytes()));
        }
        assert!(combiner.has_closed(), "a full buffer closes by itself");
        let packets = drained(&mut combiner);
        assert_eq!(packets.len(), 1);
        assert_eq!((packets[0].address, packets[0].data.len()), (0x1000, 64));
    }

    #[test]
    fn the_oldest_line_makes_room() {
        let mut combiner = WriteCombiner::new(2);
        assert!(combiner.store(0x00, &[1; 8]));
        assert!(combiner.store(0x40, &[2; 8]));
        assert!(!combiner.store(0x80, &[3; 8]));
        assert_eq!(combiner.drain().unwrap()[0].address, 0x00);
        assert!(combiner.store(0x80, &[3; 8]));
        assert!(
            combiner.store(0x40, &[4; 8]),
            "an open line goes on combining"
        );
    }

    #[test]
    fn a_lone_dword_is_masked() {
        let mut combiner = WriteCombiner::new(1);
        combiner.store(0x64, &[7; 4]);
        let packets = drained(&mut combiner);
        assert_eq!(packets[0].command, Command::WriteMasked { mask: 0xf0 });
        assert_eq!(packets[0].wire_dwords() * 4, 16);
    }

    proptest! {
        /// All stores reach memory, whatever their sizes and order.
        #[test]
        fn packets_write_what_was_stored(
            stores in prop::collection::vec((0u64..1024, prop::collection::vec(any::<u8>(), 1..9)), 0..60),
            buffers in 1usize..9,
        ) {
            let mut combiner = WriteCombiner::new(buffers);
            let mut want = vec![0u8; 1040];
            let mut memory = Memory::default();
            let apply = |memory: &mut Memory, packets: Vec<Packet>| {
                for packet in packets {
                    match packet.command {
                        Command::WriteMasked { mask } => memory.write_masked(packet.address, &packet.data, mask),
                        _ => memory.write(packet.address, &packet.data),
                    }
                }
            };
            for (address, bytes) in stores {
                let room = (LINE_BYTES - address % LINE_BYTES) as usize;
                let bytes = &bytes[..bytes.len().min(room)];
                want[address as usize..address as usize + bytes.len()].copy_from_slice(bytes);
                while !combiner.store(address, bytes) {
                    apply(&mut memory, combiner.drain().unwrap());
                }
                // A line that closed by itself leaves before it can be reopened.
                while let Some(packets) = combiner.drain() {
                    apply(&mut memory, packets);
                }
            }
            apply(&mut memory, drained(&mut combiner));
            let mut got = vec![0; want.len()];
            memory.read(0, &mut got);
            prop_assert_eq!(got, want);
        }
    }
}
