//! The receive ring of a packet socket (`packet(7)`, version 2): memory that the kernel
//! fills. A check for a frame is a load, and no frame is copied.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};
use std::io;
use std::os::fd::BorrowedFd;

use hostwire_packet::htoe::ethernet::MacAddress;

use super::super::option;
use super::stranger::Stranger;
use super::{BATCH_FRAMES, Came, Received, Take};

const RING_BYTES: usize = 8 << 20;
const BLOCK_BYTES: usize = 64 << 10;
const ALIGN_BYTES: usize = 16;
/// Where the kernel puts the sender of a frame.
const SENDER_AT: usize = size_of::<libc::tpacket2_hdr>().next_multiple_of(ALIGN_BYTES);
/// Room before the frame: both headers and a gap for a link-layer header.
const HEADROOM_BYTES: usize =
    (SENDER_AT + size_of::<libc::sockaddr_ll>() + 16).next_multiple_of(ALIGN_BYTES) + ALIGN_BYTES;

/// The receive ring: places of one size. The first word of a place says whether the kernel or this process owns it.
#[derive(Debug)]
pub(super) struct Ring {
    base: NonNull<u8>,
    place_bytes: usize,
    /// How many frames it holds.
    pub(super) frames: usize,
    next: usize,
}

// SAFETY: the mapping belongs to this value alone, and only `&mut self` reads it.
unsafe impl Send for Ring {}

impl Ring {
    /// A ring for frames of up to `frame_len` bytes.
    pub(super) fn new(socket: BorrowedFd<'_>, frame_len: usize) -> io::Result<Self> {
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        // SAFETY: it reads an int.
        unsafe { option::set(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)? };
        // Divides the size of a block: both are powers of two, and frames are at most 9000 bytes long.
        let place_bytes = (HEADROOM_BYTES + frame_len).next_power_of_two().max(2048);
        let frames = RING_BYTES / place_bytes;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: (RING_BYTES / BLOCK_BYTES) as u32,
            tp_frame_size: place_bytes as u32,
            tp_frame_nr: frames as u32,
        };
        // SAFETY: it reads a `tpacket_req`, which has no addresses.
        unsafe { option::set(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)? };
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory of
        // this process.
        let base = unsafe {
            rustix::mm::mmap(
                core::ptr::null_mut(),
                RING_BYTES,
                rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
                rustix::mm::MapFlags::SHARED,
                socket,
                0,
            )
        }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            base,
            place_bytes,
            frames,
            next: 0,
        })
    }

    /// Whether the next place is still the kernel's.
    pub(super) fn is_empty(&self) -> bool {
        self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER == 0
    }

    fn place(&self) -> NonNull<u8> {
        // SAFETY: `next` is less than `frames`, and so many places are mapped.
        unsafe { self.base.add(self.next * self.place_bytes) }
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: a place begins with this word, at a multiple of 2048 bytes; kernel and
        // process pass it back and forth by it, and only access it atomically.
        unsafe { self.place().cast::<AtomicU32>().as_ref() }
    }

    /// Gives the next frame and its sender to `take`, if there is one, and then returns its place to the kernel.
    pub(super) fn next(&mut self, take: impl FnOnce(Origin, &mut [u8])) -> bool {
        if self.is_empty() {
            return false;
        }
        let place = self.place();
        let len = self.place_bytes - size_of::<AtomicU32>();
        // SAFETY: a place is longer than that.
        let behind = unsafe { place.add(size_of::<AtomicU32>()) };
        // SAFETY: the place is this process's now: until it is given back below, nobody
        // else reads or writes it, so an exclusive reference to its bytes is sound. All of
        // it is mapped, and it begins behind the word that stays shared.
        let bytes = unsafe { core::slice::from_raw_parts_mut(behind.as_ptr(), len) };
        if let Some((from, frame)) = frame_in(bytes) {
            take(from, frame);
        }
        self.status()
            .store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next += 1;
        if self.next == self.frames {
            self.next = 0;
        }
        true
    }
}

/// Where a frame comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    station: MacAddress,
    /// It was sent to another station, and the switch has sent it here, too.
    is_overheard: bool,
}

/// Gives received frames to `take`, up to a bound. `of` returns the sender, the number of its host, if known, and the
/// part that is the frame.
pub(super) fn receive<Sender: Copy>(
    ring: &mut Ring,
    stranger: &mut Stranger<Sender>,
    take: &mut Take<'_>,
    mut of: impl for<'a> FnMut(MacAddress, &'a mut [u8]) -> Option<(Sender, Option<u32>, &'a mut [u8])>,
) -> Received {
    let mut received = Received::default();
    for _ in 0..BATCH_FRAMES {
        let taken = ring.next(|origin, frame| match of(origin.station, frame) {
            Some((_, Some(host), frame)) => {
                received.frames += 1;
                take(Came::unmarked(host), frame);
            }
            Some((sender, None, frame)) => {
                received.strangers += 1;
                // A frame to another interface does not show that its sender can be reached from this one.
                if !origin.is_overheard {
                    stranger.keep(sender, frame);
                }
            }
            None => received.strangers += 1,
        });
        if !taken {
            break;
        }
    }
    received
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly what `new` mapped; no reference into it outlives `next`.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), RING_BYTES) };
    }
}

/// The sender and the bytes of the frame in a place. `bytes` is the place without its first word. `None` if the place
/// makes no sense.
pub(crate) fn frame_in(bytes: &mut [u8]) -> Option<(Origin, &mut [u8])> {
    const STATUS_BYTES: usize = size_of::<u32>();
    // struct tpacket2_hdr: status, len, snaplen (u32), mac, net (u16).
    const SNAPLEN_AT: usize = 8 - STATUS_BYTES;
    const NET_AT: usize = 14 - STATUS_BYTES;
    // struct sockaddr_ll: the kind of packet, and the address, its last field, of 8 bytes.
    const KIND_AT: usize = SENDER_AT + 10 - STATUS_BYTES;
    const STATION_AT: usize = SENDER_AT + 12 - STATUS_BYTES;
    let len = u32::from_ne_bytes(*bytes.get(SNAPLEN_AT..)?.first_chunk()?) as usize;
    let net = u16::from_ne_bytes(*bytes.get(NET_AT..)?.first_chunk()?);
    let station = MacAddress(*bytes.get(STATION_AT..)?.first_chunk()?);
    let is_overheard = *bytes.get(KIND_AT)? == libc::PACKET_OTHERHOST;
    let start = usize::from(net).checked_sub(STATUS_BYTES)?;
    let frame = bytes.get_mut(start..)?.get_mut(..len)?;
    let origin = Origin {
        station,
        is_overheard,
    };
    Some((origin, frame))
}

const _: () = assert!(core::mem::offset_of!(libc::tpacket2_hdr, tp_snaplen) == 8);
const _: () = assert!(core::mem::offset_of!(libc::tpacket2_hdr, tp_net) == 14);
const _: () = assert!(core::mem::offset_of!(libc::sockaddr_ll, sll_pkttype) == 10);
const _: () = assert!(core::mem::offset_of!(libc::sockaddr_ll, sll_addr) == 12);
