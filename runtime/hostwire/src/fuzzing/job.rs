//! A job whose other PEs write anything at any moment: into rings, mail lines, flags, requests
//! and replies. Everything comes back with a result or an error that names one of them.

use std::sync::Arc;

use hostwire_transport::fuzzing::kit::{Input, Script, Seeds, Target, blames, mark, named};
use hostwire_transport::fuzzing::wire::ScriptedWire;

use super::stores::{PES, STORE, Store, StoreScript, peers};
use crate::core::team::LEAVING;
use crate::core::{FIRST_STAMP, Kind, Tag};
use crate::layout::{Layout, Sizes};
use crate::{AgentMode, Error, Job, Result};

/// A script: a byte for the capabilities of the wire, then operations of this PE (bytes below
/// 128) and stores of the others (the rest, see [`Store`]), which are done one by one while this
/// PE waits. When none is left, the others have ended.
///
/// | byte, modulo 12 | arguments | |
/// |---|---|---|
/// | 0 | PE, tag, length | send |
/// | 1 | PE, tag | receive a message of any length |
/// | 2 | PE, tag, room | receive into memory |
/// | 3 | PE, tag, room | receive if it is there |
/// | 4 | PE, tag, length, PE, room | exchange |
/// | 5 | | barrier |
/// | 6 | elements | reduce |
/// | 7 | PE, elements | broadcast |
/// | 8 | elements | allocate, put, get, add, free |
/// | 9 | elements | gather from all |
/// | 10 | | split the team |
/// | 11 | | look |
pub(super) const JOB: Target = Target {
    name: "job",
    check: job,
    seeds,
    cost: 8,
};

/// With these sizes, messages of up to 448 bytes go through the ring.
const SIZES: Sizes = Sizes {
    ring_bytes: 1024,
    heap_bytes: 16 << 10,
    ..Sizes::USUAL
};
/// Longest message that is sent: more than all of staging.
const LEN_MAX: usize = 300_000;
const OPERATIONS_MAX: usize = 24;

fn job(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let is_mapped = input.byte().is_multiple_of(2);
    let (mut operations, mut stores) = (Vec::new(), Vec::new());
    while !input.is_empty() {
        let mut ahead = input.clone();
        if ahead.byte() >= STORE {
            stores.push(Store::read(&mut input));
        } else if operations.len() < OPERATIONS_MAX {
            operations.push(Operation::read(&mut input));
        } else {
            break;
        }
    }
    let layout = Layout::new(PES, SIZES).expect("sizes of a job");
    let peers = peers(layout, stores);
    let wire = Arc::new(ScriptedWire::new(
        PES,
        layout.segment_bytes(),
        is_mapped,
        peers,
    ));
    let job = Job::over(Arc::clone(&wire) as _, SIZES, AgentMode::Polled).expect("a job");
    for operation in operations {
        if let Err(error) = operation.run(&job, &wire) {
            blames(&error, &["PE 1", "PE 2", "1 and", "PEs disagree"]);
            match error {
                // The message stays, and the next one may fit.
                Error::MessageTooLong { .. } | Error::MessageShape { .. } => {}
                Error::PeerMisbehaved { .. }
                | Error::PeerLost { .. }
                | Error::PeerLeft { .. }
                | Error::CollectiveMismatch { .. } => return,
                other => panic!("nobody's fault: {other}"),
            }
        }
    }
    if let Err(error) = job.finalize() {
        blames(error, &["PE 1", "PE 2"]);
    }
}

/// See [`JOB`].
#[derive(Debug)]
struct Operation {
    what: u8,
    pe: u32,
    from: u32,
    tag: u64,
    len: usize,
    room: usize,
}

impl Operation {
    fn read(input: &mut Input<'_>) -> Self {
        let what = input.byte() % 12;
        let mut operation = Self {
            what,
            pe: 1,
            from: 1,
            tag: 0,
            len: 0,
            room: 0,
        };
        let pe = |input: &mut Input<'_>| u32::from(input.byte() % (PES as u8));
        // A PE that waits for a message from itself that it has not sent would wait for ever.
        let other = |input: &mut Input<'_>| u32::from(input.byte() % (PES as u8 - 1)) + 1;
        let len = |input: &mut Input<'_>| input.number() as usize % LEN_MAX;
        match what {
            0 => (operation.pe, operation.tag) = (pe(input), input.byte().into()),
            1..=3 => (operation.from, operation.tag) = (other(input), input.byte().into()),
            4 => {
                (operation.pe, operation.tag) = (pe(input), input.byte().into());
                operation.len = len(input);
                operation.from = other(input);
                operation.room = len(input);
            }
            7 => operation.pe = pe(input),
            _ => {}
        }
        match what {
            0 | 6..=9 => operation.len = len(input),
            2 | 3 => operation.room = len(input),
            _ => {}
        }
        operation
    }

    fn run(&self, job: &Job, wire: &ScriptedWire) -> Result<()> {
        let Self {
            pe,
            from,
            tag,
            len,
            room,
            ..
        } = *self;
        let few = len % 2000;
        match self.what {
            0 => {
                job.send(pe, tag, &vec![7_u8; len])?;
                mark("sent");
            }
            1 => {
                let got: Vec<u32> = job.recv_vec(from, tag)?;
                mark(if got.len() > 112 {
                    "received long"
                } else {
                    "received"
                });
            }
            2 => {
                let got = job.recv(from, tag, &mut vec![0_u8; room])?;
                assert!(got <= room);
                mark(if got > 448 {
                    "received long here"
                } else {
                    "received here"
                });
            }
            3 => {
                let got = job.try_recv(from, tag, &mut vec![0_u16; room])?;
                assert!(got.is_none_or(|got| got <= room));
            }
            4 => {
                let mut into = vec![0_u8; room];
                let got = job.exchange(pe, &vec![1_u8; len], from, &mut into, tag)?;
                assert!(got <= room);
                mark("exchanged");
            }
            5 => {
                job.barrier()?;
                mark("met");
            }
            6 => {
                job.all_reduce(&mut vec![1_u64; few], u64::wrapping_add)?;
                mark("reduced");
            }
            7 => {
                job.broadcast(pe, &mut vec![1_u32; few])?;
                mark("broadcast");
            }
            8 => {
                let object = job.alloc::<u64>(few.max(1))?;
                mark("allocated");
                object.put(1, 0, &[1])?;
                object.get(2, 0, &mut [0])?;
                object.add(1, 0, 1)?;
                object.free()?;
                mark("freed");
            }
            9 => {
                let mut all = vec![0_u16; few * PES as usize];
                job.all_gather(&vec![1_u16; few], &mut all)?;
                mark("gathered");
            }
            10 => {
                if let Some(team) = job.world().split(Some(0), 0)? {
                    mark("split");
                    team.barrier()?;
                }
            }
            _ => wire.step(),
        }
        Ok(())
    }
}

fn seeds() -> Seeds {
    let mapped = || Script::new().byte(0);
    let stores = || Script::new().byte(1);
    let receive = |script: Script| script.bytes(&[1, 0, 5]);
    let send = |script: Script, len: u64| script.bytes(&[0, 1, 5]).number(len);
    let send_long = |script: Script| send(script, 299_999);
    let long = |source: u64| receive(mapped()).announce(5, [1, 1000, source]);
    let staged = long(u64::MAX).mail(4, 1, 1);
    let flag =
        |script: Script, round: u8, value: u64| script.bytes(&[STORE | 6, 0, round]).number(value);
    let first = FIRST_STAMP;
    let leaving = |script: Script, round: u8| {
        let script = script.bytes(&[STORE | 6, LEAVING as u8, round]);
        script.number(first)
    };
    let reduce = || mapped().bytes(&[6, 1]);
    // A reduction of one element of 8 bytes.
    let sum = Tag::new(Kind::Reduce, 8).word();
    let gather = Tag::new(Kind::Gather, 8).word();
    let met = |script: Script| flag(flag(script.byte(5), 0, first), 1, first);
    named(vec![
        ("message", receive(mapped()).line(1, 5, 8, &[1; 8]).done()),
        (
            "other_tag",
            receive(mapped())
                .line(1, 6, 8, &[1; 8])
                .line(1, 5, 4, &[2; 4])
                .done(),
        ),
        (
            "two_lines",
            receive(stores())
                .line(1, 5, 60, &[1; 56])
                .line(0, 5, 4, &[2; 4])
                .done(),
        ),
        ("odd", receive(mapped()).line(1, 5, 7, &[1; 7]).done()),
        (
            "too_long",
            mapped().bytes(&[2, 0, 5, 3]).line(1, 5, 8, &[1; 8]).done(),
        ),
        ("fetched", long(65_536).done()),
        ("misplaced", long(1 << 40).done()),
        ("staged", staged.done()),
        ("too_many_pieces", long(u64::MAX).mail(4, 1, 9).done()),
        (
            "endless",
            receive(mapped())
                .announce(5, [1, 1 << 62, u64::MAX])
                .mail(4, 1, 4)
                .mail(4, 1, 8)
                .done(),
        ),
        ("taken", send_long(mapped()).answer(1, 1).done()),
        (
            "direct",
            send(stores(), 100_000).answer(1, 65_536 << 2 | 2).done(),
        ),
        (
            "direct_outside",
            send_long(stores()).answer(1, 1 << 52 | 2).done(),
        ),
        ("unasked", receive(mapped()).answer(1, 1).done()),
        ("delivered_unasked", receive(mapped()).answer(1, 4).done()),
        (
            "twice_announced",
            receive(mapped())
                .announce(6, [1, 10, u64::MAX])
                .announce(6, [1, 10, u64::MAX])
                .done(),
        ),
        ("wide", receive(mapped()).line(5, 5, 24, &[0; 24]).done()),
        (
            "wide_too_short",
            receive(mapped()).line(5, 5, 8, &[1; 8]).done(),
        ),
        (
            "pieces",
            send_long(mapped()).answer(1, 3).mail(3, 1, 8).done(),
        ),
        (
            "never_sent",
            send_long(mapped()).answer(1, 3).mail(3, 1, 99).done(),
        ),
        ("barrier", met(met(stores())).done()),
        ("barriers_ahead", flag(met(stores()), 0, 99).byte(5).done()),
        (
            "leaving",
            mapped()
                .byte(5)
                .bytes(&[STORE | 3, 1, 5, 0, 1])
                .bytes(&[STORE | 6, 9, 9, 0].repeat(8))
                .done(),
        ),
        (
            "told_lost",
            stores()
                .bytes(&[1, 1, 5])
                .bytes(&[STORE | 3, 1, 6])
                .number(0)
                .number(0x6c6f_7374)
                .done(),
        ),
        (
            "credit",
            (0..20)
                .fold(mapped(), |s, _| s.bytes(&[0, 1, 5, 100]))
                .mail(0, 1 << 20, 5)
                .done(),
        ),
        ("reduce", reduce().meet(1, sum, 5).meet(2, sum, 6).done()),
        ("reduce_or_gather", reduce().meet(1, gather, 5).done()),
        ("reduce_what", reduce().meet(1, u64::MAX, 5).done()),
        (
            "reduced_too_often",
            reduce().bytes(&[STORE | 6, 0, 0x82]).number(9).done(),
        ),
        (
            "finalize",
            leaving(leaving(stores(), 0), 1).mail(5, 0, 2).done(),
        ),
        (
            "exchange",
            mapped()
                .bytes(&[4, 1, 5, 9, 0, 9])
                .line(1, 5, 9, &[1; 9])
                .done(),
        ),
        ("allocate", met(mapped().bytes(&[8, 9])).done()),
    ])
}

#[cfg(test)]
mod tests {
    use hostwire_transport::Loss;
    use hostwire_transport::fuzzing::kit::take_marks;

    use super::*;
    use crate::error::{Misbehaviour, PeerWord};

    fn marks(place: &str) -> Vec<u64> {
        mark(place);
        take_marks()
    }

    /// The seeds that end in an error. The numbers in the errors are not compared.
    fn refusals() -> [(&'static str, Error); 12] {
        let broke = |how| Error::PeerMisbehaved { pe: 1, how };
        let differs = |theirs: &str| Error::CollectiveMismatch {
            operation: "a reduction",
            pe: 1,
            theirs: theirs.into(),
            ours: "a reduction of 8 bytes, uint64".into(),
        };
        let pieces = PeerWord::Pieces.out_of(0..=1, 1, 9);
        [
            (
                "odd",
                Error::MessageShape {
                    from: 1,
                    tag: 5,
                    message_bytes: 7,
                    element_bytes: 4,
                },
            ),
            (
                "too_long",
                Error::MessageTooLong {
                    from: 1,
                    tag: 5,
                    message_bytes: 8,
                    room_bytes: 3,
                },
            ),
            (
                "misplaced",
                broke(Misbehaviour::Source {
                    offset_bytes: 1,
                    len_bytes: 1,
                }),
            ),
            ("too_many_pieces", pieces.clone()),
            ("never_sent", pieces),
            (
                "direct_outside",
                broke(Misbehaviour::Destination {
                    offset_bytes: 1,
                    len_bytes: 1,
                }),
            ),
            ("reduce_or_gather", differs("a gather from all of 8 bytes")),
            ("reduce_what", differs("something unknown")),
            ("reduced_too_often", PeerWord::TeamLine.out_of(0..=2, 1, 9)),
            ("leaving", Error::PeerLeft { pe: 2 }),
            (
                "told_lost",
                Error::PeerLost {
                    pe: 2,
                    loss: Loss::Ended,
                },
            ),
            (
                "credit",
                broke(Misbehaviour::Wire(
                    hostwire_transport::Misbehaviour::Credit {
                        min: 0,
                        max: 1,
                        got: 9,
                    },
                )),
            ),
        ]
    }

    #[test]
    fn seeds_get_where_they_are_meant_to() {
        let reaches = |name: &str, place: &str| {
            let seeds = seeds();
            let seed = seeds.iter().find(|(seed, _)| seed == name).expect(name);
            take_marks();
            job(&seed.1);
            let reached = take_marks();
            assert!(reached.contains(&marks(place)[0]), "{name} misses {place}");
        };
        for (name, place) in [
            ("message", "received"),
            ("other_tag", "received"),
            ("two_lines", "received"),
            ("fetched", "received long"),
            ("staged", "received long"),
            ("taken", "sent"),
            ("direct", "sent"),
            ("pieces", "sent"),
            ("wide", "received"),
            ("barrier", "met"),
            ("exchange", "exchanged"),
            ("reduce", "reduced"),
        ] {
            reaches(name, place);
        }
        for (name, error) in refusals() {
            reaches(name, &error.to_string());
        }
    }
}
