//! Connections between ports that know each other.
//!
//! Who connects does so from the port at which it is called itself, so that each end knows the other by
//! its address, as with UDP: nothing has to be said, and of others nothing is read.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, acceptfrom_with, bind, connect, listen, socket_with,
    sockopt,
};

const BACKLOG: i32 = 1024;
const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

/// A port of this address. Without a number, a free one.
fn port(address: SocketAddr) -> Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let socket = socket_with(family, SocketType::STREAM, FLAGS, None)?;
    // Of this user alone.
    sockopt::set_socket_reuseport(&socket, true)?;
    bind(&socket, &address)?;
    Ok(socket)
}

/// A free port, to be called.
pub(super) fn open(address: SocketAddr) -> Result<(OwnedFd, SocketAddr)> {
    let socket = port(address)?;
    // Connections have it from here: one that was BBR's for a moment is paced for ever, by round trips that are
    // long where nobody looked.
    set_up(&socket)?;
    listen(&socket, BACKLOG)?;
    let address = rustix::net::getsockname(&socket)?;
    Ok((socket, address.try_into()?))
}

/// Begins to call `peer` from the port `own`.
pub(super) fn call(own: SocketAddr, peer: SocketAddr) -> Result<OwnedFd> {
    let socket = port(own)?;
    set_up(&socket)?;
    match connect(&socket, &peer) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// The next one that has called; `None` for the address if the system does not say it.
pub(super) fn called(listener: &OwnedFd) -> Result<(OwnedFd, Option<SocketAddr>)> {
    let (socket, from) = acceptfrom_with(listener, FLAGS)?;
    Ok((socket, from.and_then(|from| from.try_into().ok())))
}

/// Congestion control: every system has it and lets everybody choose it. On the short paths of a local
/// network CUBIC is no other, and BBR, which paces, moves a third as much.
const CONGESTION_CONTROL: &str = "reno";

/// Buffers are left to the system, which makes them as long as the path wants them.
fn set_up(socket: &OwnedFd) -> Result<()> {
    // Where it is forbidden all the same, that of the system does.
    let _ = sockopt::set_tcp_congestion(socket, CONGESTION_CONTROL);
    sockopt::set_tcp_nodelay(socket, true)
}

/// Closes a connection at once: what is on it is of no use, and the two ports may connect again.
pub(super) fn cut(socket: OwnedFd) {
    // Without it, it is closed as any other.
    let _ = sockopt::set_socket_linger(&socket, Some(std::time::Duration::ZERO));
    drop(socket);
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn both_ends_of_a_connection_are_set_up_before_it_is_made() {
        let local = SocketAddr::from(([127, 0, 0, 1], 0));
        let (listener, address) = open(local).unwrap();
        assert_eq!(
            sockopt::tcp_congestion(&listener).unwrap(),
            CONGESTION_CONTROL
        );
        let caller = call(open(local).unwrap().1, address).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let called = loop {
            match called(&listener) {
                Ok((socket, _)) => break socket,
                Err(Errno::AGAIN) => assert!(Instant::now() < deadline),
                Err(error) => panic!("{error}"),
            }
        };
        for end in [&caller, &called] {
            assert_eq!(sockopt::tcp_congestion(end).unwrap(), CONGESTION_CONTROL);
            assert!(sockopt::tcp_nodelay(end).unwrap());
        }
    }
}
