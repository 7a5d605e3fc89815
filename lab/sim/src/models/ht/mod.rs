//! HyperTransport as a family of links: buffers by the piece, NOPs, the clock and its periodic
//! CRC, retry. Parameters and their sources: `docs/sim/link.md`.

mod bytes;
pub mod cable;
pub mod carry;
mod config;
mod credits;
mod lane;
pub mod link_port;
pub mod nic;
pub mod opteron;
mod packet;
mod port;
#[cfg(target_os = "linux")]
pub mod rtl;
mod rtl_event;
pub mod southbridge;
pub mod switch;

pub use bytes::{EncodeError, packet_bytes};
pub use config::{Buffers, LinkConfig, LinkMode};
pub use credits::Credits;
pub use lane::{CRC_BITS, CRC_OFFSET_BITS, CRC_WINDOW_BITS, Lane};
pub use packet::{Carried, Command, Frame, PAYLOAD_BYTES_MAX, Packet, VirtualChannel};
pub use port::Port;
pub use rtl_event::RtlEvent;

use std::convert::Infallible;
use std::num::NonZeroU32;

use crate::engine::Ps;

use crate::models::DeviceEvent;
use crate::models::link::{
    self, Damage, End, Family, Heard, LinkEvent, Number, Received, Terms, Verdict,
};

/// A HyperTransport link.
pub type Link = link::Link<Ht>;
/// A unit on its wires.
pub type Unit = link::Unit<Ht>;

/// Bit times of the link-initialisation sequence: CTL asserted (16), CTL and CAD
/// low (512), one dword of CAD (4).
///
/// Source: HyperTransport low-level initialisation, as in ht_tunnel `link_l2`.
pub const INIT_BITS: u64 = 16 + 512 + 4;
/// Bit times in which the ends exchange what they have received, before a replay: eight dwords.
const EXCHANGE_BITS: u64 = 4 * 8;

/// The receive buffers of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketBuffers {
    /// Its channel: one command buffer of it.
    pub channel: VirtualChannel,
    /// Whether it takes a data buffer too.
    pub data: bool,
}

impl PacketBuffers {
    /// The buffers that `packet` takes.
    pub fn of(packet: &Packet) -> PacketBuffers {
        PacketBuffers {
            channel: packet.channel(),
            data: packet.has_data(),
        }
    }
}

/// A NOP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nop {
    /// Buffers emptied since the last NOP.
    pub credits: Credits,
    /// In retry mode, number of the next packet expected.
    pub acknowledge: u64,
}

/// Counts the packets of a direction from 0. On the wire the number has eight bits.
impl Number for u64 {
    const FIRST: u64 = 0;
    /// Nothing arrives twice: both ends agree on what was received before a replay.
    const BEHIND_MAX: usize = 0;

    #[inline]
    fn next(self) -> u64 {
        self + 1
    }

    #[inline]
    fn after(self, earlier: u64) -> usize {
        self.checked_sub(earlier)
            .and_then(|after| usize::try_from(after).ok())
            .unwrap_or(usize::MAX)
    }
}

/// One end of a HyperTransport link.
#[derive(Debug)]
pub struct Ht {
    lane: Lane,
    /// Per-packet CRC and replay.
    retry: bool,
    /// All receive buffers here.
    pool: Buffers,
    /// Credits of the other end's buffers.
    credits: Credits,
    /// Buffers that were emptied here but not announced.
    owed: Credits,
    /// Free receive buffers here, announced or not.
    free: Credits,
    /// Owed buffers of a channel until a NOP goes first.
    nop_credits: u8,
    acknowledge_owed: bool,
}

impl Ht {
    /// A NOP goes first if so many buffers are owed, or half of a small pool, so that a busy direction does not
    /// starve the other one.
    #[inline]
    fn is_urgent(&self) -> bool {
        let urgent = |owed: &[u8; 3], pool: &[u8; 3]| {
            owed.iter()
                .zip(pool)
                .any(|(&owed, &pool)| owed > 0 && owed >= (pool / 2).min(self.nop_credits).max(1))
        };
        urgent(&self.owed.command, &self.pool.command) || urgent(&self.owed.data, &self.pool.data)
    }

    #[inline]
    fn nop(&mut self, expected: u64) -> Nop {
        self.acknowledge_owed = false;
        Nop {
            credits: self.owed.take_nop(),
            acknowledge: expected,
        }
    }
}

impl Family for Ht {
    type Config = LinkConfig;
    type Mode = LinkMode;
    /// Firmware trains these links.
    type Role = Infallible;
    type Packet = Box<Packet>;
    type Channel = VirtualChannel;
    type Cost = PacketBuffers;
    type Control = Nop;
    type Number = u64;

    const TRAINING_STARTS_OVER: bool = true;
    const REPLAYS_MAX: u32 = 1;
    const SETBACKS: &'static str = "damaged transmissions";

    #[inline]
    fn wrap(event: LinkEvent<Ht>) -> DeviceEvent {
        DeviceEvent::Ht(event)
    }

    #[inline]
    fn unwrap(event: DeviceEvent) -> Option<LinkEvent<Ht>> {
        match event {
            DeviceEvent::Ht(event) => Some(event),
            _ => None,
        }
    }

    #[inline]
    fn digest(event: &LinkEvent<Ht>) -> u64 {
        match event {
            LinkEvent::Submit { end, packet } => 1 | (*end as u64) << 8 | packet.digest() << 16,
            LinkEvent::Release { end, cost } => {
                let channel = cost.channel.index() as u64;
                2 | (*end as u64) << 8 | channel << 16 | u64::from(cost.data) << 24
            }
            LinkEvent::Deliver { port, packet } => {
                3 | u64::from(*port) << 8 | packet.digest() << 16
            }
            LinkEvent::Sent { port, channel } => {
                4 | u64::from(*port) << 8 | (channel.index() as u64) << 16
            }
            LinkEvent::Free { end, generation } => {
                6 | (1 | (*end as u64) << 8 | u64::from(*generation) << 16) << 8
            }
            LinkEvent::Arrive {
                end,
                generation,
                unit,
            } => {
                let unit = unit_digest(unit);
                6 | (2 | (*end as u64) << 8 | u64::from(*generation) << 16 | unit << 24) << 8
            }
            LinkEvent::Trained { generation } => 6 | (3 | u64::from(*generation) << 16) << 8,
            // A link of this family has no such events.
            LinkEvent::ReplayTimer { end }
            | LinkEvent::Again { end, .. }
            | LinkEvent::Port { end, .. } => 6 | (4 | (*end as u64) << 8) << 8,
            LinkEvent::Cable { .. } | LinkEvent::State { .. } => 6 | 5 << 8,
        }
    }

    fn terms(config: &LinkConfig) -> Terms {
        Terms {
            propagation: config.propagation,
            trainings_max: u32::from(config.retry_attempts_max),
            replay_timeout: None,
            replay_places: usize::MAX,
        }
    }

    #[inline]
    fn damage(config: &mut LinkConfig, end: End, control: bool) -> Option<&mut Damage> {
        (!control).then_some(&mut config.damage[end as usize])
    }

    fn trained(_: &LinkConfig) -> Option<LinkMode> {
        None
    }

    fn agree(roles: [Infallible; 2]) -> Option<Self::Mode> {
        match roles[0] {}
    }

    fn training_time(config: &LinkConfig, mode: &LinkMode, again: bool) -> Ps {
        // All widths initialise as eight bits.
        let bits = |count| Lane::new(Ps::ZERO, mode.mhz, 8, false).bit_times(count);
        if again {
            // The disconnect NOP and its answer cross first, with their CRCs.
            config.propagation * 2 + bits(INIT_BITS + EXCHANGE_BITS)
        } else {
            bits(INIT_BITS)
        }
    }

    #[inline]
    fn cost(packet: &Box<Packet>) -> PacketBuffers {
        PacketBuffers::of(packet)
    }

    #[inline]
    fn channel(cost: &PacketBuffers) -> VirtualChannel {
        cost.channel
    }

    #[inline]
    fn index(channel: VirtualChannel) -> usize {
        channel.index()
    }

    fn channel_name(channel: VirtualChannel) -> &'static str {
        match channel {
            VirtualChannel::Posted => "posted",
            VirtualChannel::NonPosted => "non-posted",
            VirtualChannel::Response => "response",
        }
    }

    #[inline]
    fn passes_posted(packet: &Box<Packet>) -> bool {
        packet.pass_pw
    }

    #[inline]
    fn payload_bytes(packet: &Box<Packet>) -> u64 {
        packet.data.len() as u64
    }

    fn describe(packet: &Box<Packet>) -> String {
        packet.to_string()
    }

    fn new(config: &LinkConfig, end: End) -> Ht {
        Ht {
            lane: Lane::new(Ps::ZERO, 200, 8, true),
            retry: false,
            pool: config.buffers[end as usize],
            credits: Credits::default(),
            owed: Credits::default(),
            free: Credits::default(),
            nop_credits: config.nop_credits,
            acknowledge_owed: false,
        }
    }

    /// All buffers that are free are to be announced; after a reset that is all of them.
    fn train(&mut self, config: &LinkConfig, end: End, mode: &LinkMode, ready: Ps, again: bool) {
        self.lane = Lane::new(ready, mode.mhz, mode.width_bits(end), !mode.retry);
        self.retry = mode.retry;
        self.credits = Credits::default();
        if !again {
            self.pool = config.buffers[end as usize];
            self.nop_credits = config.nop_credits;
            self.free = self.pool.into();
            self.acknowledge_owed = false;
        }
        self.owed = self.free;
    }

    #[inline]
    fn keeps(&self) -> bool {
        self.retry
    }

    #[inline]
    fn wire_bytes(&self, unit: &Unit) -> u64 {
        let dwords = match unit {
            Unit::Control { .. } => 1,
            Unit::Packet { packet, .. } => packet.wire_dwords(),
        };
        4 * (dwords + u64::from(self.retry))
    }

    #[inline]
    fn serialise(&mut self, now: Ps, bytes: u64, _: &LinkConfig) -> [Ps; 2] {
        let (begin, end) = self.lane.transmit(now, bytes / 4);
        [begin, end]
    }

    #[inline]
    fn missing(&self, cost: &PacketBuffers) -> Option<&'static str> {
        let at = cost.channel.index();
        if self.credits.command[at] == 0 {
            return Some("command credit");
        }
        (cost.data && self.credits.data[at] == 0).then_some("data credit")
    }

    #[inline]
    fn spend(&mut self, cost: &PacketBuffers) {
        self.credits.take(cost);
    }

    /// A buffer emptied after a reset was counted as free by the reset already.
    #[inline]
    fn release(&mut self, cost: &PacketBuffers, _: Ps) {
        let at = cost.channel.index();
        if self.free.command[at] < self.pool.command[at] {
            self.free.command[at] += 1;
            self.owed.command[at] += 1;
        }
        if cost.data && self.free.data[at] < self.pool.data[at] {
            self.free.data[at] += 1;
            self.owed.data[at] += 1;
        }
    }

    fn is_empty(&self) -> bool {
        true
    }

    #[inline]
    fn received(&mut self, what: Received, cost: &PacketBuffers, _: Ps) {
        // Nothing else comes: training voids what was on the wires.
        if what == Received::InOrder {
            self.free.take(cost);
            self.acknowledge_owed = self.retry;
        }
    }

    #[inline]
    fn urgent(&mut self, _: Ps, expected: u64, _: &LinkConfig) -> Option<Nop> {
        self.is_urgent().then(|| self.nop(expected))
    }

    #[inline]
    fn idle(&mut self, expected: u64) -> Option<Nop> {
        (self.owed.max() > 0 || self.acknowledge_owed).then(|| self.nop(expected))
    }

    #[inline]
    fn hear(&mut self, nop: &Nop) -> Heard<u64> {
        self.credits.add(&nop.credits);
        Heard {
            acknowledged: Some(nop.acknowledge),
            repeat: false,
        }
    }

    fn sent_again_after(_: &Nop) -> Option<Ps> {
        None
    }

    fn owe(&mut self, nop: &Nop, _: Ps) {
        self.owed.add(&nop.credits);
    }

    /// Every damage shows in the CRC. With retry that is one per packet, and the link trains
    /// again; without, the periodic CRC notices later, and the packet is used.
    fn judge(&self, _: u64, packet: &mut Box<Packet>, _: NonZeroU32) -> Verdict {
        if self.retry {
            return Verdict::Trains;
        }
        packet.damaged = true;
        Verdict::Used
    }

    fn control_holds(_: &Nop, _: NonZeroU32) -> bool {
        false
    }
}

fn unit_digest(unit: &Unit) -> u64 {
    match unit {
        Unit::Control { control, .. } => {
            let fields = control.credits.command.iter().chain(&control.credits.data);
            fields.fold(control.acknowledge, |digest, &field| {
                digest << 4 ^ u64::from(field) ^ digest >> 61
            })
        }
        Unit::Packet { number, packet, .. } => packet.digest().rotate_left(9) ^ number,
    }
}
