//! Filters the frames of an interface that may be for this endpoint.
//!
//! All sockets of a host receive all frames of the EtherType, also of other jobs. An endpoint numbers
//! its virtual links from 0 on. Reset, close and sealed frames name the node. Reports about the paths
//! between hosts pass for all.

use std::io;
use std::os::fd::BorrowedFd;

use hostwire_packet::htoe::place;

use super::super::option;
use super::ported::{MARK, TO};
use super::several::TOLD_BY;

const LOAD_BYTE: u16 = (libc::BPF_LD | libc::BPF_B | libc::BPF_ABS) as u16;
const LOAD_HALF: u16 = (libc::BPF_LD | libc::BPF_H | libc::BPF_ABS) as u16;
const LOAD_WORD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const JUMP_IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Which frames pass.
#[derive(Debug, Clone, Copy)]
pub(super) enum Only {
    /// Those for a host of a job, which has virtual links with numbers below `links`.
    Host { host: u32, links: u32 },
    /// Those for this [port](super::ported).
    Port(u32),
}

/// Lets only these frames through. Frames that are too short to decide are dropped.
pub(super) fn attach(socket: BorrowedFd<'_>, only: Only) -> io::Result<()> {
    match only {
        Only::Host { host, links } => attach_steps(socket, &mut of_host(host, links)),
        Only::Port(port) => attach_steps(socket, &mut of_port(port)),
    }
}

const fn step(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

fn of_port(port: u32) -> [libc::sock_filter; 6] {
    [
        step(LOAD_WORD, 0, 0, 0),
        step(JUMP_IF_EQUAL, 0, 3, u32::from_be_bytes(MARK)),
        step(LOAD_WORD, 0, 0, TO as u32),
        step(JUMP_IF_EQUAL, 0, 1, port),
        step(RETURN, 0, 0, u32::MAX),
        step(RETURN, 0, 0, 0),
    ]
}

fn of_host(node: u32, links: u32) -> [libc::sock_filter; 13] {
    [
        step(LOAD_BYTE, 0, 0, TOLD_BY.0 as u32),
        step(JUMP_IF_EQUAL, 9, 0, TOLD_BY.1.into()),
        step(AND, 0, 0, place::TYPE_MASK.into()),
        step(JUMP_IF_EQUAL, 3, 0, place::SEALED_TYPE.into()),
        step(JUMP_IF_AT_LEAST, 4, 0, place::FIRST_SESSION_TYPE.into()),
        step(LOAD_HALF, 0, 0, place::VIRTUAL_LINK as u32),
        step(JUMP_IF_AT_LEAST, 5, 4, links),
        step(LOAD_WORD, 0, 0, place::SEALED_DESTINATION as u32),
        step(JUMP_IF_EQUAL, 2, 3, node),
        step(LOAD_WORD, 0, 0, place::SESSION_DESTINATION as u32),
        step(JUMP_IF_EQUAL, 0, 1, node),
        step(RETURN, 0, 0, u32::MAX),
        step(RETURN, 0, 0, 0),
    ]
}

fn attach_steps(socket: BorrowedFd<'_>, program: &mut [libc::sock_filter]) -> io::Result<()> {
    let filter = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: it reads a `sock_fprog` and the steps that it points to, which both outlive the
    // call; the kernel checks the program and keeps a copy.
    unsafe { option::set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter) }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    use hostwire_link::{Config, Endpoint, Identity, Node, Ns};

    use super::*;

    /// The kernel's own answer: a filter works on any socket.
    fn passes(node: u32, links: u32, frame: &[u8]) -> bool {
        let host = node;
        passes_for(Only::Host { host, links }, frame)
    }

    fn passes_for(only: Only, frame: &[u8]) -> bool {
        let (from, to) = UnixDatagram::pair().unwrap();
        to.set_nonblocking(true).unwrap();
        attach(to.as_fd(), only).unwrap();
        // The sender of a filtered datagram may get an error.
        let _ = from.send(frame);
        to.recv(&mut [0; 2000]).is_ok()
    }

    fn data(link: u16) -> Vec<u8> {
        let mut frame = vec![0; 20];
        frame[0] = 0x11;
        frame[2..4].copy_from_slice(&link.to_be_bytes());
        frame
    }

    #[test]
    fn frames_are_told_by_their_virtual_link() {
        for (link, expected) in [(0, true), (3, true), (7, true), (8, false), (0x104, false)] {
            assert_eq!(passes(9, 8, &data(link)), expected, "{link}");
        }
        assert!(!passes(9, 8, &[0x11, 0, 0]));
        assert!(!passes(9, 8, &[]));
    }

    #[test]
    fn ports_hear_what_is_for_them_and_jobs_nothing_of_it() {
        let frame = [&MARK[..], &[1, 2, 3, 4, 9, 9, 9, 9], &[0; 44]].concat();
        assert!(passes_for(Only::Port(0x0102_0304), &frame));
        assert!(!passes_for(Only::Port(0x0102_0305), &frame));
        assert!(!passes_for(Only::Port(0x0102_0304), &frame[..7]));
        assert!(!passes_for(Only::Port(0), &data(0)));
        for links in [0, 1, 8, 1 << 15] {
            assert!(!passes(0x0102_0304, links, &frame));
        }
    }

    #[test]
    fn reports_about_paths_are_for_all() {
        assert!(passes(9, 8, b"\0path\x03\x01"));
    }

    #[test]
    fn sealed_frames_are_told_by_their_node() {
        let header = hostwire_packet::htoe::sealed::Repr {
            destination: 0x1_0009,
            source: 1,
            number: 7,
        };
        let frame = [&header.to_bytes()[..], &[0; 36]].concat();
        assert!(passes(0x1_0009, 8, &frame));
        assert!(!passes(9, 8, &frame));
        assert!(!passes(0x1_0009, 8, &frame[..7]));
    }

    #[test]
    fn resets_are_told_by_their_node() {
        let identity = Identity {
            node: Node(1),
            job: 5,
            incarnation: 1,
        };
        let mut endpoint = Endpoint::new(Config::default(), identity, 7).unwrap();
        let link = endpoint.link(Node(0x1_0009)).unwrap();
        endpoint.open(Ns(1), link).unwrap();
        let reset = endpoint.poll_transmit(Ns(1)).unwrap().frame.to_vec();
        assert!(passes(0x1_0009, 8, &reset));
        assert!(!passes(9, 8, &reset));
        assert!(!passes(0x1_0009, 8, &reset[..47]));
    }
}
