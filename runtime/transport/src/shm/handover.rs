//! How the memory of a job reaches its PEs: through a Unix socket, as descriptors.
//!
//! PE 0 listens under a random abstract name, which leaves nothing in any directory,
//! and publishes a [`Ticket`] (the name and a random key) through the launcher. Every
//! other PE connects, shows the key, and gets the descriptors of the two files that all
//! PEs share, however many there are. A connection of another user, or without the key, is
//! dropped unanswered.
//!
//! Everything is sent as little-endian words over `SOCK_SEQPACKET`:
//!
//! | message | words | descriptors |
//! |---|---|---|
//! | hello | magic, key (2), PE, PEs, [terms](crate::terms) (4) | none |
//! | files | magic, number of descriptors, a number for each of the guests' own | the segments, the liveness file, and the guests' own |
//! | refusal | magic, `u64::MAX`, then text | none |

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::Timeout;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};

use crate::error::{Disagreement, EnvironmentFault, Limit, Loss, PeId, TransportError};
use crate::os::random;
use crate::os::strangers::Strangers;
use crate::printable::printable;
use crate::terms::Terms;

use super::key::Key;

/// "hostwire" and the version of this exchange.
pub const MAGIC: u64 = u64::from_le_bytes(*b"hostwir\x04");
/// In place of a count: a refusal. Its text follows.
pub const REFUSED: u64 = u64::MAX;
/// What PE 0 attempts, for errors.
const ATTACHING: &str = "attaching the PEs of the job";
/// Descriptors that every guest gets.
const FILES: usize = 2;
/// Most descriptors besides. The kernel takes 253 in one message (`SCM_MAX_FD`).
pub const MORE_MAX: usize = 250;
const FILES_MAX: usize = FILES + MORE_MAX;
/// Connections without the key that are kept, beyond one for each PE.
const STRANGERS_MAX: usize = 64;

/// What a PE needs to find the job: published by PE 0, secret to all others.
#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    name: u128,
    key: Key,
}

impl core::fmt::Display for Ticket {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:032x}{:032x}", self.name, self.key)
    }
}

impl core::str::FromStr for Ticket {
    type Err = TransportError;

    fn from_str(text: &str) -> Result<Self, TransportError> {
        let bad = || {
            TransportError::environment(
                "reading the ticket of the job from the launcher",
                // Does not quote the text: it may contain the key.
                EnvironmentFault::unexpected(
                    "64 hexadecimal digits",
                    format_args!("{} characters", text.chars().count()),
                ),
            )
        };
        // `from_str_radix` also takes a sign.
        if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(bad());
        }
        let number = |digits: &str| u128::from_str_radix(digits, 16).map_err(|_| bad());
        Ok(Self {
            name: number(&text[..32])?,
            key: Key::new(number(&text[32..])?),
        })
    }
}

/// What all PEs of a host share.
#[derive(Debug)]
pub struct Files {
    /// The segments of all PEs.
    pub memory: OwnedFd,
    /// The file whose bytes the PEs lock.
    pub liveness: OwnedFd,
    /// Other descriptors that all of them get, each with a number that says what it is.
    pub more: Vec<(u32, OwnedFd)>,
}

/// What a PE says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// Its number.
    pub pe: PeId,
    /// How many PEs it believes the job has.
    pub pes: u32,
    /// Its [`Terms`].
    pub terms: [u64; Terms::WORDS],
}

/// The PE to which others connect.
#[derive(Debug, Clone, Copy)]
pub struct Own<'a> {
    /// Its number.
    pub pe: PeId,
    /// How many PEs it believes the job has.
    pub pes: u32,
    /// The terms that the others must have, too.
    pub terms: &'a Terms,
}

/// By PE: its connection, if it has come.
type Guests = Vec<Option<OwnedFd>>;

/// PE 0's side: the others connect here.
#[derive(Debug)]
pub struct Gathering {
    socket: OwnedFd,
    ticket: Ticket,
    more: Vec<(u32, OwnedFd)>,
}

impl Gathering {
    /// Opens the socket.
    pub fn open(pes: u32) -> Result<Self, TransportError> {
        let ticket = Ticket {
            name: u128::from_ne_bytes(random()?),
            key: Key::new(u128::from_ne_bytes(random()?)),
        };
        let failed = |e: Errno| TransportError::environment("listening for the PEs of the job", e);
        let socket = socket().map_err(failed)?;
        rustix::net::bind(&socket, &address(ticket)?).map_err(failed)?;
        let backlog = i32::try_from(pes).unwrap_or(i32::MAX);
        rustix::net::listen(&socket, backlog).map_err(failed)?;
        Ok(Self {
            socket,
            ticket,
            more: Vec::new(),
        })
    }

    /// Gives these descriptors to all PEs as well, at most [`MORE_MAX`], each with a number that
    /// says what it is: [`Shm::take_more`](super::Shm::take_more).
    #[must_use]
    pub fn with_more(self, more: Vec<(u32, OwnedFd)>) -> Self {
        Self { more, ..self }
    }

    /// What the others need to find it.
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Waits for all other PEs, then makes the files and sends them to all.
    ///
    /// # Errors
    /// [`TransportError::Environment`] with the PEs that did not come by `deadline`, or with the
    /// terms of a PE that do not fit.
    pub fn serve(
        mut self,
        own: &Own<'_>,
        make: impl FnOnce() -> Result<Files, TransportError>,
        deadline: Instant,
    ) -> Result<Files, TransportError> {
        let mut guests: Guests = (0..own.pes).map(|_| None).collect();
        let made = self
            .gather(own, &mut guests, deadline)
            .and_then(|()| make());
        if let Err(error) = &made {
            // Without this their errors would only say that PE 0 is gone.
            for socket in guests.iter().flatten() {
                send_refusal(socket, &error.to_string());
            }
        }
        let mut files = made?;
        files.more = core::mem::take(&mut self.more);
        for socket in guests.iter().flatten() {
            send_files(socket, &files)?;
        }
        Ok(files)
    }

    fn gather(
        &self,
        own: &Own<'_>,
        guests: &mut Guests,
        deadline: Instant,
    ) -> Result<(), TransportError> {
        let most = guests.len() + STRANGERS_MAX;
        let mut strangers: Strangers<OwnedFd> = Strangers::new(most);
        let mut expected = guests.len().saturating_sub(1);
        // PEs that have connected when the time is over are still heard. The loop is bounded,
        // because strangers may keep coming.
        let mut late = 0..2 * most;
        while expected > 0 {
            let ready = wait_for_any(&self.socket, strangers.iter(), deadline);
            let ready = ready.and_then(|ready| match Instant::now() >= deadline {
                true => late.next().map(|_| ready).ok_or(Errno::TIMEDOUT),
                false => Ok(ready),
            });
            for index in ready.map_err(|e| absent(e, guests))?.into_iter().rev() {
                if index == 0 {
                    if let Some(stranger) = accept(&self.socket)?.filter(is_same_user) {
                        strangers.come(stranger);
                    }
                } else if let Some(stranger) = strangers.remove(index - 1) {
                    expected -= usize::from(self.admit(own, stranger, guests)?);
                }
            }
        }
        Ok(())
    }

    fn admit(
        &self,
        own: &Own<'_>,
        stranger: OwnedFd,
        guests: &mut Guests,
    ) -> Result<bool, TransportError> {
        let Some(hello) = receive_hello(&stranger, self.ticket.key) else {
            return Ok(false); // It is not of this job, and gets no answer.
        };
        let taken = match guests.get_mut(hello.pe as usize) {
            Some(guest @ None) if hello.pe != own.pe => Ok(guest),
            _ => Err(EnvironmentFault::Number {
                pe: hello.pe,
                pes: own.pes,
            }),
        };
        match differs(&hello, own).map_or(taken, Err) {
            Ok(guest) => {
                *guest = Some(stranger);
                Ok(true)
            }
            Err(fault) => {
                send_refusal(&stranger, &fault.to_string());
                Err(TransportError::environment(ATTACHING, fault))
            }
        }
    }
}

/// Why a PE does not belong to the job as this PE knows it.
fn differs(hello: &Hello, own: &Own<'_>) -> Option<EnvironmentFault> {
    let (theirs, ours) = (hello.pes, own.pes);
    let about = match theirs == ours {
        true => own.terms.differ(&hello.terms)?,
        false => Disagreement::Pes { theirs, ours },
    };
    Some(EnvironmentFault::Disagreement {
        pe: hello.pe,
        with: own.pe,
        about,
    })
}

/// The side of all other PEs.
pub(super) fn join(
    ticket: Ticket,
    hello: &Hello,
    deadline: Instant,
) -> Result<Files, TransportError> {
    let failed = |e: Errno| {
        TransportError::environment(
            format!(
                "PE {} reaching PE 0 (are all PEs on this host and in one network namespace?)",
                hello.pe
            ),
            e,
        )
    };
    let socket = socket().map_err(failed)?;
    connect(&socket, &address(ticket)?, deadline).map_err(failed)?;
    if !is_same_user(&socket) {
        return Err(TransportError::environment(
            "attaching to the job",
            EnvironmentFault::Stranger,
        ));
    }
    send_hello(&socket, ticket.key, hello).map_err(failed)?;
    receive_files(&socket, hello, deadline)
}

/// If PE 0 is stopped, its queue may be full, and connecting waits.
fn connect(socket: &OwnedFd, address: &SocketAddrUnix, deadline: Instant) -> Result<(), Errno> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = left.max(Duration::from_millis(1));
        rustix::net::sockopt::set_socket_timeout(socket, Timeout::Send, Some(left))?;
        match rustix::net::connect(socket, address) {
            // A signal of the program.
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

/// Whether the process at the other end belongs to the user of this one.
pub fn is_same_user(socket: &OwnedFd) -> bool {
    rustix::net::sockopt::socket_peercred(socket)
        .is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// A socket for messages with descriptors, within this host.
///
/// # Errors
/// The error of the system.
pub fn socket() -> Result<OwnedFd, Errno> {
    rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
}

/// Where the holder of the ticket listens: a name without a file.
///
/// # Errors
/// The error of the system.
pub fn address(ticket: Ticket) -> Result<SocketAddrUnix, TransportError> {
    SocketAddrUnix::new_abstract_name(format!("hostwire-{:032x}", ticket.name).as_bytes())
        .map_err(|e| TransportError::environment("naming the socket of the job", e))
}

/// The next caller, if there is one.
///
/// # Errors
/// The error of the system.
pub fn accept(listener: &OwnedFd) -> Result<Option<OwnedFd>, TransportError> {
    match rustix::net::accept_with(listener, SocketFlags::CLOEXEC) {
        Ok(socket) => Ok(Some(socket)),
        Err(Errno::INTR | Errno::CONNABORTED | Errno::AGAIN) => Ok(None),
        Err(e) => Err(TransportError::environment("accepting a PE of the job", e)),
    }
}

/// Which of `[listener, others...]` can be read, in rising order.
pub fn wait_for_any<'a>(
    listener: &'a OwnedFd,
    others: impl IntoIterator<Item = &'a OwnedFd>,
    deadline: Instant,
) -> Result<Vec<usize>, Errno> {
    let mut fds: Vec<PollFd<'_>> = core::iter::once(listener)
        .chain(others)
        .map(|fd| PollFd::new(fd, PollFlags::IN))
        .collect();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        match poll(&mut fds, Some(&left)) {
            Ok(0) => return Err(Errno::TIMEDOUT),
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(fds
        .iter()
        .enumerate()
        .filter(|(_, fd)| !fd.revents().is_empty())
        .map(|(index, _)| index)
        .collect())
}

fn absent(cause: Errno, guests: &Guests) -> TransportError {
    if cause != Errno::TIMEDOUT {
        return TransportError::environment(ATTACHING, cause);
    }
    let missing = (0..).zip(guests).skip(1);
    let missing = missing.filter_map(|(pe, guest)| guest.is_none().then_some(pe));
    TransportError::environment(
        ATTACHING,
        EnvironmentFault::Absent {
            pes: missing.collect(),
        },
    )
}

/// Sends one message with descriptors.
///
/// # Errors
/// The error of the system.
pub fn send_with(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut space =
        vec![core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(Errno::NOBUFS);
    }
    loop {
        match rustix::net::sendmsg(
            &socket,
            &[IoSlice::new(bytes)],
            &mut control,
            SendFlags::NOSIGNAL,
        ) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            // Too many descriptors of this user are under way. Either the receivers take some
            // of them soon, or they die, and then sending fails with another error.
            Err(Errno::TOOMANYREFS) => std::thread::sleep(Duration::from_millis(1)),
            Err(e) => return Err(e),
        }
    }
}

/// Receives one message. Descriptors for which the buffer has no room are lost; callers notice it,
/// because they compare the number of descriptors.
pub fn receive_with(socket: impl AsFd, bytes: &mut [u8]) -> Result<(usize, Vec<OwnedFd>), Errno> {
    let mut space =
        vec![core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        match rustix::net::recvmsg(
            &socket,
            &mut [IoSliceMut::new(bytes)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        ) {
            Ok(received) => break received,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    };
    let fds = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten()
        .collect();
    Ok((received.bytes, fds))
}

fn send_hello(socket: &OwnedFd, key: Key, hello: &Hello) -> Result<(), Errno> {
    let [key_low, key_high] = key.to_words();
    let (pe, pes) = (u64::from(hello.pe), u64::from(hello.pes));
    let words = [&[MAGIC, key_low, key_high, pe, pes][..], &hello.terms].concat();
    send_with(socket, &to_bytes(&words), &[])
}

/// What a PE that shows the key says.
fn receive_hello(socket: &OwnedFd, key: Key) -> Option<Hello> {
    // Room for one more word, so that a message that is too long does not look like one that fits.
    let mut bytes = [0; 8 * (6 + Terms::WORDS)];
    let (len, fds) = receive_with(socket, &mut bytes).ok()?;
    let words = from_bytes(&bytes[..len]);
    let [magic, key_low, key_high, pe, pes, ref terms @ ..] = words[..] else {
        return None;
    };
    let terms = <[u64; Terms::WORDS]>::try_from(terms).ok()?;
    let shown = Key::from_words(key_low, key_high);
    (magic == MAGIC && key.is(shown) && fds.is_empty()).then_some(())?;
    Some(Hello {
        pe: u32::try_from(pe).ok()?,
        pes: u32::try_from(pes).ok()?,
        terms,
    })
}

fn send_files(socket: &OwnedFd, files: &Files) -> Result<(), TransportError> {
    let mut fds = vec![files.memory.as_fd(), files.liveness.as_fd()];
    fds.extend(files.more.iter().map(|(_, fd)| fd.as_fd()));
    let mut words = vec![MAGIC, fds.len() as u64];
    words.extend(files.more.iter().map(|(number, _)| u64::from(*number)));
    send_with(socket, &to_bytes(&words), &fds)
        .map_err(|e| TransportError::environment("handing the segments to the PEs", e))
}

/// What the first PE of the host answers to a hello.
///
/// # Errors
/// [`TransportError::Environment`]: it refuses, ends, is silent, or its answer makes no sense.
pub fn receive_files(
    socket: &OwnedFd,
    hello: &Hello,
    deadline: Instant,
) -> Result<Files, TransportError> {
    let failed = |fault: EnvironmentFault| {
        TransportError::environment(
            format!("PE {} receiving the segments of the job", hello.pe),
            fault,
        )
    };
    wait_for_any(socket, &[], deadline).map_err(|e| failed(e.into()))?;
    // A word more than the longest message has.
    let mut bytes = [0; 8 * (3 + MORE_MAX)];
    let (len, fds) = receive_with(socket, &mut bytes).map_err(|e| failed(e.into()))?;
    match &from_bytes(&bytes[..len])[..] {
        [] => Err(TransportError::PeerLost {
            pe: 0,
            loss: Loss::Ended,
        }),
        [MAGIC, REFUSED, ..] => {
            let text = String::from_utf8_lossy(&bytes[16..len]);
            let why = printable(text.trim_end_matches('\0')).into();
            Err(failed(EnvironmentFault::Refused { why }))
        }
        [MAGIC, count, numbers @ ..] if *count == (FILES + numbers.len()) as u64 => {
            take_files(fds, numbers).map_err(failed)
        }
        _ => Err(failed(EnvironmentFault::unexpected(
            "the files of the job, or why there are none",
            format_args!("a message of {len} bytes that has neither"),
        ))),
    }
}

/// The descriptors of a message. It has a number for each after the first two.
fn take_files(fds: Vec<OwnedFd>, numbers: &[u64]) -> Result<Files, EnvironmentFault> {
    let (expected, got) = (FILES + numbers.len(), fds.len());
    let wrong = || EnvironmentFault::Limit {
        limit: Limit::OpenFiles,
        detail: format!("expected {expected} descriptors, got {got}").into(),
    };
    let numbers = numbers.iter().map(|number| u32::try_from(*number));
    let numbers: Vec<u32> = numbers.collect::<Result<_, _>>().map_err(|_| {
        EnvironmentFault::unexpected("numbers of 32 bits for descriptors", "longer ones")
    })?;
    let mut fds = fds.into_iter();
    let (Some(memory), Some(liveness)) = (fds.next(), fds.next()) else {
        return Err(wrong());
    };
    let more: Vec<(u32, OwnedFd)> = numbers.into_iter().zip(fds).collect();
    match expected == got {
        true => Ok(Files {
            memory,
            liveness,
            more,
        }),
        false => Err(wrong()),
    }
}

/// Sends the reason for a refusal. The other end may be gone.
pub fn send_refusal(socket: &OwnedFd, why: &str) {
    let mut bytes = to_bytes(&[MAGIC, REFUSED]);
    bytes.extend(why.bytes().take(400));
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    // It is no error if the PE has gone already: it fails in any case.
    let _ = send_with(socket, &bytes, &[]);
}

/// Words as they are sent.
pub fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Words as they came; no words if the last one is not whole.
pub fn from_bytes(bytes: &[u8]) -> Vec<u64> {
    let (words, rest) = bytes.as_chunks::<8>();
    if rest.is_empty() {
        words.iter().map(|word| u64::from_le_bytes(*word)).collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
