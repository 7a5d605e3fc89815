//! The transport of a PE in virtual time.

use std::sync::Arc;
use std::time::Duration;

use hostwire_transport::Loss;
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::wire::{self, Capabilities};
use hostwire_transport::{
    Block, BlockSource, ChainLimits, Chains, Memory, PeId, Route, TransportError, Window, Wire,
    coroutine,
};

use crate::engine::Ps;
use crate::models::ht::opteron::LINE_BYTES;

use super::board::{Moved, Op, Outcome, Pe, Request, SharedBoard};
use super::dma::DmaWay;
use super::messages::Messages;

const LINE: usize = LINE_BYTES as usize;
const HEADER_BYTES: usize = 8;

/// One PE's attachment: see the [module text](super).
///
/// It works only inside [`run`](super::run()), in the coroutine of its PE: anywhere else
/// all calls that take simulated time fail with [`TransportError::Environment`].
#[derive(Debug)]
pub struct VirtualWire {
    pub(super) pe: usize,
    pub(super) board: SharedBoard,
    pub(super) segment: Window,
    /// Global address of the segment of each PE.
    pub(super) addresses: Arc<[u64]>,
    /// The node of each PE.
    pub(super) nodes: Arc<[u16]>,
    /// An uncached load of local memory.
    pub(super) look: Ps,
    /// Work of the processor for each put and each line of a message.
    pub(super) send_work: Ps,
    /// The DMA controllers of the chips of its node.
    pub(super) dma: Vec<DmaWay>,
    /// What the chip of its host does in one chain.
    pub(super) chains: Option<ChainLimits>,
    /// The way to other PEs where stores do not reach their memory.
    pub(super) messages: Option<Messages>,
}

impl VirtualWire {
    /// The simulated time.
    pub fn now(&self) -> Ps {
        self.board.lock().now
    }

    /// Lets this PE compute for `time`.
    ///
    /// # Errors
    /// [`TransportError::Environment`] outside of the PE's coroutine.
    pub fn compute(&self, time: Ps) -> Result<(), TransportError> {
        self.perform(Op::Compute(time)).map(drop)
    }

    /// Lets this PE do nothing for `time`. A core that it shares with others is theirs meanwhile.
    ///
    /// # Errors
    /// As [`compute`](Self::compute).
    pub(super) fn rest(&self, time: Ps) -> Result<(), TransportError> {
        self.close_lines()?;
        let until = self.now() + time;
        self.request(Request::Nap { until }).map(drop)
    }

    /// The PEs that have ended, without the first `known`.
    #[cfg(target_os = "linux")]
    pub(super) fn ended(&self, known: usize) -> Vec<PeId> {
        let board = self.board.lock();
        let later = board.ended.get(known..).unwrap_or_default();
        later.iter().map(|pe| *pe as PeId).collect()
    }

    /// The work of the processor before the stores of a put or of a line of a message, or of a message
    /// over a board: one cost for all of them and for all sizes.
    pub(super) fn work_to_send(&self) -> Result<(), TransportError> {
        match self.send_work {
            Ps::ZERO => Ok(()),
            work => self.compute(work),
        }
    }

    fn is_beside(&self, pe: PeId) -> bool {
        let node = self.nodes.get(pe as usize);
        node.is_some() && node == self.nodes.get(self.pe)
    }

    fn memory(&self) -> &Memory {
        self.segment.memory()
    }

    /// The own entry of the board.
    pub(super) fn own<R>(&self, change: impl FnOnce(&mut Pe) -> R) -> Result<R, TransportError> {
        let mut board = self.board.lock();
        match board.pes.get_mut(self.pe) {
            Some(pe) => Ok(change(pe)),
            None => Err(not_running()),
        }
    }

    /// Suspends until the request is done.
    pub(super) fn request(&self, request: Request) -> Result<Outcome, TransportError> {
        self.own(|pe| pe.request = request)?;
        let suspended = coroutine::suspend();
        let outcome = self.own(|pe| {
            if suspended.is_err() {
                pe.request = Request::None;
            }
            pe.outcome.take()
        })?;
        suspended?;
        outcome.ok_or_else(not_running)
    }

    pub(super) fn perform(&self, op: Op) -> Result<Outcome, TransportError> {
        self.request(Request::Do(op))
    }

    /// The address for a store to `pe`; `None` for the own segment. Valid only after the
    /// offset has been checked.
    fn address(&self, pe: PeId, offset_bytes: usize) -> Result<Option<u64>, TransportError> {
        match self.addresses.get(pe as usize) {
            Some(_) if pe as usize == self.pe => Ok(None),
            Some(base) => Ok(Some(base.saturating_add(offset_bytes as u64))),
            None => Err(TransportError::NoSuchPe {
                pe,
                pes: self.pes(),
            }),
        }
    }

    pub(super) fn store_at(
        &self,
        pe: PeId,
        address: u64,
        data: Vec<u8>,
    ) -> Result<(), TransportError> {
        let whole_lines = address.is_multiple_of(LINE_BYTES) && data.len().is_multiple_of(LINE);
        self.own(|own| {
            own.unfenced = true;
            own.open_lines |= !whole_lines;
        })?;
        match self.perform(Op::Store { address, data })? {
            Outcome::Aborted => Err(TransportError::misused(
                "storing to another PE",
                "an address that a register of this processor claims",
                format_args!("{address:#x}, of PE {pe}"),
            )),
            _ => Ok(()),
        }
    }

    /// A store fence, if there are stores for which it matters.
    fn fence_if(&self, needed: impl FnOnce(&Pe) -> bool) -> Result<(), TransportError> {
        match self.own(|pe| needed(pe))? {
            true => self.fence(),
            false => Ok(()),
        }
    }

    /// An uncached load closes all write-combining buffers.
    fn close_lines(&self) -> Result<(), TransportError> {
        self.fence_if(|pe| pe.open_lines)
    }

    /// Looks at the own memory once. Returns whether something is known to have come.
    fn look(&self) -> Result<bool, TransportError> {
        if let Some(way) = &self.messages {
            return self.take_messages(way, false);
        }
        self.close_lines()?;
        self.compute(self.look)?;
        Ok(false)
    }

    /// Sleeps until a peer stores or ends: for `limit` at most, and for one look at least.
    ///
    /// # Errors
    /// As [`compute`](Self::compute).
    #[cfg(target_os = "linux")]
    pub(super) fn doze(&self, limit: Ps) -> Result<(), TransportError> {
        self.sleep_until_store(Some(limit.max(self.look)))
    }

    fn sleep_until_store(&self, limit: Option<Ps>) -> Result<(), TransportError> {
        if let Some(way) = &self.messages {
            return self.sleep_at_ring(way, limit);
        }
        self.close_lines()?;
        let missed = self.own(|pe| {
            pe.look_is_paid = false;
            pe.armed.take().is_some_and(|armed| armed != pe.rings)
        })?;
        if missed {
            return self.compute(self.look);
        }
        let since = self.now();
        let until = limit.map(|limit| since + limit);
        self.request(Request::Store { since, until }).map(drop)
    }
}

#[cold]
fn not_running() -> TransportError {
    TransportError::misused(
        "using the wire of a simulated PE",
        "a call while its simulation runs",
        "one before or after",
    )
}

impl Wire for VirtualWire {
    fn pe(&self) -> PeId {
        self.pe as PeId
    }

    fn pes(&self) -> u32 {
        self.addresses.len() as u32
    }

    fn segment(&self) -> &Window {
        &self.segment
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        if pe as usize == self.pe {
            return Some(Route::Mapped(self.segment.clone()));
        }
        ((pe as usize) < self.addresses.len()).then_some(Route::Carried)
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        let address = self.address(pe, offset_bytes)?;
        self.memory().range(offset_bytes, src.len())?;
        match address {
            None => self.segment.put(offset_bytes, src),
            Some(_) if src.is_empty() => Ok(()),
            Some(address) => match &self.messages {
                Some(way) => self.put_messages(way, pe, offset_bytes, src),
                None => {
                    self.work_to_send()?;
                    let by_dma = self.dma.iter().find_map(|way| {
                        let part = way.part(address, src.len())?;
                        Some((way, part))
                    });
                    match by_dma {
                        Some((way, part)) => self.put_by_dma(way, (pe, address), src, part),
                        None => self.store_at(pe, address, src.to_vec()),
                    }
                }
            },
        }
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        let address = self.address(pe, offset_bytes)?;
        self.memory().word(offset_bytes)?;
        let Some(address) = address else {
            return self.segment.put_word(offset_bytes, value);
        };
        if let Some(way) = &self.messages {
            return self.put_messages(way, pe, offset_bytes, &value.to_ne_bytes());
        }
        // Between write-combining buffers there is no order, and a buffer that is not
        // full stays where it is.
        self.fence_if(|own| own.unfenced)?;
        self.store_at(pe, address, value.to_ne_bytes().to_vec())?;
        self.fence()
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        let address = self.address(pe, offset_bytes)?;
        self.memory().line(offset_bytes)?;
        let mut line = [0; LINE];
        let (head, body) = line.split_at_mut(HEADER_BYTES);
        head.copy_from_slice(&header.to_ne_bytes());
        let body = body
            .get_mut(..payload.len())
            .ok_or(TransportError::OutOfRange {
                offset_bytes: HEADER_BYTES,
                len_bytes: payload.len(),
                segment_bytes: LINE,
            })?;
        body.copy_from_slice(payload);
        let Some(address) = address else {
            return self.segment.put(offset_bytes, &line);
        };
        if let Some(way) = &self.messages {
            return self.put_line(way, pe, offset_bytes, &line, payload.len());
        }
        self.work_to_send()?;
        if self.is_beside(pe) {
            // Memory of the own node is not write-combining: words leave one by one, in order.
            let (head, body) = line.split_at(HEADER_BYTES);
            self.store_at(
                pe,
                address.saturating_add(HEADER_BYTES as u64),
                body.to_vec(),
            )?;
            return self.store_at(pe, address, head.to_vec());
        }
        // All 64 bytes: the buffer is full, closes by itself and leaves as one packet.
        self.store_at(pe, address, line.to_vec())
    }

    fn fence(&self) -> Result<(), TransportError> {
        if self.messages.is_some() {
            // The network keeps messages in order, and each has left its processor.
            return Ok(());
        }
        self.perform(Op::Fence)?;
        self.own(|pe| {
            pe.open_lines = false;
            pe.unfenced = false;
        })
    }

    fn quiet(&self) -> Result<(), TransportError> {
        if let Some(way) = &self.messages {
            return self.quiet_messages(way);
        }
        self.fence()?;
        self.request(Request::Arrival).map(drop)
    }

    fn poll(&self) -> Result<bool, TransportError> {
        match self.own(|pe| std::mem::take(&mut pe.look_is_paid))? {
            true => Ok(false),
            false => self.look(),
        }
    }

    fn wait_limits(&self) -> WaitLimits {
        WaitLimits::SLEEP_ONLY
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            liveness: Some(self),
            bell: Some(self),
            clock: Some(self),
            chains: self.chains.map(|_| self as &dyn Chains),
            ..Capabilities::NONE
        }
    }
}

impl wire::Liveness for VirtualWire {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        self.address(pe, 0)?;
        let board = self.board.lock();
        Ok(board.pes.get(pe as usize).is_some_and(|pe| !pe.ended))
    }

    fn loss(&self, _pe: PeId) -> Loss {
        Loss::Ended
    }

    fn give_up(&self, _pe: PeId) {}

    fn all_live(&self) -> bool {
        self.board.lock().ended.is_empty()
    }

    fn announce(&self, word: u64) -> bool {
        if self.board.lock().announcements.is_none() {
            return false;
        }
        // The word must not overtake stores. If this fails, the next call does too.
        let _ = self.quiet();
        let announcements = &mut self.board.lock().announcements;
        if let Some(all) = announcements
            && let Some(own) = all.words.get_mut(self.pe)
        {
            all.has_news |= *own != word;
            *own = word;
        }
        true
    }

    fn announced(&self, pe: PeId) -> Option<u64> {
        let board = self.board.lock();
        let words = &board.announcements.as_ref()?.words;
        words.get(pe as usize).copied()
    }
}

impl wire::Bell for VirtualWire {
    fn arm(&self, wanted: Duration) -> Duration {
        let _ = self.own(|pe| {
            pe.armed = Some(pe.rings);
            pe.look_is_paid = true;
        });
        wanted
    }

    fn sleep_max(&self, wanted: Duration) -> Duration {
        wanted
    }

    /// Sleeps until a peer stores or ends, without a time limit. If no peer does, the run
    /// ends with [`WireError::Stalled`](super::WireError::Stalled). Always reports that no
    /// peer rang, because an unneeded wake-up costs the peer nothing here.
    fn sleep(&self, _limit: Duration) -> bool {
        // This call cannot return an error; the next call that can does.
        let _ = self.sleep_until_store(None);
        false
    }
}

impl wire::Clock for VirtualWire {
    fn is_in_virtual_time(&self) -> bool {
        true
    }

    /// That of the simulation.
    fn now(&self) -> Duration {
        Duration::from_nanos(VirtualWire::now(self).0 / Ps::from_ns(1).0)
    }

    fn nap(&self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let _ = self.rest(Ps::from_ns(ns));
    }

    fn yield_now(&self) {
        let _ = self.look();
    }
}

impl Chains for VirtualWire {
    fn chain_limits(&self) -> ChainLimits {
        self.chains.unwrap_or(ChainLimits::NONE)
    }

    fn put_chain(&self, blocks: &[Block]) -> Result<(), TransportError> {
        self.chain_limits()
            .check(blocks, self.pes(), self.memory())?;
        let mut chain = Vec::with_capacity(blocks.len());
        for block in blocks {
            let base = self.addresses.get(block.pe as usize).copied();
            let (from, bytes) = match block.source {
                BlockSource::Word(value) => (None, value.to_ne_bytes().to_vec()),
                BlockSource::Own {
                    offset_bytes,
                    len_bytes,
                } => {
                    let mut bytes = vec![0; len_bytes];
                    self.segment.get(offset_bytes, &mut bytes)?;
                    (Some(offset_bytes as u64), bytes)
                }
            };
            chain.push(Moved {
                address: base.unwrap_or(0).saturating_add(block.offset_bytes as u64),
                from,
                bytes,
            });
        }
        match self.request(Request::Chain(chain))? {
            Outcome::Aborted => Err(TransportError::misused(
                "starting a chain",
                "addresses to which the registers of the chip lead",
                "an address that none of them claims",
            )),
            _ => Ok(()),
        }
    }
}
