//! What the program's own code reads before it calls the detector, and which addresses are symmetric.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use hostwire::PeId;

use crate::runtime::Runtime;

/// The values that an access reads before it makes a call: `csrc/race.c` has the same
/// in C.
#[repr(C)]
struct View {
    /// Whether the detector is on.
    is_on: AtomicU32,
    /// Buffers of non-blocking operations in private memory.
    open: AtomicU32,
    /// Whether the program reports its loads and stores. A constructor of each file that was compiled so sets it.
    is_instrumented: AtomicU32,
    /// Whether there are threads, as the program has reported; set by the program.
    threads: AtomicU32,
    /// First and last address of: the heap, the static objects, the segments of all PEs.
    ranges: [[AtomicUsize; 2]; 3],
}

static VIEW: View = View {
    is_on: AtomicU32::new(0),
    open: AtomicU32::new(0),
    is_instrumented: AtomicU32::new(0),
    threads: AtomicU32::new(0),
    ranges: [const { [const { AtomicUsize::new(0) }; 2] }; 3],
};

core::arch::global_asm!(
    ".globl shmemx_race_1",
    ".type shmemx_race_1, %object",
    ".size shmemx_race_1, {}",
    ".set shmemx_race_1, {}",
    const size_of::<View>(),
    sym VIEW,
);

/// From now on accesses are looked at.
pub(super) fn watch(runtime: &Runtime) {
    let segment_bytes = runtime.attachment.layout().segment_bytes();
    let all = match runtime.mapped {
        Some((first, stride)) => [first, first + stride * runtime.attachment.pes() as usize],
        None => {
            let near = runtime.near.iter().flatten();
            let (first, last) = (near.clone().min(), near.max());
            [
                first.copied().unwrap_or(0),
                last.map_or(0, |last| last + segment_bytes),
            ]
        }
    };
    let of = |region: &crate::fast::Region| [region.address, region.address + region.len_bytes];
    let ranges = [of(&runtime.heap_region), of(&runtime.statics), all];
    for (to, from) in VIEW.ranges.iter().flatten().zip(ranges.iter().flatten()) {
        to.store(*from, Relaxed);
    }
    VIEW.is_on.store(1, Relaxed);
}

pub(super) fn look_away() {
    VIEW.is_on.store(0, Relaxed);
}

pub(super) fn is_instrumented() -> bool {
    VIEW.is_instrumented.load(Relaxed) != 0
}

pub(super) fn set_open(buffers: usize) {
    VIEW.open.store(buffers as u32, Relaxed);
}

/// Whose memory `len` bytes at an address of this process are, and where in a segment, if they
/// are symmetric.
pub(super) fn symmetric(runtime: &Runtime, address: usize, len: usize) -> Option<(PeId, usize)> {
    if let Some(offset) = runtime.locate(address, len) {
        return Some((runtime.attachment.pe(), offset));
    }
    let is_symmetric = |offset: usize| {
        [runtime.heap_region, runtime.statics].iter().any(|region| {
            let at = offset.wrapping_sub(region.offset);
            at <= region.len_bytes && len <= region.len_bytes - at
        })
    };
    let (pe, offset) = match runtime.mapped {
        Some((first, stride)) => {
            let distance = address.checked_sub(first)?;
            (distance / stride, distance % stride)
        }
        None => {
            let segment_bytes = runtime.attachment.layout().segment_bytes();
            let mut near = runtime.near.iter().enumerate();
            near.find_map(|(pe, at)| {
                let offset = address.checked_sub((*at)?)?;
                (offset < segment_bytes).then_some((pe, offset))
            })?
        }
    };
    let is_there = pe < runtime.attachment.pes() as usize && is_symmetric(offset);
    is_there.then_some((pe as PeId, offset))
}
