#![doc = include_str!("../README.md")]
//!
//! # Validity and panics
//!
//! This contract holds for every format of the crate.
//!
//! - A view (`...Packet`, `...Frame`, `...Header`) can only be made by its
//!   `new_checked`. It checks only the length and the fields that decide how the rest
//!   is read. Bytes behind the packet are allowed.
//! - **Nothing panics**, whatever the bytes: no constructor, no accessor, no
//!   setter, no iterator, and not `emit`.
//! - Setters change one field and check nothing across fields. A setter can
//!   therefore make a packet that `parse` refuses; it cannot make one that
//!   panics. Checksums are only recomputed where the docs say so.
//! - A `...Repr` is a packet as a value. `parse` accepts only packets that are valid as
//!   a whole (counts, alignments, block limits, checksums), and `emit` writes only such
//!   packets. `emit` checks before it writes: after an error the buffer is unchanged.
//! - `parse` after `emit` gives the same value. `emit` after `parse` gives the
//!   same bytes, except that reserved bits, which are ignored, come out as 0.
//! - Lengths are in bytes unless the name says otherwise.
#![no_std]
#![forbid(unsafe_code)]

mod bits;
mod crc32;
mod error;
pub mod ht;
pub mod htoe;
pub mod pcapng;
pub mod pcie;

pub use crc32::crc32_ieee;
pub use error::{Error, Result};
