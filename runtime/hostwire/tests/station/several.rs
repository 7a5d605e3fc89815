//! Receives for several messages: the memory of one is full before a later one gets a message.

use std::any::Any;

use hostwire::station::Buffer;

use super::*;

/// A part of memory for several messages.
struct Part {
    /// Which memory.
    memory: usize,
    bytes: Vec<u8>,
    /// With less room than this it takes no message.
    enough: usize,
}

impl Part {
    fn boxed(memory: usize, len: usize, enough: usize) -> Box<Self> {
        let bytes = vec![0; len];
        Box::new(Self {
            memory,
            bytes,
            enough,
        })
    }
}

impl Buffer for Part {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    fn mark(&self) -> usize {
        self.memory
    }

    fn behind(&mut self, len_bytes: usize) -> Option<Box<dyn Buffer>> {
        let rest = self.bytes.len() - len_bytes;
        if rest < self.enough {
            return None;
        }
        self.bytes.truncate(len_bytes);
        Some(Self::boxed(self.memory, rest, self.enough))
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The memory that a message came into, and which message it is.
fn came(done: Finished) -> (usize, u8) {
    let len = done.result.unwrap().len_bytes;
    let part = done.buffer.unwrap().into_any().downcast::<Part>().unwrap();
    let bytes = &part.bytes[..len];
    let number = bytes[0];
    assert!(bytes.iter().all(|byte| *byte == number));
    (part.memory, number)
}

fn say(a: &Station, number: u8, len: usize) {
    // The shortest way takes messages with long tags. The first message has one.
    let label = tagged(u64::from((number + 1) % 2) << LONG);
    a.send(1, label, Box::new(vec![number; len])).unwrap();
}

/// Six messages, and two receives for three of them each. Both are posted before the messages come, or one of them
/// after the first messages have come.
fn fill_two(a: &Station, b: &Station, from: Source, len: usize, both_before: bool) {
    let wanted = Wanted {
        lane: Lane::Tagged,
        from,
        tag: Tag::ANY,
    };
    let post = |memory| b.receive(wanted, Part::boxed(memory, 3 * len + len / 2, len));
    post(1).unwrap();
    if both_before {
        post(2).unwrap();
    }
    for number in 0..6 {
        say(a, number, len);
    }
    let mut got: Vec<_> = (0..3).map(|_| came(next(b, &[a]))).collect();
    if !both_before {
        post(2).unwrap();
    }
    got.extend((3..6).map(|_| came(next(b, &[a]))));
    // Long ones need not end in their order.
    got.sort_by_key(|(_, number)| *number);
    let memories: Vec<_> = got.iter().map(|(memory, _)| *memory).collect();
    assert_eq!(memories, [1, 1, 1, 2, 2, 2], "{len} bytes, {both_before}");
    assert!(got.iter().map(|(_, number)| *number).eq(0..6));
}

#[test]
fn memory_that_was_posted_first_is_full_first() {
    for (a, b) in [pair(), pair_apart(), pair_of_hosts()] {
        for len in [1, 30, 700, 6_000, 20_000, 300_000] {
            for from in [Source::Any, Source::Pe(1)] {
                fill_two(&a, &b, from, len, true);
                fill_two(&a, &b, from, len, false);
            }
        }
    }
}

#[test]
fn all_that_has_come_is_received_by_one_call() {
    let (a, b) = pair();
    // A call does not wait for the news that the two have met.
    say(&a, 99, 100);
    b.receive(any(Lane::Tagged), Part::boxed(7, 100, 100))
        .unwrap();
    assert_eq!(came(next(&b, &[&a])), (7, 99));
    for number in 0..40 {
        say(&a, number, 100);
        // Some are set aside, and some stay in the ring.
        if number < 20 {
            let _ = b.peek(any(Lane::Plain)).unwrap();
        }
    }
    b.receive(any(Lane::Tagged), Part::boxed(1, 4_000, 100))
        .unwrap();
    for number in 0..40 {
        let done = b.finished().expect("it has been received");
        assert_eq!(came(done), (1, number));
    }
    assert!(b.finished().is_none());
}

#[test]
fn what_is_left_keeps_its_place_among_other_receives() {
    let (a, b) = pair();
    b.receive(any(Lane::Tagged), Part::boxed(1, 200, 100))
        .unwrap();
    b.receive(any(Lane::Tagged), Part::boxed(2, 100, 100))
        .unwrap();
    b.receive(any(Lane::Tagged), Part::boxed(3, 100, 100))
        .unwrap();
    for number in 0..4 {
        say(&a, number, 100);
    }
    let got: Vec<_> = (0..4).map(|_| came(next(&b, &[&a]))).collect();
    assert_eq!(got, [(1, 0), (1, 1), (2, 2), (3, 3)]);
}

#[test]
fn what_is_left_can_be_cancelled() {
    let (a, b) = pair();
    b.receive(any(Lane::Tagged), Part::boxed(7, 200, 100))
        .unwrap();
    say(&a, 0, 100);
    assert_eq!(came(next(&b, &[&a])), (7, 0));
    let rest = b.receive_marked(7).expect("it waits for the next message");
    assert_eq!(b.cancel(rest), Ok(true));
    assert_eq!(next(&b, &[&a]).result, Err(Error::Cancelled));
    assert_eq!(b.receive_marked(7), None);
}
