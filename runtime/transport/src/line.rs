//! A line: 64 bytes that a wire stores as one, a header of 8 bytes and a payload. See
//! `Wire::store_line`.

/// Bytes of a line behind its header.
pub const PAYLOAD_BYTES: usize = 56;

const _: () = assert!(PAYLOAD_BYTES + size_of::<u64>() == 64);
