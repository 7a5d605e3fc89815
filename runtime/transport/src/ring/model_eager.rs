//! The eager buffer under loom: one sender, one receiver, and a ring of four slots beside it.
//!
//! Each line of the buffer is modelled with one word: more would only increase the number of states. Giving the memory back is modelled by
//! storing 0 everywhere, which is what the kernel does to bytes that somebody stores meanwhile.

use loom::sync::Arc;
use loom::thread::yield_now;

use super::*;
use crate::sync::{AtomicU64, Ordering};

const EAGER_BYTES: usize = 512;
/// A message of two pieces, which takes three lines of the buffer: it has eight.
const LONG_BYTES: usize = FRONT_BYTES + 192;
const SHORT_BYTES: usize = 40;

struct Shared {
    lines: Vec<PlainLine>,
    credit: AtomicU64,
    /// By line of the buffer.
    bytes: Vec<AtomicU64>,
    said: AtomicU64,
    eager_credit: AtomicU64,
    /// What the receiver asks for, by a ring to the sender that is not modelled: [`CLOSE`] or [`OPEN`].
    asked: AtomicU64,
}

const OPEN: u64 = 0;
const CLOSE: u64 = 1;
/// The kind of a message.
const MESSAGE: u8 = 1;
/// The kind of the word that says that nothing more is stored into the buffer.
const CLOSED: u8 = 2;

impl Shared {
    fn new() -> Arc<Self> {
        let eager = EagerBytes::new(EAGER_BYTES).unwrap();
        let word = |_| AtomicU64::new(0);
        Arc::new(Self {
            lines: (0..RING_BYTES_MIN / 64)
                .map(|_| core::array::from_fn(word))
                .collect(),
            credit: AtomicU64::new(0),
            bytes: (0..eager.bytes() / 64).map(word).collect(),
            said: AtomicU64::new(0),
            eager_credit: AtomicU64::new(0),
            asked: AtomicU64::new(OPEN),
        })
    }
}

impl LineStore for Arc<Shared> {
    fn store_line(&self, slot: usize, header: u64, payload: &[u8]) -> Result<(), TransportError> {
        line::store(&self.lines[slot], header, payload);
        Ok(())
    }

    fn plain(&self, line: u64) -> Option<&PlainLine> {
        self.lines.get(line as usize % self.lines.len())
    }

    fn eager(&self) -> Option<(EagerBytes, EagerOrder)> {
        let eager = EagerBytes::new(EAGER_BYTES)?;
        Some((eager, EagerOrder::Pieces))
    }

    fn store_eager(&self, at: usize, bytes: &[u8], _is_staged: bool) {
        for (line, bytes) in self.bytes[at / 64..].iter().zip(bytes.chunks(64)) {
            line.store(bytes[0].into(), Ordering::Relaxed);
        }
    }

    fn say_eager(&self, word: u64) {
        self.said.store(word, Ordering::Release);
    }
}

impl LineLoad for Arc<Shared> {
    fn header(&self, slot: usize) -> u64 {
        self.lines[slot][0].load(Ordering::Acquire)
    }

    fn payload(&self, slot: usize, dst: &mut [u8]) {
        line::load(&self.lines[slot], dst);
    }

    fn plain(&self, line: u64) -> Option<&PlainLine> {
        self.lines.get(line as usize % self.lines.len())
    }

    fn eager(&self) -> Option<EagerBytes> {
        EagerBytes::new(EAGER_BYTES)
    }

    fn eager_bytes(&self, at: usize, dst: &mut [u8], _is_staged: bool) {
        for (line, dst) in self.bytes[at / 64..].iter().zip(dst.chunks_mut(64)) {
            dst.fill(line.load(Ordering::Relaxed) as u8);
        }
    }

    fn eager_said(&self) -> u64 {
        self.said.load(Ordering::Acquire)
    }

    fn give_back_eager(&self) -> bool {
        for line in &self.bytes {
            line.store(0, Ordering::Relaxed);
        }
        true
    }
}

impl CreditStore for Arc<Shared> {
    fn store_credit(&self, word: u64) -> Result<(), TransportError> {
        self.credit.store(word, Ordering::Release);
        Ok(())
    }

    fn store_eager_credit(&self, word: u64) -> Result<(), TransportError> {
        self.eager_credit.store(word, Ordering::Release);
        Ok(())
    }
}

impl CreditLoad for Arc<Shared> {
    fn load_credit(&self) -> u64 {
        self.credit.load(Ordering::Acquire)
    }

    fn load_eager_credit(&self) -> u64 {
        self.eager_credit.load(Ordering::Acquire)
    }
}

type Sender = RingSender<Arc<Shared>, Arc<Shared>>;
type Receiver = RingReceiver<Arc<Shared>, Arc<Shared>>;

fn check(
    preemptions: usize,
    send: impl Fn(Sender, &Shared) + Sync + Send + Copy + 'static,
    receive: impl Fn(Receiver, &Shared) + Sync + Send + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let slots = Slots::of_bytes(RING_BYTES_MIN).unwrap();
        let shared = Shared::new();
        let sending = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || {
                let sender = RingSender::new(Arc::clone(&shared), Arc::clone(&shared), 1, slots);
                send(sender, &shared);
            })
        };
        let receiver = RingReceiver::new(Arc::clone(&shared), Arc::clone(&shared), 0, slots);
        receive(receiver, &shared);
        sending.join().unwrap();
    });
}

fn send(sender: &mut Sender, number: u8, len: usize) {
    let message = [number; LONG_BYTES];
    while !sender
        .try_send(MESSAGE, number.into(), &message[..len])
        .unwrap()
    {
        yield_now();
    }
}

/// The next message, which has to be whole: its kind, and its number.
fn receive(receiver: &mut Receiver) -> (u8, u8) {
    let head = loop {
        match receiver.peek().unwrap() {
            Some(head) => break head,
            None => yield_now(),
        }
    };
    let mut out = [0; LONG_BYTES];
    let out = &mut out[..head.len_bytes];
    while !receiver.take(out).unwrap() {
        yield_now();
    }
    let number = head.tag as u8;
    let is_whole = out.iter().all(|byte| *byte == number);
    assert!(is_whole, "bytes of message {number} are lost: {out:?}");
    (head.kind, number)
}

/// The receiver follows the sender, who wraps around and waits for credit.
#[test]
fn eager_messages_arrive_in_pieces_once_and_whole() {
    check(
        2,
        |mut sender, _| (1..=4).for_each(|number| send(&mut sender, number, LONG_BYTES)),
        |mut receiver, _| {
            for number in 1..=4 {
                assert_eq!(receive(&mut receiver), (MESSAGE, number));
            }
        },
    );
}

/// The short way takes what is there whole with its line, and leaves the others.
#[test]
fn the_short_way_takes_the_same_eager_messages() {
    check(
        2,
        |mut sender, _| {
            for (number, len) in (1..).zip([LONG_BYTES, 144, LONG_BYTES]) {
                send(&mut sender, number, len);
            }
        },
        |mut receiver, _| {
            for (number, len) in (1..).zip([LONG_BYTES, 144, LONG_BYTES]) {
                let mut out = [0; LONG_BYTES];
                let out = &mut out[..len];
                loop {
                    receiver.return_credit().unwrap();
                    match receiver.take_now(MESSAGE, number, 1, out).unwrap() {
                        Taken::All(taken) => break assert_eq!(taken, len),
                        Taken::Part(_) => {
                            while !receiver.take(out).unwrap() {
                                yield_now();
                            }
                            break;
                        }
                        Taken::Nothing => yield_now(),
                    }
                }
                assert!(out.iter().all(|byte| u32::from(*byte) == number), "{out:?}");
            }
        },
    );
}

/// Sends `count` messages, through the buffer while it is open, and does what the receiver asks for in between.
fn send_as_asked(mut sender: Sender, shared: &Shared, count: u8) {
    for number in 1..=count {
        match shared.asked.load(Ordering::Acquire) {
            CLOSE if sender.is_eager_open() => {
                sender.close_eager();
                while !sender.try_send_held(CLOSED, 0, &[0]).unwrap() {
                    yield_now();
                }
            }
            OPEN if !sender.is_eager_open() => sender.open_eager(),
            _ => {}
        }
        let len = match sender.is_eager_open() {
            true => LONG_BYTES,
            false => SHORT_BYTES,
        };
        send(&mut sender, number, len);
    }
}

/// Whenever the receiver asks for it, no byte is lost, and the buffer is of use again.
#[test]
fn memory_is_given_back_behind_the_last_message_in_it() {
    const COUNT: u8 = 4;
    check(
        2,
        |sender, shared| send_as_asked(sender, shared, COUNT),
        |mut receiver, shared| {
            shared.asked.store(CLOSE, Ordering::Release);
            let mut expected = 1..=COUNT;
            while !expected.is_empty() {
                match receive(&mut receiver) {
                    (CLOSED, _) => {
                        receiver.close_eager();
                        receiver.open_eager();
                        shared.asked.store(OPEN, Ordering::Release);
                    }
                    (kind, number) => {
                        assert_eq!((kind, Some(number)), (MESSAGE, expected.next()));
                    }
                }
            }
        },
    );
}

/// The model finds what is lost if a receiver does not wait for its sender.
#[test]
#[should_panic = "are lost"]
fn memory_that_is_given_back_too_early_loses_bytes() {
    check(
        2,
        |sender, shared| send_as_asked(sender, shared, 2),
        |mut receiver, shared| {
            shared.asked.store(CLOSE, Ordering::Release);
            assert_eq!(receive(&mut receiver).0, MESSAGE);
            receiver.close_eager();
            receiver.open_eager();
            while receive(&mut receiver) != (MESSAGE, 2) {}
        },
    );
}
