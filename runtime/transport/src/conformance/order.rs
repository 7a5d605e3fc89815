//! The order in which stores are seen.

use super::pe::{AREA, rounds};
use super::{Random, Testbed, run};
use crate::sync::{Ordering, fence};
use crate::wire::{Line, Part};

const FLAG: usize = AREA;
const TAKEN: usize = AREA + 64;
const LINE: usize = AREA + 128;
const DATA: usize = AREA + 256;

/// An aligned word is never seen in part: by `store_word`, and by a `store` of 4 or 8
/// aligned bytes.
pub fn words_come_in_one_piece(fabric: &dyn Testbed, pes: u32) {
    const ROUNDS: u32 = rounds(2000) as u32;
    run(fabric, pes, |pe| {
        for way in 0..3 {
            for round in 1..=ROUNDS {
                let half = (round % 2).wrapping_neg();
                let word = u64::from(half) << 32 | u64::from(half);
                match way {
                    0 => pe.wire.store_word(pe.right(), DATA, word),
                    1 => pe.wire.store(pe.right(), DATA, &word.to_ne_bytes()),
                    _ => pe.wire.store(pe.right(), DATA + 4, &half.to_ne_bytes()),
                }
                .unwrap();
                let seen = pe.word(DATA);
                let (low, high) = (seen as u32, (seen >> 32) as u32);
                let whole = |part: u32| part == 0 || part == u32::MAX;
                assert!(whole(low) && whole(high), "{seen:x}");
                assert!(way == 2 || low == high, "{seen:x}");
            }
            pe.meet();
            pe.wire.store_word(pe.pe, DATA, 0).unwrap();
            pe.meet();
        }
    });
}

/// A word comes after all earlier stores to the same PE, with no fence between them.
pub fn words_come_after_earlier_stores(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        for round in 1..=rounds(200) {
            let sizes = sizes(round);
            let mut at = DATA;
            for size in sizes {
                pe.wire
                    .store(pe.right(), at, &vec![round as u8; size])
                    .unwrap();
                at += size;
            }
            pe.wire.store_word(pe.right(), FLAG, round).unwrap();
            pe.until(|| pe.word(FLAG) >= round);
            let len = sizes.iter().sum();
            assert!(
                pe.bytes(DATA, len) == vec![round as u8; len],
                "round {round}"
            );
            pe.wire.store_word(pe.left(), TAKEN, round).unwrap();
            pe.until(|| pe.word(TAKEN) >= round);
        }
    });
}

fn sizes(round: u64) -> [usize; 3] {
    let mut random = Random::new(round);
    [7, 100, 5000].map(|limit| random.below(limit))
}

/// Within a line, the header comes after the payload.
pub fn headers_come_after_their_payload(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        for round in 1..=rounds(500) {
            let len = (round * 13 % 57) as usize;
            let payload = vec![round as u8; len];
            pe.wire
                .store_line(pe.right(), LINE, round, &payload)
                .unwrap();
            pe.until(|| pe.word(LINE) >= round);
            assert_eq!(pe.bytes(LINE + 8, len), payload, "round {round}");
            pe.wire.store_word(pe.left(), TAKEN, round).unwrap();
            pe.until(|| pe.word(TAKEN) >= round);
        }
    });
}

/// Stores behind a fence come after those before it, whatever their length.
pub fn stores_behind_a_fence_come_later(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        for round in 1..=rounds(200) {
            let (first, second) = (sizes(round), sizes(round + 1000)[2].max(1));
            let first = first.iter().sum::<usize>();
            let far = DATA + 20_000;
            pe.wire
                .store(pe.right(), DATA, &vec![round as u8; first])
                .unwrap();
            match round % 2 {
                0 => pe.wire.fence(),
                _ => pe.wire.fence_of(pe.right()),
            }
            .unwrap();
            pe.wire
                .store(pe.right(), far, &vec![round as u8; second])
                .unwrap();
            pe.push();
            // Any byte of the second shows that all of the first has arrived.
            let last = far + second - 1;
            pe.until(|| pe.bytes(last, 1) == [round as u8]);
            // Bytes are not loaded in order.
            fence(Ordering::Acquire);
            assert!(
                pe.bytes(DATA, first) == vec![round as u8; first],
                "round {round}"
            );
            pe.wire.store_word(pe.left(), TAKEN, round).unwrap();
            pe.until(|| pe.word(TAKEN) >= round);
        }
    });
}

/// A line behind bytes comes after all of them, whatever their length.
pub fn lines_come_after_the_bytes_before_them(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        for round in 1..=rounds(200) {
            let sizes = sizes(round).map(|size| size + 1);
            let len = sizes.iter().sum();
            let data = vec![round as u8; len];
            let mut at = 0;
            let mut parts = sizes.iter().map(|size| {
                at += size;
                Part {
                    offset_bytes: DATA + at - size,
                    bytes: &data[at - size..at],
                }
            });
            let payload = [round as u8; 24];
            let line = Line {
                offset_bytes: LINE,
                header: round,
                payload: &payload,
            };
            pe.wire.store_behind(pe.right(), &mut parts, line).unwrap();
            pe.push();
            pe.until(|| pe.word(LINE) >= round);
            assert_eq!(pe.bytes(LINE + 8, 24), payload, "round {round}");
            assert!(pe.bytes(DATA, len) == data, "round {round}");
            pe.wire.store_word(pe.left(), TAKEN, round).unwrap();
            pe.until(|| pe.word(TAKEN) >= round);
        }
    });
}

/// After quiet, a store is visible at its target, whichever PE informs the target.
pub fn what_is_quiet_is_visible(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        let (writer, target, herald) = (0, 1 % pe.pes, 2 % pe.pes);
        for round in 1..=rounds(50) {
            if pe.pe == writer {
                let data = vec![round as u8; 3000];
                pe.wire.store(target, DATA, &data).unwrap();
                match round % 2 {
                    0 => pe.wire.quiet(),
                    _ => pe.wire.quiet_of(target),
                }
                .unwrap();
                pe.wire.store_word(herald, FLAG, round).unwrap();
            }
            if pe.pe == herald {
                pe.until(|| pe.word(FLAG) == round);
                pe.wire.store_word(target, FLAG + 8, round).unwrap();
            }
            if pe.pe == target {
                pe.until(|| pe.word(FLAG + 8) == round);
                assert!(pe.bytes(DATA, 3000) == [round as u8; 3000]);
            }
            pe.meet();
        }
    });
}
