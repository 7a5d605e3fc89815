//! The paths to the peers: the longest packets on them.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use super::super::super::option;

/// The MTU of plain Ethernet. Used if the system gives none, or a shorter one, which a link
/// finds out by trying.
pub(super) const MTU_BYTES: usize = 1500;
/// Bytes of kernel memory that a datagram of [`MTU_BYTES`] takes in a receive buffer.
const TRUESIZE_BYTES: usize = 2304;
/// What the kernel adds to the memory of a datagram.
const SKB_BYTES: usize = 768;

/// The longest packet that the system believes any path from `own` to `peers` takes, headers
/// included; [`MTU_BYTES`] at least. A link whose path takes less finds that out.
pub(super) fn mtu_bytes<'a>(own: IpAddr, peers: impl IntoIterator<Item = &'a SocketAddr>) -> usize {
    let hosts: HashSet<IpAddr> = peers.into_iter().map(SocketAddr::ip).collect();
    let Ok(socket) = UdpSocket::bind((own, 0)) else {
        return MTU_BYTES;
    };
    let known = hosts.into_iter().flat_map(|host| to(&socket, host));
    known.max().unwrap_or(MTU_BYTES).max(MTU_BYTES)
}

/// Connects only; nothing is sent.
fn to(socket: &UdpSocket, host: IpAddr) -> io::Result<usize> {
    /// Any port: only the host decides the route.
    const PORT: u16 = 9;
    socket.connect((host, PORT))?;
    let (level, name) = match host {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
    };
    let mtu = option::int(socket, level, name)?;
    usize::try_from(mtu).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Bytes of kernel memory that a datagram of so many bytes takes in a receive buffer at most:
/// the kernel rounds long ones up to a power of two.
pub(super) fn truesize_bytes(packet_bytes: usize) -> usize {
    match packet_bytes {
        0..=MTU_BYTES => TRUESIZE_BYTES,
        longer => (longer + SKB_BYTES).next_power_of_two() + SKB_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn plain_ethernet_is_what_nothing_is_known_of() {
        let own = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(mtu_bytes(own, []), MTU_BYTES);
        // No route leads there from here.
        let nowhere = SocketAddr::from(([240, 0, 0, 1], 1));
        assert_eq!(mtu_bytes(own, [&nowhere]), MTU_BYTES);
    }

    #[test]
    fn long_datagrams_take_the_memory_of_longer_ones() {
        assert_eq!(truesize_bytes(576), TRUESIZE_BYTES);
        assert_eq!(truesize_bytes(MTU_BYTES), TRUESIZE_BYTES);
        assert_eq!(truesize_bytes(9000), 16_384 + SKB_BYTES);
        for packet_bytes in MTU_BYTES + 1..=9000 {
            assert!(truesize_bytes(packet_bytes) > packet_bytes + SKB_BYTES);
        }
    }
}
