//! A PCI Express link: serialisation, flow control, Ack, Nak and replay.
//!
//! Both directions and the data link layers of both ends are one component. Sequence numbers,
//! credit counters and DLLPs are those of `hostwire-packet`. A TLP or DLLP that is damaged is
//! really encoded, one bit of it is changed, and its CRC decides.

mod config;
mod credit;
mod end;

use hostwire_packet::pcie::{
    CreditClass, DLLP_LEN, DLLP_WIRE_LEN, DllpRepr, LinkTlpRepr, SequenceNumber,
};

use crate::devices::link::End;
use crate::engine::{Component, ComponentId, Context, Ps, Wait};

pub use config::{Credits, LinkConfig};

use super::event::PcieEvent;
use super::tlp::Tlp;
use end::{EndState, Next, Received};

/// Replays after which a link trains again: REPLAY_NUM has two bits.
const REPLAYS_MAX: u32 = 4;
/// UpdateFCs are repeated at this interval (base specification, 2.6.1.2). Only those that would
/// change something are simulated.
const UPDATE_INTERVAL: Ps = Ps::from_us(30);

/// Events of a link for itself.
#[derive(Debug)]
pub enum LinkEvent {
    /// The direction that begins at an end is free again.
    Free(End),
    /// A TLP reaches an end.
    Tlp {
        /// Where it arrives.
        end: End,
        /// Its number.
        sequence: SequenceNumber,
        /// The TLP.
        tlp: Tlp,
        /// Number of the transmission, if it was damaged.
        damaged: Option<u64>,
    },
    /// A DLLP reaches an end.
    Dllp {
        /// Where it arrives.
        end: End,
        /// The DLLP.
        dllp: DllpRepr,
        /// Number of the transmission, if it was damaged.
        damaged: Option<u64>,
    },
    /// Has an end waited for an Ack too long?
    ReplayTimer(End),
    /// An end repeats an UpdateFC.
    Repeat(End, CreditClass),
    /// The link has trained again.
    Trained,
}

impl LinkEvent {
    pub(super) fn digest(&self) -> u64 {
        match self {
            LinkEvent::Free(end) => 1 << 8 | *end as u64,
            LinkEvent::Tlp {
                end,
                sequence,
                tlp,
                damaged,
            } => {
                let number = u64::from(sequence.get()) << 4 | u64::from(damaged.is_some()) << 1;
                tlp.digest() ^ number ^ *end as u64
            }
            LinkEvent::Dllp { end, dllp, damaged } => {
                let mut bytes = [0; 8];
                // A buffer of 8 bytes holds a DLLP of 6.
                let _ = dllp.emit(&mut bytes);
                u64::from_be_bytes(bytes) ^ u64::from(damaged.is_some()) << 1 ^ *end as u64
            }
            LinkEvent::ReplayTimer(end) => 2 << 8 | *end as u64,
            LinkEvent::Repeat(end, class) => 3 << 8 | (*class as u64) << 1 | *end as u64,
            LinkEvent::Trained => 4 << 8,
        }
    }
}

/// The counters of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// TLPs, replayed ones each time.
    pub tlps: u64,
    /// TLPs that were sent again.
    pub replayed: u64,
    /// DLLPs.
    pub dllps: u64,
    /// Data of TLPs that were not replayed.
    pub payload_bytes: u64,
    /// Symbols of TLPs and DLLPs.
    pub wire_bytes: u64,
    /// TLPs and DLLPs with a wrong CRC.
    pub crc_errors: u64,
    /// Begin of the first TLP.
    pub first_begin: Option<Ps>,
    /// End of the last TLP.
    pub last_end: Ps,
    /// Time that something was on the wire.
    pub busy: Ps,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Up,
    Training,
    Failed,
}

/// Sees every TLP that crosses the wires, replayed ones each time: where from, its begin and end
/// at the transmitter, its number.
pub type Tap = Box<dyn FnMut(End, [Ps; 2], SequenceNumber, &Tlp)>;

/// A link between two devices.
pub struct Link {
    config: LinkConfig,
    ends: [EndState; 2],
    counters: [LinkCounters; 2],
    state: State,
    retrains: u32,
    tap: Option<Tap>,
}

impl Link {
    /// A trained link with its credits announced.
    pub fn new(config: LinkConfig) -> Link {
        let [a, b] = &config.credits;
        let ends = [EndState::new(a, b), EndState::new(b, a)];
        Link {
            config,
            ends,
            counters: Default::default(),
            state: State::Up,
            retrains: 0,
            tap: None,
        }
    }

    /// Shows every TLP to `tap` from now on. It changes nothing.
    pub fn set_tap(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }

    /// Attaches port `port` of `device` to `end`.
    pub fn attach(&mut self, end: End, device: ComponentId, port: u8) {
        self.ends[end as usize].device = Some((device, port));
    }

    /// The counters of the direction that begins at `end`.
    pub fn counters(&self, end: End) -> LinkCounters {
        self.counters[end as usize]
    }

    /// Retrainings so far without progress since.
    pub fn retrains(&self) -> u32 {
        self.retrains
    }

    /// Whether it has given up.
    pub fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    fn transmit(&mut self, end: End, ctx: &mut Context<'_, PcieEvent>) {
        let state = &mut self.ends[end as usize];
        if self.state != State::Up || state.busy {
            return;
        }
        let Some(next) = state.next(ctx.now(), &self.config) else {
            return;
        };
        state.busy = true;
        let counters = &mut self.counters[end as usize];
        let to = end.other();
        let (bytes, event) = match next {
            Next::Tlp {
                sequence,
                tlp,
                replayed,
            } => {
                state.transmissions[0] += 1;
                let number = state.transmissions[0];
                let damaged = self.config.tlp_damage[end as usize].hits(number);
                counters.tlps += 1;
                counters.first_begin.get_or_insert(ctx.now());
                if replayed {
                    counters.replayed += 1;
                } else {
                    counters.payload_bytes += tlp.data.len() as u64;
                    if let Some((device, port)) = state.device {
                        let class = tlp.class();
                        ctx.schedule(device, Ps::ZERO, PcieEvent::Sent { port, class });
                    }
                }
                let bytes = tlp.wire_bytes();
                counters.last_end = ctx.now() + self.config.byte * bytes;
                if let Some(tap) = &mut self.tap {
                    tap(end, [ctx.now(), counters.last_end], sequence, &tlp);
                }
                let arrives = LinkEvent::Tlp {
                    end: to,
                    sequence,
                    tlp,
                    damaged: damaged.then_some(number),
                };
                (bytes, arrives)
            }
            Next::Dllp(dllp) => {
                state.transmissions[1] += 1;
                let number = state.transmissions[1];
                let damaged = self.config.dllp_damage[end as usize].hits(number);
                counters.dllps += 1;
                let arrives = LinkEvent::Dllp {
                    end: to,
                    dllp,
                    damaged: damaged.then_some(number),
                };
                (DLLP_WIRE_LEN as u64, arrives)
            }
        };
        let time = self.config.byte * bytes;
        counters.wire_bytes += bytes;
        counters.busy += time;
        ctx.schedule(ctx.me(), time, PcieEvent::Link(LinkEvent::Free(end)));
        let arrival = time + self.config.propagation;
        ctx.schedule(ctx.me(), arrival, PcieEvent::Link(event));
        self.arm(end, ctx);
    }

    fn arm(&mut self, end: End, ctx: &mut Context<'_, PcieEvent>) {
        let state = &mut self.ends[end as usize];
        if state.timer_armed {
            return;
        }
        if let Some(at) = state.timeout_at(ctx.now(), &self.config) {
            state.timer_armed = true;
            let timer = PcieEvent::Link(LinkEvent::ReplayTimer(end));
            ctx.schedule_at(ctx.me(), at, timer);
        }
    }

    fn arrive(
        &mut self,
        end: End,
        sequence: SequenceNumber,
        tlp: Tlp,
        damaged: Option<u64>,
        ctx: &mut Context<'_, PcieEvent>,
    ) {
        let state = &mut self.ends[end as usize];
        if damaged.is_some_and(|number| !tlp_survives(sequence, &tlp, number)) {
            self.counters[end.other() as usize].crc_errors += 1;
            state.refuse();
        } else if state.receive(sequence, ctx.now()) == Received::InOrder {
            self.retrains = 0;
            if let Some((device, port)) = state.device {
                ctx.schedule(device, Ps::ZERO, PcieEvent::Deliver { port, tlp });
            }
        }
        self.transmit(end, ctx);
    }

    fn arrive_dllp(
        &mut self,
        end: End,
        dllp: DllpRepr,
        damaged: Option<u64>,
        ctx: &mut Context<'_, PcieEvent>,
    ) {
        if damaged.is_some_and(|number| !dllp_survives(&dllp, number)) {
            self.counters[end.other() as usize].crc_errors += 1;
            if let DllpRepr::FlowControl { class, .. } = dllp {
                let repeat = PcieEvent::Link(LinkEvent::Repeat(end.other(), class));
                ctx.schedule(ctx.me(), UPDATE_INTERVAL, repeat);
            }
            return;
        }
        let state = &mut self.ends[end as usize];
        match dllp {
            DllpRepr::Ack { sequence } => state.acknowledge(sequence),
            DllpRepr::Nak { sequence } => {
                state.acknowledge(sequence);
                self.replay(end, ctx);
            }
            DllpRepr::FlowControl {
                class,
                header,
                data,
                ..
            } => state.update(class, header, data.get()),
        }
        self.transmit(end, ctx);
    }

    fn replay(&mut self, end: End, ctx: &mut Context<'_, PcieEvent>) {
        let state = &mut self.ends[end as usize];
        if !state.replay() {
            return;
        }
        state.replays += 1;
        if state.replays < REPLAYS_MAX || self.state != State::Up {
            return;
        }
        state.replays = 0;
        self.retrains += 1;
        self.state = if self.retrains > self.config.retrains_max {
            State::Failed
        } else {
            let trained = PcieEvent::Link(LinkEvent::Trained);
            ctx.schedule(ctx.me(), self.config.retrain, trained);
            State::Training
        };
    }
}

/// Encodes the TLP, changes a bit, and checks the LCRC.
fn tlp_survives(sequence: SequenceNumber, tlp: &Tlp, number: u64) -> bool {
    let Some(mut bytes) = tlp.on_the_link(sequence) else {
        return false;
    };
    flip(&mut bytes, number);
    LinkTlpRepr::parse(&bytes).is_ok()
}

fn dllp_survives(dllp: &DllpRepr, number: u64) -> bool {
    let mut bytes = [0; DLLP_LEN];
    if dllp.emit(&mut bytes).is_err() {
        return false;
    }
    flip(&mut bytes, number);
    DllpRepr::parse(&bytes).is_ok()
}

/// Changes one bit, another one for each transmission.
fn flip(bytes: &mut [u8], number: u64) {
    let bit = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
    let index = (bit / 8 % bytes.len().max(1) as u64) as usize;
    if let Some(byte) = bytes.get_mut(index) {
        *byte ^= 1 << (bit % 8);
    }
}

impl Component<PcieEvent> for Link {
    fn handle(&mut self, event: PcieEvent, ctx: &mut Context<'_, PcieEvent>) {
        match event {
            PcieEvent::Submit { end, tlp } => {
                self.ends[end as usize].push(tlp);
                self.transmit(end, ctx);
            }
            PcieEvent::Release { end, cost } => {
                self.ends[end as usize].release(&cost, ctx.now());
                self.transmit(end, ctx);
            }
            PcieEvent::Link(LinkEvent::Free(end)) => {
                self.ends[end as usize].busy = false;
                self.transmit(end, ctx);
            }
            PcieEvent::Link(LinkEvent::Tlp {
                end,
                sequence,
                tlp,
                damaged,
            }) => self.arrive(end, sequence, tlp, damaged, ctx),
            PcieEvent::Link(LinkEvent::Dllp { end, dllp, damaged }) => {
                self.arrive_dllp(end, dllp, damaged, ctx);
            }
            PcieEvent::Link(LinkEvent::ReplayTimer(end)) => {
                let state = &mut self.ends[end as usize];
                state.timer_armed = false;
                let at = state.timeout_at(ctx.now(), &self.config);
                if self.state == State::Up && at.is_some_and(|at| at <= ctx.now()) {
                    self.replay(end, ctx);
                }
                if self.state == State::Up {
                    self.arm(end, ctx);
                    self.transmit(end, ctx);
                }
            }
            PcieEvent::Link(LinkEvent::Repeat(end, class)) => {
                self.ends[end as usize].repeat_update(class, ctx.now());
                self.transmit(end, ctx);
            }
            PcieEvent::Link(LinkEvent::Trained) => {
                self.state = State::Up;
                for end in [End::A, End::B] {
                    self.ends[end as usize].replay();
                    self.arm(end, ctx);
                    self.transmit(end, ctx);
                }
            }
            _ => {}
        }
    }

    fn waits(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        for end in [End::A, End::B] {
            let state = &self.ends[end as usize];
            let holder = self.ends[end.other() as usize]
                .device
                .map(|(device, _)| device);
            if self.has_failed() && state.unacknowledged() > 0 {
                let count = state.unacknowledged();
                waits.push(Wait {
                    resource: format!(
                        "an Ack for {count} TLPs of end {end:?}: the link has given up"
                    ),
                    holder: None,
                });
            }
            waits.extend(state.waiting().map(|(class, count, for_credit)| Wait {
                resource: format!(
                    "{} at end {end:?} ({count} TLPs of class {} queued)",
                    if for_credit { "credits" } else { "its turn" },
                    class.name()
                ),
                holder,
            }));
        }
        waits
    }
}
