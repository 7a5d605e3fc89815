//! The partner of the core on the link: a host, made of `hostwire_packet`. It initialises the link, checks and makes
//! periodic CRCs, keeps credits, and hands over whole packets.

use std::collections::VecDeque;

use hostwire_packet::ht::periodic_crc::{BitTime, LaneReceiver, LaneTransmitter, Received};
use hostwire_packet::ht::{ChannelCredits, ControlRepr, NopRepr, SYNC_LEN, VirtualChannel};

use super::packets::Packet;
use super::pins::{Link, Pins};
use crate::random::Random;

/// Bit-times of zeros in the initialisation.
const ZEROS: u32 = 512;

/// What the partner has seen that must not be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// A CRC of the core that does not match.
    #[error("CRC of lane {0} is wrong")]
    Crc(usize),
    /// A dword that cannot stand where it does.
    #[error("{0}")]
    Protocol(String),
    /// More packets than the partner has buffers for.
    #[error("the core sends without credit in channel {0}")]
    Credit(usize),
}

/// How the partner behaves.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// 16 bits are in use, towards the core and from it.
    pub wide: (bool, bool),
    /// Buffers for commands, and for data, of each channel.
    pub buffers: [[u32; 2]; 3],
    /// NOPs where a packet could be, in percent.
    pub idle: u64,
    /// Control packets in data, in percent of its dwords.
    pub insert: u64,
    /// Free buffers of a kind, not told, for which a NOP goes before packets.
    pub urgent: Option<u32>,
    /// Bit-times of CTL at the begin of initialisation, at least; random if `None`.
    pub ctl: Option<u32>,
    /// Moves of the clock, in percent of its edges.
    pub wander: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reset,
    /// CTL; how many bit-times more at least.
    Ctl(u32),
    Zeros(u32),
    Mark(u32),
    Run,
}

/// Sends.
#[derive(Debug)]
struct Transmitter {
    state: State,
    lanes: [LaneTransmitter; 2],
    /// The dword under way, its CTL, and its bytes that are left.
    dword: (u32, bool, u32),
    /// The control packet under way.
    control: VecDeque<u32>,
    /// The data under way.
    data: VecDeque<u32>,
    sync: bool,
}

/// Receives.
#[derive(Debug)]
struct Receiver {
    state: State,
    lanes: [LaneReceiver; 2],
    bytes: Vec<u8>,
    ctl: bool,
    control: Vec<u8>,
    /// A packet that waits for data: its bytes so far, how many it has in all, and when it began.
    open: Option<(Vec<u8>, usize, u64)>,
    /// When the dword and the control packet under way began.
    dword_began: u64,
    control_began: u64,
}

/// A packet of the core, and when its first bit-time was on the pins.
pub type Arrived = (Packet, u64);

/// The partner.
#[derive(Debug)]
pub struct Partner {
    random: Random,
    habits: Habits,
    tx: Transmitter,
    rx: Receiver,
    /// Buffers of the core: commands and data of each channel.
    granted: [[u32; 2]; 3],
    /// Own buffers that are in use, and those that are free but not told.
    used: [[u32; 2]; 3],
    untold: [[u32; 2]; 3],
    /// Packets to be sent, by channel.
    pub outbox: [VecDeque<Packet>; 3],
    /// Packets that were begun, in the order of the link, with the time at which the first bit-time of each one's last
    /// control dword was sampled.
    pub sent: VecDeque<(usize, u64)>,
    /// The packet whose control dwords are under way.
    sending: Option<(usize, usize)>,
    /// Packets of the core.
    pub inbox: VecDeque<Arrived>,
    /// What was wrong.
    pub wrong: Vec<Wrong>,
    /// Syncs that have come.
    pub syncs: u64,
    /// Most buffers that the core has told of, by channel.
    pub told: [[u32; 2]; 3],
    /// Flips a bit in some bit-times: (bit-times from now, bit; 16 is CTL).
    pub flips: VecDeque<(u64, u32)>,
    /// Flips this bit in the first bit-time of the next CRC.
    pub flip_in_crc: Option<u32>,
    wander: i64,
    bit_times: u64,
}

impl Partner {
    /// A partner in reset.
    pub fn new(random: Random, habits: Habits) -> Self {
        Self {
            random,
            habits,
            tx: Transmitter {
                state: State::Reset,
                lanes: [LaneTransmitter::new(); 2],
                dword: (0, true, 0),
                control: VecDeque::new(),
                data: VecDeque::new(),
                sync: false,
            },
            rx: Receiver {
                state: State::Ctl(0),
                lanes: [LaneReceiver::new(); 2],
                bytes: Vec::new(),
                ctl: false,
                control: Vec::new(),
                open: None,
                dword_began: 0,
                control_began: 0,
            },
            granted: [[0; 2]; 3],
            used: [[0; 2]; 3],
            untold: habits.buffers,
            outbox: Default::default(),
            sent: VecDeque::new(),
            sending: None,
            inbox: VecDeque::new(),
            wrong: Vec::new(),
            syncs: 0,
            told: [[0; 2]; 3],
            flips: VecDeque::new(),
            flip_in_crc: None,
            wander: 0,
            bit_times: 0,
        }
    }

    /// Leaves reset: sends CTL for some time, at any bit-time.
    pub fn begin(&mut self) {
        let random = 16 + self.random.below(40) as u32;
        self.tx.state = State::Ctl(self.habits.ctl.unwrap_or(random));
    }

    /// Sends Sync from the next packet on.
    pub fn flood(&mut self) {
        self.tx.sync = true;
    }

    /// Sends more or fewer NOPs, and control packets in data, from now on (percent).
    pub fn change(&mut self, idle: u64, insert: u64) {
        self.habits.idle = idle;
        self.habits.insert = insert;
    }

    /// Buffers of the core for commands, and for data, of each channel, that are told and not used.
    pub const fn granted(&self) -> [[u32; 2]; 3] {
        self.granted
    }

    /// Sends as if the core had very many buffers.
    pub fn cheat(&mut self) {
        self.granted = [[1 << 20; 2]; 3];
    }

    /// Whether both directions are initialised.
    pub fn is_up(&self) -> bool {
        self.tx.state == State::Run && self.rx.state == State::Run
    }

    /// Bit-times that it has sent.
    pub const fn bit_times(&self) -> u64 {
        self.bit_times
    }

    /// Whether nothing is left to send.
    pub fn is_idle(&self) -> bool {
        self.tx.control.is_empty()
            && self.tx.data.is_empty()
            && self.outbox.iter().all(VecDeque::is_empty)
    }

    /// Whether the last dword of a packet, or of a NOP, is on the pins.
    pub fn is_between_packets(&self) -> bool {
        self.tx.control.is_empty() && self.tx.data.is_empty() && self.tx.dword.2 == 0
    }

    /// A packet of the core has left its buffers.
    pub fn free(&mut self, packet: &Packet) {
        self.free_buffers(packet.channel, !packet.data().is_empty());
    }

    /// The buffers of a packet are free, of its command, and of its data if it had some.
    pub fn free_buffers(&mut self, channel: usize, data: bool) {
        for kind in 0..1 + usize::from(data) {
            self.used[channel][kind] -= 1;
            self.untold[channel][kind] += 1;
        }
    }

    fn is_urgent(&self) -> bool {
        let most = self.untold.as_flattened().iter().max();
        self.habits.urgent.is_some_and(|least| most >= Some(&least))
    }

    fn nop(&mut self) -> u32 {
        let mut nop = NopRepr::default();
        let mut field = |channel: VirtualChannel| {
            let untold = &mut self.untold[channel.index()];
            let [command, data] = untold.map(|count| count.min(3));
            untold[0] -= command;
            untold[1] -= data;
            ChannelCredits::new(command as u8, data as u8).unwrap_or_default()
        };
        nop.posted = field(VirtualChannel::Posted);
        nop.non_posted = field(VirtualChannel::NonPosted);
        nop.response = field(VirtualChannel::Response);
        let mut bytes = [0; 4];
        // A NOP fits into four bytes.
        let _ = nop.emit(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// A channel whose next packet has credit, and no data if it stands in data.
    fn ready(&mut self, in_data: bool) -> Option<usize> {
        let first = self.random.below(3) as usize;
        (0..3).map(|at| (first + at) % 3).find(|&channel| {
            let Some(packet) = self.outbox[channel].front() else {
                return false;
            };
            let has_data = !packet.data().is_empty();
            let [commands, datas] = self.granted[channel];
            commands > 0 && (!has_data || datas > 0) && !(in_data && has_data)
        })
    }

    /// Begins a packet of this channel.
    fn start(&mut self, channel: usize) {
        let Some(packet) = self.outbox[channel].pop_front() else {
            return;
        };
        self.granted[channel][0] -= 1;
        if !packet.data().is_empty() {
            self.granted[channel][1] -= 1;
        }
        for (dword, ctl) in packet.dwords() {
            if ctl {
                self.tx.control.push_back(dword);
            } else {
                self.tx.data.push_back(dword);
            }
        }
        self.sending = Some((channel, packet.control / 4));
    }

    fn next_dword(&mut self, time: u64) -> (u32, bool) {
        if self.tx.sync {
            return (u32::MAX, true);
        }
        if self.tx.control.is_empty() {
            let in_data = !self.tx.data.is_empty();
            if in_data && !self.random.chance(self.habits.insert) {
                return (self.tx.data.pop_front().unwrap_or(0), false);
            }
            if !self.is_urgent()
                && !self.random.chance(self.habits.idle)
                && let Some(channel) = self.ready(in_data)
            {
                self.start(channel);
            }
        }
        let Some(dword) = self.tx.control.pop_front() else {
            return (self.nop(), true);
        };
        if let Some((channel, left)) = &mut self.sending {
            *left -= 1;
            if *left == 0 {
                self.sent.push_back((*channel, time));
                self.sending = None;
            }
        }
        (dword, true)
    }

    /// The bit-time of packets and CRCs.
    fn run_bit_time(&mut self, time: u64) -> Pins {
        let wide = self.habits.wide.0;
        let lanes = if wide { 2 } else { 1 };
        if !self.tx.lanes[0].crc_due() && self.tx.dword.2 == 0 {
            let (dword, ctl) = self.next_dword(time);
            self.tx.dword = (dword, ctl, 4);
        }
        let (dword, ctl, left) = self.tx.dword;
        let due = self.tx.lanes[0].crc_due();
        let bytes = dword.to_le_bytes();
        let mut pins = Pins::default();
        for lane in 0..lanes {
            let at = 4 - left as usize + lane;
            let cad = bytes.get(at).copied().unwrap_or(0);
            let bit_time = self.tx.lanes[lane].step(|| BitTime { cad, ctl });
            pins.cad |= u16::from(bit_time.cad) << (8 * lane);
            pins.ctl = bit_time.ctl;
        }
        if due && let Some(bit) = self.flip_in_crc.take() {
            pins.cad ^= 1 << bit;
        }
        if !due {
            self.tx.dword.2 -= lanes as u32;
        }
        pins
    }

    fn received_dword(&mut self, dword: u32, ctl: bool) {
        if !ctl {
            self.received_data(dword);
            return;
        }
        if self.rx.control.is_empty() {
            self.rx.control_began = self.rx.dword_began;
        }
        let time = self.rx.control_began;
        self.rx.control.extend(dword.to_le_bytes());
        let control = match ControlRepr::parse(&self.rx.control) {
            Ok(control) => control,
            Err(hostwire_packet::Error::Truncated { .. }) => return,
            Err(error) => {
                self.wrong.push(Wrong::Protocol(error.to_string()));
                self.rx.control.clear();
                return;
            }
        };
        let bytes = core::mem::take(&mut self.rx.control);
        match control {
            ControlRepr::Nop(nop) => self.received_nop(nop),
            ControlRepr::Sync(_) => self.syncs += bytes.len() as u64 / SYNC_LEN as u64,
            _ if control.data_len() == 0 => self.received(bytes, time),
            _ if self.rx.open.is_some() => {
                let text = "data stands in data".to_owned();
                self.wrong.push(Wrong::Protocol(text));
            }
            _ => self.rx.open = Some((bytes, control.wire_len(), time)),
        }
    }

    fn received_data(&mut self, dword: u32) {
        match &mut self.rx.open {
            Some((bytes, len, began)) if self.rx.control.is_empty() => {
                bytes.extend(dword.to_le_bytes());
                if bytes.len() >= *len {
                    let (bytes, began) = (core::mem::take(bytes), *began);
                    self.rx.open = None;
                    self.received(bytes, began);
                }
            }
            _ => {
                let text = "data without a packet".to_owned();
                self.wrong.push(Wrong::Protocol(text));
            }
        }
    }

    fn received(&mut self, bytes: Vec<u8>, time: u64) {
        match Packet::parse(&bytes) {
            Ok(packet) => {
                let kinds = if packet.data().is_empty() { 1 } else { 2 };
                for kind in 0..kinds {
                    let used = &mut self.used[packet.channel][kind];
                    *used += 1;
                    if *used + self.untold[packet.channel][kind]
                        > self.habits.buffers[packet.channel][kind]
                    {
                        self.wrong.push(Wrong::Credit(packet.channel));
                    }
                }
                self.inbox.push_back((packet, time));
            }
            Err(error) => self.wrong.push(Wrong::Protocol(error.to_string())),
        }
    }

    fn received_nop(&mut self, nop: NopRepr) {
        let credits = [nop.posted, nop.non_posted, nop.response];
        for (channel, credits) in credits.into_iter().enumerate() {
            let granted = &mut self.granted[channel];
            granted[0] += u32::from(credits.command());
            granted[1] += u32::from(credits.data());
            for (told, granted) in self.told[channel].iter_mut().zip(granted) {
                *told = (*told).max(*granted);
            }
        }
    }

    fn sample_run(&mut self, pins: Pins, time: u64) {
        let lanes = if self.habits.wide.1 { 2 } else { 1 };
        let mut payload = false;
        for lane in 0..lanes {
            let cad = (pins.cad >> (8 * lane)) as u8;
            match self.rx.lanes[lane].step(BitTime { cad, ctl: pins.ctl }) {
                Ok(received) => payload = received == Received::Payload,
                Err(_) => self.wrong.push(Wrong::Crc(lane)),
            }
            if payload {
                if self.rx.bytes.is_empty() {
                    self.rx.ctl = pins.ctl;
                    self.rx.dword_began = time;
                }
                self.rx.bytes.push(cad);
            }
        }
        if !payload {
            return;
        }
        if self.rx.ctl != pins.ctl {
            self.wrong
                .push(Wrong::Protocol("CTL changes in a dword".to_owned()));
        }
        if let Ok(bytes) = <[u8; 4]>::try_from(self.rx.bytes.as_slice()) {
            self.rx.bytes.clear();
            self.received_dword(u32::from_le_bytes(bytes), self.rx.ctl);
        }
    }
}

impl Link for Partner {
    fn drive(&mut self, time: u64) -> (Pins, i64) {
        self.bit_times += 1;
        let ones = if self.habits.wide.0 { 0xffff } else { 0xff };
        let pins = |cad, ctl| Pins { cad, ctl };
        let mut driven = match &mut self.tx.state {
            State::Reset => pins(ones, false),
            State::Ctl(left) => {
                *left = left.saturating_sub(1);
                if *left == 0 && self.rx.state != State::Ctl(0) {
                    self.tx.state = State::Zeros(ZEROS);
                }
                pins(ones, true)
            }
            State::Zeros(left) => {
                *left -= 1;
                if *left == 0 {
                    self.tx.state = State::Mark(4);
                }
                pins(0, false)
            }
            State::Mark(left) => {
                *left -= 1;
                if *left == 0 {
                    self.tx.state = State::Run;
                }
                pins(ones, false)
            }
            State::Run => self.run_bit_time(time),
        };
        if let Some((wait, bit)) = self.flips.front_mut() {
            if *wait == 0 {
                match *bit {
                    16 => driven.ctl = !driven.ctl,
                    bit => driven.cad ^= 1 << bit,
                }
                self.flips.pop_front();
            } else {
                *wait -= 1;
            }
        }
        let mut shift = 0;
        if self.random.chance(self.habits.wander) {
            shift = if self.random.chance(50) { 1 } else { -1 };
            // As far as one clock of the link.
            if (self.wander + shift).abs() > 8 {
                shift = 0;
            }
            self.wander += shift;
        }
        (driven, shift)
    }

    fn sample(&mut self, pins: Pins, time: u64) {
        let cad = pins.cad & 0xff;
        match &mut self.rx.state {
            State::Reset | State::Ctl(_) => {
                if pins.ctl && cad == 0xff {
                    self.rx.state = State::Zeros(0);
                }
            }
            State::Zeros(count) => {
                if !pins.ctl && cad == 0 {
                    *count += 1;
                } else if !pins.ctl && cad == 0xff && *count > 0 {
                    if *count != ZEROS {
                        let text = format!("{count} bit-times of zeros");
                        self.wrong.push(Wrong::Protocol(text));
                    }
                    self.rx.state = State::Mark(3);
                }
            }
            State::Mark(left) => {
                *left -= 1;
                if pins.ctl || cad != 0xff {
                    self.wrong.push(Wrong::Protocol("a bad mark".to_owned()));
                }
                if *left == 0 {
                    self.rx.state = State::Run;
                }
            }
            State::Run => self.sample_run(pins, time),
        }
    }
}
