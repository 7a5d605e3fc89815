//! Which receive gets which message, against a plain model.
//!
//! All PEs draw the same list of messages. Each starts its sends and its receives in the
//! background, in random order, with probes, blocking receives and cancels between them.
//! The model knows what each PE sent, in order. It goes through the receives in the order in
//! which they were posted. A receive that got a message of a PE must have got the first
//! message of this PE that it matches and that no earlier receive got. This is MPI's rule
//! that messages do not overtake each other. The timing may decide only which sender a
//! receive gets its message from.

use std::collections::BTreeMap;

use super::traffic::{Repeat, seed};
use super::{Random, Setup};
use crate::{Completion, Envelope, Error, Job, PeId, Queue, Source, Tag, Ticket};

const ROUNDS: u64 = 3;
const MESSAGES: usize = 40;
const TAGS: [u64; 5] = [1, 2, 0xffff_ffff, 1 << 40 | 1, u64::MAX];
const ROOM: usize = 300_000;

/// Random sends, receives, probes and cancels of all PEs end as the model says.
///
/// # Panics
/// With the seed, if they do not.
pub fn matching_follows_the_model(setup: &Setup<'_>) {
    let seed = seed();
    let setup = setup.with_ring(Random::new(seed).pick(&[256, 1024, 4096]));
    setup.job(|job| {
        for round in 0..ROUNDS {
            let random = Random::new(seed.wrapping_mul(ROUNDS).wrapping_add(round));
            Matching::new(job, Repeat(seed), random).run();
        }
    });
}

/// One message of the list.
#[derive(Debug, Clone)]
struct Message {
    to: PeId,
    tag: u64,
    data: u64,
    bytes: Vec<u8>,
}

/// One receive, in the order of posting.
struct Receive {
    from: Source,
    tag: Tag,
    /// What it got: the sender, and which of its messages.
    got: Option<(PeId, usize)>,
}

struct Matching<'a> {
    job: &'a Job,
    repeat: Repeat,
    random: Random,
    /// What each PE sends, in order.
    sent: Vec<Vec<Message>>,
    queue: Queue<u8>,
    receives: Vec<Receive>,
    /// Which receive a ticket is.
    posted: BTreeMap<Ticket, usize>,
    outstanding_sends: usize,
    received: usize,
}

impl<'a> Matching<'a> {
    fn new(job: &'a Job, repeat: Repeat, mut random: Random) -> Self {
        let pes = job.pes();
        let mut sent: Vec<Vec<Message>> = vec![Vec::new(); pes as usize];
        for number in 0..MESSAGES {
            let from = random.below(pes as usize);
            let len = random.pick(&[0, 8, 24, 40, 41, 56, 57, 100, 112, 1500, 2000, 70_000, ROOM]);
            let mut bytes = random.bytes(len);
            let mut data = if random.one_in(2) {
                0
            } else {
                number as u64 + 1
            };
            match bytes.first_chunk_mut() {
                Some(front) => *front = (number as u64).to_le_bytes(),
                // Only the data identifies it.
                None => data = number as u64 + 1,
            }
            sent[from].push(Message {
                to: random.below(pes as usize) as PeId,
                tag: random.pick(&TAGS),
                data,
                bytes,
            });
        }
        // From here on each PE draws its own numbers.
        let random = Random::new(random.word().wrapping_add(job.pe().into()));
        Self {
            job,
            repeat,
            random,
            sent,
            queue: repeat.ok(job.queue()),
            receives: Vec::new(),
            posted: BTreeMap::new(),
            outstanding_sends: 0,
            received: 0,
        }
    }

    fn run(mut self) {
        let own: Vec<Message> = self.sent[self.job.pe() as usize].clone();
        let expected = self.sent.iter().flatten();
        let expected = expected.filter(|m| m.to == self.job.pe()).count();
        for message in own {
            while self.random.one_in(2) {
                self.do_something(expected);
            }
            let Message {
                to,
                tag,
                data,
                bytes,
            } = message;
            self.repeat
                .ok(self.queue.send_with_data(to, tag, data, bytes));
            self.outstanding_sends += 1;
        }
        for _ in 0..20 {
            self.do_something(expected);
        }
        self.cancel_all();
        // A receive with any source and tag takes what is left.
        while self.received < expected {
            self.receive_now(Source::Any, Tag::ANY);
        }
        while self.outstanding_sends > 0 {
            if let Some(done) = self.repeat.ok(self.queue.wait()) {
                self.ended(done);
            }
        }
        assert_eq!(self.queue.outstanding(), 0, "{}", self.repeat);
        self.compare();
        self.repeat.ok(self.job.barrier());
    }

    fn pattern(&mut self) -> (Source, Tag) {
        let from = match self.random.one_in(3) {
            true => Source::Any,
            false => Source::Pe(self.random.below(self.job.pes() as usize) as PeId),
        };
        let tag = match self.random.below(4) {
            0 => Tag::ANY,
            // The lowest bit decides.
            1 => Tag::masked(self.random.word(), 1),
            _ => Tag::from(self.random.pick(&TAGS)),
        };
        (from, tag)
    }

    fn do_something(&mut self, expected: usize) {
        let (from, tag) = self.pattern();
        match self.random.below(8) {
            0..=2 => {
                let room = if self.random.one_in(6) { 30 } else { ROOM };
                let ticket = self.queue.recv(from, tag, vec![0; room]);
                self.posted
                    .insert(self.repeat.ok(ticket), self.receives.len());
                self.receives.push(Receive {
                    from,
                    tag,
                    got: None,
                });
            }
            3 => {
                if let Some(found) = self.repeat.ok(self.job.try_probe(from, tag)) {
                    assert!(tag.takes(found.tag), "{}", self.repeat);
                    // No other receive can get it.
                    let got = self.receive_now(Source::Pe(found.from), found.tag.into());
                    assert_eq!(got, found, "{}", self.repeat);
                }
            }
            4 if self.received < expected => {
                let mut room = vec![0; ROOM];
                if let Some(got) = self.repeat.ok(self.job.try_recv_any(from, tag, &mut room)) {
                    self.note(from, tag, got, &room);
                }
            }
            5 => {
                let tickets: Vec<Ticket> = self.posted.keys().copied().collect();
                if !tickets.is_empty() {
                    let ticket = self.random.pick(&tickets);
                    self.repeat.ok(self.queue.cancel(ticket));
                }
            }
            _ => {
                if let Some(done) = self.repeat.ok(self.queue.poll()) {
                    self.ended(done);
                }
            }
        }
    }

    /// Receives one with a call that waits.
    fn receive_now(&mut self, from: Source, tag: Tag) -> Envelope {
        let (got, bytes) = self.repeat.ok(self.job.recv_any_vec::<u8>(from, tag));
        self.note(from, tag, got, &bytes);
        got
    }

    /// A receive that took its message at once.
    fn note(&mut self, from: Source, tag: Tag, got: Envelope, bytes: &[u8]) {
        let which = self.identify(&got, &bytes[..got.len_bytes]);
        self.received += 1;
        self.receives.push(Receive {
            from,
            tag,
            got: Some((got.from, which)),
        });
    }

    fn ended(&mut self, done: Completion<u8>) {
        let Some(at) = self.posted.remove(&done.ticket) else {
            self.repeat.ok(done.result);
            self.outstanding_sends -= 1;
            return;
        };
        match done.result {
            Ok(got) => {
                let which = self.identify(&got, &done.values);
                self.receives[at].got = Some((got.from, which));
                self.received += 1;
            }
            Err(Error::Cancelled) => {}
            Err(Error::MessageTooLong {
                from,
                tag,
                message_bytes,
                ..
            }) => {
                let is_it = |m: &Message| m.tag == tag && m.bytes.len() == message_bytes;
                let sent = &self.sent[from as usize];
                assert!(sent.iter().any(is_it), "{}", self.repeat);
            }
            Err(other) => panic!("{other}; {}", self.repeat),
        }
    }

    fn cancel_all(&mut self) {
        for ticket in self.posted.keys() {
            self.repeat.ok(self.queue.cancel(*ticket));
        }
        while !self.posted.is_empty() {
            if let Some(done) = self.repeat.ok(self.queue.wait()) {
                self.ended(done);
            }
        }
    }

    /// Which message of its sender it is. It has to be as it was sent.
    fn identify(&self, got: &Envelope, bytes: &[u8]) -> usize {
        let is_it = |m: &&Message| {
            let same = m.bytes.first_chunk::<8>() == bytes.first_chunk() && m.data == got.data;
            m.to == self.job.pe() && same
        };
        let sent = &self.sent[got.from as usize];
        let which = sent.iter().position(|m| is_it(&m));
        let Some(which) = which else {
            panic!("{got:?} was never sent; {}", self.repeat);
        };
        let message = &sent[which];
        let same = (message.tag, message.bytes.len()) == (got.tag, got.len_bytes);
        assert!(same && message.bytes == bytes, "{got:?}; {}", self.repeat);
        which
    }

    fn compare(&self) {
        let mut taken: Vec<Vec<bool>> = self.sent.iter().map(|s| vec![false; s.len()]).collect();
        for (number, receive) in self.receives.iter().enumerate() {
            let Some((from, which)) = receive.got else {
                continue;
            };
            let taken = &mut taken[from as usize];
            let first = self.sent[from as usize]
                .iter()
                .enumerate()
                .position(|(at, m)| {
                    let from = match receive.from {
                        Source::Pe(pe) => pe == from,
                        Source::Any => true,
                    };
                    from && m.to == self.job.pe() && receive.tag.takes(m.tag) && !taken[at]
                });
            assert_eq!(
                first,
                Some(which),
                "receive {number} got another message of PE {from} than the first; {}",
                self.repeat
            );
            taken[which] = true;
        }
    }
}
