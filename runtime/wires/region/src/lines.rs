//! The lines of the PEs of a job: how each shows that it is there, and lives.

use hostwire_transport::memory::Memory;
use hostwire_transport::visibility::Visibility;
use hostwire_transport::window::Window;

use super::format::{Bytes, LINE_BYTES, Mark, PeLine, Span};
use super::{Result, fault};

/// The lines of the PEs of a job.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    window: Window,
}

impl Lines {
    /// The lines in `front`, the part before the segments of a job of `pes` PEs.
    pub(crate) fn new(front: &Memory, pes: u32, contract: Visibility) -> Result<Self> {
        let lines_bytes = pes as usize * LINE_BYTES;
        let memory = front.part(Span::lines_offset_bytes(pes), lines_bytes)?;
        let window = Window::silent(memory, contract);
        Ok(Self { window })
    }

    pub(crate) fn read(&self, pe: u32) -> Result<PeLine> {
        let mut line = [0; LINE_BYTES];
        let at = pe as usize * LINE_BYTES;
        // The mark is stored last, so the rest of the line is there.
        let mark = self.window.load_word(at)?;
        self.window.get(at, &mut line)?;
        let mark = Mark::parse(mark).map_err(fault)?;
        PeLine::parse(&line)
            .map(|line| PeLine { mark, ..line })
            .map_err(fault)
    }

    pub(crate) fn write(&self, pe: u32, line: &PeLine) -> Result<()> {
        write_line(&self.window, pe as usize * LINE_BYTES, &line.emit())?;
        self.window.visibility().quiet();
        Ok(())
    }

    /// Resets the lines of `pes` PEs: none has joined.
    pub(crate) fn zero(&self, pes: u32) -> Result<()> {
        for pe in 0..pes as usize {
            write_line(&self.window, pe * LINE_BYTES, &[0; LINE_BYTES])?;
        }
        self.window.visibility().quiet();
        Ok(())
    }

    pub(crate) fn beat(&self, pe: u32, beat: u64) -> Result<()> {
        let at = pe as usize * LINE_BYTES + PeLine::BEAT_OFFSET_BYTES;
        self.window.put_word(at, beat)
    }
}

/// Stores `bytes` as the line, its first word last.
pub(super) fn write_line(window: &Window, at: usize, bytes: &Bytes) -> Result<()> {
    let (first, rest) = bytes.split_at(8);
    window.put(at + 8, rest)?;
    let first = first.try_into().unwrap_or_default();
    window.put_word(at, u64::from_le_bytes(first))
}
