//! The pager: receives faults and requests, and moves pages.
//!
//! One thread does everything, in [`Server::turn`]: faults first, then requests of programs, and what
//! can wait when nobody waits. Several programs may have parts of the memory, for example a shell and what it
//! starts. A program is a *client* from when it joins until its socket closes; then its parts are free
//! again.
//!
//! A program is not trusted: what it asks for is checked, and it reaches only what it has taken. All
//! must belong to the user of the pager.
//!
//! Where the memory of a [`Store`] is a file, programs may map it: [`Pages::Mapped`]. Then no page moves, and the
//! pager only says who has which part. A program that maps a part could reach all of that file.

mod frames;
mod mapped;

use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::message::{self, MAGIC, Message, REFUSED, Request};
use crate::paging::{Fault, Limits, Page, Pager, Stats};
use crate::room::Owner;
use crate::uffd::{self, StoppedAt, Uffd};
use crate::{PAGE_BYTES, pages_of};

use frames::Frames;
use mapped::Mapped;

/// Where borrowed memory lies.
pub trait Store {
    /// Why it cannot be used any more.
    type Error: std::error::Error;
    /// Bytes on their way from there.
    type Coming;

    /// Begins to copy `bytes` to an offset of the memory.
    ///
    /// # Errors
    /// If they are lost.
    fn save(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Returns when all that was saved can be fetched.
    ///
    /// # Errors
    /// If something is lost.
    fn flush(&mut self) -> Result<(), Self::Error>;

    /// Begins to fill `bytes` from an offset of the memory. Several may be on their way.
    fn begin(&mut self, offset_bytes: u64, bytes: Vec<u8>) -> Self::Coming;

    /// Waits for bytes.
    ///
    /// # Errors
    /// If they are lost.
    fn finish(&mut self, coming: Self::Coming) -> Result<Vec<u8>, Self::Error>;

    /// Nobody wants these bytes. Gives back the place for them.
    fn forget(&mut self, coming: Self::Coming) -> Vec<u8>;

    /// The file that is the memory from an offset on, if programs may map it. It has zeros where
    /// nothing was stored.
    fn part_at(&self, offset_bytes: u64) -> Option<FilePart<'_>>;

    /// Makes a part of the memory zeros again, which programs may have mapped.
    ///
    /// # Errors
    /// If it is lost.
    fn clear(&mut self, bytes: Range<u64>) -> Result<(), Self::Error>;
}

/// A part of a file that is memory of a [`Store`], in whole pages.
#[derive(Debug, Clone, Copy)]
pub struct FilePart<'a> {
    /// The file.
    pub file: BorrowedFd<'a>,
    /// Where in it the part begins.
    pub offset_bytes: u64,
    /// How long it is.
    pub len_bytes: u64,
}

/// How programs have the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// Pages move: a cache of them is here.
    Moved(Limits),
    /// The memory lies in files ([`Store::part_at`]), and programs map these.
    Mapped,
}

/// What the pager does with the pages of its programs.
enum Work {
    Move(Box<Pager>),
    Map(Mapped),
}

/// Why a pager cannot go on. Its programs cannot, either.
#[derive(Debug, thiserror::Error)]
pub enum ServeError<E> {
    /// Borrowed memory is lost.
    #[error(transparent)]
    Store(E),
    /// The system refuses something.
    #[error("cannot {what}: {errno}")]
    System {
        /// What it is.
        what: &'static str,
        /// What the system says.
        errno: Errno,
    },
}

fn system<E>(what: &'static str) -> impl FnOnce(Errno) -> ServeError<E> {
    move |errno| ServeError::System { what, errno }
}

/// A program with borrowed memory, or one that is about to have some.
#[derive(Debug)]
struct Client {
    owner: Owner,
    socket: OwnedFd,
    joined: Option<Joined>,
}

#[derive(Debug)]
struct Joined {
    /// Where its faults arrive; `None` if pages are mapped.
    uffd: Option<Uffd>,
    /// The address of page 0 in the program.
    base: usize,
}

/// What a program still has of a part whose contents it does not need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Nothing,
    Place,
}

/// What is ready.
#[derive(Debug, Clone, Copy)]
enum Ready {
    Door,
    Faults(Owner),
    Request(Owner),
}

/// All that can be read.
struct Looked {
    own: Vec<Ready>,
    /// By descriptor of others.
    others: Vec<bool>,
}

/// See the [module text](self).
pub struct Server<S: Store> {
    door: OwnedFd,
    name: String,
    work: Work,
    frames: Frames<S>,
    owners: Owner,
    /// Bytes that programs asked for and did not get.
    refused_bytes: u64,
}

impl<S: Store> Server<S> {
    /// Opens the door for programs, under a random name.
    ///
    /// # Errors
    /// As the system refuses.
    pub fn open(bytes: usize, how: Pages, store: S) -> Result<Self, ServeError<S::Error>> {
        let pages = pages_of(bytes);
        let (work, file) = match how {
            Pages::Mapped => (Work::Map(Mapped::default()), None),
            Pages::Moved(limits) => {
                let file = uffd::memory_file((pages * PAGE_BYTES) as u64);
                let file = file.map_err(system("make the file of the pages"))?;
                (Work::Move(Box::new(Pager::new(pages, limits))), Some(file))
            }
        };
        let (door, name) = open_door().map_err(system("listen for programs"))?;
        Ok(Self {
            door,
            name,
            work,
            frames: Frames::new(file, pages as Page, store),
            owners: 0,
            refused_bytes: 0,
        })
    }

    /// What a program needs to come here: [`message::SOCKET_VARIABLE`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What has happened.
    pub fn stats(&self) -> &Stats {
        match &self.work {
            Work::Move(pager) => &pager.stats,
            Work::Map(mapped) => &mapped.stats,
        }
    }

    /// Pages that were moved here.
    pub fn resident(&self) -> usize {
        match &self.work {
            Work::Move(pager) => pager.resident(),
            Work::Map(_) => 0,
        }
    }

    /// Pages that belong to programs, and most of them at the same time.
    pub fn used_pages(&self) -> (Page, Page) {
        let room = &self.frames.room;
        (room.pages() - room.free_pages(), self.frames.used_max)
    }

    /// Bytes that programs asked for and did not get.
    pub fn refused_bytes(&self) -> u64 {
        self.refused_bytes
    }

    /// Where the memory lies.
    pub fn store(&mut self) -> &mut S {
        &mut self.frames.store
    }

    /// Waits, for at most `wait`, until there is something to do, and does it. Returns which of `others`
    /// can be read.
    ///
    /// # Errors
    /// [`ServeError`]: no page moves any more.
    pub fn turn(
        &mut self,
        others: &[BorrowedFd<'_>],
        wait: core::time::Duration,
    ) -> Result<Vec<bool>, ServeError<S::Error>> {
        let wait = match &self.work {
            Work::Move(pager) if pager.has_background() => core::time::Duration::ZERO,
            _ => wait,
        };
        let Looked { own, others } = self.look(others, wait)?;
        if let Work::Move(pager) = &mut self.work
            && own.is_empty()
        {
            pager.background(&mut self.frames)?;
        }
        for what in own {
            match what {
                Ready::Faults(owner) => self.settle(owner)?,
                Ready::Request(owner) => self.answer(owner)?,
                Ready::Door => self.admit(),
            }
        }
        Ok(others)
    }

    /// What can be read: of the own descriptors, faults first, and of others.
    fn look(
        &self,
        others: &[BorrowedFd<'_>],
        wait: core::time::Duration,
    ) -> Result<Looked, ServeError<S::Error>> {
        let clients = &self.frames.clients;
        let mut own: Vec<(Ready, BorrowedFd<'_>)> = Vec::with_capacity(2 * clients.len() + 1);
        for client in clients {
            let uffd = client.joined.as_ref().and_then(|it| it.uffd.as_ref());
            if let Some(uffd) = uffd {
                own.push((Ready::Faults(client.owner), uffd.as_fd()));
            }
        }
        for client in clients {
            own.push((Ready::Request(client.owner), client.socket.as_fd()));
        }
        own.push((Ready::Door, self.door.as_fd()));
        let all = own.iter().map(|(_, fd)| *fd).chain(others.iter().copied());
        let mut fds: Vec<PollFd<'_>> = all
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let wait = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        match poll(&mut fds, Some(&wait)) {
            Ok(_) => {}
            Err(Errno::INTR) => {
                return Ok(Looked {
                    own: Vec::new(),
                    others: vec![false; others.len()],
                });
            }
            Err(errno) => return Err(system("wait for programs")(errno)),
        }
        let mut is_ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let own = own.iter().zip(&mut is_ready).filter(|(_, ready)| *ready);
        let own = own.map(|((what, _), _)| *what).collect();
        let others = is_ready.collect();
        Ok(Looked { own, others })
    }

    /// Settles the faults of a program.
    fn settle(&mut self, owner: Owner) -> Result<(), ServeError<S::Error>> {
        let Work::Move(pager) = &mut self.work else {
            return Ok(());
        };
        let Some((base, uffd)) = self.frames.faults_of(owner) else {
            return Ok(());
        };
        let stopped = uffd.stopped();
        let heard = Instant::now();
        for at in stopped.unwrap_or_default() {
            let Some(page) = page_of(&at, base) else {
                continue;
            };
            let part = self.frames.room.part_of(page);
            let bounds = match part {
                Some((bounds, its)) if its == owner => bounds,
                _ => 0..0,
            };
            let fault = match (at.is_protected, at.is_write) {
                (true, _) => Fault::Protected,
                (false, true) => Fault::Write,
                (false, false) => Fault::Read,
            };
            self.frames.faulting = owner;
            pager.fault(&mut self.frames, page, fault, &bounds)?;
            let waited_ns = heard.elapsed().as_nanos();
            let waited_ns = u64::try_from(waited_ns).unwrap_or(u64::MAX);
            pager.stats.latency.add(waited_ns);
        }
        Ok(())
    }

    /// Answers one request of a program, or notes that it has ended.
    fn answer(&mut self, owner: Owner) -> Result<(), ServeError<S::Error>> {
        let Some(client) = self.frames.client(owner) else {
            return Ok(());
        };
        let received = message::receive(&client.socket);
        let Ok(Some(Message { words, fd })) = received else {
            // It has ended, or is no program of ours.
            return self.dismiss(owner);
        };
        let answer = match Request::from_words(&words) {
            Some(Request::Look) => {
                self.show(owner);
                return Ok(());
            }
            Some(Request::Part { offset }) => {
                self.show_part(owner, offset);
                return Ok(());
            }
            Some(Request::Join { base }) => self.join(owner, base, fd),
            Some(Request::Take { bytes }) => self.take(owner, bytes)?,
            Some(Request::GiveBack { offset, bytes }) => {
                self.discard(owner, (offset, bytes), Keeps::Nothing)?
            }
            Some(Request::Discard { offset, bytes }) => {
                self.discard(owner, (offset, bytes), Keeps::Place)?
            }
            None => return self.dismiss(owner),
        };
        if let Some(client) = self.frames.client(owner) {
            // If it does not read the answer, it has ended.
            let _ = message::send(&client.socket, &[MAGIC, answer.unwrap_or(REFUSED)], None);
        }
        Ok(())
    }

    fn show(&self, owner: Owner) {
        let bytes = u64::from(self.frames.room.pages()) * PAGE_BYTES as u64;
        if let Some(client) = self.frames.client(owner) {
            let file = self.frames.file.as_ref().map(File::as_fd);
            // As above.
            let _ = message::send(&client.socket, &[MAGIC, bytes], file);
        }
    }

    /// Shows a program the file of what it has taken.
    fn show_part(&self, owner: Owner, offset: u64) {
        let Some(client) = self.frames.client(owner) else {
            return;
        };
        let part = match &self.work {
            Work::Map(_) => self.frames.part_of(owner, offset),
            Work::Move(_) => None,
        };
        // As above.
        let _ = match part {
            Some(it) => {
                let words = [MAGIC, it.offset_bytes, it.len_bytes];
                message::send(&client.socket, &words, Some(it.file))
            }
            None => message::send(&client.socket, &[MAGIC, REFUSED], None),
        };
    }

    fn join(&mut self, owner: Owner, base: u64, fd: Option<OwnedFd>) -> Option<u64> {
        let base = usize::try_from(base).ok()?;
        let len = self.frames.room.pages() as usize * PAGE_BYTES;
        base.checked_add(len)?;
        let is_whole = base.is_multiple_of(PAGE_BYTES);
        let is_moved = matches!(self.work, Work::Move(_));
        let uffd = fd.map(Uffd::of_another);
        if !is_whole || uffd.is_some() != is_moved {
            return None;
        }
        let joined = Joined { uffd, base };
        let client = self.frames.clients.iter_mut();
        let client = client.into_iter().find(|client| client.owner == owner)?;
        client
            .joined
            .is_none()
            .then(|| client.joined = Some(joined))?;
        Some(len as u64)
    }

    fn take(&mut self, owner: Owner, bytes: u64) -> Result<Option<u64>, ServeError<S::Error>> {
        let pages = bytes.div_ceil(PAGE_BYTES as u64);
        let pages = Page::try_from(pages).ok();
        let Some(taken) = pages.and_then(|pages| self.frames.take(pages, owner)) else {
            self.refused_bytes = self.refused_bytes.saturating_add(bytes);
            return Ok(None);
        };
        if let Work::Map(mapped) = &mut self.work {
            mapped.take(&mut self.frames, &taken)?;
        }
        Ok(Some(u64::from(taken.start) * PAGE_BYTES as u64))
    }

    /// Forgets what is in a part of a program's memory.
    fn discard(
        &mut self,
        owner: Owner,
        (offset, bytes): (u64, u64),
        keeps: Keeps,
    ) -> Result<Option<u64>, ServeError<S::Error>> {
        let Some(pages) = pages_in(offset, bytes) else {
            return Ok(None);
        };
        for piece in self.frames.room.owned(&pages, owner) {
            match (&mut self.work, keeps) {
                (Work::Move(pager), _) => pager.discard(&mut self.frames, piece.clone())?,
                (Work::Map(_), Keeps::Place) => mapped::clear(&mut self.frames, &piece)?,
                // It becomes zeros when somebody takes it.
                (Work::Map(_), Keeps::Nothing) => {}
            }
            if keeps == Keeps::Nothing {
                self.frames.room.give_back(&piece, owner);
            }
        }
        Ok(Some(0))
    }

    /// Lets a program in, if it is of the same user.
    fn admit(&mut self) {
        let Ok(socket) = rustix::net::accept_with(&self.door, SocketFlags::CLOEXEC) else {
            return;
        };
        let peer = rustix::net::sockopt::socket_peercred(&socket);
        if peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid()) {
            self.owners = self.owners.wrapping_add(1);
            self.frames.clients.push(Client {
                owner: self.owners,
                socket,
                joined: None,
            });
        }
    }

    /// Takes back all that a program has.
    fn dismiss(&mut self, owner: Owner) -> Result<(), ServeError<S::Error>> {
        for part in self.frames.room.all_of(owner) {
            if let Work::Move(pager) = &mut self.work {
                pager.discard(&mut self.frames, part.clone())?;
            }
            self.frames.room.give_back(&part, owner);
        }
        self.frames.clients.retain(|client| client.owner != owner);
        Ok(())
    }
}

/// The page that was touched, if it is of the borrowed memory.
fn page_of(at: &StoppedAt, base: usize) -> Option<Page> {
    let offset = at.address.checked_sub(base)?;
    Page::try_from(offset / PAGE_BYTES).ok()
}

/// The pages of a part, if it has whole pages.
fn pages_in(offset: u64, bytes: u64) -> Option<Range<Page>> {
    let size = PAGE_BYTES as u64;
    let end = offset.checked_add(bytes)?;
    let is_whole = offset.is_multiple_of(size) && bytes.is_multiple_of(size);
    let number = |at: u64| Page::try_from(at / size).ok();
    is_whole.then_some(number(offset)?..number(end)?)
}

/// A socket with a random abstract name.
fn open_door() -> Result<(OwnedFd, String), Errno> {
    let mut random = [0; 16];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let name = format!("hostwire-borrow-{:032x}", u128::from_ne_bytes(random));
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    rustix::net::bind(
        &socket,
        &SocketAddrUnix::new_abstract_name(name.as_bytes())?,
    )?;
    rustix::net::listen(&socket, 64)?;
    Ok((socket, name))
}
