//! The ring under loom: every interleaving of one sender and one receiver.
//!
//! Lines are modelled with one payload word: more words would only increase the number of states.

use loom::sync::Arc;

use super::*;
use crate::sync::{AtomicU64, Ordering};

struct ModelledRing {
    lines: Vec<(AtomicU64, AtomicU64)>,
    credit: AtomicU64,
}

impl LineStore for Arc<ModelledRing> {
    fn store_line(&self, slot: usize, header: u64, payload: &[u8]) -> Result<(), TransportError> {
        let (head, word) = &self.lines[slot];
        word.store(
            payload.first().map_or(0, |b| u64::from(*b)),
            Ordering::Relaxed,
        );
        head.store(header, Ordering::Release);
        Ok(())
    }
}

impl LineLoad for Arc<ModelledRing> {
    fn header(&self, slot: usize) -> u64 {
        self.lines[slot].0.load(Ordering::Acquire)
    }

    fn payload(&self, slot: usize, dst: &mut [u8]) {
        dst[0] = self.lines[slot].1.load(Ordering::Relaxed) as u8;
    }
}

impl CreditStore for Arc<ModelledRing> {
    fn store_credit(&self, lines: u64) -> Result<(), TransportError> {
        self.credit.store(lines, Ordering::Release);
        Ok(())
    }
}

impl CreditLoad for Arc<ModelledRing> {
    fn load_credit(&self) -> u64 {
        self.credit.load(Ordering::Acquire)
    }
}

type Receiver = RingReceiver<Arc<ModelledRing>, Arc<ModelledRing>>;

/// Six messages through four slots: the ring wraps, fills and returns credits.
fn six_messages(receive: impl Fn(&mut Receiver, u32) -> u8 + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let slots = Slots::of_bytes(RING_BYTES_MIN).unwrap();
        let shared = Arc::new(ModelledRing {
            lines: (0..slots.count())
                .map(|_| (AtomicU64::new(0), AtomicU64::new(0)))
                .collect(),
            credit: AtomicU64::new(0),
        });
        let sending = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || {
                let mut sender = RingSender::new(Arc::clone(&shared), shared, 1, slots);
                for number in 1..=6u8 {
                    while !sender.try_send(1, u32::from(number), &[number]).unwrap() {
                        loom::thread::yield_now();
                    }
                }
            })
        };
        let mut receiver = RingReceiver::new(Arc::clone(&shared), shared, 0, slots);
        for number in 1..=6u8 {
            assert_eq!(receive(&mut receiver, number.into()), number);
        }
        sending.join().unwrap();
    });
}

/// Each message arrives once, in order, with its own payload.
#[test]
fn messages_arrive_once_in_order_and_whole() {
    six_messages(|receiver, tag| {
        let mut out = [0];
        let head = loop {
            if let Some(head) = receiver.peek().unwrap() {
                break head;
            }
            loom::thread::yield_now();
        };
        assert_eq!(head.tag, tag);
        while !receiver.take(&mut out).unwrap() {
            loom::thread::yield_now();
        }
        out[0]
    });
}

/// The same by the short way, with its late credits.
#[test]
fn the_short_way_takes_the_same() {
    six_messages(|receiver, tag| {
        let mut out = [0];
        loop {
            receiver.return_credit().unwrap();
            if receiver.take_now(1, tag, 1, &mut out).unwrap() == Taken::All(1) {
                return out[0];
            }
            loom::thread::yield_now();
        }
    });
}

/// A ring in coherent memory, with all words of its lines.
struct Plain {
    lines: Vec<PlainLine>,
    credit: AtomicU64,
}

impl LineStore for Arc<Plain> {
    fn store_line(&self, slot: usize, header: u64, payload: &[u8]) -> Result<(), TransportError> {
        line::store(&self.lines[slot], header, payload);
        Ok(())
    }

    fn plain(&self, line: u64) -> Option<&PlainLine> {
        self.lines.get(line as usize % self.lines.len())
    }

    fn receiver_looks(&self) -> bool {
        true
    }
}

impl LineLoad for Arc<Plain> {
    fn header(&self, slot: usize) -> u64 {
        self.lines[slot][0].load(Ordering::Acquire)
    }

    fn payload(&self, slot: usize, dst: &mut [u8]) {
        line::load(&self.lines[slot], dst);
    }

    fn plain(&self, line: u64) -> Option<&PlainLine> {
        self.lines.get(line as usize % self.lines.len())
    }
}

impl CreditStore for Arc<Plain> {
    fn store_credit(&self, lines: u64) -> Result<(), TransportError> {
        self.credit.store(lines, Ordering::Release);
        Ok(())
    }
}

impl CreditLoad for Arc<Plain> {
    fn load_credit(&self) -> u64 {
        self.credit.load(Ordering::Acquire)
    }
}

/// The front and the payload of a message: of two lines, of one, of two, of one.
fn with_front(number: u8) -> ([u64; FRONT_WORDS], Vec<u8>) {
    let number_of_word = |word: u64| 100 * word + u64::from(number);
    let len = if number.is_multiple_of(2) { 8 } else { 48 };
    ([1, 2].map(number_of_word), vec![number; len])
}

/// Messages with a front take the short ways at both ends, and the long way if no credit is known. Each arrives once,
/// in order, with its own front and payload.
#[test]
fn the_short_ways_of_messages_with_a_front_carry_them_whole() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let slots = Slots::of_bytes(RING_BYTES_MIN).unwrap();
        let line = |_| core::array::from_fn(|_| AtomicU64::new(0));
        let ring = Arc::new(Plain {
            lines: (0..slots.count()).map(line).collect(),
            credit: AtomicU64::new(0),
        });
        let sending = {
            let ring = Arc::clone(&ring);
            loom::thread::spawn(move || {
                let mut sender = RingSender::new(Arc::clone(&ring), ring, 1, slots);
                for number in 1..=4 {
                    let (front, payload) = with_front(number);
                    let tag = u32::from(number);
                    let sent = sender.send_behind_at_once(1, tag, front, &payload);
                    let mut is_sent = sent == Sent::Yes;
                    while !is_sent {
                        is_sent = sender.try_send_behind(1, tag, front, &payload).unwrap();
                        if !is_sent {
                            loom::thread::yield_now();
                        }
                    }
                }
            })
        };
        let mut receiver = RingReceiver::new(Arc::clone(&ring), ring, 0, slots);
        for number in 1..=4 {
            let (front, payload) = with_front(number);
            let mut out = vec![0; payload.len()];
            loop {
                receiver.return_credit().unwrap();
                if let Some((head, words)) = receiver.front_at_once() {
                    assert_eq!((head.tag, words), (u32::from(number), front));
                    if receiver.take_front_at_once(head, true, &mut out) {
                        break;
                    }
                }
                loom::thread::yield_now();
            }
            assert_eq!(out, payload);
        }
        sending.join().unwrap();
    });
}
