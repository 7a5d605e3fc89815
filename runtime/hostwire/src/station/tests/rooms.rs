//! Stations that come, talk and go: their eager buffers have memory for a few of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hostwire_transport::Memory as MappedMemory;

use super::*;
use crate::message::Memory;

const OTHERS: u32 = 5;
const ROOMS: usize = 2;
const LENGTHS: [usize; 4] = [300, 1500, 5000, 30_000];
const MANY: usize = 40;

/// One that opens so many buffers at once, as all of them do.
fn open() -> Station {
    let station = Station::open().unwrap();
    station.inner.messages().set_eager_rooms(ROOMS);
    station
}

fn message(from: PeId, number: usize) -> Vec<u8> {
    let len = LENGTHS[number % LENGTHS.len()];
    (0..len)
        .map(|at| (at + 31 * number + from as usize) as u8)
        .collect()
}

/// Says that it is over when it is dropped.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn memory(station: &Station) -> Memory {
    station.inner.messages().eager_memory()
}

/// Puts all its messages into memory of the other, sends each behind its put, and does what the other asks for until `is_over`.
fn talks(station: &Station, number: PeId, is_over: &AtomicBool) {
    for message in (0..MANY).map(|at| message(number, at)) {
        let place = RegionRange {
            key: number.into(),
            at: 0,
            len: message.len() as u64,
        };
        let put = Deed::Put { data: None };
        (station.ask(1, put, vec![place], Box::new(message.clone()))).unwrap();
        station.send(1, label(7), Box::new(message)).unwrap();
    }
    while !is_over.load(Ordering::Acquire) {
        if let Some(done) = station.wait(Duration::from_millis(1)).unwrap() {
            done.result.unwrap();
        }
    }
}

/// As [`next`]; puts end waits until somebody has taken note of them.
fn next_behind_puts(station: &Station) -> Finished {
    let deadline = Instant::now() + SOON;
    while Instant::now() < deadline {
        while station.take_use().is_some() {}
        if let Some(done) = station.wait(SOON).unwrap() {
            return done;
        }
    }
    panic!("nothing has ended within a minute");
}

#[test]
fn who_hears_from_stations_in_turn_has_memory_for_few_and_none_for_those_that_have_ended() {
    let here = open();
    let is_over = AtomicBool::new(false);
    // Also if something fails below.
    let end = Ends(&is_over);
    let others: Vec<Station> = (0..OTHERS).map(|_| open()).collect();
    thread::scope(|scope| {
        for (number, other) in (1..).zip(others) {
            assert_eq!(here.number(&other.name()), Ok(number));
            assert_eq!(other.number(&here.name()), Ok(1));
            let put = MappedMemory::anonymous(LENGTHS[3]);
            let region = MemoryRegion {
                memory: put.clone(),
                first: 0,
                rights: Rights::WRITE,
                witness: None,
            };
            let regions = Arc::clone(&here.inner.messages().remote.regions);
            regions.add(Some(number.into()), region);
            let is_over = &is_over;
            scope.spawn(move || talks(&other, number, is_over));
            let mut at = 0;
            while at < MANY {
                let room = Box::new(vec![0_u8; LENGTHS[3]]);
                here.receive(wanted(Source::Pe(number)), room).unwrap();
                let done = next_behind_puts(&here);
                let len = done.result.unwrap().len_bytes;
                let bytes = done.buffer.unwrap();
                assert!(
                    bytes.bytes()[..len] == message(number, at),
                    "{at} of {number}"
                );
                at += 1;
            }
            let mut last = vec![0; LENGTHS[3]];
            put.copy_out(0, &mut last).unwrap();
            assert!(last == message(number, MANY - 1), "puts of {number}");
            let memory = memory(&here);
            let is_bounded = memory.open <= ROOMS && memory.bytes <= ROOMS * (80 << 10);
            assert!(is_bounded, "{memory:?}");
            // Nobody has asked for that of the first one yet.
            assert!(number > 1 || memory.bytes > 0);
        }
        drop(end);
    });
    let deadline = Instant::now() + SOON;
    while memory(&here) != (Memory { open: 0, bytes: 0 }) {
        assert!(Instant::now() < deadline, "{:?}", memory(&here));
        here.poll().unwrap();
    }
}
