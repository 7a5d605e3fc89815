//! The tables and lines of a region on modelled memory: PE 0 makes places, PE 1 finds them.

use super::format::{ALIGN_BYTES, Bytes, Head, LINE_BYTES, PeLine, State};
use super::table::{Lines, Place, Table};
use crate::memory::Memory;
use crate::transport::Transport;
use crate::window::FIRST_FREE_OFFSET_BYTES;

/// Of the tables, and of what comes before the segments of a job.
const TABLES_BYTES: usize = 8192;
const FRONT_BYTES: usize = 4096;
/// Where a launcher would say that the other PE has come so far.
const TURN: usize = FIRST_FREE_OFFSET_BYTES + TABLES_BYTES + FRONT_BYTES;
/// What a segment needs.
pub const SEGMENT_BYTES: usize = TURN + LINE_BYTES;
const KEY: u128 = 5;
const JOBS: u64 = 3;

/// Tells the other PE.
fn say(wire: &dyn Transport, turn: u64) {
    wire.store_word(1 - wire.pe(), TURN, turn).expect("a word");
}

fn hear(wire: &dyn Transport, turn: u64) {
    while wire.segment().load_word(TURN).expect("a word") < turn {}
}

fn line(place: &Place, pe: u32, state: State) -> PeLine {
    PeLine {
        mark: place.mark(state),
        beat: 0,
        epoch: 7 + u64::from(pe),
        segment_offset_bytes: place.incarnation,
        process: 9,
        bell: 0,
    }
}

/// Several jobs of two PEs, one after the other, in a region in the segment of PE 0.
///
/// # Panics
/// If a PE does not see what the other has stored.
pub fn jobs_come_and_go(wire: &dyn Transport) {
    let route = wire.route(0).expect("PE 0");
    let window = route.window().expect("mapped memory");
    let part = |at, len| window.memory().part(at, len).expect("a part");
    let tables = part(FIRST_FREE_OFFSET_BYTES, TABLES_BYTES);
    let front = part(FIRST_FREE_OFFSET_BYTES + TABLES_BYTES, FRONT_BYTES);
    let lines = Lines::new(&front, 2, window.visibility()).expect("lines");
    match wire.pe() {
        0 => first(
            wire,
            tables,
            &lines,
            Head::new(window.visibility(), 8 * ALIGN_BYTES, 3),
        ),
        _ => second(wire, &tables, &lines),
    }
    wire.quiet().expect("a quiet");
}

fn first(wire: &dyn Transport, tables: Memory, lines: &Lines, head: Head) {
    let table = Table::make(tables, head).expect("tables");
    for job in 1..=JOBS {
        let claim = table.claim(KEY, 2, ALIGN_BYTES).expect("room");
        lines.zero(2).expect("lines");
        let place = claim.finish().expect("a place");
        assert_eq!(place.incarnation, job);
        lines
            .write(0, &line(&place, 0, State::JOINED))
            .expect("a line");
        say(wire, 2 * job - 1);
        // What the other PE stores is seen without anything that tells of it.
        let seen = loop {
            let seen = lines.read(1).expect("a line");
            if seen.mark == place.mark(State::JOINED) {
                break seen;
            }
        };
        assert_eq!((seen.epoch, seen.segment_offset_bytes), (8, job));
        while lines.read(1).expect("a line").beat != job {}
        say(wire, 2 * job);
        hear(wire, 2 * job);
        assert_eq!(lines.read(1).expect("a line").mark, place.mark(State::LEFT));
        assert!(
            table
                .free(place.slot, place.mark(State::Running))
                .expect("a place")
        );
    }
}

fn second(wire: &dyn Transport, tables: &Memory, lines: &Lines) {
    for job in 1..=JOBS {
        // Copies that grow old.
        let mut stale: Bytes = [0; LINE_BYTES];
        tables.copy_out(0, &mut stale).expect("bytes");
        let _ = (lines.read(0), lines.read(1));
        hear(wire, 2 * job - 1);
        let table = Table::open(tables.clone()).expect("tables");
        let place = table.find(0, job, KEY).expect("the place of the job");
        let seen = lines.read(0).expect("a line");
        assert_eq!(seen, line(&place, 0, State::JOINED));
        lines
            .write(1, &line(&place, 1, State::JOINED))
            .expect("a line");
        lines.beat(1, job).expect("a beat");
        hear(wire, 2 * job);
        assert!(table.holds(&place).expect("a place"));
        lines
            .write(1, &line(&place, 1, State::LEFT))
            .expect("a line");
        say(wire, 2 * job);
    }
}
