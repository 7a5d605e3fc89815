//! Messages: the ring, its credits, and what a strict message promises.

use std::sync::Arc;

use hostwire_transport::model::explore;
use hostwire_transport::ring::{
    CreditInlet, EagerBytes, EagerPlace, Inlet, Outlet, RingReceiver, RingSender, SendOrder, Sent,
    Slots, Taken, WordOutlet,
};
use hostwire_transport::{Visibility, Wire};

use super::{AREA, SEEDS, SEGMENT_BYTES, two};

/// Each PE has a ring from the other, and its credit.
const CREDIT: usize = AREA;
const RING: usize = AREA + 64;
/// Four slots: it wraps, fills and returns credits all the time.
const RING_BYTES: usize = 256;
const DATA: usize = RING + RING_BYTES;
/// Beside the credit.
const EAGER_CREDIT: usize = CREDIT + 8;
const SAID: usize = CREDIT + 16;
const EAGER: usize = DATA;
const EAGER_BYTES: usize = 1024;

super::on_every_contract! {
    messages_of_one_and_two_lines_arrive,
    messages_by_the_short_ways_arrive,
    eager_messages_arrive,
    an_eager_buffer_is_closed_and_opened_between_messages,
    a_strict_message_comes_behind_earlier_puts,
    a_message_is_answered,
    weak_messages_keep_their_order,
}

struct Ends {
    sender: RingSender<Outlet, CreditInlet>,
    receiver: RingReceiver<Inlet, WordOutlet>,
}

fn ends(wire: &Arc<dyn Wire>) -> Ends {
    ends_with(wire, None)
}

fn ends_with(wire: &Arc<dyn Wire>, eager: Option<EagerPlace>) -> Ends {
    let (slots, other) = (Slots::of_bytes(RING_BYTES).unwrap(), 1 - wire.pe());
    let outlet = Outlet::new(wire, other, RING, slots).unwrap();
    let inlet = Inlet::new(wire.segment(), RING, slots).unwrap();
    let credit = CreditInlet::new(wire.segment(), CREDIT).unwrap();
    let back = WordOutlet::new(wire, other, CREDIT).unwrap();
    Ends {
        sender: RingSender::new(
            outlet.with_eager(eager).unwrap(),
            credit.with_eager(EAGER_CREDIT).unwrap(),
            other,
            slots,
        ),
        receiver: RingReceiver::new(
            inlet.with_eager(wire.segment(), eager).unwrap(),
            back.with_eager(EAGER_CREDIT),
            other,
            slots,
        ),
    }
}

impl Ends {
    fn send(&mut self, tag: u32, message: &[u8]) {
        while !self.sender.try_send(1, tag, message).unwrap() {}
    }

    fn receive(&mut self, tag: u32, len: usize) -> Vec<u8> {
        let head = loop {
            if let Some(head) = self.receiver.peek().unwrap() {
                break head;
            }
        };
        assert_eq!((head.tag, head.len_bytes), (tag, len));
        let mut out = vec![0; len];
        while !self.receiver.take(&mut out).unwrap() {}
        out
    }
}

/// No two messages have a word in common.
fn message(number: u32, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (number as usize * 29 + at * 7 + 1) as u8)
        .collect()
}

const LENGTHS: [usize; 8] = [56, 1, 112, 20, 8, 100, 0, 56];

fn messages_of_one_and_two_lines_arrive(visibility: Visibility) {
    two(visibility, |wire| {
        let mut ends = ends(&wire);
        for (number, len) in (1..).zip(LENGTHS) {
            match wire.pe() {
                0 => ends.send(number, &message(number, len)),
                _ => assert_eq!(ends.receive(number, len), message(number, len)),
            }
        }
        wire.quiet().unwrap();
    });
}

/// The short ways, where they exist.
fn messages_by_the_short_ways_arrive(visibility: Visibility) {
    two(visibility, |wire| {
        let mut ends = ends(&wire);
        for (number, len) in (1..).zip(LENGTHS) {
            let expected = message(number, len);
            if wire.pe() == 0 {
                let sender = &mut ends.sender;
                let sent = match len {
                    0..=56 => sender.send_line_at_once(1, number, &expected),
                    112 => sender.send_pair_at_once(1, number, &expected),
                    _ => sender.send_few_at_once(1, number, &expected),
                };
                match sent {
                    Sent::Yes => {}
                    Sent::Ring => sender.ring().unwrap(),
                    Sent::No => ends.send(number, &expected),
                }
                continue;
            }
            let (receiver, mut out) = (&mut ends.receiver, vec![0; len]);
            loop {
                let taken = match len {
                    0..=56 => receiver.take_line_at_once(1, number, &mut out, 2),
                    112 => receiver.take_pair_at_once(1, number, &mut out, 2),
                    _ => receiver.take_few_at_once(1, number, &mut out, 2),
                };
                if taken {
                    break;
                }
                receiver.return_credit().unwrap();
                match receiver.take_now(1, number, 1, &mut out).unwrap() {
                    Taken::All(_) => break,
                    Taken::Part(_) => {
                        while !receiver.take(&mut out).unwrap() {}
                        break;
                    }
                    Taken::Nothing => {}
                }
            }
            assert_eq!(out, expected);
        }
        wire.quiet().unwrap();
    });
}

fn eager() -> EagerPlace {
    let bytes = EagerBytes::new(EAGER_BYTES).unwrap();
    EagerPlace {
        offset_bytes: EAGER,
        bytes,
        own_bytes: bytes.bytes(),
        said_offset_bytes: SAID,
    }
}

/// Of a long message in the eager buffer of coherent memory the receiver takes the first pieces while the sender stores the others.
fn eager_messages_arrive(visibility: Visibility) {
    two(visibility, |wire| {
        let mut ends = ends_with(&wire, Some(eager()));
        for (number, len) in (1..).zip([400, 150, 528, 300, 8, 500]) {
            match wire.pe() {
                0 => ends.send(number, &message(number, len)),
                _ => assert_eq!(ends.receive(number, len), message(number, len)),
            }
        }
        wire.quiet().unwrap();
    });
}

/// The receiver asks for it at any time, and wipes the memory when its sender has agreed, as the kernel does with memory that is given back.
fn an_eager_buffer_is_closed_and_opened_between_messages(visibility: Visibility) {
    const CLOSE: u32 = 1;
    const OPEN: u32 = 2;
    const CLOSED: u8 = 2;
    const COUNT: u32 = 6;
    let len = |number| [100, 500, 90, 300][number as usize % 4];
    two(visibility, |wire| {
        let mut ends = ends_with(&wire, Some(eager()));
        if wire.pe() == 0 {
            for number in 1..=COUNT {
                while let Some(asked) = ends.receiver.peek().unwrap() {
                    while !ends.receiver.take(&mut []).unwrap() {}
                    if asked.tag == OPEN {
                        ends.sender.open_eager();
                        continue;
                    }
                    ends.sender.close_eager();
                    while !ends.sender.try_send_held(CLOSED, 0, b"").unwrap() {}
                }
                let len = match ends.sender.is_eager_open() {
                    true => len(number),
                    false => 100,
                };
                ends.send(number, &message(number, len));
            }
        } else {
            ends.send(CLOSE, b"");
            let mut number = 1;
            while number <= COUNT {
                let Some(head) = ends.receiver.peek().unwrap() else {
                    continue;
                };
                let mut out = vec![0; head.len_bytes];
                while !ends.receiver.take(&mut out).unwrap() {}
                if head.kind != CLOSED {
                    assert_eq!(out, message(number, out.len()));
                    number += 1;
                    continue;
                }
                ends.receiver.close_eager();
                // Elsewhere a line may have one writer alone.
                if visibility == Visibility::Coherent {
                    let zeros = vec![0; eager().own_bytes];
                    wire.segment().put_unannounced(EAGER, &zeros).unwrap();
                }
                ends.receiver.open_eager();
                ends.send(OPEN, b"");
            }
        }
        wire.quiet().unwrap();
    });
}

fn a_strict_message_comes_behind_earlier_puts(visibility: Visibility) {
    // A message rarely overtakes a flush: it has to arrive before its own last fence has
    // completed. So more seeds are needed.
    explore(visibility, 6 * SEEDS, 2, SEGMENT_BYTES, &|wire| {
        let mut ends = ends(&wire);
        for (number, len) in (1..).zip([8, 20, 100, 8]) {
            // Each message has its own place, so the sender need not wait until the last
            // one has been read.
            let (data, at) = (message(number, len), DATA + 192 * number as usize);
            if wire.pe() == 0 {
                wire.store(1, at, &data).unwrap();
                ends.send(number, b"");
            } else {
                assert_eq!(ends.receive(number, 0), b"");
                let mut got = vec![0; len];
                wire.segment().get(at, &mut got).unwrap();
                assert_eq!(got, data);
            }
        }
        wire.quiet().unwrap();
    });
}

/// A strict message is under way when the call returns, although nothing follows that would
/// push it.
fn a_message_is_answered(visibility: Visibility) {
    two(visibility, |wire| {
        let mut ends = ends(&wire);
        for number in 1..=3 {
            if wire.pe() == 0 {
                ends.send(number, &message(number, 70));
            }
            let got = ends.receive(number, 70);
            assert_eq!(got, message(number, 70));
            if wire.pe() == 1 {
                ends.send(number, &got);
            }
        }
    });
}

fn weak_messages_keep_their_order(visibility: Visibility) {
    two(visibility, |wire| {
        let mut ends = ends(&wire);
        ends.sender.store_mut().set_order(SendOrder::Weak);
        for (number, len) in (1..).zip(LENGTHS) {
            if wire.pe() == 0 {
                ends.send(number, &message(number, len));
                // As a wait does for messages that are held back.
                wire.fence().unwrap();
            } else {
                assert_eq!(ends.receive(number, len), message(number, len));
            }
        }
        wire.quiet().unwrap();
    });
}
