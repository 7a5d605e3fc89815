//! The ring under loom: every interleaving of one sender and one receiver.
//!
//! Lines are modelled with one payload word: the number of words behind the header
//! changes nothing but the number of states.

use loom::sync::Arc;

use super::*;
use crate::sync::{AtomicU64, Ordering};

struct Shared {
    lines: Vec<(AtomicU64, AtomicU64)>,
    credit: AtomicU64,
}

impl LineStore for Arc<Shared> {
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

impl LineLoad for Arc<Shared> {
    fn header(&self, slot: usize) -> u64 {
        self.lines[slot].0.load(Ordering::Acquire)
    }

    fn payload(&self, slot: usize, dst: &mut [u8]) {
        dst[0] = self.lines[slot].1.load(Ordering::Relaxed) as u8;
    }
}

impl CreditStore for Arc<Shared> {
    fn store_credit(&self, lines: u64) -> Result<(), TransportError> {
        self.credit.store(lines, Ordering::Release);
        Ok(())
    }
}

impl CreditLoad for Arc<Shared> {
    fn load_credit(&self) -> u64 {
        self.credit.load(Ordering::Acquire)
    }
}

type Receiver = RingReceiver<Arc<Shared>, Arc<Shared>>;

/// Six messages through four slots: the ring wraps, fills and returns credits.
fn six_messages(receive: impl Fn(&mut Receiver, u32) -> u8 + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let slots = Slots::of_bytes(RING_BYTES_MIN).unwrap();
        let shared = Arc::new(Shared {
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

/// So they do by the short way, with its late credits.
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
