//! A socket whose frames meet faults.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::os::fd::BorrowedFd;

use hostwire_transport::error::{PeId, TransportError};
use hostwire_transport::faults::Faults;
use rustix::thread::CapabilitySet;

use super::super::address::Address;
use super::super::tally::SocketCounters;
use super::{FrameSocket, Received, SendError, Socket, Take};
use crate::faults::FaultyFrames;

/// A socket that injects faults into frames that it sends.
#[derive(Debug)]
pub struct FaultySocket {
    socket: Socket,
    frames: FaultyFrames,
    /// Frames after their faults that have not been sent yet.
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

/// Frames that it sends may be lost, so it is no stream any more. Everything else is as at
/// the inner socket.
impl FrameSocket for FaultySocket {
    fn address(&self) -> Address {
        self.socket.address()
    }

    fn frame_len_max(&self) -> usize {
        self.socket.frame_len_max()
    }

    fn frames_max(&self) -> usize {
        self.socket.frames_max()
    }

    fn rights(&self) -> CapabilitySet {
        self.socket.rights()
    }

    fn set_peers(&mut self, own: u32, peers: Vec<Option<Address>>) -> Result<(), TransportError> {
        self.socket.set_peers(own, peers)
    }

    /// As the inner socket. Frames for which the system has no room are sent with the next
    /// call. If there is no room then either, they are lost, and the links send them again.
    fn send(&mut self, frames: &[(PeId, &[u8])]) -> Result<usize, SendError> {
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
        // All faults have been applied, and the frames count as sent.
        let _ = self.send_left();
        Ok(frames.len())
    }

    fn receive(&mut self, take: &mut Take<'_>) -> Received {
        self.socket.receive(take)
    }

    fn stranger(&mut self) -> Option<&mut [u8]> {
        self.socket.stranger()
    }

    fn has_moved(&mut self, host: u32) -> Option<IpAddr> {
        self.socket.has_moved(host)
    }

    fn follow(&mut self) {
        self.socket.follow();
    }

    fn moves(&self) -> u32 {
        self.socket.moves()
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.fd()
    }

    fn system_socket(&self) -> BorrowedFd<'_> {
        self.socket.system_socket()
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        self.socket.fds()
    }

    fn counters(&self) -> SocketCounters {
        SocketCounters {
            unsent: self.unsent,
            injected: self.frames.met,
            ..self.socket.counters()
        }
    }

    fn header_bytes(&self) -> usize {
        self.socket.header_bytes()
    }

    fn joins_frames(&self) -> bool {
        self.socket.joins_frames()
    }

    fn loses_nothing(&self) -> bool {
        false
    }

    fn piece_bytes(&self) -> usize {
        self.socket.piece_bytes()
    }

    fn is_empty(&self) -> bool {
        self.socket.is_empty()
    }

    fn has_come(&self) -> bool {
        self.socket.has_come()
    }
}
