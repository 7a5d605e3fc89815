//! What a program and its pager say to each other, over a Unix socket with `SOCK_SEQPACKET`.
//!
//! Everything is little-endian words. The program asks, the pager answers each request in turn.
//!
//! | request | words | descriptors | answer |
//! |---|---|---|---|
//! | join | magic, 1, base address | userfaultfd, if pages move | magic, bytes of all memory |
//! | take | magic, 2, bytes | none | magic, offset |
//! | give back | magic, 3, offset, bytes | none | magic, 0 |
//! | discard | magic, 4, offset, bytes | none | magic, 0 |
//! | look | magic, 5 | none | magic, bytes of all memory; the memory file, if pages move |
//! | part | magic, 6, offset | none | magic, offset in the file, bytes; the file |
//!
//! A program looks first, reserves addresses for all of it, and joins. If no file comes with the answer, pages are
//! mapped instead of moved: the program asks for the parts of files that hold the memory it has taken. The answer to a
//! refused request is [`REFUSED`].

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// The variable in which a program finds its pager: the name of an abstract socket.
pub const SOCKET_VARIABLE: &str = "HOSTWIRE_BORROW_SOCKET";
/// The variable with the size above which an allocation is made in borrowed memory.
pub const ABOVE_VARIABLE: &str = "HOSTWIRE_BORROW_ABOVE";
/// "hwborr" and the version of this exchange.
pub const MAGIC: u64 = u64::from_le_bytes(*b"hwborr\0\x02");
/// The answer to a request that is refused.
pub const REFUSED: u64 = u64::MAX;
/// Words of the longest message.
const WORDS_MAX: usize = 4;

/// What a program asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// How much there is, and its file.
    Look,
    /// The program has mapped all of it from this address on.
    Join {
        /// The address.
        base: u64,
    },
    /// A part of the memory.
    Take {
        /// Its size.
        bytes: u64,
    },
    /// A part is not needed any more.
    GiveBack {
        /// Where it begins.
        offset: u64,
        /// Its size.
        bytes: u64,
    },
    /// The contents of a part are not needed any more; it has zeros from now on.
    Discard {
        /// Where it begins.
        offset: u64,
        /// Its size.
        bytes: u64,
    },
    /// The file that has memory from here on, where pages are mapped.
    Part {
        /// Where it begins.
        offset: u64,
    },
}

impl Request {
    /// As words.
    pub fn to_words(self) -> [u64; WORDS_MAX] {
        match self {
            Self::Join { base } => [MAGIC, 1, base, 0],
            Self::Take { bytes } => [MAGIC, 2, bytes, 0],
            Self::GiveBack { offset, bytes } => [MAGIC, 3, offset, bytes],
            Self::Discard { offset, bytes } => [MAGIC, 4, offset, bytes],
            Self::Look => [MAGIC, 5, 0, 0],
            Self::Part { offset } => [MAGIC, 6, offset, 0],
        }
    }

    /// From words; `None` if they make no request.
    pub fn from_words(words: &[u64]) -> Option<Self> {
        match *words {
            [MAGIC, 1, base, 0] => Some(Self::Join { base }),
            [MAGIC, 2, bytes, 0] => Some(Self::Take { bytes }),
            [MAGIC, 3, offset, bytes] => Some(Self::GiveBack { offset, bytes }),
            [MAGIC, 4, offset, bytes] => Some(Self::Discard { offset, bytes }),
            [MAGIC, 5, 0, 0] => Some(Self::Look),
            [MAGIC, 6, offset, 0] => Some(Self::Part { offset }),
            _ => None,
        }
    }
}

/// Sends words, and a descriptor if there is one.
///
/// # Errors
/// As the system says.
pub fn send(socket: impl AsFd, words: &[u64], fd: Option<BorrowedFd<'_>>) -> Result<(), Errno> {
    let bytes: [u8; 8 * WORDS_MAX] = core::array::from_fn(|at| {
        let word = words.get(at / 8).copied().unwrap_or(0);
        word.to_le_bytes()[at % 8]
    });
    let bytes = bytes.get(..8 * words.len()).ok_or(Errno::MSGSIZE)?;
    let mut space = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = fd.map(|fd| [fd]);
    if let Some(fds) = &fds
        && !control.push(SendAncillaryMessage::ScmRights(fds))
    {
        return Err(Errno::NOBUFS);
    }
    loop {
        let parts = [IoSlice::new(bytes)];
        match rustix::net::sendmsg(&socket, &parts, &mut control, SendFlags::NOSIGNAL) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// What was received.
#[derive(Debug)]
pub struct Message {
    /// Its words.
    pub words: Vec<u64>,
    /// The descriptor that came with it.
    pub fd: Option<OwnedFd>,
}

/// The next message. Nothing at the end.
///
/// # Errors
/// As the system says; [`Errno::BADMSG`] for a message that has no whole words, or too many.
pub fn receive(socket: impl AsFd) -> Result<Option<Message>, Errno> {
    let mut bytes = [0; 8 * WORDS_MAX + 1];
    let mut space = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        match rustix::net::recvmsg(&socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => break received,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    };
    let fds = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    let fd = fds.flatten().next();
    let bytes = bytes.get(..received.bytes).unwrap_or_default();
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.len() % 8 != 0 || bytes.len() > 8 * WORDS_MAX {
        return Err(Errno::BADMSG);
    }
    let words = bytes.chunks_exact(8).map(|word| {
        let mut whole = [0; 8];
        whole.copy_from_slice(word);
        u64::from_le_bytes(whole)
    });
    let words = words.collect();
    Ok(Some(Message { words, fd }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_back_from_their_words() {
        let (offset, bytes) = (4096, 8192);
        for request in [
            Request::Look,
            Request::Join { base: 7 << 40 },
            Request::Take { bytes },
            Request::GiveBack { offset, bytes },
            Request::Discard { offset, bytes },
            Request::Part { offset },
        ] {
            assert_eq!(Request::from_words(&request.to_words()), Some(request));
        }
        for bad in [
            &[][..],
            &[MAGIC],
            &[MAGIC, 9, 0, 0],
            &[0, 5, 0, 0],
            &[MAGIC, 5, 1, 0],
        ] {
            assert_eq!(Request::from_words(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_message_carries_words_and_a_descriptor() {
        let (here, there) = std::os::unix::net::UnixDatagram::pair().unwrap();
        let file = crate::uffd::memory_file(4096).unwrap();
        send(&here, &[1, 2], Some(file.as_fd())).unwrap();
        let Message { words, fd } = receive(&there).unwrap().unwrap();
        assert_eq!(words, [1, 2]);
        assert_eq!(
            std::fs::File::from(fd.unwrap()).metadata().unwrap().len(),
            4096
        );
        here.send(&[1, 2, 3]).unwrap();
        assert_eq!(receive(&there).unwrap_err(), Errno::BADMSG);
    }
}
