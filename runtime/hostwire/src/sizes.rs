//! How large a job and its segments are.

pub use hostwire_bootstrap::PES_MAX;
use hostwire_transport::ring::RING_BYTES_DEFAULT;

/// Sizes that a user may choose; the same for all PEs of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of each message ring: a power of two from 256 to 1 MiB.
    pub ring_bytes: usize,
    /// Bytes of the larger area of the eager buffer of each pair, for messages that are longer than a few lines; the smaller one
    /// has a quarter of that besides. A power of two of at least 4096. With 0 it is as large as the number of PEs allows: 64 KiB for up to 64 PEs, and
    /// less for more. Pages are allocated on first touch.
    pub eager_bytes: usize,
    /// Bytes of eager buffers of a PE that may have memory at a time, where it can be given back: those of at least one pair. With 0 they are
    /// 8 MiB.
    pub eager_memory_bytes: usize,
    /// Bytes of the symmetric heap of each PE. Pages are allocated on first touch.
    pub heap_bytes: usize,
    /// The heap begins at a multiple of this: a power of two, at least 4096.
    pub heap_align_bytes: usize,
    /// Bytes for the static objects of the program, where those are symmetric.
    pub static_bytes: usize,
    /// Bytes that a front keeps for itself.
    pub tool_bytes: usize,
}

impl Sizes {
    /// The defaults.
    pub const USUAL: Self = Self {
        ring_bytes: RING_BYTES_DEFAULT,
        eager_bytes: 0,
        eager_memory_bytes: 0,
        heap_bytes: 256 << 20,
        heap_align_bytes: 4096,
        static_bytes: 0,
        tool_bytes: 0,
    };

    /// What [`each`](Self::each) size is the size of.
    pub const NAMES: [&str; 7] = [
        "message rings",
        "eager buffers",
        "memory for all eager buffers",
        "a symmetric heap",
        "a heap that begins at a multiple",
        "static objects",
        "room for its front",
    ];

    /// All sizes, in bytes.
    pub fn each(&self) -> [usize; 7] {
        let Self {
            ring_bytes,
            eager_bytes,
            eager_memory_bytes,
            heap_bytes,
            heap_align_bytes,
            static_bytes,
            tool_bytes,
        } = *self;
        [
            ring_bytes,
            eager_bytes,
            eager_memory_bytes,
            heap_bytes,
            heap_align_bytes,
            static_bytes,
            tool_bytes,
        ]
    }
}

impl Default for Sizes {
    fn default() -> Self {
        Self::USUAL
    }
}
