//! Reading a trace back. Nothing in the file is trusted.

use std::io::{self, Read};

use crate::engine::id::ComponentId;
use crate::engine::time::Ps;

use super::{END, TARGET_BITS, TRACE_MAGIC, TRACE_RECORD_BYTES, TraceError, TraceRecord};

/// Longest name that a reader accepts.
const NAME_BYTES_MAX: u32 = 4096;

/// Reads a trace back.
pub struct TraceReader<R> {
    input: Counted<R>,
    names: Vec<String>,
    kinds: Vec<String>,
    last: Ps,
    records: u64,
    ended: bool,
}

impl<R: Read> TraceReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`TraceError`] if `input` is no trace.
    pub fn new(input: R) -> Result<Self, TraceError> {
        let mut input = Counted { input, offset: 0 };
        let mut got = [0; TRACE_MAGIC.len()];
        let len = input.fill(&mut got)?;
        if got != TRACE_MAGIC {
            let got = got.get(..len).unwrap_or_default().to_vec();
            return Err(TraceError::Magic { got });
        }
        Ok(TraceReader {
            names: input.names("component")?,
            kinds: input.names("kind")?,
            input,
            last: Ps::ZERO,
            records: 0,
            ended: false,
        })
    }

    /// Names of the components, by index.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Names of the kinds of events, by their numbers.
    pub fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// The next record; `None` at the end. Its components and its kind have names.
    ///
    /// # Errors
    /// [`TraceError::NoEnd`] if nothing says that this is the end; [`TraceError::End`] or
    /// [`TraceError::Behind`] if it is the end of another trace; [`TraceError::Record`] if a record
    /// names no component or kind, or lies before the one before it.
    pub fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        if self.ended {
            return Ok(None);
        }
        let offset = self.input.offset;
        let mut record = [0; TRACE_RECORD_BYTES];
        let bytes = self.input.fill(&mut record)?;
        if bytes < TRACE_RECORD_BYTES {
            return Err(TraceError::NoEnd {
                events: self.records,
                last: self.last,
                offset,
                bytes,
            });
        }
        let u64_at = |at: usize| {
            let bytes = record.get(at..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        if record.starts_with(&END) {
            return self.end(u64_at(16), offset);
        }
        let ids = u64_at(8);
        let record = TraceRecord {
            time: Ps(u64_at(0)),
            target: ids as u32 & ((1 << TARGET_BITS) - 1),
            source: Some((ids >> 32) as u32).filter(|&id| id != ComponentId::EXTERNAL.0),
            kind: (ids >> TARGET_BITS) as u8,
            digest: u64_at(16),
        };
        self.check(&record, offset)?;
        self.last = record.time;
        self.records += 1;
        Ok(Some(record))
    }

    fn end(&mut self, expected: u64, offset: u64) -> Result<Option<TraceRecord>, TraceError> {
        let got = self.records;
        if expected != got {
            return Err(TraceError::End {
                offset,
                expected,
                got,
            });
        }
        let offset = self.input.offset;
        match self.input.fill(&mut [0])? {
            0 => {
                self.ended = true;
                Ok(None)
            }
            _ => Err(TraceError::Behind { offset }),
        }
    }

    fn check(&self, record: &TraceRecord, offset: u64) -> Result<(), TraceError> {
        let broken = |expected: String, got: u64| TraceError::Record {
            offset,
            expected,
            got,
        };
        let named =
            |number: u64, names: &[String], what: &str| match (number as usize) < names.len() {
                true => Ok(()),
                false => Err(broken(format!("one of {} {what}s", names.len()), number)),
            };
        named(record.target.into(), &self.names, "component")?;
        if let Some(source) = record.source {
            named(source.into(), &self.names, "component")?;
        }
        named(record.kind.into(), &self.kinds, "kind")?;
        if record.time < self.last {
            let expected = format!("a time of {} ps or more", self.last.0);
            return Err(broken(expected, record.time.0));
        }
        Ok(())
    }
}

/// An input that knows how far it has been read.
struct Counted<R> {
    input: R,
    offset: u64,
}

impl<R: Read> Counted<R> {
    /// Fills `buffer`, or as much of it as there is.
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut have = 0;
        while let Some(rest) = buffer.get_mut(have..).filter(|rest| !rest.is_empty()) {
            match self.input.read(rest) {
                Ok(0) => break,
                Ok(got) => have += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.offset += have as u64;
        Ok(have)
    }

    fn names(&mut self, what: &'static str) -> Result<Vec<String>, TraceError> {
        let count = self.u32(what)?;
        let mut names = Vec::new();
        for index in 0..count {
            let offset = self.offset;
            let wrong = TraceError::Name {
                offset,
                what,
                index,
            };
            let bytes = self.u32(what)?;
            if bytes > NAME_BYTES_MAX {
                return Err(wrong);
            }
            let mut name = vec![0; bytes as usize];
            self.whole(&mut name, what)?;
            names.push(String::from_utf8(name).map_err(|_| wrong)?);
        }
        Ok(names)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, TraceError> {
        let mut bytes = [0; 4];
        self.whole(&mut bytes, what)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn whole(&mut self, buffer: &mut [u8], what: &'static str) -> Result<(), TraceError> {
        let len = self.fill(buffer)?;
        match len == buffer.len() {
            true => Ok(()),
            false => Err(TraceError::Header {
                offset: self.offset,
                what,
            }),
        }
    }
}
