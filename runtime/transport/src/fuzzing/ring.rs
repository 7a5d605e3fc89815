//! The ring, both ends, in memory that the peer writes at any moment.

use std::collections::VecDeque;
use std::sync::Arc;

use super::kit::{Input, Script, Seeds, Target, blames, mark, named};
use super::wire::ScriptedWire;
use crate::error::TransportError;
use crate::ring::{
    CreditInlet, EagerBytes, EagerPlace, Inlet, KIND_LIMIT, Outlet, RingReceiver, RingSender,
    SendOrder, Slots, Taken, WordOutlet,
};
use crate::window::{FIRST_FREE_OFFSET_BYTES, Window};
use crate::wire::Wire;

/// The receiver of a ring. A script: the size of the ring, from 3 on with an eager buffer, then steps of one byte and arguments.
///
/// | step, modulo 8 | arguments | |
/// |---|---|---|
/// | 0, 1 | kind, tag, length | the sender sends |
/// | 2 | room | the receiver looks, and takes what is there |
/// | 3 | kind, tag, room | it takes a message of this kind and tag at once |
/// | 4 | kind, tag, room | so it does, by the shortest way |
/// | 5 | slot, word of it, value | the peer writes a word anywhere in the ring; behind the last slot lies what it says of the eager buffer |
/// | 6 | slot, change | the peer changes a header that is there by exclusive or |
/// | 7 | slot, slot | it copies a line to another place |
pub(super) const RECEIVE: Target = Target {
    name: "ring_receive",
    check: receive,
    seeds: receive_seeds,
    cost: 1,
};

pub(super) const RING: usize = FIRST_FREE_OFFSET_BYTES;
const RING_BYTES_MAX: usize = 1024;
/// In the sender's segment.
pub(super) const CREDIT: usize = FIRST_FREE_OFFSET_BYTES + RING_BYTES_MAX;
/// In the receiver's segment.
const SAID: usize = CREDIT + 64;
pub(super) const EAGER: usize = SAID + 64;
const EAGER_BYTES: usize = 1024;
/// Room for the largest.
pub(super) const SEGMENT_BYTES: usize = EAGER + 8192;
/// Memory that no message may change.
const UNTOUCHED: u8 = 0xa5;

type Sender = RingSender<Outlet, CreditInlet>;
type Receiver = RingReceiver<Inlet, WordOutlet>;

/// A ring from PE 1 to PE 0, both of them here.
pub(super) struct Ring {
    pub(super) wire: Arc<ScriptedWire>,
    pub(super) slots: Slots,
    pub(super) has_eager: bool,
    pub(super) sender: Sender,
    receiver: Receiver,
}

impl Ring {
    /// One of three sizes, and from 3 on with an eager buffer, whose larger area has so many bytes.
    pub(super) fn new(choice: u8, eager_bytes: usize) -> Result<Self, TransportError> {
        let bytes = [256, 512, RING_BYTES_MAX][usize::from(choice) % 3];
        let slots = Slots::of_bytes(bytes).expect("a size of rings");
        let idle = Box::new(|_: &Window| false);
        let wire = Arc::new(ScriptedWire::new(2, SEGMENT_BYTES, true, idle));
        let shared: Arc<dyn Wire> = Arc::clone(&wire) as _;
        let peer = wire.memory_of(1);
        let own = wire.memory_of(0);
        let has_eager = choice / 3 % 2 == 1;
        let eager = EagerBytes::new(eager_bytes).filter(|_| has_eager);
        let eager = eager.map(|bytes| EagerPlace {
            offset_bytes: EAGER,
            bytes,
            own_bytes: bytes.bytes(),
            said_offset_bytes: SAID,
        });
        let mut outlet = Outlet::new(&shared, 0, RING, slots)?.with_eager(eager)?;
        outlet.set_order(SendOrder::Weak);
        let credit = CreditInlet::new(peer, CREDIT)?.with_eager(CREDIT + 8)?;
        Ok(Self {
            sender: RingSender::new(outlet, credit, 0, slots),
            receiver: RingReceiver::new(
                Inlet::new(own, RING, slots)?.with_eager(own, eager)?,
                WordOutlet::new(&shared, 1, CREDIT)?.with_eager(CREDIT + 8),
                1,
                slots,
            ),
            slots,
            has_eager,
            wire,
        })
    }

    fn line(&self, slot: u8) -> usize {
        let slots = self.slots.count() as usize;
        match usize::from(slot) % (slots + usize::from(self.has_eager)) {
            at if at == slots => SAID,
            at => RING + at * 64,
        }
    }
}

/// A message, as it was sent.
#[derive(Debug, PartialEq, Eq)]
struct Message {
    kind: u8,
    tag: u32,
    bytes: Vec<u8>,
}

fn message(input: &mut Input<'_>, longest: usize) -> Message {
    let kind = input.byte() % (KIND_LIMIT - 1) + 1;
    let tag = u32::from(input.byte() % 4);
    let len = usize::from(input.byte()) % (longest + 1);
    let bytes = (0..len).map(|at| (at as u8).wrapping_add(input.byte()));
    Message {
        kind,
        tag,
        bytes: bytes.collect(),
    }
}

fn receive(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut ring = Ring::new(input.byte(), EAGER_BYTES).expect("a ring");
    let mut sent: VecDeque<Message> = VecDeque::new();
    // Until then the receiver gets what was sent.
    let mut is_damaged = false;
    while !input.is_empty() {
        let step = input.byte() % 8;
        let taken = match step {
            0 | 1 => {
                let message = message(&mut input, ring.sender.message_bytes_max());
                match ring
                    .sender
                    .try_send(message.kind, message.tag, &message.bytes)
                {
                    Ok(true) => sent.push_back(message),
                    Ok(false) => {}
                    // The credit of a receiver that has taken a damaged message is wrong.
                    Err(error) => assert!(is_damaged, "{error}"),
                }
                continue;
            }
            2 => take_next(&mut ring, &mut input),
            3 | 4 => take_this(&mut ring, &mut input, step == 4),
            _ => {
                is_damaged |= damage(&ring, &mut input, step);
                continue;
            }
        };
        mark(match (step, &taken) {
            (_, Ok(None)) => "nothing",
            (2, Ok(Some(_))) => "next",
            (3, Ok(Some(_))) => "this one",
            (_, Ok(Some(_))) => "at once",
            (_, Err(_)) => "refused",
        });
        match taken {
            Ok(None) => {}
            Ok(Some(message)) if is_damaged => {
                assert!((1..KIND_LIMIT).contains(&message.kind));
                assert!(message.bytes.len() <= ring.sender.message_bytes_max());
            }
            Ok(Some(message)) => assert_eq!(Some(message), sent.pop_front()),
            Err(error) => {
                assert!(is_damaged, "{error}");
                assert!(matches!(
                    error,
                    TransportError::PeerMisbehaved { pe: 1, .. }
                ));
                blames(error, &["PE 1"]);
                // Such a ring is not used any more.
                return;
            }
        }
    }
}

/// Takes the next message, in as many calls as needed.
fn take_next(ring: &mut Ring, input: &mut Input<'_>) -> Result<Option<Message>, TransportError> {
    let room = usize::from(input.byte());
    let Some(head) = ring.receiver.peek()? else {
        return Ok(None);
    };
    let longest = match ring.has_eager {
        true => EAGER_BYTES,
        false => ring.slots.message_bytes_max(),
    };
    assert!(head.len_bytes <= longest);
    let mut out = vec![UNTOUCHED; head.len_bytes + room];
    // A message that has not arrived now never will, because both ends are in one
    // thread.
    if !ring.receiver.take(&mut out)? {
        return Ok(None);
    }
    let (bytes, behind) = out.split_at(head.len_bytes);
    assert!(behind.iter().all(|byte| *byte == UNTOUCHED));
    Ok(Some(Message {
        kind: head.kind,
        tag: head.tag,
        bytes: bytes.to_vec(),
    }))
}

fn take_this(
    ring: &mut Ring,
    input: &mut Input<'_>,
    at_once: bool,
) -> Result<Option<Message>, TransportError> {
    let kind = input.byte() % (KIND_LIMIT - 1) + 1;
    let tag = u32::from(input.byte() % 4);
    let mut out = vec![UNTOUCHED; input.byte().into()];
    let len = if at_once {
        let receiver = &mut ring.receiver;
        let taken = receiver.take_line_at_once(kind, tag, &mut out, 1)
            || receiver.take_pair_at_once(kind, tag, &mut out, 1)
            || receiver.take_few_at_once(kind, tag, &mut out, 1);
        taken.then_some(out.len())
    } else {
        match ring.receiver.take_now(kind, tag, 1, &mut out)? {
            Taken::All(len) => Some(len),
            Taken::Part(head) => ring.receiver.take(&mut out)?.then_some(head.len_bytes),
            Taken::Nothing => None,
        }
    };
    let Some(len) = len else { return Ok(None) };
    assert!(out[len..].iter().all(|byte| *byte == UNTOUCHED));
    out.truncate(len);
    let bytes = out;
    Ok(Some(Message { kind, tag, bytes }))
}

/// Returns whether anything has changed.
fn damage(ring: &Ring, input: &mut Input<'_>, step: u8) -> bool {
    let segment = ring.wire.memory_of(0);
    let at = ring.line(input.byte());
    let mut before = [0; 64];
    let mut after = [0; 64];
    segment.get(at, &mut before).expect("a line of the ring");
    let written = match step {
        5 => {
            let word = usize::from(input.byte() % 8);
            segment.put_word(at + word * 8, input.number())
        }
        6 => {
            let header = segment.load_word(at).expect("a line of the ring");
            segment.put_word(at, header ^ input.number())
        }
        _ => {
            let from = ring.line(input.byte());
            segment.memory().copy_from(at, segment.memory(), from, 64)
        }
    };
    written.expect("within the ring");
    segment.get(at, &mut after).expect("a line of the ring");
    before != after
}

fn header(stamp: u64, kind: u64, len: u64) -> u64 {
    stamp | kind << 16 | len << 19
}

fn write(script: Script, slot: u8, header: u64) -> Script {
    script.bytes(&[5, slot, 0]).number(header)
}

fn sending(script: Script, len: u8) -> Script {
    script.bytes(&[0, 0, 0, len]).bytes(&vec![1; len.into()])
}

fn receive_seeds() -> Seeds {
    let laps = (0..12).fold(Script::new().byte(0), |script, _| {
        sending(script, 50).bytes(&[2, 0])
    });
    let mut seeds = named(vec![
        (
            "short",
            sending(Script::new().byte(0), 8).bytes(&[2, 3]).done(),
        ),
        (
            "several_lines",
            sending(Script::new().byte(2), 200).bytes(&[2, 0]).done(),
        ),
        (
            "at_once",
            sending(
                sending(Script::new().byte(1), 56).bytes(&[4, 0, 0, 56]),
                100,
            )
            .bytes(&[4, 0, 0, 100])
            .done(),
        ),
        (
            "this_one",
            sending(Script::new().byte(1), 120)
                .bytes(&[3, 0, 0, 130])
                .done(),
        ),
        ("laps", laps.done()),
        (
            "wrong_stamp",
            write(Script::new().byte(0), 0, header(7, 1, 8))
                .bytes(&[2, 0])
                .done(),
        ),
    ]);
    seeds.extend(damaged_seeds());
    seeds.extend(eager_seeds());
    seeds
}

fn damaged_seeds() -> Seeds {
    named(vec![
        (
            "too_long",
            write(Script::new().byte(0), 0, header(1, 1, 8191))
                .bytes(&[2, 0])
                .done(),
        ),
        (
            "too_long_at_once",
            write(Script::new().byte(0), 0, header(1, 1, 200))
                .bytes(&[3, 0, 0, 250])
                .done(),
        ),
        (
            "continued_first",
            write(Script::new().byte(0), 0, header(1, 0, 8))
                .bytes(&[2, 0])
                .done(),
        ),
        (
            "wrong_next",
            write(
                write(Script::new().byte(1), 0, header(1, 1, 100)),
                1,
                header(1, 0, 43),
            )
            .bytes(&[2, 0])
            .done(),
        ),
        (
            "changed",
            sending(Script::new().byte(1), 100)
                .bytes(&[6, 1])
                .number(1 << 19)
                .bytes(&[2, 9])
                .done(),
        ),
        (
            "copied",
            sending(Script::new().byte(1), 8)
                .bytes(&[7, 1, 0, 2, 0, 2, 0])
                .done(),
        ),
    ])
}

/// Rings with an eager buffer.
fn eager_seeds() -> Seeds {
    named(vec![
        (
            "eager",
            sending(sending(Script::new().byte(3), 250).bytes(&[2, 0]), 200)
                .bytes(&[3, 0, 0, 210])
                .done(),
        ),
        (
            "eager_of_no_kind",
            sending(Script::new().byte(4), 250)
                .bytes(&[5, 0, 1])
                .number(250)
                .bytes(&[2, 0])
                .done(),
        ),
    ])
}
