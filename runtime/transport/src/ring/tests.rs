//! The ring against a plain queue, under random operations and hostile memory.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::error::{EnvironmentFault, Loss, TransportError};
use crate::shm::{self, ShmOptions};
use crate::visibility::Visibility;
use crate::window::FIRST_FREE_OFFSET_BYTES;
use crate::wire::Wire;
use crate::wrap::StoresOnly;

const RING_OFFSET: usize = FIRST_FREE_OFFSET_BYTES;
/// In the sender's segment.
const CREDIT_OFFSET: usize = FIRST_FREE_OFFSET_BYTES;

type Sender = RingSender<Outlet, CreditInlet>;
type Receiver = RingReceiver<Inlet, WordOutlet>;

/// A ring from PE 0 to PE 1 and the segments behind it.
struct Fixture {
    sender: Sender,
    receiver: Receiver,
    slots: Slots,
    wires: Vec<Arc<dyn Wire>>,
}

/// The contract of the wire, and whether only its stores are used.
type Kind = (Visibility, bool);

const PLAIN: Kind = (Visibility::Coherent, false);

fn fixture(ring_bytes: usize, (visibility, stores_only): Kind) -> Fixture {
    let slots = Slots::of_bytes(ring_bytes).unwrap();
    let made = shm::local(2, RING_OFFSET + ring_bytes, ShmOptions { visibility });
    let wires = made.unwrap().into_iter();
    let wires: Vec<Arc<dyn Wire>> = wires
        .map(|wire| match stores_only {
            true => Arc::new(StoresOnly::new(Arc::new(wire)).unwrap()) as Arc<dyn Wire>,
            false => Arc::new(wire),
        })
        .collect();
    let sender = RingSender::new(
        Outlet::new(&wires[0], 1, RING_OFFSET, slots).unwrap(),
        CreditInlet::new(wires[0].segment(), CREDIT_OFFSET).unwrap(),
        1,
        slots,
    );
    let receiver = RingReceiver::new(
        Inlet::new(wires[1].segment(), RING_OFFSET, slots).unwrap(),
        WordOutlet::new(&wires[1], 0, CREDIT_OFFSET).unwrap(),
        0,
        slots,
    );
    Fixture {
        sender,
        receiver,
        slots,
        wires,
    }
}

const WIRES: [Kind; 4] = [
    PLAIN,
    (Visibility::WriteCombining, false),
    (Visibility::Flushed, false),
    (Visibility::Coherent, true),
];

#[derive(Debug, Clone)]
enum Op {
    Send { kind: u8, tag: u32, len: usize },
    Receive { room: usize },
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (1..KIND_LIMIT, any::<u32>(), 0..1200usize).prop_map(|(kind, tag, len)| Op::Send {
            kind,
            tag,
            len
        }),
        (1..KIND_LIMIT, any::<u32>(), 0..130usize).prop_map(|(kind, tag, len)| Op::Send {
            kind,
            tag,
            len
        }),
        (0..1300usize).prop_map(|room| Op::Receive { room }),
        Just(Op::Receive { room: 8192 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 400 }))]

    /// Each message comes out once, in order, unchanged. A send is refused only while the
    /// receiver holds so many lines that the message may not fit.
    #[test]
    fn behaves_like_a_queue(
        ops in proptest::collection::vec(op(), 1..300),
        ring_bytes in prop::sample::select(vec![256usize, 512, 1024, 4096, 16384]),
        wire in 0..4usize,
    ) {
        let mut ring = fixture(ring_bytes, WIRES[wire]);
        let mut model: VecDeque<(u8, u32, Vec<u8>)> = VecDeque::new();
        let mut queued_lines = 0;
        let mut fill = 0u8;
        for op in ops {
            match op {
                Op::Send { kind, tag, len } => {
                    let payload: Vec<u8> = (0..len).map(|_| { fill = fill.wrapping_mul(31).wrapping_add(7); fill }).collect();
                    let sent = ring.sender.try_send(kind, tag, &payload);
                    if len > ring.slots.message_bytes_max() {
                        // Refused, unless credit was known.
                        if sent != Ok(true) { continue; }
                        prop_assert!(lines_for(len) <= ring.slots.count());
                        // The receiver refuses what the ring does not allow.
                        return Ok(());
                    }
                    let lines = lines_for(len);
                    let held_back = ring.slots.credit_batch();
                    match sent {
                        Ok(true) => {
                            prop_assert!(queued_lines + lines <= ring.slots.count());
                            queued_lines += lines;
                            model.push_back((kind, tag, payload));
                        }
                        Ok(false) => prop_assert!(
                            queued_lines + held_back + lines > ring.slots.count()
                        ),
                        Err(error) => prop_assert!(false, "{error}"),
                    }
                }
                Op::Receive { room } => {
                    let head = ring.receiver.peek().unwrap();
                    let expected = model.pop_front();
                    prop_assert_eq!(
                        head,
                        expected.as_ref().map(|(kind, tag, bytes)| Head {
                            kind: *kind, tag: *tag, len_bytes: bytes.len()
                        })
                    );
                    if let Some((_, _, bytes)) = expected {
                        let mut out = vec![0xee; room];
                        prop_assert!(ring.receiver.take(&mut out).unwrap());
                        let fits = room.min(bytes.len());
                        prop_assert_eq!(&out[..fits], &bytes[..fits]);
                        prop_assert!(out[fits..].iter().all(|byte| *byte == 0xee));
                        queued_lines -= lines_for(bytes.len());
                    }
                }
            }
        }
    }

    /// Random bytes over the whole ring and the credit give an error or no message. There
    /// is never a panic or an access outside.
    #[test]
    fn scribbled_memory_is_survived(noise in proptest::collection::vec(any::<u8>(), 4096), credit in any::<u64>(), sends in 0..70u32) {
        let mut ring = fixture(4096, PLAIN);
        for tag in 0..sends {
            let _ = ring.sender.try_send(1, tag, &tag.to_le_bytes());
        }
        ring.wires[0].store(1, RING_OFFSET, &noise).unwrap();
        ring.wires[1].store_word(0, CREDIT_OFFSET, credit).unwrap();
        let mut out = [0; 64];
        for _ in 0..200 {
            match ring.receiver.take(&mut out) {
                Ok(_) => {}
                Err(TransportError::PeerMisbehaved { pe, .. }) => { prop_assert_eq!(pe, 0); break; }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
        for tag in 0..200 {
            match ring.sender.try_send(1, tag, b"more") {
                Ok(true) => {}
                Ok(false) => break,
                Err(TransportError::PeerMisbehaved { pe, .. }) => { prop_assert_eq!(pe, 1); break; }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}

#[test]
fn a_line_lies_in_memory_as_documented() {
    let mut ring = fixture(256, PLAIN);
    let payload: Vec<u8> = (1..=64).collect();
    assert_eq!(ring.sender.try_send(3, 0x0403_0201, &payload), Ok(true));
    let mut bytes = [0; 128];
    ring.wires[1]
        .segment()
        .get(RING_OFFSET, &mut bytes)
        .unwrap();
    // Stamp 1, kind 3, 64 bytes from here on, tag.
    assert_eq!(bytes[..8], [1, 0, 3, 2, 1, 2, 3, 4]);
    assert_eq!(bytes[8..64], payload[..56]);
    // Stamp 1, continued, 8 bytes from here on, tag.
    assert_eq!(bytes[64..72], [1, 0, 0x40, 0, 1, 2, 3, 4]);
    assert_eq!(bytes[72..80], payload[56..]);
}

#[test]
fn a_full_ring_refuses_until_the_receiver_is_back_with_a_batch_of_credits() {
    let mut ring = fixture(1024, PLAIN);
    for tag in 0..16 {
        assert_eq!(ring.sender.try_send(1, tag, &[]), Ok(true));
    }
    assert_eq!(ring.sender.try_send(1, 16, &[]), Ok(false));
    for _ in 0..3 {
        assert_eq!(ring.receiver.take(&mut []), Ok(true));
        assert_eq!(ring.receiver.return_credit().map(|_| ()), Ok(()));
        assert_eq!(ring.sender.try_send(1, 16, &[]), Ok(false));
    }
    assert_eq!(ring.receiver.take(&mut []), Ok(true));
    assert_eq!(ring.sender.try_send(1, 16, &[]), Ok(false));
    assert_eq!(ring.receiver.return_credit().map(|_| ()), Ok(()));
    assert_eq!(ring.sender.try_send(1, 16, &[]), Ok(true));
}

#[test]
fn a_hold_stops_messages_once_the_credit_at_hand_is_used_and_nothing_else() {
    for wire in WIRES {
        let mut ring = fixture(1024, wire);
        assert_eq!(ring.receiver.hold(true), Ok(()));
        // The sender has not looked at its earlier credit.
        for tag in 0..16 {
            assert_eq!(ring.sender.try_send(1, tag, &[]), Ok(true));
            assert!(!ring.sender.is_held());
        }
        for _ in 0..16 {
            assert_eq!(ring.receiver.take(&mut []), Ok(true));
            assert_eq!(ring.receiver.return_credit().map(|_| ()), Ok(()));
        }
        for tag in 0..100 {
            assert_eq!(ring.sender.try_send(1, tag, &[]), Ok(false));
            assert_eq!(ring.sender.send_line_at_once(1, tag, &[]), Sent::No);
            assert_eq!(ring.sender.has_room(1, false), Ok(false));
            assert!(ring.sender.is_held());
            assert_eq!(ring.sender.has_room(1, true), Ok(true));
            assert_eq!(ring.sender.try_send_held(3, tag, &[5]), Ok(true));
            let head = ring.receiver.peek().unwrap().unwrap();
            assert_eq!((head.kind, head.tag), (3, tag));
            assert_eq!(ring.receiver.take(&mut []), Ok(true));
            assert_eq!(ring.receiver.return_credit().map(|_| ()), Ok(()));
        }
        assert_eq!(ring.receiver.hold(false), Ok(()));
        assert_eq!(ring.sender.try_send(1, 7, &[]), Ok(true));
        assert!(!ring.sender.is_held());
    }
}

#[test]
fn what_stands_in_front_of_a_message_is_looked_at_and_left_out() {
    let payload: Vec<u8> = (0..=255).collect();
    let front = [0x0807_0605_0403_0201, 0x100f_0e0d_0c0b_0a09];
    let front_bytes: Vec<u8> = (1..=16).collect();
    for wire in WIRES {
        let mut ring = fixture(4096, wire);
        for len in [0, 1, 39, 40, 41, 95, 96, 97, 200, 256] {
            let sent = ring.sender.try_send_behind(5, 9, front, &payload[..len]);
            assert_eq!(sent, Ok(true));
            let head = ring.receiver.peek().unwrap().unwrap();
            assert_eq!((head.kind, head.len_bytes), (5, len + 16));
            let mut seen = [0; 16];
            ring.receiver.front(&mut seen);
            assert_eq!(seen[..], front_bytes);
            // What does not fit is dropped, and nothing is stored beyond.
            let room = len.min(150);
            let mut out = vec![0; room];
            assert_eq!(ring.receiver.take_behind(16, &mut out), Ok(true));
            assert_eq!(out, payload[..room], "{len}");
        }
    }
}

#[test]
fn the_short_way_takes_what_matches_and_nothing_else() {
    let mut ring = fixture(1024, PLAIN);
    let mut out = [0; 200];
    for len in [0, 8, 56, 57, 64, 112, 113, 200] {
        let payload: Vec<u8> = (0..len).map(|i| i as u8 ^ 0x55).collect();
        assert_eq!(
            ring.receiver.take_now(2, 7, 1, &mut out),
            Ok(Taken::Nothing)
        );
        assert_eq!(ring.sender.try_send(2, 7, &payload), Ok(true));
        for (kind, tag, element, room) in [(1, 7, 1, 200), (2, 8, 1, 200), (2, 7, 3, 200)] {
            if element == 1 || len % element != 0 {
                let taken = ring.receiver.take_now(kind, tag, element, &mut out[..room]);
                assert_eq!(taken, Ok(Taken::Nothing), "{len}");
            }
        }
        if len > 0 {
            let short = ring.receiver.take_now(2, 7, 1, &mut out[..len - 1]);
            assert_eq!(short, Ok(Taken::Nothing), "{len}");
        }
        out.fill(0xee);
        assert_eq!(
            ring.receiver.take_now(2, 7, 1, &mut out),
            Ok(Taken::All(len))
        );
        assert_eq!(out[..len], payload);
        assert!(out[len..].iter().all(|byte| *byte == 0xee), "{len}");
        assert_eq!(ring.receiver.return_credit().map(|_| ()), Ok(()));
    }
}

#[test]
fn the_short_way_gives_up_on_a_late_line_and_the_long_way_goes_on() {
    let mut ring = fixture(1024, PLAIN);
    let line = |kind, len| Header::new(Stamp::of_lap(0), kind, len, 9).0;
    let wire = Arc::clone(&ring.wires[0]);
    let store = |at: usize, header, payload: &[u8]| {
        wire.store_line(1, RING_OFFSET + at * 64, header, payload)
            .unwrap();
    };
    store(0, line(1, 120), &[1; 56]);
    store(1, line(KIND_CONTINUED, 64), &[2; 56]);
    let mut out = [0; 120];
    let head = Head {
        kind: 1,
        tag: 9,
        len_bytes: 120,
    };
    assert_eq!(
        ring.receiver.take_now(1, 9, 1, &mut out),
        Ok(Taken::Part(head))
    );
    assert_eq!(ring.receiver.take(&mut out), Ok(false));
    store(2, line(KIND_CONTINUED, 8), &[3; 8]);
    assert_eq!(ring.receiver.take(&mut out), Ok(true));
    assert_eq!((out[55], out[56], out[111], out[112]), (1, 2, 2, 3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 400 }))]

    /// Short ways take the messages that they promise to take, and the long ways take the
    /// rest.
    #[test]
    fn short_ways_and_long_ways_of_messages_with_a_front_agree(
        ops in proptest::collection::vec((any::<[bool; 3]>(), any::<u32>(), any::<[u64; 2]>(), 0..160usize), 1..300),
        ring_bytes in prop::sample::select(vec![256usize, 512, 4096]),
        wire in 0..4usize,
    ) {
        let mut ring = fixture(ring_bytes, WIRES[wire]);
        let is_plain = WIRES[wire] == PLAIN;
        let mut model: VecDeque<(u32, [u64; 2], Vec<u8>)> = VecDeque::new();
        for ([sends, is_short, has_room], tag, front, len) in ops {
            if sends {
                // Longer ones are refused at both ends.
                let len = len.min(ring.slots.message_bytes_max() - FRONT_BYTES);
                let payload: Vec<u8> = (0..len).map(|at| at as u8 ^ tag as u8).collect();
                let lines = lines_for(FRONT_BYTES + len);
                let sent = if is_short {
                    let may = is_plain && lines <= 2 && ring.sender.has_room(lines, false).unwrap();
                    let sent = ring.sender.send_behind_at_once(5, tag, front, &payload);
                    prop_assert!(sent == Sent::No || may);
                    sent != Sent::No
                } else {
                    ring.sender.has_room(lines, false).unwrap()
                        && ring.sender.try_send_behind(5, tag, front, &payload).unwrap()
                };
                if sent {
                    model.push_back((tag, front, payload));
                }
                continue;
            }
            let Some((tag, front, payload)) = model.pop_front() else {
                prop_assert_eq!(ring.receiver.front_at_once(), None);
                prop_assert_eq!(ring.receiver.peek(), Ok(None));
                continue;
            };
            let head = Head { kind: 5, tag, len_bytes: FRONT_BYTES + payload.len() };
            let mut out = vec![0; payload.len() + usize::from(!has_room)];
            let mut is_taken = false;
            if is_short && let Some(found) = ring.receiver.front_at_once() {
                prop_assert_eq!(found, (head, front));
                is_taken = ring.receiver.take_front_at_once(head, true, &mut out);
                prop_assert_eq!(is_taken, has_room && lines_for(head.len_bytes) <= 2);
            }
            if !is_taken {
                prop_assert_eq!(ring.receiver.peek(), Ok(Some(head)));
                prop_assert_eq!(ring.receiver.take_behind(FRONT_BYTES, &mut out), Ok(true));
            }
            prop_assert_eq!(&out[..payload.len()], &payload[..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 400 }))]

    /// Messages of a few lines are the same whichever way takes and sends them.
    #[test]
    fn the_way_of_a_few_lines_and_long_ways_agree(
        ops in proptest::collection::vec((any::<[bool; 3]>(), any::<u32>(), 0..=FEW_BYTES_MAX), 1..300),
        ring_bytes in prop::sample::select(vec![256usize, 512, 4096]),
        wire in 0..4usize,
    ) {
        let mut ring = fixture(ring_bytes, WIRES[wire]);
        let is_plain = WIRES[wire] == PLAIN;
        let mut model: VecDeque<(u32, Vec<u8>)> = VecDeque::new();
        for ([sends, is_short, fits], tag, len) in ops {
            if sends {
                let len = len.min(ring.slots.message_bytes_max());
                let payload: Vec<u8> = (0..len).map(|at| at as u8 ^ tag as u8).collect();
                let has_room = ring.sender.has_room(lines_for(len), false).unwrap();
                let sent = if is_short {
                    let sent = ring.sender.send_few_at_once(5, tag, &payload) != Sent::No;
                    prop_assert_eq!(sent, is_plain && has_room);
                    sent
                } else {
                    ring.sender.try_send(5, tag, &payload).unwrap()
                };
                if sent {
                    model.push_back((tag, payload));
                }
                continue;
            }
            let mut out = [0xee; FEW_BYTES_MAX + 1];
            let Some((tag, payload)) = model.pop_front() else {
                prop_assert!(!ring.receiver.take_few_at_once(5, 0, &mut out[..len], 1));
                prop_assert_eq!(ring.receiver.peek(), Ok(None));
                continue;
            };
            let room = payload.len() + usize::from(!fits);
            if !is_short || !ring.receiver.take_few_at_once(5, tag, &mut out[..room], 1) {
                let head = Head { kind: 5, tag, len_bytes: payload.len() };
                prop_assert_eq!(ring.receiver.peek(), Ok(Some(head)));
                prop_assert_eq!(ring.receiver.take(&mut out), Ok(true));
            } else {
                prop_assert!(fits);
            }
            prop_assert_eq!(&out[..payload.len()], &payload[..]);
            prop_assert!(out[room..].iter().all(|byte| *byte == 0xee));
        }
    }
}

#[test]
fn a_second_line_that_does_not_follow_is_left_to_the_long_way() {
    let mut ring = fixture(1024, PLAIN);
    let first = Header::new(Stamp::of_lap(0), 5, 60, 9).0;
    let wire = Arc::clone(&ring.wires[0]);
    wire.store_line(1, RING_OFFSET, first, &[5; 56]).unwrap();
    let (head, words) = ring.receiver.front_at_once().unwrap();
    assert_eq!(
        (head.tag, head.len_bytes, words),
        (9, 60, [0x0505_0505_0505_0505; 2])
    );
    let mut out = [0; 44];
    assert!(
        !ring.receiver.take_front_at_once(head, true, &mut out),
        "it has not come"
    );
    let wrong = Header::new(Stamp::of_lap(0), KIND_CONTINUED, 5, 9).0;
    wire.store_line(1, RING_OFFSET + 64, wrong, &[6; 5])
        .unwrap();
    assert!(
        !ring.receiver.take_front_at_once(head, true, &mut out),
        "it says another length"
    );
    assert_eq!(out, [0; 44]);
    assert!(ring.receiver.take_behind(FRONT_BYTES, &mut out).is_err());
}

#[test]
fn the_longest_message_fits_whatever_credits_are_held_back() {
    for ring_bytes in [256, 512, 1024, 4096, 1 << 20] {
        let mut ring = fixture(ring_bytes, PLAIN);
        let longest = vec![7; ring.slots.message_bytes_max()];
        let mut out = vec![0; longest.len()];
        for short in 0..ring.slots.count().min(64) {
            for _ in 0..short {
                assert_eq!(ring.sender.try_send(1, 0, b"x"), Ok(true));
                assert_eq!(ring.receiver.take(&mut out), Ok(true));
            }
            assert_eq!(ring.sender.try_send(1, 0, &longest), Ok(true));
            assert_eq!(ring.receiver.take(&mut out), Ok(true));
            assert_eq!(out, longest);
        }
    }
}

#[test]
fn a_message_whose_second_line_is_late_is_taken_in_two_steps() {
    let mut ring = fixture(1024, PLAIN);
    let first = Header::new(Stamp::of_lap(0), 1, 60, 9).0;
    let second = Header::new(Stamp::of_lap(0), KIND_CONTINUED, 4, 9).0;
    let wire = Arc::clone(&ring.wires[0]);
    wire.store_line(1, RING_OFFSET, first, &[5; 56]).unwrap();
    let mut out = [0; 60];
    assert_eq!(ring.receiver.take(&mut out), Ok(false));
    assert_eq!(ring.receiver.take(&mut out), Ok(false));
    wire.store_line(1, RING_OFFSET + 64, second, &[6; 4])
        .unwrap();
    assert_eq!(ring.receiver.take(&mut out), Ok(true));
    assert_eq!(out[..56], [5; 56]);
    assert_eq!(out[56..], [6; 4]);
    assert_eq!(ring.receiver.peek(), Ok(None));
}

#[test]
fn ring_sizes_that_cannot_be_are_refused() {
    for bytes in [0, 64, 128, 300, 4095, (1 << 20) + 64, 1 << 21] {
        assert_eq!(Slots::of_bytes(bytes), None, "{bytes}");
    }
}

/// A place for credit that answers like this.
struct Answers(fn() -> Result<(), TransportError>);

impl CreditStore for Answers {
    fn store_credit(&self, _: u64) -> Result<(), TransportError> {
        (self.0)()
    }
}

/// Takes three messages of several lines each, without losing a line. Returns the number
/// of errors.
fn errors_while_all_is_taken(answers: fn() -> Result<(), TransportError>) -> u32 {
    let mut ring = fixture(1024, PLAIN);
    let inlet = Inlet::new(ring.wires[1].segment(), RING_OFFSET, ring.slots).unwrap();
    let mut receiver = RingReceiver::new(inlet, Answers(answers), 0, ring.slots);
    let message = |n: u8| -> Vec<u8> { (0..250).map(|byte| byte ^ n).collect() };
    for n in 0..3 {
        assert_eq!(ring.sender.try_send(1, 7, &message(n)), Ok(true));
    }
    let mut errors = 0;
    for n in 0..3 {
        let mut out = [0; 250];
        // As a caller that tries again: the current message continues where it was.
        loop {
            match receiver.take(&mut out) {
                Ok(true) => break,
                Ok(false) => panic!("message {n} has lost a line"),
                Err(TransportError::PeerMisbehaved { how, .. }) => panic!("message {n}: {how}"),
                Err(_) => errors += 1,
            }
            assert!(errors < 100);
        }
        assert_eq!(out[..], message(n)[..]);
    }
    errors
}

#[test]
fn what_a_lost_peer_has_sent_is_taken_without_credit_for_it() {
    let lost = || {
        let loss = Loss::Ended;
        Err(TransportError::PeerLost { pe: 0, loss })
    };
    assert_eq!(errors_while_all_is_taken(lost), 0);
}

/// Fails every other time: the next call has to find the line after the one that was
/// taken.
#[test]
fn a_line_that_was_taken_stays_taken_if_no_credit_can_be_stored() {
    thread_local! {
        static TURN: Cell<u32> = const { Cell::new(0) };
    }
    let every_other = || {
        TURN.set(TURN.get() + 1);
        match TURN.get() % 2 {
            0 => Ok(()),
            _ => {
                let fault = EnvironmentFault::unexpected("a place", "none");
                Err(TransportError::environment("storing", fault))
            }
        }
    };
    assert_ne!(errors_while_all_is_taken(every_other), 0);
}
