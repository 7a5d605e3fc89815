//! Random TLPs.

use hostwire_packet::pcie::{
    ByteCount, CompletionRepr, CompletionStatus, CreditClass, CreditCost, DwLength, HeaderRepr,
    LowerAddress, MemoryRepr, Operation, RoutingId, TlpRepr,
};

use crate::random::Random;

/// A TLP as bytes, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tlp {
    /// Header, data and digest.
    pub bytes: Vec<u8>,
    /// Credits that it takes.
    pub cost: CreditCost,
}

impl Tlp {
    /// A random TLP: all types that `hostwire-packet` has, with and without a digest, data of up to 256 bytes.
    pub fn random(random: &mut Random) -> Option<Self> {
        let dwords = match random.below(8) {
            0 => 1 + random.below(64),
            1 => 1,
            _ => 1 + random.below(16),
        };
        let mut header = match random.below(8) {
            0..4 => memory(random, Operation::Write, dwords)?,
            4..6 => memory(random, Operation::Read, dwords)?,
            _ => completion(random, dwords),
        };
        if random.chance(20) {
            match &mut header {
                HeaderRepr::Memory(repr) => repr.common.has_digest = true,
                HeaderRepr::Completion(repr) => repr.common.has_digest = true,
            }
        }
        Self::of(header, random)
    }

    /// A memory write of so many dwords, with a header of four dwords.
    pub fn write(dwords: u64, random: &mut Random) -> Option<Self> {
        let address = (1 << 40) | (random.below(1 << 20) << 12);
        let len = dwords as usize * 4;
        let header = MemoryRepr::covering(Operation::Write, RoutingId(1), address, len).ok()?;
        Self::of(HeaderRepr::Memory(header), random)
    }

    fn of(header: HeaderRepr, random: &mut Random) -> Option<Self> {
        let mut data = vec![0; header.data_len()];
        data.fill_with(|| random.next() as u8);
        let tlp = TlpRepr::new(header, &data).ok()?;
        let tlp = tlp.with_digest(random.next() as u32);
        let mut bytes = vec![0; tlp.buffer_len()];
        tlp.emit(&mut bytes).ok()?;
        Some(Self {
            bytes,
            cost: header.credit_cost(),
        })
    }

    /// What the header says about the class.
    pub fn class(&self) -> CreditClass {
        self.cost.class
    }
}

fn memory(random: &mut Random, operation: Operation, dwords: u64) -> Option<HeaderRepr> {
    let page = random.below(1 << 20) << 12;
    let high = if random.chance(50) {
        random.below(1 << 20) << 32
    } else {
        0
    };
    let address = high | page | (random.below(256) * 4);
    let id = RoutingId(random.next() as u16);
    let mut repr = MemoryRepr::covering(operation, id, address, dwords as usize * 4).ok()?;
    repr.tag = random.next() as u8;
    Some(HeaderRepr::Memory(repr))
}

fn completion(random: &mut Random, dwords: u64) -> HeaderRepr {
    let data = random.chance(70);
    HeaderRepr::Completion(CompletionRepr {
        dwords: data.then(|| DwLength::new(dwords as u16).unwrap_or(DwLength::MIN)),
        common: Default::default(),
        completer_id: RoutingId(random.next() as u16),
        status: if data {
            CompletionStatus::Success
        } else {
            CompletionStatus::UnsupportedRequest
        },
        byte_count_modified: false,
        byte_count: ByteCount::new(1 + random.below(4096) as u16).unwrap_or(ByteCount::MIN),
        requester_id: RoutingId(random.next() as u16),
        tag: random.next() as u8,
        lower_address: LowerAddress::new(random.below(128) as u8).unwrap_or(LowerAddress::MIN),
    })
}
