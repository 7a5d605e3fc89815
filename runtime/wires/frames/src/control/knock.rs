//! Asking the kernel of a host to which no connection leads any more, because an address has changed.
//!
//! A kernel answers a call to any of its TCP ports, if only with a refusal. Who calls has its present address.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use hostwire_link::silence::HOST_ASKED_EVERY_NS;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};

const EVERY: Duration = Duration::from_nanos(HOST_ASKED_EVERY_NS);
/// A call that was not answered for so long is given up. The kernel repeats it after one second.
const CALL_LIMIT: Duration = Duration::from_millis(2500);

/// Calls to a host, one at a time.
#[derive(Debug, Default)]
pub(super) struct Knocks {
    call: Option<(OwnedFd, Instant)>,
    begun: Option<Instant>,
    answered: Option<Instant>,
}

impl Knocks {
    /// How long ago a call was answered, if any was. Begins the next one when it is time. Does not wait.
    pub(super) fn answered_ago(&mut self, address: SocketAddr) -> Option<Duration> {
        let now = Instant::now();
        if let Some((call, begun)) = &self.call {
            match outcome(call) {
                Some(true) => (self.answered, self.call) = (Some(now), None),
                Some(false) => self.call = None,
                None if now - *begun >= CALL_LIMIT => self.call = None,
                None => {}
            }
        }
        if self.call.is_none() && self.begun.is_none_or(|begun| now - begun >= EVERY) {
            self.begun = Some(now);
            self.call = begin(address).ok().map(|call| (call, now));
        }
        self.answered.map(|answered| now - answered)
    }
}

fn begin(address: SocketAddr) -> rustix::io::Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let call = socket_with(family, SocketType::STREAM, flags, None)?;
    match connect(&call, &address) {
        // The error of a call that is over at once is seen at the next look, as any other.
        Ok(()) | Err(Errno::INPROGRESS) => Ok(call),
        Err(error) => Err(error),
    }
}

/// Whether a call was answered; `None` as long as that is open.
fn outcome(call: &OwnedFd) -> Option<bool> {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut fds = [PollFd::from_borrowed_fd(call.as_fd(), PollFlags::OUT)];
    if !matches!(poll(&mut fds, Some(&now)), Ok(1..)) {
        return None;
    }
    Some(matches!(
        sockopt::socket_error(call),
        Ok(Ok(()) | Err(Errno::CONNREFUSED | Errno::CONNRESET))
    ))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn a_kernel_answers_whether_anybody_listens_or_not() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let answered = || {
            let mut knocks = Knocks::default();
            assert_eq!(knocks.answered_ago(address), None);
            let limit = Instant::now() + Duration::from_secs(60);
            while knocks.answered_ago(address).is_none() {
                assert!(Instant::now() < limit);
                std::thread::yield_now();
            }
        };
        answered();
        drop(listener);
        answered();
    }
}
