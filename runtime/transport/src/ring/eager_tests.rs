//! Rings with an eager buffer: against a plain queue, between two threads, and with hostile memory.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

use proptest::prelude::*;

use super::*;
use crate::error::TransportError;
use crate::faults::Faulty;
use crate::shm::{self, ShmOptions};
use crate::visibility::Visibility;
use crate::window::FIRST_FREE_OFFSET_BYTES;
use crate::wire::Wire;
use crate::wrap::log::{Asked, Log};
use crate::wrap::{Store, StoresOnly};

const RING_BYTES: usize = 256;
const RING: usize = FIRST_FREE_OFFSET_BYTES;
/// In the receiver's segment.
const SAID: usize = RING + RING_BYTES;
/// In the sender's segment.
const CREDIT: usize = FIRST_FREE_OFFSET_BYTES;
const EAGER_CREDIT: usize = CREDIT + 8;
const EAGER: usize = SAID + 64;
/// Behind the eager buffer.
const BEHIND_BYTES: usize = 4096;

type Sender = RingSender<Outlet, CreditInlet>;
type Receiver = RingReceiver<Inlet, WordOutlet>;

/// A ring from PE 0 to PE 1 with an eager buffer.
struct Fixture {
    sender: Sender,
    receiver: Receiver,
    wires: Vec<Arc<dyn Wire>>,
}

fn place(eager_bytes: usize) -> Option<EagerPlace> {
    Some(EagerPlace {
        offset_bytes: EAGER,
        bytes: EagerBytes::new(eager_bytes)?,
        own_bytes: EagerBytes::new(eager_bytes)?.bytes(),
        said_offset_bytes: SAID,
    })
}

/// How the memory of the receiver is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Mapped(Visibility),
    /// By stores that the wire carries.
    Posted,
    /// By stores that overtake each other, or come twice.
    Faulty,
}

const COHERENT: Way = Way::Mapped(Visibility::Coherent);
const WAYS: [Way; 5] = [
    COHERENT,
    Way::Mapped(Visibility::Flushed),
    Way::Mapped(Visibility::WriteCombining),
    Way::Posted,
    Way::Faulty,
];

impl Way {
    fn visibility(self) -> Visibility {
        match self {
            Self::Mapped(visibility) => visibility,
            Self::Posted | Self::Faulty => Visibility::Coherent,
        }
    }

    /// `wire`, so that memory is reached in this way.
    fn over(self, wire: Arc<dyn Wire>) -> Arc<dyn Wire> {
        match self {
            Self::Mapped(_) => wire,
            Self::Posted => Arc::new(StoresOnly::new(wire).unwrap()),
            Self::Faulty => {
                let faults = "reorder=0.5,dup=0.3,seed=5".parse().unwrap();
                Arc::new(Faulty::new(wire, faults).unwrap())
            }
        }
    }
}

impl Fixture {
    /// A store that is held back leaves when its PE looks.
    fn let_go(&self) {
        for wire in &self.wires {
            wire.poll().unwrap();
        }
    }
}

fn fixture(eager_bytes: usize, way: Way) -> Fixture {
    let visibility = way.visibility();
    let slots = Slots::of_bytes(RING_BYTES).unwrap();
    let bytes = EagerBytes::new(eager_bytes).unwrap();
    let segment_bytes = EAGER + bytes.bytes() + BEHIND_BYTES;
    let made = shm::local(2, segment_bytes, ShmOptions { visibility });
    let wires: Vec<Arc<dyn Wire>> = made
        .unwrap()
        .into_iter()
        .map(|wire| way.over(Arc::new(wire)))
        .collect();
    let place = place(eager_bytes);
    let outlet = Outlet::new(&wires[0], 1, RING, slots).unwrap();
    let inlet = Inlet::new(wires[1].segment(), RING, slots).unwrap();
    let credit = CreditInlet::new(wires[0].segment(), CREDIT).unwrap();
    let back = WordOutlet::new(&wires[1], 0, CREDIT).unwrap();
    Fixture {
        sender: RingSender::new(
            outlet.with_eager(place).unwrap(),
            credit.with_eager(EAGER_CREDIT).unwrap(),
            1,
            slots,
        ),
        receiver: RingReceiver::new(
            inlet.with_eager(wires[1].segment(), place).unwrap(),
            back.with_eager(EAGER_CREDIT),
            0,
            slots,
        ),
        wires,
    }
}

fn bytes(number: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| (number * 31 + at * 7) as u8).collect()
}

#[derive(Debug, Clone)]
enum Op {
    Send { tag: u32, len: usize },
    SendBehind { tag: u32, len: usize },
    SendHeld { tag: u32, len: usize },
    Hold(bool),
    Receive { room: usize },
    TakeNow { room: usize },
    TakeLong,
    TakeWhole,
}

fn op() -> impl Strategy<Value = Op> {
    let len = || prop_oneof![0..120usize, 0..1041usize];
    prop_oneof![
        (any::<u32>(), len()).prop_map(|(tag, len)| Op::Send { tag, len }),
        (any::<u32>(), len()).prop_map(|(tag, len)| Op::SendBehind { tag, len }),
        (any::<u32>(), len()).prop_map(|(tag, len)| Op::SendHeld { tag, len }),
        any::<bool>().prop_map(Op::Hold),
        (0..1200usize).prop_map(|room| Op::Receive { room }),
        (0..1200usize).prop_map(|room| Op::TakeNow { room }),
        Just(Op::TakeLong),
        Just(Op::TakeWhole),
    ]
}

/// Kind, tag and payload of what was sent and not received.
type Model = VecDeque<(u8, u32, Vec<u8>)>;

/// A receiver that has all messages and looks for the next one gives room for any. During a hold, for those that are sent in spite of it.
fn refuses_rightly(ring: &mut Fixture, model: &Model, len: usize, held: bool) -> bool {
    ring.receiver.return_credit().unwrap();
    ring.let_go();
    let has_room = ring.sender.has_room_for(len, held).unwrap();
    !model.is_empty() || has_room || ring.sender.is_held() && !held
}

const KIND: u8 = 1;
const KIND_HELD: u8 = 3;
const KIND_BEHIND: u8 = 5;
const FRONT: [u64; FRONT_WORDS] = [0x0102_0304_0506_0708, 9];

/// The short way of a blocking receive takes the message of this kind, tag and length, and no other.
fn take_long(ring: &mut Fixture, model: &mut Model) -> Result<(), TestCaseError> {
    ring.receiver.return_credit().unwrap();
    let Some((kind, tag, payload)) = model.front() else {
        prop_assert!(!ring.receiver.take_long_at_once(KIND, 0, &mut [0; 99], 1));
        return Ok(());
    };
    let mut longer = vec![0; payload.len() + 1];
    prop_assert!(!ring.receiver.take_long_at_once(KIND, *tag, &mut longer, 1));
    let same = &mut longer[1..];
    prop_assert!(!ring.receiver.take_long_at_once(KIND, !*tag, same, 1));
    let mut out = vec![0; payload.len()];
    let taken = ring.receiver.take_long_at_once(KIND, *tag, &mut out, 1);
    prop_assert_eq!(taken, *kind == KIND && !payload.is_empty());
    if taken {
        prop_assert_eq!(&out, payload);
        model.pop_front();
    }
    Ok(())
}

/// The short way of a posted receive, which looks at the front before, takes any message but an empty one.
fn take_whole(ring: &mut Fixture, model: &mut Model) -> Result<(), TestCaseError> {
    ring.receiver.return_credit().unwrap();
    let mut found = ring.receiver.front_at_once();
    if let Some((head, _)) = found
        && head.kind == KIND_CONTINUED
    {
        let front = ring.receiver.eager_front_at_once(head.tag);
        found = front.map(|front| (front.head(), front.words()));
    }
    let Some((kind, tag, payload)) = model.pop_front() else {
        prop_assert_eq!(found, None);
        return Ok(());
    };
    let skip = if kind == KIND_BEHIND { FRONT_BYTES } else { 0 };
    let (head, words) = found.unwrap();
    let len_bytes = skip + payload.len();
    let expected = Head {
        kind,
        tag,
        len_bytes,
    };
    prop_assert_eq!(head, expected);
    prop_assert!(skip == 0 || words == FRONT);
    let mut longer = vec![0; payload.len() + 1];
    prop_assert!(!ring.receiver.take_whole_at_once(head, skip, &mut longer));
    let mut out = vec![0; payload.len()];
    let taken = ring.receiver.take_whole_at_once(head, skip, &mut out);
    prop_assert_eq!(taken, len_bytes > 0);
    if !taken {
        prop_assert_eq!(ring.receiver.take(&mut out), Ok(true));
    }
    prop_assert_eq!(out, payload);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 400 }))]

    /// Each message comes out once, in order, unchanged, whatever its way.
    #[test]
    fn behaves_like_a_queue(
        ops in proptest::collection::vec(op(), 1..200),
        eager_bytes in prop::sample::select(vec![2048usize, 4096]),
        way in prop::sample::select(&WAYS[..]),
    ) {
        let mut ring = fixture(eager_bytes, way);
        prop_assert_eq!(ring.sender.message_bytes_max(), eager_bytes / 2 + 16);
        let mut model = Model::new();
        for (number, op) in ops.into_iter().enumerate() {
            ring.let_go();
            match op {
                Op::Send { tag, len } => {
                    let payload = bytes(number, len);
                    let has_room = ring.sender.has_room_for(len, false).unwrap();
                    let sent = ring.sender.try_send(KIND, tag, &payload).unwrap();
                    prop_assert_eq!(sent, has_room);
                    if sent { model.push_back((KIND, tag, payload)); } else { prop_assert!(refuses_rightly(&mut ring, &model, len, false)); }
                }
                Op::SendBehind { tag, len } => {
                    let len = len.min(1024);
                    let payload = bytes(number, len);
                    let has_room = ring.sender.has_room_for(FRONT_BYTES + len, false).unwrap();
                    let sent = ring.sender.try_send_behind(KIND_BEHIND, tag, FRONT, &payload).unwrap();
                    prop_assert_eq!(sent, has_room);
                    if sent { model.push_back((KIND_BEHIND, tag, payload)); } else { prop_assert!(refuses_rightly(&mut ring, &model, FRONT_BYTES + len, false)); }
                }
                Op::SendHeld { tag, len } => {
                    let payload = bytes(number, len);
                    let has_room = ring.sender.has_room_for(len, true).unwrap();
                    let sent = ring.sender.try_send_held(KIND_HELD, tag, &payload).unwrap();
                    prop_assert_eq!(sent, has_room);
                    if sent { model.push_back((KIND_HELD, tag, payload)); } else { prop_assert!(refuses_rightly(&mut ring, &model, len, true)); }
                }
                Op::Hold(held) => ring.receiver.hold(held).unwrap(),
                Op::Receive { room } => {
                    let head = ring.receiver.peek().unwrap();
                    let Some((kind, tag, payload)) = model.pop_front() else {
                        prop_assert_eq!(head, None);
                        continue;
                    };
                    let skip = if kind == KIND_BEHIND { FRONT_BYTES } else { 0 };
                    prop_assert_eq!(head, Some(Head { kind, tag, len_bytes: skip + payload.len() }));
                    let mut front = [0; FRONT_BYTES];
                    ring.receiver.front(&mut front);
                    if skip > 0 {
                        prop_assert_eq!(&front[..8], &FRONT[0].to_le_bytes()[..]);
                    }
                    let mut out = vec![0xee; room];
                    prop_assert!(ring.receiver.take_behind(skip, &mut out).unwrap());
                    let fits = room.min(payload.len());
                    prop_assert_eq!(&out[..fits], &payload[..fits]);
                    prop_assert!(out[fits..].iter().all(|byte| *byte == 0xee));
                }
                Op::TakeNow { room } => {
                    let (tag, expected) = match model.front() {
                        Some((KIND, tag, payload)) if payload.len() <= room => (*tag, Taken::All(payload.len())),
                        Some((_, tag, _)) => (*tag, Taken::Nothing),
                        None => (0, Taken::Nothing),
                    };
                    let mut out = vec![0; room];
                    let taken = ring.receiver.take_now(KIND, tag, 1, &mut out).unwrap();
                    prop_assert_eq!(taken, expected);
                    if let Taken::All(len) = taken {
                        let (_, _, payload) = model.pop_front().unwrap();
                        prop_assert_eq!(&out[..len], &payload);
                    }
                }
                // These are for coherent memory.
                Op::TakeLong | Op::TakeWhole if way.visibility() != Visibility::Coherent => {}
                Op::TakeLong => take_long(&mut ring, &mut model)?,
                Op::TakeWhole => take_whole(&mut ring, &mut model)?,
            }
        }
    }

    /// Any bytes in the line, the words and the buffer give an error or a message that fits.
    #[test]
    fn scribbled_memory_is_survived(
        noise in proptest::collection::vec(any::<u8>(), RING_BYTES),
        said in any::<u64>(),
        credit in any::<u64>(),
        word in (any::<u64>(), 0..9u64, 0..1200u64),
        sends in 0..6usize,
        way in prop::sample::select(&WAYS[..4]),
    ) {
        let mut ring = fixture(2048, way);
        for number in 0..sends {
            let _ = ring.sender.try_send(1, 0, &bytes(number, 200 + 100 * number));
        }
        if word.0 % 2 == 0 {
            ring.wires[0].store(1, RING, &noise).unwrap();
        } else {
            // What only a word of the line says is wrong.
            let is_whole = (word.0 >> 1) & 1;
            ring.wires[0].store_word(1, RING + 8, is_whole << 41 | word.1 << 32 | word.2).unwrap();
        }
        ring.wires[0].store_word(1, SAID, said).unwrap();
        ring.wires[1].store_word(0, EAGER_CREDIT, credit).unwrap();
        let mut out = [0; 600];
        for _ in 0..20 {
            match ring.receiver.take(&mut out) {
                Ok(_) => {}
                Err(TransportError::PeerMisbehaved { pe, .. }) => { prop_assert_eq!(pe, 0); break; }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
        for _ in 0..20 {
            match ring.sender.try_send(1, 0, &[7; 900]) {
                Ok(true) => {}
                Ok(false) => break,
                Err(TransportError::PeerMisbehaved { pe, .. }) => { prop_assert_eq!(pe, 1); break; }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}

/// Of a long message the receiver takes the first pieces while the sender copies the others, or all of it when its line is there.
#[test]
fn long_messages_cross_between_two_threads() {
    for way in WAYS {
        let count = if cfg!(miri) { 12 } else { 400 };
        cross_between_two_threads(fixture(64 << 10, way), count);
    }
}

fn cross_between_two_threads(ring: Fixture, count: usize) {
    let len = |number: usize| (100 + number * 977) % (32 << 10);
    let (mut sender, mut receiver) = (ring.sender, ring.receiver);
    let sending = thread::spawn(move || {
        for number in 0..count {
            let message = bytes(number, len(number));
            while !sender.try_send(1, number as u32, &message).unwrap() {
                thread::yield_now();
            }
        }
    });
    for number in 0..count {
        let head = loop {
            match receiver.peek().unwrap() {
                Some(head) => break head,
                None if sending.is_finished() => panic!("the sender has ended"),
                None => thread::yield_now(),
            }
        };
        assert_eq!((head.tag, head.len_bytes), (number as u32, len(number)));
        let mut out = vec![0; head.len_bytes];
        while !receiver.take(&mut out).unwrap() {
            thread::yield_now();
        }
        assert_eq!(out, bytes(number, len(number)), "message {number}");
    }
    sending.join().unwrap();
}

#[test]
fn a_message_lies_in_memory_as_documented() {
    let mut ring = fixture(2048, COHERENT);
    let payload = bytes(3, 150);
    assert_eq!(ring.sender.try_send(2, 7, &payload), Ok(true));
    let (mut line, mut body) = ([0; 32], [0; 134]);
    let segment = ring.wires[1].segment();
    segment.get(RING, &mut line).unwrap();
    // It is too long for a quarter of the smaller area, of 512 bytes.
    segment.get(EAGER + 512, &mut body).unwrap();
    // Stamp 1, kind 0, 24 bytes in this line, the tag; 150 bytes, kind 2.
    assert_eq!(
        line[..16],
        [1, 0, 24 << 3, 0, 7, 0, 0, 0, 150, 0, 0, 0, 2, 0, 0, 0]
    );
    assert_eq!(line[16..], payload[..16]);
    assert_eq!(body[..], payload[16..]);
}

/// The wire gets the bytes, a fence, and the line; and no question.
#[test]
fn over_a_wire_the_line_leaves_behind_the_bytes() {
    let log = Arc::new(Log::new(2));
    let wire: Arc<dyn Wire> = Arc::new(StoresOnly::new(Arc::clone(&log) as _).unwrap());
    let slots = Slots::of_bytes(RING_BYTES).unwrap();
    let outlet = Outlet::new(&wire, 1, RING, slots).unwrap();
    let outlet = outlet.with_eager(place(2048)).unwrap();
    let credit = CreditInlet::new(wire.segment(), CREDIT).unwrap();
    let credit = credit.with_eager(EAGER_CREDIT).unwrap();
    let mut sender = RingSender::new(outlet, credit, 1, slots);
    sender.store_mut().set_order(SendOrder::Weak);
    for _ in 0..2 {
        assert_eq!(sender.try_send(KIND, 7, &bytes(0, 656)), Ok(true));
    }
    let payload = bytes(1, 1016);
    assert_eq!(sender.try_send(KIND, 7, &payload), Ok(false));
    // Ten lines of the larger area are free again.
    wire.segment().put_word(EAGER_CREDIT, 10 << 32).unwrap();
    log.take();
    assert_eq!(sender.try_send(KIND, 7, &payload), Ok(true));
    let larger = EAGER + 512;
    let word = 1 << 41 | u64::from(KIND) << 32 | 1016;
    let line = [&word.to_le_bytes()[..], &payload[..16]].concat();
    let header = Header::new(Stamp::of_lap(0), KIND_CONTINUED, 24, 7);
    let stored = |store: Store<'_>| Asked::Store(1, store.into_owned());
    let mut expected = vec![
        stored(Store::bytes(larger + 1280, &payload[16..784])),
        stored(Store::bytes(larger, &payload[784..])),
        Asked::Fence(Some(1)),
        stored(Store::line(RING + 128, header.0, &line)),
    ];
    assert_eq!(log.take(), expected);
    sender.store_mut().set_order(SendOrder::Strict);
    assert_eq!(sender.try_send(KIND, 7, &bytes(2, 200)), Ok(true));
    expected = log.take();
    let is_fence = |asked: Option<&Asked>| asked == Some(&Asked::Fence(None));
    assert!(is_fence(expected.first()) && is_fence(expected.last()));
    let refused = sender.try_send(KIND, 7, &bytes(2, 1041));
    let is_too_long = matches!(refused, Err(TransportError::OutOfRange { .. }));
    assert!(is_too_long, "{refused:?}");
}

/// A receiver that is far away wants no announcements: they would take longer than the copy that they save.
#[test]
fn over_a_wire_long_messages_are_never_announced() {
    let mut ring = fixture(2048, Way::Posted);
    ring.receiver.want_announced(true).unwrap();
    for _ in 0..20 {
        assert_eq!(ring.sender.try_send(KIND, 0, &[1; 1000]), Ok(true));
        assert_eq!(ring.receiver.take(&mut [0; 1000]), Ok(true));
        assert!(ring.sender.takes(1000));
    }
}

/// Of a stream at most a quarter of the buffer is held back.
#[test]
fn over_a_wire_credits_come_back_in_time() {
    let mut ring = fixture(64 << 10, Way::Posted);
    let mut most = 0;
    for number in 0..200 {
        let payload = bytes(number, 4096);
        let mut sent = 0;
        while sent < 3 && ring.sender.try_send(KIND, 0, &payload).unwrap() {
            sent += 1;
        }
        most = most.max(sent);
        assert!(sent > 0, "{number}");
        for _ in 0..sent {
            assert_eq!(ring.receiver.take(&mut [0; 4096]), Ok(true));
        }
        assert_eq!(ring.receiver.peek(), Ok(None));
    }
    assert_eq!(most, 3);
}

#[test]
fn a_message_goes_straight_to_the_segment() {
    let mut ring = fixture(2048, COHERENT);
    let behind = EAGER + EagerBytes::new(2048).unwrap().bytes();
    for (number, front) in [None, Some(FRONT)].into_iter().enumerate() {
        let payload = bytes(number, 900);
        let sent = match front {
            None => ring.sender.try_send(KIND, 0, &payload),
            Some(front) => ring.sender.try_send_behind(KIND, 0, front, &payload),
        };
        assert_eq!(sent, Ok(true));
        let skip = front.map_or(0, |_| FRONT_BYTES);
        assert!(ring.receiver.peek().unwrap().is_some() && ring.receiver.is_eager());
        let outside = ring.wires[1].segment().memory().len_bytes() - 899;
        let refused = ring.receiver.take_eager_to_segment(skip, outside, 900);
        let is_outside = matches!(refused, Err(TransportError::OutOfRange { .. }));
        assert!(is_outside, "{refused:?}");
        let taken = ring.receiver.take_eager_to_segment(skip, behind + 5, 900);
        assert_eq!(taken, Ok(true));
        let mut out = vec![0; 901];
        ring.wires[1].segment().get(behind + 5, &mut out).unwrap();
        assert_eq!(out[..900], payload);
        assert_eq!(out[900], 0);
    }
}

/// As a hold, it is heard of when the buffer is full, at the latest.
#[test]
fn a_receiver_may_want_long_messages_announced() {
    let mut ring = fixture(2048, COHERENT);
    for wanted in [true, false] {
        ring.receiver.want_announced(wanted).unwrap();
        while ring.sender.takes(1000) == wanted {
            let sent = ring.sender.try_send(KIND, 0, &[1; 100]).unwrap();
            assert!(sent || ring.receiver.take(&mut [0; 100]).unwrap());
            ring.receiver.return_credit().unwrap();
        }
        assert!(ring.sender.takes(112) && !ring.sender.takes(1041));
    }
}

/// A receiver that takes no messages is heard of when the buffer is full, at the latest.
#[test]
fn a_hold_stops_eager_messages_but_those_that_are_sent_in_spite_of_it() {
    let mut ring = fixture(2048, COHERENT);
    ring.receiver.hold(true).unwrap();
    let mut sent = 0;
    while ring.sender.try_send(1, 0, &[1; 1000]).unwrap() {
        sent += 1;
        assert!(sent < 4);
    }
    assert!(ring.sender.is_held());
    assert_eq!(ring.sender.try_send_held(6, 0, b"answer"), Ok(true));
    for _ in 0..=sent {
        assert_eq!(ring.receiver.take(&mut [0; 1000]), Ok(true));
        ring.receiver.return_credit().unwrap();
    }
    // Many more than there are bytes in the buffer.
    for number in 0..50 {
        let held = bytes(number, 1000);
        assert_eq!(ring.sender.try_send(1, 0, &held), Ok(false));
        assert_eq!(ring.sender.try_send_held(6, 0, &held), Ok(true));
        let mut out = [0; 1000];
        assert_eq!(ring.receiver.take(&mut out), Ok(true));
        assert_eq!(out[..], held);
        ring.receiver.return_credit().unwrap();
    }
    ring.receiver.hold(false).unwrap();
    assert_eq!(ring.sender.try_send(1, 0, &[1; 1000]), Ok(true));
}

/// There is room for it, but no receiver takes it for a message.
#[test]
fn a_message_that_is_too_long_does_not_go_at_once() {
    let mut ring = fixture(2048, COHERENT);
    for (front, len) in [(None, 1040), (Some([7; FRONT_WORDS]), 1024)] {
        for (len, goes) in [(len + 1, false), (len, true)] {
            let sent = ring
                .sender
                .send_whole_at_once(KIND, 0, front, &vec![1; len]);
            assert_eq!(sent != Sent::No, goes, "{len}");
        }
        assert_eq!(ring.receiver.take(&mut [0; 1040]), Ok(true));
        ring.receiver.return_all_credit().unwrap();
    }
}
