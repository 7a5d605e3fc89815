//! Messages in the background, from anybody, with any tag.

use super::{Setup, left, right, values};
use crate::{Completion, Error, Job, Source, Tag};

/// Everybody has many sends and receives outstanding, of all lengths, and all of them end.
pub fn many_messages_in_the_background(setup: &Setup<'_>) {
    const EACH: u64 = 30;
    let len = |number: u64| match number % 10 {
        9 => 100_000,
        8 => 3000,
        other => other as usize * 20,
    };
    setup.job(|job| {
        let queue = job.queue::<u8>().unwrap();
        let (own, pes) = (job.pe(), job.pes());
        for number in 0..EACH {
            for pe in 0..pes {
                queue.recv(pe, number, vec![0; 100_000]).unwrap();
            }
        }
        for number in 0..EACH {
            for pe in 0..pes {
                let message = values(own, number as usize, len(number));
                queue
                    .send_with_data(pe, number, number + 5, message)
                    .unwrap();
            }
        }
        let mut ends = 0;
        while let Some(Completion {
            result,
            values: got,
            ..
        }) = queue.wait().unwrap()
        {
            let of = result.unwrap();
            assert_eq!(of.data, of.tag + 5);
            let expected = values::<u8>(of.from, of.tag as usize, len(of.tag));
            assert!(got == expected, "{of:?}");
            ends += 1;
        }
        assert_eq!(ends, 2 * EACH * u64::from(pes));
        assert!(queue.poll().unwrap().is_none());
    });
}

/// Sends and receives in the background make progress while their PE waits for something
/// else.
pub fn the_background_goes_on_in_other_waits(setup: &Setup<'_>) {
    setup.job(|job| {
        let memory = job.alloc::<u8>(200_000).unwrap();
        let queue = job.queue::<u8>().unwrap();
        let message: Vec<u8> = values(job.pe(), 1, 150_000);
        memory.write(0, &message).unwrap();
        queue.send_from(right(job), 1, &memory, 0, 150_000).unwrap();
        queue.send(right(job), 2, message).unwrap();
        // No PE receives with a blocking call before all have passed here.
        queue.recv(left(job), 2, vec![0; 200_000]).unwrap();
        let two = job.alloc::<u8>(160_000).unwrap();
        queue.recv_into(left(job), 1, &two, 0, 160_000).unwrap();
        job.barrier().unwrap();
        for _ in 0..4 {
            let done = queue.wait().unwrap().unwrap();
            let envelope = done.result.unwrap();
            assert_eq!(envelope.len_bytes, 150_000);
            if envelope.tag == 2 {
                let maker = envelope.from;
                assert!(done.values == values::<u8>(maker, 1, 150_000));
            }
        }
        let mut got = vec![0; 150_000];
        two.read(0, &mut got).unwrap();
        assert!(got == values::<u8>(left(job), 1, 150_000));
        job.barrier().unwrap();
    });
}

/// Tags of 64 bits, and data beside the message, by every way that a message takes.
pub fn long_tags_and_data(setup: &Setup<'_>) {
    setup.job(|job| {
        let tags = [0, 5, 0xffff_ffff, 1 << 32, 5 << 32 | 5, u64::MAX];
        for len in [0, 8, 40, 41, 56, 96, 97, 1000, 5000, 300_000] {
            for (number, tag) in tags.into_iter().enumerate() {
                let data = if number % 2 == 0 { 0 } else { u64::MAX - tag };
                let queue = job.queue::<u8>().unwrap();
                let message: Vec<u8> = values(job.pe(), number, len);
                queue
                    .send_with_data(right(job), tag, data, message)
                    .unwrap();
                // The low halves of two tags are equal, and do not match.
                assert_eq!(job.try_probe(left(job), tag ^ 1 << 50), Ok(None));
                let found = job.probe(left(job), tag).unwrap();
                let (got, bytes) = job.recv_any_vec::<u8>(Source::Any, tag).unwrap();
                assert_eq!(got, found);
                let expected = (left(job), tag, data, len);
                assert_eq!((got.from, got.tag, got.data, got.len_bytes), expected);
                assert!(bytes == values::<u8>(left(job), number, len));
                assert!(queue.wait().unwrap().is_some());
                job.barrier().unwrap();
            }
        }
    });
}

/// A server that asks for any tag gets the messages of each client in their order, of all
/// lengths.
pub fn any_tag_keeps_the_order_of_sending(setup: &Setup<'_>) {
    const EACH: u64 = 60;
    setup.job(|job| {
        if job.pe() > 0 {
            for number in 0..EACH {
                let len = if number % 7 == 3 {
                    900
                } else {
                    number as usize
                };
                job.send(0, (number * 7) % 5, &vec![number; len]).unwrap();
            }
            return;
        }
        let mut next = vec![0; job.pes() as usize];
        for count in 0..EACH * u64::from(job.pes() - 1) {
            let (envelope, got) = match count % 3 {
                0 => job.recv_any_vec::<u64>(Source::Any, Tag::ANY).unwrap(),
                // The same after a probe: the receive names the message that was found,
                // or repeats the pattern of the probe.
                way => {
                    let found = job.probe(Source::Any, Tag::ANY).unwrap();
                    let mut room = vec![0; found.count::<u64>()];
                    let got = match way {
                        1 => job.recv_any(found.from, found.tag, &mut room),
                        _ => job.recv_any(Source::Any, Tag::ANY, &mut room),
                    };
                    let got = got.unwrap();
                    assert_eq!(got, found);
                    (got, room)
                }
            };
            let number = &mut next[envelope.from as usize];
            assert_eq!(envelope.tag, (*number * 7) % 5);
            assert!(got.iter().all(|word| word == number), "{envelope:?}");
            *number += 1;
        }
    });
}

/// A cancelled receive has no message, and a receive with a message is not cancelled.
pub fn receives_are_cancelled_or_not(setup: &Setup<'_>) {
    setup.job(|job| {
        let queue = job.queue::<u64>().unwrap();
        let first = queue.recv(left(job), 1, vec![0; 4]).unwrap();
        let second = queue.recv(left(job), 1, vec![0; 4]).unwrap();
        assert_eq!(queue.cancel(first), Ok(true));
        assert_eq!(queue.cancel(first), Ok(false));
        let done = queue.wait().unwrap().unwrap();
        assert_eq!((done.ticket, done.values.len()), (first, 4));
        assert_eq!(done.result, Err(Error::Cancelled));
        job.barrier().unwrap();
        job.send(right(job), 1, &[7u64, 8]).unwrap();
        let done = queue.wait().unwrap().unwrap();
        assert_eq!((done.ticket, done.values), (second, vec![7, 8]));
        assert_eq!(queue.cancel(second), Ok(false));
        assert!(queue.wait().unwrap().is_none());
        refused(job);
        // Receives of a dropped queue take no message.
        queue.recv(left(job), 1, vec![0; 4]).unwrap();
        drop(queue);
        job.barrier().unwrap();
        job.send(right(job), 1, &[9u64]).unwrap();
        assert_eq!(job.recv_vec(left(job), 1), Ok(vec![9u64]));
    });
}

/// A message that does not fit is told with its length, and the next receive gets it.
fn refused(job: &Job) {
    let queue = job.queue::<u64>().unwrap();
    for len in [2, 30, 1000, 20_000] {
        let short = queue.recv(left(job), 3, vec![0; len - 1]).unwrap();
        let fitting = queue.recv(left(job), 3, vec![0; len]).unwrap();
        let sent = queue
            .send(right(job), 3, values(job.pe(), len, len))
            .unwrap();
        for _ in 0..3 {
            let done = queue.wait().unwrap().unwrap();
            if done.ticket == short {
                let refusal = Error::MessageTooLong {
                    from: left(job),
                    tag: 3,
                    message_bytes: len * 8,
                    room_bytes: len * 8 - 8,
                };
                assert_eq!(done.result, Err(refusal));
                assert_eq!(done.values.len(), len - 1);
            } else if done.ticket == fitting {
                assert!(done.values == values::<u64>(left(job), len, len));
            } else {
                assert_eq!(done.ticket, sent);
                assert!(done.values == values::<u64>(job.pe(), len, len));
            }
        }
    }
}
