//! The user's logic behind the core: takes received packets, and hands over packets to be sent.

use std::collections::VecDeque;

use super::core::{Command, Core};
use super::packets::{Packet, data_len};
use crate::random::Random;

/// How ready it is, in percent of the core's clocks.
#[derive(Clone, Copy, Debug)]
pub struct Readiness {
    /// Takes a command, or a word of data.
    pub take: u64,
    /// Hands over a command, or a word of data.
    pub give: u64,
}

/// The user's logic.
#[derive(Debug)]
pub struct User {
    random: Random,
    /// How ready it is now.
    pub readiness: Readiness,
    /// Commands that it has taken and whose data is not there yet, by channel, each with the time of its edge, and the
    /// words of the first one so far.
    open: [VecDeque<(Command, u64)>; 3],
    words: [Vec<u64>; 3],
    /// Whole packets, and the time of the edge at which the command was taken.
    pub received: VecDeque<(Packet, u64)>,
    /// Packets to be sent, by channel.
    pub outbox: [VecDeque<Packet>; 3],
    /// Words of packets that were offered.
    data: [VecDeque<u64>; 3],
    offered: [bool; 3],
    /// Packets that the core has taken, and the time of the edge.
    pub given: VecDeque<(Packet, u64)>,
    /// What was wrong.
    pub wrong: Vec<String>,
}

impl User {
    /// Always ready.
    pub fn new(random: Random) -> Self {
        Self {
            random,
            readiness: Readiness {
                take: 100,
                give: 100,
            },
            open: Default::default(),
            words: Default::default(),
            received: VecDeque::new(),
            outbox: Default::default(),
            data: Default::default(),
            offered: [false; 3],
            given: VecDeque::new(),
            wrong: Vec::new(),
        }
    }

    /// Whether it waits for data of a packet that it has begun to take.
    pub fn is_taking(&self) -> bool {
        self.open.iter().any(|open| !open.is_empty())
    }

    /// Whether it has nothing to send.
    pub fn is_idle(&self) -> bool {
        self.outbox.iter().all(VecDeque::is_empty) && self.data.iter().all(VecDeque::is_empty)
    }

    /// Sets the inputs of the core for its next edge.
    pub fn step(&mut self, core: &mut Core) {
        self.take(core);
        self.give(core);
    }

    fn choose(&mut self, percent: u64) -> u64 {
        if percent >= 100 {
            return 7;
        }
        (0..3).fold(0, |bits, at| {
            bits | u64::from(self.random.chance(percent)) << at
        })
    }

    fn take(&mut self, core: &mut Core) {
        let (cmds, datas) = (core.cmd_valid(), core.data_valid());
        if cmds | datas == 0 {
            core.take(7, 7);
            return;
        }
        let cmds = cmds & self.choose(self.readiness.take);
        let datas = datas & self.choose(self.readiness.take);
        for channel in 0..3 {
            // Data first: it belongs to a command of an earlier clock.
            if datas >> channel & 1 == 1 {
                let (word, last) = core.data(channel);
                self.take_data(channel, word, last);
            }
            if cmds >> channel & 1 == 1 {
                self.open[channel].push_back((core.cmd(channel), core.time()));
                self.finish_without_data(channel);
            }
        }
        core.take(cmds, datas);
    }

    fn take_data(&mut self, channel: usize, word: u64, last: bool) {
        let Some(&(command, time)) = self.open[channel].front() else {
            self.wrong
                .push(format!("data without a command in channel {channel}"));
            return;
        };
        self.words[channel].push(word);
        let whole = 8 * self.words[channel].len() >= data_len(command);
        if whole != last {
            self.wrong
                .push(format!("the end of data is wrong in channel {channel}"));
        }
        if whole {
            let words = core::mem::take(&mut self.words[channel]);
            self.open[channel].pop_front();
            self.finish(channel, command, &words, time);
            self.finish_without_data(channel);
        }
    }

    /// Commands without data are whole when those before them are.
    fn finish_without_data(&mut self, channel: usize) {
        while let Some(&(command, time)) = self.open[channel].front()
            && data_len(command) == 0
        {
            self.open[channel].pop_front();
            self.finish(channel, command, &[], time);
        }
    }

    fn finish(&mut self, channel: usize, command: Command, words: &[u64], time: u64) {
        match Packet::of_queue(command, words) {
            Ok(packet) if packet.channel == channel => self.received.push_back((packet, time)),
            Ok(packet) => self.wrong.push(format!("{packet:?} in channel {channel}")),
            Err(error) => self
                .wrong
                .push(format!("{command:x?}, {words:x?}: {error}")),
        }
    }

    fn give(&mut self, core: &mut Core) {
        let (cmd_room, data_room) = core.room();
        let cmds = self.choose(self.readiness.give);
        let datas = self.choose(self.readiness.give);
        let (mut give_cmd, mut give_data) = (0, 0);
        for channel in 0..3 {
            let Some(packet) = self.outbox[channel].front() else {
                continue;
            };
            if !self.offered[channel] {
                self.offered[channel] = true;
                self.data[channel].extend(packet.words());
            }
            if cmds >> channel & 1 == 0 {
                continue;
            }
            give_cmd |= 1 << channel;
            core.set_cmd(channel, packet.command());
            if cmd_room >> channel & 1 == 1 {
                self.offered[channel] = false;
                if let Some(packet) = self.outbox[channel].pop_front() {
                    self.given.push_back((packet, core.time()));
                }
            }
        }
        for channel in 0..3 {
            let Some(&word) = self.data[channel].front() else {
                continue;
            };
            if datas >> channel & 1 == 1 {
                give_data |= 1 << channel;
                core.set_data(channel, word);
                if data_room >> channel & 1 == 1 {
                    self.data[channel].pop_front();
                }
            }
        }
        core.give(give_cmd, give_data);
    }
}
