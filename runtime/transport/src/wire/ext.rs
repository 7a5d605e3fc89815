//! A wire as its users see it.

use core::time::Duration;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use hostwire_address::SegmentId;

use super::Wire;
use super::capabilities::{Line, Offload, Part};
use crate::chain::Chains;
use crate::error::{Loss, PeId, TransportError};
use crate::memory::Memory;
use crate::reach::Reach;
use crate::route::Route;
use crate::window::Window;

/// When this process looked at the clock first.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time of this machine since some moment of this process, for a [`Clock`](super::Clock) that has no other.
pub fn now() -> Duration {
    Instant::now().saturating_duration_since(*EPOCH)
}

/// The [`Capabilities`](super::Capabilities) of a wire, or the default behaviour where it does not
/// offer them.
impl dyn Wire + '_ {
    /// See [`Registration`](super::Registration); without it no registered memory is reached.
    pub fn registered_route(&self, pe: PeId, segment: SegmentId) -> Option<Route> {
        self.capabilities()
            .registration?
            .registered_route(pe, segment)
    }

    /// See [`Registration`](super::Registration).
    ///
    /// # Errors
    /// Those of the wire.
    pub fn register(&self, segment: SegmentId, window: &Window) -> Result<(), TransportError> {
        let can = self.capabilities().registration;
        can.map_or(Ok(()), |can| can.register(segment, window))
    }

    /// See [`Registration`](super::Registration).
    pub fn unregister(&self, segment: SegmentId) {
        if let Some(can) = self.capabilities().registration {
            can.unregister(segment);
        }
    }

    /// The operations of the wire on offloaded routes.
    pub fn offload(&self) -> Option<&dyn Offload> {
        self.capabilities().offload
    }

    /// The wire makes whole chains of puts itself, to all PEs.
    pub fn chains(&self) -> Option<&dyn Chains> {
        self.capabilities().chains
    }

    /// Segments that are mapped side by side.
    pub fn reach(&self) -> Option<&Arc<Reach>> {
        self.capabilities().reach
    }

    /// See [`Batches`](super::Batches); without it, an ordinary word.
    ///
    /// # Errors
    /// Those of stores.
    pub fn signal_word(
        &self,
        pe: PeId,
        offset_bytes: usize,
        value: u64,
    ) -> Result<(), TransportError> {
        match self.capabilities().batches {
            Some(can) => can.signal_word(pe, offset_bytes, value),
            None => self.store_word(pe, offset_bytes, value),
        }
    }

    /// See [`Batches`](super::Batches); without it, one line after the other.
    ///
    /// # Errors
    /// Those of stores; the lines before the one at fault have been stored.
    pub fn store_lines(
        &self,
        pe: PeId,
        lines: &mut dyn Iterator<Item = Line<'_>>,
    ) -> Result<(), TransportError> {
        match self.capabilities().batches {
            Some(can) => can.store_lines(pe, lines),
            None => self.store_each(pe, lines),
        }
    }

    /// Stores lines one after the other.
    ///
    /// # Errors
    /// As `store_lines`.
    pub fn store_each(
        &self,
        pe: PeId,
        lines: &mut dyn Iterator<Item = Line<'_>>,
    ) -> Result<(), TransportError> {
        for line in lines {
            self.store_line(pe, line.offset_bytes, line.header, line.payload)?;
        }
        Ok(())
    }

    /// See [`Batches`](super::Batches); without it, and to the PE itself, one store after the other, and a fence before the line.
    ///
    /// # Errors
    /// Those of stores; what comes before the part at fault has been stored.
    pub fn store_behind(
        &self,
        pe: PeId,
        parts: &mut dyn Iterator<Item = Part<'_>>,
        line: Line<'_>,
    ) -> Result<(), TransportError> {
        match self.capabilities().batches {
            Some(can) if pe != self.pe() => can.store_behind(pe, parts, line),
            _ => self.store_each_behind(pe, parts, line),
        }
    }

    /// Stores parts one after the other, and behind a fence the line.
    ///
    /// # Errors
    /// As `store_behind`.
    pub fn store_each_behind(
        &self,
        pe: PeId,
        parts: &mut dyn Iterator<Item = Part<'_>>,
        line: Line<'_>,
    ) -> Result<(), TransportError> {
        for part in parts {
            self.store(pe, part.offset_bytes, part.bytes)?;
        }
        self.fence_of(pe)?;
        self.store_line(pe, line.offset_bytes, line.header, line.payload)
    }

    /// See [`PerTarget`](super::PerTarget); without it, for all targets.
    ///
    /// # Errors
    /// Those of stores.
    pub fn fence_of(&self, pe: PeId) -> Result<(), TransportError> {
        match self.capabilities().per_target {
            Some(can) => can.fence_of(pe),
            None => self.fence(),
        }
    }

    /// See [`PerTarget`](super::PerTarget); without it, for all targets.
    ///
    /// # Errors
    /// Those of stores.
    pub fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        match self.capabilities().per_target {
            Some(can) => can.quiet_of(pe),
            None => self.quiet(),
        }
    }

    /// See [`PrivateCopies`](super::PrivateCopies).
    pub fn lends_private(&self, pe: PeId) -> bool {
        let can = self.capabilities().private_copies;
        can.is_some_and(|can| can.lends_private(pe))
    }

    /// See [`PrivateCopies`](super::PrivateCopies).
    pub fn copy_private(&self, pe: PeId, address: u64, dst: &mut [u8]) -> bool {
        let can = self.capabilities().private_copies;
        can.is_some_and(|can| can.copy_private(pe, address, dst))
    }

    /// See [`PrivateCopies`](super::PrivateCopies).
    pub fn copy_private_to(&self, pe: PeId, address: u64, to: (&Memory, usize, usize)) -> bool {
        let can = self.capabilities().private_copies;
        can.is_some_and(|can| can.copy_private_to(pe, address, to))
    }

    /// See [`Liveness`](super::Liveness).
    ///
    /// # Errors
    /// If this cannot be found out any more.
    pub fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        let can = self.capabilities().liveness;
        can.map_or(Ok(true), |can| can.is_alive(pe))
    }

    /// See [`Liveness`](super::Liveness).
    pub fn loss(&self, pe: PeId) -> Loss {
        let can = self.capabilities().liveness;
        can.map_or(Loss::Ended, |can| can.loss(pe))
    }

    /// See [`Liveness`](super::Liveness).
    pub fn give_up(&self, pe: PeId) {
        if let Some(can) = self.capabilities().liveness {
            can.give_up(pe);
        }
    }

    /// See [`Liveness`](super::Liveness).
    pub fn all_live(&self) -> bool {
        let can = self.capabilities().liveness;
        can.is_some_and(|can| can.all_live())
    }

    /// See [`Liveness`](super::Liveness).
    pub fn announce(&self, word: u64) -> bool {
        let can = self.capabilities().liveness;
        can.is_some_and(|can| can.announce(word))
    }

    /// See [`Liveness`](super::Liveness).
    pub fn announced(&self, pe: PeId) -> Option<u64> {
        self.capabilities().liveness?.announced(pe)
    }

    /// See [`Lifetime`](super::Lifetime).
    ///
    /// # Errors
    /// Those of the wire.
    pub fn begin(&self) -> Result<(), TransportError> {
        let can = self.capabilities().lifetime;
        can.map_or(Ok(()), |can| can.begin())
    }

    /// See [`Lifetime`](super::Lifetime).
    pub fn finish(&self) {
        if let Some(can) = self.capabilities().lifetime {
            can.finish();
        }
    }

    /// See [`Lifetime`](super::Lifetime).
    ///
    /// # Errors
    /// [`TransportError::Environment`] if a part could not be written.
    pub fn close_recording(&self) -> Result<(), TransportError> {
        let can = self.capabilities().lifetime;
        can.map_or(Ok(()), |can| can.close_recording())
    }

    /// See [`Counting`](super::Counting); empty where the wire counts nothing.
    pub fn tally(&self) -> Vec<(String, u64)> {
        let can = self.capabilities().counting;
        can.map_or(Vec::new(), |can| can.tally())
    }

    /// See [`Bell`](super::Bell); without it, the doorbell of the own segment.
    pub fn arm(&self, wanted: Duration) -> Duration {
        match self.capabilities().bell {
            Some(can) => can.arm(wanted),
            None => self.segment().doorbell().arm(wanted),
        }
    }

    /// See [`Bell`](super::Bell); without it, as long as is wanted.
    pub fn sleep_max(&self, wanted: Duration) -> Duration {
        let can = self.capabilities().bell;
        can.map_or(wanted, |can| can.sleep_max(wanted))
    }

    /// See [`Bell`](super::Bell); without it, on the doorbell of the own segment.
    pub fn sleep(&self, limit: Duration) -> bool {
        match self.capabilities().bell {
            Some(can) => can.sleep(limit),
            None => self.segment().doorbell().sleep(limit),
        }
    }

    /// See [`Clock`](super::Clock).
    pub fn is_in_virtual_time(&self) -> bool {
        let can = self.capabilities().clock;
        can.is_some_and(|can| can.is_in_virtual_time())
    }

    /// See [`Clock`](super::Clock); without it, the time of this machine.
    pub fn now(&self) -> Duration {
        let can = self.capabilities().clock;
        can.map_or_else(now, |can| can.now())
    }

    /// See [`Clock`](super::Clock); without it, the time of this machine.
    pub fn nap(&self, time: Duration) {
        match self.capabilities().clock {
            Some(can) => can.nap(time),
            None => std::thread::sleep(time),
        }
    }

    /// See [`Clock`](super::Clock); without it, the core of this machine.
    pub fn yield_now(&self) {
        match self.capabilities().clock {
            Some(can) => can.yield_now(),
            None => std::thread::yield_now(),
        }
    }

    /// See [`Numbering`](super::Numbering); the PEs of a job number each other the same way.
    pub fn number_at(&self, pe: PeId) -> PeId {
        let can = self.capabilities().numbering;
        can.map_or_else(|| self.pe(), |can| can.number_at(pe))
    }
}
