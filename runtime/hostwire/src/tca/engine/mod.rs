//! The engine makes the copies of a PE, piece by piece, and moves pieces from other PEs to its
//! devices.
//!
//! No function here waits. A step does what can be done now, and returns whether it did anything.

mod arrivals;
mod channel;
mod outgoing;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrivals::Arrivals;
use channel::Channel;
use hostwire_device::{Device, Ticket};
use hostwire_transport::PeId;
use outgoing::Outgoing;

use super::chain::Steps;
use super::door::STAGING;
use super::progress::StreamProgress;
use super::shared::TcaShared;
use crate::error::{Result, TcaError};

/// A copy that a device has to end.
pub(super) type Awaited = (Arc<dyn Device>, Ticket);

/// What a stream has to do.
pub(super) enum Work {
    Steps(Arc<Steps>),
    /// Until the word at this offset of the own segment is at least `value`.
    Wait {
        at: usize,
        value: u64,
    },
}

/// See the [module text](self).
pub(super) struct Engine {
    streams: BTreeMap<u64, Outgoing>,
    /// By target.
    channels: Vec<Channel>,
    /// By source.
    arrivals: Vec<Arrivals>,
    /// Free pieces of the own staging memory.
    staging: Vec<usize>,
}

impl Engine {
    pub(super) fn new(pes: u32) -> Self {
        Self {
            streams: BTreeMap::new(),
            channels: (0..pes).map(|_| Channel::default()).collect(),
            arrivals: (0..pes).map(|_| Arrivals::default()).collect(),
            staging: (0..STAGING).rev().collect(),
        }
    }

    /// Takes work of a stream.
    pub(super) fn take(&mut self, state: Arc<StreamProgress>, work: Work) {
        let stream = self.streams.entry(state.id);
        stream.or_insert_with(|| Outgoing::new(state)).take(work);
    }

    /// Does what can be done now. Returns whether it did anything.
    ///
    /// # Errors
    /// If this PE can store nothing more to anybody.
    pub(super) fn step(&mut self, shared: &TcaShared) -> Result<bool> {
        let mut worked = self.take_arrivals(shared)?;
        for stream in self.streams.values_mut() {
            let room = outgoing::Room {
                channels: &mut self.channels,
                staging: &mut self.staging,
            };
            worked |= stream.step(shared, room);
        }
        self.streams.retain(|_, stream| !stream.is_empty());
        Ok(worked)
    }

    /// Takes pieces that other PEs have put here for devices. Returns whether there were any.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub(super) fn take_arrivals(&mut self, shared: &TcaShared) -> Result<bool> {
        let mut worked = false;
        if shared.devices.count() > 0 {
            for (pe, arrivals) in (0..).zip(&mut self.arrivals) {
                worked |= arrivals.step(shared, pe)?;
            }
        }
        Ok(worked)
    }

    /// A copy of a device that something waits for.
    pub(super) fn awaited(&self) -> Option<Awaited> {
        let streams = self.streams.values().find_map(Outgoing::awaited);
        streams.or_else(|| self.arrivals.iter().find_map(Arrivals::awaited))
    }

    /// Drops what a stream has to do.
    pub(super) fn give_up(&mut self, id: u64) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.give_up();
        }
    }
}

/// The error of a device of this PE.
fn failed(shared: &TcaShared, fault: hostwire_device::DeviceError) -> crate::Error {
    let pe: PeId = shared.inner.pe;
    TcaError::Device { pe, fault }.into()
}
