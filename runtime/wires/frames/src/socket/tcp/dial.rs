//! Connections between ports that know each other.
//!
//! An end connects from the port at which it listens itself. So each end knows the other by its address, as
//! with UDP: no handshake is needed, and nothing is read from others.

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
    // The kernel allows this only within one user.
    sockopt::set_socket_reuseport(&socket, true)?;
    bind(&socket, &address)?;
    Ok(socket)
}

/// A free port that listens.
pub(super) fn open(address: SocketAddr) -> Result<(OwnedFd, SocketAddr)> {
    let socket = port(address)?;
    // Connections inherit this setting. It must be set before they exist: a connection that has used BBR for a
    // moment is paced for ever, by round trips that were long because no end was polling.
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

/// The next accepted connection. Its address is `None` if the system does not give it.
pub(super) fn called(listener: &OwnedFd) -> Result<(OwnedFd, Option<SocketAddr>)> {
    let (socket, from) = acceptfrom_with(listener, FLAGS)?;
    Ok((socket, from.and_then(|from| from.try_into().ok())))
}

/// Congestion control: every system has this one and allows every user to choose it. On the short paths of a
/// local network CUBIC is the same, and BBR, which paces, moves a third as much.
const CONGESTION_CONTROL: &str = "reno";

/// Buffer sizes are left to the system, which adapts them to the path.
fn set_up(socket: &OwnedFd) -> Result<()> {
    // If it is forbidden, the default of the system is used.
    let _ = sockopt::set_tcp_congestion(socket, CONGESTION_CONTROL);
    sockopt::set_tcp_nodelay(socket, true)
}

/// Closes a connection at once and discards its data, so that the two ports may connect again.
pub(super) fn cut(socket: OwnedFd) {
    // If this fails, the connection is closed in the usual way.
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
