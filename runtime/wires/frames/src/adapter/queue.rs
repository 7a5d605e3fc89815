//! The queue from a PE to its adapter: records in shared memory, written by the PE and read by the adapter.
//!
//! A record is 16 bytes. The bytes of a store follow, padded to a multiple of 16:
//!
//! | bits of the first word | |
//! |---|---|
//! | 63 to 56 | kind |
//! | 55 to 32 | PE, or all |
//! | 31 to 0 | length in bytes |
//!
//! The second word is the address of a store, or the number of a question. Positions count from the beginning
//! and never wrap, so a full queue and an empty one differ.

use hostwire_transport::error::PeId;
use hostwire_transport::memory::Memory;

use super::memory::AdapterMemory;

/// Bytes of the queue of a PE: a stream keeps going while the adapter sends a few batches of frames,
/// and the queues of a host stay in its caches. Fitted.
pub(super) const QUEUE_BYTES: usize = 128 << 10;
/// Most bytes of a record: a longer store takes several.
pub(super) const PIECE_BYTES: usize = 16 << 10;
pub(super) const HEAD_BYTES: usize = 16;
/// The PE of questions that concern all.
const EVERYBODY: u32 = (1 << 24) - 1;

const STORE: u64 = 1;
const QUIET: u64 = 2;
const COUNT: u64 = 3;
const FINISH: u64 = 4;

/// What a record asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    /// Bytes to be stored at an address of a PE.
    Store { pe: PeId, address: u64, len: usize },
    /// To be answered when all earlier stores have arrived, at the host of one PE or at all.
    Quiet { pe: Option<PeId>, question: u64 },
    /// To be answered when all counters have been written.
    Count { question: u64 },
    /// The last record: to be answered when all earlier stores have arrived.
    Finish { question: u64 },
}

impl Record {
    pub(super) fn to_words(self) -> [u64; 2] {
        let words = |kind: u64, pe: u32, len: usize, second| {
            [kind << 56 | u64::from(pe) << 32 | len as u64, second]
        };
        match self {
            Self::Store { pe, address, len } => words(STORE, pe, len, address),
            Self::Quiet { pe, question } => words(QUIET, pe.unwrap_or(EVERYBODY), 0, question),
            Self::Count { question } => words(COUNT, EVERYBODY, 0, question),
            Self::Finish { question } => words(FINISH, EVERYBODY, 0, question),
        }
    }

    /// `None` for words that no PE writes.
    pub(super) fn from_words([first, second]: [u64; 2]) -> Option<Self> {
        let pe = (first >> 32) as u32 & EVERYBODY;
        let len = (first & u64::from(u32::MAX)) as usize;
        match (first >> 56, len) {
            (STORE, 1..=PIECE_BYTES) => Some(Self::Store {
                pe,
                address: second,
                len,
            }),
            (QUIET, 0) => Some(Self::Quiet {
                pe: (pe != EVERYBODY).then_some(pe),
                question: second,
            }),
            (COUNT, 0) if pe == EVERYBODY => Some(Self::Count { question: second }),
            (FINISH, 0) if pe == EVERYBODY => Some(Self::Finish { question: second }),
            _ => None,
        }
    }

    const fn bytes(self) -> usize {
        match self {
            Self::Store { len, .. } => HEAD_BYTES + len.next_multiple_of(HEAD_BYTES),
            _ => HEAD_BYTES,
        }
    }
}

/// The side of the PE.
#[derive(Debug)]
pub(super) struct Writer {
    memory: Memory,
    adapter_memory: AdapterMemory,
    local: u32,
    /// How much has been written, and how much of it has been shown.
    written: u64,
    shown: u64,
    /// How far the adapter had read at the last look.
    read: u64,
}

impl Writer {
    pub(super) fn new(memory: Memory, adapter_memory: AdapterMemory, local: u32) -> Self {
        let shown = adapter_memory.written(local);
        let read = adapter_memory.read(local);
        Self {
            memory,
            written: shown,
            shown,
            read,
            adapter_memory,
            local,
        }
    }

    /// Writes a record with its bytes if there is room. The adapter does not see it before it is
    /// [shown](Self::show).
    #[inline]
    pub(super) fn write(&mut self, record: Record, data: &[u8]) -> bool {
        let bytes = record.bytes();
        if !self.has_room(bytes) {
            return false;
        }
        let at = place(self.written);
        let [first, second] = record.to_words();
        let mut head = [0; HEAD_BYTES];
        head[..8].copy_from_slice(&first.to_ne_bytes());
        head[8..].copy_from_slice(&second.to_ne_bytes());
        // Positions are multiples of a head.
        let mut stored = self.memory.copy_in(at, &head);
        let begin = place(self.written + HEAD_BYTES as u64);
        let (front, behind) = data.split_at(data.len().min(QUEUE_BYTES - begin));
        stored = stored.and(self.memory.copy_in(begin, front));
        if !behind.is_empty() {
            stored = stored.and(self.memory.copy_in(0, behind));
        }
        debug_assert_eq!(stored, Ok(()));
        self.written += bytes as u64;
        true
    }

    #[inline]
    fn has_room(&mut self, bytes: usize) -> bool {
        let fits = |read: u64| {
            // The adapter's count is not trusted: at worst the queue looks full.
            let used = self.written.wrapping_sub(read);
            used <= (QUEUE_BYTES - bytes) as u64
        };
        if fits(self.read) {
            return true;
        }
        let read = self.adapter_memory.read(self.local);
        let has_room = fits(read);
        self.read = read;
        has_room
    }

    /// From now on the adapter sees everything that has been written.
    #[inline]
    pub(super) fn show(&mut self) {
        if self.shown != self.written {
            self.shown = self.written;
            self.adapter_memory.set_written(self.local, self.written);
            self.adapter_memory.window().notify();
        }
    }
}

#[inline]
const fn place(position: u64) -> usize {
    (position % QUEUE_BYTES as u64) as usize
}

/// The side of the adapter.
#[derive(Debug)]
pub(super) struct Reader {
    memory: Memory,
    adapter_memory: AdapterMemory,
    local: u32,
    read: u64,
    /// How far the PE knows that the adapter has read.
    said: u64,
    /// Bytes of the first record that have been handled.
    done: usize,
}

/// The first entry of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    Record(Record),
    Nothing,
    /// No PE writes this, so nothing after it can be understood.
    Nonsense,
}

impl Reader {
    pub(super) fn new(memory: Memory, adapter_memory: AdapterMemory, local: u32) -> Self {
        let read = adapter_memory.read(local);
        Self {
            memory,
            adapter_memory,
            local,
            read,
            said: read,
            done: 0,
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.adapter_memory.written(self.local) == self.read
    }

    /// The record that is first.
    pub(super) fn first(&self) -> First {
        let there = self
            .adapter_memory
            .written(self.local)
            .wrapping_sub(self.read);
        if there == 0 {
            return First::Nothing;
        }
        let mut head = [0; HEAD_BYTES];
        let copied = self.memory.copy_out(place(self.read), &mut head);
        debug_assert_eq!(copied, Ok(()));
        let (first, second) = head.split_at(HEAD_BYTES / 2);
        let word = |half: &[u8]| half.try_into().map_or(0, u64::from_ne_bytes);
        match Record::from_words([word(first), word(second)]) {
            Some(record) if there <= QUEUE_BYTES as u64 && record.bytes() as u64 <= there => {
                First::Record(record)
            }
            _ => First::Nonsense,
        }
    }

    /// The bytes of the first record, a store, that have not been handled yet, and how many have been.
    pub(super) fn rest<'a>(
        &self,
        len: usize,
        room: &'a mut [u8; PIECE_BYTES],
    ) -> (&'a [u8], usize) {
        let done = self.done.min(len);
        let len = len - done;
        let begin = place(self.read + (HEAD_BYTES + done) as u64);
        let front = len.min(QUEUE_BYTES - begin);
        let Some(room) = room.get_mut(..len) else {
            return (&[], done);
        };
        let (first, second) = room.split_at_mut(front);
        let mut copied = self.memory.copy_out(begin, first);
        if !second.is_empty() {
            copied = copied.and(self.memory.copy_out(0, second));
        }
        debug_assert_eq!(copied, Ok(()));
        (room, done)
    }

    /// `len` more of them have been handled.
    pub(super) const fn did(&mut self, len: usize) {
        self.done += len;
    }

    /// The first record, which is `record`, has been handled.
    pub(super) const fn pass(&mut self, record: Record) {
        self.read += record.bytes() as u64;
        self.done = 0;
    }

    /// Tells the PE how much has been read. Returns whether that is news.
    pub(super) fn say(&mut self) -> bool {
        let is_news = self.said != self.read;
        if is_news {
            self.said = self.read;
            self.adapter_memory.set_read(self.local, self.read);
        }
        is_news
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::super::memory::tests::adapter_memory;
    use super::*;

    fn store(len: usize) -> Record {
        Record::Store {
            pe: 4095,
            address: u64::MAX - 7,
            len,
        }
    }

    #[test]
    fn literal_words() {
        let words = |record: Record| record.to_words();
        assert_eq!(words(store(9)), [0x0100_0fff_0000_0009, u64::MAX - 7]);
        let quiet = |pe| Record::Quiet { pe, question: 5 };
        assert_eq!(words(quiet(Some(1))), [0x0200_0001_0000_0000, 5]);
        assert_eq!(words(quiet(None)), [0x02ff_ffff_0000_0000, 5]);
        for record in [
            store(1),
            store(PIECE_BYTES),
            quiet(None),
            quiet(Some(0)),
            Record::Count { question: 1 },
            Record::Finish { question: 2 },
        ] {
            assert_eq!(Record::from_words(words(record)), Some(record));
        }
        for bad in [
            [0, 0],
            [STORE << 56, 0],
            [STORE << 56 | (PIECE_BYTES as u64 + 1), 0],
            [QUIET << 56 | 1, 0],
            [COUNT << 56, 0],
            [FINISH << 56, 0],
            [5 << 56, 0],
        ] {
            assert_eq!(Record::from_words(bad), None, "{bad:x?}");
        }
    }

    #[test]
    fn what_is_not_shown_is_not_seen() {
        let adapter_memory = adapter_memory(2, 2, 1);
        let (mut writer, reader) = (
            adapter_memory.writer(0).unwrap(),
            adapter_memory.reader(0).unwrap(),
        );
        assert!(writer.write(store(5), b"hello"));
        assert_eq!(reader.first(), First::Nothing);
        writer.show();
        assert_eq!(reader.first(), First::Record(store(5)));
        let mut room = [0; PIECE_BYTES];
        assert_eq!(reader.rest(5, &mut room), (&b"hello"[..], 0));
    }

    #[test]
    fn nonsense_is_noticed() {
        let adapter_memory = adapter_memory(2, 2, 1);
        let reader = adapter_memory.reader(0).unwrap();
        // A PE that claims to have written more than it has.
        for written in [16, 1 << 40, u64::MAX] {
            adapter_memory.set_written(0, written);
            assert_eq!(reader.first(), First::Nonsense, "{written}");
        }
        let mut writer = adapter_memory.writer(0).unwrap();
        adapter_memory.set_read(0, 1 << 50);
        writer.read = 1 << 50;
        assert!(
            !writer.write(store(5), b"hello"),
            "an adapter that has read more than there is"
        );
    }

    proptest! {
        /// Compared with a queue of the standard library, many times around the memory.
        #[test]
        fn records_come_out_as_they_went_in(
            steps in proptest::collection::vec((any::<bool>(), 1_usize..=PIECE_BYTES, any::<u8>(), 1_usize..5000), 1..200)
        ) {
            let adapter_memory = adapter_memory(2, 2, 1);
            let (mut writer, mut reader) = (adapter_memory.writer(0).unwrap(), adapter_memory.reader(0).unwrap());
            let mut model: VecDeque<(Record, Vec<u8>)> = VecDeque::new();
            let mut room = [0; PIECE_BYTES];
            for (write, len, byte, part) in steps {
                if write {
                    let data: Vec<u8> = (0..len).map(|at| byte.wrapping_add(at as u8)).collect();
                    let used: usize = model.iter().map(|(record, _)| record.bytes()).sum();
                    let fits = used + store(len).bytes() <= QUEUE_BYTES;
                    prop_assert_eq!(writer.write(store(len), &data), fits);
                    if fits {
                        model.push_back((store(len), data));
                    }
                    writer.show();
                    continue;
                }
                let Some((record, data)) = model.pop_front() else {
                    prop_assert_eq!(reader.first(), First::Nothing);
                    continue;
                };
                prop_assert_eq!(reader.first(), First::Record(record));
                let mut got: Vec<u8> = Vec::new();
                while got.len() < data.len() {
                    let (rest, done) = reader.rest(data.len(), &mut room);
                    prop_assert_eq!(done, got.len());
                    let taken = part.min(rest.len());
                    got.extend(&rest[..taken]);
                    reader.did(taken);
                }
                prop_assert_eq!(got, data);
                reader.pass(record);
                prop_assert!(reader.say());
            }
        }
    }
}
