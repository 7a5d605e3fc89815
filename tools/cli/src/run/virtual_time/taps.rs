//! What PEs write, read when they hand over their turn. It then has the time of that turn, and
//! comes in the order of virtual time, which is the same in each run.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::pipe::{Which, read_some};

/// Something that a PE has written.
#[derive(Debug)]
pub struct Text {
    /// The PE.
    pub pe: u32,
    /// Where to.
    pub which: Which,
    /// What.
    pub bytes: Vec<u8>,
    /// When, in picoseconds of the model.
    pub at_ps: u64,
}

/// The outputs of a PE, while they are read here and not by the launcher.
#[derive(Debug)]
struct Tap {
    outputs: [Option<Arc<OwnedFd>>; 2],
    open: bool,
}

/// The outputs of all PEs.
#[derive(Debug)]
pub struct Taps(Vec<Tap>);

const BOTH: [Which; 2] = [Which::Stdout, Which::Stderr];

impl Taps {
    /// With the outputs of each PE, which the launcher has as well.
    pub fn new(outputs: Vec<[Option<Arc<OwnedFd>>; 2]>) -> Self {
        let taps = outputs.into_iter().map(|outputs| Tap {
            outputs,
            open: false,
        });
        Self(taps.collect())
    }

    /// From now on the outputs of all PEs are read here.
    pub fn open(&mut self) {
        self.0.iter_mut().for_each(|tap| tap.open = true);
    }

    /// From now on the launcher reads the outputs of this PE.
    pub fn close(&mut self, pe: u32) {
        if let Some(tap) = self.0.get_mut(pe as usize) {
            tap.open = false;
        }
    }

    /// Whether the outputs of a PE are read here.
    pub fn is_open(&self, pe: u32) -> bool {
        self.0.get(pe as usize).is_some_and(|tap| tap.open)
    }

    /// What `pe` has written by now.
    pub fn read(&mut self, pe: u32, at_ps: u64) -> Vec<Text> {
        let mut texts = Vec::new();
        let Some(tap) = self.0.get_mut(pe as usize).filter(|tap| tap.open) else {
            return texts;
        };
        while tap.is_ready() {
            for (output, which) in tap.outputs.iter_mut().zip(BOTH) {
                let bytes = read_some(output);
                if !bytes.is_empty() {
                    texts.push(Text {
                        pe,
                        which,
                        bytes,
                        at_ps,
                    });
                }
            }
        }
        texts
    }
}

impl Tap {
    /// One system call tells that there is nothing, which is so most of the time.
    fn is_ready(&self) -> bool {
        let open = self.outputs.iter().flatten();
        let mut fds: Vec<PollFd<'_>> = open.map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        !fds.is_empty() && matches!(poll(&mut fds, Some(&now)), Ok(n) if n > 0)
    }
}
