//! For tests: whose eager buffers have memory.

use rustix::fs::{SeekFrom, seek};

use super::Messages;

/// What eager buffers take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Buffers that may bring messages, and whose memory can be given back.
    pub(crate) open: usize,
    /// Bytes of all buffers that have memory.
    pub(crate) bytes: usize,
}

impl Messages {
    pub(crate) fn set_eager_rooms(&mut self, most: usize) {
        self.rooms.set_most(most);
    }

    pub(crate) fn eager_memory(&self) -> Memory {
        let segment = self.wire.segment();
        let begin = self.layout.eager(0).offset_bytes;
        let len = self.layout.segment_bytes() - begin;
        let part = segment.memory().part(begin, len).expect("eager buffers");
        let (file, first) = part.file().expect("memory in a file");
        let end = first + len as u64;
        let (mut at, mut bytes) = (first, 0);
        while let Ok(data) = seek(file, SeekFrom::Data(at)) {
            at = seek(file, SeekFrom::Hole(data)).expect("a hole");
            bytes += at.min(end).saturating_sub(data);
            if at >= end {
                break;
            }
        }
        Memory {
            open: self.rooms.open(),
            bytes: bytes as usize,
        }
    }
}
