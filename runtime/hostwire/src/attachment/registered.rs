//! Registered memory of this PE, and how that of peers is reached.

use std::sync::PoisonError;

use hostwire_address::{Place, SegmentId};
use hostwire_transport::operation::apply;
use hostwire_transport::{Memory, Offload, PeId, Request, Route, TransportError, Window};

use super::Attachment;
use crate::error::{Error, Result};

impl Attachment {
    /// Lets peers put to memory of this PE, get from it and change it by atomics, until it is
    /// [unregistered](Self::unregister). Returns its number.
    ///
    /// # Errors
    /// [`Error::TooManySegments`]; [`Error::Environment`] if the agent, which may be needed from
    /// now on, cannot be started; [`Error::Copied`].
    pub fn register(&self, memory: Memory) -> Result<SegmentId> {
        self.fork_guard.check()?;
        let (segment, window) = self.registry.add(memory)?;
        let registered = self.wire.register(segment, &window).map_err(Error::from);
        registered
            .and_then(|()| self.start_agent())
            .inspect_err(|_| self.unregister(segment))?;
        Ok(segment)
    }

    /// Gives memory of a device a number among the segments, until it is
    /// [unregistered](Self::unregister_device). Puts and gets do not reach it: copies of
    /// [`tca`](crate::tca) do.
    ///
    /// # Errors
    /// [`Error::TooManySegments`], [`Error::Copied`].
    pub(crate) fn register_device(&self) -> Result<SegmentId> {
        self.fork_guard.check()?;
        self.registry.add_device()
    }

    /// Takes the number back.
    pub(crate) fn unregister_device(&self, segment: SegmentId) {
        if self.is_here() {
            self.registry.remove(segment);
        }
    }

    /// Ends the registration. When this returns, peers do not reach the memory any more, and
    /// nothing more is stored there.
    pub fn unregister(&self, segment: SegmentId) {
        if self.is_here() {
            self.wire.unregister(segment);
            self.registry.remove(segment);
            self.agent.finish_serving();
        }
    }

    /// Not all wires reach registered memory. The agent does what the wire cannot.
    fn start_agent(&self) -> Result<()> {
        self.agent.need();
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(mode), None) = (workers.mode, &workers.agent) {
            workers.agent = self.agent.start(&self.wire, mode)?;
        }
        Ok(())
    }

    /// Who carries out an operation on a place in registered memory of `pe`. A window does if it
    /// `serves`.
    fn registered(
        &self,
        pe: PeId,
        offset_bytes: usize,
        serves: impl Fn(&Window) -> bool,
    ) -> Result<Doer<'_>> {
        let (segment, offset) = registered_place(pe, offset_bytes)?;
        self.check(pe)?;
        let route = match pe == self.pe {
            true => self.registry.window(segment).map(Route::Mapped),
            false => self.wire.registered_route(pe, segment),
        };
        Ok(match (route, self.wire.offload()) {
            (Some(Route::Mapped(window)), _) if serves(&window) => Doer::Window(window, offset),
            (Some(Route::Offloaded), Some(wire)) => Doer::Offload(wire),
            (Some(Route::Read { from_bytes }), Some(wire)) => Doer::Reader(wire, from_bytes),
            (Some(Route::Carried), _) => Doer::Carrier,
            _ if pe == self.pe => return Err(not_registered(pe, offset_bytes)),
            _ => Doer::Agent,
        })
    }

    pub(super) fn put_registered(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<()> {
        match self.registered(pe, offset_bytes, |_| true)? {
            Doer::Window(window, offset) => {
                let put = window.put(offset, src);
                self.segment().notify();
                put.map_err(|_| not_registered(pe, offset_bytes))
            }
            Doer::Offload(_) | Doer::Reader(..) | Doer::Carrier => {
                Ok(self.wire.store(pe, offset_bytes, src)?)
            }
            Doer::Agent => self.agent.put(self, pe, offset_bytes, src),
        }
    }

    pub(super) fn get_registered(
        &self,
        pe: PeId,
        offset_bytes: usize,
        dst: &mut [u8],
    ) -> Result<()> {
        match self.registered(pe, offset_bytes, Window::allows_loads)? {
            Doer::Window(window, offset) => window
                .get(offset, dst)
                .map_err(|_| not_registered(pe, offset_bytes)),
            Doer::Offload(wire) => Ok(wire.get(pe, offset_bytes, dst)?),
            Doer::Reader(wire, from_bytes) if dst.len() >= from_bytes => {
                match wire.get(pe, offset_bytes, dst) {
                    // The agent may do what the wire cannot. If not, it gives the error.
                    Err(TransportError::OutOfRange { .. }) => {
                        self.agent.get(self, pe, offset_bytes, dst)
                    }
                    got => Ok(got?),
                }
            }
            Doer::Reader(..) | Doer::Carrier | Doer::Agent => {
                self.agent.get(self, pe, offset_bytes, dst)
            }
        }
    }

    pub(super) fn atomic_registered(&self, pe: PeId, request: Request) -> Result<u64> {
        match self.registered(pe, request.offset_bytes, Window::allows_atomics)? {
            Doer::Window(window, offset_bytes) => {
                let there = Request {
                    offset_bytes,
                    ..request
                };
                let old = apply(&window, &there);
                self.segment().notify();
                old.map_err(|_| not_registered(pe, request.offset_bytes))
            }
            Doer::Offload(wire) => Ok(wire.atomic(pe, request)?),
            Doer::Reader(..) | Doer::Carrier | Doer::Agent => self.agent.ask(self, pe, request),
        }
    }
}

/// Who carries out an operation on registered memory.
enum Doer<'a> {
    /// This PE, through a window: where in it.
    Window(Window, usize),
    /// The wire.
    Offload(&'a dyn Offload),
    /// The wire carries stores there, and does gets of so many bytes or more.
    Reader(&'a dyn Offload, usize),
    /// The wire carries stores there; the agent of the PE does everything else.
    Carrier,
    /// The agent of the PE.
    Agent,
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
