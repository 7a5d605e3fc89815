//! A host with a board in its slot: brings the link up, sets the board up, writes and reads.

use std::collections::VecDeque;

use hostwire_packet::ht::{Dwords, ReadSize, ResponseRepr, ResponseStatus};

use super::device::Board;
use super::requests::{self, Data};
use crate::ht::bench::{Failure, UNIT, config_packet, habits};
use crate::ht::host::Settings;
use crate::ht::packets::Packet;
use crate::ht::partner::Partner;
use crate::random::Random;

/// A host and its board.
pub struct Host {
    /// The board.
    pub board: Board,
    /// The host's end of the link.
    pub partner: Partner,
    random: Random,
    /// How fast it takes packets of the board, in percent of clocks.
    pub take: u64,
    buffered: VecDeque<Packet>,
    wander: u64,
    /// Base addresses of the board.
    pub bars: [u64; 2],
}

impl Host {
    /// A host whose link is down. Its clock wanders in `wander` percent of its edges; without, addresses are short and
    /// buffers many, for measurements.
    pub fn new(board: Board, mut random: Random, wander: u64) -> Self {
        let partner = Partner::new(Random::new(0), habits(&mut random, (false, false), 0));
        let bars = bars(&mut random, wander == 0);
        Self {
            board,
            partner,
            random,
            take: 100,
            buffered: VecDeque::new(),
            wander,
            bars,
        }
    }

    /// Begins or ends the reset of the link, and of the board with it.
    pub fn reset(&mut self, is_on: bool) {
        if is_on {
            let mut habits = habits(&mut self.random, (false, false), self.wander);
            if self.wander == 0 {
                habits.buffers = [[16; 2]; 3];
            }
            self.partner = Partner::new(Random::new(self.random.next()), habits);
            self.board.reset(true, false);
        } else {
            self.board.reset(true, true);
            self.partner.begin();
        }
    }

    /// Whether packets can be sent.
    pub fn is_up(&self) -> bool {
        self.board.is_up() && self.partner.is_up()
    }

    /// One clock of the board's core. Packets of the board are returned when they arrive; their buffers are free later.
    ///
    /// # Errors
    /// What the partner has found, or the core has reported.
    pub fn clock(&mut self) -> Result<Vec<(Packet, u64)>, Failure> {
        self.board.clock(&mut self.partner);
        if let Some(wrong) = self.partner.wrong.first() {
            return Err(format!("at the host: {wrong}"));
        }
        if self.board.errors() != (0, false, false) {
            return Err(format!("the core reports {:?}", self.board.errors()));
        }
        let arrived: Vec<_> = self.partner.inbox.drain(..).collect();
        self.buffered
            .extend(arrived.iter().map(|(packet, _)| packet.clone()));
        if self.random.chance(self.take)
            && let Some(packet) = self.buffered.pop_front()
        {
            self.partner.free(&packet);
        }
        Ok(arrived)
    }

    /// What a host does before it uses the board: UnitID, base addresses, and what they enable.
    ///
    /// # Errors
    /// If there is no such packet.
    pub fn set_up_packets(&self) -> Result<Vec<Packet>, Failure> {
        let settings = Settings {
            bars: self.bars,
            unit: UNIT,
        };
        let packets = settings.registers().into_iter();
        packets
            .map(|(at, value)| config_packet(0, at, Some(value)))
            .collect()
    }

    /// Sends a non-posted request behind all posted ones, while no other one is under way, and waits for its answer, for at
    /// most `patience` clocks.
    ///
    /// # Errors
    /// Without answer; a posted packet that comes instead.
    pub fn ask(&mut self, packet: Packet, patience: u64) -> Result<Packet, Failure> {
        while !self.partner.outbox[0].is_empty() {
            self.clock()?;
        }
        self.partner.outbox[1].push_back(packet);
        for _ in 0..patience {
            if let Some((packet, _)) = self.clock()?.pop() {
                return Ok(packet);
            }
        }
        Err("no answer".to_owned())
    }

    /// Brings the link up and sets the board up, alone.
    ///
    /// # Errors
    /// If the link does not come up, or a register does not answer.
    pub fn begin(&mut self) -> Result<(), Failure> {
        self.reset(true);
        for _ in 0..10 {
            // In reset nothing is compared.
            self.board.clock(&mut self.partner);
            self.partner.wrong.clear();
        }
        self.reset(false);
        for _ in 0..2000 {
            self.clock()?;
            if self.is_up() {
                break;
            }
        }
        for packet in self.set_up_packets()? {
            let answer = self.ask(packet, 1000)?;
            if !is_normal(&answer) {
                return Err(format!("a register is answered with {answer:x?}"));
            }
        }
        Ok(())
    }

    /// Reads one dword.
    ///
    /// # Errors
    /// As [`ask`](Self::ask), and if the answer is not normal.
    pub fn read_dword(&mut self, address: u64) -> Result<u32, Failure> {
        let packet = requests::read(address, ReadSize::Dwords(Dwords::MIN), 3)
            .map_err(|error| error.to_string())?;
        let answer = self.ask(packet, 3000)?;
        match <[u8; 4]>::try_from(answer.data()) {
            Ok(bytes) if is_normal(&answer) => Ok(u32::from_le_bytes(bytes)),
            _ => Err(format!(
                "a read of {address:#x} is answered with {answer:x?}"
            )),
        }
    }
}

/// Base addresses anywhere, and not in each other: not where the configuration space is, and below 40 bits if they have to
/// be short.
fn bars(random: &mut Random, short: bool) -> [u64; 2] {
    loop {
        let bits = if short || random.chance(50) { 38 } else { 64 };
        let mut base = |align: u64| (random.next() >> (64 - bits)) & !(align - 1);
        let (bar0, bar1) = (base(1 << 19), base(1 << 12));
        let special = [bar0, bar1]
            .iter()
            .any(|base| base >> 32 == 0xfd || *base == 0);
        if !special && bar0 >> 19 != bar1 >> 19 {
            return [bar0, bar1];
        }
    }
}

/// A posted write of one dword.
///
/// # Errors
/// If there is no such packet.
pub fn dword(address: u64, value: u32) -> Result<Packet, Failure> {
    requests::write(address, Data::Dwords(&value.to_le_bytes()), None)
        .map_err(|error| error.to_string())
}

/// Whether a packet is a response without error.
pub fn is_normal(packet: &Packet) -> bool {
    ResponseRepr::parse(&packet.bytes)
        .is_ok_and(|response| response.status == ResponseStatus::Normal)
}
