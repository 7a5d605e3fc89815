use super::Timings;
use crate::time::Ns;

/// What an agent does after its turn at the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It yields its core once and takes the next turn.
    Again,
    /// It leaves the wire to the PE, which is using it, for so many nanoseconds. Frames do not wake
    /// it. It stays aside for as long again if the PE uses the wire at that moment.
    Aside(u64),
    /// It sleeps until then, or until a frame comes.
    Sleep(Ns),
}

/// The turns of an agent at a wire that the threads of a PE also use.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// The PE has stored since the last turn, and not only into a waiting frame.
    stored: bool,
    /// A waiting PE has looked at the wire.
    looked: bool,
    /// Since when the agent has been aside, if it was aside before its last turn.
    aside_since: Option<Ns>,
    /// Consecutive turns without work.
    idle: u32,
    /// When the agent wakes by itself, while it sleeps or is aside for the first time.
    wakes: Option<Ns>,
    sleeps: bool,
}

impl Turns {
    pub(super) const fn new() -> Self {
        Self {
            stored: false,
            looked: false,
            aside_since: None,
            idle: 0,
            wakes: None,
            sleeps: false,
        }
    }

    #[inline]
    pub(super) const fn stored(&mut self) {
        self.stored = true;
    }

    #[inline]
    pub(super) const fn looked(&mut self) {
        self.looked = true;
    }

    /// The agent has sent stores that the PE had left unsent: so the PE does something else now.
    pub(super) const fn sent_for_the_pe(&mut self) {
        self.aside_since = None;
    }

    /// The end of a turn. `due`: when there is work, if nothing happens before; `stores_wait`: this
    /// work may be to send stores.
    pub(super) fn end(
        &mut self,
        now: Ns,
        came: bool,
        (due, stores_wait): (Ns, bool),
        timings: &Timings,
    ) -> Turn {
        self.wakes = None;
        self.sleeps = false;
        let looked = core::mem::take(&mut self.looked);
        if core::mem::take(&mut self.stored) || looked {
            self.idle = 0;
            let stores_due = if stores_wait { due } else { Ns::MAX };
            return Turn::Aside(self.aside(now, looked, stores_due, timings));
        }
        self.aside_since = None;
        self.idle = if came { 0 } else { self.idle.saturating_add(1) };
        if self.idle < timings.agent_yields {
            return Turn::Again;
        }
        let until = now.after(timings.sleep_max_ns).min(due);
        self.wakes = Some(until);
        self.sleeps = true;
        Turn::Sleep(until)
    }

    fn aside(&mut self, now: Ns, looked: bool, due: Ns, timings: &Timings) -> u64 {
        let aside_max_ns = match looked {
            true => timings.aside_looking_max_ns,
            false => timings.aside_storing_max_ns,
        };
        if let Some(since) = self.aside_since.replace(now) {
            let twice_ns = now.since(since).saturating_mul(2);
            return twice_ns.clamp(timings.hold_ns, aside_max_ns);
        }
        // Not again at once, whatever is due: the PE uses the wire.
        let soonest_ns = timings.hold_ns / 2;
        let aside_ns = due.since(now).clamp(soonest_ns, timings.aside_min_ns);
        self.wakes = Some(now.after(aside_ns));
        aside_ns
    }

    pub(super) const fn wakes(&self) -> Option<Ns> {
        self.wakes
    }

    /// Ends the agent's sleep earlier if it sleeps beyond `due`, and returns the new end. If the
    /// agent is aside, only if `stores_wait`: the PE does all other work.
    #[inline]
    pub(super) fn wake_by(&mut self, due: Ns, stores_wait: bool) -> Option<Ns> {
        if self.wakes? <= due || !(stores_wait || self.sleeps) {
            return None;
        }
        self.wakes = Some(due);
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMINGS: Timings = Timings {
        agent_yields: 2,
        ..Timings::SOCKET
    };

    #[test]
    fn who_uses_the_wire_by_itself_is_left_alone_for_longer_and_longer() {
        let mut turns = Turns::new();
        let mut now = Ns(1_000_000);
        let mut aside_us = |uses: fn(&mut Turns)| {
            uses(&mut turns);
            let Turn::Aside(aside_ns) = turns.end(now, false, (Ns::MAX, true), &TIMINGS) else {
                return None;
            };
            now = now.after(aside_ns);
            Some(aside_ns / 1_000)
        };
        for us in [100, 160, 160] {
            assert_eq!(aside_us(Turns::stored), Some(us));
        }
        for us in [320, 640, 1_280, 2_000, 2_000] {
            assert_eq!(aside_us(Turns::looked), Some(us));
        }
        assert_eq!(aside_us(Turns::stored), Some(160));
        // When the PE does something else, everything begins anew.
        assert_eq!(aside_us(|_| {}), None);
        assert_eq!(aside_us(Turns::stored), Some(100));
        aside_us(Turns::stored);
        assert_eq!(
            aside_us(|turns| {
                turns.stored();
                turns.sent_for_the_pe();
            }),
            Some(100)
        );
    }

    #[test]
    fn an_agent_with_nothing_to_do_sleeps_until_something_is_due() {
        let mut turns = Turns::new();
        let now = Ns(5_000);
        assert_eq!(
            turns.end(now, true, (Ns(9_000), true), &TIMINGS),
            Turn::Again
        );
        assert_eq!(
            turns.end(now, false, (Ns(9_000), true), &TIMINGS),
            Turn::Again
        );
        assert_eq!(turns.wake_by(Ns(6_000), true), None, "it is awake");
        assert_eq!(
            turns.end(now, false, (Ns(9_000), true), &TIMINGS),
            Turn::Sleep(Ns(9_000))
        );
        assert_eq!(turns.wake_by(Ns(9_000), true), None);
        assert_eq!(turns.wake_by(Ns(8_000), true), Some(Ns(8_000)));
        assert_eq!(
            turns.wake_by(Ns(8_500), true),
            None,
            "it has been brought forward"
        );
        let long = now.after(TIMINGS.sleep_max_ns);
        assert_eq!(
            turns.end(now, false, (Ns::MAX, true), &TIMINGS),
            Turn::Sleep(long)
        );
    }

    #[test]
    fn the_first_stores_that_wait_are_fetched_when_they_are_due() {
        let mut turns = Turns::new();
        let now = Ns(1_000_000);
        turns.stored();
        let due = now.after(7_000);
        assert_eq!(
            turns.end(now, false, (due, true), &TIMINGS),
            Turn::Aside(8_000)
        );
        turns.sent_for_the_pe();
        turns.stored();
        let first = turns.end(now, false, (Ns::MAX, true), &TIMINGS);
        assert_eq!(first, Turn::Aside(100_000));
        // The same for later stores, but less and less if the PE continues.
        let due = now.after(20_000);
        assert_eq!(turns.wake_by(due, true), Some(due));
        turns.stored();
        let second = turns.end(due, false, (Ns::MAX, true), &TIMINGS);
        assert_eq!(second, Turn::Aside(40_000));
        assert_eq!(turns.wake_by(due.after(16_000), true), None);
    }

    #[test]
    fn an_agent_aside_is_not_woken_for_what_the_pe_does() {
        let mut turns = Turns::new();
        let (now, soon) = (Ns(1_000_000), Ns(1_005_000));
        turns.looked();
        let aside = turns.end(now, false, (soon, false), &TIMINGS);
        assert_eq!(aside, Turn::Aside(TIMINGS.aside_min_ns));
        assert_eq!(turns.wake_by(soon, false), None);
        assert_eq!(turns.wake_by(soon, true), Some(soon));
    }
}
