//! A frame that one socket of this host sends to another one: what the program does of it, without the kernel.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};

use hostwire_frames::{FramePort, Interface, PacketSocket, Socket, StreamPort, XdpSocket};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::pair::{COUNTED, Failed, Result, WARM_UP, count};

/// As the wire `ether` has by default. Frames of zeros are for the first link of any host.
const ETHER_TYPE: u16 = 0x88b5;
/// Bytes of frames.
const LENGTHS: [usize; 2] = [64, 1024];
/// Tries until a first frame has come: there may be a connection to be made.
const TRIES: usize = 100;

/// Whether the frame has left.
type Send = fn(&mut Socket, &[u8]) -> bool;
/// The bytes of the frames that have come.
type Receive = fn(&mut Socket) -> usize;

/// Not the same code twice: see `rows`.
macro_rules! rows {
    ($($send:ident, $receive:ident;)*) => {
        $(#[inline(never)]
        fn $send(socket: &mut Socket, frame: &[u8]) -> bool {
            black_box(stringify!($send));
            socket.send(&[(1, frame)]).is_ok()
        }

        #[inline(never)]
        fn $receive(socket: &mut Socket) -> usize {
            black_box(stringify!($receive));
            let mut bytes = 0;
            socket.receive(&mut |_, frame| bytes += frame.len());
            bytes
        })*
    };
}

rows! {
    row_socket_udp_send_64, row_socket_udp_receive_64;
    row_socket_udp_send_1024, row_socket_udp_receive_1024;
    row_socket_tcp_send_64, row_socket_tcp_receive_64;
    row_socket_tcp_send_1024, row_socket_tcp_receive_1024;
    row_socket_ether_send_64, row_socket_ether_receive_64;
    row_socket_ether_send_1024, row_socket_ether_receive_1024;
    row_socket_xdp_send_64, row_socket_xdp_receive_64;
    row_socket_xdp_send_1024, row_socket_xdp_receive_1024;
}

/// Does those of a kind of socket. `ether` and `xdp` need rights, and a cable from `left` to `right`.
pub fn rows(kind: &str) -> Result {
    let rows: [(Send, Receive); 2] = match kind {
        "udp" => [
            (row_socket_udp_send_64, row_socket_udp_receive_64),
            (row_socket_udp_send_1024, row_socket_udp_receive_1024),
        ],
        "tcp" => [
            (row_socket_tcp_send_64, row_socket_tcp_receive_64),
            (row_socket_tcp_send_1024, row_socket_tcp_receive_1024),
        ],
        "ether" => [
            (row_socket_ether_send_64, row_socket_ether_receive_64),
            (row_socket_ether_send_1024, row_socket_ether_receive_1024),
        ],
        _ => [
            (row_socket_xdp_send_64, row_socket_xdp_receive_64),
            (row_socket_xdp_send_1024, row_socket_xdp_receive_1024),
        ],
    };
    let [mut first, mut second] = [open(kind, 0)?, open(kind, 1)?];
    first.set_peers(0, vec![None, Some(second.address())])?;
    second.set_peers(1, vec![Some(first.address()), None])?;
    meet(&mut first, &mut second)?;
    for (bytes, (send, receive)) in LENGTHS.into_iter().zip(rows) {
        let frame = vec![0; bytes];
        for turn in 0..WARM_UP + COUNTED {
            let counts = turn >= WARM_UP;
            let has_left = match counts {
                true => count(|| send(&mut first, &frame)),
                false => send(&mut first, &frame),
            };
            if !has_left || !has_come(&second)? {
                return Err(format!("{kind}: a frame was lost").into());
            }
            let came = match counts {
                true => count(|| receive(&mut second)),
                false => receive(&mut second),
            };
            if came != bytes {
                return Err(format!("{kind}: {came} bytes came of a frame of {bytes}").into());
            }
        }
    }
    Ok(())
}

fn open(kind: &str, host: u32) -> std::result::Result<Socket, Failed> {
    let ip = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let interface = || Interface::choose(Some(["left", "right"][host as usize]));
    Ok(match kind {
        "udp" => Socket::of(FramePort::open(ip)?),
        "tcp" => Socket::of(StreamPort::open(ip)?),
        "ether" => Socket::of(PacketSocket::open(&interface()?, ETHER_TYPE, host, 1)?),
        "xdp" => Socket::of(XdpSocket::open(&interface()?, ETHER_TYPE)?),
        _ => return Err(format!("there is no socket '{kind}'").into()),
    })
}

/// Sends frames until one has come, and takes all of them.
fn meet(first: &mut Socket, second: &mut Socket) -> Result {
    let take = |socket: &mut Socket| socket.receive(&mut |_, _| ()).frames;
    let mut came = 0;
    for _ in 0..TRIES {
        // What is not sent is sent again.
        let _ = first.send(&[(1, &[0; 64])]);
        while has_come(second)? && take(second) > 0 {
            came += 1;
        }
        take(first);
        if came > 0 {
            return Ok(());
        }
    }
    Err("no frame has come".into())
}

/// Waits for a frame, so that no call has to.
fn has_come(socket: &Socket) -> std::result::Result<bool, Failed> {
    const SOON: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 100_000_000,
    };
    let descriptor = socket.fd();
    let mut descriptors = [PollFd::new(&descriptor, PollFlags::IN)];
    Ok(poll(&mut descriptors, Some(&SOON))? > 0)
}
