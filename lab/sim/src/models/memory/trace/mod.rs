//! Traces: what real programs did to memory, as text.
//!
//! Two formats. `docs/sim/pgas.md` describes the simple one; the other is what Valgrind's
//! tool lackey writes with `--trace-mem=yes`. `tools/memory-trace/record.sh` records.
//!
//! ```
//! use hostwire_sim::engine::Ps;
//! use hostwire_sim::models::memory::trace::{Event, Format, Reader};
//!
//! let text = "==1== Lackey\nI  04000000,3\n L 1000,8\n M 1008,4\n";
//! let events: Result<Vec<Event>, _> = Reader::new(text.as_bytes(), Format::Lackey).collect();
//! assert_eq!(events?.len(), 4, "an instruction, a load; M is a load and a store");
//! # Ok::<(), hostwire_sim::models::memory::trace::TraceError>(())
//! ```

mod line;
mod replay;

use std::io::{BufRead, Read};

use super::Access;

pub use line::Wrong;
pub use replay::{ReplayError, Replayed, replay};

/// Longest line of a trace.
const LINE_BYTES_MAX: u64 = 4096;

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `load 0x1000 8`, `store 4096 8`, `modify 0x1000 8`, `work 12`.
    Simple,
    /// Valgrind: ` L 1000,8`, ` S 1000,8`, ` M 1000,8`, `I  4000,3`.
    Lackey,
}

/// One event of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A load or store.
    Access(Access),
    /// So many instructions.
    Instructions(u64),
}

/// Why a trace cannot be read any further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A line is not as the format wants it.
    #[error("line {line}: {wrong}")]
    Line {
        /// From 1.
        line: u64,
        /// What is wrong with it.
        wrong: Wrong,
    },
    /// The file cannot be read.
    #[error("line {line}: {cause}")]
    Read {
        /// From 1.
        line: u64,
        /// The error of the system.
        cause: std::io::Error,
    },
}

/// Reads a trace, line by line. Ends after the first error.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    format: Format,
    line: u64,
    text: Vec<u8>,
    /// The second half of a modification.
    pending: Option<Event>,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// A trace in `format`.
    pub fn new(input: R, format: Format) -> Self {
        Self {
            input,
            format,
            line: 0,
            text: Vec::new(),
            pending: None,
            ended: false,
        }
    }

    fn read(&mut self) -> Result<Option<Event>, TraceError> {
        loop {
            self.line += 1;
            let line = self.line;
            self.text.clear();
            // One byte more, to see that it is one too many.
            let mut limited = self.input.by_ref().take(LINE_BYTES_MAX + 1);
            let read = limited.read_until(b'\n', &mut self.text);
            let bytes = read.map_err(|cause| TraceError::Read { line, cause })?;
            if bytes == 0 {
                return Ok(None);
            }
            let parsed = match bytes as u64 > LINE_BYTES_MAX {
                true => Err(Wrong::TooLong {
                    bytes_max: LINE_BYTES_MAX,
                }),
                false => line::parse(&self.text, self.format),
            };
            match parsed.map_err(|wrong| TraceError::Line { line, wrong })? {
                [None, _] => {}
                [first, second] => {
                    self.pending = second;
                    return Ok(first);
                }
            }
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Event, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(event) = self.pending.take() {
            return Some(Ok(event));
        }
        if self.ended {
            return None;
        }
        let event = self.read().transpose();
        self.ended = !matches!(event, Some(Ok(_)));
        event
    }
}
