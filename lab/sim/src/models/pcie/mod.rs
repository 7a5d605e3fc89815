//! PCI Express as a family of links: flow control counters, DLLPs, Ack, Nak and the replay timer.
//!
//! Sequence numbers, credit counters and DLLPs are those of `hostwire-packet`. A TLP or DLLP that
//! is damaged is really encoded, one bit of it is changed, and its CRC decides.

pub mod bridge;
mod config;
mod credit;
pub mod mover;
pub mod peach2;
mod tlp;

pub use config::{Credits, LANES, LinkConfig, RATES_MT_S, Role, Speed};
pub use tlp::Tlp;
pub(crate) use tlp::parts;

use std::num::NonZeroU32;
use std::rc::Rc;

use hostwire_packet::pcie::{
    CreditClass, CreditCost, DLLP_LEN, DLLP_WIRE_LEN, DllpRepr, LinkTlpRepr, SequenceNumber,
};

use crate::engine::Ps;

use crate::models::DeviceEvent;
use crate::models::link::{
    self, Damage, End, Family, Heard, LinkEvent, Number, Received, Terms, Verdict,
};
use credit::Counter;

/// A PCI Express link.
pub type Link = link::Link<Pcie>;
/// A unit on its wires.
pub type Unit = link::Unit<Pcie>;

/// UpdateFCs are repeated at this interval (base specification, 2.6.1.2). Only those that would
/// change something are simulated.
const UPDATE_INTERVAL: Ps = Ps::from_us(30);

const CLASSES: [CreditClass; 3] = [
    CreditClass::Posted,
    CreditClass::NonPosted,
    CreditClass::Completion,
];

impl Number for SequenceNumber {
    const FIRST: SequenceNumber = SequenceNumber::MIN;
    /// Half of the numbers lie behind, half ahead.
    const BEHIND_MAX: usize = 2048;

    fn next(self) -> SequenceNumber {
        SequenceNumber::next(self)
    }

    fn after(self, earlier: SequenceNumber) -> usize {
        usize::from(self.ahead_of(earlier))
    }
}

/// One end of a PCI Express link.
#[derive(Debug)]
pub struct Pcie {
    consumed: [Counter; 3],
    limit: [Counter; 3],
    allocated: [Counter; 3],
    nak_sent: bool,
    nak_owed: bool,
    acknowledge_since: Option<Ps>,
    update_since: [Option<Ps>; 3],
    /// TLPs that came in and still have their buffers.
    held: u32,
}

impl Pcie {
    fn overdue(&self, now: Ps, config: &LinkConfig) -> bool {
        let owed = self.update_since.iter().chain([&self.acknowledge_since]);
        let oldest = owed.flatten().min();
        oldest.is_some_and(|since| now >= *since + config.dllp_wait)
    }
}

impl Family for Pcie {
    type Config = LinkConfig;
    type Mode = ();
    type Role = Role;
    /// The transmitter keeps it until it is acknowledged, and shares it with the wires.
    type Packet = Rc<Tlp>;
    type Channel = CreditClass;
    type Cost = CreditCost;
    type Control = DllpRepr;
    type Number = SequenceNumber;

    const TRAINING_STARTS_OVER: bool = false;
    /// REPLAY_NUM has two bits.
    const REPLAYS_MAX: u32 = 4;
    const SETBACKS: &'static str = "trainings";

    fn wrap(event: LinkEvent<Pcie>) -> DeviceEvent {
        DeviceEvent::Pcie(event)
    }

    fn unwrap(event: DeviceEvent) -> Option<LinkEvent<Pcie>> {
        match event {
            DeviceEvent::Pcie(event) => Some(event),
            _ => None,
        }
    }

    fn digest(event: &LinkEvent<Pcie>) -> u64 {
        let (kind, value) = match event {
            LinkEvent::Submit { end, packet } => (1, packet.digest() ^ *end as u64),
            LinkEvent::Release { end, cost } => (2, cost_digest(cost) ^ (*end as u64) << 40),
            LinkEvent::Deliver { port, packet } => (3, packet.digest() ^ u64::from(*port)),
            LinkEvent::Sent { port, channel } => (4, u64::from(*port) << 8 | *channel as u64),
            LinkEvent::Free { end, .. } => (5, 1 << 8 | *end as u64),
            LinkEvent::Arrive { end, unit, .. } => (5, unit_digest(unit) ^ *end as u64),
            LinkEvent::ReplayTimer { end } => (5, 2 << 8 | *end as u64),
            LinkEvent::Again { end, control } => (5, 3 << 8 | class_of(control) << 1 | *end as u64),
            LinkEvent::Trained { .. } => (5, 4 << 8),
            LinkEvent::Port { end, role } => (
                6,
                (*end as u64) << 8 | role.map_or(0, |role| role as u64 + 1),
            ),
            LinkEvent::Cable { plugged } => (7, u64::from(*plugged)),
            LinkEvent::State { port, state } => (
                8,
                u64::from(*port) << 8 | u64::from(state.is_plugged) << 1 | u64::from(state.is_up),
            ),
        };
        value.rotate_left(7) ^ kind
    }

    fn terms(config: &LinkConfig) -> Terms {
        Terms {
            propagation: config.propagation,
            trainings_max: config.retrains_max,
            replay_timeout: Some(config.replay_timeout),
            replay_places: config.replay_places,
        }
    }

    fn damage(config: &mut LinkConfig, end: End, control: bool) -> Option<&mut Damage> {
        let damage = if control {
            &mut config.dllp_damage
        } else {
            &mut config.tlp_damage
        };
        Some(&mut damage[end as usize])
    }

    /// Links are trained, with their credits announced, when a sub-cluster starts.
    fn trained(_: &LinkConfig) -> Option<()> {
        Some(())
    }

    /// A root complex begins, an endpoint answers: two alike wait for each other.
    fn agree(roles: [Role; 2]) -> Option<()> {
        (roles[0] != roles[1]).then_some(())
    }

    fn training_time(config: &LinkConfig, (): &(), again: bool) -> Ps {
        if again {
            config.retrain
        } else {
            config.training
        }
    }

    fn cost(tlp: &Rc<Tlp>) -> CreditCost {
        tlp.cost()
    }

    fn channel(cost: &CreditCost) -> CreditClass {
        cost.class
    }

    fn index(class: CreditClass) -> usize {
        class as usize
    }

    fn channel_name(class: CreditClass) -> &'static str {
        class.name()
    }

    /// Relaxed ordering is not modelled.
    fn passes_posted(_: &Rc<Tlp>) -> bool {
        false
    }

    fn payload_bytes(tlp: &Rc<Tlp>) -> u64 {
        tlp.data.len() as u64
    }

    fn describe(tlp: &Rc<Tlp>) -> String {
        tlp.name()
    }

    fn new(config: &LinkConfig, end: End) -> Pcie {
        let counters = |credits: &Credits| {
            [0, 1, 2].map(|class| Counter::new(credits.header[class], credits.data[class]))
        };
        Pcie {
            consumed: Default::default(),
            limit: counters(&config.credits[end.other() as usize]),
            allocated: counters(&config.credits[end as usize]),
            nak_sent: false,
            nak_owed: false,
            acknowledge_since: None,
            update_since: [None; 3],
            held: 0,
        }
    }

    /// Recovery keeps credits and numbers.
    fn train(&mut self, config: &LinkConfig, end: End, (): &(), _: Ps, again: bool) {
        if !again {
            *self = Pcie::new(config, end);
        }
    }

    fn keeps(&self) -> bool {
        true
    }

    fn wire_bytes(&self, unit: &Unit) -> u64 {
        match unit {
            Unit::Control { .. } => DLLP_WIRE_LEN as u64,
            Unit::Packet { packet, .. } => packet.wire_bytes(),
        }
    }

    fn serialise(&mut self, now: Ps, bytes: u64, config: &LinkConfig) -> [Ps; 2] {
        [now, now + config.speed.time(bytes)]
    }

    fn missing(&self, cost: &CreditCost) -> Option<&'static str> {
        let class = cost.class as usize;
        let allowed = self.consumed[class].allows(self.limit[class], cost);
        (!allowed).then_some("credits")
    }

    fn spend(&mut self, cost: &CreditCost) {
        self.consumed[cost.class as usize].add(cost);
    }

    fn release(&mut self, cost: &CreditCost, now: Ps) {
        let class = cost.class as usize;
        self.allocated[class].add(cost);
        self.update_since[class].get_or_insert(now);
        self.held = self.held.saturating_sub(1);
    }

    fn is_empty(&self) -> bool {
        self.held == 0
    }

    fn received(&mut self, what: Received, _: &CreditCost, now: Ps) {
        match what {
            Received::InOrder => {
                self.held += 1;
                self.nak_sent = false;
                self.acknowledge_since.get_or_insert(now);
            }
            Received::Duplicate => {
                self.acknowledge_since.get_or_insert(now);
            }
            // One Nak until the right TLP comes. None is lost: damaged ones are refused.
            Received::Gap | Received::Damaged | Received::Lost => {
                self.nak_owed |= !self.nak_sent;
                self.nak_sent = true;
            }
        }
    }

    fn urgent(
        &mut self,
        now: Ps,
        expected: SequenceNumber,
        config: &LinkConfig,
    ) -> Option<DllpRepr> {
        if self.nak_owed || self.overdue(now, config) {
            return self.idle(expected);
        }
        None
    }

    fn idle(&mut self, expected: SequenceNumber) -> Option<DllpRepr> {
        // The number before the expected one.
        let last = (expected.get() + 4095) % 4096;
        let sequence = SequenceNumber::new(last).unwrap_or(SequenceNumber::MIN);
        if self.nak_owed {
            self.nak_owed = false;
            self.acknowledge_since = None;
            return Some(DllpRepr::Nak { sequence });
        }
        if self.acknowledge_since.take().is_some() {
            return Some(DllpRepr::Ack { sequence });
        }
        let class = CLASSES
            .into_iter()
            .find(|class| self.update_since[*class as usize].is_some())?;
        self.update_since[class as usize] = None;
        Some(self.allocated[class as usize].update(class))
    }

    fn hear(&mut self, dllp: &DllpRepr) -> Heard<SequenceNumber> {
        match *dllp {
            DllpRepr::Ack { sequence } => Heard {
                acknowledged: Some(sequence.next()),
                repeat: false,
            },
            DllpRepr::Nak { sequence } => Heard {
                acknowledged: Some(sequence.next()),
                repeat: true,
            },
            DllpRepr::FlowControl {
                class,
                header,
                data,
                ..
            } => {
                self.limit[class as usize] = Counter::new(header, data.get());
                Heard::default()
            }
        }
    }

    /// An Ack that is lost is made good by the next one, or by the replay timer.
    fn sent_again_after(dllp: &DllpRepr) -> Option<Ps> {
        matches!(dllp, DllpRepr::FlowControl { .. }).then_some(UPDATE_INTERVAL)
    }

    fn owe(&mut self, dllp: &DllpRepr, now: Ps) {
        if let DllpRepr::FlowControl { class, .. } = dllp {
            self.update_since[*class as usize].get_or_insert(now);
        }
    }

    /// Encodes the TLP, changes a bit, and checks the LCRC.
    fn judge(
        &self,
        number: SequenceNumber,
        tlp: &mut Rc<Tlp>,
        transmission: NonZeroU32,
    ) -> Verdict {
        let Some(mut bytes) = tlp.on_the_link(number) else {
            return Verdict::Refused;
        };
        flip(&mut bytes, transmission);
        match LinkTlpRepr::parse(&bytes) {
            Ok(_) => Verdict::Sound,
            Err(_) => Verdict::Refused,
        }
    }

    fn control_holds(dllp: &DllpRepr, transmission: NonZeroU32) -> bool {
        let mut bytes = [0; DLLP_LEN];
        if dllp.emit(&mut bytes).is_err() {
            return false;
        }
        flip(&mut bytes, transmission);
        DllpRepr::parse(&bytes).is_ok()
    }
}

/// Changes one bit, another one for each transmission.
fn flip(bytes: &mut [u8], transmission: NonZeroU32) {
    let bit = u64::from(transmission.get()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
    let index = (bit / 8 % bytes.len().max(1) as u64) as usize;
    if let Some(byte) = bytes.get_mut(index) {
        *byte ^= 1 << (bit % 8);
    }
}

fn unit_digest(unit: &Unit) -> u64 {
    match unit {
        Unit::Packet {
            number,
            packet,
            damaged,
            ..
        } => packet.digest() ^ (u64::from(number.get()) << 4 | u64::from(damaged.is_some()) << 1),
        Unit::Control { control, damaged } => {
            let mut bytes = [0; 8];
            // A buffer of 8 bytes holds a DLLP of 6.
            let _ = control.emit(&mut bytes);
            u64::from_be_bytes(bytes) ^ u64::from(damaged.is_some()) << 1
        }
    }
}

fn class_of(dllp: &DllpRepr) -> u64 {
    match dllp {
        DllpRepr::FlowControl { class, .. } => *class as u64,
        DllpRepr::Ack { .. } | DllpRepr::Nak { .. } => 0,
    }
}

pub(super) fn cost_digest(cost: &CreditCost) -> u64 {
    (cost.class as u64) << 32 | u64::from(cost.header) << 16 | u64::from(cost.data)
}
