//! How PEs of a host find each other: the messages to PE 0, and its answers.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::kit::{Input, Script, Seeds, Target, blames, mark, named};
use crate::error::TransportError;
use crate::shm::Hello;
use crate::shm::handover::{
    Files, Gathering, MAGIC, Own, address, receive_files, send_with, socket, to_bytes,
};
use crate::terms::Terms;

/// Connections to PE 0. A script: how many PEs there are, then per connection a byte for the key
/// (0 is the right one), bytes or numbers (how many words, PE, PEs, version, segment, ring,
/// settings) and a byte for how many descriptors come along.
pub(super) const GATHERING: Target = Target {
    name: "handover",
    check: gathering,
    seeds: gathering_seeds,
    cost: 10,
};

/// The message of PE 0: a byte for how many descriptors come along, then the message.
pub(super) const FILES: Target = Target {
    name: "handover_files",
    check: files,
    seeds: files_seeds,
    cost: 2,
};

const TERMS: Terms = Terms {
    version: 1,
    size_names: &["rings", "b", "c", "d", "e", "f", "g"],
    sizes: [64, 0, 0, 0, 0, 0, 0],
    segment_bytes: 100,
    settings: &["HOSTWIRE_RECORD"],
    set: 0,
};
/// Words of a message that fits.
const WORDS: u8 = 5 + Terms::WORDS as u8;

fn any_file() -> OwnedFd {
    std::fs::File::open("/dev/null").expect("a file").into()
}

fn gathering(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let pes = u32::from(input.byte() % 3) + 2;
    let door = Gathering::open(pes).expect("a socket");
    let ticket = door.ticket();
    let key = u128::from_str_radix(&ticket.to_string()[32..], 16).expect("digits");
    let mut connections = Vec::new();
    let mut correct = vec![false; pes as usize];
    // More than PE 0 has room for at a time would have to wait until it looks.
    while !input.is_empty() && connections.len() < pes as usize {
        let shown = key ^ u128::from(input.byte());
        let len = usize::from(input.byte());
        let said: [u64; 2 + Terms::WORDS] = core::array::from_fn(|_| input.number());
        let mut words = vec![MAGIC, shown as u64, (shown >> 64) as u64];
        words.extend(said);
        words.resize(len % 20, 0);
        let fds: Vec<OwnedFd> = (0..input.byte() % 3).map(|_| any_file()).collect();
        let guest = socket().expect("a socket");
        let door = address(ticket).expect("a name");
        rustix::net::connect(&guest, &door).expect("a listener");
        let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        // An empty message is not valid and ends the connection.
        let _ = send_with(&guest, &to_bytes(&words), &borrowed);
        let [pe, all, ref terms @ ..] = said;
        let is_whole = words.len() == usize::from(WORDS) && fds.is_empty();
        if shown == key && is_whole && all == u64::from(pes) {
            let fits = *terms == TERMS.to_words();
            if let Some(place) = correct.get_mut(pe as usize).filter(|_| fits && pe > 0) {
                *place = true;
            }
        }
        connections.push(guest);
    }
    let make = || -> Result<Files, TransportError> {
        Ok(Files {
            memory: any_file(),
            liveness: any_file(),
            more: Vec::new(),
        })
    };
    let own = Own {
        pe: 0,
        pes,
        terms: &TERMS,
    };
    match door.serve(&own, make, Instant::now()) {
        Ok(_) => {
            mark("met");
            assert!(correct.iter().skip(1).all(|came| *came), "{correct:?}");
        }
        Err(error) => blames(error, &["PE "]),
    }
}

fn gathering_seeds() -> Seeds {
    let says = |script: Script, pe: u64, pes: u64, terms: [u64; Terms::WORDS]| {
        let script = script.bytes(&[0, WORDS]).number(pe).number(pes);
        terms.into_iter().fold(script, Script::number).byte(0)
    };
    let guest = |script: Script, pe: u64, pes: u64, segment: u64| {
        let mut terms = TERMS.to_words();
        terms[1] = segment;
        says(script, pe, pes, terms)
    };
    let two = || guest(Script::new().byte(0), 1, 2, TERMS.segment_bytes);
    let stranger = |script: Script, key: u8, len: u8| {
        script.bytes(&[key, len, 1, 2, 1, 100, 0, 64, 0, 0, 0, 0, 0, 0, 0])
    };
    named(vec![
        ("two", two().done()),
        (
            "three",
            guest(guest(Script::new().byte(1), 2, 3, 100), 1, 3, 100).done(),
        ),
        (
            "wrong_key",
            stranger(Script::new().byte(0), 1, WORDS).done(),
        ),
        (
            "stranger_first",
            guest(stranger(Script::new().byte(0), 9, WORDS), 1, 2, 100).done(),
        ),
        (
            "short",
            stranger(Script::new().byte(0), 0, WORDS - 1).done(),
        ),
        ("long", stranger(Script::new().byte(0), 0, WORDS + 1).done()),
        (
            "twice",
            guest(guest(Script::new().byte(1), 1, 3, 100), 1, 3, 100).done(),
        ),
        (
            "another_heap",
            guest(Script::new().byte(0), 1, 2, 101).done(),
        ),
        ("no_such_pe", guest(Script::new().byte(0), 7, 2, 100).done()),
        (
            "another_size",
            guest(Script::new().byte(0), 1, 3, 100).done(),
        ),
        (
            "with_file",
            Script::new()
                .bytes(&[0, 0, WORDS, 1, 2, 1, 100, 0, 64, 0, 0, 0, 0, 0, 0, 1])
                .done(),
        ),
        (
            "another_version",
            says(
                Script::new().byte(0),
                1,
                2,
                [2, 100, 0, 64, 0, 0, 0, 0, 0, 0],
            )
            .done(),
        ),
        (
            "another_setting",
            says(
                Script::new().byte(0),
                1,
                2,
                [1, 100, 1, 64, 0, 0, 0, 0, 0, 0],
            )
            .done(),
        ),
    ])
}

fn files(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let fds: Vec<OwnedFd> = (0..input.byte() % 5).map(|_| any_file()).collect();
    let message = input.rest();
    let flags = SocketFlags::CLOEXEC;
    let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None);
    let (here, there) = pair.expect("sockets");
    let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
    let _ = send_with(&there, message, &borrowed);
    drop(there);
    let soon = Instant::now() + Duration::from_secs(30);
    let hello = Hello {
        pe: 1,
        pes: 2,
        terms: TERMS.to_words(),
    };
    match receive_files(&here, &hello, soon) {
        Ok(_) => {
            mark("received");
            let words: Vec<u64> = message
                .chunks(8)
                .map(|word| u64::from_le_bytes(word.try_into().expect("whole words")))
                .collect();
            let [MAGIC, count, numbers @ ..] = &words[..] else {
                panic!("{words:?}");
            };
            assert_eq!((fds.len(), fds.len() as u64), (2 + numbers.len(), *count));
            assert!(numbers.iter().all(|number| u32::try_from(*number).is_ok()));
        }
        Err(error) => blames(error, &["PE 1", "PE 0"]),
    }
}

fn files_seeds() -> Seeds {
    let message = |fds: u8, word: u64, more: &[u8]| {
        [&[fds][..], &MAGIC.to_le_bytes(), &word.to_le_bytes(), more].concat()
    };
    named(vec![
        ("two", message(2, 2, &[])),
        ("one", message(1, 2, &[])),
        ("one_more", message(3, 3, &[7, 0, 0, 0, 0, 0, 0, 0])),
        ("a_long_number", message(3, 3, &[7, 0, 0, 0, 1, 0, 0, 0])),
        ("three", message(3, 2, &[])),
        ("refused", message(0, u64::MAX, b"no\x1b[2Jway")),
        ("long_refusal", message(0, u64::MAX, &[b'x'; 496])),
        ("gone", vec![0]),
        ("nonsense", message(0, 7, &[1; 8])),
    ])
}
