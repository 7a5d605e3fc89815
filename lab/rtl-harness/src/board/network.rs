//! Hosts whose boards send each other messages: two with a cable between them, or four at a switch. Each message has to
//! arrive once, in order, in the ring of its host, with the right status.

use std::collections::VecDeque;

use hostwire_packet::ht::{
    Dwords, ReadSize, RequestKind, RequestRepr, Write, WriteMode, WriteSize,
};

use super::cable::{Cable, Faults};
use super::host::Host;
use super::switch::{PORTS, Switch};
use crate::ht::Width;
use crate::ht::bench::UNIT;
use crate::ht::bring_up::Failure;
use crate::ht::packets::Packet;
use crate::ht::requests::{self, Data, dword, is_normal};
use crate::model::Error;
use crate::random::Random;

/// Clocks of a switch in reset.
const RESET_CLOCKS: u64 = 10;
/// Clocks without a message after which a run is given up.
const PATIENCE: u64 = 60_000;

/// How boards are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One board whose cable comes back to it.
    Loop,
    /// Two boards.
    Pair,
    /// Four boards at a switch.
    Star,
}

/// When a message was seen at pins, in eighths of a link clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// The board whose frame it is.
    pub sender: usize,
    /// First bit-time of the last control dword of the write that made it.
    pub written: u64,
    /// First and last phit of its frame, where the board puts them on the cable.
    pub first_out: u64,
    /// As `first_out`.
    pub last_out: u64,
    /// Last phit of its frame, where the other board samples it.
    pub last_in: u64,
    /// First bit-time of the write with the message, and of the one with the status.
    pub message: u64,
    /// As `message`.
    pub status: u64,
}

/// What a host has got.
#[derive(Debug, Default)]
pub struct Ring {
    /// Where it is, and its slots.
    pub base: u64,
    /// As `base`.
    pub slots: u64,
    count: u64,
    /// The message whose status is to come.
    open: Option<Vec<u8>>,
    answers: VecDeque<Packet>,
}

/// Hosts, boards, cables.
pub struct Network {
    /// The hosts; host n has board n.
    pub hosts: Vec<Host>,
    /// The switch, if there is one.
    pub switch: Option<Switch>,
    /// From each board, then to each board (only with a switch).
    pub cables: Vec<Cable>,
    random: Random,
    shape: Shape,
    /// Reads between messages, without their answers.
    asked: u64,
    /// What they have got.
    pub rings: Vec<Ring>,
    /// Numbers of the boards.
    pub numbers: Vec<u8>,
    /// Messages under way, by source and destination.
    expected: Vec<Vec<VecDeque<Vec<u8>>>>,
    /// Messages that have arrived.
    pub arrived: u64,
    /// Clocks that have passed.
    pub clocks: u64,
    /// The last message.
    pub seen: Seen,
    /// Boards that have reported that nothing is acknowledged.
    pub errors: u64,
}

impl Network {
    /// Hosts whose links are up, on 8 bits or on 16, and whose boards are set up. Clocks from outside wander in `wander` percent of their edges;
    /// without, addresses are short, for measurements.
    ///
    /// # Errors
    /// Without the library; inside, what went wrong while links came up.
    pub fn new(
        shape: Shape,
        width: Width,
        seed: u64,
        wander: u64,
    ) -> Result<Result<Self, Failure>, Error> {
        let mut random = Random::new(seed);
        let count = match shape {
            Shape::Loop => 1,
            Shape::Pair => 2,
            Shape::Star => PORTS,
        };
        let mut hosts = Vec::new();
        for _ in 0..count {
            match Host::new("message", width, &mut random, wander)? {
                Ok(host) => hosts.push(host),
                Err(failure) => return Ok(Err(failure)),
            }
        }
        let switch = match shape {
            Shape::Star => Some(Switch::new(&mut random, wander)?),
            _ => None,
        };
        let cables = if switch.is_some() { 2 * count } else { count };
        let cables: Vec<_> = (0..cables)
            .map(|_| Cable::new(Random::new(random.next())))
            .collect();
        let rings = (0..count).map(|_| ring(&mut random, wander == 0)).collect();
        let numbers = match shape {
            Shape::Star => (0..count as u8).collect(),
            // Any, but not the same ones.
            _ => (0..count as u8)
                .map(|at| at << 6 ^ random.below(64) as u8)
                .collect(),
        };
        let mut network = Self {
            hosts,
            switch,
            cables,
            random,
            shape,
            asked: 0,
            rings,
            numbers,
            expected: vec![vec![VecDeque::new(); count]; count],
            arrived: 0,
            clocks: 0,
            seen: Seen::default(),
            errors: 0,
        };
        Ok(network.begin().map(|()| network))
    }

    /// Sets up the boards, whose links are up; all clocks begin together.
    fn begin(&mut self) -> Result<(), Failure> {
        let times = self.hosts.iter().map(|host| host.chip.time());
        let begin = times.max().unwrap_or(0);
        for host in &mut self.hosts {
            while host.chip.time() < begin {
                host.step()?;
            }
        }
        if let Some(switch) = &mut self.switch {
            for on in [true, false] {
                switch.reset(on);
                (0..RESET_CLOCKS).for_each(|_| switch.clock());
            }
            while switch.time() < begin {
                switch.clock();
            }
        }
        for (number, host) in self.hosts.iter_mut().enumerate() {
            let registers = [
                (0x08, u32::from(self.numbers[number])),
                (0x10, self.rings[number].base as u32),
                (0x14, (self.rings[number].base >> 32) as u32),
                (0x18, self.rings[number].slots as u32),
                (0x04, 1),
            ];
            for (at, value) in registers {
                let packet = dword(host.bars[1] + at, value).map_err(|error| error.to_string())?;
                host.partner.outbox[0].push_back(packet);
            }
        }
        self.until("registers are not written", |network| {
            network.hosts.iter().all(|host| host.partner.is_idle())
        })
    }

    fn until(&mut self, failure: &str, done: impl Fn(&Self) -> bool) -> Result<(), Failure> {
        for _ in 0..3000 {
            self.clock()?;
            if done(self) {
                return Ok(());
            }
        }
        Err(failure.to_owned())
    }

    /// Sets what happens to frames on all cables.
    pub fn set_faults(&mut self, faults: Faults) {
        for cable in &mut self.cables {
            cable.faults = faults;
        }
    }

    /// One clock of all boards.
    ///
    /// # Errors
    /// A message that is not as it was sent, and what hosts have found.
    pub fn clock(&mut self) -> Result<(), Failure> {
        if let Some(switch) = &mut self.switch {
            switch.clock();
        }
        for number in 0..self.hosts.len() {
            let arrived = self.hosts[number]
                .step()
                .map_err(|wrong| format!("host {number}: {wrong}"))?;
            for (packet, time) in arrived {
                self.take(number, packet, time)
                    .map_err(|wrong| format!("host {number}: {wrong}"))?;
            }
            let host = &mut self.hosts[number];
            self.errors += u64::from(host.chip.cable_error());
            if let Some((_, time)) = host.partner.sent.drain(..).next_back() {
                self.seen.written = time;
            }
        }
        for number in 0..self.hosts.len() {
            let phit = self.hosts[number].chip.phit().unwrap_or(0);
            let began = self.hosts[number].chip.time() - crate::ht::pins::CORE_CLOCK;
            match phit >> 16 {
                // A frame without message has nothing in its header.
                1 if phit & 0xffff != 0 => {
                    (self.seen.sender, self.seen.first_out) = (number, began)
                }
                1 if self.seen.sender == number => self.seen.sender = usize::MAX,
                3 if self.seen.sender == number => self.seen.last_out = began,
                _ => {}
            }
            self.cables[number].push(phit);
            let phit = self.cables[number].pop();
            match &mut self.switch {
                Some(switch) => {
                    switch.cables[number].coming.push_back(phit);
                    let back = &mut self.cables[PORTS + number];
                    back.push(switch.phit(number));
                    self.hosts[number].cable[0].coming.push_back(back.pop());
                }
                None => {
                    let other = (number + 1) % self.hosts.len();
                    self.hosts[other].cable[0].coming.push_back(phit);
                }
            }
        }
        self.clocks += 1;
        Ok(())
    }

    /// A packet of a board.
    fn take(&mut self, number: usize, packet: Packet, time: u64) -> Result<(), Failure> {
        if packet.channel == 2 {
            if self.asked > 0 && packet.data() == [0; 64] && is_normal(&packet) {
                // There are no registers.
                self.asked -= 1;
            } else {
                self.rings[number].answers.push_back(packet);
            }
            return Ok(());
        }
        let request = RequestRepr::parse(&packet.bytes).map_err(|error| error.to_string())?;
        let (address, unit) = match request.kind {
            RequestKind::Write(Write {
                mode: WriteMode::Posted { .. },
                address,
                size: WriteSize::Dwords(_),
                ..
            }) if !request.pass_pw => (address.get(), request.unit_id.get()),
            _ => return Err(format!("{request:?}")),
        };
        let ring = &mut self.rings[number];
        let slot = ring.base + 128 * (ring.count % ring.slots);
        match ring.open.take() {
            None if (address, unit) == (slot, UNIT) => {
                ring.open = Some(packet.data().to_vec());
                self.seen.message = time;
                self.seen.last_in = self.hosts[number].cable[0].last_at;
                Ok(())
            }
            Some(message) if (address, unit) == (slot + 64, UNIT) => {
                ring.count += 1;
                self.seen.status = time;
                self.check(number, &message, packet.data())
            }
            open => Err(format!(
                "a write to {address:#x} of unit {unit}, slot {slot:#x}, open {open:x?}"
            )),
        }
    }

    fn check(&mut self, number: usize, message: &[u8], status: &[u8]) -> Result<(), Failure> {
        let word = |at: usize, len: usize| {
            let bytes = status.get(at..at + len).unwrap_or(&[]).iter().rev();
            bytes.fold(0_u64, |value, &byte| value << 8 | u64::from(byte))
        };
        let (count, source, len) = (word(0, 4), word(4, 2) as usize, word(6, 2) as usize);
        if status.len() != 16 || count != self.rings[number].count || word(8, 8) != 0 {
            return Err(format!(
                "status {status:x?}, expected count {}",
                self.rings[number].count
            ));
        }
        let sender = self
            .numbers
            .iter()
            .position(|&number| usize::from(number) == source);
        let queue = sender.map(|sender| &mut self.expected[sender][number]);
        let Some(mut expected) = queue.and_then(VecDeque::pop_front) else {
            return Err(format!(
                "no message is expected from {source}: {message:x?}"
            ));
        };
        let expected_len = expected.len();
        expected.resize(expected_len.next_multiple_of(4), 0);
        if expected_len != len || expected != message {
            return Err(format!(
                "from {source}: expected {expected_len} B {expected:x?}, got {len} B {message:x?}"
            ));
        }
        self.arrived += 1;
        Ok(())
    }

    /// Sends a message of random bytes.
    ///
    /// # Errors
    /// If there is no such packet.
    pub fn send(&mut self, from: usize, to: usize) -> Result<(), Failure> {
        let random = &mut self.random;
        let page =
            self.hosts[from].bars[0] + (u64::from(self.numbers[to]) << 12) + 64 * random.below(64);
        let text = |error: hostwire_packet::Error| error.to_string();
        let (packet, message) = if random.chance(60) {
            let len = 1 + random.below(16);
            let at = 4 * random.below(17 - len);
            let data = bytes(random, 4 * len as usize);
            (
                requests::write(page + at, Data::Dwords(&data), None).map_err(text)?,
                data,
            )
        } else {
            let len = 1 + random.below(8);
            let first = random.below(9 - len);
            let mut data = bytes(random, 4 * len as usize);
            let all = (u64::from(u32::MAX) >> (32 - 4 * len)) << (4 * first);
            // Mostly a message without holes.
            let holes = if random.chance(70) {
                u64::MAX
            } else {
                random.next()
            };
            let mask = all & holes & ((1 << (4 * first + 1 + random.below(4 * len))) - 1);
            let packet = requests::write(page + 4 * first, Data::Masked(mask as u32, &data), None)
                .map_err(text)?;
            if mask == 0 {
                self.hosts[from].partner.outbox[0].push_back(packet);
                return Ok(());
            }
            data.truncate(64 - (mask >> (4 * first)).leading_zeros() as usize);
            (packet, data)
        };
        let packet = requests::vary(packet, random);
        self.hosts[from].partner.outbox[0].push_back(packet);
        self.expected[from][to].push_back(message);
        Ok(())
    }

    /// A message that somebody else has put into the outbox of a host is to arrive.
    pub fn expect(&mut self, from: usize, to: usize, message: Vec<u8>) {
        self.expected[from][to].push_back(message);
    }

    /// Where a host writes messages for another one.
    pub fn window(&self, from: usize, to: usize) -> u64 {
        self.hosts[from].bars[0] + (u64::from(self.numbers[to]) << 12)
    }

    /// Sends a message of this length, a multiple of 4.
    ///
    /// # Errors
    /// If there is no such packet.
    pub fn send_dwords(&mut self, from: usize, to: usize, len: usize) -> Result<(), Failure> {
        let data = bytes(&mut self.random, len);
        let packet = requests::write(self.window(from, to), Data::Dwords(&data), None);
        self.hosts[from].partner.outbox[0].push_back(packet.map_err(|error| error.to_string())?);
        self.expected[from][to].push_back(data);
        Ok(())
    }

    /// Random messages until so many more have arrived; then lets what is under way arrive. Hosts are fast and slow.
    ///
    /// # Errors
    /// A message that is not as it was sent, and a network that stands still.
    pub fn traffic(&mut self, messages: u64) -> Result<(), Failure> {
        let end = self.arrived + messages;
        let (mut last, mut last_clock) = (self.arrived, self.clocks);
        loop {
            if self.clocks.is_multiple_of(2048) {
                self.change_habits();
            }
            if self.arrived < end {
                self.fill()?;
            } else if self.is_done() {
                return Ok(());
            }
            self.clock()?;
            if self.arrived != last {
                (last, last_clock) = (self.arrived, self.clocks);
            } else if self.clocks - last_clock > PATIENCE {
                return Err("stands still".to_owned());
            }
        }
    }

    fn fill(&mut self) -> Result<(), Failure> {
        for from in 0..self.hosts.len() {
            while self.hosts[from].partner.outbox[0].len() < 3 {
                let to = match self.shape {
                    Shape::Loop => 0,
                    Shape::Pair => 1 - from,
                    Shape::Star => self.random.below(PORTS as u64) as usize,
                };
                self.send(from, to)?;
                if self.random.chance(20) {
                    self.disturb(from)?;
                }
            }
        }
        Ok(())
    }

    /// Something else for the board between messages: a write behind its registers, a fence, a read.
    fn disturb(&mut self, number: usize) -> Result<(), Failure> {
        let random = &mut self.random;
        let place = self.hosts[number].bars[1] + 0x100 + 64 * random.below(8);
        let packet = match random.below(3) {
            0 => {
                let len = 4 * (1 + random.below(16) as usize);
                requests::write(place, Data::Dwords(&bytes(random, len)), None)
            }
            1 => requests::request(RequestKind::Fence { isoc: false }, &[]),
            _ => requests::read(place, ReadSize::Dwords(Dwords::MAX), 7),
        };
        let packet = packet.map_err(|error| error.to_string())?;
        if packet.channel == 1 {
            self.asked += 1;
        }
        self.hosts[number].partner.outbox[packet.channel].push_back(packet);
        Ok(())
    }

    fn change_habits(&mut self) {
        for host in &mut self.hosts {
            // Often too slow for messages that come without a break.
            host.take = [1, 3, 20, 100, 100][self.random.below(5) as usize];
            let idle = [0, 0, 10, 60, 95][self.random.below(5) as usize];
            let insert = [0, 5, 40][self.random.below(3) as usize];
            host.partner.change(idle, insert);
        }
    }

    /// Whether no message is under way.
    pub fn is_done(&self) -> bool {
        self.hosts.iter().all(|host| host.partner.is_idle())
            && self.expected.iter().flatten().all(VecDeque::is_empty)
            && self.asked == 0
    }

    /// A register behind base address 1 of a board.
    ///
    /// # Errors
    /// Without answer.
    pub fn read_register(&mut self, number: usize, at: u64) -> Result<u32, Failure> {
        let one = ReadSize::Dwords(Dwords::MIN);
        let packet = requests::read(self.hosts[number].bars[1] + at, one, 1)
            .map_err(|error| error.to_string())?;
        let answer = self.ask(number, packet)?;
        let data = <[u8; 4]>::try_from(answer.data());
        let data = data.map_err(|_| format!("register {at:#x} is answered with {answer:x?}"))?;
        Ok(u32::from_le_bytes(data))
    }

    /// The answer to a non-posted request of a host, sent behind all posted ones, while it waits for no other one.
    ///
    /// # Errors
    /// Without answer.
    pub fn ask(&mut self, number: usize, packet: Packet) -> Result<Packet, Failure> {
        self.until("posted packets stand still", |network| {
            network.hosts[number].partner.outbox[0].is_empty()
        })?;
        self.hosts[number].partner.outbox[1].push_back(packet);
        self.until("no answer", |network| {
            !network.rings[number].answers.is_empty()
        })?;
        self.rings[number]
            .answers
            .pop_front()
            .ok_or_else(String::new)
    }
}

/// A ring anywhere, in memory above and below 40 bits; its slots are seldom a power of two.
fn ring(random: &mut Random, short: bool) -> Ring {
    let bits = if short || random.chance(50) { 38 } else { 64 };
    Ring {
        base: (random.next() >> (64 - bits)) & !0x7f,
        slots: 1 + random.below(200),
        ..Ring::default()
    }
}

fn bytes(random: &mut Random, len: usize) -> Vec<u8> {
    (0..len).map(|_| random.next() as u8).collect()
}
