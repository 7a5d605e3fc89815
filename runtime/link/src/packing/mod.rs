//! What leaves when: stores, looks and a clock in; "send now" and "come back then" out.
//!
//! A frame costs microseconds to send and a store nanoseconds to pack, so stores that follow each
//! other share frames. These are the rules:
//!
//! 1. The first store to a target since somebody looked at the wire leaves at once.
//! 2. Stores behind it wait for more: a frame that is not full leaves a hold time after the frame
//!    before it, or at once if that is over.
//! 3. A stream of stores to one target leaves many full frames at a time.
//! 4. Who looks at the wire, or waits for arrival, stores nothing more for now: then all leaves.
//! 5. An agent sends what the PE leaves behind. While it sleeps, or has just gone aside for the
//!    first time, it is woken when the hold time is over. While the PE goes on using the wire the
//!    agent comes by at growing intervals: what a PE leaves behind waits for the hold time, or about
//!    as long as the PE has used the wire without a pause, and never longer than
//!    [`Timings::aside_storing_max_ns`] or [`Timings::aside_looking_max_ns`].
//!
//! [`FrameHold`] is rule 2 for one link, of which [`Endpoint`](crate::Endpoint)s have one each.
//! [`Packing`] is the rest, for who drives an endpoint.

mod frame;
mod timings;
mod turns;

pub use self::frame::FrameHold;
pub use self::timings::Timings;
pub use self::turns::Turn;

use self::turns::Turns;
use crate::names::LinkId;
use crate::time::Ns;

/// How a PE looks for frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// So often at whether one has come; and as [`Drive`](Self::Drive) only if one has.
    Peek(u32),
    /// [Lets go](Packing::let_go) of all that waits, receives, and does what is due.
    Drive,
}

/// What leaves behind a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Nothing for now.
    Nothing,
    /// What the endpoint gives at this time.
    Ready(Ns),
    /// The same, with the links of all [targets](Packing::targets) flushed before.
    All(Ns),
}

/// What leaves when, for who drives an [`Endpoint`](crate::Endpoint). See the [module text](self).
///
/// - Around each store: [`joins`](Self::joins), or [`accepted`](Self::accepted) and then
///   [`behind_store`](Self::behind_store).
/// - A PE that waits: [`look`](Self::look).
/// - Whenever frames leave: [`transmits`](Self::transmits), [`left`](Self::left).
/// - Before the wire is given to others: [`wake_agent_by`](Self::wake_agent_by).
/// - The agent: [`begin_turn`](Self::begin_turn), [`end_turn`](Self::end_turn).
#[derive(Clone, Debug)]
pub struct Packing {
    timings: Timings,
    /// Targets of stores since somebody looked; that of the last one is last.
    targets: Vec<LinkId>,
    /// Stores so far, for looks at the clock.
    stores: u32,
    /// Looks so far, for the same.
    looks: u32,
    /// The last store was the first one to its target.
    urgent: bool,
    /// When frames left last.
    left_at: Ns,
    /// Stores wait that the deadline of the endpoint does not know of.
    waits: bool,
    turns: Turns,
}

impl Packing {
    /// Nothing has been stored yet.
    pub const fn new(timings: Timings) -> Self {
        Self {
            turns: Turns::new(),
            timings,
            targets: Vec::new(),
            stores: 0,
            looks: 0,
            urgent: false,
            left_at: Ns(0),
            waits: false,
        }
    }

    /// The times that it goes by.
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Whether nothing has been stored since somebody looked: then a store leaves at once.
    pub const fn is_at_rest(&self) -> bool {
        self.targets.is_empty()
    }

    /// Whether a store to a link may simply join a frame that waits.
    #[inline]
    pub fn joins(&mut self, link: LinkId) -> bool {
        self.stores = self.stores.wrapping_add(1);
        !self.stores.is_multiple_of(self.timings.stores_per_clock)
            && self.targets.last() == Some(&link)
    }

    /// A store that joins no frame has been accepted. Whether it is the first one to its target:
    /// then the link has to be flushed.
    pub fn accepted(&mut self, link: LinkId) -> bool {
        self.turns.stored();
        let place = self.targets.iter().rposition(|target| *target == link);
        match place {
            Some(place) => {
                let last = self.targets.len() - 1;
                self.targets.swap(place, last);
            }
            None => {
                self.targets.push(link);
                self.urgent = true;
            }
        }
        place.is_none()
    }

    /// Whether there are as many targets as may be: the next store has to [let go](Self::let_go)
    /// first.
    pub const fn is_crowded(&self) -> bool {
        self.targets.len() >= self.timings.targets_max
    }

    /// A store to a link has left alone.
    pub fn left_alone(&mut self, now: Ns, link: LinkId) {
        self.turns.stored();
        self.left_at = now;
        self.targets.push(link);
    }

    /// What leaves behind a store, when `frames_unsent` frames of its link wait. `now` is asked only
    /// where that matters.
    pub fn behind_store(&mut self, frames_unsent: usize, now: impl FnOnce() -> Ns) -> Leave {
        let urgent = core::mem::take(&mut self.urgent);
        let streams =
            !urgent && self.targets.len() == 1 && frames_unsent <= self.timings.stream_frames;
        let begins = !core::mem::replace(&mut self.waits, streams);
        let asks = begins || self.stores.is_multiple_of(self.timings.stores_per_clock);
        if streams && !asks {
            return Leave::Nothing;
        }
        let now = now();
        let held_ns = now.since(self.left_at);
        match streams {
            _ if urgent => Leave::All(now),
            true if held_ns < self.timings.hold_ns => Leave::Nothing,
            // So slow a stream fills no frame.
            true if frames_unsent <= 1 => Leave::All(now),
            _ => Leave::Ready(now),
        }
    }

    /// A PE that waits looks for frames.
    #[inline]
    pub const fn look(&mut self) -> Look {
        self.turns.looked();
        self.looks = self.looks.wrapping_add(1);
        match self.targets.is_empty() && !self.looks.is_multiple_of(self.timings.looks_per_clock) {
            true => Look::Peek(self.timings.looks_in_a_row),
            false => Look::Drive,
        }
    }

    /// A PE that waits drives the endpoint by itself, whatever [`look`](Self::look) would say.
    pub const fn attends(&mut self) {
        self.turns.looked();
    }

    /// The links that were stored to since somebody looked.
    pub fn targets(&self) -> impl Iterator<Item = LinkId> + '_ {
        self.targets.iter().copied()
    }

    /// Nothing more is stored for now: a link that has to be flushed, one after another.
    pub fn let_go(&mut self) -> Option<LinkId> {
        self.targets.pop()
    }

    /// All frames that may leave are asked of the endpoint, which knows when to send the others.
    pub const fn transmits(&mut self) {
        self.waits = false;
    }

    /// Frames have left.
    pub const fn left(&mut self, now: Ns) {
        self.left_at = now;
    }

    /// When something has to be done if nothing is stored or received before; `deadline` is the
    /// endpoint's.
    pub fn due(&self, deadline: Option<Ns>) -> Ns {
        let held_until = match self.waits {
            true => self.left_at.after(self.timings.hold_ns),
            false => Ns::MAX,
        };
        held_until.min(deadline.unwrap_or(Ns::MAX))
    }

    /// When the agent has to be woken, if it sleeps for longer. It is not said twice.
    #[inline]
    pub fn wake_agent_by(&mut self, deadline: Option<Ns>) -> Option<Ns> {
        let due = self.due(deadline);
        self.turns.wake_by(due, !self.targets.is_empty())
    }

    /// When the agent wakes, while it can be [woken earlier](Self::wake_agent_by).
    pub const fn agent_wakes(&self) -> Option<Ns> {
        self.turns.wakes()
    }

    /// The agent takes a turn at the wire. Whether the PE has left stores behind: then the agent
    /// [lets go](Self::let_go) of them.
    pub fn begin_turn(&mut self, now: Ns) -> bool {
        let left_behind = self.waits && now >= self.left_at.after(self.timings.hold_ns);
        if left_behind {
            self.turns.sent_for_the_pe();
        }
        left_behind
    }

    /// The agent has done all that there was to do; `came` if there was a frame. `due` is when
    /// there will be more, if nobody comes.
    pub fn end_turn(&mut self, now: Ns, came: bool, due: Ns) -> Turn {
        let stores_wait = !self.targets.is_empty();
        self.turns.end(now, came, (due, stores_wait), &self.timings)
    }
}
