//! One end of a link: what it wants to send, may send, and owes.

use std::collections::VecDeque;

use crate::devices::packet::{Packet, VirtualChannel};
use crate::engine::{ComponentId, Ps};

use super::config::{Buffers, Damage, LinkMode};
use super::lane::Lane;

/// Largest number one credit field of a NOP can carry.
///
/// Source: NOP format, two bits per field.
const NOP_FIELD_MAX: u8 = 3;

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

    fn max(&self) -> u8 {
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

    /// Takes what one NOP can carry.
    fn take_nop(&mut self) -> Credits {
        let mut nop = *self;
        for (left, sent) in self.fields().zip(nop.fields()) {
            *sent = (*sent).min(NOP_FIELD_MAX);
            *left -= *sent;
        }
        nop
    }
}

impl From<Buffers> for Credits {
    fn from(buffers: Buffers) -> Credits {
        Credits {
            command: buffers.command,
            data: buffers.data,
        }
    }
}

/// A unit that crosses the wire in one piece.
#[derive(Debug)]
pub enum Unit {
    /// Flow control: buffers emptied, and in retry mode the next packet
    /// expected.
    Nop {
        /// Buffers emptied since the last NOP.
        credits: Credits,
        /// Number of the next packet expected.
        acknowledge: u64,
    },
    /// A packet with its number in the transmitter's history.
    Packet {
        /// Counts the packets of this direction from 0. On the wire it has
        /// eight bits.
        number: u64,
        /// The packet.
        packet: Box<Packet>,
        /// It has been on the wire before.
        replayed: bool,
    },
}

/// Counters of one direction, since the link was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets, retransmissions included.
    pub packets: u64,
    /// NOPs.
    pub nops: u64,
    /// Dwords on the wire, without periodic CRCs.
    pub dwords: u64,
    /// Bytes of data phases.
    pub payload_bytes: u64,
    /// Time in which the transmitter was occupied, periodic CRCs included.
    pub busy: Ps,
    /// CRC errors that the receiver of this direction saw.
    pub crc_errors: u64,
    /// Times this direction was replayed from its history.
    pub retries: u64,
    /// When the first packet began.
    pub first_begin: Option<Ps>,
    /// When the last packet ended.
    pub last_end: Ps,
}

/// A packet that waits for its turn. The values that decide about its turn are copied here,
/// because the packet itself is probably not in a cache.
#[derive(Clone, Debug)]
struct Queued {
    /// Order of submission.
    order: u64,
    /// It has been on the wire before.
    replayed: bool,
    has_data: bool,
    pass_pw: bool,
    packet: Box<Packet>,
}

/// The transmitting half of one end, and its receive buffers.
#[derive(Debug)]
pub(super) struct Transmitter {
    pub(super) device: Option<(ComponentId, u8)>,
    pub(super) lane: Lane,
    pub(super) busy: bool,
    queues: [VecDeque<Queued>; 3],
    submitted: u64,
    /// Credits of the other end's buffers.
    pub(super) credits: Credits,
    /// Buffers that were emptied here but not announced.
    pub(super) owed: Credits,
    /// Free receive buffers here, announced or not.
    pub(super) free: Credits,
    pub(super) damage: Damage,
    pub(super) transmissions: u64,
    next_number: u64,
    /// Sent and not acknowledged (retry mode), with their numbers.
    history: VecDeque<(u64, Queued)>,
    pub(super) expected: u64,
    pub(super) acknowledge_owed: bool,
    pub(super) counters: LinkCounters,
}

impl Transmitter {
    pub(super) fn new(damage: Damage) -> Transmitter {
        Transmitter {
            device: None,
            lane: Lane::new(Ps::ZERO, 200, 8, true),
            busy: false,
            queues: Default::default(),
            submitted: 0,
            credits: Credits::default(),
            owed: Credits::default(),
            free: Credits::default(),
            damage,
            transmissions: 0,
            next_number: 0,
            history: VecDeque::new(),
            expected: 0,
            acknowledge_owed: false,
            counters: LinkCounters::default(),
        }
    }

    /// Starts over after a reset: empty queues, no credits, all buffers free
    /// and to be announced.
    pub(super) fn reset(&mut self, lane: Lane, buffers: Buffers) {
        self.lane = lane;
        self.busy = false;
        self.queues = Default::default();
        self.credits = Credits::default();
        self.owed = buffers.into();
        self.free = buffers.into();
        self.next_number = 0;
        self.history.clear();
        self.expected = 0;
        self.acknowledge_owed = false;
    }

    /// Starts again after a retry: unacknowledged packets come first, and all free
    /// buffers are announced again.
    pub(super) fn replay(&mut self, lane: Lane, received: u64) {
        self.lane = lane;
        self.busy = false;
        self.credits = Credits::default();
        self.owed = self.free;
        self.acknowledge(received);
        let replayed = self.history.len() as u64;
        self.next_number -= replayed;
        while let Some((_, queued)) = self.history.pop_back() {
            self.queues[queued.packet.channel().index()].push_front(Queued {
                replayed: true,
                ..queued
            });
        }
        self.counters.retries += 1;
    }

    pub(super) fn push(&mut self, packet: Box<Packet>) {
        self.submitted += 1;
        self.queues[packet.channel().index()].push_back(Queued {
            order: self.submitted,
            replayed: false,
            has_data: packet.has_data(),
            pass_pw: packet.pass_pw,
            packet,
        });
    }

    pub(super) fn acknowledge(&mut self, next: u64) {
        while self
            .history
            .front()
            .is_some_and(|(number, ..)| *number < next)
        {
            self.history.pop_front();
        }
    }

    /// Takes back buffers that the device emptied.
    ///
    /// A buffer emptied after a reset was counted as free by the reset already.
    pub(super) fn release(&mut self, channel: VirtualChannel, data: bool, buffers: Buffers) {
        let at = channel.index();
        if self.free.command[at] < buffers.command[at] {
            self.free.command[at] += 1;
            self.owed.command[at] += 1;
        }
        if data && self.free.data[at] < buffers.data[at] {
            self.free.data[at] += 1;
            self.owed.data[at] += 1;
        }
    }

    /// Occupies receive buffers. The transmitter had credits for them.
    pub(super) fn occupy(&mut self, packet: &Packet) {
        let at = packet.channel().index();
        self.free.command[at] = self.free.command[at].saturating_sub(1);
        if packet.has_data() {
            self.free.data[at] = self.free.data[at].saturating_sub(1);
        }
    }

    /// Chooses what to send next.
    ///
    /// A NOP goes first if one of its fields is full, or half of a small pool is owed,
    /// so that a busy direction does not starve the other one, and last if
    /// there is nothing else to do. Among packets the oldest whose credits are
    /// there goes; a non-posted packet or response without PassPW does not
    /// overtake an older posted packet.
    pub(super) fn next(&mut self, buffers: Buffers, mode: &LinkMode) -> Option<Unit> {
        let urgent = |owed: &[u8; 3], pool: &[u8; 3]| {
            owed.iter()
                .zip(pool)
                .any(|(&owed, &pool)| owed > 0 && owed >= (pool / 2).clamp(1, NOP_FIELD_MAX))
        };
        if urgent(&self.owed.command, &buffers.command) || urgent(&self.owed.data, &buffers.data) {
            return Some(self.nop());
        }
        match self.next_channel() {
            Some(channel) => self.take(channel, mode),
            None if self.owed.max() > 0 || self.acknowledge_owed => Some(self.nop()),
            None => None,
        }
    }

    fn nop(&mut self) -> Unit {
        self.acknowledge_owed = false;
        Unit::Nop {
            credits: self.owed.take_nop(),
            acknowledge: self.expected,
        }
    }

    fn next_channel(&self) -> Option<VirtualChannel> {
        let oldest_posted = self.queues[0].front().map_or(u64::MAX, |head| head.order);
        let may_go = |channel: VirtualChannel| {
            let head = self.queues[channel.index()].front()?;
            let waits_for_posted =
                channel != VirtualChannel::Posted && !head.pass_pw && head.order > oldest_posted;
            let may = self.missing_credit(channel, head.has_data).is_none() && !waits_for_posted;
            may.then_some((head.order, channel))
        };
        VirtualChannel::ALL
            .into_iter()
            .filter_map(may_go)
            .min_by_key(|(order, _)| *order)
            .map(|(_, channel)| channel)
    }

    fn missing_credit(&self, channel: VirtualChannel, has_data: bool) -> Option<&'static str> {
        let at = channel.index();
        if self.credits.command[at] == 0 {
            return Some("command");
        }
        (has_data && self.credits.data[at] == 0).then_some("data")
    }

    fn take(&mut self, channel: VirtualChannel, mode: &LinkMode) -> Option<Unit> {
        let at = channel.index();
        let mut queued = self.queues[at].pop_front()?;
        self.credits.command[at] -= 1;
        if queued.has_data {
            self.credits.data[at] -= 1;
        }
        let number = self.next_number;
        self.next_number += 1;
        self.transmissions += 1;
        if mode.retry {
            self.history.push_back((number, queued.clone()));
        }
        queued.packet.damaged = self.damage.hits(self.transmissions);
        Some(Unit::Packet {
            number,
            packet: queued.packet,
            replayed: queued.replayed,
        })
    }

    /// The resources for which the heads of the queues wait.
    pub(super) fn missing(&self) -> Vec<(VirtualChannel, &'static str, usize, &Packet)> {
        let heads = VirtualChannel::ALL.into_iter().filter_map(|channel| {
            let queue = &self.queues[channel.index()];
            let head = queue.front()?;
            let kind = self.missing_credit(channel, head.has_data)?;
            Some((channel, kind, queue.len(), &*head.packet))
        });
        heads.collect()
    }

    pub(super) fn queued(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }
}
