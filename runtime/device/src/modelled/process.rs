//! The process that has the memory of a modelled device: how a PE starts it, communicates with it and ends
//! it, and what it does.
//!
//! It is a copy of the PE with only one thread. So it may only call functions that are safe in a signal
//! handler: system calls, and copies of bytes. It does not allocate, and of the PE's memory it only uses its
//! own stack.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::Mutex;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};
use rustix::process::{Pid, PidfdFlags, WaitOptions, getpid, pidfd_open, waitpid};

use super::bounce;
use super::command::{ANSWER_BYTES, Answer, COMMAND_BYTES, Command, Operation};
use crate::{DeviceError, Result};

/// Bytes of a page, of x86 and of most Arm; allocations are at multiples of it.
pub(super) const PAGE_BYTES: usize = 4096;
/// Most allocations of a device at a time.
const ALLOCATIONS_MAX: usize = 4096;
/// The PE gets an answer at least after so many commands, so that it can send more before all are done.
const ANSWER_AFTER: usize = 8;
/// After a longer copy it gets an answer at once.
const SHORT_BYTES: u64 = 4096;

/// The PE's side of the process.
#[derive(Debug)]
pub(super) struct Process {
    pid: Pid,
    /// The command queue.
    socket: OwnedFd,
    /// How it ended, if that was checked.
    ended: Mutex<Option<String>>,
    /// The process that started it: only this one may end it.
    parent: Pid,
}

impl Process {
    /// Starts the process, which has `bounce` mapped.
    pub(super) fn start(bounce: NonNull<u8>) -> Result<Self> {
        let refused = |what: &str, why: String| DeviceError::Refused {
            what: format!("{what} for a modelled device"),
            why,
        };
        let flags = SocketFlags::CLOEXEC;
        let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None);
        let (socket, theirs) = pair.map_err(|e| refused("making a socket", e.to_string()))?;
        let parent = getpid();
        // It ends when this process does, even if others hold its socket.
        let watched = pidfd_open(parent, PidfdFlags::empty());
        let watched = watched.map_err(|e| refused("watching this process", e.to_string()))?;
        let descriptors = (theirs.as_raw_fd(), watched.as_raw_fd());
        // SAFETY: the child calls `serve` alone, which does only what a signal handler may do and does not
        // return.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: this is a new process with one thread; the descriptors are open, and `bounce` is mapped
            // here at the same address, shared with the PE.
            unsafe { serve(descriptors, bounce) }
        }
        let Some(pid) = Pid::from_raw(pid.max(0)) else {
            let why = io::Error::last_os_error().to_string();
            return Err(refused("starting a process", why));
        };
        Ok(Self {
            pid,
            socket,
            ended: Mutex::default(),
            parent,
        })
    }

    /// Its number.
    pub(super) fn number(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Puts a command into the queue.
    ///
    /// # Errors
    /// Why it has ended.
    pub(super) fn send(&self, command: &Command) -> core::result::Result<(), String> {
        loop {
            match send(&self.socket, &command.bytes(), SendFlags::NOSIGNAL) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.how_it_ended(&error.to_string())),
            }
        }
    }

    /// The next answer, if one has come.
    ///
    /// # Errors
    /// Why it has ended.
    pub(super) fn receive(&self) -> core::result::Result<Option<Answer>, String> {
        let mut bytes = [0; ANSWER_BYTES];
        loop {
            return match recv(&self.socket, &mut bytes, RecvFlags::DONTWAIT) {
                Ok((ANSWER_BYTES, _)) => Ok(Some(Answer::read(&bytes))),
                Ok((0, _)) => Err(self.how_it_ended("it has closed its queue")),
                Ok((other, _)) => Err(format!(
                    "an answer of {other} bytes, expected {ANSWER_BYTES}"
                )),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => Ok(None),
                Err(error) => Err(self.how_it_ended(&error.to_string())),
            };
        }
    }

    /// Waits until there is an answer.
    pub(super) fn wait(&self, limit: Duration) {
        let limit = Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: limit.subsec_nanos().into(),
        };
        // A signal makes it return early, as the device's `wait` may.
        let _ = poll(
            &mut [PollFd::new(&self.socket, PollFlags::IN)],
            Some(&limit),
        );
    }

    fn how_it_ended(&self, otherwise: &str) -> String {
        let mut ended = self
            .ended
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if ended.is_none() && getpid() == self.parent {
            // Its descriptors are closed a moment before its status can be read.
            *ended = Some(match waitpid(Some(self.pid), WaitOptions::empty()) {
                Ok(Some((_, status))) => {
                    match (status.terminating_signal(), status.exit_status()) {
                        (Some(signal), _) => format!("its process was ended by signal {signal}"),
                        (_, Some(status)) => format!("its process ended with status {status}"),
                        _ => otherwise.to_owned(),
                    }
                }
                _ => otherwise.to_owned(),
            });
        }
        ended.clone().unwrap_or_else(|| otherwise.to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let ended = self
            .ended
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if ended.is_none() && getpid() == self.parent {
            // It ends with the queue anyway, but a copy in progress would take long.
            let _ = rustix::process::kill_process(self.pid, rustix::process::Signal::KILL);
            let _ = waitpid(Some(self.pid), WaitOptions::empty());
        }
    }
}

/// Where an allocation lies.
#[derive(Clone, Copy)]
struct Mapped {
    base: u64,
    len: u64,
    /// Its file; -1 for memory of another process.
    file: RawFd,
}

/// Carries out commands of the queue until the PE ends, and then ends this process.
///
/// # Safety
/// The calling process was just forked. `queue` and `pe` are open; `bounce` is mapped with
/// [`bounce::BYTES`] bytes.
unsafe fn serve((queue, pe): (RawFd, RawFd), bounce: NonNull<u8>) -> ! {
    // SAFETY: system calls that change this process alone, with arguments that outlive them.
    let prepared = unsafe { prepare(queue, pe) };
    let Some((queue, pe)) = prepared else {
        // SAFETY: ends this process and runs nothing of the PE's.
        unsafe { libc::_exit(1) }
    };
    let mut mapped = [Mapped {
        base: 0,
        len: 0,
        file: -1,
    }; ALLOCATIONS_MAX];
    // Commands that are done and not answered yet.
    let (mut owed, mut answer) = (0_usize, Answer::default());
    loop {
        let mut bytes = [0; COMMAND_BYTES];
        // SAFETY: `bytes` has as many bytes as are named.
        let got = unsafe {
            libc::recv(
                queue,
                bytes.as_mut_ptr().cast(),
                COMMAND_BYTES,
                libc::MSG_DONTWAIT,
            )
        };
        // One answer for all commands that were there, because each answer may wake the PE.
        if owed > 0 && (got < 0 || owed >= ANSWER_AFTER) {
            say(queue, &answer);
            owed = 0;
        }
        if got < 0 && wait_for_work(queue, pe) {
            continue;
        }
        let command = match got {
            // Records have one size, so none comes in parts.
            got if got == COMMAND_BYTES as isize => Command::read(&bytes),
            _ => None,
        };
        let Some(command) = command else {
            // The PE has ended, or it has a bug.
            // SAFETY: ends this process and runs nothing of the PE's.
            unsafe { libc::_exit(0) }
        };
        // SAFETY: the PE names memory of its allocations alone, which it checks, and parts of `bounce`.
        let value = unsafe { run(&command, bounce, &mut mapped) };
        let number = command.number;
        answer = Answer { number, value };
        // The PE uses a long piece while the next one is copied.
        owed = match command.len > SHORT_BYTES {
            true => ANSWER_AFTER,
            false => owed + 1,
        };
    }
}

/// Answers, or ends this process if the PE has ended.
fn say(queue: RawFd, answer: &Answer) {
    let answer = answer.bytes();
    // SAFETY: `answer` has as many bytes as are named.
    let sent = unsafe {
        libc::send(
            queue,
            answer.as_ptr().cast(),
            ANSWER_BYTES,
            libc::MSG_NOSIGNAL,
        )
    };
    if sent < 0 {
        // SAFETY: ends this process and runs nothing of the PE's.
        unsafe { libc::_exit(0) }
    }
}

/// Closes everything of the PE except the queue and the descriptor that shows its end.
///
/// # Safety
/// This process was just forked.
unsafe fn prepare(queue: RawFd, pe: RawFd) -> Option<(RawFd, RawFd)> {
    let mut all = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: fills the set, which is then a value.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // An interrupt from the keyboard is for the PE, and its handlers must not run in this process.
    // SAFETY: a set that was filled above.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), core::ptr::null_mut()) };
    // SAFETY: the name is terminated.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"hostwire-device".as_ptr()) };
    // Out of the way of 0 and 1.
    // SAFETY: duplicates an open descriptor.
    let queue = unsafe { libc::fcntl(queue, libc::F_DUPFD, 3) };
    // SAFETY: as above.
    let pe = unsafe { libc::fcntl(pe, libc::F_DUPFD, 3) };
    if queue < 0 || pe < 0 {
        return None;
    }
    // SAFETY: replaces a descriptor of this process, which nothing here uses.
    let moved = unsafe { libc::dup2(queue, 0) };
    // SAFETY: as above.
    if moved != 0 || unsafe { libc::dup2(pe, 1) } != 1 {
        return None;
    }
    // SAFETY: closes descriptors of this process, which nothing here uses.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 2_u32, u32::MAX, 0_u32) };
    (closed == 0).then_some((0, 1))
}

/// Waits for a command. Returns whether the PE lives.
fn wait_for_work(queue: RawFd, pe: RawFd) -> bool {
    let entry = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut both = [entry(queue), entry(pe)];
    // SAFETY: two entries, as is said.
    unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
    both[1].revents == 0
}

/// Carries out a command.
///
/// # Safety
/// Addresses of the command lie in allocations of this process, and its offsets in `bounce`.
unsafe fn run(command: &Command, bounce: NonNull<u8>, mapped: &mut [Mapped]) -> i64 {
    let Command { a, b, len, .. } = *command;
    let at = |address: u64| core::ptr::with_exposed_provenance_mut::<u8>(address as usize);
    let in_bounce = |offset: u64| -> Option<*mut u8> {
        let fits = offset.checked_add(len)? <= bounce::BYTES as u64;
        // SAFETY: inside of the bounce memory.
        fits.then(|| unsafe { bounce.as_ptr().add(offset as usize) })
    };
    let (to, from) = match command.operation {
        Operation::Allocate => return allocate(len, mapped),
        Operation::Release => return release(a, mapped),
        Operation::File => return file(a, mapped),
        Operation::Open => return open(a, b, len, mapped),
        Operation::Write => (Some(at(a)), in_bounce(b)),
        Operation::Read => (in_bounce(b), Some(at(a))),
        Operation::Copy => (Some(at(a)), Some(at(b))),
    };
    let (Some(to), Some(from)) = (to, from) else {
        return -i64::from(libc::EFAULT);
    };
    // SAFETY: the caller vouches for both ranges; `copy` allows them to overlap.
    unsafe { core::ptr::copy(from, to, len as usize) };
    0
}

/// Maps zeroed pages of a file without a name. Returns their address, or a negative error number.
fn allocate(len: u64, mapped: &mut [Mapped]) -> i64 {
    // SAFETY: the name is terminated.
    let file = unsafe { libc::memfd_create(c"hostwire-device".as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return error();
    }
    // SAFETY: a descriptor that was made just now.
    let sized = unsafe { libc::ftruncate(file, len as i64) };
    let at = match sized {
        0 => map(file, len, mapped, file),
        _ => error(),
    };
    if at < 0 {
        // SAFETY: as above, and nothing has it.
        unsafe { libc::close(file) };
    }
    at
}

/// Maps a file. Returns the address, or a negative error number.
fn map(file: RawFd, len: u64, mapped: &mut [Mapped], kept: RawFd) -> i64 {
    let Some(free) = mapped.iter_mut().find(|one| one.len == 0) else {
        return -i64::from(libc::ENOSPC);
    };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address that the kernel chooses touches nothing that is there.
    let base = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            len as usize,
            protection,
            flags,
            file,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return error();
    }
    let base = base.expose_provenance() as u64;
    *free = Mapped {
        base,
        len,
        file: kept,
    };
    base as i64
}

/// The descriptor of the file at an address.
fn file(address: u64, mapped: &[Mapped]) -> i64 {
    let found = mapped
        .iter()
        .find(|one| address.wrapping_sub(one.base) < one.len);
    match found {
        Some(one) if one.file >= 0 => one.file.into(),
        _ => -i64::from(libc::EINVAL),
    }
}

/// Maps a file of another device, given by one of its descriptors.
fn open(process: u64, descriptor: u64, len: u64, mapped: &mut [Mapped]) -> i64 {
    let mut path = [0_u8; 64];
    let mut at = 0;
    let mut add = |bytes: &[u8]| {
        path[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    let mut digits = [0; 20];
    add(b"/proc/");
    add(decimal(process, &mut digits));
    add(b"/fd/");
    add(decimal(descriptor, &mut digits));
    // SAFETY: terminated: 64 bytes are more than the two numbers and what is around them.
    let file = unsafe { libc::open(path.as_ptr().cast(), libc::O_RDWR | libc::O_CLOEXEC) };
    if file < 0 {
        return error();
    }
    let base = map(file, len, mapped, -1);
    // SAFETY: opened above, and used by nothing: the mapping keeps the file.
    unsafe { libc::close(file) };
    base
}

/// A number in decimal, without an allocation.
fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[first..];
        }
    }
}

/// The error of the last system call, as an answer.
fn error() -> i64 {
    // This does not allocate.
    let number = io::Error::last_os_error().raw_os_error();
    -i64::from(number.unwrap_or(libc::EIO))
}

/// Gives back the mapping in which `address` is.
fn release(address: u64, mapped: &mut [Mapped]) -> i64 {
    let holds = |one: &&mut Mapped| one.len > 0 && address.wrapping_sub(one.base) < one.len;
    let Some(one) = mapped.iter_mut().find(holds) else {
        return -i64::from(libc::EINVAL);
    };
    let base = core::ptr::with_exposed_provenance_mut(one.base as usize);
    // SAFETY: mapped by `allocate` with this length, and no copy is at work.
    unsafe { libc::munmap(base, one.len as usize) };
    if one.file >= 0 {
        // SAFETY: a descriptor of `allocate`, which nothing else uses.
        unsafe { libc::close(one.file) };
    }
    one.len = 0;
    0
}
