//! Binary event traces.
//!
//! ```text
//! magic "HWTRACE3"
//! u32 number of components, then per component: u32 length, UTF-8 name
//! u32 number of kinds of events, then per kind: u32 length, UTF-8 name
//! 24-byte records:
//!   u64 time (ps)   u24 target   u8 kind   u32 source (2^18 - 1: injected)   u64 digest
//! the end: 16 bytes 0xff   u64 number of records
//! ```
//! Integers are little-endian. Times do not run backwards. A trace without the end is one of a run that
//! was killed: events are missing. A trace costs 15 to 35 % of the speed, so
//! it is off by default; because runs repeat exactly, a run can be made again with the trace on.

mod reader;
mod writer;

pub use reader::TraceReader;
pub(super) use writer::Trace;

use std::collections::BTreeSet;
use std::io;

use super::id::ComponentId;
use super::time::Ps;

/// First bytes of a trace.
pub const TRACE_MAGIC: [u8; 8] = *b"HWTRACE3";
/// Size of a record.
pub const TRACE_RECORD_BYTES: usize = 24;
/// What the end has instead of a time, a target, a kind and a source: no record begins like that,
/// because no trace names so many components.
const END: [u8; 16] = [0xff; 16];
/// Bits of a record's target, below its kind.
const TARGET_BITS: u32 = 24;

/// Which events a trace keeps, and from when its times count.
#[derive(Clone, Debug)]
pub struct TraceFilter {
    /// Keep events for these components; `None` keeps all.
    pub components: Option<BTreeSet<ComponentId>>,
    /// Keep events of these kinds, by their place in [`Event::KINDS`](super::Event::KINDS); `None`
    /// keeps all.
    pub kinds: Option<BTreeSet<u8>>,
    /// Times of the trace count from here on, those of this filter as well. Earlier events are not
    /// kept.
    pub origin: Ps,
    /// Keep events from this time on.
    pub from: Ps,
    /// Keep events before this time.
    pub until: Ps,
}

impl Default for TraceFilter {
    fn default() -> Self {
        TraceFilter {
            components: None,
            kinds: None,
            origin: Ps::ZERO,
            from: Ps::ZERO,
            until: Ps::MAX,
        }
    }
}

/// Why a trace could not be written or read. Offsets are in bytes from the begin of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file system refused.
    #[error("event trace: {0}")]
    Io(#[from] io::Error),
    /// Not a trace, or one of another version.
    #[error(
        "not an event trace of this version: expected it to begin with \"HWTRACE3\", got \"{}\"",
        got.escape_ascii()
    )]
    Magic {
        /// The first bytes: fewer than eight, if there are no more.
        got: Vec<u8>,
    },
    /// A name is too long or not UTF-8.
    #[error(
        "event trace: at byte {offset}: name {index} of a {what} is longer than 4096 bytes or no text"
    )]
    Name {
        /// Where it begins.
        offset: u64,
        /// Whose name it is.
        what: &'static str,
        /// Which one.
        index: u32,
    },
    /// The file ends within its names.
    #[error("event trace: cut off at byte {offset}, within the names of its {what}s")]
    Header {
        /// Length of the file.
        offset: u64,
        /// Whose names they are.
        what: &'static str,
    },
    /// The file has no end: the run that wrote it was killed, or a part of the file was lost.
    #[error(
        "event trace: the trace has no end: the run was cut off after {}; {} \
         at byte {offset}",
        seen(*events, *last),
        left(*bytes)
    )]
    NoEnd {
        /// Events before that.
        events: u64,
        /// When the last of them was.
        last: Ps,
        /// Where the last whole record ends.
        offset: u64,
        /// Bytes after it: less than a record.
        bytes: usize,
    },
    /// The end is not that of these records.
    #[error(
        "event trace: the end at byte {offset} is that of {expected} events, and there are {got}"
    )]
    End {
        /// Where it is.
        offset: u64,
        /// The number in it.
        expected: u64,
        /// The number of those that were read.
        got: u64,
    },
    /// Something is behind the end.
    #[error("event trace: at byte {offset}: more is behind the end")]
    Behind {
        /// Where.
        offset: u64,
    },
    /// A record says what cannot be.
    #[error("event trace: the record at byte {offset} is broken: expected {expected}, got {got}")]
    Record {
        /// Where it begins.
        offset: u64,
        /// What was expected.
        expected: String,
        /// What is there.
        got: u64,
    },
}

fn seen(events: u64, last: Ps) -> String {
    match events {
        0 => "no event".to_owned(),
        1 => format!("1 event, at {} ns", last.as_ns()),
        _ => format!("{events} events, the last at {} ns", last.as_ns()),
    }
}

fn left(bytes: usize) -> String {
    match bytes {
        0 => "the file ends".to_owned(),
        1 => "1 byte is left".to_owned(),
        _ => format!("{bytes} bytes are left"),
    }
}

/// What stands behind the last of so many records.
pub(crate) fn end_of(records: u64) -> [u8; TRACE_RECORD_BYTES] {
    let mut end = [0; TRACE_RECORD_BYTES];
    let (mark, count) = end.split_at_mut(END.len());
    mark.copy_from_slice(&END);
    count.copy_from_slice(&records.to_le_bytes());
    end
}

/// One traced event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// When it was handled.
    pub time: Ps,
    /// Index of the component that handled it.
    pub target: u32,
    /// Index of the component that sent it; `None` if it was injected.
    pub source: Option<u32>,
    /// Its kind: a place in [`TraceReader::kinds`].
    pub kind: u8,
    /// The event's digest.
    pub digest: u64,
}
