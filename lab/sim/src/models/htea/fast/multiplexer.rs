//! A port that several stages share: the frames of all queues leave one after the other.
//!
//! The paper's other way to connect four stages to the switch: instead of four cables one link that
//! is as fast as the four, onto which four virtual queues are multiplexed (htoe, section VI.B).

use super::config::Timing;
use super::event::{Event, Frame};
use crate::engine::{Component, ComponentId, Context, Ps};

pub(super) struct Multiplexer {
    timing: Timing,
    /// The stages or ports behind it: virtual link modulo their number.
    targets: Vec<ComponentId>,
    /// When the end of the last frame leaves.
    tail: Ps,
}

impl Multiplexer {
    pub(super) fn new(timing: Timing, targets: Vec<ComponentId>) -> Multiplexer {
        Multiplexer {
            timing,
            targets,
            tail: Ps::ZERO,
        }
    }

    /// The end of a frame could leave now, if the port were free.
    fn pass(&mut self, frame: Frame, ctx: &mut Context<'_, Event>) {
        let wire = self.timing.wire(u64::from(frame.packets), frame.words());
        self.tail = ctx.now().max(self.tail + wire);
        let target = usize::from(frame.link) % self.targets.len().max(1);
        if let Some(target) = self.targets.get(target) {
            ctx.schedule_at(*target, self.tail, Event::Arrive(frame));
        }
    }
}

impl Component<Event> for Multiplexer {
    fn handle(&mut self, event: Event, ctx: &mut Context<'_, Event>) {
        if let Event::Arrive(frame) = event {
            self.pass(frame, ctx);
        }
    }
}
