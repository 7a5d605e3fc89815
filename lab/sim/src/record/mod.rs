//! Recordings of what crossed the modelled wires.
//!
//! A [`Recording`] watches links, and writes their packets as pcapng (for Wireshark,
//! with `tools/wireshark/hostwire.lua`) and as a Perfetto trace. It can also write the events of the
//! simulation. Watching changes nothing in the simulation.

mod encode;
mod events;
mod frames;
mod pcapng;
mod perfetto;
mod watch;

pub use encode::nop_bytes;
pub use events::{Events, RecordError};
pub use perfetto::TimeUnit;

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use crate::engine::Ps;

use events::EventTrace;

/// The protocol of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encapsulation {
    /// HyperTransport packets, as on the link but without CRCs.
    HyperTransport,
    /// Ethernet frames, as HToE uses them.
    Ethernet,
    /// TLPs of PCI Express, with sequence number and LCRC.
    PciExpress,
    /// Frames between HTX boards, in a layout of recordings.
    HtxBoard,
}

/// Direction on an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From end A to end B.
    AToB,
    /// From end B to end A.
    BToA,
}

#[derive(Clone, Debug)]
struct Interface {
    name: String,
    encapsulation: Encapsulation,
}

#[derive(Clone, Debug)]
struct Record {
    begin: Ps,
    end: Ps,
    interface: u32,
    direction: Direction,
    what: String,
    bytes: Vec<u8>,
}

/// One unit on the wires of one direction, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The interface, as it was added.
    pub interface: String,
    /// Where to.
    pub direction: Direction,
    /// What it is.
    pub what: String,
    /// When it begins.
    pub begin: Ps,
    /// When it ends, at the transmitter.
    pub end: Ps,
}

/// A span of time on a track that is no link: of a PE.
#[derive(Clone, Debug)]
struct Span {
    track: u32,
    begin: Ps,
    end: Ps,
    what: String,
}

#[derive(Default)]
struct Inner {
    interfaces: Vec<Interface>,
    records: Vec<Record>,
    tracks: Vec<String>,
    spans: Vec<Span>,
    /// Times count from here on.
    origin: Ps,
    skipped: u64,
    events: Option<EventTrace>,
    /// It has nothing but events.
    events_only: bool,
}

/// A recording. Clones share it.
#[derive(Clone, Default)]
pub struct Recording(Rc<RefCell<Inner>>);

impl Recording {
    /// An empty recording.
    pub fn new() -> Recording {
        Recording::default()
    }

    /// One that records nothing but events, for long runs: what crosses links is kept in memory.
    pub fn of_events() -> Recording {
        let recording = Recording::default();
        recording.0.borrow_mut().events_only = true;
        recording
    }

    fn has_links(&self) -> bool {
        !self.0.borrow().events_only
    }

    /// Times of what is recorded from now on count from `origin` on.
    pub fn count_from(&self, origin: Ps) {
        self.0.borrow_mut().origin = origin;
    }

    /// Adds a track that is no link, as for a PE; returns its number. Traces show it, captures do not.
    pub fn add_track(&self, name: impl Into<String>) -> u32 {
        let mut inner = self.0.borrow_mut();
        inner.tracks.push(name.into());
        (inner.tracks.len() - 1) as u32
    }

    /// Records an activity on an added track, which has one at a time.
    pub fn push_span(&self, track: u32, begin: Ps, end: Ps, what: impl Into<String>) {
        let mut inner = self.0.borrow_mut();
        if inner.events_only {
            return;
        }
        let origin = inner.origin;
        inner.spans.push(Span {
            track,
            begin: begin.saturating_sub(origin),
            end: end.saturating_sub(origin),
            what: what.into(),
        });
    }

    /// Adds an interface; returns its number.
    pub fn add_interface(&self, name: impl Into<String>, encapsulation: Encapsulation) -> u32 {
        let mut inner = self.0.borrow_mut();
        inner.interfaces.push(Interface {
            name: name.into(),
            encapsulation,
        });
        (inner.interfaces.len() - 1) as u32
    }

    fn skip(&self) {
        self.0.borrow_mut().skipped += 1;
    }

    /// Records bytes on an interface, from one time to another. Bytes on an interface that was
    /// never added are counted as skipped.
    pub fn push(
        &self,
        [begin, end]: [Ps; 2],
        (interface, direction): (u32, Direction),
        what: impl Into<String>,
        bytes: Vec<u8>,
    ) {
        let mut inner = self.0.borrow_mut();
        if interface as usize >= inner.interfaces.len() {
            inner.skipped += 1;
            return;
        }
        let origin = inner.origin;
        inner.records.push(Record {
            begin: begin.saturating_sub(origin),
            end: end.saturating_sub(origin),
            interface,
            direction,
            what: what.into(),
            bytes,
        });
    }

    /// What was recorded, by the time at which it begins.
    pub fn slices(&self) -> Vec<Slice> {
        let inner = self.0.borrow();
        let name = |index: u32| {
            let interface = inner.interfaces.get(index as usize);
            interface.map_or(String::new(), |interface| interface.name.clone())
        };
        let slice = |record: &Record| Slice {
            interface: name(record.interface),
            direction: record.direction,
            what: record.what.clone(),
            begin: record.begin,
            end: record.end,
        };
        in_order(&inner.records).into_iter().map(slice).collect()
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.0.borrow().records.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Packets and frames that HyperTransport cannot express.
    pub fn skipped(&self) -> u64 {
        self.0.borrow().skipped
    }

    /// Writes a pcapng file: one interface per link, times in picoseconds, link
    /// types USER0 for HyperTransport, USER1 for PCI Express, USER2 for HTX boards.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_pcapng(&self, out: &mut impl Write) -> io::Result<()> {
        let inner = self.0.borrow();
        pcapng::write(out, &inner.interfaces, &in_order(&inner.records))
    }

    /// Writes a Perfetto trace: one track per link and direction, one slice per
    /// packet; and the tracks that were added.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_perfetto(&self, out: &mut impl Write, unit: TimeUnit) -> io::Result<()> {
        let inner = self.0.borrow();
        let tracks = perfetto::Tracks {
            names: &inner.tracks,
            spans: &inner.spans,
        };
        let records = in_order(&inner.records);
        perfetto::write(out, &inner.interfaces, &records, &tracks, unit)
    }
}

/// By time; links are recorded when transmission begins, each on its own.
fn in_order(records: &[Record]) -> Vec<&Record> {
    let mut ordered: Vec<&Record> = records.iter().collect();
    ordered.sort_by_key(|record| record.begin);
    ordered
}
