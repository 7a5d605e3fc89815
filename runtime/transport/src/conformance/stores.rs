//! Stores arrive where they should, and nowhere else.

use super::pe::{AREA, rounds};
use super::{Random, Testbed, run};
use crate::visibility::Visibility;
use crate::wire::Line;

/// Around words, lines, pages, and the size of any buffer on the way.
const SIZES: &[usize] = &[
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 55, 56, 57, 63, 64, 65, 127, 129, 1000, 4095,
    4096, 4097, 65_537, 1_000_003,
];

/// More than the longest. A model moves words one by one.
const SIZE_LIMIT: usize = if cfg!(memory_model) { 200 } else { 2_000_000 };

fn bytes(maker: u32, purpose: usize, len: usize) -> Vec<u8> {
    Random::new(u64::from(maker) << 32 | purpose as u64).bytes(len)
}

/// A fresh segment is zeroed, and every PE has one of the same size.
pub fn segments_begin_zeroed(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        let memory = pe.wire.segment().memory();
        assert!(memory.len_bytes() >= AREA);
        let all = pe.bytes(AREA, memory.len_bytes() - AREA);
        assert!(all == vec![0; all.len()]);
        pe.meet();
    });
}

/// Bytes arrive unchanged, at any alignment and length, and none beside them change.
pub fn stores_arrive_unchanged(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        let sizes = SIZES.iter().copied().filter(|size| *size < SIZE_LIMIT);
        for (round, size) in sizes.enumerate() {
            let at = AREA + 16 + (round * 7 + size) % 19;
            let clean = vec![0xaa; size + 64];
            pe.wire.store(pe.pe, AREA, &clean).unwrap();
            pe.meet();
            let own = bytes(pe.pe, round, size);
            pe.wire.store(pe.right(), at, &own).unwrap();
            pe.meet();
            let mut expected = clean;
            expected[at - AREA..][..size].copy_from_slice(&bytes(pe.left(), round, size));
            assert!(
                pe.bytes(AREA, size + 64) == expected,
                "{size} bytes at {at}"
            );
            pe.meet();
        }
    });
}

/// A PE may store to itself, through the wire as through its own segment.
pub fn stores_to_oneself_arrive(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        let line: Vec<u8> = (1..=56).collect();
        pe.wire.store(pe.pe, AREA + 3, b"bytes").unwrap();
        pe.wire.store_word(pe.pe, AREA + 64, 7).unwrap();
        pe.wire.store_line(pe.pe, AREA + 128, 9, &line).unwrap();
        pe.wire.segment().put(AREA + 200, b"more").unwrap();
        pe.wire.quiet().unwrap();
        pe.until(|| pe.word(AREA + 128) == 9);
        assert_eq!(pe.bytes(AREA + 3, 5), b"bytes");
        assert_eq!(pe.word(AREA + 64), 7);
        assert_eq!(pe.bytes(AREA + 136, 56), line);
        assert_eq!(pe.bytes(AREA + 200, 4), b"more");
        pe.meet();
    });
}

/// A line carries a header and 0 to 56 bytes, and leaves the lines beside it alone.
pub fn lines_arrive_unchanged(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        const BESIDE: u64 = u64::MAX;
        let line = AREA + 64;
        for len in 0..=56 {
            for at in [line - 8, line + 64] {
                pe.wire.store_word(pe.pe, at, BESIDE).unwrap();
            }
            pe.meet();
            let header = 1000 + len as u64;
            let payload = bytes(pe.pe, len, len);
            let to = pe.right();
            pe.wire.store_line(to, line, header, &payload).unwrap();
            pe.until(|| pe.word(line) == header);
            assert_eq!(pe.bytes(line + 8, len), bytes(pe.left(), len, len));
            pe.meet();
            assert_eq!((pe.word(line - 8), pe.word(line + 64)), (BESIDE, BESIDE));
            pe.meet();
        }
    });
}

/// Lines that are stored together arrive as if each had been stored alone.
pub fn lines_stored_together_arrive(fabric: &dyn Testbed, pes: u32) {
    const LINES: usize = 7;
    run(fabric, pes, |pe| {
        for round in 0..rounds(20) as usize {
            let to = pe.right();
            let payloads = [0; LINES].map(|_| bytes(pe.pe, round, 56));
            let header = |line: usize| (1 + round * LINES + line) as u64;
            // The first one last, as in messages of two lines.
            let order = (1..LINES).chain([0]);
            let mut lines = order.map(|line| Line {
                offset_bytes: AREA + line * 64,
                header: header(line),
                payload: payloads
                    .get(line)
                    .map_or(&[], |payload| &payload[..56 - line]),
            });
            pe.wire.store_lines(to, &mut lines).unwrap();
            for line in 0..LINES {
                let at = AREA + line * 64;
                pe.until(|| pe.word(at) == header(line));
                let expected = bytes(pe.left(), round, 56);
                assert_eq!(pe.bytes(at + 8, 56 - line), expected[..56 - line]);
            }
            pe.meet();
        }
    });
}

/// PEs that store to neighbouring bytes of one PE all succeed; to neighbouring lines, where
/// lines are flushed.
pub fn writers_do_not_disturb_each_other(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        let flushed = pe.contract() == Some(Visibility::Flushed);
        let (bytes, words) = if flushed { (64, 64) } else { (1, 8) };
        let (own, all) = (pe.pe as usize, pe.pes as usize);
        let second = AREA + 64 * (all + 1);
        for round in 1..=rounds(100) as u8 {
            for to in 0..pe.pes {
                // A byte each, then words of one line each.
                pe.wire.store(to, AREA + own * bytes, &[round]).unwrap();
                let word = u64::from(round) << 32 | u64::from(pe.pe);
                let at = second + own * words;
                pe.wire.store_word(to, at, word).unwrap();
            }
            pe.meet();
            for writer in 0..all {
                assert_eq!(pe.bytes(AREA + writer * bytes, 1), [round]);
                let word = u64::from(round) << 32 | writer as u64;
                assert_eq!(pe.word(second + writer * words), word);
            }
            pe.meet();
        }
    });
}
