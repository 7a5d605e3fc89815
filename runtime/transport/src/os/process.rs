//! Descriptors and settings that a launcher passes to its children.
//!
//! Passing a descriptor takes two halves. The launcher's half is [`ChildSetup`]: every descriptor in
//! the launcher is close-on-exec, and the flag is cleared only between `fork` and `exec` in the one
//! child that is meant to have it. The child's half is [`inherited_fd`]: it turns the number found in
//! an environment variable back into an owned descriptor.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::hosts::HostPlace;
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_getfd, fcntl_setfd};
use rustix::process::{
    Resource, Rlimit, Signal, getpid, getppid, set_parent_process_death_signal, setrlimit,
};

/// Makes an owned descriptor of the open descriptor `n`, which a parent
/// process left open for this one.
///
/// The result is a close-on-exec duplicate, and `n` itself becomes
/// close-on-exec too but stays open: a number that came from an environment
/// variable may be wrong, and closing a descriptor that belongs to another
/// part of this process would be worse than leaving one open. So the function
/// may be called twice with one number, and the launcher sees the descriptor
/// hang up when this process ends, not before.
///
/// # Errors
/// `EBADF` when `n` is negative or not open, `EMFILE` when this process may
/// not open another descriptor.
pub fn inherited_fd(n: RawFd) -> io::Result<OwnedFd> {
    if n < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: `n` is not -1, which is all that the validity of the type asks.
    // The borrow ends with this function. Should `n` not be open, or be closed
    // by another thread meanwhile, the calls below answer EBADF or duplicate
    // another descriptor of this process; none of them touches memory, and
    // none closes `n`, so no owner of `n` can lose it.
    let fd = unsafe { BorrowedFd::borrow_raw(n) };
    let flags = fcntl_getfd(fd)?;
    let owned = fcntl_dupfd_cloexec(fd, 3)?;
    fcntl_setfd(fd, flags | FdFlags::CLOEXEC)?;
    Ok(owned)
}

/// A close-on-exec duplicate of the open descriptor `n`, which stays as it is.
///
/// # Errors
/// Those of [`inherited_fd`].
pub fn duplicate(n: RawFd) -> io::Result<OwnedFd> {
    if n < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: `n` is not -1, which is all that the validity of the type asks. If it is not open, the
    // call answers EBADF; it touches no memory, and closes nothing.
    let fd = unsafe { BorrowedFd::borrow_raw(n) };
    Ok(fcntl_dupfd_cloexec(fd, 3)?)
}

/// The number of this thread in the system.
pub fn thread() -> u32 {
    rustix::thread::gettid().as_raw_pid().cast_unsigned()
}

/// The processor time that this thread has had.
pub fn thread_time() -> Duration {
    processor_time(rustix::time::ClockId::ThreadCPUTime)
}

/// The processor time that all threads of this process have had together.
pub fn process_time() -> Duration {
    processor_time(rustix::time::ClockId::ProcessCPUTime)
}

fn processor_time(of: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(of);
    let (secs, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(secs.unwrap_or(0), nanos.unwrap_or(0))
}

/// Whether a thread of this process sleeps until something wakes it, so that it computes nothing.
/// `false` if that cannot be read.
pub fn is_asleep(thread: u32) -> bool {
    state_of(thread) == Some(b'S')
}

/// Whether all other threads of this process sleep until something wakes them.
pub fn others_are_asleep() -> bool {
    let here = thread();
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return true;
    };
    let mut threads = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
    // The state of a thread that has ended in the meantime cannot be read.
    let computes = |thread: u32| matches!(state_of(thread), Some(b'R' | b'D'));
    !threads.any(|thread| thread != here && computes(thread))
}

/// The state of a thread of this process.
fn state_of(thread: u32) -> Option<u8> {
    state(&std::fs::read(format!("/proc/self/task/{thread}/stat")).ok()?)
}

/// The state of a thread in its line of proc_pid_stat(5): after its name, which is in parentheses and
/// may contain anything.
fn state(stat: &[u8]) -> Option<u8> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    stat.get(end + 2).copied()
}

/// Like [`inherited_fd`], and checks that the descriptor is a socket.
///
/// # Errors
/// Those of [`inherited_fd`], and `ENOTSOCK` when `n` is open but something
/// else; `n` is then left as it was.
pub fn inherited_socket(n: RawFd) -> io::Result<OwnedFd> {
    check_socket(n)?;
    inherited_fd(n)
}

/// Whether `n` is an open socket of this process.
pub fn is_socket(n: RawFd) -> bool {
    check_socket(n).is_ok()
}

fn check_socket(n: RawFd) -> io::Result<()> {
    if n < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: not negative; the call only asks for the type of a socket. If the descriptor is not open,
    // or another thread closes it, the answer is an error, or that of another descriptor.
    let fd = unsafe { BorrowedFd::borrow_raw(n) };
    rustix::net::sockopt::socket_type(fd)?;
    Ok(())
}

/// The settings of a child between `fork` and `exec`.
#[derive(Debug, Default)]
pub struct ChildSetup {
    /// Descriptors that the child keeps, under the numbers they have here.
    pub inherit: Vec<Arc<OwnedFd>>,
    /// Soft and hard limit of open files of the child; that of the launcher if `None`.
    pub nofile: Option<(Option<u64>, Option<u64>)>,
    /// The host on which it is started; that of the launcher if `None`.
    pub host: Option<HostPlace>,
}

impl ChildSetup {
    /// Arranges for `command` to start its child with this set-up, and for the child to
    /// be killed by SIGKILL as soon as the *thread* that spawns it ends, however it
    /// ends.
    ///
    /// Spawn from the main thread, therefore. A child whose parent died before
    /// the arrangement was in force does not run the program.
    pub fn apply(self, command: &mut Command) {
        let launcher = getpid();
        let setup = move || -> io::Result<()> {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            if getppid() != Some(launcher) {
                return Err(Errno::SRCH.into());
            }
            if let Some((current, maximum)) = self.nofile {
                setrlimit(Resource::Nofile, Rlimit { current, maximum })?;
            }
            if let Some(host) = &self.host {
                host.enter()?;
            }
            for fd in &self.inherit {
                fcntl_setfd(fd, FdFlags::empty())?;
            }
            Ok(())
        };
        // SAFETY: the closure runs in the child after `fork`. It makes system
        // calls through rustix, which are async-signal-safe, reads memory that
        // it owns, and neither allocates, locks nor panics.
        unsafe { command.pre_exec(setup) };
    }
}

/// Arranges for the child of `command` to be killed by SIGKILL when the thread
/// that spawns it ends. [`ChildSetup::apply`] with nothing else to set up.
pub fn die_with_parent(command: &mut Command) {
    ChildSetup::default().apply(command);
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_number_that_is_not_open_is_an_error() {
        for n in [-1, -7, 1_000_000] {
            let error = inherited_fd(n).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(Errno::BADF.raw_os_error()));
            let error = inherited_socket(n).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(Errno::BADF.raw_os_error()));
            assert!(!is_socket(n));
        }
    }

    #[test]
    fn threads_that_sleep_are_told_from_those_that_compute() {
        assert_eq!(state(b"71 (a) R b) S 1 71"), Some(b'S'));
        assert_eq!(state(b"71 (sh"), None);
        let (tell, told) = std::sync::mpsc::channel();
        let (wake, woken) = std::sync::mpsc::channel::<()>();
        let sleeper = std::thread::spawn(move || {
            tell.send(thread()).unwrap();
            woken.recv().unwrap();
            tell.send(0).unwrap();
            while woken.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {}
        });
        let number = told.recv().unwrap();
        while !is_asleep(number) {
            std::thread::yield_now();
        }
        wake.send(()).unwrap();
        told.recv().unwrap();
        assert!(!is_asleep(number));
        assert!(!others_are_asleep());
        drop(wake);
        sleeper.join().unwrap();
        assert!(!is_asleep(number));
    }

    #[test]
    fn a_file_is_not_a_socket() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let error = inherited_socket(file.as_raw_fd()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::NOTSOCK.raw_os_error()));
        assert!(!is_socket(file.as_raw_fd()));
        assert!(inherited_fd(file.as_raw_fd()).is_ok());
    }

    #[test]
    fn an_inherited_socket_is_close_on_exec_and_leaves_its_owner_alone() {
        use std::io::{Read, Write};
        let (mut here, there) = UnixStream::pair().unwrap();
        fcntl_setfd(&there, FdFlags::empty()).unwrap();
        let taken = inherited_socket(there.as_raw_fd()).unwrap();
        assert_eq!(fcntl_getfd(&taken).unwrap(), FdFlags::CLOEXEC);
        assert_eq!(fcntl_getfd(&there).unwrap(), FdFlags::CLOEXEC);
        drop(there);
        UnixStream::from(taken).write_all(b"x").unwrap();
        let mut byte = [0];
        here.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
    }

    #[test]
    fn only_the_child_that_is_meant_to_gets_a_descriptor() {
        let (_here, there) = UnixStream::pair().unwrap();
        let there = Arc::new(OwnedFd::from(there));
        let path = format!("/proc/self/fd/{}", there.as_raw_fd());

        let mut with = Command::new("test");
        with.args(["-e", &path]);
        ChildSetup {
            inherit: vec![Arc::clone(&there)],
            ..ChildSetup::default()
        }
        .apply(&mut with);
        assert!(with.status().unwrap().success());

        let mut without = Command::new("test");
        without.args(["-e", &path]);
        die_with_parent(&mut without);
        assert!(!without.status().unwrap().success());
    }
}
