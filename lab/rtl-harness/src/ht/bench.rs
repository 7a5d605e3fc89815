//! Core, partner and user together: brings the link up, reads and writes the configuration space, and compares each
//! packet with what was sent.

use std::collections::VecDeque;
use std::ffi::CString;

use hostwire_packet::ht::{
    Dwords, PacketRepr, ReadSize, RequestKind, RequestRepr, ResponseRepr, ResponseStatus, UnitId,
    Write, WriteMode,
};

use super::bring_up::{BringUp, Failure, Settings, config_packet};
use super::chip::Chip;
use super::core::{Core, Width};
use super::packets::{Packet, Source, Targets};
use super::partner::{Habits, Partner, Wrong};
use super::user::{Readiness, User};
use crate::model::{self, Files};
use crate::random::Random;

/// UnitID that the host gives the core.
pub const UNIT: u8 = 6;
/// Base address 0, and its bytes.
pub const BAR0: (u64, u64) = (0xab_cde0_0000, 1 << 20);
/// Base address 1, and its bytes.
pub const BAR1: (u64, u64) = (0x12_3456_7890_1000, 1 << 12);
/// Clocks without progress after which a run is given up.
const PATIENCE: u64 = 30_000;

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The core.
    pub width: Width,
    /// Whether 16 bits are negotiated towards the core, and from it.
    pub wide: (bool, bool),
    /// Of all random numbers.
    pub seed: u64,
    /// Moves of the partner's clock, in percent of its edges.
    pub wander: u64,
    /// How much later than the core's clocks the partner's is, in eighths; random if `None`.
    pub phase: Option<u64>,
    /// Buffers of the partner of each kind and channel; random if `None`.
    pub buffers: Option<u32>,
    /// Another library of the same design, and files that it writes.
    pub kind: &'static str,
    /// File for waves.
    pub waves: Option<String>,
}

impl Options {
    /// A run with this seed.
    pub fn new(width: Width, wide: (bool, bool), seed: u64) -> Self {
        Self {
            width,
            wide,
            seed,
            wander: 3,
            phase: None,
            buffers: None,
            kind: "",
            waves: None,
        }
    }
}

/// A bit that is flipped on the way to the core.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Bit-times from now, or from the fault before it.
    pub after: u64,
    /// Bit of CAD; 16 is CTL.
    pub bit: u32,
}

/// Errors that the core has reported, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// Lanes with a wrong CRC, as bits.
    pub crc: u64,
    /// A dword that cannot stand where it does.
    pub protocol: bool,
    /// A packet without credit, or a clock that is too fast.
    pub overflow: bool,
}

/// What a run has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that reached the user, or that the core answered or dropped itself.
    pub to_core: u64,
    /// Packets that reached the partner.
    pub from_core: u64,
    /// Clocks of the core.
    pub clocks: u64,
}

/// Core, partner and user.
pub struct Bench {
    /// The core.
    pub core: Core,
    /// The partner.
    pub partner: Partner,
    /// The user's logic.
    pub user: User,
    /// What the core has reported.
    pub reported: Reported,
    /// What was done.
    pub counts: Counts,
    random: Random,
    options: Options,
    expected: Expected,
    /// Packets of the core in buffers of the partner.
    buffered: VecDeque<Packet>,
    free: u64,
    drops: u64,
}

/// Packets that are under way.
#[derive(Debug, Default)]
struct Expected {
    /// To the user, by channel.
    at_user: [VecDeque<Packet>; 3],
    /// To the partner, by channel, with the number of posted packets before each.
    at_partner: [VecDeque<(Packet, u64)>; 3],
    /// Answers of the core itself.
    answers: VecDeque<Packet>,
    drops: u64,
    posted_given: u64,
    posted_arrived: u64,
}

impl Bench {
    /// A link that is up, with 8 bits, or with 16 where `options` say so.
    ///
    /// # Errors
    /// Without the library; inside, what went wrong while the link came up.
    pub fn new(options: &Options) -> Result<Result<Self, Failure>, model::Error> {
        let mut random = Random::new(options.seed);
        let waves = options.waves.as_ref();
        let files = Files {
            waves: waves.and_then(|name| CString::new(name.as_str()).ok()),
            ..Files::default()
        };
        let design = format!("{}{}", options.width.design(), options.kind);
        let core = {
            let phase = random.below(8);
            Core::new(
                options.width,
                &design,
                options.phase.unwrap_or(phase),
                files,
            )?
        };
        let partner = Partner::new(Random::new(0), habits(&mut random, (false, false), 0));
        let mut bench = Self {
            core,
            partner,
            user: User::new(Random::new(random.next())),
            reported: Reported::default(),
            counts: Counts::default(),
            options: options.clone(),
            random,
            expected: Expected::default(),
            buffered: VecDeque::new(),
            free: 100,
            drops: 0,
        };
        let up = bench.boot(options.wide);
        bench.reported = Reported::default();
        Ok(up.map(|()| bench))
    }

    /// Resets the link, with or without power, and initialises it with these widths.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn reset(&mut self, cold: bool, wide: (bool, bool)) -> Result<(), Failure> {
        self.come_up(cold, wide)?;
        self.reported = Reported::default();
        Ok(())
    }

    /// Random packets both ways, until `packets` have arrived or the core has reported an error; then lets what is under
    /// way arrive.
    ///
    /// # Errors
    /// The first packet that is not as it was sent, and a link that stands still.
    pub fn traffic(&mut self, packets: u64) -> Result<(), Failure> {
        let mut down = Source::new(Random::new(self.random.next()), 0, true);
        let mut up = Source::new(Random::new(self.random.next()), UNIT - 1, false);
        let end = self.counts.to_core + self.counts.from_core + packets;
        let (mut last, mut last_clock) = (0, self.counts.clocks);
        loop {
            let done = self.counts.to_core + self.counts.from_core;
            if self.counts.clocks.is_multiple_of(2048) {
                self.change_habits();
            }
            if done < end {
                self.fill(&mut down, &mut up);
            } else if self.is_done() {
                return Ok(());
            }
            self.clock()?;
            if self.reported != Reported::default() {
                return Err(format!("reported: {:?}", self.reported));
            }
            self.compare()?;
            if done != last {
                (last, last_clock) = (done, self.counts.clocks);
            } else if self.counts.clocks - last_clock > PATIENCE {
                return Err(format!("stands still: {:?}", self.expected));
            }
        }
    }

    fn is_done(&self) -> bool {
        let expected = &self.expected;
        self.user.is_idle()
            && self.partner.is_idle()
            && expected.at_user.iter().all(VecDeque::is_empty)
            && expected.at_partner.iter().all(VecDeque::is_empty)
            && expected.answers.is_empty()
            && expected.drops == self.drops
    }

    fn change_habits(&mut self) {
        let percents = [3, 20, 60, 100, 100];
        let mut draw = || percents[self.random.below(5) as usize];
        self.user.readiness = Readiness {
            take: draw(),
            give: draw(),
        };
        self.free = draw();
        let idle = [0, 0, 10, 60, 95][self.random.below(5) as usize];
        let insert = [0, 5, 40][self.random.below(3) as usize];
        self.partner.change(idle, insert);
    }

    fn fill(&mut self, down: &mut Source, up: &mut Source) {
        for channel in 0..3 {
            while self.partner.outbox[channel].len() < 3 {
                let packet = self.packet_to_core(channel, down);
                self.partner.outbox[channel].push_back(packet);
            }
            while self.user.outbox[channel].len() < 3 {
                self.user.outbox[channel].push_back(up.packet(channel, Targets::Anywhere));
            }
        }
    }

    /// A packet for the core, after which the right end of it is expected.
    fn packet_to_core(&mut self, channel: usize, source: &mut Source) -> Packet {
        let blocks = [BAR0, BAR1];
        let own = self.random.below(100);
        if channel == 1 && own < 4 {
            let unit = if own < 2 { UNIT } else { UNIT + 1 };
            let packet = config_packet(unit, 0, None)
                .unwrap_or_else(|_| source.packet(1, Targets::Blocks(&blocks)));
            self.expected.answers.extend(answer_to(&packet, own >= 2));
            return packet;
        }
        if channel < 2 && own < 8 {
            let packet = source.packet(channel, Targets::Blocks(&[(0x55_0000_0000, 1 << 20)]));
            if needs_target(&packet) {
                self.expected.drops += u64::from(channel == 0);
                self.expected.answers.extend(answer_to(&packet, true));
                return packet;
            }
            self.expected.at_user[channel].push_back(packet.clone());
            return packet;
        }
        let packet = source.packet(channel, Targets::Blocks(&blocks));
        self.expected.at_user[channel].push_back(packet.clone());
        packet
    }

    fn compare(&mut self) -> Result<(), Failure> {
        while let Some((packet, _)) = self.user.received.pop_front() {
            let expected = self.expected.at_user[packet.channel].pop_front();
            if expected.as_ref() != Some(&packet) {
                return Err(format!(
                    "at the user: expected {expected:x?}, got {packet:x?}"
                ));
            }
            self.counts.to_core += 1;
        }
        while let Some((packet, _)) = self.user.given.pop_front() {
            let before = self.expected.posted_given;
            self.expected.posted_given += u64::from(packet.channel == 0);
            self.expected.at_partner[packet.channel].push_back((packet, before));
        }
        while let Some((packet, _)) = self.partner.inbox.pop_front() {
            self.compare_at_partner(&packet)?;
            self.buffered.push_back(packet);
        }
        if self.random.chance(self.free)
            && let Some(packet) = self.buffered.pop_front()
        {
            self.partner.free(&packet);
        }
        Ok(())
    }

    fn compare_at_partner(&mut self, packet: &Packet) -> Result<(), Failure> {
        if self.expected.answers.front() == Some(packet) {
            self.expected.answers.pop_front();
            self.counts.to_core += 1;
            return Ok(());
        }
        let expected = self.expected.at_partner[packet.channel].pop_front();
        match expected {
            Some((expected, before)) if expected == *packet => {
                if packet.channel == 0 {
                    self.expected.posted_arrived += 1;
                } else if self.expected.posted_arrived < before {
                    return Err(format!("{packet:x?} has passed a posted packet"));
                }
                self.counts.from_core += 1;
                Ok(())
            }
            other => {
                let answer = self.expected.answers.front();
                Err(format!(
                    "at the partner: expected {other:x?} or {answer:x?}, got {packet:x?}"
                ))
            }
        }
    }

    /// Random packets with bits flipped on the way to the core, until it reports an error. Packets may be wrong before
    /// that, and may be missing after it.
    ///
    /// # Errors
    /// If no error is reported within two windows of the CRC after the first flipped bit.
    pub fn traffic_with(&mut self, faults: &[Fault]) -> Result<Reported, Failure> {
        let mut down = Source::new(Random::new(self.random.next()), 0, true);
        let mut up = Source::new(Random::new(self.random.next()), UNIT - 1, false);
        let begin = self.partner.bit_times();
        let first = faults.first().map_or(0, |fault| fault.after);
        self.partner.flips = faults
            .iter()
            .map(|fault| (fault.after, fault.bit))
            .collect();
        loop {
            self.fill(&mut down, &mut up);
            let found = self.clock();
            self.user.wrong.clear();
            if self.reported != Reported::default() {
                return Ok(self.reported);
            }
            let passed = self.partner.bit_times() - begin;
            let compared = found.and_then(|()| self.compare());
            if passed <= first {
                compared?;
            }
            if passed > first + 2 * 516 {
                return Err(format!("no error is reported after {faults:?}"));
            }
        }
    }

    /// Flips a bit in the next CRC that the partner sends.
    pub fn flip_in_crc(&mut self, bit: u32) {
        self.partner.flip_in_crc = Some(bit);
    }

    /// Random packets until the core reports an error; what is received is not compared.
    ///
    /// # Errors
    /// If it reports none.
    pub fn traffic_until_reported(&mut self) -> Result<Reported, Failure> {
        let mut down = Source::new(Random::new(self.random.next()), 0, true);
        let mut up = Source::new(Random::new(self.random.next()), UNIT - 1, false);
        for _ in 0..PATIENCE {
            self.fill(&mut down, &mut up);
            self.clock()?;
            self.compare()?;
            if self.reported != Reported::default() {
                return Ok(self.reported);
            }
        }
        Err("no error is reported".to_owned())
    }

    /// What partner and core do after an error: the core floods, or goes on.
    pub fn let_pass(&mut self, clocks: u64) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        for _ in 0..clocks {
            let _ = self.clock();
            self.user.wrong.clear();
            wrong.append(&mut self.partner.wrong);
        }
        wrong
    }
}

impl BringUp for Bench {
    fn parts(&mut self) -> (&mut Chip, &mut Partner) {
        (&mut self.core.chip, &mut self.partner)
    }

    fn partner(&mut self, wide: (bool, bool)) -> Partner {
        let mut habits = habits(&mut self.random, wide, self.options.wander);
        if let Some(buffers) = self.options.buffers {
            habits.buffers = [[buffers; 2]; 3];
        }
        let partner = Partner::new(Random::new(self.random.next()), habits);
        self.user = User::new(Random::new(self.random.next()));
        self.expected = Expected::default();
        self.drops = 0;
        self.buffered.clear();
        partner
    }

    fn settings(&self) -> Settings {
        Settings {
            bars: [BAR0.0, BAR1.0],
            unit: UNIT,
        }
    }

    fn clock(&mut self) -> Result<(), Failure> {
        self.user.step(&mut self.core);
        self.core.clock(&mut self.partner);
        self.counts.clocks += 1;
        let (crc, protocol, overflow) = self.core.chip.errors();
        self.reported.crc |= crc;
        self.reported.protocol |= protocol;
        self.reported.overflow |= overflow;
        self.drops += u64::from(self.core.chip.drops());
        if let Some(wrong) = self.partner.wrong.first() {
            return Err(format!("at the partner: {wrong}"));
        }
        if let Some(wrong) = self.user.wrong.first() {
            return Err(format!("at the user: {wrong}"));
        }
        Ok(())
    }
}

/// How a partner behaves: few or many buffers, some NOPs.
pub(crate) fn habits(random: &mut Random, wide: (bool, bool), wander: u64) -> Habits {
    Habits {
        wide,
        buffers: [(); 3].map(|()| [(); 2].map(|()| 1 + random.below(12) as u32)),
        idle: 10,
        insert: 5,
        urgent: None,
        ctl: None,
        wander,
    }
}

/// Whether only a device with this address takes the packet.
fn needs_target(packet: &Packet) -> bool {
    let code = packet.command().dwords as u8 & 0x3f;
    packet.control > 4 && code != hostwire_packet::ht::Command::Broadcast.encode()
}

/// What the core answers itself to a non-posted request: register 0, or a master abort.
fn answer_to(packet: &Packet, abort: bool) -> Option<Packet> {
    use hostwire_packet::ht::{AtomicOperation, ResponseKind, RqUid};
    let request = RequestRepr::parse(&packet.bytes).ok()?;
    let (kind, src_tag, pass_pw) = match request.kind {
        RequestKind::Read(read) => {
            let dwords = match read.size {
                ReadSize::Dwords(dwords) => dwords,
                ReadSize::Bytes(_) => Dwords::new(1).ok()?,
            };
            (
                ResponseKind::Read { dwords },
                read.src_tag,
                read.response_pass_pw,
            )
        }
        RequestKind::Atomic {
            src_tag,
            operation: AtomicOperation::FetchAndAdd | AtomicOperation::CompareAndSwap,
            ..
        } => {
            let dwords = Dwords::new(2).ok()?;
            (ResponseKind::Read { dwords }, src_tag, request.pass_pw)
        }
        RequestKind::Write(Write {
            mode: WriteMode::NonPosted { src_tag },
            ..
        }) => (ResponseKind::TargetDone, src_tag, request.pass_pw),
        _ => return None,
    };
    let response = ResponseRepr {
        kind,
        unit_id: UnitId::new(UNIT).ok()?,
        src_tag,
        rq_uid: RqUid::new(request.unit_id.get() & 3).ok()?,
        bridge: false,
        pass_pw,
        isoc: false,
        status: if abort {
            ResponseStatus::MasterAbort
        } else {
            ResponseStatus::Normal
        },
    };
    let data = match kind {
        ResponseKind::Read { dwords } if abort => vec![0xff; dwords.len_bytes()],
        ResponseKind::Read { .. } => vec![0x22, 0x10, 0x01, 0x00],
        ResponseKind::TargetDone => Vec::new(),
    };
    let packet = PacketRepr::new(response, &data).ok()?;
    let mut bytes = vec![0; packet.buffer_len()];
    packet.emit(&mut bytes).ok()?;
    Packet::parse(&bytes).ok()
}
