//! Registered memory: one's own, and how that of peers is reached.

use std::sync::PoisonError;

use hostwire_address::{Place, SegmentId};
use hostwire_transport::operation::apply;
use hostwire_transport::{Memory, PeId, Request, Route};

use crate::error::{Error, Result};

use super::Attachment;

impl Attachment {
    /// Lets peers put to memory of this PE, get from it and change it by atomics, until it is
    /// [unregistered](Self::unregister). Returns its number.
    ///
    /// # Errors
    /// [`Error::TooManySegments`]; [`Error::Environment`] if the agent, which may be needed from
    /// now on, cannot be started; [`Error::Copied`].
    pub fn register(&self, memory: Memory) -> Result<SegmentId> {
        self.origin.check()?;
        let (segment, window) = self.registry.add(memory)?;
        let registered = self.wire.register(segment, &window).map_err(Error::from);
        registered
            .and_then(|()| self.start_agent())
            .inspect_err(|_| self.unregister(segment))?;
        Ok(segment)
    }

    /// Peers do not reach it any more: when this returns, nothing more is stored there.
    pub fn unregister(&self, segment: SegmentId) {
        if self.is_here() {
            self.wire.unregister(segment);
            self.registry.remove(segment);
            self.agent.finish_serving();
        }
    }

    /// Not all wires reach registered memory: what they do not do, the agent does.
    fn start_agent(&self) -> Result<()> {
        self.agent.need();
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(mode), None) = (workers.mode, &workers.agent) {
            workers.agent = self.agent.start(&self.wire, mode)?;
        }
        Ok(())
    }

    /// How a registered segment of `pe`, which is there, is reached.
    fn registered_route(&self, pe: PeId, segment: SegmentId) -> Result<Option<Route>> {
        self.check(pe)?;
        if pe == self.pe {
            return Ok(self.registry.window(segment).map(Route::Mapped));
        }
        Ok(self.wire.registered_route(pe, segment))
    }

    pub(super) fn put_registered(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<()> {
        let (segment, offset) = registered_place(pe, offset_bytes)?;
        match self.registered_route(pe, segment)? {
            Some(Route::Mapped(window)) => {
                let put = window.put(offset, src);
                self.segment().notify();
                put.map_err(|_| not_registered(pe, offset_bytes))
            }
            Some(Route::Carried | Route::Offloaded) => {
                Ok(self.wire.store(pe, offset_bytes, src)?)
            }
            None if pe == self.pe => Err(not_registered(pe, offset_bytes)),
            None => self.agent.put(self, pe, offset_bytes, src),
        }
    }

    pub(super) fn get_registered(
        &self,
        pe: PeId,
        offset_bytes: usize,
        dst: &mut [u8],
    ) -> Result<()> {
        let (segment, offset) = registered_place(pe, offset_bytes)?;
        match (self.registered_route(pe, segment)?, self.wire.offload()) {
            (Some(Route::Mapped(window)), _) if window.allows_loads() => window
                .get(offset, dst)
                .map_err(|_| not_registered(pe, offset_bytes)),
            (Some(Route::Offloaded), Some(wire)) => Ok(wire.get(pe, offset_bytes, dst)?),
            _ if pe == self.pe => Err(not_registered(pe, offset_bytes)),
            _ => self.agent.get(self, pe, offset_bytes, dst),
        }
    }

    pub(super) fn atomic_registered(&self, pe: PeId, request: Request) -> Result<u64> {
        let (segment, offset_bytes) = registered_place(pe, request.offset_bytes)?;
        match (self.registered_route(pe, segment)?, self.wire.offload()) {
            (Some(Route::Mapped(window)), _) if window.allows_atomics() => {
                let there = Request {
                    offset_bytes,
                    ..request
                };
                let old = apply(&window, &there);
                self.segment().notify();
                old.map_err(|_| not_registered(pe, request.offset_bytes))
            }
            (Some(Route::Offloaded), Some(wire)) => Ok(wire.atomic(pe, request)?),
            _ if pe == self.pe => Err(not_registered(pe, request.offset_bytes)),
            _ => self.agent.ask(self, pe, request),
        }
    }
}

/// The segment of a place in registered memory, and where in it the place is.
fn registered_place(pe: PeId, offset_bytes: usize) -> Result<(SegmentId, usize)> {
    match Place::of(offset_bytes as u64) {
        // An offset is below 2^40.
        Some(Place::Registered(segment, offset)) => Ok((segment, offset as usize)),
        _ => Err(not_registered(pe, offset_bytes)),
    }
}

#[cold]
fn not_registered(pe: PeId, offset_bytes: usize) -> Error {
    let (segment, offset_bytes) = match Place::of(offset_bytes as u64) {
        Some(Place::Registered(segment, offset)) => (segment.get(), offset),
        _ => (u16::MAX, offset_bytes as u64),
    };
    Error::NotRegistered {
        pe,
        segment,
        offset_bytes,
    }
}
