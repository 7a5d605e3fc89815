//! Private memory of another station, which the receiver copies in one copy.
//!
//! The kernel copies between processes (`process_vm_readv`) where it permits one process to read the
//! other. The call takes a process number, which is not reliable: the process may have ended, and its
//! number may belong to another one, or it may run another program. So each station keeps its key in a
//! [`Proof`] and publishes the address. Every copy also reads the key, in the same call and after the
//! bytes. If the key is right, the bytes came from that station, and the station was still open: it wipes
//! the key before it gives its buffers back, and the kernel wipes it in copies of the process.
//!
//! Addresses of a station are only used as arguments of this call, so a wrong one can only give wrong
//! bytes in a message of that station.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use hostwire_transport::error::TransportError;
use hostwire_transport::fork_guard::ProcessWords;
use hostwire_transport::memory::Memory;
use hostwire_transport::os::neighbour::{peer_process, read_memory, read_memory_at};
use hostwire_transport::shm::key::Key;

/// Where a station keeps its key for those that copy from its memory.
#[derive(Debug)]
pub(super) struct Proof(ProcessWords);

impl Proof {
    pub(super) fn new(key: Key) -> Result<Self, TransportError> {
        let proof = Self(ProcessWords::new(2)?);
        proof.store(key.to_words());
        Ok(proof)
    }

    /// Its address in this process.
    pub(super) fn address(&self) -> u64 {
        self.0.as_ptr() as u64
    }

    /// Ends copies by peers: copies that succeeded before this returns are complete.
    pub(super) fn wipe(&self) {
        self.store([0; 2]);
        std::sync::atomic::fence(Ordering::SeqCst);
    }

    fn store(&self, words: [u64; 2]) {
        for (place, word) in self.0.iter().zip(words) {
            place.store(word, Ordering::Release);
        }
    }
}

/// The memory of another station.
#[derive(Debug)]
pub(super) struct Beside {
    process: libc::pid_t,
    proof_at: u64,
    key: Key,
    /// The kernel has refused, or the process is not that station any more.
    is_closed: AtomicBool,
}

impl Beside {
    /// The memory of the station at the other end, with the address of its key. `None` if it cannot be
    /// copied.
    pub(super) fn of(socket: &OwnedFd, proof_at: u64, key: Key) -> Option<Self> {
        let process = (proof_at != 0).then(|| peer_process(socket))??;
        Some(Self::new(process, proof_at, key))
    }

    fn new(process: libc::pid_t, proof_at: u64, key: Key) -> Self {
        Self {
            process,
            proof_at,
            key,
            is_closed: AtomicBool::new(false),
        }
    }

    /// See [`PrivateCopies::copy_private`](hostwire_transport::wire::PrivateCopies::copy_private).
    pub(super) fn copy(&self, address: u64, dst: &mut [u8]) -> bool {
        let len = dst.len();
        self.read(len, |proof| {
            read_memory(self.process, (address, dst), (self.proof_at, proof))
        })
    }

    /// See [`PrivateCopies::copy_private_to`](hostwire_transport::wire::PrivateCopies::copy_private_to).
    pub(super) fn copy_to(
        &self,
        address: u64,
        (memory, offset_bytes, len): (&Memory, usize, usize),
    ) -> bool {
        let Ok(at) = memory.range(offset_bytes, len) else {
            return false;
        };
        self.read(len, |proof| {
            let proof = (self.proof_at, proof);
            // SAFETY: `range` has checked that the bytes are there, `memory` keeps them, and no reference
            // to them exists.
            unsafe { read_memory_at(self.process, (address, at, len), proof) }
        })
    }

    fn read(&self, len: usize, copy: impl FnOnce(&mut [u64]) -> std::io::Result<usize>) -> bool {
        if self.is_closed.load(Ordering::Relaxed) {
            return false;
        }
        let mut proof = [0; 2];
        let read = copy(&mut proof);
        let is_all = match &read {
            Ok(read) => *read == len + size_of_val(&proof),
            Err(_) => false,
        };
        let is_it = is_all && self.key.is(Key::from_words(proof[0], proof[1]));
        // Memory that the kernel cannot read, for example of a device, says nothing about other memory.
        let is_refused = matches!(&read, Err(e) if e.raw_os_error() != Some(libc::EFAULT));
        if is_refused || (is_all && !is_it) {
            self.is_closed.store(true, Ordering::Relaxed);
        }
        is_it
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> libc::pid_t {
        std::process::id().cast_signed()
    }

    #[test]
    fn bytes_come_with_the_key_and_not_without() {
        let key = Key::new(0x1234_5678 << 60 | 9);
        let proof = Proof::new(key).unwrap();
        let data: Vec<u8> = (0..9000).map(|i| i as u8).collect();
        let at = data.as_ptr() as u64;
        let mut got = vec![0; 9000];
        let beside = Beside::new(own(), proof.address(), key);
        assert!(beside.copy(at, &mut got) && got == data);
        // No memory is there: this only concerns this message.
        assert!(!beside.copy(8, &mut got));
        assert!(beside.copy(at + 1, &mut got[1..10]) && got[1..10] == data[1..10]);
        let other = Beside::new(own(), proof.address(), Key::new(9));
        assert!(!other.copy(at, &mut got));
        // An address of the key without memory.
        assert!(!Beside::new(own(), 8, key).copy(at, &mut got));
        assert!(!Beside::new(i32::MAX, proof.address(), key).copy(at, &mut got));
        proof.wipe();
        assert!(!beside.copy(at, &mut got));
        proof.store(key.to_words());
        assert!(!beside.copy(at, &mut got), "it was gone once");
    }

    #[test]
    fn a_copy_of_the_process_has_no_proof() {
        use hostwire_transport::conformance::copies::{Copying, in_copy};
        let proof = Proof::new(Key::new(5 << 64 | 6)).unwrap();
        let status = in_copy(Copying::Fork, || {
            i32::from(proof.0.iter().any(|word| word.load(Ordering::Relaxed) != 0))
        });
        assert_eq!(status, Ok(0));
    }
}
