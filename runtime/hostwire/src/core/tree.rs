//! Who speaks to whom in a large team: within a host first, and one member of each host between hosts. The member that speaks most does
//! so about two times the logarithm of the size.
//!
//! Nothing here waits or stores; what steps are for is in [`large`](super::large).

use std::sync::Arc;

use hostwire_transport::PeId;

use crate::layout::{ACROSS, BACK, GATHER};

/// The members of a large team by host. See the [module text](self).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tree {
    /// The first rank of each host, in rising order.
    firsts: Arc<[u32]>,
    /// By rank, the place of its host there.
    host_of: Arc<[u16]>,
    /// The ranks of the own host, in rising order.
    own: Box<[u32]>,
    rank: usize,
    /// The ranks of each host follow each other.
    is_in_order: bool,
}

/// To whom a member listens, and to whom it then speaks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Steps {
    pub(super) from: Vec<usize>,
    pub(super) to: Vec<usize>,
}

/// The three parts of a barrier for one member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Meeting {
    /// Within the host, until its first member knows of all: with the number of the round, which is that of the speaker's only word.
    pub(super) gather: Vec<(usize, Turn)>,
    /// Among the first members of hosts: in each round, to whom and from whom.
    pub(super) across: Vec<(usize, usize)>,
    /// Within the host, back.
    pub(super) release: Steps,
}

/// What a member does in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Waits for this rank.
    Hear(usize),
    /// Speaks to it.
    Tell(usize),
}

impl Tree {
    /// That of the team of these members, of which this one is `rank`; `node_of` says which PEs share a host. More members than a job has
    /// PEs have none.
    pub(super) fn of(
        members: &[PeId],
        rank: usize,
        node_of: impl Fn(PeId) -> Option<u32>,
    ) -> Option<Self> {
        let mut firsts = Vec::new();
        let mut by_node = Vec::<Option<u16>>::new();
        let mut host_of = Vec::with_capacity(members.len());
        for (at, pe) in members.iter().enumerate() {
            let node = node_of(*pe)? as usize;
            if by_node.len() <= node {
                by_node.resize(node + 1, None);
            }
            let known = by_node.get_mut(node)?;
            if known.is_none() {
                *known = Some(u16::try_from(firsts.len()).ok()?);
                firsts.push(u32::try_from(at).ok()?);
            }
            host_of.push((*known)?);
        }
        let here = *host_of.get(rank)?;
        let own = (0..).zip(&host_of).filter(|(_, host)| **host == here);
        Some(Self {
            own: own.map(|(rank, _)| rank).collect(),
            is_in_order: host_of.is_sorted(),
            firsts: firsts.into(),
            host_of: host_of.into(),
            rank,
        })
    }

    /// The steps by which what all have comes to rank 0: each member hears of ranks in rising order, each time from one that has heard of
    /// those that follow what it has itself, and then tells one before it. So values are combined in the order of ranks.
    pub(super) fn up(&self) -> Steps {
        if !self.is_in_order {
            return up(self.host_of.len(), self.rank).map(|rank| rank);
        }
        let within = up(self.own.len(), self.place());
        let mut steps = within.map(|place| self.own[place] as usize);
        if self.place() == 0 {
            let across = up(self.firsts.len(), self.host());
            let across = across.map(|host| self.firsts[host] as usize);
            steps.from.extend(across.from);
            steps.to.extend(across.to);
        }
        steps
    }

    /// The steps by which what `root` has comes to all.
    pub(super) fn down(&self, root: usize) -> Steps {
        let at = usize::from(self.host_of[root]);
        // On its host the root stands for all, on another one the first.
        let speaker = |host: usize| match host == at {
            true => root,
            false => self.firsts[host] as usize,
        };
        let mut steps = Steps::default();
        let here = speaker(self.host());
        if here == self.rank {
            steps = down(self.firsts.len(), self.host(), at).map(speaker);
        }
        let first = self.own.binary_search(&(here as u32)).unwrap_or(0);
        let within = down(self.own.len(), self.place(), first);
        let within = within.map(|place| self.own[place] as usize);
        steps.from.extend(within.from);
        steps.to.extend(within.to);
        steps
    }

    /// The steps of a barrier.
    pub(super) fn meeting(&self) -> Meeting {
        let place = self.place();
        let mut meeting = Meeting::default();
        let mut round = 0;
        while 1 << round < self.own.len() && place & ((1 << round) - 1) == 0 {
            let distance = 1 << round;
            if place & distance != 0 {
                let to = self.own[place - distance] as usize;
                meeting.gather.push((round, Turn::Tell(to)));
            } else if let Some(from) = self.own.get(place + distance) {
                meeting.gather.push((round, Turn::Hear(*from as usize)));
            }
            round += 1;
        }
        if place == 0 {
            let hosts = self.firsts.len();
            let rank = |host: usize| self.firsts[host % hosts] as usize;
            let rounds = (0..).take_while(|round| 1 << round < hosts);
            let both = rounds.map(|round: usize| {
                let distance = 1 << round;
                (
                    rank(self.host() + distance),
                    rank(self.host() + hosts - distance),
                )
            });
            meeting.across = both.collect();
        }
        let release = down(self.own.len(), place, 0);
        meeting.release = release.map(|place| self.own[place] as usize);
        meeting
    }

    /// Whether there are several hosts.
    pub(super) fn has_hosts(&self) -> bool {
        self.firsts.len() > 1
    }

    /// The flags that others store for this member in a barrier.
    pub(super) fn flags(&self) -> Vec<usize> {
        let meeting = self.meeting();
        let gather = meeting
            .gather
            .iter()
            .filter_map(|(round, turn)| match turn {
                Turn::Hear(_) => Some(GATHER + round),
                Turn::Tell(_) => None,
            });
        let across = (0..meeting.across.len()).map(|round| ACROSS + round);
        gather.chain(across).chain([BACK]).collect()
    }

    fn host(&self) -> usize {
        usize::from(self.host_of[self.rank])
    }

    /// The place of this member among those of its host.
    fn place(&self) -> usize {
        self.own.binary_search(&(self.rank as u32)).unwrap_or(0)
    }
}

impl Steps {
    fn map(self, rank: impl Fn(usize) -> usize) -> Self {
        let all = |places: Vec<usize>| places.into_iter().map(&rank).collect();
        Self {
            from: all(self.from),
            to: all(self.to),
        }
    }
}

/// A binomial tree whose root is place 0: a place hears of those that follow it.
fn up(len: usize, place: usize) -> Steps {
    let mut steps = Steps::default();
    let mut distance = 1;
    while distance < len {
        if place & distance != 0 {
            steps.to.push(place - distance);
            break;
        }
        if place + distance < len {
            steps.from.push(place + distance);
        }
        distance <<= 1;
    }
    steps
}

/// A binomial tree from `root`: twice as many places have it after each step.
pub(super) fn down(len: usize, place: usize, root: usize) -> Steps {
    let relative = (place + len - root) % len;
    let place_of = |relative: usize| (relative + root) % len;
    let mut steps = Steps::default();
    let mut reach = 1;
    if relative > 0 {
        reach = 1 << relative.ilog2();
        steps.from.push(place_of(relative - reach));
        reach <<= 1;
    }
    while relative + reach < len {
        steps.to.push(place_of(relative + reach));
        reach <<= 1;
    }
    steps
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
