//! Binary event traces.
//!
//! ```text
//! magic "HWTRACE1"
//! u32 number of components, then per component: u32 length, UTF-8 name
//! 24-byte records until the end:
//!   u64 time (ps)   u32 target   u32 source (2^18 - 1: injected)   u64 digest
//! ```
//! Integers are little-endian. A trace costs 15 to 35 % of the speed, so it is
//! off by default; because runs repeat exactly, a run can be made again with
//! the trace on.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use super::component::ComponentId;
use super::time::Ps;

/// First bytes of a trace.
pub const TRACE_MAGIC: [u8; 8] = *b"HWTRACE1";
/// Size of a record.
pub const TRACE_RECORD_BYTES: usize = 24;
/// Longest component name that a reader accepts.
const NAME_BYTES_MAX: u32 = 4096;

/// Which events a trace keeps.
#[derive(Clone, Debug)]
pub struct TraceFilter {
    /// Keep events for these components; `None` keeps all.
    pub components: Option<BTreeSet<ComponentId>>,
    /// Keep events from this time on.
    pub from: Ps,
    /// Keep events before this time.
    pub until: Ps,
}

impl Default for TraceFilter {
    fn default() -> Self {
        TraceFilter {
            components: None,
            from: Ps::ZERO,
            until: Ps::MAX,
        }
    }
}

/// Why a trace could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file system refused.
    #[error("trace: {0}")]
    Io(#[from] io::Error),
    /// Not a trace.
    #[error("not a trace: expected it to begin with \"HWTRACE1\", got {got:?}")]
    Magic {
        /// The first bytes.
        got: [u8; 8],
    },
    /// A component name is too long or not UTF-8.
    #[error("trace: component name {index} is not valid")]
    Name {
        /// Which component.
        index: u32,
    },
    /// The file ends within a record.
    #[error("trace: {bytes} bytes are left at the end, a record has 24")]
    Truncated {
        /// Bytes after the last whole record.
        bytes: usize,
    },
}

pub(super) struct Trace {
    out: io::BufWriter<Box<dyn Write>>,
    filter: TraceFilter,
    records: u64,
    failed: Option<io::Error>,
}

impl Trace {
    pub(super) fn new(
        out: Box<dyn Write>,
        filter: TraceFilter,
        names: &[String],
    ) -> Result<Trace, TraceError> {
        let mut out = io::BufWriter::new(out);
        out.write_all(&TRACE_MAGIC)?;
        out.write_all(&(names.len() as u32).to_le_bytes())?;
        for name in names {
            out.write_all(&(name.len() as u32).to_le_bytes())?;
            out.write_all(name.as_bytes())?;
        }
        Ok(Trace {
            out,
            filter,
            records: 0,
            failed: None,
        })
    }

    pub(super) fn record(
        &mut self,
        time: Ps,
        source: ComponentId,
        target: ComponentId,
        digest: u64,
    ) {
        let wanted = time >= self.filter.from
            && time < self.filter.until
            && self
                .filter
                .components
                .as_ref()
                .is_none_or(|set| set.contains(&target));
        if !wanted || self.failed.is_some() {
            return;
        }
        let mut record = [0; TRACE_RECORD_BYTES];
        record[0..8].copy_from_slice(&time.0.to_le_bytes());
        record[8..12].copy_from_slice(&target.0.to_le_bytes());
        record[12..16].copy_from_slice(&source.0.to_le_bytes());
        record[16..24].copy_from_slice(&digest.to_le_bytes());
        match self.out.write_all(&record) {
            Ok(()) => self.records += 1,
            Err(error) => self.failed = Some(error),
        }
    }

    pub(super) fn finish(mut self) -> Result<u64, TraceError> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        self.out.flush()?;
        Ok(self.records)
    }
}

/// One traced event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// When it was handled.
    pub time: Ps,
    /// Index of the component that handled it.
    pub target: u32,
    /// Index of the component that sent it.
    pub source: u32,
    /// The event's digest.
    pub digest: u64,
}

/// Reads a trace back.
pub struct TraceReader<R> {
    input: R,
    names: Vec<String>,
}

impl<R: Read> TraceReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`TraceError`] if `input` is no trace.
    pub fn new(mut input: R) -> Result<Self, TraceError> {
        let mut got = [0; 8];
        input.read_exact(&mut got)?;
        if got != TRACE_MAGIC {
            return Err(TraceError::Magic { got });
        }
        let count = read_u32(&mut input)?;
        let mut names = Vec::new();
        for index in 0..count {
            let bytes = read_u32(&mut input)?;
            if bytes > NAME_BYTES_MAX {
                return Err(TraceError::Name { index });
            }
            let mut name = vec![0; bytes as usize];
            input.read_exact(&mut name)?;
            names.push(String::from_utf8(name).map_err(|_| TraceError::Name { index })?);
        }
        Ok(TraceReader { input, names })
    }

    /// Names of the components, by index.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// [`TraceError::Truncated`] if the file ends within a record.
    pub fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        let mut record = [0; TRACE_RECORD_BYTES];
        let mut have = 0;
        while have < record.len() {
            match self.input.read(&mut record[have..])? {
                0 if have == 0 => return Ok(None),
                0 => return Err(TraceError::Truncated { bytes: have }),
                got => have += got,
            }
        }
        let u64_at = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&record[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let ids = u64_at(8);
        Ok(Some(TraceRecord {
            time: Ps(u64_at(0)),
            target: ids as u32,
            source: (ids >> 32) as u32,
            digest: u64_at(16),
        }))
    }
}

fn read_u32(input: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}
