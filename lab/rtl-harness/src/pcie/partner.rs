//! The other end of a link as software: a data-link layer that also does wrong on purpose.

mod credits;

use std::collections::VecDeque;

use hostwire_packet::pcie::{DllpRepr, FlowControlPhase, LinkTlpRepr, SequenceNumber, TlpRepr};

use crate::random::Random;

use self::credits::{Given, Taken};
use super::frames::{Decoder, EDS, Framing, Packet, encode};
use super::line::Beat;
use super::tlp::Tlp;

/// Cycles without progress until everything is sent again.
const REPLAY_CYCLES: u64 = 1500;
/// Pauses that end with EDS, of generation 3, in percent.
const EDS_PERCENT: u64 = 10;
/// TLPs that wait for an Ack.
const REPLAY_TLPS: usize = 40;

/// What a partner does, in percent of the packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Habits {
    /// DLLPs that it does not send although it should.
    pub lose_dllps: u64,
    /// TLPs that it does not send although it should.
    pub lose_tlps: u64,
    /// TLPs with a bit that is wrong.
    pub damage_tlps: u64,
    /// TLPs that it sends twice.
    pub double_tlps: u64,
    /// TLPs that it takes back, and sends again.
    pub nullify_tlps: u64,
    /// Cycles that an Ack may wait.
    pub ack_cycles: u64,
    /// Credits that it gives: headers, and units of 16 bytes of data, for each class; 0 is without limit.
    pub credits: [(u8, u16); 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Init1,
    Init2,
    Active,
}

/// A partner.
#[derive(Debug)]
pub struct Partner {
    random: Random,
    framing: Framing,
    lanes: usize,
    habits: Habits,
    decoder: Decoder,
    symbols: VecDeque<u16>,
    after_end: bool,
    phase: Phase,
    init_turn: usize,
    heard: bool,
    now: u64,

    /// TLPs to send, in this order.
    pub to_send: VecDeque<Tlp>,
    taken: Taken,
    next: SequenceNumber,
    unacked: VecDeque<(SequenceNumber, Tlp)>,
    /// The first of `unacked` that has to be sent.
    send_from: usize,
    progress_at: u64,

    /// TLPs that arrived.
    pub delivered: VecDeque<Vec<u8>>,
    given: Given,
    expected: SequenceNumber,
    ack_since: Option<u64>,
    nak_owed: bool,
    nak_sent: bool,

    /// Naks, and TLPs that came again: none if nothing goes wrong.
    pub repeats: u64,
    /// The hardware did what it must not do.
    pub fault: Option<String>,
    /// The link has to retrain.
    pub retrain: bool,
}

impl Partner {
    /// A partner before the initialisation of flow control.
    pub fn new(lanes: usize, framing: Framing, habits: Habits, random: Random) -> Self {
        Self {
            random,
            framing,
            lanes,
            habits,
            decoder: Decoder::new(framing, lanes),
            symbols: VecDeque::new(),
            after_end: false,
            phase: Phase::Init1,
            init_turn: 0,
            heard: false,
            now: 0,
            to_send: VecDeque::new(),
            taken: Taken::default(),
            next: SequenceNumber::MIN,
            unacked: VecDeque::new(),
            send_from: 0,
            progress_at: 0,
            delivered: VecDeque::new(),
            given: Given::new(habits.credits),
            expected: SequenceNumber::MIN,
            ack_since: None,
            nak_owed: false,
            nak_sent: false,
            repeats: 0,
            fault: None,
            retrain: false,
        }
    }

    /// Everything was sent, acknowledged and given back.
    pub fn is_idle(&self) -> bool {
        self.to_send.is_empty() && self.unacked.is_empty()
    }

    /// The link has retrained: what was on its way is lost.
    pub fn recover(&mut self) {
        self.symbols.clear();
        self.after_end = false;
        self.decoder.restart();
        self.retrain = false;
        self.send_from = 0;
        self.progress_at = self.now;
    }

    /// Takes the symbols of a cycle.
    pub fn consume(&mut self, beat: &Beat) {
        for (lane, symbol) in beat.iter().take(self.lanes).enumerate() {
            match self.decoder.take(*symbol, lane) {
                Some(Packet::Tlp(bytes, edb)) => self.hear_tlp(&bytes, edb),
                Some(Packet::Dllp(bytes)) => self.hear_dllp(&bytes),
                Some(Packet::Broken) if self.decoder.stuck => self.retrain = true,
                Some(Packet::Broken) => self.refuse(),
                None => {}
            }
        }
    }

    /// The symbols of the next cycle. `frees`: percent of the cycles in which a TLP leaves the buffers.
    pub fn produce(&mut self, frees: u64) -> Beat {
        self.now += 1;
        if self.random.chance(frees) {
            self.given.free_one();
        }
        if self.now.is_multiple_of(2000) {
            self.given.tell_all();
        }
        if self.send_from > 0 && self.now - self.progress_at > REPLAY_CYCLES {
            self.send_from = 0;
            self.progress_at = self.now;
        }
        while self.symbols.len() < self.lanes {
            self.fill();
        }
        let mut beat = Beat::default();
        for (slot, symbol) in beat.iter_mut().zip(self.symbols.drain(..self.lanes)) {
            *slot = symbol;
        }
        beat
    }

    /// Adds a packet, or what stands between packets.
    fn fill(&mut self) {
        let aligned = self.symbols.is_empty();
        let packet = if aligned || (self.after_end && self.random.chance(60)) {
            self.next_packet()
        } else {
            None
        };
        if let Some(packet) = packet {
            let mut symbols = encode(&packet, self.framing);
            if matches!(packet, Packet::Tlp(_, false))
                && self.random.chance(self.habits.damage_tlps)
            {
                self.damage(&mut symbols);
            }
            self.symbols.extend(symbols);
            self.after_end = true;
            return;
        }
        // The rest of a cycle in which a frame ended, or idle cycles.
        let pad = !aligned && self.after_end && self.framing == Framing::Symbols;
        let symbol = if pad { 0x1f7 } else { 0 };
        let idle = self.lanes * (1 + self.random.below(3) as usize);
        let count = if aligned {
            idle
        } else {
            self.lanes - self.symbols.len()
        };
        self.symbols.extend(core::iter::repeat_n(symbol, count));
        if self.framing == Framing::Tokens && self.random.chance(EDS_PERCENT) {
            // In the last dword of a block, which can be any here.
            let len = self
                .symbols
                .len()
                .next_multiple_of(self.lanes.max(EDS.len()));
            self.symbols.resize(len - EDS.len(), 0);
            self.symbols.extend(EDS);
        }
        self.after_end = false;
    }

    /// Changes a bit that leaves the frame a frame.
    fn damage(&mut self, symbols: &mut [u16]) {
        let first = if self.framing == Framing::Tokens {
            3
        } else {
            1
        };
        let places = (symbols.len() - first - 1) as u64;
        let at = first + self.random.below(places) as usize;
        if let Some(symbol) = symbols.get_mut(at) {
            *symbol ^= 1 << self.random.below(8);
        }
    }

    fn next_packet(&mut self) -> Option<Packet> {
        if let Some(dllp) = self.next_dllp() {
            let lost = self.random.chance(self.habits.lose_dllps);
            return (!lost).then(|| Packet::dllp(dllp));
        }
        if self.phase != Phase::Active {
            return None;
        }
        if self.send_from == self.unacked.len() {
            self.take_new();
        }
        let (sequence, tlp) = self.unacked.get(self.send_from)?;
        let bytes = on_the_link(*sequence, tlp)?;
        if self.random.chance(self.habits.nullify_tlps) {
            let mut bytes = bytes;
            let lcrc = bytes.len() - 4;
            bytes.iter_mut().skip(lcrc).for_each(|byte| *byte = !*byte);
            return Some(Packet::Tlp(bytes, true));
        }
        if self.send_from == 0 {
            self.progress_at = self.now;
        }
        if !self.random.chance(self.habits.double_tlps) {
            self.send_from += 1;
        }
        let lost = self.random.chance(self.habits.lose_tlps);
        (!lost).then_some(Packet::Tlp(bytes, false))
    }

    /// Gives the next TLP its sequence number, if there are credits for it.
    fn take_new(&mut self) {
        let allowed = self
            .to_send
            .front()
            .is_some_and(|tlp| self.taken.allows(&tlp.cost));
        if !allowed || self.unacked.len() >= REPLAY_TLPS {
            return;
        }
        if let Some(tlp) = self.to_send.pop_front() {
            self.taken.take(&tlp.cost);
            self.unacked.push_back((self.next, tlp));
            self.next = self.next.next();
        }
    }

    fn next_dllp(&mut self) -> Option<DllpRepr> {
        // The number before the expected one.
        let last = SequenceNumber::new((self.expected.get() + 4095) % 4096).unwrap_or_default();
        if self.nak_owed {
            self.nak_owed = false;
            self.ack_since = None;
            return Some(DllpRepr::Nak { sequence: last });
        }
        if self
            .ack_since
            .is_some_and(|since| self.now - since >= self.habits.ack_cycles)
        {
            self.ack_since = None;
            return Some(DllpRepr::Ack { sequence: last });
        }
        let phase = match self.phase {
            Phase::Init1 => FlowControlPhase::Init1,
            Phase::Init2 => FlowControlPhase::Init2,
            Phase::Active => return self.given.update(),
        };
        let class = self.init_turn % 3;
        self.init_turn += 1;
        if class == 2 && self.phase == Phase::Init1 && self.taken.is_told() {
            self.phase = Phase::Init2;
            self.init_turn = 0;
        } else if self.init_turn >= 6 && self.phase == Phase::Init2 && self.heard {
            self.phase = Phase::Active;
        }
        Some(self.given.dllp(phase, class))
    }

    fn hear_tlp(&mut self, bytes: &[u8], edb: bool) {
        let (sequence, tlp, cost) = match LinkTlpRepr::parse(bytes) {
            Ok(repr) if !edb && repr.buffer_len() == bytes.len() => {
                let tlp = bytes.get(2..bytes.len() - 4).unwrap_or(&[]);
                (repr.sequence, tlp.to_vec(), repr.tlp.header().credit_cost())
            }
            _ => return self.refuse(),
        };
        if self.phase == Phase::Init1 {
            self.fault = Some("a TLP before the credits are known".to_owned());
        }
        self.heard = true;
        if sequence == self.expected {
            self.expected = sequence.next();
            self.nak_sent = false;
            self.nak_owed = false;
            self.ack_since.get_or_insert(self.now);
            if !self.given.take(cost) {
                self.fault = Some(format!("no credit for {cost:?}"));
            }
            self.delivered.push_back(tlp);
        } else if self.expected.ahead_of(sequence) <= 2048 {
            self.ack_since = Some(0);
            self.repeats += 1;
        } else {
            self.refuse();
        }
    }

    fn refuse(&mut self) {
        self.nak_owed |= !self.nak_sent;
        self.nak_sent = true;
    }

    fn hear_dllp(&mut self, bytes: &[u8]) {
        match DllpRepr::parse(bytes) {
            Ok(DllpRepr::Ack { sequence }) => self.acknowledged(sequence),
            Ok(DllpRepr::Nak { sequence }) => {
                self.acknowledged(sequence);
                self.send_from = 0;
                self.repeats += 1;
            }
            Ok(DllpRepr::FlowControl {
                phase,
                class,
                header,
                data,
                ..
            }) => {
                self.heard |= phase != FlowControlPhase::Init1;
                let first = phase != FlowControlPhase::Update;
                if first == (self.phase == Phase::Init1) {
                    self.taken.tell(class, header, data.get(), first);
                }
            }
            // Damaged: as if it had not come.
            Err(_) => {}
        }
    }

    fn acknowledged(&mut self, sequence: SequenceNumber) {
        let Some((oldest, _)) = self.unacked.front() else {
            return;
        };
        let count = usize::from(sequence.next().ahead_of(*oldest));
        if count > 4000 || count == 0 {
            // Of TLPs that have their Ack already.
            return;
        }
        if count > self.unacked.len() {
            self.fault = Some(format!("Ack of {sequence}, which was not sent"));
            return;
        }
        self.unacked.drain(..count);
        self.send_from = self.send_from.saturating_sub(count);
        self.progress_at = self.now;
    }
}

fn on_the_link(sequence: SequenceNumber, tlp: &Tlp) -> Option<Vec<u8>> {
    let repr = LinkTlpRepr {
        sequence,
        tlp: TlpRepr::parse(&tlp.bytes).ok()?,
    };
    let mut bytes = vec![0; repr.buffer_len()];
    repr.emit(&mut bytes).ok()?;
    Some(bytes)
}
