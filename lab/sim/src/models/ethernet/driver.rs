//! An endpoint of `hostwire-link` in virtual time: its clock, its timer, and frames out and in.
//! Hosts and adapters drive their endpoints by this.

use hostwire_link::{Delivery, Endpoint, Filled, LinkId, Node, Ns};

use crate::engine::{Context, Ps};
use crate::models::DeviceEvent;

use super::{EtherEvent, EtherFrame};

/// Later deadlines are those of links on which nothing is going on: a run does not wait for them.
const NEVER: Ps = Ps(u64::MAX / 2);

/// An endpoint with its timer and its port: all that an endpoint needs of a simulation.
pub struct Driver {
    me: u16,
    endpoint: Endpoint,
    timer_at: Option<Ps>,
}

impl Driver {
    /// The endpoint of number `me` on its switch.
    pub fn new(me: u16, endpoint: Endpoint) -> Driver {
        Driver {
            me,
            endpoint,
            timer_at: None,
        }
    }

    /// The own number.
    pub fn me(&self) -> u16 {
        self.me
    }

    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The endpoint, to hand packets over.
    pub fn endpoint_mut(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    /// Begins to open the link to a peer.
    ///
    /// # Errors
    /// A text, if the endpoint takes no link to it: two with one number.
    pub fn open(&mut self, peer: u16) -> Result<LinkId, String> {
        let link = self.endpoint.link(Node(u32::from(peer)));
        let link = link.map_err(|error| error.to_string())?;
        let opened = self.endpoint.open(ns(Ps::ZERO), link);
        opened.map_err(|error| error.to_string())?;
        Ok(link)
    }

    /// Whether this timer event is the one that was set last. Others have been replaced.
    pub fn is_due(&mut self, now: Ps) -> bool {
        let is_due = self.timer_at == Some(now);
        if is_due {
            self.timer_at = None;
        }
        is_due
    }

    /// Does what is due.
    pub fn catch_up(&mut self, now: Ps) {
        self.endpoint.on_timeout(ns(now));
    }

    /// The next frame to be sent, if there is one now.
    pub fn next_frame(&mut self, now: Ps) -> Option<Box<EtherFrame>> {
        let transmit = self.endpoint.poll_transmit(ns(now))?;
        Some(Box::new(EtherFrame {
            from: self.me,
            to: u16::try_from(transmit.peer.0).unwrap_or(u16::MAX),
            bytes: transmit.frame.to_vec(),
        }))
    }

    /// Takes a frame. What is dropped was counted by the endpoint: a copy, or one behind a lost
    /// frame.
    pub fn receive<'a>(&mut self, frame: &'a EtherFrame, now: Ps) -> Option<Delivery<'a>> {
        self.endpoint.receive(ns(now), &frame.bytes).ok().flatten()
    }

    /// Gives buffers back.
    ///
    /// # Errors
    /// A text: more than are filled.
    pub fn release(&mut self, link: LinkId, filled: Filled, now: Ps) -> Result<(), String> {
        let released = self.endpoint.release(ns(now), link, filled);
        released.map_err(|error| error.to_string())
    }

    /// Sets the timer of the component that has this driver.
    pub fn set_timer(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(deadline) = self.endpoint.deadline() else {
            return;
        };
        let at = at(deadline).max(ctx.now());
        if at < NEVER && self.timer_at.is_none_or(|timer| at < timer) {
            self.timer_at = Some(at);
            ctx.schedule_at(ctx.me(), at, DeviceEvent::Ethernet(EtherEvent::Timer));
        }
    }
}

/// The clock of the links: it begins at 1, and counts whole nanoseconds.
fn ns(time: Ps) -> Ns {
    Ns(time.0 / 1_000 + 1)
}

/// The first time at which that clock shows `deadline`.
fn at(deadline: Ns) -> Ps {
    Ps(deadline.0.saturating_sub(1).saturating_mul(1_000))
}
