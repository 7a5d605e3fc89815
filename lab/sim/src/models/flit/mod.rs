//! Links of today as a family of links: flits or frames; credits, pauses or neither; repetition
//! on the link or none.
//!
//! This module says what they do; `experiments::links` has the numbers. Scope and sources:
//! `docs/sim/links-of-today.md`.

mod config;
mod event;
mod piece;
mod switch;

pub use config::{FlitConfig, Flow, Retry, Shape};
pub use event::FlitEvent;
pub use piece::{Cell, Packer, Piece, PieceKind};
pub use switch::{Switch, SwitchCounters};

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::rc::Rc;

use crate::engine::Ps;

use crate::models::DeviceEvent;
use crate::models::link::{
    self, Damage, End, Family, Heard, LinkEvent, Number, Received, Terms, Verdict,
};

/// A link of today.
pub type Link = link::Link<Flit>;
/// A unit on its wires.
pub type Unit = link::Unit<Flit>;

/// Number of a flit or frame on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequence(u16);

impl Number for Sequence {
    const FIRST: Sequence = Sequence(0);
    const BEHIND_MAX: usize = 1 << 15;

    fn next(self) -> Sequence {
        Sequence(self.0.wrapping_add(1))
    }

    fn after(self, earlier: Sequence) -> usize {
        self.0.wrapping_sub(earlier.0) as usize
    }
}

/// Bytes of receive buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// How many.
    pub bytes: u32,
}

/// What an end tells the other one beside its pieces. Events are small, so this is 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Buffers that are empty.
    credits_bytes: u32,
    answer: Answer,
    /// Of an answer: everything before it has arrived.
    next: Sequence,
    leave: Leave,
}

/// About what has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    None,
    Ack,
    /// Everything from the number on has to be sent again.
    Nak,
}

/// Whether the other end may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    AsBefore,
    Stop,
    GoOn,
}

/// One end of a link of today.
#[derive(Debug)]
pub struct Flit {
    shape: Shape,
    keeps: bool,
    bytes_per_s: u64,
    /// As a transmitter: bytes that it may still send; none without credits.
    credits_bytes: Option<u32>,
    /// As a transmitter: it was told to stop.
    is_stopped: bool,
    /// As a receiver: where it says stop and go on, and whether it has said stop.
    pause: Option<(u32, u32)>,
    has_stopped: bool,
    occupied_bytes: u32,
    nak_sent: bool,
    nak_owed: bool,
    owed_bytes: u32,
    /// Since when something is owed.
    acknowledge_since: Option<Ps>,
    credits_since: Option<Ps>,
}

impl Flit {
    fn owe_credits(&mut self, cost: &Room, now: Ps) {
        if self.credits_bytes.is_some() {
            self.owed_bytes += cost.bytes;
            self.credits_since.get_or_insert(now);
        }
    }

    /// What the other end has to be told about its leave to send.
    fn leave_due(&self) -> Leave {
        match self.pause {
            Some((stop_bytes, _)) if !self.has_stopped && self.occupied_bytes > stop_bytes => {
                Leave::Stop
            }
            Some((_, go_bytes)) if self.has_stopped && self.occupied_bytes <= go_bytes => {
                Leave::GoOn
            }
            _ => Leave::AsBefore,
        }
    }
}

impl Family for Flit {
    type Config = FlitConfig;
    type Mode = ();
    /// These links are always up.
    type Role = Infallible;
    /// The transmitter keeps it until it is acknowledged, and shares it with the wires.
    type Packet = Rc<Cell>;
    type Channel = ();
    type Cost = Room;
    type Control = Control;
    type Number = Sequence;

    const TRAINING_STARTS_OVER: bool = false;
    /// These links repeat without end, so that a run shows what repetition costs.
    const REPLAYS_MAX: u32 = u32::MAX;
    const SETBACKS: &'static str = "trainings";

    fn wrap(event: LinkEvent<Flit>) -> DeviceEvent {
        DeviceEvent::Flit(event)
    }

    fn unwrap(event: DeviceEvent) -> Option<LinkEvent<Flit>> {
        match event {
            DeviceEvent::Flit(event) => Some(event),
            _ => None,
        }
    }

    fn digest(event: &LinkEvent<Flit>) -> u64 {
        let (kind, value) = match event {
            LinkEvent::Submit { end, packet } => (1, packet.digest() ^ *end as u64),
            LinkEvent::Release { end, cost } => (2, u64::from(cost.bytes) << 1 | *end as u64),
            LinkEvent::Deliver { port, packet } => (3, packet.digest() ^ u64::from(*port)),
            LinkEvent::Sent { port, .. } => (4, u64::from(*port)),
            LinkEvent::Free { end, .. } => (5, *end as u64),
            LinkEvent::Arrive { end, unit, .. } => (6, unit_digest(unit) ^ *end as u64),
            LinkEvent::ReplayTimer { end } => (7, *end as u64),
            LinkEvent::Again { end, .. } => (8, *end as u64),
            LinkEvent::Trained { .. } => (9, 0),
            LinkEvent::Port { end, .. } => (10, *end as u64),
            LinkEvent::Cable { plugged } => (11, u64::from(*plugged)),
            LinkEvent::State { port, .. } => (12, u64::from(*port)),
        };
        value.rotate_left(7) ^ kind
    }

    fn terms(config: &FlitConfig) -> Terms {
        Terms {
            propagation: config.propagation,
            trainings_max: 0,
            replay_timeout: config.retry.map(|retry| retry.timeout),
            replay_places: config.retry.map_or(usize::MAX, |retry| retry.places),
        }
    }

    fn damage(config: &mut FlitConfig, end: End, control: bool) -> Option<&mut Damage> {
        (!control).then(|| &mut config.damage[end as usize])
    }

    fn trained(_: &FlitConfig) -> Option<()> {
        Some(())
    }

    fn agree(roles: [Infallible; 2]) -> Option<Self::Mode> {
        match roles[0] {}
    }

    fn training_time(_: &FlitConfig, (): &(), _: bool) -> Ps {
        Ps::ZERO
    }

    fn cost(cell: &Rc<Cell>) -> Room {
        Room { bytes: cell.bytes }
    }

    fn channel(_: &Room) {}

    fn index((): ()) -> usize {
        0
    }

    fn channel_name((): ()) -> &'static str {
        "a place for"
    }

    fn passes_posted(_: &Rc<Cell>) -> bool {
        false
    }

    fn payload_bytes(cell: &Rc<Cell>) -> u64 {
        cell.payload_bytes()
    }

    fn describe(cell: &Rc<Cell>) -> String {
        format!("{} pieces of {} B", cell.pieces.len(), cell.bytes)
    }

    fn new(config: &FlitConfig, _: End) -> Flit {
        Flit {
            shape: config.shape,
            keeps: config.retry.is_some(),
            bytes_per_s: config.bytes_per_s,
            credits_bytes: match config.flow {
                Flow::Credits { bytes } => Some(bytes),
                Flow::Pause { .. } | Flow::Drop => None,
            },
            is_stopped: false,
            pause: match config.flow {
                Flow::Pause {
                    stop_bytes,
                    go_bytes,
                } => Some((stop_bytes, go_bytes)),
                Flow::Credits { .. } | Flow::Drop => None,
            },
            has_stopped: false,
            occupied_bytes: 0,
            nak_sent: false,
            nak_owed: false,
            owed_bytes: 0,
            acknowledge_since: None,
            credits_since: None,
        }
    }

    /// Such a link is up when it is made, and stays so.
    fn train(&mut self, _: &FlitConfig, _: End, (): &(), _: Ps, _: bool) {}

    fn keeps(&self) -> bool {
        self.keeps
    }

    fn wire_bytes(&self, unit: &Unit) -> u64 {
        match unit {
            Unit::Control { .. } => self.shape.control_bytes(),
            Unit::Packet { packet, .. } => self.shape.wire_bytes(packet.bytes),
        }
    }

    fn serialise(&mut self, now: Ps, bytes: u64, _: &FlitConfig) -> [Ps; 2] {
        let ps = u128::from(bytes) * 1_000_000_000_000;
        let ps = ps.div_ceil(u128::from(self.bytes_per_s.max(1)));
        [now, now + Ps(u64::try_from(ps).unwrap_or(u64::MAX))]
    }

    fn missing(&self, cost: &Room) -> Option<&'static str> {
        if self.is_stopped {
            return Some("leave to go on");
        }
        let has_credits = self.credits_bytes.is_none_or(|left| left >= cost.bytes);
        (!has_credits).then_some("credits")
    }

    fn spend(&mut self, cost: &Room) {
        if let Some(left) = &mut self.credits_bytes {
            *left = left.saturating_sub(cost.bytes);
        }
    }

    fn release(&mut self, cost: &Room, now: Ps) {
        self.occupied_bytes = self.occupied_bytes.saturating_sub(cost.bytes);
        self.owe_credits(cost, now);
    }

    fn is_empty(&self) -> bool {
        true
    }

    fn received(&mut self, what: Received, cost: &Room, now: Ps) {
        match what {
            Received::InOrder => {
                self.occupied_bytes += cost.bytes;
                self.nak_sent = false;
            }
            Received::Duplicate => {}
            // Its buffers were not used.
            Received::Lost => return self.owe_credits(cost, now),
            // One Nak until the right one comes.
            Received::Gap | Received::Damaged => {
                self.nak_owed |= self.keeps && !self.nak_sent;
                self.nak_sent = true;
                return;
            }
        }
        if self.keeps {
            self.acknowledge_since.get_or_insert(now);
        }
    }

    fn urgent(&mut self, now: Ps, expected: Sequence, config: &FlitConfig) -> Option<Control> {
        let owed = [self.acknowledge_since, self.credits_since];
        let oldest = owed.into_iter().flatten().min();
        let is_overdue = oldest.is_some_and(|since| now >= since + config.control_wait);
        if self.nak_owed || is_overdue || self.leave_due() != Leave::AsBefore {
            return self.idle(expected);
        }
        None
    }

    /// Everything that is owed at once.
    fn idle(&mut self, expected: Sequence) -> Option<Control> {
        let answer = match (self.nak_owed, self.acknowledge_since.take()) {
            (true, _) => Answer::Nak,
            (false, Some(_)) => Answer::Ack,
            (false, None) => Answer::None,
        };
        self.nak_owed = false;
        self.credits_since = None;
        let leave = self.leave_due();
        match leave {
            Leave::AsBefore => {}
            Leave::Stop => self.has_stopped = true,
            Leave::GoOn => self.has_stopped = false,
        }
        let credits_bytes = std::mem::take(&mut self.owed_bytes);
        let is_empty = answer == Answer::None && leave == Leave::AsBefore && credits_bytes == 0;
        (!is_empty).then_some(Control {
            credits_bytes,
            answer,
            next: expected,
            leave,
        })
    }

    fn hear(&mut self, control: &Control) -> Heard<Sequence> {
        if let Some(left) = &mut self.credits_bytes {
            *left += control.credits_bytes;
        }
        match control.leave {
            Leave::AsBefore => {}
            Leave::Stop => self.is_stopped = true,
            Leave::GoOn => self.is_stopped = false,
        }
        Heard {
            acknowledged: (control.answer != Answer::None).then_some(control.next),
            repeat: control.answer == Answer::Nak,
        }
    }

    /// They are not damaged.
    fn sent_again_after(_: &Control) -> Option<Ps> {
        None
    }

    fn owe(&mut self, _: &Control, _: Ps) {}

    /// Every check sequence finds its damage.
    fn judge(&self, _: Sequence, _: &mut Rc<Cell>, _: NonZeroU32) -> Verdict {
        match self.keeps {
            true => Verdict::Refused,
            false => Verdict::Lost,
        }
    }

    fn control_holds(_: &Control, _: NonZeroU32) -> bool {
        true
    }
}

fn unit_digest(unit: &Unit) -> u64 {
    match unit {
        Unit::Packet {
            number,
            packet,
            damaged,
            ..
        } => packet.digest() ^ (u64::from(number.0) << 4 | u64::from(damaged.is_some()) << 1),
        Unit::Control { control, .. } => {
            u64::from(control.credits_bytes) << 32
                ^ u64::from(control.next.0) << 8
                ^ (control.answer as u64) << 4
                ^ control.leave as u64
        }
    }
}
