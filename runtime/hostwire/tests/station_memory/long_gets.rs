//! Gets in which the asking station copies the bytes out of the owner's memory.

use super::*;

/// A pair whose owner has 4 MiB with key 5, with a pattern in it.
fn pair_with_memory() -> (Pair, Memory, Vec<u8>) {
    let pair = pair();
    let memory = Memory::anonymous(4 << 20);
    let bytes = pattern(4 << 20, 1);
    memory.copy_in(0, &bytes).unwrap();
    pair.regions.add(Some(5), region(&memory, BOTH));
    // They have met.
    assert!(pair.got(&[place(5, 0, 1)], 1).is_ok());
    (pair, memory, bytes)
}

/// A get in pieces takes a turn of both for each 64 KiB.
#[test]
fn a_long_get_takes_two_turns_of_its_owner() {
    let (pair, _, bytes_there) = pair_with_memory();
    let other = Memory::anonymous(1 << 20);
    pair.regions.add(Some(6), region(&other, Rights::READ));
    let places = [
        place(5, 1, 500_000),
        place(6, 9, 400_000),
        place(5, 3, 0),
        place(5, 600_000, 1),
    ];
    let get = pair.ask(Deed::Get, &places, vec![1; 900_001]);
    let turns = |pair: &Pair| (0..10).find_map(|_| pair.asks.poll().unwrap());
    assert!(pair.owns.poll().unwrap().is_none());
    assert!(turns(&pair).is_none());
    assert!(pair.owns.poll().unwrap().is_none());
    let done = turns(&pair).expect("the owner has answered");
    assert_eq!(done.ticket, get);
    let got = bytes(done);
    assert!(got[..500_000] == bytes_there[1..500_001]);
    assert!(got[500_000..900_000].iter().all(|byte| *byte == 0));
    assert_eq!(got[900_000], bytes_there[600_000]);
}

/// The region is then another one, although it has the same key and the same bytes.
#[test]
fn memory_that_goes_in_the_middle_of_a_long_get_is_refused() {
    for comes_again in [false, true] {
        let (pair, memory, bytes_there) = pair_with_memory();
        take_uses(&pair.owns);
        let places = [place(5, 0, 3 << 20)];
        pair.ask(Deed::Get, &places, vec![0; 3 << 20]);
        assert!(pair.owns.poll().unwrap().is_none());
        assert!(pair.asks.poll().unwrap().is_none());
        assert!(pair.regions.remove(5));
        if comes_again {
            pair.regions.add(Some(5), region(&memory, BOTH));
        }
        let refused = pair.next().result.unwrap_err();
        let why = Refusal::NoKey;
        assert!(matches!(refused, Error::MemoryRefused { why: w, .. } if w == why));
        assert!(pair.owns.take_use().is_none());
        pair.regions.add(Some(5), region(&memory, BOTH));
        assert!(pair.got(&places, 3 << 20) == Ok(bytes_there[..3 << 20].to_vec()));
    }
}

/// Requests behind it wait only with their answers; they are carried out meanwhile.
#[test]
fn what_is_asked_behind_a_long_get_ends_behind_it() {
    let (pair, memory, bytes_there) = pair_with_memory();
    let long = [place(5, 0, 2 << 20)];
    let tickets = [
        pair.ask(Deed::Get, &long, vec![0; 2 << 20]),
        pair.ask(Deed::Get, &[place(5, 7, 100)], vec![0; 100]),
        pair.ask(Deed::Get, &[place(5, 100, 100_000)], vec![0; 100_000]),
        pair.ask(
            Deed::Put { data: None },
            &[place(5, 3 << 20, 5)],
            vec![9; 5],
        ),
        pair.ask(Deed::Get, &[place(5, (3 << 20) - 5, 10)], vec![0; 10]),
    ];
    let got: Vec<_> = tickets
        .iter()
        .map(|ticket| {
            let done = pair.next();
            assert_eq!(done.ticket, *ticket);
            bytes(done)
        })
        .collect();
    assert!(got[0] == bytes_there[..2 << 20]);
    assert!(got[1] == bytes_there[7..107]);
    assert!(got[2] == bytes_there[100..100_100]);
    assert_eq!(got[4][5..], [9; 5]);
    assert_eq!(got[4][..5], bytes_there[(3 << 20) - 5..3 << 20]);
    assert_eq!(whole(&memory)[3 << 20], 9);
}

/// An owner that lends no memory sends the bytes, and a station that cannot copy gets them sent.
#[test]
fn those_apart_send_the_bytes() {
    let regions = Arc::<MemoryRegions>::default();
    let owns = Station::with(Arc::clone(&regions)).unwrap();
    let pair = acquainted(Station::open_apart().unwrap(), owns, regions);
    let memory = Memory::anonymous(300_000);
    let there = pattern(300_000, 4);
    memory.copy_in(0, &there).unwrap();
    pair.regions.add(Some(5), region(&memory, BOTH));
    for _ in 0..2 {
        assert!(pair.got(&[place(5, 0, 300_000)], 300_000) == Ok(there.clone()));
    }
}
