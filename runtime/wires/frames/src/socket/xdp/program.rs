//! The BPF program that takes the wire's frames off an interface. System calls load and
//! attach it, without a compiler or a library.
//!
//! It is attached by a link (`BPF_LINK_CREATE`), whose descriptor only this process has:
//! however the process ends, the kernel detaches and frees the program.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use hostwire_packet::htoe::{ethernet, place};

// linux/bpf.h
const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE_ELEM: libc::c_long = 2;
const PROG_LOAD: libc::c_long = 5;
const LINK_CREATE: libc::c_long = 28;
const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_TYPE_XDP: u32 = 37;
/// linux/if_link.h: before the network stack, in the kernel's generic way, which every
/// interface has.
const XDP_FLAGS_SKB_MODE: u32 = 1 << 1;
const XDP_PASS: i32 = 2;
const HELPER_REDIRECT_MAP: i32 = 51;
const PSEUDO_MAP_FD: u8 = 1;

/// The offset of the EtherType, and the length of the header before a frame.
const ETHER_TYPE_AT: i16 = place::ETHER_TYPE as i16;
const ETHERNET_LEN: i32 = ethernet::LEN as i32;
/// Places in `struct xdp_md`.
const DATA_AT: i16 = 0;
const DATA_END_AT: i16 = 4;
const QUEUE_AT: i16 = 16;

/// One instruction: opcode, registers, offset, immediate (RFC 9669).
#[repr(C)]
#[derive(Clone, Copy)]
struct Step {
    code: u8,
    /// Destination in the low half.
    registers: u8,
    offset: i16,
    immediate: i32,
}

const fn step(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Step {
    Step {
        code,
        registers: from << 4 | to,
        offset,
        immediate,
    }
}

const MOVE: u8 = 0xbf;
const MOVE_CONST: u8 = 0xb7;
const ADD_CONST: u8 = 0x07;
const LOAD_WORD: u8 = 0x61;
const LOAD_HALF: u8 = 0x69;
const LOAD_CONST_64: u8 = 0x18;
const JUMP_IF_GREATER: u8 = 0x2d;
const JUMP_IF_NOT_CONST: u8 = 0x55;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// An attached program. Dropping it detaches it.
#[derive(Debug)]
pub(super) struct Program {
    sockets: OwnedFd,
    link: OwnedFd,
}

impl Program {
    /// Sends frames of `ether_type` that come to queue `n` of an interface to the socket at
    /// place `n`, and passes all others. No places have sockets yet.
    pub(super) fn attach(interface: u32, ether_type: u16, queues: u32) -> io::Result<Self> {
        let sockets = map(queues)?;
        let program = load(sockets.as_fd(), ether_type)?;
        let link = link(program.as_fd(), interface)?;
        Ok(Self { sockets, link })
    }

    /// The program and its map end when these are closed.
    pub(super) fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.sockets.as_fd(), self.link.as_fd()]
    }

    /// Puts a socket at its place.
    pub(super) fn add(&self, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        #[repr(C)]
        struct Attribute {
            map: u32,
            _padding: u32,
            key: u64,
            value: u64,
            flags: u64,
        }
        let value = socket.as_raw_fd();
        let attribute = Attribute {
            map: self.sockets.as_raw_fd() as u32,
            _padding: 0,
            key: (&raw const queue).expose_provenance() as u64,
            value: (&raw const value).expose_provenance() as u64,
            flags: 0,
        };
        // SAFETY: the attribute of this command; key and value have four bytes each, as the
        // map was made for, and outlive the call.
        unsafe { bpf(MAP_UPDATE_ELEM, &attribute) }.map(drop)
    }
}

fn map(places: u32) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Attribute {
        kind: u32,
        key_bytes: u32,
        value_bytes: u32,
        entries_max: u32,
    }
    let attribute = Attribute {
        kind: MAP_TYPE_XSKMAP,
        key_bytes: 4,
        value_bytes: 4,
        entries_max: places,
    };
    // SAFETY: the attribute of this command, without pointers.
    own(unsafe { bpf(MAP_CREATE, &attribute) }?)
}

fn load(sockets: BorrowedFd<'_>, ether_type: u16) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Attribute {
        kind: u32,
        steps: u32,
        program: u64,
        license: u64,
        log_level: u32,
        log_bytes: u32,
        log: u64,
    }
    let program = steps(sockets.as_raw_fd(), ether_type);
    let license = c"Dual MIT/GPL";
    let attribute = Attribute {
        kind: PROG_TYPE_XDP,
        steps: program.len() as u32,
        program: program.as_ptr().expose_provenance() as u64,
        license: license.as_ptr().expose_provenance() as u64,
        log_level: 0,
        log_bytes: 0,
        log: 0,
    };
    // SAFETY: the attribute of this command; the program has as many steps as it says, the
    // licence is terminated, and both outlive the call. The kernel verifies the program.
    let load = || unsafe { bpf(PROG_LOAD, &attribute) };
    // A signal of the program may interrupt the verification: it is repeated, as libbpf
    // does.
    let mut loaded = load();
    for _ in 1..LOADS_MAX {
        if !matches!(&loaded, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            break;
        }
        loaded = load();
    }
    own(loaded?)
}

/// How often a program is given to the kernel until an `EAGAIN` counts.
const LOADS_MAX: usize = 5;

fn steps(sockets: i32, ether_type: u16) -> [Step; 16] {
    // As a two-byte load gives it.
    let ether_type = i32::from(u16::from_ne_bytes(ether_type.to_be_bytes()));
    [
        step(MOVE, 6, 1, 0, 0),
        step(LOAD_WORD, 2, 6, DATA_END_AT, 0),
        step(LOAD_WORD, 1, 6, DATA_AT, 0),
        step(MOVE, 3, 1, 0, 0),
        step(ADD_CONST, 3, 0, 0, ETHERNET_LEN),
        // Too short for a header: to the end.
        step(JUMP_IF_GREATER, 3, 2, 8, 0),
        step(LOAD_HALF, 4, 1, ETHER_TYPE_AT, 0),
        step(JUMP_IF_NOT_CONST, 4, 0, 6, ether_type),
        step(LOAD_WORD, 2, 6, QUEUE_AT, 0),
        // Two places: the map.
        step(LOAD_CONST_64, 1, PSEUDO_MAP_FD, 0, sockets),
        step(0, 0, 0, 0, 0),
        // Without a socket at this place, the frame goes to the network stack.
        step(MOVE_CONST, 3, 0, 0, XDP_PASS),
        step(CALL, 0, 0, 0, HELPER_REDIRECT_MAP),
        step(EXIT, 0, 0, 0, 0),
        step(MOVE_CONST, 0, 0, 0, XDP_PASS),
        step(EXIT, 0, 0, 0, 0),
    ]
}

fn link(program: BorrowedFd<'_>, interface: u32) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Attribute {
        program: u32,
        interface: u32,
        attach_type: u32,
        flags: u32,
        /// Room for all variants of this command; none is longer.
        rest: [u64; 6],
    }
    let attribute = Attribute {
        program: program.as_raw_fd() as u32,
        interface,
        attach_type: ATTACH_TYPE_XDP,
        flags: XDP_FLAGS_SKB_MODE,
        rest: [0; 6],
    };
    // SAFETY: the attribute of this command, without pointers.
    own(unsafe { bpf(LINK_CREATE, &attribute) }?)
}

/// # Safety
/// `attribute` must belong to the command, and its pointers must lead to as many bytes as it
/// says.
unsafe fn bpf<T>(command: libc::c_long, attribute: &T) -> io::Result<libc::c_long> {
    // SAFETY: reads `size_of::<T>()` bytes of `attribute`, and what the caller vouches for.
    let done = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            core::ptr::from_ref(attribute),
            size_of::<T>(),
        )
    };
    match done {
        -1 => Err(io::Error::last_os_error()),
        done => Ok(done),
    }
}

fn own(fd: libc::c_long) -> io::Result<OwnedFd> {
    let fd = libc::c_int::try_from(fd).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: a fresh descriptor that nobody else knows.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
