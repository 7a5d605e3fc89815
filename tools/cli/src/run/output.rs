//! Merges the lines of many PEs into one stream; no line is torn, as long as there is room for them.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use hostwire_transport::visible;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The most bytes of lines without an end that are held back, for all PEs together. docs/launchers.md names it.
const HELD_BYTES_MAX: usize = 64 << 20;
/// A pipe that polls as writable takes this much without blocking.
const PIPE_BYTES: usize = 4096;
/// While so many bytes wait to be written, no more are read from the PEs.
const QUEUE_BYTES_MAX: usize = 1 << 20;

/// Merges what PEs write. Whole lines pass as they are; a part of a line is held back until its end
/// arrives or the PE closes its output. Beyond [`HELD_BYTES_MAX`] the longest part passes. An unfinished
/// line that did pass is finished by a newline before another PE's text follows.
#[derive(Debug)]
pub struct Merger {
    label: bool,
    stamps: bool,
    /// One PE, no label and no stamps: there is nothing to merge.
    verbatim: bool,
    held: BTreeMap<u32, Vec<u8>>,
    held_bytes: usize,
    held_bytes_max: usize,
    /// The PE that wrote the unfinished line at the end of `merged`.
    unfinished: Option<Source>,
    merged: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Pe(u32),
    Launcher,
}

impl Merger {
    /// A merger for `pes` PEs that begins each line with the PE if `label`, and with the virtual
    /// time if `stamps`.
    pub fn new(pes: u32, label: bool, stamps: bool) -> Merger {
        Merger {
            label,
            stamps,
            verbatim: pes == 1 && !label && !stamps,
            held: BTreeMap::new(),
            held_bytes: 0,
            held_bytes_max: HELD_BYTES_MAX,
            unfinished: None,
            merged: Vec::new(),
        }
    }

    /// Takes what `pe` wrote, and when; the time is used for stamps alone.
    pub fn write(&mut self, pe: u32, bytes: &[u8], at_ps: u64) {
        let end = match bytes.iter().rposition(|byte| *byte == b'\n') {
            _ if self.verbatim => bytes.len(),
            Some(end) => end + 1,
            None => 0,
        };
        let (complete, rest) = bytes.split_at(end);
        if !complete.is_empty() {
            self.end(pe, at_ps);
            self.emit_of(pe, complete, at_ps);
        }
        if !rest.is_empty() {
            self.held.entry(pe).or_default().extend_from_slice(rest);
            self.held_bytes += rest.len();
        }
        while self.held_bytes > self.held_bytes_max {
            let longest = self.held.iter().max_by_key(|(_, held)| held.len());
            let Some((&longest, _)) = longest else { break };
            self.end(longest, at_ps);
        }
    }

    /// `pe` writes no more after `at_ps`: its held output passes.
    pub fn end(&mut self, pe: u32, at_ps: u64) {
        if let Some(rest) = self.held.remove(&pe) {
            self.held_bytes -= rest.len();
            self.emit_of(pe, &rest, at_ps);
        }
    }

    /// A line of the launcher's own.
    pub fn note(&mut self, text: &str) {
        let line = format!("hostwire: {}\n", visible(text));
        self.emit(Source::Launcher, line.as_bytes(), "");
    }

    /// What lines of a PE begin with. All times have the same unit and the same number of decimals.
    fn label_of(&self, pe: u32, at_ps: u64) -> String {
        let mut label = String::new();
        if self.stamps {
            label += &format!("[{}.{:03} ns] ", at_ps / 1_000, at_ps % 1_000);
        }
        if self.label {
            label += &format!("[{pe}] ");
        }
        label
    }

    fn emit_of(&mut self, pe: u32, bytes: &[u8], at_ps: u64) {
        let label = self.label_of(pe, at_ps);
        self.emit(Source::Pe(pe), bytes, &label);
    }

    /// Begins each line with `label`.
    fn emit(&mut self, source: Source, bytes: &[u8], label: &str) {
        if bytes.is_empty() {
            return;
        }
        if self.unfinished.is_some_and(|before| before != source) {
            self.merged.push(b'\n');
            self.unfinished = None;
        }
        if label.is_empty() {
            self.merged.extend_from_slice(bytes);
        } else {
            let mut at_start = self.unfinished.is_none();
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                if std::mem::replace(&mut at_start, true) {
                    self.merged.extend_from_slice(label.as_bytes());
                }
                self.merged.extend_from_slice(line);
            }
        }
        self.unfinished = (bytes.last() != Some(&b'\n')).then_some(source);
    }
}

/// One of the launcher's own outputs, written to without ever blocking.
#[derive(Debug)]
pub struct Sink {
    fd: BorrowedFd<'static>,
    pub merger: Merger,
    written: usize,
    broken: Option<Errno>,
}

impl Sink {
    /// Writes what `merger` merges to `fd`.
    pub fn new(fd: BorrowedFd<'static>, merger: Merger) -> Sink {
        Sink {
            fd,
            merger,
            written: 0,
            broken: None,
        }
    }

    /// Where it writes.
    pub fn fd(&self) -> BorrowedFd<'static> {
        self.fd
    }

    /// Whether something waits to be written.
    pub fn is_pending(&self) -> bool {
        self.merger.merged.len() > self.written
    }

    /// Whether output has to be written before more is read.
    pub fn is_full(&self) -> bool {
        self.merger.merged.len() - self.written > QUEUE_BYTES_MAX
    }

    /// The error after which nothing can be written; further output is dropped.
    pub fn broken(&self) -> Option<Errno> {
        self.broken
    }

    /// Drops what is pending and all that comes.
    pub fn abandon(&mut self) {
        self.broken = Some(Errno::PIPE);
        self.flush();
    }

    /// Writes as much as can be written without waiting.
    pub fn flush(&mut self) {
        while self.broken.is_none() && self.is_pending() && self.is_writable() {
            let pending = self.merger.merged.get(self.written..).unwrap_or_default();
            // The descriptor may be shared with other processes, so it is not
            // ours to make non-blocking.
            let piece = pending.get(..PIPE_BYTES).unwrap_or(pending);
            match rustix::io::write(self.fd, piece) {
                Ok(n) => self.written += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(errno) => self.broken = Some(errno),
            }
        }
        if self.broken.is_some() || !self.is_pending() {
            self.merger.merged.clear();
            self.written = 0;
        } else if self.written > QUEUE_BYTES_MAX {
            self.merger.merged.drain(..self.written);
            self.written = 0;
        }
    }

    fn is_writable(&self) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::OUT)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        matches!(poll(&mut fds, Some(&now)), Ok(n) if n > 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merged(merger: &Merger) -> &str {
        std::str::from_utf8(&merger.merged).unwrap()
    }

    #[test]
    fn lines_are_not_torn() {
        let mut merger = Merger::new(2, false, false);
        merger.write(0, b"he", 0);
        merger.write(1, b"good ", 0);
        merger.write(0, b"llo\nhow ", 0);
        merger.write(1, b"bye\n", 0);
        assert_eq!(merged(&merger), "hello\ngood bye\n");
        merger.end(0, 0);
        merger.end(1, 0);
        assert_eq!(merged(&merger), "hello\ngood bye\nhow ");
        merger.note("the end");
        assert_eq!(
            merged(&merger),
            "hello\ngood bye\nhow \nhostwire: the end\n"
        );
    }

    #[test]
    fn each_line_is_labelled_once() {
        let mut merger = Merger::new(3, true, false);
        merger.write(2, b"a\nb\n\nc", 0);
        merger.write(0, b"d\n", 0);
        merger.end(2, 0);
        merger.write(0, b"e\n", 0);
        assert_eq!(merged(&merger), "[2] a\n[2] b\n[2] \n[0] d\n[2] c\n[0] e\n");
    }

    #[test]
    fn lines_have_the_time_of_their_ends() {
        let mut merger = Merger::new(1, true, true);
        merger.write(0, b"a\nb", 1_500);
        merger.write(0, b"c\n", 2_000_007);
        assert_eq!(merged(&merger), "[1.500 ns] [0] a\n[2000.007 ns] [0] bc\n");
    }

    #[test]
    fn one_pe_passes_byte_by_byte() {
        let mut merger = Merger::new(1, false, false);
        merger.write(0, b"name? ", 0);
        assert_eq!(merged(&merger), "name? ");
        merger.write(0, b"\0\xff", 0);
        assert_eq!(merger.merged, b"name? \0\xff");
    }

    #[test]
    fn the_longest_line_passes_in_pieces_when_there_is_no_room() {
        let mut merger = Merger::new(3, true, false);
        merger.held_bytes_max = 8;
        merger.write(0, b"longest", 0);
        merger.write(1, b"a", 0);
        assert_eq!(merged(&merger), "");
        merger.write(2, b"b", 0);
        assert_eq!(merged(&merger), "[0] longest");
        merger.write(0, b" line\n", 0);
        assert_eq!(merged(&merger), "[0] longest line\n");
        merger.write(1, b"234567", 0);
        merger.write(2, b"\n", 0);
        merger.end(1, 0);
        assert_eq!(merged(&merger), "[0] longest line\n[2] b\n[1] a234567");
    }

    proptest! {
        #[test]
        fn every_pe_finds_its_own_lines_in_order(
            writes in proptest::collection::vec((0u32..3, "[a-c\n]{0,6}"), 0..60)
        ) {
            let mut merger = Merger::new(3, true, false);
            let mut wrote = [String::new(), String::new(), String::new()];
            for (pe, text) in &writes {
                merger.write(*pe, text.as_bytes(), 0);
                wrote[*pe as usize].push_str(text);
            }
            for (pe, text) in (0..).zip(&wrote) {
                merger.end(pe, 0);
                let label = format!("[{pe}] ");
                let lines: Vec<&str> =
                    merged(&merger).lines().filter_map(|line| line.strip_prefix(&label)).collect();
                prop_assert_eq!(lines, text.lines().collect::<Vec<_>>());
            }
        }
    }
}
