//! The state of another host's kernel, as TCP connections show it.
//!
//! A process that does not run sends no frames. The kernel of its host still answers: it acknowledges TCP keepalives
//! on a connection without data. So these connections show whether a host is there.

use core::fmt;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use hostwire_link::silence::HOST_ASKED_EVERY_NS;
use hostwire_transport::error::PeId;
use rustix::net::sockopt;

use crate::option;

/// A pulled cable must not end a connection: its end means that a process has ended. The longest possible time, 24
/// days.
const NEVER_MS: u32 = i32::MAX as u32;
/// The offset of `tcpi_last_ack_recv` in `struct tcp_info`: the milliseconds since the last answer.
const LAST_ANSWER_AT: usize = 56;

/// Knows when the kernels of other hosts have answered.
pub trait Kernels: fmt::Debug + Send + Sync {
    /// How long ago the kernel of a peer's host has answered; `None` if it is not asked. A system call.
    fn answered_ago(&self, peer: u32) -> Option<Duration>;

    /// A peer's host is at this address now.
    fn has_moved(&self, _peer: u32, _ip: IpAddr) {}
}

/// From now on this kernel repeatedly asks the one at the other end of a connection. A missing answer never ends the
/// connection.
///
/// # Errors
/// The error of the system. Nothing is asked then.
pub(super) fn ask(stream: impl AsFd) -> io::Result<()> {
    let every = Duration::from_nanos(HOST_ASKED_EVERY_NS);
    sockopt::set_tcp_user_timeout(&stream, NEVER_MS)?;
    sockopt::set_tcp_keepidle(&stream, every)?;
    sockopt::set_tcp_keepintvl(&stream, every)?;
    sockopt::set_socket_keepalive(&stream, true)?;
    Ok(())
}

/// How long ago the kernel at the other end of a connection has answered. `None` if it is not [asked](ask), or if the
/// system does not say.
pub(super) fn answered_ago(stream: impl AsFd) -> Option<Duration> {
    if !sockopt::socket_keepalive(&stream).ok()? {
        return None;
    }
    let known: [u8; LAST_ANSWER_AT + 4] =
        option::bytes(&stream, libc::IPPROTO_TCP, libc::TCP_INFO).ok()?;
    let (_, ms) = known.split_last_chunk::<4>()?;
    Some(Duration::from_millis(u32::from_ne_bytes(*ms).into()))
}

/// The connections of a station to those of other hosts. It does not keep them open.
#[derive(Debug, Default)]
pub struct Connections(Mutex<Vec<(PeId, Weak<OwnedFd>)>>);

impl Connections {
    /// Adds a connection to this station.
    pub fn add(&self, pe: PeId, stream: &Arc<OwnedFd>) {
        // Without this, silence decides.
        let _ = ask(stream);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, stream)| stream.strong_count() > 0);
        all.push((pe, Arc::downgrade(stream)));
    }
}

impl Kernels for Connections {
    /// Two stations that have called each other at the same time have two connections.
    fn answered_ago(&self, peer: u32) -> Option<Duration> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let its = all.iter().filter(|(pe, _)| *pe == peer);
        its.filter_map(|(_, stream)| answered_ago(stream.upgrade()?))
            .min()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_kernel_answers_without_the_process_and_is_asked_again() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        // The connection is neither accepted nor read.
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(answered_ago(&stream), None, "nobody asks");
        ask(&stream).unwrap();
        let first = answered_ago(&stream).unwrap();
        assert!(first < Duration::from_secs(60), "{first:?}");
        // The time since the last answer is reset when the next one comes.
        let (mut longest, deadline) = (first, Instant::now() + Duration::from_secs(60));
        loop {
            let ago = answered_ago(&stream).unwrap();
            if ago < longest {
                break;
            }
            longest = ago;
            assert!(Instant::now() < deadline, "no answer for {ago:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(longest >= Duration::from_millis(500), "{longest:?}");
    }

    #[test]
    fn a_connection_that_has_gone_says_nothing() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let stream = Arc::new(OwnedFd::from(stream));
        let connections = Connections::default();
        connections.add(3, &stream);
        assert!(connections.answered_ago(3).is_some());
        assert_eq!(connections.answered_ago(2), None);
        drop(stream);
        assert_eq!(connections.answered_ago(3), None);
    }
}
