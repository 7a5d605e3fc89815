//! What makes links differ: the family.

use std::fmt::Debug;
use std::num::NonZeroU32;

use crate::engine::Ps;
use crate::models::DeviceEvent;

use super::config::{Damage, End, Terms};
use super::event::LinkEvent;

/// Numbers of packets in one direction.
pub trait Number: Copy + Debug + PartialEq + 'static {
    /// That of the first packet.
    const FIRST: Self;
    /// A packet that lies at most so many numbers behind the expected one was received before.
    const BEHIND_MAX: usize;

    /// The number after this one.
    fn next(self) -> Self;

    /// How many numbers this one comes after `earlier`; a large value if it comes before.
    fn after(self, earlier: Self) -> usize;
}

/// A unit that crosses the wires in one piece.
#[derive(Debug)]
pub enum Unit<F: Family> {
    /// Flow control and acknowledgements: a NOP, a DLLP.
    Control {
        /// What it says.
        control: F::Control,
        /// Number of the transmission, if it was damaged.
        damaged: Option<NonZeroU32>,
    },
    /// A packet with its number.
    Packet {
        /// Its number.
        number: F::Number,
        /// The packet.
        packet: F::Packet,
        /// It has been on the wires before.
        replayed: bool,
        /// Number of the transmission, if it was damaged.
        damaged: Option<NonZeroU32>,
    },
}

/// What a packet that came in was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The expected one. Its device gets it.
    InOrder,
    /// One that has been received before.
    Duplicate,
    /// One behind a packet that is missing.
    Gap,
    /// One that cannot be used.
    Damaged,
    /// One that cannot be used, and that nobody repeats.
    Lost,
}

/// What becomes of a packet that was damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The digest still holds.
    Sound,
    /// Only a later check notices: the device gets it.
    Used,
    /// The transmitter is asked to repeat it.
    Refused,
    /// It is thrown away, and the link does not miss it.
    Lost,
    /// The link trains again.
    Trains,
}

/// What a control unit tells the end that it reaches.
#[derive(Clone, Copy, Debug)]
pub struct Heard<N> {
    /// All packets before this number have arrived.
    pub acknowledged: Option<N>,
    /// All packets that are not acknowledged are to be sent again.
    pub repeat: bool,
}

impl<N> Default for Heard<N> {
    fn default() -> Self {
        Heard {
            acknowledged: None,
            repeat: false,
        }
    }
}

/// A family of links, as the state of one end: its flow control, its clock, and what it owes the
/// other end. Queues, ordering, numbers, repetition and training are those of
/// [`Link`](super::Link), alike for all families.
pub trait Family: Debug + Sized + 'static {
    /// Everything that training does not decide.
    type Config: 'static;
    /// What training decides.
    type Mode: Copy + 'static;
    /// What a port is on this link, where ports are switched while a simulation runs.
    type Role: Copy + Debug;
    /// A packet.
    type Packet: Clone + Debug;
    /// One of three classes of packets with buffers of their own; the first one is posted.
    type Channel: Copy + Debug;
    /// The receive buffers that a packet takes.
    type Cost: Copy + Debug;
    /// A unit that is no packet.
    type Control: Debug;
    /// Numbers of packets.
    type Number: Number;

    /// Training starts both ends over: what is on the wires is lost, and buffers are announced
    /// again, so that repeated packets take credits again.
    const TRAINING_STARTS_OVER: bool;
    /// Repetitions without an acknowledgement between them after which the link trains again.
    const REPLAYS_MAX: u32;
    /// What makes a link of this family train again, in reports.
    const SETBACKS: &'static str;

    /// The event of the simulation for an event of a link.
    fn wrap(event: LinkEvent<Self>) -> DeviceEvent;
    /// The event of a link of this family, if it is one.
    fn unwrap(event: DeviceEvent) -> Option<LinkEvent<Self>>;
    /// Stands for an event in the event hash.
    fn digest(event: &LinkEvent<Self>) -> u64;

    /// What a configuration says to the link layer of every family.
    fn terms(config: &Self::Config) -> Terms;
    /// Damage of the direction that begins at `end`, to packets or to control units.
    fn damage(config: &mut Self::Config, end: End, control: bool) -> Option<&mut Damage>;
    /// The mode of a link that is trained when it is made.
    fn trained(config: &Self::Config) -> Option<Self::Mode>;
    /// The mode that ports in these roles train to; `None` if they do not fit.
    fn agree(roles: [Self::Role; 2]) -> Option<Self::Mode>;
    /// The time that training takes: the first one, or another one of a link that was up.
    fn training_time(config: &Self::Config, mode: &Self::Mode, again: bool) -> Ps;

    /// The buffers that a packet takes.
    fn cost(packet: &Self::Packet) -> Self::Cost;
    /// The channel of a packet that takes these buffers.
    fn channel(cost: &Self::Cost) -> Self::Channel;
    /// Place of a channel among the three.
    fn index(channel: Self::Channel) -> usize;
    /// Name of a channel in reports.
    fn channel_name(channel: Self::Channel) -> &'static str;
    /// Whether a packet may pass older posted ones.
    fn passes_posted(packet: &Self::Packet) -> bool;
    /// Bytes of data in a packet.
    fn payload_bytes(packet: &Self::Packet) -> u64;
    /// A packet in reports.
    fn describe(packet: &Self::Packet) -> String;

    /// One end of a new link.
    fn new(config: &Self::Config, end: End) -> Self;
    /// Training begins; the wires are free at `ready`. `again`: buffers that are in use stay so.
    fn train(&mut self, config: &Self::Config, end: End, mode: &Self::Mode, ready: Ps, again: bool);

    /// Whether packets are kept until they are acknowledged.
    fn keeps(&self) -> bool;
    /// Length of a unit on the wires, in symbols of a byte.
    fn wire_bytes(&self, unit: &Unit<Self>) -> u64;
    /// Begin and end of a transmission of so many bytes, not before `now`.
    fn serialise(&mut self, now: Ps, bytes: u64, config: &Self::Config) -> [Ps; 2];

    /// The credit that is missing for a packet that takes these buffers.
    fn missing(&self, cost: &Self::Cost) -> Option<&'static str>;
    /// Takes the credits of a packet.
    fn spend(&mut self, cost: &Self::Cost);
    /// The device has emptied buffers.
    fn release(&mut self, cost: &Self::Cost, now: Ps);
    /// Whether the device has emptied the buffers of all packets that came in. Asked only of
    /// links whose ports are switched.
    fn is_empty(&self) -> bool;
    /// A packet has come in.
    fn received(&mut self, what: Received, cost: &Self::Cost, now: Ps);

    /// A control unit that goes before packets. `expected`: the next number from the other end.
    fn urgent(
        &mut self,
        now: Ps,
        expected: Self::Number,
        config: &Self::Config,
    ) -> Option<Self::Control>;
    /// A control unit to be sent if there is nothing else.
    fn idle(&mut self, expected: Self::Number) -> Option<Self::Control>;
    /// A sound control unit has come in.
    fn hear(&mut self, control: &Self::Control) -> Heard<Self::Number>;
    /// After how long a control unit that was lost is sent again, if anybody misses it.
    fn sent_again_after(control: &Self::Control) -> Option<Ps>;
    /// Owes a control unit again that was lost.
    fn owe(&mut self, control: &Self::Control, now: Ps);

    /// What becomes of a damaged packet.
    fn judge(
        &self,
        number: Self::Number,
        packet: &mut Self::Packet,
        transmission: NonZeroU32,
    ) -> Verdict;
    /// Whether the digest of a damaged control unit still holds.
    fn control_holds(control: &Self::Control, transmission: NonZeroU32) -> bool;
}
