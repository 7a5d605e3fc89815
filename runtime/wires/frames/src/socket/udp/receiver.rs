//! Receives datagrams that the kernel has coalesced: datagrams of one sender and one length, as one message. See
//! udp(7), `UDP_GRO`.

use std::io;
use std::mem::MaybeUninit;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use rustix::net::SocketAddrAny;
use rustix::net::addr::SocketAddrStorage;

use super::super::super::option;
use super::marks;

/// Longer than any message: its length has 16 bits in the headers of IP and UDP.
const BUFFER_BYTES: usize = 1 << 16;
/// Room for the control message, and for as many unexpected ones.
const CONTROL_WORDS: usize = 8;

/// Takes messages one at a time; the frames of one are in its buffer until the next.
#[derive(Debug)]
pub(super) struct Receiver {
    buffer: Box<[u8]>,
    /// Whether the kernel coalesces datagrams.
    pub(super) is_offloaded: bool,
}

/// What the system says about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Message {
    len_bytes: usize,
    from: Option<SocketAddr>,
    /// The length of its datagrams, if there are several. The last may be shorter.
    segment_bytes: Option<usize>,
    /// Whether a router has marked its datagrams. The kernel does not coalesce datagrams that differ in this.
    is_marked: bool,
    /// Whether something of it is missing.
    is_cut: bool,
}

impl Receiver {
    /// For this socket.
    pub(super) fn new(socket: &UdpSocket) -> Self {
        // Where the kernel lacks it, each datagram is a message.
        // SAFETY: it reads an int.
        let known = unsafe { option::set(socket, libc::SOL_UDP, libc::UDP_GRO, &1_i32) };
        Self {
            buffer: vec![0; BUFFER_BYTES].into(),
            is_offloaded: known.is_ok(),
        }
    }

    /// The next message, if there is one: its sender, if known, whether it is marked, and the frames in it. A
    /// truncated message becomes one empty frame, which is invalid and so is counted, because the beginnings of
    /// its frames are uncertain.
    pub(super) fn next(
        &mut self,
        socket: &UdpSocket,
    ) -> io::Result<(Option<SocketAddr>, bool, Frames<'_>)> {
        let message = receive(socket, &mut self.buffer)?;
        let len_bytes = match message.is_cut {
            true => 0,
            false => message.len_bytes,
        };
        let bytes = self.buffer.get_mut(..len_bytes).unwrap_or_default();
        let frames = frames(bytes, message.segment_bytes);
        Ok((message.from, message.is_marked, frames))
    }
}

/// The frames of a message.
pub(crate) type Frames<'a> =
    core::iter::Chain<core::option::IntoIter<&'a mut [u8]>, core::slice::ChunksMut<'a, u8>>;

/// The frames of a message with datagrams of `segment_bytes`; if this length is impossible, the whole message is
/// one frame. A message without bytes is one empty frame.
pub(crate) fn frames(message: &mut [u8], segment_bytes: Option<usize>) -> Frames<'_> {
    let (one, several) = match segment_bytes {
        Some(len @ 1..) if len < message.len() => (None, message.chunks_mut(len)),
        _ => (Some(message), <&mut [u8]>::default().chunks_mut(1)),
    };
    one.into_iter().chain(several)
}

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Message> {
    let mut name = MaybeUninit::<SocketAddrStorage>::zeroed();
    let mut control = [0_u64; CONTROL_WORDS];
    let mut piece = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: all-zero bytes are an `msghdr`.
    let mut header: libc::msghdr = unsafe { core::mem::zeroed() };
    header.msg_name = name.as_mut_ptr().cast();
    header.msg_namelen = size_of::<SocketAddrStorage>() as libc::socklen_t;
    header.msg_iov = &raw mut piece;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control);
    // SAFETY: writes the address, the buffer and the control messages, each within the length
    // that it is told, and all of them outlive the call.
    let len = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT) };
    let len_bytes = usize::try_from(len).map_err(|_| io::Error::last_os_error())?;
    let Notes {
        segment_bytes,
        is_marked,
    } = notes(&header);
    Ok(Message {
        len_bytes,
        from: sender(name, header.msg_namelen),
        segment_bytes,
        is_marked,
        is_cut: header.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0,
    })
}

/// The address that the system wrote. All of `name` is initialized.
fn sender(name: MaybeUninit<SocketAddrStorage>, len: libc::socklen_t) -> Option<SocketAddr> {
    let bounds = size_of::<libc::sa_family_t>()..=size_of::<SocketAddrStorage>();
    if !bounds.contains(&(len as usize)) {
        return None;
    }
    // SAFETY: zeroed before the system wrote an address of this length to it.
    let any = unsafe { SocketAddrAny::new(name, len) };
    SocketAddr::try_from(any).ok()
}

/// What control messages say.
#[derive(Debug, Clone, Copy, Default)]
struct Notes {
    segment_bytes: Option<usize>,
    is_marked: bool,
}

fn notes(header: &libc::msghdr) -> Notes {
    let mut notes = Notes::default();
    // SAFETY: the system has written control messages where `header` points, within its
    // length, and they are still there.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    // SAFETY: null, or a control message that the system has written, and that is still there.
    while let Some(control) = unsafe { next.as_ref() } {
        let (level, kind) = (control.cmsg_level, control.cmsg_type);
        if (level, kind) == (libc::SOL_UDP, libc::UDP_GRO) {
            let len = value::<libc::c_int>(control);
            notes.segment_bytes = len.and_then(|len| usize::try_from(len).ok());
        } else if marks::tells(level, kind) {
            // IPv6 has an int, IPv4 a byte.
            let field = match value::<libc::c_int>(control) {
                Some(field) => Some(field as u8),
                None => value::<u8>(control),
            };
            notes.is_marked = field.is_some_and(marks::is_marked);
        }
        // SAFETY: `control` is a control message of `header`, whose messages are all still there.
        next = unsafe { libc::CMSG_NXTHDR(header, control) };
    }
    notes
}

/// The value of a control message, if it is long enough.
fn value<T: zerocopy::FromBytes>(control: &libc::cmsghdr) -> Option<T> {
    // SAFETY: it computes.
    let len = unsafe { libc::CMSG_LEN(size_of::<T>() as u32) } as usize;
    if control.cmsg_len < len {
        return None;
    }
    // SAFETY: behind the head of a control message, and within it.
    let data = unsafe { libc::CMSG_DATA(control) };
    // SAFETY: it is so long, as its head says, and all bytes are a `T`.
    Some(unsafe { data.cast::<T>().read_unaligned() })
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// For a hang.
    const PATIENCE: Duration = Duration::from_secs(30);

    fn lens(message: usize, segment_bytes: Option<usize>) -> Vec<usize> {
        let mut bytes = vec![0; message];
        let frames = frames(&mut bytes, segment_bytes);
        frames.map(|frame| frame.len()).collect()
    }

    #[test]
    fn a_message_is_taken_apart() {
        assert_eq!(lens(9, Some(3)), [3, 3, 3]);
        assert_eq!(lens(10, Some(4)), [4, 4, 2]);
        assert_eq!(lens(3, Some(1)), [1, 1, 1]);
        // One frame, also an empty one, and lengths that a kernel should not give.
        for len in [0, 1, 9] {
            for segment in [None, Some(0), Some(9), Some(10), Some(usize::MAX)] {
                assert_eq!(lens(len, segment), [len], "{segment:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_of_a_message_is_lost(
            mut message in prop::collection::vec(any::<u8>(), 0..300),
            segment_bytes in prop::option::of(0_usize..310),
        ) {
            let expected = message.clone();
            let frames: Vec<Vec<u8>> =
                frames(&mut message, segment_bytes).map(|frame| frame.to_vec()).collect();
            prop_assert_eq!(frames.concat(), expected);
            prop_assert!(!frames.is_empty());
            let (last, full) = frames.split_last().unwrap();
            for frame in full {
                prop_assert_eq!(Some(frame.len()), segment_bytes);
            }
            prop_assert!(full.is_empty() || (1..=full[0].len()).contains(&last.len()));
        }
    }

    fn socket() -> UdpSocket {
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
    }

    /// A datagram to an address of the same host comes soon, but not at once.
    fn wait_for(socket: &UdpSocket) {
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.peek(&mut [0]).unwrap();
    }

    #[test]
    fn a_message_that_is_cut_is_an_empty_frame() {
        let (a, b) = (socket(), socket());
        let mut receiver = Receiver {
            buffer: [0; 8].into(),
            is_offloaded: false,
        };
        for (sent, expected) in [(8, 8), (9, 0), (5000, 0), (3, 3)] {
            a.send_to(&vec![1; sent], b.local_addr().unwrap()).unwrap();
            wait_for(&b);
            let (from, _, frames) = receiver.next(&b).unwrap();
            assert_eq!(from, Some(a.local_addr().unwrap()));
            let frames: Vec<Vec<u8>> = frames.map(|frame| frame.to_vec()).collect();
            assert_eq!(frames, [vec![1; expected]]);
        }
        let error = receiver.next(&b).err().map(|error| error.kind());
        assert_eq!(error, Some(io::ErrorKind::WouldBlock));
    }

    #[test]
    fn the_longest_datagram_fits() {
        let (a, b) = (socket(), socket());
        let mut receiver = Receiver::new(&b);
        let longest = vec![5; 65_507];
        a.send_to(&longest, b.local_addr().unwrap()).unwrap();
        wait_for(&b);
        let (_, _, frames) = receiver.next(&b).unwrap();
        assert_eq!(
            frames.map(|frame| frame.len()).collect::<Vec<_>>(),
            [65_507]
        );
    }

    #[test]
    fn a_mark_of_a_router_is_told() {
        for host in ["127.0.0.1", "::1"] {
            let host: std::net::IpAddr = host.parse().unwrap();
            let Ok(a) = UdpSocket::bind((host, 0)) else {
                continue;
            };
            let b = UdpSocket::bind((host, 0)).unwrap();
            marks::ask_for(&a).unwrap();
            marks::ask_for(&b).unwrap();
            let mut receiver = Receiver::new(&b);
            let (level, name) = match host.is_ipv4() {
                true => (libc::IPPROTO_IP, libc::IP_TOS),
                false => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
            };
            // As it is sent, and as a router would mark it.
            for (field, expected) in [(2, false), (3, true), (2, false)] {
                // SAFETY: it reads an int.
                unsafe { option::set(&a, level, name, &(field as libc::c_int)) }.unwrap();
                a.send_to(b"frame", b.local_addr().unwrap()).unwrap();
                wait_for(&b);
                let (_, is_marked, frames) = receiver.next(&b).unwrap();
                assert_eq!((is_marked, frames.count()), (expected, 1), "{host} {field}");
            }
        }
    }
}
