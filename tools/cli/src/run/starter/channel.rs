//! The starter's end of the connection to its launcher.

use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use hostwire_bootstrap::starter::{BEAT, GREETING, How, Message, Order, Received, Report};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGCHLD, SIGTSTP};

use super::super::pes::End;
use super::super::signals::PASSED_ON;
use super::super::spawn::set_nonblocking;
use super::Gone;

/// How long the launcher may take to say what to start. It waits for other hosts meanwhile, and beats.
const FIRST_SILENCE: Duration = Duration::from_secs(60);
/// How long the last words may take to be sent.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Standard input and output of the starter, which never block.
pub struct Channel {
    waiting: Vec<u8>,
    received: Received<Order>,
    lost_after: Duration,
    heard: Instant,
    spoke: Instant,
    ticked: Instant,
    /// Whether the launcher has said that it is about to stop.
    is_paused: bool,
    /// The launcher does not read any more.
    is_broken: bool,
}

impl Channel {
    pub fn open() -> io::Result<Channel> {
        set_nonblocking(rustix::stdio::stdin())?;
        set_nonblocking(rustix::stdio::stdout())?;
        let now = Instant::now();
        Ok(Channel {
            waiting: GREETING.to_vec(),
            received: Received::default(),
            lost_after: FIRST_SILENCE,
            heard: now,
            spoke: now,
            ticked: now,
            is_paused: false,
            is_broken: false,
        })
    }

    pub fn set_lost_after(&mut self, seconds: u32) {
        self.lost_after = Duration::from_secs(seconds.into()).max(BEAT * 3);
    }

    /// Says something, now or as soon as it goes.
    pub fn say(&mut self, report: &Report) {
        if !self.is_broken {
            self.waiting.extend(report.emit());
        }
    }

    /// How many bytes wait to be sent.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting.len()
    }

    /// What to poll.
    pub fn watched(&self) -> Vec<(BorrowedFd<'static>, PollFlags)> {
        let mut watched = vec![(rustix::stdio::stdin(), PollFlags::IN)];
        if !self.waiting.is_empty() && !self.is_broken {
            watched.push((rustix::stdio::stdout(), PollFlags::OUT));
        }
        watched
    }

    /// Sends what waits, as far as it goes.
    pub fn send(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        match rustix::io::write(rustix::stdio::stdout(), &self.waiting) {
            Ok(written) => {
                self.waiting.drain(..written);
                self.spoke = Instant::now();
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => {
                self.is_broken = true;
                self.waiting.clear();
            }
        }
    }

    /// Sends all that waits, unless that takes too long.
    pub fn send_all(&mut self) {
        let give_up = Instant::now() + LAST_WORDS;
        self.send();
        while !self.waiting.is_empty() && Instant::now() < give_up {
            let out = rustix::stdio::stdout();
            wait(&[(out, PollFlags::OUT)], BEAT);
            self.send();
        }
        let _ = io::stdout().flush();
    }

    /// Reads what the launcher has said.
    pub fn read(&mut self) -> Result<(), Gone> {
        let mut bytes = vec![0; 64 << 10];
        match rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
            Ok(0) => Err(Gone::Closed),
            Ok(read) => {
                self.received.extend(bytes.get(..read).unwrap_or_default());
                self.heard = Instant::now();
                self.is_paused = false;
                Ok(())
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(errno) => Err(Gone::System(errno.into())),
        }
    }

    /// The next order.
    pub fn next(&mut self) -> Result<Option<Order>, Gone> {
        let next = self.received.next_message();
        let next = next.map_err(|error| Gone::Garbage(error.to_string()))?;
        self.is_paused |= next == Some(Order::Pause);
        Ok(next)
    }

    /// Says that the starter is there, if that is due, and looks whether the launcher is.
    pub fn tick(&mut self) -> Result<(), Gone> {
        let now = Instant::now();
        // This process, or its host, was stopped.
        if now.saturating_duration_since(self.ticked) > BEAT * 2 {
            self.heard = now;
        }
        self.ticked = now;
        if now.saturating_duration_since(self.spoke) >= BEAT && self.waiting.is_empty() {
            self.say(&Report::Beat);
            self.spoke = now;
        }
        self.send();
        let silence = now.saturating_duration_since(self.heard);
        match silence >= self.lost_after && !self.is_paused {
            true => Err(Gone::Silent(silence.as_secs())),
            false => Ok(()),
        }
    }

    /// How long to wait at most before the next [`tick`](Self::tick).
    pub fn patience(&self) -> Duration {
        let beat = BEAT.saturating_sub(self.spoke.elapsed());
        beat.max(Duration::from_millis(10))
    }
}

/// How a process has ended, as the launcher is told; nothing if that is not known.
pub fn how(end: End) -> Option<How> {
    match end {
        End::Exited(status) => Some(How::Exited(status)),
        End::Signal(signal) => Some(How::Signal(signal)),
        End::Unknown => None,
    }
}

/// A signal that ends the starter. Batch systems send others to all processes.
pub fn fatal(signal: i32) -> Result<(), Gone> {
    match signal {
        SIGCHLD | SIGTSTP => Ok(()),
        signal if PASSED_ON.contains(&signal) => Ok(()),
        signal => {
            let name = signal_hook::low_level::signal_name(signal);
            Err(Gone::Signal(name.unwrap_or("a signal").to_owned()))
        }
    }
}

/// Waits until one of these is ready, or for so long. Which are.
pub fn wait(watched: &[(BorrowedFd<'_>, PollFlags)], limit: Duration) -> Vec<bool> {
    let mut fds: Vec<PollFd<'_>> = watched
        .iter()
        .map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags))
        .collect();
    let limit = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    match poll(&mut fds, Some(&limit)) {
        Ok(_) => fds.iter().map(|fd| !fd.revents().is_empty()).collect(),
        // A signal, or no memory for a moment.
        Err(_) => vec![false; watched.len()],
    }
}
