//! A capture file that grows as blocks are added, up to a limit.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hostwire_packet::pcapng::{Block, LinkType, Resolution};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::RecordCounters;
use crate::error::PeId;

/// Bytes that are buffered before they are written. Always whole blocks, so that the file ends
/// with one.
const BUFFER_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct CaptureFile {
    file: File,
    buffer: Vec<u8>,
    /// Packets in the buffer.
    buffered: u64,
    /// Bytes that may still be added, without the last block.
    room_bytes: u64,
    is_full: bool,
    is_finished: bool,
    /// Why a part could not be written.
    pub(super) failed: Option<io::Error>,
    pub(super) counters: RecordCounters,
}

impl CaptureFile {
    /// A new file for what PE `pe` sends, in the place of an older one. Only its owner may read
    /// it: it has the contents of memory. Does not follow a link: in a folder of several users it
    /// may belong to another user, and lead to any file of this user.
    pub(super) fn create(path: &Path, pe: PeId, limit_bytes: u64) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let file = options.open(path).map_err(|error| {
            match Errno::from_io_error(&error) {
                Some(Errno::LOOP) => io::Error::other(
                    "it is a symbolic link, which is not followed: remove it, or name another folder",
                ),
                _ => error,
            }
        })?;
        let last = statistics(0, 0).buffer_len() as u64;
        let mut file = Self {
            file,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            buffered: 0,
            room_bytes: limit_bytes.saturating_sub(last),
            is_full: false,
            is_finished: false,
            failed: None,
            counters: RecordCounters::default(),
        };
        file.append(&Block::Section {
            application: concat!("hostwire ", env!("CARGO_PKG_VERSION")),
        });
        file.append(&Block::Interface {
            link_type: LinkType::Ethernet,
            name: &format!("PE {pe}"),
            resolution: Resolution::Nanoseconds,
        });
        Ok(file)
    }

    /// Adds a packet if there is room for it. After the first packet that does not fit, no packet
    /// is added: a recording has no gaps.
    pub(super) fn add(&mut self, packet: &Block<'_>) {
        self.is_full |= packet.buffer_len() as u64 > self.room_bytes;
        if self.is_full {
            self.counters.left_out += 1;
            return;
        }
        self.append(packet);
        self.buffered += 1;
        self.counters.recorded += 1;
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush();
        }
    }

    /// Writes the buffer. If that fails, nothing more is recorded, because the end of a block may
    /// be missing.
    pub(super) fn flush(&mut self) {
        let written = self.file.write_all(&self.buffer);
        if let Err(error) = written {
            self.failed.get_or_insert(error);
            self.is_full = true;
            self.is_finished = true;
            self.counters.recorded -= self.buffered;
            self.counters.left_out += self.buffered;
        }
        self.buffer.clear();
        self.buffered = 0;
    }

    /// Writes the buffer, and the number of missing packets once.
    pub(super) fn finish(&mut self, time: u64) {
        self.flush();
        if !self.is_finished {
            self.is_finished = true;
            self.append(&statistics(time, self.counters.left_out));
            self.flush();
        }
    }

    /// Everything goes to another file from now on.
    #[cfg(test)]
    pub(super) fn break_off(&mut self, path: &str) {
        self.file = OpenOptions::new().write(true).open(path).unwrap();
    }

    fn append(&mut self, block: &Block<'_>) {
        let (begin, len) = (self.buffer.len(), block.buffer_len());
        self.buffer.resize(begin + len, 0);
        let place = self.buffer.get_mut(begin..).unwrap_or_default();
        // It is as long as the block, and frames are shorter than any limit.
        let emitted = block.emit(place);
        debug_assert_eq!(emitted, Ok(len));
        self.room_bytes = self.room_bytes.saturating_sub(len as u64);
    }
}

const fn statistics(time: u64, dropped: u64) -> Block<'static> {
    Block::Statistics {
        interface: 0,
        time,
        dropped,
    }
}
