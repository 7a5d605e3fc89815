//! Packets that can be identified, and their checker.

use hostwire_packet::ht::{
    Address, ControlRepr, Dwords, PacketBuf, PacketRepr, Read, ReadSize, RequestKind, RequestRepr,
    ResponseKind, ResponseRepr, ResponseStatus, RqUid, SeqId, SrcTag, UnitId, VirtualChannel,
};

use super::random::Random;

/// The traffic from one end to the other in one session.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    pub epoch: u32,
    pub sent: [u32; 3],
}

/// The packets that one end has received from the other in one session.
#[derive(Clone, Debug, Default)]
pub struct Incoming {
    pub epoch: Option<u32>,
    /// Of all sessions before.
    pub epoch_min: u32,
    pub got: [u32; 3],
}

fn pattern(epoch: u32, number: u32, i: usize) -> u8 {
    (epoch.wrapping_mul(31) ^ number.wrapping_mul(2_654_435_761) ^ (i as u32 * 97)) as u8
}

impl Outgoing {
    /// The next packet of a channel: it carries its session, its number, and how many
    /// posted packets went before it.
    pub fn next(&self, channel: VirtualChannel, random: &mut Random) -> PacketBuf {
        let number = self.sent[channel.index()];
        let posted = self.sent[VirtualChannel::Posted.index()];
        let dwords = Dwords::new(3 + random.below(14) as u8).unwrap();
        let data = self.line(number, posted);
        let data = &data[..dwords.len_bytes()];
        let control: ControlRepr = match channel {
            VirtualChannel::Posted => {
                let address = u64::from(number) * 64 + (random.below(2) << 41);
                let address = Address::new(address).unwrap();
                RequestRepr::posted_write(UnitId::MIN, address, dwords).into()
            }
            VirtualChannel::NonPosted => {
                // A read has no data: its address carries everything.
                let address = u64::from(number) << 2 | u64::from(posted) << 34;
                let read = Read {
                    src_tag: SrcTag::MIN,
                    address: Address::new(address & !63).unwrap(),
                    size: ReadSize::Dwords(Dwords::MIN),
                    response_pass_pw: false,
                    isoc: false,
                    coherent: false,
                    compat: false,
                };
                let read = Read {
                    address: Address::new(address).unwrap(),
                    ..read
                };
                RequestRepr {
                    unit_id: UnitId::MIN,
                    seq_id: SeqId::MIN,
                    pass_pw: false,
                    kind: RequestKind::Read(read),
                }
                .into()
            }
            VirtualChannel::Response => ResponseRepr {
                kind: ResponseKind::Read { dwords },
                unit_id: UnitId::MIN,
                src_tag: SrcTag::MIN,
                rq_uid: RqUid::MIN,
                bridge: true,
                pass_pw: false,
                isoc: false,
                status: ResponseStatus::Normal,
            }
            .into(),
        };
        let data = if control.data_len() == 0 { &[] } else { data };
        PacketBuf::from(PacketRepr::new(control, data).unwrap())
    }

    /// The data of a packet.
    fn line(&self, number: u32, posted: u32) -> [u8; 64] {
        let mut data = core::array::from_fn(|i| pattern(self.epoch, number, i));
        data[..4].copy_from_slice(&self.epoch.to_le_bytes());
        data[4..8].copy_from_slice(&number.to_le_bytes());
        data[8..12].copy_from_slice(&posted.to_le_bytes());
        data
    }

    /// The next posted packets as lines that follow each other in memory, and where.
    pub fn next_lines(&self, count: u32) -> (u64, Vec<u8>) {
        let first = self.sent[VirtualChannel::Posted.index()];
        let lines = (first..first + count).flat_map(|number| self.line(number, number));
        (u64::from(first) * 64, lines.collect())
    }
}

impl Incoming {
    /// A new session: no packet of an earlier one may arrive now.
    pub fn restart(&mut self) {
        if let Some(epoch) = self.epoch.take() {
            self.epoch_min = epoch + 1;
        }
        self.got = [0; 3];
    }

    /// Checks that this is the next packet of its channel and that no posted
    /// packet that went before it is missing.
    pub fn check(&mut self, packet: &PacketRepr<'_>) {
        let channel = packet.control().virtual_channel().unwrap();
        let expected = self.got[channel.index()];
        let data = packet.data();
        let (number, posted) = if data.is_empty() {
            let address = packet.control().address().unwrap().get();
            ((address >> 2) as u32, (address >> 34) as u32)
        } else {
            let word = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().unwrap());
            let (epoch, number) = (word(0), word(4));
            assert!(epoch >= self.epoch_min, "a packet of session {epoch}");
            assert_eq!(*self.epoch.get_or_insert(epoch), epoch, "mixed sessions");
            for (i, &byte) in data.iter().enumerate().skip(12) {
                assert_eq!(byte, pattern(epoch, number, i), "wrong data");
            }
            (number, word(8))
        };
        assert_eq!(number, expected, "{channel}: lost, doubled or reordered");
        self.got[channel.index()] += 1;
        if channel != VirtualChannel::Posted {
            let got = self.got[VirtualChannel::Posted.index()];
            assert!(got >= posted, "{channel} packet passed a posted one");
        }
    }
}
