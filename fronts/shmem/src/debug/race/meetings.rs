//! Collective operations: the knowledge of members when they arrive, for the members that
//! learn it.
//!
//! Every member sends its knowledge at its arrival to the member of rank 0. The detector
//! there answers as soon as those members have arrived from which data flows. So no member
//! learns of later operations of another one.

use std::collections::HashMap;
use std::sync::Arc;

use super::clock::{COLLECTIVES, Clock, Epoch, Who};

/// From whom data flows to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// From all to all.
    All,
    /// From the member of this rank to all others.
    From(u32),
    /// From each to those of higher ranks.
    Up,
}

impl Flow {
    pub(super) fn to_number(self) -> u64 {
        match self {
            Self::All => 0,
            Self::Up => 1,
            Self::From(root) => 2 + u64::from(root),
        }
    }

    pub(super) fn from_number(number: u64) -> Option<Self> {
        Some(match number {
            0 => Self::All,
            1 => Self::Up,
            root => Self::From(u32::try_from(root - 2).ok()?),
        })
    }

    fn is_from(self, rank: usize, to: usize) -> bool {
        match self {
            Self::All => true,
            Self::From(root) => rank == root as usize && to != rank,
            Self::Up => rank < to,
        }
    }
}

/// One operation of one team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// The team.
    pub(super) team: u64,
    /// How many it had before.
    pub(super) number: u64,
}

/// The message of a member when it arrives.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) who: Who,
    pub(super) passed: Epoch,
    pub(super) clock: Arc<Clock>,
    /// The epoch of what it stores at others, if it stores anything.
    pub(super) stores: Option<Epoch>,
    /// Whether others learn from it.
    pub(super) gives: bool,
    /// The number that the answer has to have.
    pub(super) question: u64,
}

#[derive(Debug)]
struct Meeting {
    flow: Flow,
    entries: Box<[Option<Entry>]>,
    answered: Box<[bool]>,
}

impl Meeting {
    /// The knowledge that the member of this rank learns; `None` if another member has
    /// to arrive first.
    fn answer(&self, rank: usize) -> Option<Clock> {
        let to = self.entries[rank].as_ref()?;
        let mut known = Clock::new(to.clock.pes());
        // A member that arrives here has completed every earlier collective operation: the
        // stores of others for it have arrived.
        let is_of_all = self.flow == Flow::All && self.entries.len() == to.clock.pes() as usize;
        for (from, entry) in self.entries.iter().enumerate() {
            if from == rank || !self.flow.is_from(from, rank) {
                continue;
            }
            let entry = entry.as_ref()?;
            if entry.gives {
                known.join(&entry.clock);
                known.pass(entry.who, entry.passed);
                let here = (COLLECTIVES, to.who.pe);
                for (who, passed) in entry.clock.before(entry.who, entry.passed) {
                    if is_of_all {
                        known.quiet(who, COLLECTIVES, passed);
                    }
                    known.deliver(who, here, (1, passed));
                }
                if let Some(epoch) = entry.stores {
                    known.deliver(entry.who, here, (epoch, epoch));
                }
            }
        }
        Some(known)
    }
}

/// The operations in which not all members have an answer yet.
#[derive(Debug, Default)]
pub(super) struct Meetings(HashMap<Key, Meeting>);

impl Meetings {
    /// The member of `rank` of `size` arrives. Returns the answers that are due now: PE,
    /// question and knowledge; `None` if the message makes no sense.
    pub(super) fn come(
        &mut self,
        key: Key,
        (rank, size): (usize, usize),
        flow: Flow,
        entry: Entry,
    ) -> Option<Vec<(u32, u64, Clock)>> {
        let meeting = self.0.entry(key).or_insert_with(|| Meeting {
            flow,
            entries: (0..size).map(|_| None).collect(),
            answered: vec![false; size].into(),
        });
        let place = meeting.entries.get_mut(rank)?;
        if place.is_some() || meeting.flow != flow {
            return None;
        }
        *place = Some(entry);
        let mut answers = Vec::new();
        for rank in 0..meeting.entries.len() {
            if meeting.answered[rank] {
                continue;
            }
            if let Some(known) = meeting.answer(rank)
                && let Some(entry) = &meeting.entries[rank]
            {
                answers.push((entry.who.pe, entry.question, known));
                meeting.answered[rank] = true;
            }
        }
        if meeting.answered.iter().all(|answered| *answered) {
            self.0.remove(&key);
        }
        Some(answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key { team: 9, number: 1 };

    fn entry(pe: u32, gives: bool) -> Entry {
        Entry {
            who: Who::first(pe),
            passed: 10 + u64::from(pe),
            clock: Arc::new(Clock::new(3)),
            stores: Some(20),
            gives,
            question: pe.into(),
        }
    }

    /// The answers when these arrive one after the other, and the knowledge of each.
    fn come(flow: Flow, order: [(usize, bool); 3]) -> Vec<(u32, [u64; 3])> {
        let mut meetings = Meetings::default();
        let mut answers = Vec::new();
        for (rank, gives) in order {
            let now = meetings.come(KEY, (rank, 3), flow, entry(rank as u32, gives));
            for (pe, question, known) in now.unwrap() {
                assert_eq!(u64::from(pe), question);
                answers.push((pe, [0, 1, 2].map(|of| known.passed(Who::first(of)))));
            }
        }
        assert!(meetings.0.is_empty());
        answers
    }

    #[test]
    fn all_learn_from_all_when_the_last_has_come() {
        let answers = come(Flow::All, [(2, true), (0, true), (1, true)]);
        let expected = [(0, [0, 11, 12]), (1, [10, 0, 12]), (2, [10, 11, 0])];
        assert_eq!(answers, expected);
    }

    #[test]
    fn who_gives_nothing_makes_nothing_known() {
        let answers = come(Flow::All, [(2, true), (0, true), (1, false)]);
        let expected = [(0, [0, 0, 12]), (1, [10, 0, 12]), (2, [10, 0, 0])];
        assert_eq!(answers, expected);
    }

    #[test]
    fn the_root_waits_for_nobody_and_learns_nothing() {
        let answers = come(Flow::From(1), [(2, true), (1, true), (0, true)]);
        assert_eq!(answers, [(1, [0; 3]), (2, [0, 11, 0]), (0, [0, 11, 0])]);
    }

    #[test]
    fn a_scan_goes_up() {
        let answers = come(Flow::Up, [(1, true), (0, true), (2, true)]);
        assert_eq!(answers, [(0, [0; 3]), (1, [10, 0, 0]), (2, [10, 11, 0])]);
    }

    #[test]
    fn what_makes_no_sense_is_noticed() {
        let mut meetings = Meetings::default();
        let mut come = |rank, flow| meetings.come(KEY, (rank, 3), flow, entry(0, true));
        assert!(come(0, Flow::All).is_some());
        assert!(come(0, Flow::All).is_none());
        assert!(come(1, Flow::Up).is_none());
        assert!(come(3, Flow::All).is_none());
    }
}
