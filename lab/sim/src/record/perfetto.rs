//! Perfetto traces: the few protobuf messages that slices on tracks need.
//!
//! Field numbers from `perfetto/trace/*.proto`:
//! `Trace.packet` 1; `TracePacket`: `timestamp` 8, `trusted_packet_sequence_id`
//! 10, `track_event` 11, `sequence_flags` 13, `track_descriptor` 60;
//! `TrackDescriptor`: `uuid` 1, `name` 2, `parent_uuid` 5; `TrackEvent`: `type`
//! 9, `track_uuid` 11, `name` 23.

use std::io::{self, Write};

use super::{Direction, Interface, Record, Span};

const SEQUENCE: u64 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`.
const FIRST_OF_SEQUENCE: u64 = 1;
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;

/// The simulated time that one nanosecond of the viewer's time axis represents.
/// Perfetto counts whole nanoseconds; a bit time may be 208 ps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// A nanosecond; times are rounded down.
    Nanoseconds,
    /// A picosecond: exact, but the axis is a thousand times too long.
    #[default]
    Picoseconds,
}

/// What is shown beside links.
pub(super) struct Tracks<'a> {
    pub(super) names: &'a [String],
    pub(super) spans: &'a [Span],
}

pub(super) fn write(
    out: &mut impl Write,
    interfaces: &[Interface],
    records: &[&Record],
    tracks: &Tracks<'_>,
    unit: TimeUnit,
) -> io::Result<()> {
    let first_track = link_track(interfaces.len() as u32);
    for (index, name) in (0..).zip(tracks.names) {
        descriptor(out, first_track + index, None, name)?;
    }
    for (index, interface) in interfaces.iter().enumerate() {
        let parent = link_track(index as u32);
        descriptor(out, parent, None, &interface.name)?;
        for (direction, name) in [(Direction::AToB, "A to B"), (Direction::BToA, "B to A")] {
            descriptor(
                out,
                direction_track(index as u32, direction),
                Some(parent),
                name,
            )?;
        }
    }
    // Begins and ends of one track alternate, since a direction carries one packet at a time and a
    // PE does one thing; over all tracks they are sorted by time, ends first.
    let mut edges: Vec<(u64, bool, u64, &str)> = Vec::new();
    let of_links = records.iter().map(|record| {
        let track = direction_track(record.interface, record.direction);
        (record.begin, record.end, track, record.what.as_str())
    });
    let of_tracks = tracks.spans.iter().map(|span| {
        let track = first_track + u64::from(span.track);
        (span.begin, span.end, track, span.what.as_str())
    });
    for (begin, end, track, what) in of_links.chain(of_tracks) {
        edges.push((begin.0, true, track, what));
        edges.push((end.0, false, track, what));
    }
    edges.sort_by_key(|(time, begin, ..)| (*time, *begin));
    for (time, begin, track, what) in edges {
        let time = match unit {
            TimeUnit::Nanoseconds => time / 1_000,
            TimeUnit::Picoseconds => time,
        };
        let mut event = Message::default();
        event.varint(9, if begin { SLICE_BEGIN } else { SLICE_END });
        event.varint(11, track);
        if begin {
            event.bytes(23, what.as_bytes());
        }
        let mut packet = Message::default();
        packet.varint(8, time);
        packet.varint(10, SEQUENCE);
        packet.bytes(11, &event.0);
        out.write_all(&in_trace(&packet))?;
    }
    Ok(())
}

fn descriptor(out: &mut impl Write, uuid: u64, parent: Option<u64>, name: &str) -> io::Result<()> {
    let mut track = Message::default();
    track.varint(1, uuid);
    track.bytes(2, name.as_bytes());
    if let Some(parent) = parent {
        track.varint(5, parent);
    }
    let mut packet = Message::default();
    packet.varint(10, SEQUENCE);
    packet.varint(13, FIRST_OF_SEQUENCE);
    packet.bytes(60, &track.0);
    out.write_all(&in_trace(&packet))
}

fn link_track(interface: u32) -> u64 {
    1 + 3 * u64::from(interface)
}

fn direction_track(interface: u32, direction: Direction) -> u64 {
    link_track(interface)
        + match direction {
            Direction::AToB => 1,
            Direction::BToA => 2,
        }
}

fn in_trace(packet: &Message) -> Vec<u8> {
    let mut trace = Message::default();
    trace.bytes(1, &packet.0);
    trace.0
}

/// A protobuf message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, field: u64, value: u64) {
        self.raw(field << 3);
        self.raw(value);
    }

    fn bytes(&mut self, field: u64, value: &[u8]) {
        self.raw(field << 3 | 2);
        self.raw(value.len() as u64);
        self.0.extend(value);
    }

    fn raw(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
