//! A host that writes and reads the block RAM of the example design at random, and a plain memory that says what it has
//! to get.
//!
//! Posted writes go into the lower half, non-posted ones into the upper half. A read of the upper half gets what was
//! written before it. One of the lower half gets at least that: a posted write behind it may pass it, whole.

use std::collections::VecDeque;

use hostwire_packet::ht::{
    ByteEnables, Dwords, Read, ReadSize, RequestKind, RequestRepr, ResponseKind, ResponseRepr,
    ResponseStatus, SrcTag, Write, WriteSize,
};

use super::host::Host;
use crate::ht::bench::UNIT;
use crate::ht::bring_up::Failure;
use crate::ht::packets::Packet;
use crate::ht::requests::{self, Data, is_normal};
use crate::random::Random;

/// Bytes of the block RAM.
pub const BYTES: usize = 1 << 14;
/// Clocks without an answer after which a run is given up.
const PATIENCE: u64 = 20_000;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Posted writes, and their dwords that had an enabled byte.
    pub posted: u64,
    /// As `posted`.
    pub posted_dwords: u64,
    /// Non-posted writes, and theirs.
    pub non_posted: u64,
    /// As `non_posted`.
    pub non_posted_dwords: u64,
    /// Reads.
    pub reads: u64,
    /// Flushes and atomics.
    pub others: u64,
    /// Clocks.
    pub clocks: u64,
}

/// The bytes of a write that are enabled.
type Change = Vec<(usize, u8)>;

/// What a request is answered with.
#[derive(Debug)]
enum Answer {
    Done(ResponseStatus),
    /// The place of a read, and its dwords.
    Read(usize, usize),
    Aborted,
}

/// The host, the board, and the memory.
pub struct Memory {
    /// The host.
    pub host: Host,
    random: Random,
    /// What was done.
    pub counts: Counts,
    /// As the oldest request without answer may see it.
    memory: Vec<u8>,
    /// Posted writes since then, in the order of the link.
    later: VecDeque<Change>,
    /// Requests in the order of the link, each with the number of posted writes before it.
    asked: VecDeque<(Packet, u64)>,
    /// Posted writes that were sent, and those in `memory`.
    sent: u64,
    applied: u64,
    /// Packets in the order in which the partner begins them, by channel.
    outbox: [VecDeque<Packet>; 2],
}

impl Memory {
    /// A host that uses its board; its RAM is cleared.
    ///
    /// # Errors
    /// What goes wrong on the link.
    pub fn new(mut host: Host, random: Random) -> Result<Self, Failure> {
        host.partner.sent.clear();
        let mut memory = Self {
            host,
            random,
            counts: Counts::default(),
            memory: vec![0; BYTES],
            later: VecDeque::new(),
            asked: VecDeque::new(),
            sent: 0,
            applied: 0,
            outbox: Default::default(),
        };
        for at in (0..BYTES).step_by(64) {
            memory.post(at, Data::Dwords(&[0; 64]))?;
        }
        memory.run(0)?;
        memory.counts = Counts::default();
        Ok(memory)
    }

    fn post(&mut self, at: usize, data: Data<'_>) -> Result<(), Failure> {
        let packet = requests::write(self.host.bars[0] + at as u64, data, None)
            .map_err(|error| error.to_string())?;
        self.push(packet);
        Ok(())
    }

    fn push(&mut self, packet: Packet) {
        self.outbox[packet.channel].push_back(packet.clone());
        self.host.partner.outbox[packet.channel].push_back(packet);
    }

    /// Random requests until so many were answered, posted writes between them; then lets all arrive.
    ///
    /// # Errors
    /// An answer that is not as it has to be, and a board that does not answer.
    pub fn run(&mut self, answers: u64) -> Result<(), Failure> {
        let end = self.answers() + answers;
        let (mut last, mut last_clock) = (self.answers(), self.counts.clocks);
        loop {
            if self.counts.clocks.is_multiple_of(1024) {
                self.change_habits();
            }
            if self.answers() < end {
                self.fill()?;
            } else if self.host.partner.is_idle() && self.asked.is_empty() {
                return Ok(());
            }
            self.clock()?;
            if self.answers() != last {
                (last, last_clock) = (self.answers(), self.counts.clocks);
            } else if self.counts.clocks - last_clock > PATIENCE {
                return Err(format!("no answer to {:x?}", self.asked.front()));
            }
        }
    }

    fn answers(&self) -> u64 {
        self.counts.reads + self.counts.non_posted + self.counts.others
    }

    fn change_habits(&mut self) {
        self.host.take = [2, 30, 100, 100][self.random.below(4) as usize];
        let idle = [0, 10, 60, 95][self.random.below(4) as usize];
        let insert = [0, 5, 40][self.random.below(3) as usize];
        self.host.partner.change(idle, insert);
    }

    fn clock(&mut self) -> Result<(), Failure> {
        self.counts.clocks += 1;
        let arrived = self.host.step()?;
        for (channel, _) in core::mem::take(&mut self.host.partner.sent) {
            let Some(packet) = self.outbox.get_mut(channel).and_then(VecDeque::pop_front) else {
                return Err(format!("a packet was sent in channel {channel}"));
            };
            if channel == 0 {
                self.later
                    .push_back(change(&packet, self.host.bars[0], &mut self.counts)?);
                self.sent += 1;
                self.counts.posted += 1;
            } else {
                self.asked.push_back((packet, self.sent));
            }
        }
        for (packet, _) in arrived {
            self.answered(&packet)?;
        }
        Ok(())
    }

    fn answered(&mut self, answer: &Packet) -> Result<(), Failure> {
        let Some((asked, before)) = self.asked.pop_front() else {
            return Err(format!("nothing was asked: {answer:x?}"));
        };
        while self.applied < before {
            apply(
                &mut self.memory,
                &self.later.pop_front().unwrap_or_default(),
            );
            self.applied += 1;
        }
        let (expected, tag) = self.expected(&asked)?;
        let got = ResponseRepr::parse(&answer.bytes).map_err(|error| error.to_string())?;
        let wrong = Err(format!("{asked:x?} is answered with {answer:x?}"));
        if got.src_tag != tag
            || got.unit_id.get() != UNIT
            || got.bridge
            || got.pass_pw != requests::answer_passes(&asked)
        {
            return wrong;
        }
        match expected {
            Answer::Done(status)
                if got.kind == ResponseKind::TargetDone && got.status == status =>
            {
                Ok(())
            }
            Answer::Aborted
                if got.status == ResponseStatus::TargetAbort && answer.data() == [0xff; 8] =>
            {
                Ok(())
            }
            Answer::Read(at, dwords) if is_normal(answer) && answer.data().len() == 4 * dwords => {
                self.counts.reads += 1;
                if self.may_be(at, answer.data()) {
                    Ok(())
                } else {
                    wrong
                }
            }
            _ => wrong,
        }
    }

    /// Whether a read may get this: the memory after some of the later posted writes.
    fn may_be(&self, at: usize, data: &[u8]) -> bool {
        let range = at..at + data.len();
        let mut bytes = self.memory[range.clone()].to_vec();
        let mut later = self.later.iter();
        loop {
            if bytes == data {
                return true;
            }
            let Some(change) = later.next() else {
                return false;
            };
            for (at, byte) in change.iter().filter(|(at, _)| range.contains(at)) {
                bytes[at - range.start] = *byte;
            }
        }
    }

    fn expected(&mut self, asked: &Packet) -> Result<(Answer, SrcTag), Failure> {
        let request = RequestRepr::parse(&asked.bytes).map_err(|error| error.to_string())?;
        match request.kind {
            RequestKind::Read(Read {
                src_tag,
                address,
                size,
                ..
            }) => {
                let dwords = match size {
                    ReadSize::Dwords(dwords) => usize::from(dwords.get()),
                    ReadSize::Bytes(_) => 1,
                };
                Ok((
                    Answer::Read((address.get() - self.host.bars[0]) as usize, dwords),
                    src_tag,
                ))
            }
            RequestKind::Write(Write {
                mode: hostwire_packet::ht::WriteMode::NonPosted { src_tag },
                ..
            }) => {
                let mut counts = Counts::default();
                let change = change(asked, self.host.bars[0], &mut counts)?;
                apply(&mut self.memory, &change);
                self.counts.non_posted_dwords += counts.posted_dwords;
                self.counts.non_posted += 1;
                Ok((Answer::Done(ResponseStatus::Normal), src_tag))
            }
            RequestKind::Flush { src_tag, .. } => {
                self.counts.others += 1;
                Ok((Answer::Done(ResponseStatus::Normal), src_tag))
            }
            RequestKind::Atomic { src_tag, .. } => {
                self.counts.others += 1;
                Ok((Answer::Aborted, src_tag))
            }
            kind => Err(format!("{kind:?} was asked")),
        }
    }

    fn fill(&mut self) -> Result<(), Failure> {
        let text = |error: hostwire_packet::Error| error.to_string();
        while self.outbox[0].len() < 3 {
            let packet = self.random_write(0, None).map_err(text)?;
            let packet = requests::vary(packet, &mut self.random);
            self.push(packet);
        }
        while self.outbox[1].len() < 3 {
            let packet = self.random_request().map_err(text)?;
            self.push(packet);
        }
        Ok(())
    }

    fn random_write(
        &mut self,
        from: usize,
        tag: Option<u8>,
    ) -> Result<Packet, hostwire_packet::Error> {
        let random = &mut self.random;
        // Few places, so that writes meet.
        let block = self.host.bars[0] + (from + [0, 64, 8128][random.below(3) as usize]) as u64;
        if random.chance(60) {
            let len = 1 + random.below(16);
            let at = 4 * random.below(17 - len);
            let data: Vec<u8> = (0..4 * len).map(|_| random.next() as u8).collect();
            return requests::write(block + at, Data::Dwords(&data), tag);
        }
        let len = 1 + random.below(8);
        let first = random.below(9 - len);
        let data: Vec<u8> = (0..4 * len).map(|_| random.next() as u8).collect();
        let all = (u32::MAX >> (32 - 4 * len as u32)) << (4 * first as u32);
        let half = 32 * random.below(2);
        requests::write(
            block + half + 4 * first,
            Data::Masked(all & random.next() as u32, &data),
            tag,
        )
    }

    fn random_request(&mut self) -> Result<Packet, hostwire_packet::Error> {
        let tag = self.random.below(32) as u8;
        let upper = BYTES / 2;
        match self.random.below(20) {
            0 => {
                let kind = RequestKind::Flush {
                    src_tag: SrcTag::new(tag)?,
                    isoc: false,
                };
                requests::request(kind, &[])
            }
            1 => {
                let kind = RequestKind::Atomic {
                    src_tag: SrcTag::new(tag)?,
                    address: hostwire_packet::ht::Address::new(self.host.bars[0] + 64)?,
                    operation: hostwire_packet::ht::AtomicOperation::FetchAndAdd,
                    compat: false,
                };
                requests::request(kind, &[1; 8])
            }
            2..=7 => {
                let packet = self.random_write(upper, Some(tag))?;
                Ok(requests::vary(packet, &mut self.random))
            }
            at => {
                let half = if at.is_multiple_of(2) { 0 } else { upper };
                let block = half + [0, 64, 8128][self.random.below(3) as usize];
                let len = 1 + self.random.below(16);
                let place = (self.host.bars[0] + block as u64) + 4 * self.random.below(17 - len);
                let size = if self.random.chance(70) {
                    ReadSize::Dwords(Dwords::new(len as u8)?)
                } else {
                    ReadSize::Bytes(ByteEnables::new(self.random.below(16) as u8)?)
                };
                let packet = requests::read(place, size, tag)?;
                Ok(requests::vary(packet, &mut self.random))
            }
        }
    }
}

fn apply(memory: &mut [u8], change: &Change) {
    for (at, byte) in change {
        memory[*at] = *byte;
    }
}

/// What a write changes.
fn change(packet: &Packet, bar0: u64, counts: &mut Counts) -> Result<Change, Failure> {
    let request = RequestRepr::parse(&packet.bytes).map_err(|error| error.to_string())?;
    let RequestKind::Write(write) = request.kind else {
        return Err(format!("{request:?} is no write"));
    };
    let at = (write.address.get() - bar0) as usize;
    let data = packet.data();
    let mut change = Change::new();
    match write.size {
        WriteSize::Dwords(_) => {
            counts.posted_dwords += data.len() as u64 / 4;
            change.extend(
                data.iter()
                    .enumerate()
                    .map(|(index, &byte)| (at + index, byte)),
            );
        }
        WriteSize::Bytes(_) => {
            let (mask, data) = data.split_at(4.min(data.len()));
            let mask = u32::from_le_bytes(mask.try_into().unwrap_or_default());
            for (index, &byte) in data.iter().enumerate() {
                if mask >> ((at + index) % 32) & 1 == 1 {
                    change.push((at + index, byte));
                }
            }
            let nibbles = (0..8).filter(|nibble| mask >> (4 * nibble) & 15 != 0);
            counts.posted_dwords += nibbles.count() as u64;
        }
    }
    Ok(change)
}
