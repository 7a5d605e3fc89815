//! The tables and lines of a region on modelled memory. PE 0 makes places, and PE 1 finds them. Or each PE is
//! a kernel, and both want the same number or the same units.

use hostwire_transport::memory::Memory;
use hostwire_transport::visibility::Visibility;
use hostwire_transport::window::FIRST_FREE_OFFSET_BYTES;
use hostwire_transport::wire::Wire;

use super::format::{
    ALIGN_BYTES, BLOCKS_OFFSET_BYTES, Bytes, Head, JobEntry, LINE_BYTES, PeLine, SlotState,
};
use super::lines::Lines;
use super::table::{JobSlot, Table, kernel_of};

/// Bytes of the tables, and of the part before the segments of a job.
const TABLES_BYTES: usize = BLOCKS_OFFSET_BYTES + 5 * 4096;
const FRONT_BYTES: usize = 4096;
/// The word by which a PE tells the other how far it is, in place of a launcher.
const TURN: usize = FIRST_FREE_OFFSET_BYTES + TABLES_BYTES + FRONT_BYTES;
/// What a segment needs.
pub const SEGMENT_BYTES: usize = TURN + LINE_BYTES;
const KEY: u128 = 5;
const JOBS: u64 = 3;
/// How often a place changes while it is read.
const WRITES: u64 = 40;
/// How many numbers there are: more than kernels, because two that ask at once may close numbers that neither
/// gets.
const KERNELS: u32 = 8;

/// Tells the other PE.
fn say(wire: &dyn Wire, turn: u64) {
    wire.store_word(1 - wire.pe(), TURN, turn).expect("a word");
}

fn hear(wire: &dyn Wire, turn: u64) {
    while wire.segment().load_word(TURN).expect("a word") < turn {}
}

fn line(place: &JobSlot, pe: u32, state: SlotState) -> PeLine {
    PeLine {
        mark: place.mark(state),
        beat: 0,
        epoch: 7 + u64::from(pe),
        segment_offset_bytes: place.incarnation,
        process: 9,
        bell: 0,
    }
}

fn head(units: u64, kernels: u32, contract: Visibility) -> Head {
    Head {
        kernels,
        ..Head::new(contract, units * ALIGN_BYTES, 3)
    }
}

/// The tables as PE `pe` sees them, in the segment of PE 0.
fn tables(wire: &dyn Wire) -> (Memory, Visibility) {
    let route = wire.route(0).expect("PE 0");
    let window = route.window().expect("mapped memory");
    let memory = window.memory();
    let tables = memory.part(FIRST_FREE_OFFSET_BYTES, TABLES_BYTES);
    (tables.expect("a part"), window.visibility())
}

/// The tables, made by PE 0 and seen by all.
fn made(wire: &dyn Wire, units: u64, kernels: u32) -> Table {
    let (memory, contract) = tables(wire);
    if wire.pe() == 0 {
        let table = Table::make(memory, head(units, kernels, contract)).expect("tables");
        say(wire, 1);
        return table;
    }
    hear(wire, 1);
    Table::open(memory).expect("tables")
}

/// Both PEs ask for the number of a kernel at the same time.
///
/// # Panics
/// If they get the same number.
pub fn kernels_ask_at_once(wire: &dyn Wire) {
    let table = made(wire, 8, KERNELS);
    let epoch = 7 + u64::from(wire.pe());
    let number = table.enter(epoch, epoch).expect("a number");
    assert_eq!(table.enter(epoch, epoch + 2).expect("a number"), number);
    let mine = 2 + u64::from(number);
    say(wire, mine);
    let theirs = loop {
        match wire.segment().load_word(TURN).expect("a word") {
            0 | 1 => {}
            theirs => break theirs,
        }
    };
    assert_ne!(mine, theirs, "one number for two kernels");
    wire.quiet().expect("a quiet");
}

/// Both PEs claim units at the same time, each as PE 0 of a job of another kernel. There are enough units for
/// `jobs` jobs.
///
/// # Panics
/// If both have the same units, or a PE has none although there are enough.
pub fn jobs_begin_at_once(wire: &dyn Wire, jobs: u64) {
    // A job takes one unit for its segment, and one for the part before it.
    let table = made(wire, 1 + 2 * jobs, KERNELS);
    let epoch = 7 + u64::from(wire.pe());
    let kernel = table.enter(epoch, epoch).expect("a number");
    let place = table.claim(kernel, KEY, 1, ALIGN_BYTES);
    let begun = place
        .and_then(|place| table.run(&place).map(|()| place))
        .ok();
    let mine = 2 + begun.map_or(0, |place| u64::from(place.entry.first_unit));
    say(wire, mine);
    let theirs = loop {
        match wire.segment().load_word(TURN).expect("a word") {
            0 | 1 => {}
            theirs => break theirs,
        }
    };
    let both = u64::from(mine != 2) + u64::from(theirs != 2);
    assert!(
        mine == 2 || mine != theirs,
        "two jobs have unit {}",
        mine - 2
    );
    // Of two that want the last units, one gets them.
    assert_eq!(both, jobs, "jobs that have begun");
    if let Some(place) = begun {
        let others = table.taken().expect("places");
        let is_own = |slot: &usize| kernel_of(*slot) == kernel;
        assert!(others.iter().any(|(slot, _)| is_own(slot)));
        assert!(table.holds(&place).expect("a place"));
    }
    wire.quiet().expect("a quiet");
}

/// PE 1 looks at a place that PE 0 takes and frees again and again.
///
/// # Panics
/// If PE 1 sees an entry that no job had.
pub fn places_change_while_they_are_read(wire: &dyn Wire) {
    let table = made(wire, 8, 1);
    if wire.pe() == 0 {
        for job in 1..=WRITES {
            let entry = JobEntry {
                key: job.into(),
                first_unit: 1 + (job % 2) as u32,
                units: 3,
                pes: 1,
                segment_bytes: ALIGN_BYTES,
            };
            let place = JobSlot {
                slot: 0,
                incarnation: job,
                entry,
            };
            table.write(&place, SlotState::Running).expect("a place");
            let mark = place.mark(SlotState::Free);
            table.set(0, mark).expect("a place");
        }
        say(wire, 2);
    } else {
        while wire.segment().load_word(TURN).expect("a word") < 2 {
            let found = table.slot(0).expect("a place");
            let Some(entry) = found.entry else { continue };
            let key = entry.expect("an entry that is whole").key;
            assert_eq!(key, u128::from(found.mark.incarnation), "of another job");
        }
    }
    wire.quiet().expect("a quiet");
}

/// Several jobs of two PEs, one after the other, in a region in the segment of PE 0.
///
/// # Panics
/// If a PE does not see what the other has stored.
pub fn jobs_come_and_go(wire: &dyn Wire) {
    let route = wire.route(0).expect("PE 0");
    let window = route.window().expect("mapped memory");
    let (tables, contract) = tables(wire);
    let at = FIRST_FREE_OFFSET_BYTES + TABLES_BYTES;
    let front = window.memory().part(at, FRONT_BYTES).expect("a part");
    let lines = Lines::new(&front, 2, contract).expect("lines");
    match wire.pe() {
        0 => first(wire, tables, &lines, head(8, 1, contract)),
        _ => second(wire, &tables, &lines),
    }
    wire.quiet().expect("a quiet");
}

fn first(wire: &dyn Wire, tables: Memory, lines: &Lines, head: Head) {
    let table = Table::make(tables, head).expect("tables");
    for job in 1..=JOBS {
        let kernel = table.enter(7, 7).expect("a number");
        let place = table.claim(kernel, KEY, 2, ALIGN_BYTES).expect("room");
        lines.zero(2).expect("lines");
        table.run(&place).expect("a place");
        assert_eq!(place.incarnation, job);
        lines
            .write(0, &line(&place, 0, SlotState::JOINED))
            .expect("a line");
        say(wire, 2 * job - 1);
        // The stores of the other PE become visible without any announcement.
        let seen = loop {
            let seen = lines.read(1).expect("a line");
            if seen.mark == place.mark(SlotState::JOINED) {
                break seen;
            }
        };
        assert_eq!((seen.epoch, seen.segment_offset_bytes), (8, job));
        while lines.read(1).expect("a line").beat != job {}
        say(wire, 2 * job);
        hear(wire, 2 * job);
        assert_eq!(
            lines.read(1).expect("a line").mark,
            place.mark(SlotState::LEFT)
        );
        let mark = place.mark(SlotState::Running);
        table.free(kernel, place.slot, mark).expect("a place");
    }
}

fn second(wire: &dyn Wire, tables: &Memory, lines: &Lines) {
    for job in 1..=JOBS {
        // Copies that become stale.
        let mut stale: Bytes = [0; LINE_BYTES];
        tables.copy_out(0, &mut stale).expect("bytes");
        let _ = (lines.read(0), lines.read(1));
        hear(wire, 2 * job - 1);
        let table = Table::open(tables.clone()).expect("tables");
        let place = table.find(0, job, KEY).expect("the place of the job");
        let seen = lines.read(0).expect("a line");
        assert_eq!(seen, line(&place, 0, SlotState::JOINED));
        lines
            .write(1, &line(&place, 1, SlotState::JOINED))
            .expect("a line");
        lines.beat(1, job).expect("a beat");
        hear(wire, 2 * job);
        assert!(table.holds(&place).expect("a place"));
        lines
            .write(1, &line(&place, 1, SlotState::LEFT))
            .expect("a line");
        say(wire, 2 * job);
    }
}
