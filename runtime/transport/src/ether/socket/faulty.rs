//! A socket whose frames meet faults.

use std::collections::VecDeque;

use super::super::tally::SocketCounters;
use super::{SendError, Socket};
use crate::error::PeId;
use crate::faults::{Faults, FaultyFrames};

/// A socket whose frames meet faults on purpose on their way out.
#[derive(Debug)]
pub struct FaultySocket {
    socket: Socket,
    frames: FaultyFrames,
    /// What becomes of frames: not sent yet.
    left: VecDeque<(PeId, Vec<u8>)>,
    /// Frames that the system did not take.
    unsent: u64,
}

impl FaultySocket {
    pub(super) fn new(socket: Socket, faults: Faults, pe: PeId) -> Self {
        Self {
            socket,
            frames: FaultyFrames::new(faults, pe),
            left: VecDeque::new(),
            unsent: 0,
        }
    }

    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    pub(super) fn socket_mut(&mut self) -> &mut Socket {
        &mut self.socket
    }

    pub(super) fn counters(&self) -> SocketCounters {
        SocketCounters {
            unsent: self.unsent,
            injected: self.frames.met,
            ..self.socket.counters()
        }
    }

    /// As [`Socket::send`]. What the system has no room for goes with the next call, and is
    /// lost if there is none then either: the links send it again.
    pub(super) fn send(&mut self, frames: &[(PeId, &[u8])]) -> Result<usize, SendError> {
        if let Err(error) = self.send_left() {
            self.unsent += self.left.len() as u64;
            self.left.clear();
            return Err(error);
        }
        for (pe, frame) in frames {
            let left = &mut self.left;
            self.frames.pass(*pe, frame, &mut |pe, frame| {
                left.push_back((pe, frame.to_vec()));
            });
        }
        // All have met their fate, and count as sent.
        let _ = self.send_left();
        Ok(frames.len())
    }

    /// An error if the system has no room.
    fn send_left(&mut self) -> Result<(), SendError> {
        while !self.left.is_empty() {
            let frames = self.left.iter().map(|(pe, frame)| (*pe, &frame[..]));
            match self.socket.send_batch(frames) {
                Ok(sent) => drop(self.left.drain(..sent.clamp(1, self.left.len()))),
                Err(SendError::Refused) => {
                    self.left.pop_front();
                    self.unsent += 1;
                }
                Err(SendError::Full) => return Err(SendError::Full),
            }
        }
        Ok(())
    }
}
