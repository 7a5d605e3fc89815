//! What the PEs of a host have in common, and how they are started.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::board::Board;
use super::counters::Counters;
use super::mark::Mark;
use super::pes::Near;
use super::plan::Plan;
use super::spawn::{Input, spawn};
use super::start_error::StartError;
use super::virtual_time::Line;
use super::warden::Warden;

/// The board, the counters and the warden of a host.
pub struct Crew {
    pub board: Board,
    pub counters: Counters,
    pub mark: Mark,
    pub warden: Warden,
}

impl Crew {
    /// For a job of `pes` PEs, some of which may be elsewhere.
    pub fn new(pes: u32) -> Result<Crew, StartError> {
        let system = |what| move |errno| StartError::System { what, errno };
        let mark = Mark::draw().map_err(system("draw the mark of the job"))?;
        Ok(Crew {
            warden: Warden::start(&mark).map_err(input_output("start a warden"))?,
            board: Board::new(pes).map_err(system("make the board of the job"))?,
            counters: Counters::new(pes).map_err(system("make the counters of the job"))?,
            mark,
        })
    }

    /// Starts a PE, and returns its pipe for input if it has one.
    pub fn start(
        &mut self,
        plan: &Plan,
        pe: u32,
        line: Option<&Line>,
        input: Input,
    ) -> Result<(Near, Option<OwnedFd>), StartError> {
        let (board, counters) = (&self.board, &self.counters);
        let mut spawned = spawn(plan, board, counters, line, &self.mark, pe, input)?;
        let stdin = spawned.stdin.take();
        let started = Near::new(spawned);
        self.warden.watch(started.pid());
        Ok((started, stdin))
    }
}

/// An error of the system in something that is done for the job.
pub fn input_output(what: &'static str) -> impl Fn(io::Error) -> StartError {
    move |error| StartError::System {
        what,
        errno: Errno::from_io_error(&error).unwrap_or(Errno::IO),
    }
}
