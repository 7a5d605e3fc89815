//! Sending by segmentation offload: the kernel takes many frames as one message, and splits
//! it into datagrams as late as possible. See udp(7), `UDP_SEGMENT`.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use rustix::net::{SendFlags, SocketAddrAny};

use super::super::super::option;
use super::super::{SEND_BATCH_FRAMES, SendError};
use super::runs::{Batch, Bounds, Frame};

/// Most datagrams of one message: `UDP_MAX_SEGMENTS` of linux/udp.h in older kernels.
const SEGMENTS_MAX: usize = 64;
/// Bytes of an IP packet, headers included.
const PACKET_BYTES_MAX: usize = 65_535;

/// Decides which frames leave together.
#[derive(Debug)]
pub(super) struct Sender {
    bounds: Bounds,
}

/// For how long frames cannot leave together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// Here, never.
    ForGood,
    /// These frames, now.
    ForNow,
}

/// What an error means for frames that were sent together; `None` if they would have met it
/// one by one, too. From `udp_send_skb` and `udp_cmsg_send` in net/ipv4/udp.c.
fn refusal(error: &io::Error) -> Option<Refusal> {
    match error.raw_os_error()? {
        // A kernel without the option; a device that computes no checksums, or IPsec.
        libc::ENOPROTOOPT | libc::EOPNOTSUPP | libc::EIO => Some(Refusal::ForGood),
        // A frame is longer than the path takes (the first in older kernels), or this socket
        // writes no checksums.
        libc::EINVAL | libc::EMSGSIZE => Some(Refusal::ForNow),
        _ => None,
    }
}

impl Sender {
    /// A sender for a socket whose datagrams have `header_bytes` of IP and UDP headers.
    pub(super) fn new(socket: &UdpSocket, header_bytes: usize) -> Self {
        // A value of 0 changes nothing if the kernel knows the option. A kernel that does
        // not would ignore the length in the control message, and send everything as one
        // datagram.
        // SAFETY: it reads an int.
        let known = unsafe { option::set(socket, libc::SOL_UDP, libc::UDP_SEGMENT, &0_i32) };
        let offload = Bounds {
            frames: SEGMENTS_MAX,
            bytes: PACKET_BYTES_MAX - header_bytes,
        };
        Self {
            bounds: known.map_or(Bounds::ONE, |()| offload),
        }
    }

    /// Whether frames leave together.
    pub(super) fn is_offloaded(&self) -> bool {
        self.bounds != Bounds::ONE
    }

    /// Sends frames, from the first on, and returns how many have left. `give` gives one
    /// message for each run to the system and returns how many it has taken, at least one.
    pub(super) fn send(
        &mut self,
        frames: &[Frame<'_>],
        mut give: impl FnMut(&[&[Frame<'_>]]) -> io::Result<usize>,
    ) -> Result<usize, SendError> {
        let batch = Batch::of(frames, self.bounds);
        let Some(first) = batch.runs().first() else {
            return Ok(0);
        };
        let error = match give(batch.runs()) {
            Ok(messages) => return Ok(batch.frames(messages)),
            Err(error) => error,
        };
        match refusal(&error) {
            Some(refusal) if first.len() > 1 => {
                if refusal == Refusal::ForGood {
                    self.bounds = Bounds::ONE;
                }
            }
            _ => return Err(SendError::of(&error)),
        }
        let alone = Batch::of(first, Bounds::ONE);
        match give(alone.runs()) {
            Ok(messages) => Ok(alone.frames(messages)),
            Err(error) => Err(SendError::of(&error)),
        }
    }

    #[cfg(test)]
    pub(super) fn without_offload(&mut self) {
        self.bounds = Bounds::ONE;
    }
}

/// A control message that says how long the datagrams are.
#[repr(C)]
#[derive(Clone, Copy)]
struct SegmentLen {
    head: libc::cmsghdr,
    len: u16,
}

/// The length in the head of a [`SegmentLen`]: without the padding after `len`.
const SEGMENT_LEN_BYTES: usize = {
    // SAFETY: it computes.
    unsafe { libc::CMSG_LEN(size_of::<u16>() as u32) as usize }
};
const _: () = {
    // SAFETY: it computes.
    let data_at = unsafe { libc::CMSG_LEN(0) } as usize;
    assert!(core::mem::offset_of!(SegmentLen, len) == data_at);
    // SAFETY: it computes.
    let space = unsafe { libc::CMSG_SPACE(size_of::<u16>() as u32) } as usize;
    assert!(size_of::<SegmentLen>() == space);
};

/// Gives a message for each run to the system, to the peer of its first frame. Returns how
/// many it has taken. At most [`SEND_BATCH_FRAMES`] messages and as many frames. A frame
/// without a peer is an error, and frames after it are not sent.
pub(super) fn give(
    socket: &UdpSocket,
    peers: &[Option<SocketAddrAny>],
    runs: &[&[Frame<'_>]],
) -> io::Result<usize> {
    let nothing = libc::iovec {
        iov_base: core::ptr::null_mut(),
        iov_len: 0,
    };
    let mut pieces = [nothing; SEND_BATCH_FRAMES];
    // SAFETY: all-zero bytes are a `SegmentLen`.
    let mut lens: [SegmentLen; SEND_BATCH_FRAMES] = unsafe { core::mem::zeroed() };
    // SAFETY: all-zero bytes are an `mmsghdr`.
    let mut messages: [libc::mmsghdr; SEND_BATCH_FRAMES] = unsafe { core::mem::zeroed() };
    let mut free = &mut pieces[..];
    let mut count = 0;
    for ((message, segment), run) in messages.iter_mut().zip(&mut lens).zip(runs) {
        let taken = core::mem::take(&mut free).split_at_mut_checked(run.len());
        let (Some((pieces, behind)), Some((pe, first))) = (taken, run.first()) else {
            break;
        };
        let Some(Some(peer)) = peers.get(*pe as usize) else {
            break;
        };
        free = behind;
        for (piece, (_, frame)) in pieces.iter_mut().zip(*run) {
            piece.iov_base = frame.as_ptr().cast_mut().cast();
            piece.iov_len = frame.len();
        }
        let header = &mut message.msg_hdr;
        header.msg_name = peer.as_ptr().cast_mut().cast();
        header.msg_namelen = peer.addr_len();
        header.msg_iov = pieces.as_mut_ptr();
        header.msg_iovlen = pieces.len();
        if run.len() > 1 {
            segment.head.cmsg_level = libc::SOL_UDP;
            segment.head.cmsg_type = libc::UDP_SEGMENT;
            segment.head.cmsg_len = SEGMENT_LEN_BYTES;
            segment.len = first.len() as u16;
            header.msg_control = (&raw mut *segment).cast();
            header.msg_controllen = size_of::<SegmentLen>();
        }
        count += 1;
    }
    if count == 0 {
        return Err(io::ErrorKind::NotFound.into());
    }
    // SAFETY: the first `count` messages point to an address, pieces and their bytes, and a
    // control message or none, each with its length, all of which outlive the call; it only
    // reads them.
    let sent = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr(),
            count,
            libc::MSG_DONTWAIT,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Sends one frame, without any control message. Returns 1.
pub(super) fn give_one(
    socket: &UdpSocket,
    peers: &[Option<SocketAddrAny>],
    pe: u32,
    frame: &[u8],
) -> io::Result<usize> {
    let Some(Some(peer)) = peers.get(pe as usize) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    rustix::net::sendto(socket, frame, SendFlags::DONTWAIT, peer)?;
    Ok(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERRORS: [i32; 5] = [
        libc::ENOPROTOOPT,
        libc::EOPNOTSUPP,
        libc::EIO,
        libc::EINVAL,
        libc::EMSGSIZE,
    ];

    fn sender() -> Sender {
        Sender {
            bounds: Bounds {
                frames: SEGMENTS_MAX,
                bytes: PACKET_BYTES_MAX - 28,
            },
        }
    }

    #[test]
    fn errors_of_offload_are_told_from_others() {
        let of = |errno| refusal(&io::Error::from_raw_os_error(errno));
        for errno in [libc::ENOPROTOOPT, libc::EOPNOTSUPP, libc::EIO] {
            assert_eq!(of(errno), Some(Refusal::ForGood));
        }
        for errno in [libc::EINVAL, libc::EMSGSIZE] {
            assert_eq!(of(errno), Some(Refusal::ForNow));
        }
        for errno in [libc::EAGAIN, libc::ENOBUFS, libc::EPERM, libc::ENETUNREACH] {
            assert_eq!(of(errno), None);
        }
        assert_eq!(refusal(&io::ErrorKind::NotFound.into()), None);
    }

    /// A system that takes a few messages per call, but no message of several frames:
    /// `errno` if such a message is the first, else it takes the messages before it.
    fn system<'a>(
        errno: i32,
        calls: &'a mut Vec<usize>,
        left: &'a mut Vec<Vec<u8>>,
    ) -> impl FnMut(&[&[Frame<'_>]]) -> io::Result<usize> + 'a {
        move |runs| {
            calls.push(runs[0].len());
            let taken = runs.iter().take(5).take_while(|run| run.len() == 1);
            let before = left.len();
            left.extend(taken.map(|run| run[0].1.to_vec()));
            match left.len() - before {
                0 => Err(io::Error::from_raw_os_error(errno)),
                taken => Ok(taken),
            }
        }
    }

    fn all_leave(sender: &mut Sender, frames: &[Frame<'_>], errno: i32) -> Vec<usize> {
        let (mut calls, mut left) = (Vec::new(), Vec::new());
        let mut sent = 0;
        while let rest @ [_, ..] = &frames[sent..] {
            sent += sender
                .send(rest, system(errno, &mut calls, &mut left))
                .unwrap();
        }
        let expected: Vec<&[u8]> = frames.iter().map(|(_, frame)| *frame).collect();
        assert_eq!(left, expected);
        calls
    }

    #[test]
    fn what_the_system_does_not_segment_leaves_one_by_one() {
        // One alone, seven that would leave together, then four.
        let bytes: Vec<u8> = (0..12).collect();
        let mut frames: Vec<Frame<'_>> = bytes.chunks(1).map(|frame| (1, frame)).collect();
        frames[0].0 = 2;
        for frame in &mut frames[8..] {
            frame.0 = 3;
        }
        for errno in ERRORS {
            let mut sender = sender();
            let calls = all_leave(&mut sender, &frames, errno);
            let again = all_leave(&mut sender, &frames, errno);
            if refusal(&io::Error::from_raw_os_error(errno)) == Some(Refusal::ForGood) {
                // The first frame, seven together, then ones.
                assert_eq!(calls, [1, 7, 1, 1, 1], "{errno}");
                assert_eq!(again, [1, 1, 1], "{errno}");
                assert!(!sender.is_offloaded());
            } else {
                assert_eq!(calls, [1, 7, 1, 2, 1, 4, 1], "{errno}");
                assert_eq!(again, calls, "{errno}");
            }
        }
    }

    #[test]
    fn other_errors_are_as_without_offload() {
        let frames: [Frame<'_>; 2] = [(1, b"a"), (1, b"b")];
        for (errno, expected) in [
            (libc::EAGAIN, SendError::Full),
            (libc::EPERM, SendError::Refused),
        ] {
            let mut sender = sender();
            let mut calls = 0;
            let sent = sender.send(&frames, |_| {
                calls += 1;
                Err(io::Error::from_raw_os_error(errno))
            });
            assert_eq!((sent, calls), (Err(expected), 1));
            assert!(sender.is_offloaded());
        }
    }

    #[test]
    fn a_frame_that_is_alone_is_not_tried_again() {
        for errno in ERRORS {
            let mut calls = 0;
            let sent = sender().send(&[(1, b"a")], |_| {
                calls += 1;
                Err(io::Error::from_raw_os_error(errno))
            });
            assert_eq!((sent, calls), (Err(SendError::Refused), 1));
        }
    }

    #[test]
    fn an_error_of_the_second_try_counts() {
        let mut errors = [libc::EIO, libc::EAGAIN].into_iter();
        let sent = sender().send(&[(1, b"a"), (1, b"b")], |_| {
            Err(io::Error::from_raw_os_error(errors.next().unwrap()))
        });
        assert_eq!(sent, Err(SendError::Full));
    }
}
