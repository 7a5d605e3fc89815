//! The chip, the host's side of its link, and what is on the wires between them. Time is in eighths of a clock of the
//! link, and passes edge by edge.

use std::collections::VecDeque;

use hostwire_rtl_harness::ht::bring_up::{Failure, Settings};
use hostwire_rtl_harness::ht::core::Width;
use hostwire_rtl_harness::ht::packets::Packet as Wire;
use hostwire_rtl_harness::ht::partner::{Habits, Partner};
use hostwire_rtl_harness::ht::pins::{BIT_TIME, CORE_CLOCK, Link, Pins};
use hostwire_rtl_harness::ht::user::User;
use hostwire_rtl_harness::ht::{BringUp, Chip, Core};
use hostwire_rtl_harness::model::Files;
use hostwire_rtl_harness::random::Random;

use crate::models::ht::Packet;

use super::config::{Design, RtlConfig};
use super::convert::to_wire;
use super::error::RtlError;

/// Longer than the core needs to answer.
const CTL_BITS: u32 = 400;
/// Clocks in which writes of registers have their effect.
const SETTLE_CLOCKS: u64 = 200;
/// UnitID of the board.
const UNIT: u8 = 1;

/// Something that the models have to know.
#[derive(Debug)]
pub(super) enum Happened {
    /// The first bit-time of a packet for the board leaves the host now.
    Begun(usize),
    /// Its last bit-time has left at this time.
    Ended(u64),
    /// A packet of the board is at the host. Its first bit-time left the board then.
    AtHost(Box<Wire>, u64),
    /// The user's logic has a packet. Its last control dword was at the pins then.
    AtUser(Box<Wire>, u64),
    /// The core has taken a packet of the user's logic.
    Taken(usize),
    /// What is on the cable from this clock of the core on.
    Phit(u32),
}

/// A packet of the host that waits for its turn.
struct Queued {
    order: u64,
    passes_posted: bool,
    wire: Wire,
}

/// What was built.
enum Hardware {
    /// The core alone; the user's logic is elsewhere.
    Core(Box<(Core, User)>),
    /// With its own logic.
    Board(Box<Chip>),
}

/// A bit-time of the board that is on the way.
struct Flight {
    arrival: u64,
    pins: Pins,
    began: u64,
}

/// See the module.
pub(super) struct Rig {
    config: RtlConfig,
    hardware: Hardware,
    partner: Partner,
    wires: Wires,
    queues: [VecDeque<Queued>; 3],
    submitted: u64,
    /// A packet of the host is on the pins.
    sending: bool,
    /// When the last control dwords of packets of the host were at the pins of the board, by channel.
    sampled: [VecDeque<u64>; 3],
}

/// Bit-times on the way, and how long they are.
#[derive(Default)]
struct Wires {
    down: VecDeque<Pins>,
    up: VecDeque<Flight>,
    /// From the begin of a bit-time at the host to the edge that samples it in the board.
    delay_down: u64,
    /// From the begin of a bit-time at the board to its end at the host.
    delay_up: u64,
}

impl Link for Wires {
    fn drive(&mut self, _: u64) -> (Pins, i64) {
        // The host is always ahead by the length of the wire.
        (self.down.pop_front().unwrap_or_default(), 0)
    }

    fn sample(&mut self, pins: Pins, time: u64) {
        self.up.push_back(Flight {
            arrival: time + self.delay_up,
            pins,
            began: time,
        });
    }
}

impl BringUp for Rig {
    fn parts(&mut self) -> (&mut Chip, &mut Partner) {
        let chip = match &mut self.hardware {
            Hardware::Core(core) => &mut core.0.chip,
            Hardware::Board(chip) => chip,
        };
        (chip, &mut self.partner)
    }

    fn clock(&mut self) -> Result<(), Failure> {
        match &mut self.hardware {
            Hardware::Core(core) => {
                let (core, user) = &mut **core;
                user.step(core);
                core.clock(&mut self.partner);
            }
            Hardware::Board(chip) => {
                chip.clock(&mut self.partner);
                // The cable has its clock in reset too.
                chip.cable_clock(0, chip.time());
            }
        }
        match self.wrong() {
            Some(wrong) => Err(wrong),
            None => Ok(()),
        }
    }

    fn partner(&mut self, wide: (bool, bool)) -> Partner {
        Partner::new(Random::new(0), habits(&self.config, wide))
    }

    fn settings(&self) -> Settings {
        Settings {
            bars: self.config.bars,
            unit: UNIT,
        }
    }
}

impl Rig {
    /// Loads the design, brings the link up and writes the registers. From the returned time on it
    /// runs by [`step`](Self::step).
    pub(super) fn boot(config: &RtlConfig) -> Result<(Rig, u64), RtlError> {
        let design = config.design.library(config.width_bits);
        let phase = u64::from(config.phase);
        let hardware = match config.design {
            Design::Core => {
                let width = match config.width_bits {
                    16 => Width::Sixteen,
                    _ => Width::Eight,
                };
                let core = Core::new(width, &design, phase, Files::default())?;
                Hardware::Core(Box::new((core, User::new(Random::new(0)))))
            }
            Design::Example | Design::Message => {
                Hardware::Board(Box::new(Chip::new(&design, phase, Files::default())?))
            }
        };
        let slot = config.eighths(config.slot);
        let mut rig = Rig {
            hardware,
            partner: Partner::new(Random::new(0), habits(config, (false, false))),
            config: config.clone(),
            wires: Wires {
                // A clock of the link is in the middle of its bit-times.
                delay_down: slot + BIT_TIME / 2,
                delay_up: slot + BIT_TIME,
                ..Wires::default()
            },
            queues: Default::default(),
            submitted: 0,
            sending: false,
            sampled: Default::default(),
        };
        let failed = |why: Failure| RtlError::Boot {
            design: design.clone(),
            why,
        };
        rig.begin().map_err(failed)?;
        // The wire is full of what the host has sent before.
        let begin = rig.chip().time();
        while rig.next_drive() < begin {
            rig.drive(&mut Vec::new());
        }
        Ok((rig, begin))
    }

    fn begin(&mut self) -> Result<(), Failure> {
        let wide = self.config.width_bits == 16;
        self.boot((wide, wide))?;
        for (address, value) in &self.config.registers {
            let write = Packet::write(*address, value.to_le_bytes().to_vec());
            self.partner.outbox[0].extend(to_wire(&write));
        }
        for _ in 0..SETTLE_CLOCKS {
            self.clock()?;
        }
        self.partner.sent.clear();
        match self.partner.is_idle() {
            true => Ok(()),
            false => Err("the board does not take writes".to_owned()),
        }
    }

    fn chip(&self) -> &Chip {
        match &self.hardware {
            Hardware::Core(core) => &core.0.chip,
            Hardware::Board(chip) => chip,
        }
    }

    /// A packet of the host.
    pub(super) fn push(&mut self, channel: usize, passes_posted: bool, wire: Wire) {
        self.submitted += 1;
        self.queues[channel].push_back(Queued {
            order: self.submitted,
            passes_posted,
            wire,
        });
    }

    /// A packet of the user's logic, if that is elsewhere.
    pub(super) fn give(&mut self, channel: usize, wire: Wire) {
        if let Hardware::Core(core) = &mut self.hardware {
            core.1.outbox[channel].push_back(wire);
        }
    }

    /// The host has emptied buffers.
    pub(super) fn free(&mut self, channel: usize, data: bool) {
        self.partner.free_buffers(channel, data);
    }

    /// A clock of the cable.
    pub(super) fn cable(&mut self, phit: u32) {
        let now = self.next();
        self.parts().0.cable_clock(phit, now);
    }

    /// Packets that wait, by channel.
    pub(super) fn waiting(&self) -> [usize; 3] {
        [0, 1, 2].map(|channel: usize| self.queues[channel].len())
    }

    /// Whether nothing is under way that it knows of.
    pub(super) fn is_idle(&self) -> bool {
        let user = match &self.hardware {
            Hardware::Core(core) => core.1.is_idle() && !core.1.is_taking(),
            Hardware::Board(_) => true,
        };
        let queues = self.queues.iter().all(VecDeque::is_empty);
        user && queues && self.partner.is_idle() && !self.sending
    }

    /// What must not be, if it was seen.
    pub(super) fn wrong(&self) -> Option<String> {
        if let Some(wrong) = self.partner.wrong.first() {
            return Some(wrong.to_string());
        }
        let Hardware::Core(core) = &self.hardware else {
            return None;
        };
        core.1.wrong.first().cloned()
    }

    fn next_drive(&self) -> u64 {
        let ahead = BIT_TIME * self.wires.down.len() as u64;
        self.chip().next_sample() + ahead - self.wires.delay_down
    }

    /// When the next edge is, or the next bit-time begins or ends at the host.
    pub(super) fn next(&self) -> u64 {
        let up = self.wires.up.front().map_or(u64::MAX, |up| up.arrival);
        self.chip().next_edge().min(self.next_drive()).min(up)
    }

    /// Lets happen what happens at [`next`](Self::next).
    pub(super) fn step(&mut self, out: &mut Vec<Happened>) -> Result<(), String> {
        let now = self.next();
        while let Some(flight) = self.wires.up.pop_front_if(|up| up.arrival <= now) {
            self.partner.sample(flight.pins, flight.began);
        }
        for (wire, began) in self.partner.inbox.drain(..) {
            out.push(Happened::AtHost(Box::new(wire), began));
        }
        if self.next_drive() == now {
            self.drive(out);
        }
        if self.chip().next_edge() == now {
            self.edge(now, out)?;
        }
        self.wrong().map_or(Ok(()), Err)
    }

    /// The next bit-time of the host.
    fn drive(&mut self, out: &mut Vec<Happened>) {
        let now = self.next_drive();
        let mut offered = None;
        if self.partner.is_idle()
            && let Some(channel) = self.next_channel()
            && let Some(queued) = self.queues[channel].pop_front()
        {
            self.partner.outbox[channel].push_back(queued.wire);
        }
        for (channel, outbox) in self.partner.outbox.iter().enumerate() {
            offered = offered.or((!outbox.is_empty()).then_some(channel));
        }
        let (pins, _) = self.partner.drive(now + self.wires.delay_down);
        self.wires.down.push_back(pins);
        if let Some(channel) = offered
            && self.partner.outbox[channel].is_empty()
        {
            self.sending = true;
            out.push(Happened::Begun(channel));
        }
        while let Some((channel, time)) = self.partner.sent.pop_front() {
            if matches!(self.hardware, Hardware::Core(_)) {
                self.sampled[channel].push_back(time);
            }
        }
        if self.sending && self.partner.is_between_packets() {
            self.sending = false;
            out.push(Happened::Ended(now + BIT_TIME));
        }
    }

    fn edge(&mut self, now: u64, out: &mut Vec<Happened>) -> Result<(), String> {
        let rising = now == self.chip().time();
        if let Hardware::Core(core) = &mut self.hardware
            && rising
        {
            core.1.step(&mut core.0);
        }
        match &mut self.hardware {
            Hardware::Core(core) => core.0.chip.edge(&mut self.wires),
            Hardware::Board(chip) => chip.edge(&mut self.wires),
        }
        if !rising {
            return Ok(());
        }
        match &mut self.hardware {
            Hardware::Core(core) => {
                for (wire, _) in core.1.received.drain(..) {
                    let sampled = self.sampled[wire.channel].pop_front();
                    out.push(Happened::AtUser(Box::new(wire), sampled.unwrap_or(now)));
                }
                let given = core.1.given.drain(..);
                out.extend(given.map(|(wire, _)| Happened::Taken(wire.channel)));
            }
            Hardware::Board(chip) => out.extend(chip.phit().map(Happened::Phit)),
        }
        check(self.chip())
    }

    /// The channel of the oldest packet that has its credits. Only posted packets, and those that say so, pass older
    /// posted ones.
    fn next_channel(&self) -> Option<usize> {
        let oldest_posted = self.queues[0].front().map_or(u64::MAX, |head| head.order);
        let granted = self.partner.granted();
        let may_go = |channel: usize| {
            let head = self.queues[channel].front()?;
            let waits_for_posted =
                channel != 0 && !head.passes_posted && head.order > oldest_posted;
            let [commands, data] = granted[channel];
            let has_credit = commands > 0 && (head.wire.data().is_empty() || data > 0);
            (!waits_for_posted && has_credit).then_some((head.order, channel))
        };
        let (_, channel) = (0..3).filter_map(may_go).min()?;
        Some(channel)
    }
}

/// What the chip reports in this clock.
fn check(chip: &Chip) -> Result<(), String> {
    let (crc, protocol, overflow) = chip.errors();
    let reports = [
        (crc != 0, "a wrong CRC"),
        (protocol, "a dword that cannot stand where it does"),
        (overflow, "a packet without credit"),
        (chip.drops(), "a posted packet for no base address of it"),
        (chip.is_broken(), "Sync"),
        (
            chip.cable_error(),
            "a cable whose other end does not answer",
        ),
    ];
    let mut reports = reports.into_iter().filter(|(is, _)| *is);
    let report = reports.next().map(|(_, what)| format!("reports {what}"));
    report.map_or(Ok(()), Err)
}

/// A host that sends what it has, and keeps nothing back.
fn habits(config: &RtlConfig, wide: (bool, bool)) -> Habits {
    let buffers = &config.host_buffers;
    let of = |channel: usize| [buffers.command[channel], buffers.data[channel]].map(u32::from);
    let phase = u32::from(config.phase);
    let edges = CORE_CLOCK as u32 / 2;
    Habits {
        wide,
        buffers: [of(0), of(1), of(2)],
        idle: 0,
        insert: 0,
        urgent: Some(u32::from(config.nop_credits)),
        // Words begin at a rising edge of the host's clock.
        ctl: Some(CTL_BITS + phase % edges / BIT_TIME as u32 + 2 * (phase / edges)),
        wander: 0,
    }
}
