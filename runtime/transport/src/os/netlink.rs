//! The few requests about network interfaces that [`hosts`](super::hosts) makes, in the
//! format of rtnetlink(7). All of them concern the namespace of the calling thread.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice, recv, sendto,
    socket_with,
};

// linux/netlink.h, linux/rtnetlink.h, linux/if_link.h, linux/veth.h, linux/if_addr.h, linux/neighbour.h.
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;
const RTM_NEWLINK: u16 = 16;
const RTM_SETLINK: u16 = 19;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWNEIGH: u16 = 28;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_MASTER: u16 = 10;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
const NUD_PERMANENT: u16 = 0x80;
const IFF_UP: u32 = 1;
const HEADER_BYTES: usize = 16;

/// A conversation with the kernel about the namespace in which it was begun.
pub(super) struct Netlink(OwnedFd);

impl Netlink {
    pub(super) fn open() -> io::Result<Self> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            // NETLINK_ROUTE is number 0.
            None,
        )?;
        Ok(Self(socket))
    }

    /// Makes a cable: `name` here, and `peer` in another namespace.
    pub(super) fn add_cable(
        &self,
        name: &str,
        peer: &str,
        peer_namespace: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let mut there = link_header(0, 0);
        attribute(&mut there, IFLA_IFNAME, &text(peer));
        let fd = peer_namespace.as_raw_fd().to_ne_bytes();
        attribute(&mut there, IFLA_NET_NS_FD, &fd);
        let mut data = Vec::new();
        attribute(&mut data, VETH_INFO_PEER, &there);
        self.add_link(name, "veth", &data)
    }

    /// Makes a bridge.
    pub(super) fn add_bridge(&self, name: &str) -> io::Result<()> {
        self.add_link(name, "bridge", &[])
    }

    fn add_link(&self, name: &str, kind: &str, data: &[u8]) -> io::Result<()> {
        let mut info = Vec::new();
        attribute(&mut info, IFLA_INFO_KIND, &text(kind));
        if !data.is_empty() {
            attribute(&mut info, IFLA_INFO_DATA, data);
        }
        let mut body = link_header(0, 0);
        attribute(&mut body, IFLA_IFNAME, &text(name));
        attribute(&mut body, IFLA_LINKINFO, &info);
        self.request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &body)
    }

    /// Puts an interface into a bridge.
    pub(super) fn set_master(&self, name: &str, bridge: &str) -> io::Result<()> {
        let bridge = self.index(bridge)?;
        self.set(name, 0, 0, IFLA_MASTER, &bridge.to_ne_bytes())
    }

    pub(super) fn set_mtu(&self, name: &str, mtu_bytes: u32) -> io::Result<()> {
        self.set(name, 0, 0, IFLA_MTU, &mtu_bytes.to_ne_bytes())
    }

    pub(super) fn set_up(&self, name: &str) -> io::Result<()> {
        let mut body = link_header(IFF_UP, IFF_UP);
        attribute(&mut body, IFLA_IFNAME, &text(name));
        self.request(RTM_SETLINK, 0, &body)
    }

    fn set(&self, name: &str, flags: u32, change: u32, kind: u16, value: &[u8]) -> io::Result<()> {
        let mut body = link_header(flags, change);
        attribute(&mut body, IFLA_IFNAME, &text(name));
        attribute(&mut body, kind, value);
        self.request(RTM_SETLINK, 0, &body)
    }

    pub(super) fn add_address(
        &self,
        name: &str,
        address: Ipv4Addr,
        prefix_bits: u8,
    ) -> io::Result<()> {
        let index = self.index(name)?;
        // struct ifaddrmsg: family, prefix, flags, scope, index.
        let mut body = vec![AddressFamily::INET.as_raw() as u8, prefix_bits, 0, 0];
        body.extend(index.to_ne_bytes());
        attribute(&mut body, IFA_LOCAL, &address.octets());
        attribute(&mut body, IFA_ADDRESS, &address.octets());
        self.request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &body)
    }

    /// Gives an interface that is down a hardware address.
    pub(super) fn set_hardware_address(&self, name: &str, address: [u8; 6]) -> io::Result<()> {
        self.set(name, 0, 0, IFLA_ADDRESS, &address)
    }

    /// Notes for good which hardware address a host behind an interface has.
    pub(super) fn add_neighbour(
        &self,
        index: u32,
        host: Ipv4Addr,
        address: [u8; 6],
    ) -> io::Result<()> {
        // struct ndmsg: family, padding, index, state, flags, type.
        let mut body = vec![AddressFamily::INET.as_raw() as u8, 0, 0, 0];
        body.extend(index.to_ne_bytes());
        body.extend(NUD_PERMANENT.to_ne_bytes());
        body.extend([0; 2]);
        attribute(&mut body, NDA_DST, &host.octets());
        attribute(&mut body, NDA_LLADDR, &address);
        self.request(RTM_NEWNEIGH, NLM_F_CREATE, &body)
    }

    /// The number of an interface.
    pub(super) fn index(&self, name: &str) -> io::Result<u32> {
        Ok(netdevice::name_to_index(&self.0, name)?)
    }

    /// Sends one request and waits for the answer.
    fn request(&self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        let message = message(kind, flags, body);
        sendto(
            &self.0,
            &message,
            SendFlags::empty(),
            &SocketAddrNetlink::new(0, 0),
        )?;
        let mut answer = [0; 4096];
        let (len, _) = recv(&self.0, &mut answer[..], RecvFlags::empty())?;
        read_answer(answer.get(..len).unwrap_or_default())
    }
}

/// struct nlmsghdr: length, type, flags, sequence number, port; then the body.
fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let len = (HEADER_BYTES + body.len()) as u32;
    let mut message = len.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend((flags | NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// struct nlmsgerr behind the header: minus an error, or 0.
pub fn read_answer(answer: &[u8]) -> io::Result<()> {
    let word = |at: usize| answer.get(at..)?.first_chunk::<4>().copied();
    let kind = answer.get(4..).and_then(|rest| rest.first_chunk::<2>());
    match (
        kind.map(|kind| u16::from_ne_bytes(*kind)),
        word(HEADER_BYTES),
    ) {
        (Some(NLMSG_ERROR), Some(error)) => match i32::from_ne_bytes(error) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error.saturating_neg())),
        },
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the kernel answers something else",
        )),
    }
}

/// struct ifinfomsg: family, padding, type, index, flags, which of them count.
fn link_header(flags: u32, change: u32) -> Vec<u8> {
    let mut header = vec![0; 8];
    header.extend(flags.to_ne_bytes());
    header.extend(change.to_ne_bytes());
    header
}

/// struct rtattr: length and type, then the value, padded to 4 bytes.
fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    body.extend((4 + value.len() as u16).to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// With a zero at the end.
fn text(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_as_the_manual_says() {
        let mut body = link_header(IFF_UP, IFF_UP);
        attribute(&mut body, IFLA_IFNAME, &text("lo"));
        let message = message(RTM_SETLINK, 0, &body);
        let mut expected = Vec::new();
        expected.extend(40u32.to_ne_bytes());
        expected.extend(19u16.to_ne_bytes());
        expected.extend(5u16.to_ne_bytes());
        expected.extend([0; 8]);
        expected.extend([0; 8]);
        expected.extend(1u32.to_ne_bytes());
        expected.extend(1u32.to_ne_bytes());
        expected.extend(7u16.to_ne_bytes());
        expected.extend(3u16.to_ne_bytes());
        expected.extend(b"lo\0\0");
        assert_eq!(message, expected);
    }

    #[test]
    fn answers_are_read() {
        let answer = |error: i32| {
            let mut answer = vec![0; 36];
            answer[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
            answer[16..20].copy_from_slice(&error.to_ne_bytes());
            answer
        };
        assert!(read_answer(&answer(0)).is_ok());
        let error = read_answer(&answer(-17)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(17));
        for bad in [&[][..], &[0; 8], &[0; 36]] {
            assert!(read_answer(bad).is_err());
        }
    }
}
