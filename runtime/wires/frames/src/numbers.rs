//! The numbers of the frames that a PE seals.

use core::sync::atomic::Ordering;
use std::os::fd::{AsFd, OwnedFd};

use hostwire_link::Node;
use hostwire_link::seal::Numbers;
use hostwire_transport::error::{EnvironmentFault, TransportError};
use hostwire_transport::fork_guard::{ForkGuard, ProcessWords};
use rustix::time::ClockId;

use super::Socket;

/// Notices that the process was restored from a checkpoint.
///
/// A restored process, on this machine or another one, gets new kernel objects in place of its old ones.
/// So the inode number of a socket shows it. The check is a system call and is made once in a tick of the
/// coarse clock (1 to 10 ms): no checkpoint is taken and restored within one tick.
///
/// This does not work if a whole machine is restored, with its kernel; `docs/wire/sealed.md` describes
/// the consequences.
#[derive(Debug)]
pub(super) struct Witness {
    socket: OwnedFd,
    identity: (u64, u64),
    tick: (i64, i64),
}

impl Witness {
    /// `socket` is a descriptor of any socket that this process has made.
    pub(super) fn new(socket: OwnedFd) -> Result<Self, TransportError> {
        let identity = identity(&socket)
            .map_err(|e| TransportError::environment("looking at the socket of the wire", e))?;
        Ok(Self {
            identity,
            socket,
            tick: tick(),
        })
    }

    /// Whether the socket is still the same.
    #[inline]
    fn is_intact(&mut self) -> bool {
        let now = tick();
        now == self.tick || self.look(now)
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self, now: (i64, i64)) -> bool {
        self.tick = now;
        identity(&self.socket) == Ok(self.identity)
    }
}

fn tick() -> (i64, i64) {
    let now = rustix::time::clock_gettime(ClockId::MonotonicCoarse);
    (now.tv_sec, now.tv_nsec)
}

fn identity(fd: &impl AsFd) -> rustix::io::Result<(u64, u64)> {
    let stat = rustix::fs::fstat(fd)?;
    Ok((stat.st_dev, stat.st_ino))
}

/// The numbers of the frames that a PE seals, one sequence for each peer.
///
/// They lie in [`ProcessWords`], so a forked child finds none. A `Witness` guards them, so a restored
/// process draws none either.
#[derive(Debug)]
pub struct FrameNumbers {
    fork_guard: ForkGuard,
    /// By peer, 1 more than the next number; 0 when none is left.
    next: ProcessWords,
    witness: Option<Witness>,
}

impl FrameNumbers {
    /// One number for each word of `next`.
    ///
    /// # Errors
    /// [`TransportError::Environment`]: under this emulator a child of a bare `clone` would find the
    /// numbers and seal frames under them.
    pub fn new(fork_guard: ForkGuard, next: ProcessWords) -> Result<Self, TransportError> {
        if !next.are_wiped_by_kernel() {
            let what = "keeping the numbers of encrypted frames from copies of this process";
            let missing = "this emulator ignores MADV_WIPEONFORK, so a copy could encrypt other frames \
                           under the same numbers; run PEs of several hosts without the emulator, or set \
                           HOSTWIRE_INSECURE_WIRE=1 for all PEs to send frames that are not encrypted";
            let fault = EnvironmentFault::Unsupported { missing };
            return Err(TransportError::environment(what, fault));
        }
        Ok(Self::from_words(fork_guard, next))
    }

    /// Numbers for so many peers. A process that was restored with another socket than this one draws
    /// none.
    pub(super) fn of(
        fork_guard: &ForkGuard,
        socket: &Socket,
        peers: usize,
    ) -> Result<Self, TransportError> {
        let witness = socket
            .system_socket()
            .try_clone_to_owned()
            .map_err(|e| TransportError::environment("keeping the socket of the wire open", e))?;
        Self::new(fork_guard.clone(), ProcessWords::new(peers)?)?.witnessed(witness)
    }

    fn from_words(fork_guard: ForkGuard, next: ProcessWords) -> Self {
        for word in &*next {
            word.store(1, Ordering::Relaxed);
        }
        Self {
            fork_guard,
            next,
            witness: None,
        }
    }

    /// The same numbers, but a restored process draws none.
    pub(super) fn witnessed(mut self, socket: OwnedFd) -> Result<Self, TransportError> {
        self.witness = Some(Witness::new(socket)?);
        Ok(self)
    }
}

impl Numbers for FrameNumbers {
    #[inline]
    fn next(&mut self, peer: Node) -> Option<u64> {
        if self.witness.as_mut().is_some_and(|it| !it.is_intact()) {
            self.fork_guard.was_restored();
        }
        if self.is_copy() {
            return None;
        }
        let word = self.next.get(peer.0 as usize)?;
        // Only one thread at a time, because `self` is borrowed mutably.
        let next = word.load(Ordering::Relaxed);
        let number = next.checked_sub(1)?;
        word.store(next.wrapping_add(1), Ordering::Relaxed);
        Some(number)
    }

    #[inline]
    fn is_copy(&self) -> bool {
        !self.fork_guard.is_here()
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use hostwire_transport::conformance::copies::{Copying, in_copy};

    use super::*;

    /// Also where [`FrameNumbers::new`] refuses, so that the tests run under emulators.
    fn numbers(fork_guard: &ForkGuard, peers: usize) -> FrameNumbers {
        FrameNumbers::from_words(fork_guard.clone(), ProcessWords::new(peers).unwrap())
    }

    #[test]
    fn there_are_none_where_a_copy_could_keep_them() {
        let fork_guard = || ForkGuard::new(0).unwrap();
        let error =
            FrameNumbers::new(fork_guard(), ProcessWords::new_hooked(2).unwrap()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("HOSTWIRE_INSECURE_WIRE=1"), "{text}");
        let words = ProcessWords::new(2).unwrap();
        let is_kept = words.are_wiped_by_kernel();
        assert_eq!(FrameNumbers::new(fork_guard(), words).is_ok(), is_kept);
    }

    #[test]
    fn numbers_count_for_each_peer_and_end() {
        let fork_guard = ForkGuard::new(0).unwrap();
        let mut numbers = numbers(&fork_guard, 2);
        let drawn: Vec<_> = [0, 1, 0, 0, 1].map(|peer| numbers.next(Node(peer))).into();
        assert_eq!(drawn, [0, 0, 1, 2, 1].map(Some));
        assert_eq!(numbers.next(Node(2)), None);
        numbers.next[1].store(u64::MAX, Ordering::Relaxed);
        assert_eq!(numbers.next(Node(1)), Some(u64::MAX - 1));
        for _ in 0..3 {
            assert_eq!(numbers.next(Node(1)), None);
        }
        assert!(!numbers.is_copy());
    }

    #[test]
    fn a_copy_draws_no_number() {
        for &how in Copying::kinds() {
            let fork_guard = ForkGuard::new(0).unwrap();
            let mut numbers = numbers(&fork_guard, 2);
            assert_eq!(numbers.next(Node(1)), Some(0));
            let status = in_copy(how, || {
                let drawn = numbers.next(Node(1));
                i32::from(drawn.is_some() || !numbers.is_copy())
            });
            assert_eq!(status, Ok(0), "{how:?}");
        }
    }

    /// As the restore of a checkpoint does: another socket under the same descriptor.
    #[test]
    fn a_process_with_other_sockets_than_its_own_draws_no_number() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let fork_guard = ForkGuard::new(3).unwrap();
        let numbers = numbers(&fork_guard, 1);
        let mut numbers = numbers.witnessed(OwnedFd::from(socket)).unwrap();
        assert_eq!(numbers.next(Node(0)), Some(0));
        let before = tick();
        while tick() == before {
            std::thread::yield_now();
        }
        assert_eq!(numbers.next(Node(0)), Some(1));
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let witness = numbers.witness.as_mut().unwrap();
        rustix::io::dup3(&other, &mut witness.socket, rustix::io::DupFlags::CLOEXEC).unwrap();
        let before = tick();
        while tick() == before {
            std::thread::yield_now();
        }
        assert_eq!(numbers.next(Node(0)), None);
        assert!(numbers.is_copy());
        assert_eq!(fork_guard.check(), Err(TransportError::Restored { pe: 3 }));
    }
}
