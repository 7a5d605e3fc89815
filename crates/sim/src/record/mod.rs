//! Recordings of what crossed the modelled wires.
//!
//! A [`Recording`] watches links, and writes their packets as pcapng (for Wireshark,
//! with `tools/wireshark/hostwire.lua`) and as a Perfetto trace. Watching changes
//! nothing in the simulation.

mod encode;
mod pcapng;
mod perfetto;

pub use encode::nop_bytes;
pub use perfetto::TimeUnit;

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use crate::devices::ht::{Link, Unit};
use crate::devices::link::End;
use crate::devices::{Fabric, packet_bytes};
use crate::engine::{ComponentId, Ps};

/// The protocol of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encapsulation {
    /// HyperTransport packets, as on the link but without CRCs.
    HyperTransport,
    /// Ethernet frames, as HToE uses them.
    Ethernet,
    /// TLPs of PCI Express, with sequence number and LCRC.
    PciExpress,
}

/// Direction on an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From end A to end B.
    AToB,
    /// From end B to end A.
    BToA,
}

impl From<End> for Direction {
    fn from(from: End) -> Direction {
        match from {
            End::A => Direction::AToB,
            End::B => Direction::BToA,
        }
    }
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

/// A part of the time of somebody who is no link: of a PE.
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
}

/// A recording. Clones share it.
#[derive(Clone, Default)]
pub struct Recording(Rc<RefCell<Inner>>);

impl Recording {
    /// An empty recording.
    pub fn new() -> Recording {
        Recording::default()
    }

    /// Times of what is recorded from now on count from `origin` on.
    pub fn count_from(&self, origin: Ps) {
        self.0.borrow_mut().origin = origin;
    }

    /// Adds a track for somebody who is no link; returns its number. Traces show it, captures do
    /// not.
    pub fn add_track(&self, name: impl Into<String>) -> u32 {
        let mut inner = self.0.borrow_mut();
        inner.tracks.push(name.into());
        (inner.tracks.len() - 1) as u32
    }

    /// Records what somebody did on a track that was added, one thing at a time.
    pub fn push_span(&self, track: u32, begin: Ps, end: Ps, what: impl Into<String>) {
        let mut inner = self.0.borrow_mut();
        let origin = inner.origin;
        inner.spans.push(Span {
            track,
            begin: begin.saturating_sub(origin),
            end: end.saturating_sub(origin),
            what: what.into(),
        });
    }

    /// Records everything that crosses `link` from now on; NOPs only if asked,
    /// since there are as many as packets. `false` if it is no link.
    pub fn watch(&self, sim: &mut Fabric, link: ComponentId, nops: bool) -> bool {
        let name = sim.name(link).unwrap_or_default().to_string();
        let Some(model) = sim.component_mut::<Link>(link) else {
            return false;
        };
        let interface = self.add_interface(name, Encapsulation::HyperTransport);
        let recording = self.clone();
        model.set_tap(Box::new(move |tapped| {
            let (what, bytes) = match tapped.unit {
                Unit::Control { .. } if !nops => return,
                Unit::Control { control: nop, .. } => {
                    ("NOP".to_string(), nop_bytes(&nop.credits, nop.acknowledge))
                }
                Unit::Packet { packet, .. } => (encode::name(packet), packet_bytes(packet)),
            };
            let direction = Direction::from(tapped.from);
            match bytes {
                Ok(bytes) => {
                    recording.push(tapped.begin, tapped.end, interface, direction, what, bytes)
                }
                Err(_) => recording.0.borrow_mut().skipped += 1,
            }
        }));
        true
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

    /// Records bytes on an interface. Bytes on an interface that was never added
    /// are counted as skipped.
    pub fn push(
        &self,
        begin: Ps,
        end: Ps,
        interface: u32,
        direction: Direction,
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

    /// Packets that could not be written as HyperTransport packets.
    pub fn skipped(&self) -> u64 {
        self.0.borrow().skipped
    }

    /// Writes a pcapng file: one interface per link, times in picoseconds, link
    /// type USER0 for HyperTransport.
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
