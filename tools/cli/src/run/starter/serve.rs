//! The loop of a starter whose PEs run.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use hostwire_bootstrap::starter::{Order, PIECE_BYTES_MAX, ROOM_BYTES, Report, Stream};
use rustix::event::PollFlags;
use rustix::process::Signal;
use signal_hook::consts::SIGCHLD;

use super::super::crew::Crew;
use super::super::pes::{Near, Pe};
use super::super::pipe::Which;
use super::super::signals::Signals;
use super::super::stdin::Pump;
use super::super::strays;
use super::Gone;
use super::behind::{Behind, Side};
use super::channel::{Channel, fatal, how, wait};

/// How long a silent output is waited for after the job has ended: only a process that escaped from its PE's process group
/// can hold it open.
const SILENCE: Duration = Duration::from_millis(200);
/// While so many bytes wait for the launcher, requests of PEs are not read.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// A starter with its PEs. Those are dropped, and with it killed, before the warden ends.
pub struct Serving {
    channel: Channel,
    signals: Signals,
    behind: Behind,
    first: u32,
    pes: Vec<Near>,
    pump: Option<Pump>,
    /// Bytes of output that the launcher has room for. What one read has had too much is owed.
    room_bytes: i64,
    /// When the launcher has said that the job is over, or when something was written after that.
    done: Option<Instant>,
    crew: Crew,
}

#[derive(Clone, Copy)]
enum Source {
    Launcher,
    Signals,
    Pmi(usize),
    Output(usize, Which),
    Behind((u32, Side)),
    Other,
}

impl Serving {
    pub fn new(
        (channel, signals, behind): (Channel, Signals, Behind),
        first: u32,
        pes: Vec<Near>,
        crew: Crew,
        pump: Option<Pump>,
    ) -> Serving {
        Serving {
            channel,
            signals,
            behind,
            first,
            pes,
            pump,
            room_bytes: ROOM_BYTES as i64,
            done: None,
            crew,
        }
    }

    /// Looks after the PEs until the launcher says that the job is over, or is gone.
    pub fn run(mut self) -> Result<(), Gone> {
        // A PE may have ended before its end could have been signalled to us.
        self.notice_ends();
        loop {
            self.channel.tick()?;
            while let Some(order) = self.channel.next()? {
                self.obey(order);
            }
            self.behind.tick(&mut self.channel);
            if self.is_over() {
                break;
            }
            for source in self.wait() {
                self.handle(source)?;
            }
            self.pump_input();
        }
        self.leave();
        Ok(())
    }

    /// Says the last words.
    fn leave(self) {
        let Serving {
            mut channel,
            behind,
            first,
            pes,
            crew,
            ..
        } = self;
        drop(behind);
        for (pe, near) in (first..).zip(&pes) {
            for which in [Which::Stdout, Which::Stderr] {
                if near.is_open(which) {
                    channel.say(&closed(pe, which));
                }
            }
            let record = crew.counters.record(pe);
            // Only a PE that has joined a job has one.
            if record.iter().any(|byte| *byte != 0) {
                channel.say(&Report::Counters { pe, record });
            }
        }
        drop(pes);
        // The warden is no stray.
        drop(crew);
        strays::end();
        channel.say(&Report::Swept);
        channel.send_all();
    }

    fn is_over(&self) -> bool {
        let has_open = |pe: &Near| pe.is_open(Which::Stdout) || pe.is_open(Which::Stderr);
        let is_silent = |since: Instant| since.elapsed() >= SILENCE && self.room_bytes > 0;
        self.done
            .is_some_and(|since| is_silent(since) || !self.pes.iter().any(has_open))
    }

    fn wait(&self) -> Vec<Source> {
        let watched = self.watched();
        let fds: Vec<_> = watched.iter().map(|(_, fd, flags)| (*fd, *flags)).collect();
        let limit = match self.done {
            Some(_) => SILENCE,
            None => self.channel.patience(),
        };
        let ready = wait(&fds, limit);
        let ready = watched.into_iter().zip(ready).filter(|(_, ready)| *ready);
        ready.map(|((source, ..), _)| source).collect()
    }

    fn watched(&self) -> Vec<(Source, BorrowedFd<'_>, PollFlags)> {
        let channel = self.channel.watched().into_iter();
        let mut watched: Vec<_> = channel
            .map(|(fd, flags)| match flags {
                PollFlags::IN => (Source::Launcher, fd, flags),
                _ => (Source::Other, fd, flags),
            })
            .collect();
        watched.push((Source::Signals, self.signals.fd(), PollFlags::IN));
        let may_ask = self.channel.waiting_bytes() < WAITING_BYTES_MAX;
        for (index, pe) in self.pes.iter().enumerate() {
            if let Some(fd) = pe.pmi() {
                let mut flags = PollFlags::empty();
                flags.set(PollFlags::IN, may_ask && !pe.is_deaf());
                flags.set(PollFlags::OUT, pe.has_replies());
                if !flags.is_empty() {
                    watched.push((Source::Pmi(index), fd.as_fd(), flags));
                }
            }
            for which in [Which::Stdout, Which::Stderr] {
                if let Some(fd) = pe.output(which).filter(|_| self.room_bytes > 0) {
                    watched.push((Source::Output(index, which), fd.as_fd(), PollFlags::IN));
                }
            }
        }
        let behind = self.behind.watched(self.channel.waiting_bytes());
        let behind = behind.into_iter();
        watched.extend(behind.map(|(source, fd, flags)| (Source::Behind(source), fd, flags)));
        if let Some(fd) = self.pump.as_ref().and_then(Pump::blocked_on) {
            watched.push((Source::Other, fd, PollFlags::OUT));
        }
        watched
    }

    fn handle(&mut self, source: Source) -> Result<(), Gone> {
        match source {
            Source::Launcher => self.channel.read()?,
            Source::Signals => {
                for signal in self.signals.pending() {
                    match signal {
                        SIGCHLD => self.notice_ends(),
                        signal => fatal(signal)?,
                    }
                }
            }
            Source::Pmi(index) => self.pass_requests(index),
            Source::Output(index, which) => {
                self.pass_output(index, which);
            }
            Source::Behind(source) => self.behind.handle(source, &mut self.channel),
            // Written in any case.
            Source::Other => {}
        }
        Ok(())
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Pmi { pe, bytes } => {
                if let Some(pe) = self.pe(pe) {
                    pe.send(&bytes);
                }
            }
            Order::Signal { pe, signal } => {
                if let (Some(pe), Some(signal)) = (self.pe(pe), Signal::from_named_raw(signal)) {
                    pe.signal(signal);
                }
            }
            Order::NoteEnd { pe } => self.crew.board.note_end(pe),
            Order::Look => self.look(),
            Order::Took(bytes) => {
                let room = self.room_bytes.saturating_add(bytes.into());
                self.room_bytes = room.min(ROOM_BYTES as i64);
                // What had to wait for room is still to be read.
                self.done = self.done.map(|_| Instant::now());
            }
            Order::Input(bytes) => match &mut self.pump {
                Some(pump) => pump.push(&bytes),
                None => self.channel.say(&Report::Took(bytes.len() as u32)),
            },
            Order::InputEnd => {
                if let Some(pump) = &mut self.pump {
                    pump.finish();
                }
            }
            Order::Done => {
                self.done = Some(Instant::now());
                for pe in &self.pes {
                    pe.signal(Signal::KILL);
                }
            }
            Order::Behind { host, errand } => self.behind.obey(host, errand, &mut self.channel),
            // Described and started once.
            Order::Program(_) | Order::Describe(_) | Order::Go | Order::Pause | Order::Beat => {}
        }
    }

    fn pe(&mut self, pe: u32) -> Option<&mut Near> {
        self.pes.get_mut(pe.checked_sub(self.first)? as usize)
    }

    fn look(&mut self) {
        for (pe, near) in (self.first..).zip(&self.pes) {
            if near.end().is_none() {
                self.channel.say(&Report::Seen {
                    is_dying: near.is_dying(),
                    last: self.crew.board.look(pe),
                });
            }
        }
        self.channel.say(&Report::Looked);
    }

    /// Passes input on to PE 0, as far as it reads.
    fn pump_input(&mut self) {
        let Some(pump) = &mut self.pump else { return };
        let before = pump.pending_bytes();
        let is_read = pump.write();
        let taken = before.saturating_sub(pump.pending_bytes());
        if taken > 0 {
            self.channel.say(&Report::Took(taken as u32));
        }
        if !is_read {
            self.channel.say(&Report::InputClosed);
        }
        if !is_read || pump.is_finished() {
            self.pump = None;
        }
    }

    fn pass_requests(&mut self, index: usize) {
        let Some(pe) = self.pes.get_mut(index) else {
            return;
        };
        pe.send_replies();
        while !pe.is_deaf() && self.channel.waiting_bytes() < WAITING_BYTES_MAX {
            let bytes = pe.receive();
            if bytes.is_empty() {
                return;
            }
            self.channel.say(&Report::Pmi {
                pe: self.first + index as u32,
                bytes,
            });
        }
    }

    /// Passes the bytes of one read on. `false` if there were none.
    fn pass_output(&mut self, index: usize, which: Which) -> bool {
        let pe = self.first + index as u32;
        let Some(near) = self.pes.get_mut(index).filter(|near| near.is_open(which)) else {
            return false;
        };
        let bytes = near.read_output(which);
        let is_open = near.is_open(which);
        for piece in bytes.chunks(PIECE_BYTES_MAX) {
            self.room_bytes -= piece.len() as i64;
            self.channel.say(&Report::Output {
                pe,
                stream: stream(which),
                bytes: piece.to_vec(),
            });
        }
        if !is_open {
            self.channel.say(&closed(pe, which));
        }
        if self.done.is_some() && !bytes.is_empty() {
            self.done = Some(Instant::now());
        }
        !bytes.is_empty()
    }

    /// Finds the PEs that have ended, and says so after all that they have said.
    fn notice_ends(&mut self) {
        for index in 0..self.pes.len() {
            let Some(end) = self.pes.get_mut(index).and_then(Near::notice_end) else {
                continue;
            };
            self.pass_requests(index);
            for which in [Which::Stdout, Which::Stderr] {
                while self.room_bytes > 0 && self.pass_output(index, which) {}
            }
            let Some(how) = how(end) else {
                continue;
            };
            let pe = self.first + index as u32;
            let last = self.crew.board.look(pe);
            let core = self.pes.get(index).and_then(Near::core);
            self.channel.say(&Report::Ended {
                how,
                last,
                core: core.unwrap_or_default(),
            });
            if pe == 0 {
                self.pump = None;
            }
        }
    }
}

fn stream(which: Which) -> Stream {
    match which {
        Which::Stdout => Stream::Stdout,
        Which::Stderr => Stream::Stderr,
    }
}

fn closed(pe: u32, which: Which) -> Report {
    Report::Closed {
        pe,
        stream: stream(which),
    }
}
