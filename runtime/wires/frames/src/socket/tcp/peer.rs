//! The connection to a peer, which is made again when it breaks.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::epoll;

use super::dial;
use super::stream::{Broken, Stream};

/// The time from a broken connection to the next call. It doubles up to [`AGAIN_MAX`] while the
/// peer does not answer.
const AGAIN_MIN: Duration = Duration::from_millis(5);
const AGAIN_MAX: Duration = Duration::from_millis(500);

/// A peer, with a connection or without.
#[derive(Debug)]
pub(super) struct Peer {
    host: u32,
    /// Where it was at first.
    given: SocketAddr,
    address: SocketAddr,
    /// The port here.
    own: SocketAddr,
    /// Whether this end calls.
    calls: bool,
    stream: Option<Stream>,
    /// Whether the stream is also watched for room to write.
    is_watched_for_room: bool,
    /// When this end may call again, and how long it waits after that call.
    again: (Option<Instant>, Duration),
}

/// The result of a look for frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// There is no more for now.
    Empty,
    /// There may be more.
    More,
    /// Something came that is no frame: the connection has been cut.
    Cut,
}

impl Peer {
    /// The peer at `address`. Either `own` calls it at once, or the peer calls.
    pub(super) fn new(host: u32, address: SocketAddr, own: SocketAddr, watch: &OwnedFd) -> Self {
        let mut peer = Self {
            host,
            given: address,
            address,
            own,
            // Both know which one that is.
            calls: own < address,
            stream: None,
            is_watched_for_room: false,
            again: (None, AGAIN_MIN),
        };
        peer.call(watch);
        peer
    }

    /// The address that it was made with.
    pub(super) const fn given_address(&self) -> SocketAddr {
        self.given
    }

    pub(super) fn stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    /// Whether the connection only has to be checked for frames.
    pub(super) fn is_up(&self) -> bool {
        let stream = self.stream.as_ref();
        stream.is_some_and(|stream| !stream.wants_room())
    }

    /// The address here is another one now, and the peer cannot know it.
    pub(super) fn call_from(&mut self, own: SocketAddr, watch: &OwnedFd) {
        self.own = own;
        self.calls = true;
        if let Some(old) = self.stream.take() {
            old.cut();
        }
        self.call(watch);
    }

    /// The peer has called from a new address.
    pub(super) fn has_moved(&mut self, from: SocketAddr, socket: OwnedFd, watch: &OwnedFd) {
        self.address = from;
        self.calls = false;
        self.has_called(socket, watch);
    }

    fn call(&mut self, watch: &OwnedFd) {
        if !self.calls {
            return;
        }
        match dial::call(self.own, self.address) {
            Ok(socket) => self.watch(Stream::new(socket, false), watch),
            Err(_) => self.call_later(),
        }
    }

    fn call_later(&mut self) {
        let (at, wait) = &mut self.again;
        *at = Some(Instant::now() + *wait);
        *wait = (*wait * 2).min(AGAIN_MAX);
    }

    /// The peer has called. An existing connection is an old one.
    pub(super) fn has_called(&mut self, socket: OwnedFd, watch: &OwnedFd) {
        if self.calls {
            return dial::cut(socket);
        }
        if let Some(old) = self.stream.take() {
            old.cut();
        }
        self.watch(Stream::new(socket, true), watch);
    }

    fn watch(&mut self, stream: Stream, watch: &OwnedFd) {
        self.is_watched_for_room = stream.wants_room();
        let data = epoll::EventData::new_u64(self.host.into());
        let flags = flags(self.is_watched_for_room);
        match epoll::add(watch, stream.fd(), data, flags) {
            Ok(()) => self.stream = Some(stream),
            // Out of memory: handled like a broken connection.
            Err(_) => {
                stream.cut();
                self.call_later();
            }
        }
    }

    fn watch_anew(&mut self, watch: &OwnedFd) {
        let Some(stream) = &self.stream else {
            return;
        };
        let wants_room = stream.wants_room();
        if wants_room == self.is_watched_for_room {
            return;
        }
        let data = epoll::EventData::new_u64(self.host.into());
        // If this fails, it does little harm: watching for too much costs time, and if too little
        // is watched, the timers of the link check the stream.
        if epoll::modify(watch, stream.fd(), data, flags(wants_room)).is_ok() {
            self.is_watched_for_room = wants_room;
        }
    }

    fn broke(&mut self) {
        if let Some(stream) = self.stream.take() {
            stream.cut();
        }
        self.call_later();
    }

    /// Sends frames. Returns how many have left or will leave, from the first on. 0 if they are
    /// lost, as all are while there is no connection.
    pub(super) fn send(&mut self, frames: &[(u32, &[u8])], watch: &OwnedFd) -> usize {
        if self.stream.is_none() && self.again.0.is_some_and(|at| at <= Instant::now()) {
            self.call(watch);
        }
        let Some(stream) = &mut self.stream else {
            return 0;
        };
        let Ok(sent) = stream.send(frames) else {
            self.broke();
            return 0;
        };
        self.watch_anew(watch);
        sent
    }

    /// Does the work that waited for room, and then gives the frames of one call to `take`.
    pub(super) fn receive(
        &mut self,
        buffer: &mut [u8],
        watch: &OwnedFd,
        take: impl FnMut(&mut [u8]),
    ) -> Look {
        let Some(stream) = &mut self.stream else {
            return Look::Empty;
        };
        if stream.wants_room() {
            if stream.go_on().is_err() {
                self.broke();
                return Look::Empty;
            }
            self.watch_anew(watch);
        }
        let Some(stream) = &mut self.stream else {
            return Look::Empty;
        };
        match stream.receive(buffer, take) {
            Ok(more) => {
                self.again.1 = AGAIN_MIN;
                match more {
                    true => Look::More,
                    false => Look::Empty,
                }
            }
            Err(broken) => {
                self.broke();
                match broken {
                    Broken::Ended => Look::Empty,
                    Broken::BadLength => Look::Cut,
                }
            }
        }
    }
}

fn flags(wants_room: bool) -> epoll::EventFlags {
    match wants_room {
        true => epoll::EventFlags::IN | epoll::EventFlags::OUT,
        false => epoll::EventFlags::IN,
    }
}
