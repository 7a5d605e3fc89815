//! A connection to a peer. Frames go in and come out whole, whatever pieces the system takes and gives.

use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, sendmsg, sockopt};

use super::super::SEND_BATCH_FRAMES;
use super::dial;
use super::framing::{BadLength, Incoming, PREFIX_BYTES, prefix};
use super::rest::Rest;

const FLAGS: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);

/// Why a connection cannot be used any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// The peer or the network has ended it.
    Ended,
    /// Something came that is no frame.
    BadLength,
}

impl From<BadLength> for Broken {
    fn from(_: BadLength) -> Self {
        Self::BadLength
    }
}

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct Stream {
    socket: OwnedFd,
    is_connected: bool,
    incoming: Incoming,
    rest: Rest,
}

/// Whether the system had no room, or nothing more.
fn is_for_now(error: Errno) -> bool {
    matches!(error, Errno::AGAIN | Errno::INTR | Errno::NOBUFS)
}

impl Stream {
    /// A stream on a socket that is connected or connecting.
    pub(super) fn new(socket: OwnedFd, is_connected: bool) -> Self {
        Self {
            socket,
            is_connected,
            incoming: Incoming::default(),
            rest: Rest::default(),
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Whether it has to be watched for room to write.
    pub(super) const fn wants_room(&self) -> bool {
        !(self.is_connected && self.rest.is_empty())
    }

    /// Closes it for good.
    pub(super) fn cut(self) {
        dial::cut(self.socket);
    }

    /// Sends frames, or keeps those for which the system has no room. Returns how many it has taken,
    /// from the first on. 0 if too much is kept.
    pub(super) fn send(&mut self, frames: &[(u32, &[u8])]) -> Result<usize, Broken> {
        if self.wants_room() {
            self.go_on()?;
        }
        if self.wants_room() {
            return Ok(self.rest.keep(frames, 0));
        }
        let mut prefixes = [[0; PREFIX_BYTES]; SEND_BATCH_FRAMES];
        for (place, (_, frame)) in prefixes.iter_mut().zip(frames) {
            *place = prefix(frame);
        }
        let mut pieces = [IoSlice::new(&[]); 2 * SEND_BATCH_FRAMES];
        let both = pieces.as_chunks_mut::<2>().0.iter_mut();
        for (place, (prefix, (_, frame))) in both.zip(prefixes.iter().zip(frames)) {
            *place = [IoSlice::new(prefix), IoSlice::new(frame)];
        }
        let frames = frames.get(..SEND_BATCH_FRAMES).unwrap_or(frames);
        let pieces = pieces.get(..2 * frames.len()).unwrap_or_default();
        let mut nothing = SendAncillaryBuffer::default();
        let left = match sendmsg(&self.socket, pieces, &mut nothing, FLAGS) {
            Ok(left) => left,
            Err(error) if is_for_now(error) => 0,
            Err(_) => return Err(Broken::Ended),
        };
        Ok(self.rest.keep(frames, left))
    }

    /// Does the work that waited for room: completes the connection, and sends kept bytes.
    pub(super) fn go_on(&mut self) -> Result<(), Broken> {
        if !self.is_connected {
            if !matches!(sockopt::socket_error(&self.socket), Ok(Ok(()))) {
                return Err(Broken::Ended);
            }
            // Without an error the connection may still be pending.
            match rustix::net::getpeername(&self.socket) {
                Ok(_) => self.is_connected = true,
                Err(_) => return Ok(()),
            }
        }
        while !self.rest.is_empty() {
            match rustix::net::send(&self.socket, self.rest.bytes(), FLAGS) {
                Ok(left) => self.rest.have_left(left),
                Err(error) if is_for_now(error) => break,
                Err(_) => return Err(Broken::Ended),
            }
        }
        Ok(())
    }

    /// Gives the frames of one call to `take`. Returns whether there may be more.
    pub(super) fn receive(
        &mut self,
        buffer: &mut [u8],
        take: impl FnMut(&mut [u8]),
    ) -> Result<bool, Broken> {
        let mut places = self.incoming.places(buffer);
        let room: usize = places.iter().map(|place| place.len()).sum();
        let came = match &mut places {
            // The most frequent case: the shorter path through the kernel.
            [begun, behind] if begun.is_empty() => {
                rustix::net::recv(&self.socket, &mut **behind, RecvFlags::DONTWAIT)
                    .map(|(bytes, _)| bytes)
            }
            both => rustix::io::readv(&self.socket, both),
        };
        let bytes = match came {
            Ok(0) => return Err(Broken::Ended),
            Ok(bytes) => bytes,
            Err(error) if is_for_now(error) => return Ok(false),
            Err(_) => return Err(Broken::Ended),
        };
        self.incoming.take(bytes, buffer, take)?;
        Ok(bytes == room)
    }
}
