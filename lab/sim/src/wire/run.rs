//! The driver: resumes the coroutines when their cores have carried out their
//! operations.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use hostwire_transport::coroutine::{self, Body, Coroutines, Resumed};
use hostwire_transport::{Memory, Wire};

use crate::engine::{Ps, RunError, StallReport, Summary};

use super::board::{Pe, Request, SharedBoard};
use super::dma;
use super::hosts::{Hosts, SOURCE_BYTES};
use super::messages::RingWait;
use super::platform::{Cores, Platform};
use super::socket;
use super::sockets::Sockets;
use super::{VirtualWire, WireError};

/// How a job is laid out on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Socket of each PE, or in a sub-cluster its node. PEs of one socket have a core each as long
    /// as there are free ones, and then share cores; PEs of a host have a core each.
    pub sockets: Vec<usize>,
    /// Bytes of each PE's segment.
    pub segment_bytes: usize,
    /// Where in the memory of a socket the segments begin; a multiple of 64.
    pub offset_bytes: u64,
    /// Stack of each PE on the host.
    pub stack_bytes: usize,
    /// Events after which a run is given up.
    pub events_max: u64,
    /// Simulated time after which a run is given up.
    pub until: Option<Ps>,
    /// Times in errors count from here on.
    pub origin: Ps,
    /// PEs show each other how they leave without stores, and without time. With stores a job of thousands of PEs has millions
    /// of them at its end.
    pub announces: bool,
}

impl Settings {
    /// PEs `0 .. pes` on sockets `0 .. pes`.
    pub fn new(pes: usize, segment_bytes: usize) -> Self {
        Self {
            sockets: (0..pes).collect(),
            segment_bytes,
            offset_bytes: 1 << 20,
            stack_bytes: 1 << 20,
            events_max: u64::MAX,
            until: None,
            origin: Ps::ZERO,
            announces: false,
        }
    }

    /// From one segment to the next in the memory of a socket.
    pub(super) fn pitch_bytes(&self) -> u64 {
        (self.segment_bytes as u64).next_multiple_of(SEGMENT_ALIGN_BYTES)
    }

    /// Bytes that each PE can have for its segment at least, where the places of a cluster have so much memory.
    pub fn room_bytes(&self, memory_bytes: &[u64]) -> u64 {
        let of = |place: usize| memory_bytes.get(place).copied().unwrap_or(0);
        self.fits_bytes(of, SOURCE_BYTES)
    }

    /// Bytes of the largest segment that all PEs could have, where a socket has so much memory and each
    /// PE needs so much beside its segment.
    pub(super) fn fits_bytes(&self, memory_bytes: impl Fn(usize) -> u64, beside_bytes: u64) -> u64 {
        let at = |socket: usize| {
            let pes = self.sockets.iter().filter(|of| **of == socket).count() as u64;
            let room = memory_bytes(socket).saturating_sub(self.offset_bytes);
            let each = (room / pes).saturating_sub(beside_bytes);
            each - each % SEGMENT_ALIGN_BYTES
        };
        self.sockets.iter().copied().map(at).min().unwrap_or(0)
    }
}

/// Segments begin at pages.
const SEGMENT_ALIGN_BYTES: u64 = 4096;

/// Events between two looks at what watches a run: some milliseconds of real time.
const SLICE_EVENTS: u64 = 1 << 17;

/// Runs `program` once on every PE, at the same time, and returns when all have ended
/// and all events have been handled. The machine must be booted and idle. The summary is
/// that of the machine: the boot is part of it.
///
/// # Errors
/// [`WireError`]. After one the machine is as the run left it: its cores still wait.
///
/// # Panics
/// If the program panics on a PE: with its message, after all PEs have been unwound.
pub fn run<'a, 'w: 'a>(
    platform: impl Into<Platform<'a, 'w>>,
    settings: &Settings,
    program: &dyn Fn(Arc<VirtualWire>),
) -> Result<Summary, WireError> {
    run_watched(platform, settings, &|_| ControlFlow::Continue(()), program)
}

/// As [`run`], and shows `watch` every few milliseconds how far the run has come. `Break`
/// ends it with [`WireError::Interrupted`].
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_watched<'a, 'w: 'a>(
    platform: impl Into<Platform<'a, 'w>>,
    settings: &Settings,
    watch: &dyn Fn(&Summary) -> ControlFlow<()>,
    program: &dyn Fn(Arc<VirtualWire>),
) -> Result<Summary, WireError> {
    let segments = settings.sockets.iter();
    let segments = segments.map(|_| Memory::anonymous(settings.segment_bytes));
    run_in(
        segments.collect(),
        platform.into(),
        settings,
        watch,
        program,
    )
}

/// As [`run_watched`], with these segments, one for each PE.
pub(super) fn run_in(
    segments: Vec<Memory>,
    platform: Platform<'_, '_>,
    settings: &Settings,
    watch: &dyn Fn(&Summary) -> ControlFlow<()>,
    program: &dyn Fn(Arc<VirtualWire>),
) -> Result<Summary, WireError> {
    let board = SharedBoard::new(settings.sockets.len(), settings.announces);
    match platform {
        Platform::Sockets(machine) => {
            let sockets = socket::of_machine(machine);
            let engines = dma::engines(machine, settings);
            let hardware = (&mut machine.sim, sockets, engines);
            let hardware = Sockets::new(hardware, settings, board.clone())?;
            Driver::new(hardware, settings, board).run(segments, watch, program)
        }
        Platform::Boards(cluster) => {
            let sockets = socket::of_boards(cluster);
            let hardware = (&mut cluster.sim, sockets, Vec::new());
            let hardware = Sockets::new(hardware, settings, board.clone())?;
            let ran = Driver::new(hardware, settings, board).run(segments, watch, program);
            // If a board has failed, that is why a job stands still.
            cluster.check()?;
            ran
        }
        Platform::SubCluster(cluster) => {
            let hardware = Hosts::new(cluster, settings, board.clone())?;
            Driver::new(hardware, settings, board).run(segments, watch, program)
        }
    }
}

struct Driver<'a, H> {
    hardware: H,
    settings: &'a Settings,
    board: SharedBoard,
}

impl<'a, H: Cores> Driver<'a, H> {
    fn new(hardware: H, settings: &'a Settings, board: SharedBoard) -> Self {
        Self {
            hardware,
            settings,
            board,
        }
    }

    fn run(
        mut self,
        segments: Vec<Memory>,
        watch: &dyn Fn(&Summary) -> ControlFlow<()>,
        program: &dyn Fn(Arc<VirtualWire>),
    ) -> Result<Summary, WireError> {
        let wires = self.hardware.attach(segments)?;
        let bodies = wires.into_iter().map(|wire| {
            let wire = Arc::new(wire);
            let body = move || {
                program(Arc::clone(&wire));
                // PEs that see its end also see its stores.
                let _ = wire.quiet();
            };
            Box::new(body) as Body<'_>
        });
        let bodies = bodies.collect();
        let ran = coroutine::scope(self.settings.stack_bytes, bodies, |coroutines| {
            let started = Instant::now();
            let driven = self.drive(coroutines, watch);
            self.hardware.sim_mut().add_wall(started.elapsed());
            driven
        });
        self.hardware.detach();
        ran.map_err(WireError::Stack)??;
        Ok(self.hardware.sim().summary())
    }

    fn drive(
        &mut self,
        mut coroutines: Coroutines<'_>,
        watch: &dyn Fn(&Summary) -> ControlFlow<()>,
    ) -> Result<(), WireError> {
        let mut events = 0_u64;
        // PEs that take messages from the ring of their host do.
        let wake_each_other = !self.board.lock().rings.is_empty();
        loop {
            while let Some(pe) = self.next_ready() {
                let resumed = coroutines.resume(pe);
                self.file(pe, resumed)?;
            }
            if wake_each_other {
                self.wake_cores();
            }
            if events.is_multiple_of(SLICE_EVENTS)
                && watch(&self.hardware.sim().summary()).is_break()
            {
                let time = self.hardware.sim().now();
                let time = self.since_origin(time);
                return Err(WireError::Interrupted { events, time });
            }
            if events == self.settings.events_max && self.hardware.sim().pending() > 0 {
                let time = self.hardware.sim().now();
                return Err(RunError::EventsSpent { events, time }.into());
            }
            self.check_time()?;
            let Some(stepped) = self.hardware.sim_mut().step() else {
                let now = self.hardware.sim().now();
                if !self.board.lock().pass_news(now) {
                    break;
                }
                self.wake_cores();
                continue;
            };
            events += 1;
            self.hardware.handled(stepped)?;
            self.wake_cores();
        }
        self.check_ended()
    }

    fn check_time(&self) -> Result<(), WireError> {
        let Some(until) = self.settings.until else {
            return Ok(());
        };
        if self.hardware.sim().peek().is_none_or(|time| time <= until) {
            return Ok(());
        }
        let board = self.board.lock();
        let running = board.pes.iter().enumerate().filter(|(_, pe)| !pe.ended);
        let running: Vec<String> = running.map(|(pe, _)| format!("PE {pe}")).collect();
        match running.is_empty() {
            true => Ok(()),
            false => Err(WireError::TimeSpent {
                time: self.since_origin(until),
                running,
            }),
        }
    }

    fn next_ready(&self) -> Option<usize> {
        let board = &mut *self.board.lock();
        let pe = board.ready.pop_front()?;
        board.now = self.hardware.sim().now();
        Some(pe)
    }

    /// Passes on what a PE asks for.
    fn file(&mut self, pe: usize, resumed: Resumed) -> Result<(), WireError> {
        let mut board = self.board.lock();
        let Some(entry) = board.pes.get_mut(pe) else {
            return Ok(());
        };
        match (resumed, &entry.request) {
            (Resumed::Ended, _) => {
                entry.ended = true;
                self.hardware.wake(pe, Ps::ZERO);
                board.end(pe);
            }
            (Resumed::Suspended, Request::Arrival) => {
                board.await_arrival(pe, self.hardware.sent(pe));
                if let Some(entry) = board.pes.get_mut(pe).filter(|entry| entry.all_arrived()) {
                    entry.wakes_at = Some(self.hardware.sim().now());
                    self.hardware.wake(pe, Ps::ZERO);
                }
            }
            (Resumed::Suspended, Request::Transfer { .. }) if entry.is_moved => {
                entry.wakes_at = Some(self.hardware.sim().now());
                self.hardware.wake(pe, Ps::ZERO);
            }
            (
                Resumed::Suspended,
                Request::Nap { until }
                | Request::Store {
                    until: Some(until), ..
                },
            ) => {
                let until = *until;
                entry.wakes_at = Some(until);
                self.hardware.wake(pe, until);
            }
            (Resumed::Suspended, Request::Store { until: None, .. } | Request::Transfer { .. }) => {
            }
            (
                Resumed::Suspended,
                Request::Do(_)
                | Request::Chain(_)
                | Request::Launch { .. }
                | Request::Doing
                | Request::None,
            ) => {
                drop(board);
                self.hardware.take(pe)?;
            }
        }
        Ok(())
    }

    fn wake_cores(&mut self) {
        let board = &mut *self.board.lock();
        while let Some((pe, time)) = board.wakes.pop_front() {
            self.hardware.wake(pe, time);
        }
    }

    /// The waits other than those of the PEs' cores: these cores wait for an operation of
    /// their PE.
    fn beside_the_pes(&self, mut report: StallReport) -> Option<StallReport> {
        let waits = &mut report.waits;
        waits.retain(|(who, resource, _)| !self.hardware.is_idle_core(who, resource));
        (!report.waits.is_empty() || !report.faults.is_empty()).then_some(report)
    }

    /// No event is left: every wait now is for ever.
    fn check_ended(&self) -> Result<(), WireError> {
        let report = self.hardware.sim().stall_report();
        let stalled = !report.waits.is_empty();
        let devices = self.beside_the_pes(report);
        // Faults of a device matter only if a PE waits.
        let devices = devices.filter(|devices| stalled || !devices.waits.is_empty());
        let board = self.board.lock();
        let waiting = board.pes.iter().enumerate();
        let waiting = waiting.filter(|(_, pe)| !pe.ended);
        let pes: Vec<String> = waiting
            .map(|(pe, entry)| {
                let name = self.hardware.name(pe);
                format!("PE {pe} on {name} {}", self.wants(entry))
            })
            .collect();
        match pes.is_empty() && devices.is_none() {
            true => Ok(()),
            false => Err(WireError::Stalled {
                time: self.since_origin(self.hardware.sim().now()),
                pes,
                devices,
            }),
        }
    }

    fn since_origin(&self, time: Ps) -> Ps {
        Ps(time.0.saturating_sub(self.settings.origin.0))
    }

    fn wants(&self, entry: &Pe) -> String {
        match &entry.request {
            Request::Store { since, .. } => {
                let since = self.since_origin(*since);
                match &entry.ring_wait {
                    None => format!("has waited for a store to its segment since {since}"),
                    Some(RingWait::Room(host)) => {
                        format!("has waited for room in the ring of host {host} since {since}")
                    }
                    Some(RingWait::Answer(host)) => {
                        format!("has waited since {since} for host {host} to take its messages")
                    }
                }
            }
            Request::Arrival => {
                let awaited = || entry.awaited.iter();
                let all: u64 = awaited().map(|of| of.sent.amount).sum();
                let left: u64 = awaited().map(|of| of.left).sum();
                let arrived = all.saturating_sub(left);
                format!("waits for its stores to arrive: {arrived} of {all} have")
            }
            Request::Launch { .. } => "waits for the DMA controller of its chip".to_owned(),
            Request::Transfer { since } => {
                let since = self.since_origin(*since);
                format!("has waited for the DMA controller of its chip since {since}")
            }
            Request::Nap { until } => format!("sleeps until {}", self.since_origin(*until)),
            other => format!("waits for its core: {other:?}"),
        }
    }
}
