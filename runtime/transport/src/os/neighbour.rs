//! Another process of this host: its identity, and its memory as far as the kernel permits.

use std::io::{self, Error};
use std::os::fd::{AsFd, AsRawFd};

/// The process at the other end of a Unix socket, by its process number here, at the time when it connected or began to
/// listen. `None` if it is in another process namespace and has no number here.
pub fn peer_process(socket: impl AsFd) -> Option<libc::pid_t> {
    let mut peer = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to `peer`, which has as many and may have any value,
    // and the length to `len`. The descriptor is borrowed for the call.
    let got = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut len,
        )
    };
    (got == 0 && peer.pid > 0).then_some(peer.pid)
}

/// Copies `dst.len()` bytes of `process` from its address `from`, then `proof.len()` words from `proof_at`:
/// in this order, from the memory of one and the same program. Returns how many bytes there were.
///
/// # Errors
/// Those of process_vm_readv(2): `EPERM` where this process may not, `ESRCH` if there is no such process,
/// `EFAULT` if it has nothing at the first address.
pub fn read_memory(
    process: libc::pid_t,
    (from, dst): (u64, &mut [u8]),
    proof: (u64, &mut [u64]),
) -> io::Result<usize> {
    let (at, len) = (dst.as_mut_ptr(), dst.len());
    // SAFETY: they are borrowed exclusively for the call.
    unsafe { read_memory_at(process, (from, at, len), proof) }
}

/// As [`read_memory`], to `len` bytes at `at`, which others may use at the same time.
///
/// # Errors
/// Those of `read_memory`.
///
/// # Safety
/// `len` bytes at `at` may be written to, and have any value, during the call.
pub unsafe fn read_memory_at(
    process: libc::pid_t,
    (from, at, len): (u64, *mut u8, usize),
    (proof_at, proof): (u64, &mut [u64]),
) -> io::Result<usize> {
    let there = |at: u64, len: usize| libc::iovec {
        iov_base: core::ptr::without_provenance_mut(at as usize),
        iov_len: len,
    };
    let theirs = [
        there(from, len),
        there(proof_at, size_of_val::<[u64]>(proof)),
    ];
    let ours = [
        libc::iovec {
            iov_base: at.cast(),
            iov_len: len,
        },
        libc::iovec {
            iov_base: proof.as_mut_ptr().cast(),
            iov_len: size_of_val::<[u64]>(proof),
        },
    ];
    // SAFETY: the kernel writes to the places of `ours` alone: the first by the promise, and the second is
    // borrowed exclusively for the call and may have any bytes. Those of `theirs` are addresses of the other process: the kernel
    // looks whether anything is there.
    let got = unsafe { libc::process_vm_readv(process, ours.as_ptr(), 2, theirs.as_ptr(), 2, 0) };
    usize::try_from(got).map_err(|_| Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn memory_of_a_process_is_read_with_its_proof_behind_it() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let process = peer_process(&ours).unwrap();
        assert_eq!(u32::try_from(process), Ok(std::process::id()));
        let (data, words) = ([7_u8; 5000], [1_u64, 2]);
        let (mut got, mut proof) = ([0; 5000], [0; 2]);
        let read = read_memory(
            process,
            (data.as_ptr() as u64, &mut got),
            (words.as_ptr() as u64, &mut proof),
        );
        assert_eq!(read.unwrap(), 5016);
        assert_eq!((got, proof), (data, words));
    }

    #[test]
    fn where_nothing_is_the_kernel_says_so() {
        let own = std::process::id().cast_signed();
        let (mut got, mut proof) = ([0; 8], [0; 1]);
        let words = [3_u64];
        let at = words.as_ptr() as u64;
        let error = read_memory(own, (8, &mut got), (at, &mut proof)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
        // The mapped bytes are copied, and the rest is not.
        assert_eq!(
            read_memory(own, (at, &mut got), (8, &mut proof)).unwrap(),
            8
        );
        let nobody = read_memory(i32::MAX, (at, &mut got), (at, &mut proof)).unwrap_err();
        assert_eq!(nobody.raw_os_error(), Some(libc::ESRCH));
    }
}
