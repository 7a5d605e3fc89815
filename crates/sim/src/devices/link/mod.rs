//! A HyperTransport link: both directions, credits, CRC, retry.
//!
//! The link is one component that stands for the wires and for the link layer at both
//! ends. Devices submit packets and release buffers; the link serialises, spends and
//! returns credits (a NOP on the reverse direction carries them), damages packets on
//! request, replays in retry mode, and delivers. Parameters and their sources:
//! `docs/sim/link.md`.

mod config;
mod lane;
mod transmitter;

pub use config::{Buffers, Damage, End, LinkConfig, LinkMode};
pub use lane::{CRC_BITS, CRC_OFFSET_BITS, CRC_WINDOW_BITS, Lane};
pub use transmitter::{Credits, LinkCounters, Unit};

use crate::engine::{Component, ComponentId, Context, Ps, Wait};

use super::event::DeviceEvent;
use transmitter::Transmitter;

/// Bit times of the link-initialisation sequence: CTL asserted (16), CTL and CAD
/// low (512), one dword of CAD (4).
///
/// Source: HyperTransport low-level initialisation, as in ht_tunnel `link_l2`.
pub const INIT_BITS: u64 = 16 + 512 + 4;

/// Events of a link to itself.
#[derive(Debug)]
pub enum LinkEvent {
    /// The transmitter of this end is free.
    TxDone {
        /// Which end.
        end: End,
        /// Training that was in force; later ones make the event void.
        generation: u32,
    },
    /// A unit has arrived whole at this end.
    Arrive {
        /// Which end.
        end: End,
        /// Training that was in force.
        generation: u32,
        /// What arrived.
        unit: Unit,
    },
    /// Initialisation is over: both ends announce their buffers.
    Ready {
        /// Training that was in force.
        generation: u32,
    },
}

impl LinkEvent {
    pub(super) fn digest(&self) -> u64 {
        match self {
            LinkEvent::TxDone { end, generation } => {
                1 | (*end as u64) << 8 | u64::from(*generation) << 16
            }
            LinkEvent::Arrive {
                end,
                generation,
                unit,
            } => {
                let unit = match unit {
                    Unit::Nop {
                        credits,
                        acknowledge,
                    } => {
                        let fields = credits.command.iter().chain(&credits.data);
                        fields.fold(*acknowledge, |digest, &field| {
                            digest << 4 ^ u64::from(field) ^ digest >> 61
                        })
                    }
                    Unit::Packet { number, packet, .. } => packet.digest().rotate_left(9) ^ number,
                };
                2 | (*end as u64) << 8 | u64::from(*generation) << 16 | unit << 24
            }
            LinkEvent::Ready { generation } => 3 | u64::from(*generation) << 16,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not initialised, or initialisation failed.
    Down,
    Up(LinkMode),
    /// Retries spent.
    Failed,
}

/// Sees everything that crosses the wires; see [`Link::set_tap`].
pub type Tap = Box<dyn FnMut(&Tapped<'_>)>;

/// One unit on the wires.
#[derive(Clone, Copy, Debug)]
pub struct Tapped<'a> {
    /// When it begins.
    pub begin: Ps,
    /// When it ends, at the transmitter.
    pub end: Ps,
    /// Where it comes from.
    pub from: End,
    /// What it is.
    pub unit: &'a Unit,
}

/// The component.
pub struct Link {
    config: LinkConfig,
    state: State,
    generation: u32,
    ends: [Transmitter; 2],
    failures_in_a_row: u8,
    /// Why it is down, if that is known.
    why_down: Option<String>,
    tap: Option<Tap>,
}

impl Link {
    /// A link that is down; [`train`](Self::train) brings it up.
    pub fn new(config: LinkConfig) -> Link {
        let ends = config.damage.clone().map(Transmitter::new);
        Link {
            config,
            state: State::Down,
            generation: 0,
            ends,
            failures_in_a_row: 0,
            why_down: None,
            tap: None,
        }
    }

    /// Changes what training does not decide. Takes effect at the next training;
    /// buffers must not change while packets are on the way.
    pub fn configure(&mut self, change: impl FnOnce(&mut LinkConfig)) {
        change(&mut self.config);
        for (end, damage) in self.ends.iter_mut().zip(&self.config.damage) {
            end.damage = damage.clone();
        }
    }

    /// Attaches port `port` of `device` to `end`.
    pub fn attach(&mut self, end: End, device: ComponentId, port: u8) {
        self.ends[end as usize].device = Some((device, port));
    }

    /// Resets the link and trains it to `mode`. Packets that are queued or in flight
    /// are lost, as on a reset. Returns the time that initialisation takes; inject the
    /// returned event that much later.
    pub fn train(&mut self, now: Ps, mode: LinkMode) -> (Ps, DeviceEvent) {
        let started = Lane::new(now, mode.mhz, 8, false).bit_times(INIT_BITS);
        self.generation += 1;
        self.failures_in_a_row = 0;
        self.state = State::Up(mode);
        for end in [End::A, End::B] {
            let lane = Lane::new(now + started, mode.mhz, mode.width_bits(end), !mode.retry);
            let buffers = self.config.buffers[end as usize];
            self.ends[end as usize].reset(lane, buffers);
            // Until Ready: the initialisation sequence occupies the wires.
            self.ends[end as usize].busy = true;
        }
        (
            started,
            DeviceEvent::Link(LinkEvent::Ready {
                generation: self.generation,
            }),
        )
    }

    /// Takes the link down, as a failed initialisation does; `why` stands in reports.
    pub fn take_down(&mut self, why: impl Into<String>) {
        self.generation += 1;
        self.state = State::Down;
        self.why_down = Some(why.into());
    }

    /// The trained mode; `None` if the link is down or has failed.
    pub fn mode(&self) -> Option<LinkMode> {
        match self.state {
            State::Up(mode) => Some(mode),
            State::Down | State::Failed => None,
        }
    }

    /// Whether retries were spent.
    pub fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    /// Static configuration.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Counters of the direction that begins at `end`.
    pub fn counters(&self, end: End) -> LinkCounters {
        self.ends[end as usize].counters
    }

    /// Lets `tap` see everything that crosses the wires from now on. A tap
    /// changes nothing.
    pub fn set_tap(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }

    fn try_transmit(&mut self, end: End, ctx: &mut Context<'_, DeviceEvent>) {
        let State::Up(mode) = self.state else { return };
        let transmitter = &mut self.ends[end as usize];
        if transmitter.busy {
            return;
        }
        let buffers = self.config.buffers[end as usize];
        let Some(unit) = transmitter.next(buffers, &mode) else {
            return;
        };
        let crc_dwords = u64::from(mode.retry);
        let dwords = crc_dwords
            + match &unit {
                Unit::Nop { .. } => 1,
                Unit::Packet { packet, .. } => packet.wire_dwords(),
            };
        let (begin, done) = transmitter.lane.transmit(ctx.now(), dwords);
        transmitter.busy = true;
        let counters = &mut transmitter.counters;
        counters.dwords += dwords;
        counters.busy += done - begin;
        match &unit {
            Unit::Nop { .. } => counters.nops += 1,
            Unit::Packet { packet, .. } => {
                counters.packets += 1;
                counters.payload_bytes += packet.data.len() as u64;
                counters.first_begin.get_or_insert(begin);
                counters.last_end = done;
            }
        }
        if let Some(tap) = &mut self.tap {
            tap(&Tapped {
                begin,
                end: done,
                from: end,
                unit: &unit,
            });
        }
        if let (
            Unit::Packet {
                packet,
                replayed: false,
                ..
            },
            Some((device, port)),
        ) = (&unit, transmitter.device)
        {
            let channel = packet.channel();
            ctx.schedule_at(device, begin, DeviceEvent::Sent { port, channel });
        }
        let generation = self.generation;
        let arrive = LinkEvent::Arrive {
            end: end.other(),
            generation,
            unit,
        };
        ctx.schedule_at(
            ctx.me(),
            done,
            DeviceEvent::Link(LinkEvent::TxDone { end, generation }),
        );
        ctx.schedule_at(
            ctx.me(),
            done + self.config.propagation,
            DeviceEvent::Link(arrive),
        );
    }

    fn arrive(&mut self, end: End, unit: Unit, ctx: &mut Context<'_, DeviceEvent>) {
        let State::Up(mode) = self.state else { return };
        match unit {
            Unit::Nop {
                credits,
                acknowledge,
            } => {
                let transmitter = &mut self.ends[end as usize];
                transmitter.credits.add(&credits);
                transmitter.acknowledge(acknowledge);
            }
            Unit::Packet { number, packet, .. } => {
                if packet.damaged {
                    self.ends[end.other() as usize].counters.crc_errors += 1;
                    if mode.retry {
                        self.retry(mode, ctx);
                        return;
                    }
                    // Gen1: the periodic CRC notices later; the packet is used.
                }
                self.failures_in_a_row = 0;
                let receiver = &mut self.ends[end as usize];
                receiver.occupy(&packet);
                receiver.expected = number + 1;
                receiver.acknowledge_owed = mode.retry;
                if let Some((device, port)) = receiver.device {
                    ctx.schedule(device, Ps::ZERO, DeviceEvent::Deliver { port, packet });
                }
            }
        }
        self.try_transmit(end, ctx);
    }

    /// Gen3 retry: both directions stop, the link initialises again, both ends
    /// exchange what they received and which buffers are free, and replay.
    fn retry(&mut self, mode: LinkMode, ctx: &mut Context<'_, DeviceEvent>) {
        self.failures_in_a_row += 1;
        self.generation += 1;
        // The disconnect NOP and its answer cross first, with their CRCs.
        let handshake = self.config.propagation * 2;
        let init = Lane::new(ctx.now(), mode.mhz, 8, false).bit_times(INIT_BITS + 4 * 8);
        let ready = ctx.now() + handshake + init;
        for end in [End::A, End::B] {
            let received = self.ends[end.other() as usize].expected;
            let lane = Lane::new(ready, mode.mhz, mode.width_bits(end), false);
            self.ends[end as usize].replay(lane, received);
            self.ends[end as usize].busy = true;
        }
        if self.failures_in_a_row > self.config.retry_attempts_max {
            self.state = State::Failed;
            return;
        }
        ctx.schedule_at(
            ctx.me(),
            ready,
            DeviceEvent::Link(LinkEvent::Ready {
                generation: self.generation,
            }),
        );
    }
}

impl Component<DeviceEvent> for Link {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Submit { end, packet } => {
                self.ends[end as usize].push(packet);
                self.try_transmit(end, ctx);
            }
            DeviceEvent::Release { end, channel, data } => {
                self.ends[end as usize].release(channel, data, self.config.buffers[end as usize]);
                self.try_transmit(end, ctx);
            }
            DeviceEvent::Link(LinkEvent::TxDone { end, generation })
                if generation == self.generation =>
            {
                self.ends[end as usize].busy = false;
                self.try_transmit(end, ctx);
            }
            DeviceEvent::Link(LinkEvent::Arrive {
                end,
                generation,
                unit,
            }) if generation == self.generation => {
                self.arrive(end, unit, ctx);
            }
            DeviceEvent::Link(LinkEvent::Ready { generation }) if generation == self.generation => {
                for end in [End::A, End::B] {
                    self.ends[end as usize].busy = false;
                    self.try_transmit(end, ctx);
                }
            }
            _ => {}
        }
    }

    fn waits(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        for end in [End::A, End::B] {
            let transmitter = &self.ends[end as usize];
            let holder = self.ends[end.other() as usize]
                .device
                .map(|(device, _)| device);
            match self.state {
                State::Up(_) => waits.extend(transmitter.missing().into_iter().map(
                    |(channel, kind, queued, first)| Wait {
                        resource: format!(
                            "{channel} {kind} credit from end {end:?} ({queued} packets queued, \
                             the first {first})"
                        ),
                        holder,
                    },
                )),
                State::Down | State::Failed if transmitter.queued() > 0 => waits.push(Wait {
                    resource: format!(
                        "initialisation of the link ({} packets queued at end {end:?}{})",
                        transmitter.queued(),
                        if self.has_failed() {
                            ", retries spent"
                        } else {
                            ""
                        }
                    ),
                    holder: None,
                }),
                State::Down | State::Failed => {}
            }
        }
        waits
    }

    fn faults(&self) -> Vec<String> {
        let retries = |attempts| format!("{attempts} damaged transmissions in a row");
        let fault = match (self.state, &self.why_down) {
            (State::Down, Some(why)) => format!("never trained: {why}"),
            (State::Down, None) => "was never initialised".into(),
            (State::Failed, _) => {
                format!("has given up after {}", retries(self.failures_in_a_row))
            }
            (State::Up(_), _) if self.failures_in_a_row > 0 => {
                format!("is retrying after {}", retries(self.failures_in_a_row))
            }
            (State::Up(_), _) => return Vec::new(),
        };
        vec![fault]
    }
}
