//! A board that is RTL: the Verilated core, alone or in a design, in the place of the model of a board.
//!
//! ```text
//! host -> queue -> partner -> bit-times -> wire -> pins of the chip
//! host <--------- partner <- bit-times <- wire <-
//! ```
//! It stands for the link and for the board at once: the host submits packets to it as to a [`Link`](super::Link). The
//! partner of `hostwire-rtl-harness` makes bit-times of them, with CRCs, NOPs and credits, and packets of the bit-times
//! of the board. If the design is the core alone, a modelled [`Nic`](super::nic::Nic) is the user's logic behind it.
//!
//! There is an event for each edge of a clock and each bit-time while something is under way. Then it sleeps: the edges of
//! that time happen at once when something comes. See `docs/rtl.md`.

mod config;
mod convert;
mod error;
mod rig;

pub use config::{Design, RtlConfig};
pub use error::RtlError;

use std::collections::VecDeque;

use crate::engine::{Component, ComponentId, Context, Priority, Ps, Wait};
use crate::models::DeviceEvent;
use crate::models::ht::{Command, Ht, Packet, VirtualChannel};
use crate::models::link::{End, LinkCounters, LinkEvent};

use super::RtlEvent;
use convert::{from_wire, to_wire};
use rig::{Happened, Rig};

/// Eighths of a clock of the link without anything under way, after which it sleeps: 256 clocks of the core.
const QUIET: u64 = 256 * 16;
/// Clocks of the cable behind the last phit that says something.
const TRAILING: u32 = 16;

/// What crosses a cable when nothing does: the kind is 0.
const fn is_nothing(phit: u32) -> bool {
    phit >> 16 == 0
}

/// Times through the core, as the paper's Table II counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreTimes {
    /// From the edge that samples the first bit-time of a command's last dword to the edge at which the user's logic has
    /// the packet.
    pub core_in: Ps,
    /// From the edge at which the core takes a command, while it has no other, to its first bit-time on the pins.
    pub core_out: Ps,
}

/// The component.
pub struct RtlBoard {
    config: RtlConfig,
    rig: Rig,
    /// What time of the rig the begin of the simulation is.
    origin: u64,
    host: Option<(ComponentId, u8)>,
    logic: Option<ComponentId>,
    cable: Option<(ComponentId, Ps)>,
    awake: bool,
    active: u64,
    /// Reads of the host without an answer, and of the board.
    reads: [u64; 2],
    /// When packets were taken by the core that are not at the host, and whether no other one was before it.
    taken: VecDeque<(Ps, bool)>,
    times: CoreTimes,
    answered: Option<Ps>,
    counters: [LinkCounters; 2],
    trailing: u32,
    packets: u64,
    wrong: Option<String>,
}

impl RtlBoard {
    /// A board whose link is up and whose registers are written.
    ///
    /// # Errors
    /// [`RtlError`] if there is no library, or its link does not come up.
    pub fn new(config: RtlConfig) -> Result<RtlBoard, RtlError> {
        let (rig, origin) = Rig::boot(&config)?;
        Ok(RtlBoard {
            config,
            rig,
            origin,
            host: None,
            logic: None,
            cable: None,
            awake: false,
            active: origin,
            reads: [0; 2],
            taken: VecDeque::new(),
            times: CoreTimes::default(),
            answered: None,
            counters: [LinkCounters::default(); 2],
            trailing: 0,
            packets: 0,
            wrong: None,
        })
    }

    /// Attaches the host.
    pub fn attach(&mut self, host: ComponentId, port: u8) {
        self.host = Some((host, port));
    }

    /// Puts a modelled board behind the core.
    pub fn attach_logic(&mut self, nic: ComponentId) {
        self.logic = Some(nic);
    }

    /// Plugs a cable of this length into its port, with another board at the other end, or itself.
    pub fn connect(&mut self, board: ComponentId, propagation: Ps) {
        self.cable = Some((board, propagation));
    }

    /// Parameters.
    pub fn config(&self) -> &RtlConfig {
        &self.config
    }

    /// Counters of the direction that begins at `end`; the host is at end A.
    pub fn counters(&self, end: End) -> LinkCounters {
        self.counters[end as usize]
    }

    /// Times of the last packets through the core, if it is alone.
    pub fn times(&self) -> CoreTimes {
        self.times
    }

    /// When its first packet behind the last one of the host began.
    pub fn first_answer(&self) -> Option<Ps> {
        self.answered
    }

    /// An error if it has done what it must not.
    ///
    /// # Errors
    /// [`RtlError::Wrong`].
    pub fn check(&self) -> Result<(), RtlError> {
        match &self.wrong {
            Some(wrong) => Err(RtlError::Wrong(wrong.clone())),
            None => Ok(()),
        }
    }

    fn time(&self, eighths: u64) -> Ps {
        self.config.time(eighths.saturating_sub(self.origin))
    }

    /// Something comes: it wakes up, and lives through the time that it has slept.
    fn wake(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        if !self.awake && self.wrong.is_none() {
            let mut out = Vec::new();
            while self.time(self.rig.next()) < ctx.now() && self.wrong.is_none() {
                self.step(&mut out);
                out.retain(
                    |happened| !matches!(happened, Happened::Phit(phit) if is_nothing(*phit)),
                );
                if !out.is_empty() {
                    self.wrong = Some(format!("{out:?} while nothing was under way"));
                }
            }
            self.awake = true;
            self.schedule(ctx);
        }
        self.active = self.rig.next();
    }

    fn step(&mut self, out: &mut Vec<Happened>) {
        if let Err(wrong) = self.rig.step(out) {
            self.wrong.get_or_insert(wrong);
        }
    }

    fn schedule(&self, ctx: &mut Context<'_, DeviceEvent>) {
        let next = self.time(self.rig.next());
        let edge = DeviceEvent::Rtl(RtlEvent::Edge);
        ctx.schedule_with(ctx.me(), next - ctx.now(), Priority::Last, edge);
    }

    fn edge(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let now = self.rig.next();
        let mut out = Vec::new();
        self.step(&mut out);
        for happened in out {
            self.happened(happened, now, ctx);
        }
        let quiet = now - self.active > QUIET && self.reads == [0; 2] && self.rig.is_idle();
        self.awake = !quiet && self.wrong.is_none();
        if self.awake {
            self.schedule(ctx);
        }
    }

    fn happened(&mut self, what: Happened, now: u64, ctx: &mut Context<'_, DeviceEvent>) {
        if !matches!(what, Happened::Phit(_)) {
            self.active = now;
        }
        match what {
            Happened::Begun(channel) => {
                let begin = self.time(now);
                let counters = &mut self.counters[End::A as usize];
                counters.packets += 1;
                counters.first_begin.get_or_insert(begin);
                counters.last_begin = begin;
                self.answered = None;
                let sent = self.host.zip(channel_of(channel));
                if let Some(((host, port), channel)) = sent {
                    let event = LinkEvent::Sent { port, channel };
                    ctx.schedule(host, Ps::ZERO, DeviceEvent::Ht(event));
                }
            }
            Happened::Ended(end) => {
                let end = self.time(end);
                let counters = &mut self.counters[End::A as usize];
                counters.last_end = end;
                counters.busy += end - counters.last_begin;
            }
            Happened::AtHost(wire, began) => match from_wire(&wire) {
                Some(packet) => self.at_host(packet, self.time(began), ctx),
                None => self.wrong = Some(format!("it has sent {wire:x?}")),
            },
            Happened::AtUser(wire, sampled) => match (from_wire(&wire), self.logic) {
                (Some(packet), Some(logic)) => {
                    self.times.core_in = self.time(now) - self.time(sampled);
                    self.deliver(packet, logic, 0, ctx);
                }
                _ => self.wrong = Some(format!("nobody takes {wire:x?}")),
            },
            Happened::Taken(channel) => {
                self.taken.push_back((ctx.now(), self.taken.is_empty()));
                if let Some((logic, channel)) = self.logic.zip(channel_of(channel)) {
                    let event = LinkEvent::Sent { port: 0, channel };
                    ctx.schedule(logic, Ps::ZERO, DeviceEvent::Ht(event));
                }
            }
            Happened::Phit(phit) => self.phit(phit, now, ctx),
        }
    }

    /// A packet of the board has arrived at the host.
    fn at_host(&mut self, packet: Packet, began: Ps, ctx: &mut Context<'_, DeviceEvent>) {
        match packet.command {
            Command::Read { .. } => self.reads[1] += 1,
            Command::ReadResponse | Command::MasterAbort => {
                self.reads[0] = self.reads[0].saturating_sub(1);
            }
            _ => {}
        }
        if let Some((taken, alone)) = self.taken.pop_front()
            && alone
        {
            self.times.core_out = began - taken;
        }
        self.answered.get_or_insert(began);
        let counters = &mut self.counters[End::B as usize];
        counters.packets += 1;
        counters.payload_bytes += packet.data.len() as u64;
        counters.first_begin.get_or_insert(began);
        counters.last_begin = began;
        counters.last_end = ctx.now() - self.config.slot;
        counters.busy += counters.last_end - began;
        if let Some((host, port)) = self.host {
            self.deliver(packet, host, port, ctx);
        }
    }

    fn deliver(
        &mut self,
        packet: Packet,
        to: ComponentId,
        port: u8,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        self.packets += 1;
        let packet = Box::new(Packet {
            number: (ctx.me().index() as u64) << 40 | self.packets,
            ..packet
        });
        let event = DeviceEvent::Ht(LinkEvent::Deliver { port, packet });
        ctx.schedule(to, Ps::ZERO, event);
    }

    /// Its cable, which has a clock as long as it says something, and a little longer.
    fn phit(&mut self, phit: u32, now: u64, ctx: &mut Context<'_, DeviceEvent>) {
        if is_nothing(phit) {
            self.trailing = self.trailing.saturating_sub(1);
        } else {
            self.trailing = TRAILING;
            self.active = now;
        }
        if let Some((board, propagation)) = self.cable
            && self.trailing > 0
        {
            let event = DeviceEvent::Rtl(RtlEvent::Cable { phit });
            ctx.schedule(board, propagation, event);
        }
    }

    fn submit(&mut self, end: End, packet: &Packet) {
        let channel = packet.channel().index();
        let Some(wire) = to_wire(packet) else {
            self.wrong = Some(format!("{packet} cannot be on a link"));
            return;
        };
        match packet.command {
            Command::Read { .. } if end == End::A => self.reads[0] += 1,
            Command::ReadResponse | Command::MasterAbort if end == End::A => {
                self.reads[1] = self.reads[1].saturating_sub(1);
            }
            _ => {}
        }
        match end {
            End::A => {
                self.counters[0].payload_bytes += packet.data.len() as u64;
                self.rig.push(channel, packet.pass_pw, wire);
            }
            End::B => self.rig.give(channel, wire),
        }
    }
}

fn channel_of(index: usize) -> Option<VirtualChannel> {
    let all = [
        VirtualChannel::Posted,
        VirtualChannel::NonPosted,
        VirtualChannel::Response,
    ];
    all.into_iter().find(|channel| channel.index() == index)
}

impl Component<DeviceEvent> for RtlBoard {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Rtl(RtlEvent::Edge) => self.edge(ctx),
            DeviceEvent::Rtl(RtlEvent::Cable { phit }) => {
                self.wake(ctx);
                self.rig.cable(phit);
            }
            DeviceEvent::Ht(LinkEvent::<Ht>::Submit { end, packet }) => {
                self.wake(ctx);
                self.submit(end, &packet);
            }
            DeviceEvent::Ht(LinkEvent::Release { end: End::A, cost }) => {
                self.wake(ctx);
                self.rig.free(cost.channel.index(), cost.data);
            }
            _ => {}
        }
    }

    fn waits(&self) -> Vec<Wait> {
        let waiting = self.rig.waiting().into_iter().sum::<usize>();
        let waits = [
            (waiting as u64, "packets that wait for credits of the board"),
            (self.reads[0], "reads that the board does not answer"),
            (self.reads[1], "reads that the host does not answer"),
        ];
        let waits = waits.into_iter().filter(|(count, _)| *count > 0);
        let wait = |(count, what)| Wait {
            resource: format!("{count} {what}"),
            holder: None,
        };
        waits.map(wait).collect()
    }

    fn faults(&self) -> Vec<String> {
        self.wrong.iter().cloned().collect()
    }
}
