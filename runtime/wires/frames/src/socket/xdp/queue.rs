//! An AF_XDP socket of one receive queue of an interface, with memory of its own.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::super::super::option;
use super::rings::{Mapping, Ring};

pub(super) const SEND_PLACES: u32 = 128;

/// See the [module text](self). A forked process has it as well: all of its memory is shared.
#[derive(Debug)]
pub(super) struct Queue {
    // Declared before the memory that it uses, so that it is closed first.
    socket: OwnedFd,
    memory: Mapping,
    fill: Ring<u64>,
    received: Ring<libc::xdp_desc>,
    sending: Ring<libc::xdp_desc>,
    sent: Ring<u64>,
    /// Places for frames to be sent.
    free: Vec<u64>,
    place_bytes: u64,
}

// SAFETY: the memory belongs to this value alone, and only `&mut self` reads or writes it.
unsafe impl Send for Queue {}

impl Queue {
    /// Opens a socket without a queue, with `receive_places` places of `place_bytes` for
    /// received frames, both powers of two.
    pub(super) fn open(receive_places: u32, place_bytes: u64) -> io::Result<Self> {
        // SAFETY: no pointers; the result is checked.
        let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if fd == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a fresh descriptor that nobody else knows.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let places = u64::from(receive_places + SEND_PLACES);
        let memory = Mapping::anonymous((places * place_bytes) as usize)?;
        let registration = libc::xdp_umem_reg {
            addr: memory.address(),
            len: places * place_bytes,
            chunk_size: place_bytes as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        // SAFETY: it reads an `xdp_umem_reg`; the memory that it names is mapped until the
        // socket is closed.
        unsafe { option::set(&socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &registration)? };
        for (ring, entries) in [
            (libc::XDP_UMEM_FILL_RING, receive_places),
            (libc::XDP_UMEM_COMPLETION_RING, SEND_PLACES),
            (libc::XDP_RX_RING, receive_places),
            (libc::XDP_TX_RING, SEND_PLACES),
        ] {
            // SAFETY: each of them reads a number of 32 bits.
            unsafe { option::set(&socket, libc::SOL_XDP, ring, &entries)? };
        }
        let at = offsets(&socket)?;
        let fd = socket.as_fd();
        let mut fill = Ring::map(fd, libc::XDP_UMEM_PGOFF_FILL_RING, &at.fr, receive_places)?;
        let completion = libc::XDP_UMEM_PGOFF_COMPLETION_RING;
        let sent = Ring::map(fd, completion, &at.cr, SEND_PLACES)?;
        let receive_page = libc::XDP_PGOFF_RX_RING as u64;
        let received = Ring::map(fd, receive_page, &at.rx, receive_places)?;
        let send_page = libc::XDP_PGOFF_TX_RING as u64;
        let sending = Ring::map(fd, send_page, &at.tx, SEND_PLACES)?;
        for place in 0..u64::from(receive_places) {
            fill.put(place * place_bytes);
        }
        Ok(Self {
            socket,
            memory,
            fill,
            received,
            sending,
            sent,
            free: (u64::from(receive_places)..places)
                .map(|place| place * place_bytes)
                .collect(),
            place_bytes,
        })
    }

    /// Binds it to a queue.
    pub(super) fn bind(&self, interface: u32, queue: u32) -> io::Result<()> {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_COPY,
            sxdp_ifindex: interface,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        // SAFETY: reads `address`, which outlives the call, with its length.
        let done = unsafe {
            libc::bind(
                self.socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of::<libc::sockaddr_xdp>() as libc::socklen_t,
            )
        };
        match done {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.received.is_empty()
    }

    /// Gives up to `frames_max` received frames, with their Ethernet headers, to `take`.
    /// Returns their number.
    pub(super) fn receive(
        &mut self,
        frames_max: usize,
        mut take: impl FnMut(Option<&mut [u8]>),
    ) -> usize {
        for frames in 0..frames_max {
            let Some(entry) = self.received.take() else {
                return frames;
            };
            // SAFETY: a place that the kernel has filled and given to this process; it is
            // given back below, after the last use.
            take(unsafe { self.memory.bytes(entry.addr, entry.len as usize) });
            // There is room: the ring has as many entries as there are places.
            self.fill.put(entry.addr - entry.addr % self.place_bytes);
        }
        frames_max
    }

    /// Frees the places of frames that have left.
    pub(super) fn reclaim(&mut self) {
        while let Some(place) = self.sent.take() {
            self.free.push(place);
        }
    }

    /// Queues a frame of `len` bytes, which `write` writes, for sending. Returns whether there
    /// was room.
    pub(super) fn put(&mut self, len: usize, write: impl FnOnce(&mut [u8])) -> bool {
        if len as u64 > self.place_bytes {
            return false;
        }
        let Some(place) = self.free.pop() else {
            return false;
        };
        // SAFETY: within a place of those to be sent that the kernel has given back, or never
        // had; nobody else uses it.
        let bytes = unsafe { self.memory.bytes(place, len) };
        let is_put = bytes.is_some_and(|bytes| {
            write(bytes);
            self.sending.put(libc::xdp_desc {
                addr: place,
                len: len as u32,
                options: 0,
            })
        });
        if !is_put {
            self.free.push(place);
        }
        is_put
    }

    /// Has the kernel send queued frames. Frames that it does not take now are sent at the
    /// next call.
    ///
    /// # Errors
    /// If the interface takes nothing, because it is down or gone.
    pub(super) fn kick(&self) -> io::Result<()> {
        // SAFETY: no pointers but null ones with length 0.
        let sent = unsafe {
            libc::sendto(
                self.socket.as_raw_fd(),
                core::ptr::null(),
                0,
                libc::MSG_DONTWAIT,
                core::ptr::null(),
                0,
            )
        };
        match sent {
            -1 => Some(io::Error::last_os_error())
                .filter(|error| matches!(error.raw_os_error(), Some(libc::ENETDOWN | libc::ENXIO)))
                .map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }
}

impl AsFd for Queue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn offsets(socket: &OwnedFd) -> io::Result<libc::xdp_mmap_offsets> {
    // SAFETY: all-zero bytes are an `xdp_mmap_offsets`.
    let mut offsets: libc::xdp_mmap_offsets = unsafe { core::mem::zeroed() };
    let mut len = size_of::<libc::xdp_mmap_offsets>() as libc::socklen_t;
    // SAFETY: writes at most `len` bytes to `offsets`, and the length, both of which outlive
    // the call.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_XDP,
            libc::XDP_MMAP_OFFSETS,
            (&raw mut offsets).cast(),
            &raw mut len,
        )
    };
    match done {
        0 if len as usize == size_of::<libc::xdp_mmap_offsets>() => Ok(offsets),
        0 => Err(io::ErrorKind::Unsupported.into()),
        _ => Err(io::Error::last_os_error()),
    }
}
