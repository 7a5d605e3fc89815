//! Ports that are switched on and off, and cables that are pulled, while a simulation runs.
//!
//! A link that nobody switches is as it was made. A port that was switched once is told of every
//! change of the link. The link trains when the cable is plugged in, both ports are on with roles
//! that fit, and the buffers behind both are empty. Switching a port off lets everything that the
//! link has taken arrive first; pulling the cable does not.

use crate::engine::{Context, Ps};
use crate::models::DeviceEvent;

use super::config::End;
use super::event::{LinkEvent, PortState};
use super::family::Family;
use super::{Link, TrainingState};

/// The wishes of both ends.
#[derive(Debug)]
pub(super) struct Ports<R> {
    /// The role of each port that is on.
    roles: [Option<R>; 2],
    /// The ports that were switched once: they are told of changes.
    hears: [bool; 2],
    is_unplugged: bool,
    /// Goes down as soon as nothing is under way.
    is_closing: bool,
    trained: u16,
}

impl<R> Default for Ports<R> {
    fn default() -> Ports<R> {
        Ports {
            roles: [None, None],
            hears: [false; 2],
            is_unplugged: false,
            is_closing: false,
            trained: 0,
        }
    }
}

impl<R> Ports<R> {
    /// Whether somebody switches this link.
    pub(super) fn are_managed(&self) -> bool {
        self.hears != [false; 2]
    }
}

impl<F: Family> Link<F> {
    /// The port at `end` is switched.
    pub(super) fn switch(
        &mut self,
        end: End,
        role: Option<F::Role>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        self.ports.roles[end as usize] = role;
        self.ports.hears[end as usize] = true;
        self.tell(end, ctx);
        match (role, self.state) {
            (None, TrainingState::Up) => self.ports.is_closing = true,
            (None, TrainingState::Training | TrainingState::Failed) => self.close(ctx),
            _ => {}
        }
        self.settle_ports(ctx);
    }

    /// The cable is plugged in or pulled. What is under way on it is lost when it is pulled.
    pub(super) fn plug(&mut self, plugged: bool, ctx: &mut Context<'_, DeviceEvent>) {
        self.ports.is_unplugged = !plugged;
        if !plugged {
            for side in &mut self.ends {
                side.counters.lost += side.waiting() as u64;
                side.clear();
            }
            self.close(ctx);
        } else {
            for end in [End::A, End::B] {
                self.tell(end, ctx);
            }
        }
        self.settle_ports(ctx);
    }

    /// Goes down, or begins to train, if the time for it has come.
    pub(super) fn settle_ports(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let buffers_empty = self.ends.iter().all(|side| side.layer.is_empty());
        if self.ports.is_closing && self.state == TrainingState::Up {
            if buffers_empty && self.ends.iter().all(|side| side.waiting() == 0) {
                self.close(ctx);
            }
            return;
        }
        let down = self.state == TrainingState::Down && !self.ports.is_unplugged;
        if let [Some(a), Some(b)] = self.ports.roles
            && down
            && buffers_empty
            && let Some(mode) = F::agree([a, b])
        {
            let (time, event) = self.train(ctx.now(), mode);
            ctx.schedule(ctx.me(), time, event);
        }
    }

    /// Tells both ports that hear.
    pub(super) fn tell_ports(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        for end in [End::A, End::B] {
            self.tell(end, ctx);
        }
    }

    /// A training is over.
    pub(super) fn count_training(&mut self) {
        self.ports.trained = self.ports.trained.saturating_add(1);
    }

    fn close(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        self.ports.is_closing = false;
        self.take_down(if self.ports.is_unplugged {
            "its cable is pulled"
        } else {
            "a port is off"
        });
        self.tell_ports(ctx);
    }

    fn tell(&self, end: End, ctx: &mut Context<'_, DeviceEvent>) {
        let device = self.ends[end as usize].device;
        let Some((device, port)) = device.filter(|_| self.ports.hears[end as usize]) else {
            return;
        };
        let errors = self.ends[end.other() as usize].counters.crc_errors;
        let state = PortState {
            is_up: self.state == TrainingState::Up,
            is_plugged: !self.ports.is_unplugged,
            errors: u32::try_from(errors).unwrap_or(u32::MAX),
            trainings: self.ports.trained,
        };
        let event = F::wrap(LinkEvent::State { port, state });
        ctx.schedule(device, Ps::ZERO, event);
    }
}
