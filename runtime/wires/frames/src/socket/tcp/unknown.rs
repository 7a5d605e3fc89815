//! Connections of unknown callers. One may be a peer at a new address, as its first frame shows.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hostwire_packet::htoe::sealed;
use hostwire_transport::os::strangers::Strangers;
use rustix::event::epoll;
use rustix::net::{RecvFlags, recv};

use super::dial;
use super::framing::{FRAME_LEN_MAX, PREFIX_BYTES, len_of};

/// Most of them. Beyond it the oldest has to go.
pub(super) const UNKNOWN_MAX: usize = 16;
/// Their number among the events of a port.
pub(super) const EVENT: u64 = u64::MAX - 1;

/// See the [module text](self). Nothing is taken from a connection: what has come on it is only looked at.
#[derive(Debug)]
pub(super) struct Unknown {
    all: Strangers<Caller>,
    /// The prefix and the frame that were looked at last.
    bytes: Vec<u8>,
    /// The caller that sent them.
    looked_at: Option<SocketAddr>,
}

#[derive(Debug)]
struct Caller {
    from: SocketAddr,
    socket: OwnedFd,
    /// Bytes that it had sent at the last look.
    seen_bytes: usize,
}

impl Default for Unknown {
    fn default() -> Self {
        Self {
            all: Strangers::new(UNKNOWN_MAX),
            bytes: Vec::new(),
            looked_at: None,
        }
    }
}

impl Unknown {
    /// Adds a caller, and an event for each time that something comes. Returns whether another one had to go.
    pub(super) fn come(&mut self, from: SocketAddr, socket: OwnedFd, watch: &OwnedFd) -> bool {
        let data = epoll::EventData::new_u64(EVENT);
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        // If this fails, it stays unknown.
        let _ = epoll::add(watch, &socket, data, flags);
        let caller = Caller {
            from,
            socket,
            seen_bytes: 0,
        };
        let gone = self.all.come(caller);
        gone.map(|caller| dial::cut(caller.socket)).is_some()
    }

    /// The next first frame that has come whole, if it is sealed.
    pub(super) fn frame(&mut self) -> Option<&mut [u8]> {
        self.bytes.resize(PREFIX_BYTES + FRAME_LEN_MAX, 0);
        for at in 0..self.all.len() {
            let Some(caller) = self.all.get_mut(at) else {
                break;
            };
            let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
            let Ok((bytes, _)) = recv(&caller.socket, &mut self.bytes[..], flags) else {
                continue;
            };
            if bytes <= core::mem::replace(&mut caller.seen_bytes, bytes) {
                continue;
            }
            let came = self.bytes.get(..bytes).unwrap_or_default();
            if let Some((prefix, rest)) = came.split_first_chunk()
                && let Ok(len) = len_of(*prefix)
                && rest.get(..len).is_some_and(sealed::Repr::is_sealed)
            {
                self.looked_at = Some(caller.from);
                return self.bytes.get_mut(PREFIX_BYTES..PREFIX_BYTES + len);
            }
        }
        None
    }

    /// Hands over the caller whose [frame](Self::frame) was looked at last.
    pub(super) fn take_looked_at(&mut self, watch: &OwnedFd) -> Option<(SocketAddr, OwnedFd)> {
        let from = self.looked_at.take()?;
        let at = self.all.iter().position(|caller| caller.from == from)?;
        self.all.remove(at).map(|caller| caller.known(watch))
    }

    /// Hands over all of them.
    pub(super) fn take(&mut self, watch: &OwnedFd) -> Vec<(SocketAddr, OwnedFd)> {
        let all = self.all.take();
        all.map(|caller| caller.known(watch)).collect()
    }

    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.iter().map(|caller| caller.socket.as_fd())
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl Caller {
    fn known(self, watch: &OwnedFd) -> (SocketAddr, OwnedFd) {
        // It is an error if it could not be watched.
        let _ = epoll::delete(watch, &self.socket);
        (self.from, self.socket)
    }
}
