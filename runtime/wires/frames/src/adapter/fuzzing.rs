//! Access for the fuzz target of the queue.

use super::memory::AdapterMemory;
use super::queue::{self, First, PIECE_BYTES, Record};

/// The size of a record. The bytes after it are padded to a multiple of this.
pub(crate) const RECORD_BYTES: usize = queue::HEAD_BYTES;
pub(crate) const QUEUE_BYTES: usize = queue::QUEUE_BYTES;

/// A record as two words, and the bytes that follow it.
pub(crate) type Seen = ([u64; 2], usize);

/// The record that these words mean, if a PE may write them.
pub(crate) fn record_of(words: [u64; 2]) -> Option<Seen> {
    let record = Record::from_words(words)?;
    Some((words, len_of(record)))
}

const fn len_of(record: Record) -> usize {
    match record {
        Record::Store { len, .. } => len,
        _ => 0,
    }
}

/// All records of a queue with this content, if the PE says that it has written `written`
/// bytes. `None` for a word that makes no sense; reading ends there.
pub(crate) fn read_all(written: u64, content: &[u8]) -> Vec<Option<Seen>> {
    let file = AdapterMemory::create(2, 2, 1).expect("memory");
    let adapter_memory = AdapterMemory::open(&file, 2, 2, 1).expect("the same job");
    adapter_memory.fill_queue(0, content);
    adapter_memory.set_written(0, written);
    let mut reader = adapter_memory.reader(0).expect("one PE");
    let mut seen = Vec::new();
    let mut room = [0; PIECE_BYTES];
    loop {
        match reader.first() {
            First::Nothing => return seen,
            First::Nonsense => {
                seen.push(None);
                return seen;
            }
            First::Record(record) => {
                let (rest, done) = reader.rest(len_of(record), &mut room);
                assert_eq!((rest.len(), done), (len_of(record), 0));
                seen.push(Some((record.to_words(), len_of(record))));
                reader.pass(record);
                reader.say();
            }
        }
    }
}
