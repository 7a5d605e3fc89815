//! Checks of input from outside, one per fuzz target: the environment, words that other PEs
//! write, and messages between detectors of races. `qa/fuzzing` runs them.

use hostwire_transport::fuzzing::kit::{Input, Target, blames, mark, named, shown, texts};

use crate::debug::race::comes_back;
use crate::settings::{BYTES_MIN, DEFAULT_MAX, DEFAULT_MIN, Settings, default_of, parse_size};
use hostwire::core::{Kind, describe_any};

/// Every check of this crate.
pub const TARGETS: &[Target] = &[MEMORY, RACE_MESSAGE, SETTINGS, TAG];

/// `/proc/meminfo`, from which the usual size of the heap follows.
const MEMORY: Target = Target {
    name: "shmem_memory",
    check: |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let mut before = usize::MAX;
        for pes in [0, 1, 3, 4096, u32::MAX] {
            let heap = default_of(&text, pes);
            assert!(heap.is_power_of_two() && (DEFAULT_MIN..=DEFAULT_MAX).contains(&heap));
            assert!(heap <= before, "more PEs have more each");
            before = heap;
        }
    },
    seeds: || {
        texts(&[
            ("usual", "MemTotal:       16316412 kB\nMemFree: 1 kB\n"),
            ("largest", "MemTotal: 18446744073709551615 kB\n"),
            ("nothing", "MemTotal: kB\n"),
        ])
    },
    cost: 1,
};

/// Messages of a detector of races to another one. The first two bytes: the sender, and the
/// number of PEs.
const RACE_MESSAGE: Target = Target {
    name: "shmem_race_message",
    check: |bytes| {
        let mut input = Input::new(bytes);
        let (pe, pes) = (input.byte(), input.byte().max(1));
        let message = input.rest();
        let kinds = ["clock", "touch", "word", "unlock", "lock", "come", "answer"];
        let kind = message.first().map_or(0, |kind| usize::from(*kind));
        match comes_back(message, (pe % pes).into(), pes.into()) {
            None => mark("no message"),
            Some(same) => {
                mark(kinds.get(kind).unwrap_or(&"report"));
                assert!(same, "it does not come back, or has blocks without end");
            }
        }
        if let Some(kind) = bytes.get(2) {
            mark(
                ["clock", "touch", "word", "unlock"]
                    .get(usize::from(*kind))
                    .unwrap_or(&"other"),
            );
        }
    },
    seeds: || {
        let touch = [2, 5, 3, 77, 3, 0, 4, 1, 2, b'p', b't', 0x80, 5, 8, 0, 1];
        let with = |kind: u8, more: &[u8]| [&[1, 3, kind][..], more].concat();
        named(vec![
            (
                "clock",
                with(
                    0,
                    &[
                        2, 0, 0, 0, 9, 1, 4, 1, 0, 2, 1, 3, 5, 0, 0, 0, 1, 1, 4, 7, 0, 0,
                    ],
                ),
            ),
            ("touch", with(1, &touch)),
            (
                "word",
                with(2, &[&touch[..], &[1, 5, 9, 1, 1, 4, 0]].concat()),
            ),
            (
                "blocks",
                with(1, &[&touch[..15], &[0xff; 8], &[0x3f]].concat()),
            ),
            ("unlock", with(3, &[1, 0x80, 32, 8])),
            ("lock", with(4, &[&touch[..], &[2]].concat())),
            ("come", with(5, &[7, 1, 2, 3, 3, 2, 6, 0, 1, 3])),
            ("answer", with(6, &[3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
            ("report", with(7, &[5, 4, b'r', b'a', b'c', b'e'])),
            (
                "many",
                with(
                    0,
                    &[
                        2, 9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
                    ],
                ),
            ),
        ])
    },
    cost: 1,
};

/// Variables as `NAME=value`, one to a line.
const SETTINGS: Target = Target {
    name: "shmem_settings",
    check: settings,
    seeds: || {
        texts(&[
            ("size", "SHMEM_SYMMETRIC_SIZE=1.5g\nSHMEM_INFO="),
            ("old", "SMA_SYMMETRIC_SIZE=512M\nSMA_VERSION=1\nSMA_DEBUG=1"),
            ("exponent", "SHMEM_SYMMETRIC_SIZE=2.5E+3k"),
            ("least", "SHMEM_SYMMETRIC_SIZE=0"),
            ("too_much", "SHMEM_SYMMETRIC_SIZE=99999999999t"),
            ("control", "SHMEM_SYMMETRIC_SIZE=\u{1b}[2J"),
            ("debug", "SHMEM_DEBUG=bounds, race+1\nSHMEM_DEBUG_DELAYS=7"),
            ("unknown", "SHMEM_DEBUG=rase"),
            ("off", "SHMEM_DEBUG=off,0,no\nSHMEM_DEBUG_DELAYS=many"),
        ])
    },
    cost: 1,
};

/// Words that name the present operation of PEs: their tags, eight bytes each.
const TAG: Target = Target {
    name: "shmem_tag",
    check: |bytes| {
        let mut input = Input::new(bytes);
        while !input.is_empty() {
            let word = input.word();
            let text = describe_any(word);
            shown(&text);
            let is_known = Kind::ALL.iter().any(|kind| *kind as u64 == word >> 56);
            assert_eq!(text == "something unknown", !is_known, "{word:#x}");
        }
    },
    seeds: || {
        let tags = |codes: &[u8]| {
            let word = |code: &u8| (u64::from(*code) << 56 | 4096).to_le_bytes();
            codes.iter().flat_map(word).collect::<Vec<u8>>()
        };
        let codes: Vec<u8> = Kind::ALL.iter().map(|kind| *kind as u8).collect();
        named(vec![
            ("first", tags(&codes[..7])),
            ("others", tags(&codes[7..])),
            ("unknown", tags(&[0, codes.len() as u8 + 1, 255])),
        ])
    },
    cost: 1,
};

fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let value = |wanted: &str| {
        let mut pairs = text.lines().filter_map(|line| line.split_once('='));
        let pair = pairs.find(|(name, _)| *name == wanted);
        pair.map(|(_, value)| value.to_owned())
    };
    let either = |name: &str| value(&format!("SHMEM_{name}")).or(value(&format!("SMA_{name}")));
    match Settings::from_lookup(value) {
        Ok(settings) => {
            let size = either("SYMMETRIC_SIZE");
            assert_eq!(settings.symmetric_bytes.is_some(), size.is_some());
            assert!(
                settings
                    .symmetric_bytes
                    .is_none_or(|bytes| bytes >= BYTES_MIN)
            );
            assert_eq!(settings.info, either("INFO").is_some());
            assert_eq!(settings.version, either("VERSION").is_some());
            let looks = settings.debug;
            assert!(looks.checks || !(looks.bounds || looks.race));
            assert!(either("DEBUG").is_some() || !looks.checks);
            assert_eq!(settings.delays.is_some(), either("DEBUG_DELAYS").is_some());
        }
        Err(error) => blames(error, &["SYMMETRIC_SIZE=", "DEBUG=", "DEBUG_DELAYS="]),
    }
    // A number of bytes that was read is at most what the number in front allows.
    for line in text.lines() {
        let size = line.split_once('=').map_or(line, |(_, size)| size);
        if let Some(bytes) = parse_size(size) {
            mark("size");
            assert_eq!(parse_size(&bytes.to_string()), Some(bytes));
            assert!(size.contains(|c: char| c.is_ascii_digit()), "{size:?}");
            let digits = size.trim().chars().all(|c| c.is_ascii_digit());
            assert!(!digits || size.trim().parse() == Ok(bytes), "{size:?}");
        }
    }
}
