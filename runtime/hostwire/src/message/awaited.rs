//! Words that a peer has to say about long messages, by the number of the message.

use std::collections::VecDeque;

use super::requests::Ticket;

/// All of one kind from one peer. Numbers are added in their order, and ended in any; the
/// memory is kept for the next.
#[derive(Default)]
pub(super) struct Awaited(VecDeque<Waiting>);

struct Waiting {
    number: u32,
    /// What is run when it is there. A call that waits looks itself.
    ticket: Option<Ticket>,
    said: Option<u64>,
}

impl Awaited {
    pub(super) fn add(&mut self, number: u32, ticket: Option<Ticket>) {
        self.0.push_back(Waiting {
            number,
            ticket,
            said: None,
        });
    }

    /// Somebody else is to be run when it is there.
    pub(super) fn hand_to(&mut self, number: u32, ticket: Ticket) {
        let waiting = self.position(number).and_then(|at| self.0.get_mut(at));
        if let Some(waiting) = waiting {
            waiting.ticket = Some(ticket);
        }
    }

    fn position(&self, number: u32) -> Option<usize> {
        // Those that wait longest are answered first, mostly.
        self.0.iter().position(|waiting| waiting.number == number)
    }

    /// The peer says `word`: who is to be run. An error if nobody waits for it.
    pub(super) fn say(&mut self, number: u32, word: u64) -> Result<Option<Ticket>, ()> {
        let waiting = self.position(number).and_then(|at| self.0.get_mut(at));
        match waiting {
            Some(waiting) if waiting.said.is_none() => {
                waiting.said = Some(word);
                Ok(waiting.ticket)
            }
            _ => Err(()),
        }
    }

    /// What was said, once.
    pub(super) fn take(&mut self, number: u32) -> Option<u64> {
        let at = self.position(number)?;
        let said = self.0.get(at)?.said?;
        self.0.remove(at);
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_said_and_taken_once_in_any_order() {
        let mut awaited = Awaited::default();
        for number in [u32::MAX, 0, 1] {
            awaited.add(number, None);
        }
        assert_eq!(awaited.take(0), None);
        for number in [1, u32::MAX] {
            assert_eq!(awaited.say(number, 7), Ok(None));
            assert_eq!(awaited.say(number, 7), Err(()));
            assert_eq!(awaited.take(number), Some(7));
            assert_eq!(
                (awaited.take(number), awaited.say(number, 7)),
                (None, Err(()))
            );
        }
        assert_eq!(awaited.say(0, 9), Ok(None));
    }
}
