//! Whole Ethernet frames as they are: for tools that look at the wire, and for tests.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use hostwire_transport::error::TransportError;

use super::interface::Interface;
use super::option;

/// A packet socket that sees every frame of an interface, coming or going, and sends any.
#[derive(Debug)]
pub struct RawSocket {
    socket: OwnedFd,
}

impl RawSocket {
    /// Opens one for frames of `ether_type`. Needs CAP_NET_RAW.
    ///
    /// # Errors
    /// [`TransportError::Environment`].
    pub fn open(interface: &Interface, ether_type: u16) -> Result<Self, TransportError> {
        let failed = || {
            let what = format!("opening a raw socket on {}", interface.name);
            TransportError::environment(what, io::Error::last_os_error())
        };
        // Only sockets of all protocols see outgoing frames.
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        // SAFETY: no pointers; the result is checked.
        let fd = unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            libc::socket(libc::AF_PACKET, kind, 0)
        };
        if fd == -1 {
            return Err(failed());
        }
        // SAFETY: a fresh descriptor that nobody else knows.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let to = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: protocol,
            sll_ifindex: interface.index as i32,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        // SAFETY: reads `to`, which outlives the call, with its length.
        let bound = unsafe {
            libc::bind(
                socket.as_raw_fd(),
                (&raw const to).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        if bound == -1 {
            return Err(failed());
        }
        let raw = Self { socket };
        raw.only(ether_type).map_err(|_| failed())?;
        Ok(raw)
    }

    /// Lets frames of one EtherType pass, as a classic BPF program of four instructions.
    fn only(&self, ether_type: u16) -> io::Result<()> {
        const TYPE_AT: u32 = 12;
        let instruction = |code: u32, jt, jf, k| libc::sock_filter {
            code: code as u16,
            jt,
            jf,
            k,
        };
        let program = [
            instruction(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, 0, 0, TYPE_AT),
            instruction(
                libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
                0,
                1,
                ether_type.into(),
            ),
            instruction(libc::BPF_RET | libc::BPF_K, 0, 0, u32::MAX),
            instruction(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
        ];
        let filter = libc::sock_fprog {
            len: program.len() as u16,
            filter: program.as_ptr().cast_mut(),
        };
        // SAFETY: it reads `filter` and the program it points to, which both outlive the call;
        // the kernel copies and checks them, and writes to neither.
        unsafe {
            option::set(
                &self.socket,
                libc::SOL_SOCKET,
                libc::SO_ATTACH_FILTER,
                &filter,
            )
        }
    }

    /// Sends a frame, from its destination address on.
    ///
    /// # Errors
    /// The error of the system.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        rustix::net::send(&self.socket, frame, rustix::net::SendFlags::empty())?;
        Ok(())
    }

    /// Copies the next frame to `buffer` and returns its length. `None` if none has come.
    pub fn receive(&self, buffer: &mut [u8]) -> Option<usize> {
        let received = rustix::net::recv(&self.socket, buffer, rustix::net::RecvFlags::empty());
        received.ok().map(|(len, _)| len)
    }
}
