//! What a PE of this host writes into its queue to the adapter.

use hostwire_transport::fuzzing::kit::{Input, Target, mark, named};

use crate::adapter::fuzzing::{QUEUE_BYTES, RECORD_BYTES, read_all, record_of};

/// How far the PE claims to have written, then the contents of the queue.
pub(super) const QUEUE: Target = Target {
    name: "adapter_queue",
    check: queue,
    seeds: || {
        let script = |written: u64, words: &[u64]| {
            let bytes = words.iter().flat_map(|word| word.to_ne_bytes());
            let head = [u8::MAX].into_iter().chain(written.to_le_bytes());
            head.chain(bytes).collect()
        };
        let store = |pe: u64, len: u64| 1 << 56 | pe << 32 | len;
        let quiet = 2 << 56 | 0xff_ffff << 32;
        named(vec![
            ("store", script(32, &[store(1, 8), 4096, 77, 0])),
            (
                "stores",
                script(64, &[store(1, 8), 4096, 7, 0, store(0, 16), 0, 1, 2]),
            ),
            ("longest", script(16 + (16 << 10), &[store(1, 16 << 10), 0])),
            (
                "quiet",
                script(32, &[quiet, 1, 4 << 56 | 0xff_ffff << 32, 2]),
            ),
            ("cut", script(16, &[store(1, 8), 4096])),
            ("more_than_there_is", script(u64::MAX - 7, &[quiet, 1])),
        ])
    },
    cost: 20,
};

fn queue(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let written = input.number();
    let content = input.rest();
    let content = content.get(..QUEUE_BYTES).unwrap_or(content);
    let seen = read_all(written, content);
    // By hand: one record after the other, until one makes no sense.
    let mut model = Vec::new();
    let mut at = 0_u64;
    while at < written {
        let word = |n: usize| {
            let from = at as usize % QUEUE_BYTES + n * 8;
            let byte = |i| content.get(from + i).copied().unwrap_or(0);
            u64::from_ne_bytes(core::array::from_fn(byte))
        };
        let record = record_of([word(0), word(1)]);
        let len = record.map(|(_, len)| (RECORD_BYTES + len.next_multiple_of(RECORD_BYTES)) as u64);
        match (record, len) {
            (Some(record), Some(len))
                if written - at <= QUEUE_BYTES as u64 && len <= written - at =>
            {
                model.push(Some(record));
                at += len;
            }
            _ => {
                mark("nonsense");
                model.push(None);
                break;
            }
        }
    }
    assert_eq!(seen, model);
}
