//! The side of a PE: a transport over the adapter of its host.

use core::time::Duration;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use hostwire_transport::addresses::Addresses;
use hostwire_transport::error::{EnvironmentFault, Loss, PeId, TransportError};
use hostwire_transport::fork_guard::ForkGuard;
use hostwire_transport::route::Route;
use hostwire_transport::shm::{LivenessWatch, Shm};
use hostwire_transport::wait::{Backoff, WaitLimits, WaitStep};
use hostwire_transport::window::Window;
use hostwire_transport::wire::{self, Capabilities, Lifetime, Line, Part, Wire};
use spin::mutex::{SpinMutex, SpinMutexGuard};
use spin::relax::Yield;

use super::memory::{AdapterMemory, AdapterState, Closed};
use super::queue::{PIECE_BYTES, Record, Writer};
use crate::ended_pes::{End, EndedPes, Told};
use crate::{Bytes, LINE_BYTES, LINGER, counted, end_as_result, rights};

/// Longest sleep of a PE that waits for its adapter: it then checks that the adapter lives.
const SLEEP_MAX: Duration = Duration::from_millis(10);
/// How long a PE takes it that its adapter lives. A wait asks this for each PE of other hosts, and the check is a system call.
const LIVED_FOR: Duration = Duration::from_millis(5);
/// The time between two checks whether an adapter has found the other hosts.
const JOIN_NAP: Duration = Duration::from_millis(1);

/// A PE that shares the endpoint of its host with others.
#[derive(Debug)]
pub struct Guest {
    fork_guard: ForkGuard,
    pe: PeId,
    local: u32,
    host: u32,
    /// By PE: its host.
    host_of: Arc<[u32]>,
    segment: Window,
    addresses: Addresses,
    adapter_memory: AdapterMemory,
    ended: EndedPes,
    watch: LivenessWatch,
    /// The nanosecond of [`now`](wire::now) at which the adapter lived.
    lived_ns: AtomicU64,
    limits: WaitLimits,
    has_finished: AtomicBool,
    state: SpinMutex<Mine, Yield>,
}

/// State that one thread of the PE uses at a time.
#[derive(Debug)]
pub(super) struct Mine {
    pub(super) writer: Writer,
    /// The number of the last question.
    question: u64,
    /// The number of stores for which a quiet has to wait, and for how many of them one has waited.
    stores: u64,
    quieted: u64,
    /// Hosts and PEs whose loss a quiet has reported.
    told_hosts: HashSet<u32>,
    told_pes: Told,
}

pub(super) type Hold<'a> = SpinMutexGuard<'a, Mine, Yield>;

impl Guest {
    /// Waits until the adapter of this host has found the other hosts. Each attempt to start one has a
    /// number, from 1 on.
    ///
    /// # Errors
    /// [`TransportError::Environment`] with the adapter's error, or if it does not answer by
    /// `deadline`.
    pub fn join(
        shm: &Shm,
        adapter_memory: &AdapterMemory,
        host_of: Arc<[u32]>,
        attempt: u64,
        deadline: Instant,
    ) -> Result<Self, TransportError> {
        let pe = shm.pe();
        let local = shm.host().local();
        adapter_memory.join(local);
        await_adapter(adapter_memory, attempt, deadline)?;
        rights::give_up(adapter_memory.rights())?;
        hostwire_transport::sync::registered();
        let host = host_of.get(pe as usize).copied().unwrap_or(u32::MAX);
        let segment = shm.segment().clone();
        let ended = adapter_memory.ended_pes()?;
        Ok(Self {
            fork_guard: ForkGuard::new(pe)?,
            pe,
            local,
            host,
            addresses: Addresses::new(host_of.len() as u32, segment.memory())?,
            host_of,
            segment,
            watch: shm.watch(),
            // And the adapter.
            limits: WaitLimits::for_pes(adapter_memory.here() + 1),
            lived_ns: AtomicU64::new(wire::now().as_nanos() as u64),
            has_finished: AtomicBool::new(false),
            state: SpinMutex::new(Mine {
                writer: adapter_memory.writer(local)?,
                question: adapter_memory.answered(local),
                stores: 0,
                quieted: 0,
                told_hosts: HashSet::new(),
                told_pes: Told::default(),
            }),
            ended,
            adapter_memory: adapter_memory.clone(),
        })
    }

    #[inline]
    pub(super) fn hold(&self) -> Result<Hold<'_>, TransportError> {
        self.fork_guard.check()?;
        Ok(self.state.lock())
    }

    /// The host of a PE of another host.
    #[inline]
    fn host(&self, pe: PeId) -> Result<u32, TransportError> {
        let host = self.host_of.get(pe as usize).copied();
        host.filter(|host| *host != self.host)
            .ok_or(TransportError::NoSuchPe {
                pe,
                pes: self.pes(),
            })
    }

    /// The result of stores to a PE that has ended; `None` as long as it can be stored to.
    #[inline]
    fn end_of(&self, pe: PeId, host: u32) -> Option<Result<(), TransportError>> {
        if let Some(end) = self.ended.end_of(pe) {
            return Some(end_as_result(pe, end));
        }
        Some(self.adapter_memory.closed(host)?.as_result(pe))
    }

    /// Writes bytes to be stored into the queue, in order.
    fn put(&self, pe: PeId, address: u64, data: &[u8]) -> Result<(), TransportError> {
        self.put_as(true, pe, address, data)
    }

    /// As [`put`](Self::put). `waits`: a quiet has to wait for it.
    fn put_as(
        &self,
        waits: bool,
        pe: PeId,
        address: u64,
        data: &[u8],
    ) -> Result<(), TransportError> {
        let host = self.host(pe)?;
        if let Some(ended) = self.end_of(pe, host) {
            return ended;
        }
        let mut mine = self.hold()?;
        mine.stores += u64::from(waits);
        mine = self.write(mine, pe, address, data)?;
        mine.writer.show();
        Ok(())
    }

    /// Writes bytes to be stored; shows them only to make room for more.
    fn write<'a>(
        &'a self,
        mut mine: Hold<'a>,
        pe: PeId,
        mut address: u64,
        mut data: &[u8],
    ) -> Result<Hold<'a>, TransportError> {
        while !data.is_empty() {
            // Pieces of a long store end where lines end.
            let to_line = PIECE_BYTES - (address % LINE_BYTES as u64) as usize;
            let (piece, rest) = data.split_at(data.len().min(to_line));
            let record = Record::Store {
                pe,
                address,
                len: piece.len(),
            };
            mine = self.write_record(mine, record, piece)?;
            address += piece.len() as u64;
            data = rest;
        }
        Ok(mine)
    }

    fn write_record<'a>(
        &'a self,
        mut mine: Hold<'a>,
        record: Record,
        data: &[u8],
    ) -> Result<Hold<'a>, TransportError> {
        let mut backoff = Backoff::new(self.limits);
        while !mine.writer.write(record, data) {
            mine.writer.show();
            drop(mine);
            self.wait(&mut backoff, || false)?;
            mine = self.hold()?;
        }
        Ok(mine)
    }

    /// Sends the adapter a question, and returns its number.
    fn ask(&self, record: impl FnOnce(u64) -> Record) -> Result<u64, TransportError> {
        let mut mine = self.hold()?;
        mine.question += 1;
        let question = mine.question;
        mine = self.write_record(mine, record(question), &[])?;
        mine.writer.show();
        Ok(question)
    }

    /// Waits until the adapter has answered, or until a time.
    fn await_answer(
        &self,
        question: u64,
        deadline: Option<Instant>,
    ) -> Result<bool, TransportError> {
        let is_answered = || self.adapter_memory.answered(self.local) >= question;
        let mut backoff = Backoff::new(self.limits);
        while !is_answered() {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            self.wait(&mut backoff, is_answered)?;
        }
        Ok(true)
    }

    /// One step of a wait for the adapter, which rings the doorbell of this PE.
    fn wait(
        &self,
        backoff: &mut Backoff,
        is_over: impl Fn() -> bool,
    ) -> Result<(), TransportError> {
        match backoff.step() {
            WaitStep::Spin | WaitStep::Look | WaitStep::Work => {}
            WaitStep::Pause => std::hint::spin_loop(),
            WaitStep::Yield => std::thread::yield_now(),
            WaitStep::Nap(time) => std::thread::sleep(time),
            WaitStep::Sleep(limit) => {
                if !self.adapter_lives()? {
                    return Err(no_adapter());
                }
                if self.adapter_memory.is_unreadable(self.local) {
                    return Err(unreadable());
                }
                let doorbell = self.segment.doorbell();
                let limit = doorbell.arm(limit.min(SLEEP_MAX));
                if !is_over() {
                    doorbell.sleep(limit);
                }
            }
        }
        Ok(())
    }

    /// Ends as a killed process does, without a farewell.
    #[cfg(test)]
    pub(super) fn die(self) {
        self.has_finished.store(true, Ordering::Release);
    }

    fn adapter_lives(&self) -> Result<bool, TransportError> {
        self.watch.is_alive(self.adapter_memory.here())
    }

    /// Whether the adapter lives, or has lived [a moment ago](LIVED_FOR).
    fn adapter_lived(&self) -> Result<bool, TransportError> {
        let now_ns = wire::now().as_nanos() as u64;
        let since_ns = now_ns.saturating_sub(self.lived_ns.load(Ordering::Relaxed));
        if since_ns < LIVED_FOR.as_nanos() as u64 {
            return Ok(true);
        }
        let lives = self.adapter_lives()?;
        if lives {
            self.lived_ns.store(now_ns, Ordering::Relaxed);
        }
        Ok(lives)
    }

    /// Waits until earlier stores have arrived: at the host of `pe`, or at all.
    fn quiet_to(&self, pe: Option<PeId>) -> Result<(), TransportError> {
        let mine = self.hold()?;
        let (stores, is_quiet) = (mine.stores, mine.stores == mine.quieted);
        drop(mine);
        if !is_quiet {
            let question = self.ask(|question| Record::Quiet { pe, question })?;
            self.await_answer(question, None)?;
        }
        let mut mine = self.hold()?;
        if pe.is_none() {
            mine.quieted = mine.quieted.max(stores);
        }
        match pe {
            Some(pe) => {
                let host = self.host(pe)?;
                let mut lost = Ok(());
                if mine.told_pes.is_news(&self.ended, pe) {
                    lost = end_as_result(pe, End::Died);
                }
                lost.and(self.tell(&mut mine, pe, host))
            }
            None => self.tell_all(&mut mine),
        }
    }

    /// Reports the loss of a host, once.
    fn tell(&self, mine: &mut Mine, pe: PeId, host: u32) -> Result<(), TransportError> {
        match self.adapter_memory.closed(host) {
            Some(Closed::Finished) | None => Ok(()),
            Some(why) if mine.told_hosts.insert(host) => why.as_result(pe),
            Some(_) => Ok(()),
        }
    }

    /// Notes all losses as reported, and returns the first one.
    fn tell_all(&self, mine: &mut Mine) -> Result<(), TransportError> {
        let mut lost = Ok(());
        for pe in mine.told_pes.news(&self.ended) {
            lost = lost.and(end_as_result(pe, End::Died));
        }
        for host in (0..self.adapter_memory.hosts()).filter(|host| *host != self.host) {
            if self.adapter_memory.closed(host).is_some() {
                let first = self.host_of.iter().position(|its| *its == host);
                let pe = first.unwrap_or_default() as PeId;
                lost = lost.and(self.tell(mine, pe, host));
            }
        }
        lost
    }
}

fn await_adapter(
    adapter_memory: &AdapterMemory,
    attempt: u64,
    deadline: Instant,
) -> Result<(), TransportError> {
    // The adapter keeps to the deadline itself, and then says why it has failed.
    let deadline = deadline + LINGER;
    loop {
        match adapter_memory.state() {
            Some((number, AdapterState::Serving)) if number == attempt => return Ok(()),
            Some((number, AdapterState::Failed)) if number == attempt => {
                let detail = adapter_memory.failure().into();
                return Err(TransportError::environment(
                    "starting the adapter of this host",
                    EnvironmentFault::Links { detail },
                ));
            }
            _ if Instant::now() < deadline => std::thread::sleep(JOIN_NAP),
            _ => return Err(no_adapter()),
        }
    }
}

#[cold]
fn no_adapter() -> TransportError {
    let detail = Loss::NoAdapter.to_string().into();
    TransportError::environment(
        "reaching the PEs of other hosts",
        EnvironmentFault::Links { detail },
    )
}

#[cold]
fn unreadable() -> TransportError {
    let detail = "this PE has a queue to the process hw-adapter, which makes no sense any more: this PE or \
                  another one of this host has written there by mistake";
    TransportError::environment(
        "reaching the PEs of other hosts",
        EnvironmentFault::Links {
            detail: detail.into(),
        },
    )
}

impl Wire for Guest {
    fn pe(&self) -> PeId {
        self.pe
    }

    fn pes(&self) -> u32 {
        self.host_of.len() as u32
    }

    fn segment(&self) -> &Window {
        &self.segment
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        if pe == self.pe {
            return Some(Route::Mapped(self.segment.clone()));
        }
        self.host(pe).ok().map(|_| Route::Carried)
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        if pe == self.pe {
            self.fork_guard.check()?;
            return self.segment.put(offset_bytes, src);
        }
        let address = self.addresses.of(pe, offset_bytes, src.len(), 1)?;
        self.put(pe, address, src)
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        if pe == self.pe {
            self.fork_guard.check()?;
            return self.segment.put_word(offset_bytes, value);
        }
        let address = self.addresses.of(pe, offset_bytes, 8, 8)?;
        self.put(pe, address, &value.to_ne_bytes())
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        if pe == self.pe {
            self.fork_guard.check()?;
            return self.segment.put_line(offset_bytes, header, payload);
        }
        let address = self
            .addresses
            .of(pe, offset_bytes, LINE_BYTES, LINE_BYTES)?;
        let line = Bytes::of(header, payload)?;
        self.put(pe, address, line.used())
    }

    /// Queue and link keep the order, so there is nothing to do.
    fn fence(&self) -> Result<(), TransportError> {
        self.fork_guard.check()
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.quiet_to(None)
    }

    fn poll(&self) -> Result<bool, TransportError> {
        self.fork_guard.check()?;
        Ok(false)
    }

    fn wait_limits(&self) -> WaitLimits {
        self.limits
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            // No registration: the adapter only has the segments of PEs.
            batches: Some(self),
            per_target: Some(self),
            liveness: Some(self),
            lifetime: Some(self),
            counting: Some(self),
            ..Capabilities::NONE
        }
    }
}

impl wire::Batches for Guest {
    fn signal_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        if pe == self.pe {
            return self.store_word(pe, offset_bytes, value);
        }
        let address = self.addresses.of(pe, offset_bytes, 8, 8)?;
        self.put_as(false, pe, address, &value.to_ne_bytes())
    }

    /// The adapter sees all lines at once, and sends them in as few frames as possible.
    fn store_lines(
        &self,
        pe: PeId,
        lines: &mut dyn Iterator<Item = Line<'_>>,
    ) -> Result<(), TransportError> {
        if pe == self.pe {
            return (self as &dyn Wire).store_each(pe, lines);
        }
        let host = self.host(pe)?;
        if let Some(ended) = self.end_of(pe, host) {
            return ended;
        }
        let mut mine = self.hold()?;
        mine.stores += 1;
        for Line {
            offset_bytes,
            header,
            payload,
        } in lines
        {
            let written = self
                .addresses
                .of(pe, offset_bytes, LINE_BYTES, LINE_BYTES)
                .and_then(|address| Ok((address, Bytes::of(header, payload)?)));
            match written {
                Ok((address, line)) => mine = self.write(mine, pe, address, line.used())?,
                Err(error) => {
                    mine.writer.show();
                    return Err(error);
                }
            }
        }
        mine.writer.show();
        Ok(())
    }

    /// The adapter sees all of it at once, and sends it in as few frames as possible.
    fn store_behind(
        &self,
        pe: PeId,
        parts: &mut dyn Iterator<Item = Part<'_>>,
        line: Line<'_>,
    ) -> Result<(), TransportError> {
        let host = self.host(pe)?;
        if let Some(ended) = self.end_of(pe, host) {
            return ended;
        }
        let at = self
            .addresses
            .of(pe, line.offset_bytes, LINE_BYTES, LINE_BYTES)?;
        let line = Bytes::of(line.header, line.payload)?;
        let mut mine = self.hold()?;
        mine.stores += 1;
        for part in parts {
            let len = part.bytes.len();
            match self.addresses.of(pe, part.offset_bytes, len, 1) {
                Ok(address) => mine = self.write(mine, pe, address, part.bytes)?,
                Err(error) => {
                    mine.writer.show();
                    return Err(error);
                }
            }
        }
        mine = self.write(mine, pe, at, line.used())?;
        mine.writer.show();
        Ok(())
    }
}

impl wire::PerTarget for Guest {
    fn fence_of(&self, _pe: PeId) -> Result<(), TransportError> {
        self.fence()
    }

    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        match pe == self.pe {
            true => self.fork_guard.check(),
            false => {
                self.host(pe)?;
                self.quiet_to(Some(pe))
            }
        }
    }
}

impl wire::Liveness for Guest {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        if pe == self.pe {
            return Ok(true);
        }
        self.fork_guard.check()?;
        let host = self.host(pe)?;
        match (self.ended.end_of(pe), self.adapter_memory.closed(host)) {
            (None, None) => self.adapter_lived(),
            (Some(end @ End::Unclear), _) => end_as_result(pe, end).map(|()| false),
            (None, Some(why @ Closed::Unclear)) => why.as_result(pe).map(|()| false),
            _ => Ok(false),
        }
    }

    fn loss(&self, pe: PeId) -> Loss {
        let closed = self
            .host(pe)
            .ok()
            .and_then(|host| self.adapter_memory.closed(host));
        match closed {
            Some(Closed::Lost(loss)) if self.ended.end_of(pe).is_none() => loss,
            Some(_) => Loss::Ended,
            // Another thread of this PE may have given `pe` up because of the adapter.
            None => match self.adapter_lives() {
                Ok(true) => Loss::Ended,
                _ => Loss::NoAdapter,
            },
        }
    }

    fn give_up(&self, pe: PeId) {
        if self.fork_guard.is_here() && self.host(pe).is_ok() {
            self.ended.note(pe, End::Died);
        }
    }
}

impl wire::Lifetime for Guest {
    fn begin(&self) -> Result<(), TransportError> {
        Ok(())
    }

    fn finish(&self) {
        if !self.fork_guard.is_here() || self.has_finished.swap(true, Ordering::AcqRel) {
            return;
        }
        // A PE that cannot say farewell counts as dead.
        if let Ok(question) = self.ask(|question| Record::Finish { question }) {
            let _ = self.await_answer(question, Some(Instant::now() + LINGER));
        }
    }

    fn close_recording(&self) -> Result<(), TransportError> {
        Ok(())
    }
}

impl wire::Counting for Guest {
    /// The adapter counts for all PEs; the first PE of the host reports its counters.
    fn tally(&self) -> Vec<(String, u64)> {
        let told = self.local == 0 && self.fork_guard.is_here() && {
            let asked = self.ask(|question| Record::Count { question });
            asked
                .and_then(|question| self.await_answer(question, Some(Instant::now() + LINGER)))
                .unwrap_or(false)
        };
        let names = counted().map(|(name, _)| name.to_owned()).enumerate();
        let value = |number| {
            if told {
                self.adapter_memory.counter(number)
            } else {
                0
            }
        };
        names.map(|(number, name)| (name, value(number))).collect()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.finish();
    }
}
