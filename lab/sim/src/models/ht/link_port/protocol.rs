//! The link port's protocol: Go-Back-N, without I/O and without a clock.
//!
//! The paper says that the link port is "responsible for the link-layer including
//! retransmission and link management" and gives no details. This is a proposal: frames
//! are numbered, acknowledgements are cumulative and ride on frames, a gap or a damaged
//! frame is rejected once, and the sender repeats everything from there.

use std::collections::VecDeque;

use crate::models::ht::{Carried, Frame};

/// A message between two NICs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// NIC that it is for.
    pub destination: u16,
    /// NIC that it comes from.
    pub source: u16,
    /// At most 64 bytes.
    pub payload: Vec<u8>,
    /// Whose data that is, if it is for memory and no message.
    pub carried: Option<Carried>,
}

/// One end of the protocol.
#[derive(Debug)]
pub struct Protocol {
    frames_in_flight_max: usize,
    waiting: VecDeque<Message>,
    /// Sent and not acknowledged; the first has sequence `base`.
    unacknowledged: VecDeque<Message>,
    base: u16,
    /// How many of `unacknowledged` have been sent since the last rejection.
    sent: usize,
    expected: u16,
    acknowledge_owed: bool,
    reject_owed: bool,
    rejected: bool,
    /// Frames sent again.
    pub repeated: u64,
}

impl Protocol {
    /// A new end. At most 32,767 frames may be in flight.
    pub fn new(frames_in_flight_max: usize) -> Protocol {
        Protocol {
            frames_in_flight_max: frames_in_flight_max.clamp(1, 32_767),
            waiting: VecDeque::new(),
            unacknowledged: VecDeque::new(),
            base: 0,
            sent: 0,
            expected: 0,
            acknowledge_owed: false,
            reject_owed: false,
            rejected: false,
            repeated: 0,
        }
    }

    /// Takes a message to be sent.
    pub fn push(&mut self, message: Message) {
        self.waiting.push_back(message);
    }

    /// Messages taken and not yet acknowledged.
    pub fn pending(&self) -> usize {
        self.waiting.len() + self.unacknowledged.len()
    }

    /// The next frame to transmit, if there is one.
    pub fn next_frame(&mut self) -> Option<Frame> {
        if self.sent == self.unacknowledged.len()
            && self.unacknowledged.len() < self.frames_in_flight_max
        {
            self.unacknowledged.extend(self.waiting.pop_front());
        }
        let message = self.unacknowledged.get(self.sent).cloned();
        if message.is_none() && !self.acknowledge_owed && !self.reject_owed {
            return None;
        }
        let sequence = message
            .is_some()
            .then(|| self.base.wrapping_add(self.sent as u16));
        self.sent += usize::from(message.is_some());
        self.acknowledge_owed = false;
        let message = message.unwrap_or(Message {
            destination: 0,
            source: 0,
            payload: Vec::new(),
            carried: None,
        });
        Some(Frame {
            destination: message.destination,
            source: message.source,
            sequence,
            acknowledge: self.expected,
            reject: std::mem::take(&mut self.reject_owed),
            payload: message.payload,
            carried: message.carried,
            damaged: false,
        })
    }

    /// Takes a received frame; returns its message if it is the next in order.
    /// With `room` false a message is not taken; it will be sent again.
    pub fn receive(&mut self, frame: Frame, room: bool) -> Option<Message> {
        if frame.damaged {
            self.reject_once();
            return None;
        }
        self.acknowledged(frame.acknowledge);
        if frame.reject {
            self.go_back();
        }
        let ahead = frame.sequence?.wrapping_sub(self.expected);
        if ahead == 0 && room {
            self.expected = self.expected.wrapping_add(1);
            self.acknowledge_owed = true;
            self.rejected = false;
            return Some(Message {
                destination: frame.destination,
                source: frame.source,
                payload: frame.payload,
                carried: frame.carried,
            });
        }
        if ahead < 1 << 15 {
            self.reject_once();
        } else {
            // A repeated frame: our acknowledgement was lost.
            self.acknowledge_owed = true;
        }
        None
    }

    /// Nothing was acknowledged for too long: sends all again, and lets the
    /// next gap be rejected again.
    pub fn timeout(&mut self) {
        self.go_back();
        self.rejected = false;
    }

    /// Changes with every acknowledgement; a timer compares it.
    pub fn mark(&self) -> (u16, bool) {
        (self.base, self.unacknowledged.is_empty())
    }

    fn acknowledged(&mut self, next: u16) {
        let count = usize::from(next.wrapping_sub(self.base));
        // A number outside of what is in flight is old or garbage.
        if count <= self.unacknowledged.len() {
            self.unacknowledged.drain(..count);
            self.sent = self.sent.saturating_sub(count);
            self.base = next;
        }
    }

    fn go_back(&mut self) {
        self.repeated += self.sent as u64;
        self.sent = 0;
    }

    fn reject_once(&mut self) {
        self.reject_owed |= !self.rejected;
        self.rejected = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(n: u16) -> Message {
        Message {
            destination: 1,
            source: 0,
            payload: n.to_le_bytes().to_vec(),
            carried: None,
        }
    }

    #[test]
    fn a_lost_frame_is_rejected_once_and_repeated() {
        let (mut a, mut b) = (Protocol::new(8), Protocol::new(8));
        (0..4).for_each(|n| a.push(message(n)));
        let frames: Vec<_> = std::iter::from_fn(|| a.next_frame()).collect();
        assert_eq!(b.receive(frames[0].clone(), true), Some(message(0)));
        assert_eq!(b.receive(frames[2].clone(), true), None);
        assert_eq!(b.receive(frames[3].clone(), true), None);
        let reject = b.next_frame().unwrap();
        assert_eq!(
            (reject.acknowledge, reject.reject, reject.sequence),
            (1, true, None)
        );
        assert_eq!(b.next_frame(), None, "once");
        a.receive(reject, true);
        let again: Vec<_> = std::iter::from_fn(|| a.next_frame())
            .map(|f| f.sequence)
            .collect();
        assert_eq!(again, [Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn garbage_acknowledgements_change_nothing() {
        let mut a = Protocol::new(8);
        a.push(message(0));
        let mut frame = a.next_frame().unwrap();
        frame.acknowledge = 77;
        frame.sequence = None;
        a.receive(frame, true);
        assert_eq!(a.pending(), 1);
    }

    proptest! {
        /// Loss, damage and a full receiver: everything arrives once, in order.
        #[test]
        fn delivers_everything_in_order(
            count in 1u16..200,
            window in 1usize..20,
            fates in prop::collection::vec(0u8..10, 64),
        ) {
            let (mut a, mut b) = (Protocol::new(window), Protocol::new(window));
            (0..count).for_each(|n| a.push(message(n)));
            let mut got = Vec::new();
            let mut fate = fates.iter().cycle().enumerate();
            let mut rounds = 0;
            while a.pending() > 0 {
                rounds += 1;
                // A pattern that hits every frame cannot be survived.
                prop_assume!(rounds < 5_000);
                let mut quiet = true;
                while let Some(mut frame) = a.next_frame() {
                    quiet = false;
                    let (turn, &fate) = fate.next().unwrap();
                    let fate = (usize::from(fate) + turn / 64) % 10;
                    frame.damaged = fate == 0;
                    if fate != 1 {
                        got.extend(b.receive(frame, fate != 2));
                    }
                }
                while let Some(mut frame) = b.next_frame() {
                    frame.damaged = fate.next().unwrap().1 == &3;
                    a.receive(frame, true);
                }
                if quiet {
                    a.timeout();
                }
            }
            prop_assert_eq!(got, (0..count).map(message).collect::<Vec<_>>());
        }
    }
}
