//! Words and records in memory that another process writes.

use std::sync::atomic::Ordering;

use hostwire_transport::Memory;
use hostwire_transport::fuzzing::kit::{Input, Script, Target, blames, named, shown};

use crate::board::{Activity, ENDED, ENDED_AT, LOST_AT, RECORD_BYTES, Record};
use crate::counters;
use crate::message::long::{Announcement, Delivery, pieces};
use crate::status::Status;

/// The board: records of several PEs, then what this PE does on it.
pub(super) const BOARD: Target = Target {
    name: "board",
    check: board,
    seeds: || {
        let record = |words: [u64; 3]| {
            let words = words.map(u64::to_le_bytes);
            let mut record = words.as_flattened().to_vec();
            record.resize(RECORD_BYTES, 0);
            record
        };
        let word = |activity: Activity, peer: Option<u32>| Record { activity, peer }.to_word();
        let ended = u64::from_le_bytes(ENDED);
        named(vec![
            ("computing", record([word(Activity::Computing, None), 0, 0])),
            ("sending", record([word(Activity::Sending, Some(2)), 0, 3])),
            ("ended", [record([0; 3]), record([0, ended, 0])].concat()),
            ("unknown", record([99, 0, u64::MAX])),
            ("half", record([5, 0, 0])[..20].to_vec()),
        ])
    },
    cost: 1,
};

/// A record of counters, filled up with zeros.
pub(super) const COUNTERS: Target = Target {
    name: "counters",
    check: counters,
    seeds: || {
        let mut record = vec![0; 192];
        record[..8].copy_from_slice(b"hwcount1");
        record[8..16].copy_from_slice(&[2, 0, 0, 0, 5, 0, 0, 0]);
        record[16..21].copy_from_slice(b"ether");
        record[64] = 7;
        record[72..83].copy_from_slice(b"frames sent");
        let mut strange = record.clone();
        strange[16] = 0x1b;
        let mut long = record.clone();
        long[72..128].fill(b'n');
        let mut other = record.clone();
        other[7] = b'2';
        named(vec![
            ("ether", record),
            ("strange_wire", strange),
            ("long_name", long),
            ("other_version", other),
        ])
    },
    cost: 1,
};

/// The line that announces a long message, and the words about it: its five words, then one.
pub(super) const ANNOUNCEMENT: Target = Target {
    name: "announcement",
    check: announcement,
    seeds: || {
        let words = |words: &[u64]| {
            let script = words
                .iter()
                .fold(Script::new(), |s, word| s.bytes(&word.to_le_bytes()));
            script.done()
        };
        named(vec![
            ("private", words(&[7, 1 << 20, u64::MAX, 0, 0, 3])),
            ("symmetric", words(&[1, 4096, 65_536, 77, 0, 1])),
            ("direct", words(&[1, 4096, 65_536, 0, 9, 65_536 << 2 | 2])),
            ("large_number", words(&[1 << 32, 4096, 0, 0, 0, 4])),
            ("too_long", words(&[1, 1 << 63, 0, 0])),
        ])
    },
    cost: 1,
};

fn board(bytes: &[u8]) {
    const PES: usize = 4;
    let memory = Memory::anonymous(PES * RECORD_BYTES);
    let len = bytes.len().min(PES * RECORD_BYTES);
    memory.copy_in(0, &bytes[..len]).expect("it fits");
    let word = |at: usize| memory.word(at).map(|word| word.load(Ordering::Relaxed));
    for pe in 0..PES {
        let first = word(pe * RECORD_BYTES).expect("a record").to_le_bytes();
        if let Some(record) = Record::parse(first) {
            shown(record);
            assert_eq!(Record::parse(record.to_word().to_le_bytes()), Some(record));
        }
    }
    let own = PES - 1;
    let lost_before = word(own * RECORD_BYTES + LOST_AT).expect("a record");
    let status = Status::new(Some(memory.clone()), own as u32);
    let obituaries = status.obituaries();
    for pe in 0..PES {
        let says = word(pe * RECORD_BYTES + ENDED_AT).expect("a record");
        let ended = says == u64::from_ne_bytes(ENDED);
        assert_eq!(obituaries.contains(pe as u32), ended);
    }
    obituaries.add(2);
    let lost = word(own * RECORD_BYTES + LOST_AT);
    assert_eq!(lost, Ok(if lost_before == 0 { 3 } else { lost_before }));
    status.set(Activity::Receiving, Some(1));
    let told = word(own * RECORD_BYTES).map(u64::to_le_bytes);
    assert!(told.is_ok_and(|told| Record::parse(told).is_some_and(|r| r.peer == Some(1))));
}

fn counters(bytes: &[u8]) {
    let mut record = bytes.to_vec();
    record.resize(counters::RECORD_BYTES, 0);
    let Some(read) = counters::Record::parse(&record) else {
        return;
    };
    shown(&read.wire);
    assert!(read.values.len() < counters::RECORD_BYTES / 64);
    for (name, _) in &read.values {
        shown(name);
    }
    assert_eq!(
        counters::Record::parse(bytes).is_some(),
        bytes.len() >= counters::RECORD_BYTES
    );
}

fn announcement(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let line = input.bytes(Announcement::BYTES_MAX);
    match Announcement::parse(3, line) {
        Ok(announcement) => {
            let (emitted, len) = announcement.emit();
            assert_eq!(&emitted[..len], line);
            assert!(isize::try_from(announcement.len_bytes).is_ok());
            assert!(pieces(announcement.len_bytes) <= 1 << 49);
        }
        Err(error) => blames(error, &["PE 3"]),
    }
    let word = input.word();
    match Delivery::from_word(3, word) {
        Ok(delivery) => assert_eq!(delivery.to_word(), word),
        Err(error) => blames(error, &["PE 3"]),
    }
}
