//! Decides when frames leave. Input: stores, looks and a clock. Output: "send now" and "come back
//! then".
//!
//! A frame costs microseconds to send and a store nanoseconds to pack, so stores that follow each
//! other share frames. These are the rules:
//!
//! 1. The first store to a target after a look at the wire leaves at once.
//! 2. Later stores wait for more: a frame that is not full leaves a hold time after the previous
//!    frame, or at once if this time is over.
//! 3. A stream of stores to one target leaves many full frames at a time.
//! 4. A PE that looks at the wire, or waits for arrival, stores nothing more for now: then
//!    everything leaves.
//! 5. An agent sends the stores that the PE leaves unsent. If the agent sleeps, or has just stepped
//!    aside for the first time, it is woken when the hold time is over. While the PE keeps using the
//!    wire, the agent takes turns at growing intervals. So unsent stores wait for the hold time, or
//!    about as long as the PE has used the wire without a pause, and never longer than
//!    [`Timings::aside_storing_max_ns`] or [`Timings::aside_looking_max_ns`].
//!
//! [`FrameHold`] is rule 2 for one link; an [`Endpoint`](crate::Endpoint) has one for each.
//! [`Packing`] is the rest, for the code that drives an endpoint.

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
    /// Checks so often whether a frame has come; continues as [`Drive`](Self::Drive) only if one
    /// has.
    Peek(u32),
    /// [Lets go](Packing::let_go) of everything that waits, receives, and does what is due.
    Drive,
}

/// What leaves after a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Nothing for now.
    Nothing,
    /// The frames that the endpoint gives at this time.
    Ready(Ns),
    /// The same, with the links of all [targets](Packing::targets) flushed before.
    All(Ns),
}

/// Decides when frames leave, for the code that drives an [`Endpoint`](crate::Endpoint). See the
/// [module text](self).
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
    /// Targets of stores since the last look; the target of the last store is last.
    targets: Vec<LinkId>,
    /// Counts stores, to decide when to read the clock.
    stores: u32,
    /// Counts looks, for the same purpose.
    looks: u32,
    /// The last store was the first one to its target.
    urgent: bool,
    /// When frames left last.
    left_at: Ns,
    /// Stores wait that are not in the deadline of the endpoint.
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

    /// Its times.
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Whether nothing has been stored since the last look: then a store leaves at once.
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

    /// A store that joins no frame has been accepted. Returns whether it is the first one to its
    /// target: then the link has to be flushed.
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

    /// Whether the list of targets is full: the next store has to [let go](Self::let_go) first.
    pub const fn is_crowded(&self) -> bool {
        self.targets.len() >= self.timings.targets_max
    }

    /// A store to a link has left alone.
    pub fn left_alone(&mut self, now: Ns, link: LinkId) {
        self.turns.stored();
        self.left_at = now;
        self.targets.push(link);
    }

    /// What leaves after a store, when `frames_unsent` frames of its link wait. Calls `now` only
    /// where the time matters.
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
            // Such a slow stream does not fill a frame.
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

    /// The links with stores since the last look.
    pub fn targets(&self) -> impl Iterator<Item = LinkId> + '_ {
        self.targets.iter().copied()
    }

    /// Nothing more is stored for now: gives the links that have to be flushed, one after another.
    pub fn let_go(&mut self) -> Option<LinkId> {
        self.targets.pop()
    }

    /// All frames that may leave now are taken from the endpoint. The endpoint knows when to send
    /// the others.
    pub const fn transmits(&mut self) {
        self.waits = false;
    }

    /// Frames have left.
    pub const fn left(&mut self, now: Ns) {
        self.left_at = now;
    }

    /// When something has to be done if nothing is stored or received before. `deadline` is that of
    /// the endpoint.
    pub fn due(&self, deadline: Option<Ns>) -> Ns {
        let held_until = match self.waits {
            true => self.left_at.after(self.timings.hold_ns),
            false => Ns::MAX,
        };
        held_until.min(deadline.unwrap_or(Ns::MAX))
    }

    /// When the agent has to be woken, if it sleeps for longer. Returned only once.
    #[inline]
    pub fn wake_agent_by(&mut self, deadline: Option<Ns>) -> Option<Ns> {
        let due = self.due(deadline);
        self.turns.wake_by(due, !self.targets.is_empty())
    }

    /// When the agent wakes, while it can be [woken earlier](Self::wake_agent_by).
    pub const fn agent_wakes(&self) -> Option<Ns> {
        self.turns.wakes()
    }

    /// The agent takes a turn at the wire. Returns whether the PE has left unsent stores: then the
    /// agent [lets go](Self::let_go) of them.
    pub fn begin_turn(&mut self, now: Ns) -> bool {
        let left_behind = self.waits && now >= self.left_at.after(self.timings.hold_ns);
        if left_behind {
            self.turns.sent_for_the_pe();
        }
        left_behind
    }

    /// The agent has done all its work; `came` if there was a frame. `due` is when there will be
    /// more work, if nothing happens before.
    pub fn end_turn(&mut self, now: Ns, came: bool, due: Ns) -> Turn {
        let stores_wait = !self.targets.is_empty();
        self.turns.end(now, came, (due, stores_wait), &self.timings)
    }
}
