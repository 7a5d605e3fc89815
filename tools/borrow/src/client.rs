//! The program's side: its parts of the borrowed memory, as addresses.
//!
//! [`Client`] reserves addresses for all of the borrowed memory, and maps there what it takes. The
//! rest cannot be touched. A child that the process forks has none of it: the parts are not copied
//! (`MADV_DONTFORK`), so that two processes never write one page.
//!
//! Where pages move, the process keeps a descriptor of its own `userfaultfd`. If the pager dies, a thread that touches
//! an absent page waits until it is killed; it never reads zeros. Where pages are mapped, the lender's memory itself
//! lies at these addresses.

use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::message::{self, MAGIC, REFUSED, Request, SOCKET_VARIABLE};
use crate::uffd::{Uffd, Unusable};
use crate::{PAGE_BYTES, pages_of};

/// The least number of a client's descriptors. Programs that expect small numbers do not meet them.
const FD_LEAST: i32 = 200;

/// Why a program cannot borrow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BorrowError {
    /// There is no pager.
    #[error("no memory is borrowed for this program: start it with hostwire borrow")]
    NoPager,
    /// The pager does not answer as one does.
    #[error("the pager of hostwire borrow does not answer: {errno}")]
    Lost {
        /// What the system says.
        errno: Errno,
    },
    /// Page faults cannot be received.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// The system refuses to map it.
    #[error("cannot {what}: {errno}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        errno: Errno,
    },
    /// All of it is in use.
    #[error("{bytes} bytes do not fit into what is left of the borrowed memory")]
    Full {
        /// What was asked for.
        bytes: usize,
    },
}

fn lost(errno: Errno) -> BorrowError {
    BorrowError::Lost { errno }
}

fn system(what: &'static str) -> impl FnOnce(Errno) -> BorrowError {
    move |errno| BorrowError::System { what, errno }
}

/// See the [module text](self).
#[derive(Debug)]
pub struct Client {
    socket: OwnedFd,
    /// `None`: pages are mapped.
    moved: Option<Moved>,
    base: usize,
    bytes: usize,
}

/// What a program needs whose pages move.
#[derive(Debug)]
struct Moved {
    file: OwnedFd,
    uffd: Uffd,
}

impl Moved {
    fn new(file: &OwnedFd) -> Result<Self, BorrowError> {
        let uffd = Uffd::new()?;
        Ok(Self {
            file: high(file).map_err(lost)?,
            uffd: Uffd::of_another(high(uffd.fd()).map_err(lost)?),
        })
    }
}

impl Client {
    /// Connects to the pager that the environment names.
    ///
    /// # Errors
    /// [`BorrowError`].
    pub fn from_env() -> Result<Self, BorrowError> {
        let name = std::env::var(SOCKET_VARIABLE).ok();
        Self::connect(
            &name
                .filter(|name| !name.is_empty())
                .ok_or(BorrowError::NoPager)?,
        )
    }

    /// Connects to the pager of this name.
    ///
    /// # Errors
    /// [`BorrowError`].
    pub fn connect(name: &str) -> Result<Self, BorrowError> {
        let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).map_err(lost)?;
        let flags = SocketFlags::CLOEXEC;
        let socket =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None);
        let socket = socket.map_err(lost)?;
        rustix::net::connect(&socket, &address).map_err(lost)?;
        let peer = rustix::net::sockopt::socket_peercred(&socket).map_err(lost)?;
        if peer.uid != rustix::process::geteuid() {
            return Err(lost(Errno::PERM));
        }
        let socket = high(&socket).map_err(lost)?;

        let ([bytes], file) = ask(&socket, Request::Look, None)?;
        let bytes = usize::try_from(bytes).map_err(|_| lost(Errno::BADMSG))?;
        let moved = file.as_ref().map(Moved::new).transpose()?;
        let base = reserve(None, bytes).map_err(system("reserve addresses"))?;
        let join = Request::Join { base: base as u64 };
        let uffd = moved.as_ref().map(|moved| &moved.uffd);
        let ([answer], _) = ask(&socket, join, uffd)?;
        if answer == REFUSED {
            return Err(lost(Errno::BADMSG));
        }
        Ok(Self {
            socket,
            moved,
            base,
            bytes,
        })
    }

    /// The addresses at which borrowed memory lies.
    pub fn range(&self) -> Range<usize> {
        self.base..self.base + self.bytes
    }

    /// Takes pages for `bytes` and maps them: zeros.
    ///
    /// # Errors
    /// [`BorrowError::Full`], [`BorrowError::Lost`], [`BorrowError::System`].
    pub fn take(&self, bytes: usize) -> Result<usize, BorrowError> {
        let whole = whole(bytes).ok_or(BorrowError::Full { bytes })?;
        let request = Request::Take {
            bytes: whole as u64,
        };
        let offset = match ask(&self.socket, request, None)? {
            ([REFUSED], _) => return Err(BorrowError::Full { bytes }),
            ([offset], _) => usize::try_from(offset).map_err(|_| lost(Errno::BADMSG))?,
        };
        let fits = offset
            .checked_add(whole)
            .is_some_and(|end| end <= self.bytes);
        if !fits || !offset.is_multiple_of(PAGE_BYTES) {
            return Err(lost(Errno::BADMSG));
        }
        match self.map(offset, whole) {
            Ok(()) => Ok(self.base + offset),
            Err(error) => {
                // Pages that cannot be mapped do not stay taken.
                self.give_back(self.base + offset, whole)?;
                Err(error)
            }
        }
    }

    fn map(&self, offset: usize, bytes: usize) -> Result<(), BorrowError> {
        let Some(Moved { file, uffd }) = &self.moved else {
            return self.map_parts(offset, bytes);
        };
        self.map_file(file, offset as u64, offset, bytes)?;
        let at = self.base + offset;
        uffd.register(at..at + bytes)
            .map_err(system("hear of faults in borrowed memory"))
    }

    /// Maps the lender's memory.
    fn map_parts(&self, offset: usize, bytes: usize) -> Result<(), BorrowError> {
        let mut done = 0;
        while done < bytes {
            let at = offset + done;
            let request = Request::Part { offset: at as u64 };
            let ([in_file, len], file) = ask(&self.socket, request, None)?;
            let file = file.ok_or_else(|| lost(Errno::BADMSG))?;
            let len = usize::try_from(len).unwrap_or(usize::MAX).min(bytes - done);
            if len == 0 || !len.is_multiple_of(PAGE_BYTES) {
                return Err(lost(Errno::BADMSG));
            }
            self.map_file(&file, in_file, at, len)?;
            done += len;
        }
        Ok(())
    }

    /// Maps a part of a file at an offset of what this client has taken.
    fn map_file(
        &self,
        file: &OwnedFd,
        in_file: u64,
        offset: usize,
        bytes: usize,
    ) -> Result<(), BorrowError> {
        let at = self.base + offset;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE;
        let at_ptr = core::ptr::without_provenance_mut(at);
        // SAFETY: the range lies in the addresses that this client has reserved, and the pager has
        // just given it to this client alone, so no Rust object lies there.
        let mapped = unsafe { rustix::mm::mmap(at_ptr, bytes, protection, flags, file, in_file) };
        mapped.map_err(system("map borrowed memory"))?;
        // SAFETY: the range was just mapped. The advice only keeps children from having it.
        let advised = unsafe { rustix::mm::madvise(at_ptr, bytes, Advice::LinuxDontFork) };
        advised.map_err(system("keep borrowed memory from children"))
    }

    /// Gives pages back. They cannot be touched any more.
    ///
    /// # Errors
    /// [`BorrowError::Lost`], [`BorrowError::System`].
    pub fn give_back(&self, address: usize, bytes: usize) -> Result<(), BorrowError> {
        let Some((at, offset, bytes)) = self.pages(address, bytes) else {
            return Ok(());
        };
        reserve(Some(at), bytes).map_err(system("give borrowed memory back"))?;
        let (offset, bytes) = (offset as u64, bytes as u64);
        ask::<1>(&self.socket, Request::GiveBack { offset, bytes }, None)?;
        Ok(())
    }

    /// Makes the whole pages in this range zeros.
    ///
    /// # Errors
    /// [`BorrowError::Lost`].
    pub fn discard(&self, address: usize, bytes: usize) -> Result<(), BorrowError> {
        let Some((_, offset, bytes)) = self.pages(address, bytes) else {
            return Ok(());
        };
        let (offset, bytes) = (offset as u64, bytes as u64);
        ask::<1>(&self.socket, Request::Discard { offset, bytes }, None)?;
        Ok(())
    }

    /// Replaces whatever the program has mapped over pages of this client by new pages with zeros.
    ///
    /// # Errors
    /// [`BorrowError::Lost`], [`BorrowError::System`].
    pub fn renew(&self, address: usize, bytes: usize) -> Result<(), BorrowError> {
        self.discard(address, bytes)?;
        match self.pages(address, bytes) {
            Some((_, offset, bytes)) => self.map(offset, bytes),
            None => Ok(()),
        }
    }

    /// The pages of a range, as an address, an offset and a size.
    fn pages(&self, address: usize, bytes: usize) -> Option<(usize, usize, usize)> {
        let bytes = whole(bytes)?.min(self.range().end.checked_sub(address)?);
        let offset = address.checked_sub(self.base)?;
        (offset.is_multiple_of(PAGE_BYTES) && bytes > 0).then_some((address, offset, bytes))
    }

    /// In a child that was forked: makes the addresses untouchable, and closes what belongs to the
    /// parent. The addresses stay reserved for ever, because pointers of the parent lead there.
    pub fn abandon(self) {
        // If it fails, the addresses are not mapped at all, and cannot be touched either.
        let _ = reserve(Some(self.base), self.bytes);
    }
}

/// A descriptor with a high number, if this process may have one.
fn high(fd: &OwnedFd) -> Result<OwnedFd, Errno> {
    let high = rustix::io::fcntl_dupfd_cloexec(fd, FD_LEAST);
    high.or_else(|_| rustix::io::fcntl_dupfd_cloexec(fd, 3))
}

/// A size in whole pages.
fn whole(bytes: usize) -> Option<usize> {
    pages_of(bytes)
        .checked_mul(PAGE_BYTES)
        .filter(|bytes| *bytes > 0)
}

/// Reserves addresses that cannot be touched: at `at`, in place of what is mapped there, or anywhere.
fn reserve(at: Option<usize>, bytes: usize) -> Result<usize, Errno> {
    let mut flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    flags.set(MapFlags::FIXED, at.is_some());
    let at = core::ptr::without_provenance_mut(at.unwrap_or(0));
    // SAFETY: without an address the kernel chooses one where nothing is. With one, it lies in
    // addresses that a client has reserved, and the caller gives up what it had there.
    let made = unsafe { rustix::mm::mmap_anonymous(at, bytes, ProtFlags::empty(), flags) };
    made.map(|ptr| ptr as usize)
}

/// Asks the pager. Returns the words of the answer after the magic, and its descriptor if it has one.
fn ask<const WORDS: usize>(
    socket: &OwnedFd,
    request: Request,
    uffd: Option<&Uffd>,
) -> Result<([u64; WORDS], Option<OwnedFd>), BorrowError> {
    let fd = uffd.map(AsFd::as_fd);
    message::send(socket, &request.to_words(), fd).map_err(lost)?;
    let message = message::receive(socket).map_err(lost)?;
    let message = message.ok_or_else(|| lost(Errno::PIPE))?;
    match message.words.split_first() {
        Some((&MAGIC, answer)) => match answer.try_into() {
            Ok(answer) => Ok((answer, message.fd)),
            Err(_) => Err(lost(Errno::BADMSG)),
        },
        _ => Err(lost(Errno::BADMSG)),
    }
}

impl Client {
    /// The descriptors that must stay open as long as borrowed memory is in use; -1 for none.
    pub fn fds(&self) -> [i32; 3] {
        let moved = self.moved.as_ref();
        let file = moved.map_or(-1, |moved| moved.file.as_raw_fd());
        let uffd = moved.map_or(-1, |moved| moved.uffd.as_fd().as_raw_fd());
        [self.socket.as_raw_fd(), file, uffd]
    }
}
