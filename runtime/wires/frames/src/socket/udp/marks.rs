//! Explicit congestion notification (ECN, RFC 3168): routers mark datagrams instead of dropping them.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use super::super::super::option;

/// The bits of ECN in the field of type of service or traffic class.
const BITS: u8 = 0b11;
/// ECT(0): a sender that heeds marks.
const CAPABLE: libc::c_int = 0b10;
/// CE: a router was congested.
const EXPERIENCED: u8 = 0b11;

/// From now on sent datagrams may be marked, and a control message shows marks of received ones.
pub(super) fn ask_for(socket: &UdpSocket) -> io::Result<()> {
    let (level, field, told) = match socket.local_addr()? {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_TOS, libc::IP_RECVTOS),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS, libc::IPV6_RECVTCLASS),
    };
    // SAFETY: it reads an int.
    unsafe { option::set(socket, level, field, &CAPABLE) }?;
    // SAFETY: it reads an int.
    unsafe { option::set(socket, level, told, &1_i32) }
}

/// Whether a control message of this level and type has the field.
pub(super) const fn tells(level: libc::c_int, kind: libc::c_int) -> bool {
    matches!(
        (level, kind),
        (libc::IPPROTO_IP, libc::IP_TOS) | (libc::IPPROTO_IPV6, libc::IPV6_TCLASS)
    )
}

/// Whether the field says that the datagram is marked.
pub(super) const fn is_marked(field: u8) -> bool {
    field & BITS == EXPERIENCED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_both_bits_whatever_else_the_field_says() {
        for field in 0..=u8::MAX {
            assert_eq!(is_marked(field), field % 4 == 3, "{field:#b}");
        }
    }
}
