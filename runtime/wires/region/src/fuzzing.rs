//! The contents of a region that others may write, and the ticket of a place in it.

use hostwire_transport::error::RegionFault;
use hostwire_transport::fuzzing::kit::{Input, Script, Target, blames, mark, named, shown, texts};
use hostwire_transport::visibility::Visibility;

use crate::{ALIGN_BYTES, Bytes, Head, JobEntry, Mark, PeLine, SlotState, Ticket};

/// Every check of this crate.
pub const TARGETS: &[Target] = &[LINES, TICKET];

const HEAD: Head = Head {
    contract: Visibility::Coherent,
    size_bytes: 32 * ALIGN_BYTES,
    identity: 7,
    kernels: 64,
};
const ENTRY: JobEntry = JobEntry {
    key: 9,
    first_unit: 1,
    units: 5,
    pes: 2,
    segment_bytes: 2 * ALIGN_BYTES,
};

/// A byte that says which line, then the line.
pub(super) const LINES: Target = Target {
    name: "region_lines",
    check: lines,
    seeds: || {
        let line = |which: u8, line: Bytes| Script::new().byte(which).bytes(&line).done();
        let pe = PeLine {
            mark: Mark {
                incarnation: 3,
                state: SlotState::Claimed,
            },
            beat: 1,
            epoch: 2,
            segment_offset_bytes: 2 * ALIGN_BYTES,
            process: 4711,
            bell: 0,
        };
        let small = Head {
            size_bytes: ALIGN_BYTES,
            ..HEAD
        };
        let beyond = JobEntry {
            first_unit: 30,
            ..ENTRY
        };
        named(vec![
            ("head", line(0, HEAD.emit())),
            ("small", line(0, small.emit())),
            ("zeros", line(0, [0; 64])),
            ("job", line(1, ENTRY.emit())),
            ("beyond", line(1, beyond.emit())),
            ("pe", line(2, pe.emit())),
            ("no_state", line(2, [7; 64])),
        ])
    },
    cost: 1,
};

fn lines(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let which = input.byte() % 3;
    let rest = input.rest();
    let line: Bytes = core::array::from_fn(|at| rest.get(at).copied().unwrap_or(0));
    match which {
        0 => match Head::parse(&line) {
            Ok(head) => {
                // Reserved bytes are 0, or the check fails.
                assert_eq!(head.emit()[..48], line[..48]);
                assert!(u64::from(head.units()) * ALIGN_BYTES <= head.size_bytes);
            }
            Err(fault) => told(fault),
        },
        1 => match JobEntry::parse(&line, &HEAD) {
            Ok(entry) => {
                assert!(entry.first_unit + entry.units <= HEAD.units());
                let segments = entry.segment_bytes * u64::from(entry.pes);
                assert!(segments < u64::from(entry.units) * ALIGN_BYTES);
            }
            Err(fault) => told(fault),
        },
        _ => match PeLine::parse(&line) {
            Ok(pe) => assert_eq!(pe.emit()[..36], line[..36]),
            Err(fault) => told(fault),
        },
    }
}

fn told(fault: RegionFault) {
    mark(&fault.to_string());
    shown(fault);
}

/// The ticket of a job in a region.
pub(super) const TICKET: Target = Target {
    name: "region_ticket",
    check: |bytes| {
        let text = String::from_utf8_lossy(bytes);
        match text.parse::<Ticket>() {
            // There is only one way to write it.
            Ok(ticket) => assert_eq!(ticket.to_string(), text),
            Err(error) => blames(error, &["launcher"]),
        }
    },
    seeds: || {
        let key = "0123456789abcdef0123456789abcdef";
        let epoch = "00000000000e90c4";
        let ticket = |rest: &str| format!("{key}:{rest}");
        texts(&[
            (
                "named",
                &ticket(&format!("67108864:3:9:{key}:1:{epoch}:0:0")),
            ),
            (
                "nameless",
                &ticket(&format!("67108864:3:9:{key}:0:{epoch}:77:5")),
            ),
            (
                "half",
                &ticket(&format!("67108864:3:9:{key}:0:{epoch}:0:5")),
            ),
            (
                "zeros",
                &ticket(&format!("067108864:3:9:{key}:0:{epoch}:0:0")),
            ),
            ("cut", &ticket("67108864:3")),
        ])
    },
    cost: 1,
};
