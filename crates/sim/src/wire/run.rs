//! The driver: resumes the coroutines when their cores have carried out their
//! operations.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use hostwire_transport::coroutine::{self, Body, Coroutines, Resumed};
use hostwire_transport::{Memory, Transport, Visibility, Window};

use hostwire_plan::NodeId;

use crate::devices::DeviceEvent;
use crate::devices::opteron::{LINE_BYTES, OpteronEvent};
use crate::engine::{ComponentId, Ps, RunError, StallReport, Summary};
use crate::machine::Machine;

use super::board::{self, Node, Pe, Request, SharedBoard};
use super::core_program::CoreProgram;
use super::observer::SegmentObserver;
use super::{VirtualWire, WireError};

/// How a job is laid out on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Socket of each PE. PEs of one socket have a core each as long as there are free ones, and
    /// then share cores.
    pub sockets: Vec<usize>,
    /// Bytes of each PE's segment.
    pub segment_bytes: usize,
    /// Where in the memory of a socket the segments begin; a multiple of 64.
    pub offset_bytes: u64,
    /// Stack of each PE on the host.
    pub stack_bytes: usize,
    /// Events after which a run is given up.
    pub events_max: u64,
    /// Simulated time after which it is.
    pub until: Option<Ps>,
    /// Times in errors count from here on.
    pub origin: Ps,
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
        }
    }

    /// From one segment to the next in the memory of a socket.
    fn pitch_bytes(&self) -> u64 {
        (self.segment_bytes as u64).next_multiple_of(SEGMENT_ALIGN_BYTES)
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
pub fn run(
    machine: &mut Machine,
    settings: &Settings,
    program: &dyn Fn(Arc<VirtualWire>),
) -> Result<Summary, WireError> {
    run_watched(machine, settings, &|_| ControlFlow::Continue(()), program)
}

/// As [`run`], and shows `watch` every few milliseconds how far the run has come. `Break`
/// ends it with [`WireError::Interrupted`].
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_watched(
    machine: &mut Machine,
    settings: &Settings,
    watch: &dyn Fn(&Summary) -> ControlFlow<()>,
    program: &dyn Fn(Arc<VirtualWire>),
) -> Result<Summary, WireError> {
    let segments = settings.sockets.iter();
    let segments = segments.map(|_| Memory::anonymous(settings.segment_bytes));
    run_in(segments.collect(), machine, settings, watch, program)
}

/// As [`run_watched`], with these segments, one for each PE.
pub(super) fn run_in(
    segments: Vec<Memory>,
    machine: &mut Machine,
    settings: &Settings,
    watch: &dyn Fn(&Summary) -> ControlFlow<()>,
    program: &dyn Fn(Arc<VirtualWire>),
) -> Result<Summary, WireError> {
    let mut driver = Driver::new(machine, settings)?;
    let bodies = driver.attach(segments)?;
    let bodies = bodies.into_iter().map(|wire| {
        let body = move || {
            program(Arc::clone(&wire));
            // PEs that see its end also see its stores.
            let _ = wire.quiet();
        };
        Box::new(body) as Body<'_>
    });
    let bodies = bodies.collect();
    let ran = coroutine::scope(settings.stack_bytes, bodies, |coroutines| {
        let started = Instant::now();
        let driven = driver.drive(coroutines, watch);
        driver.machine.sim.add_wall(started.elapsed());
        driven
    });
    driver.detach();
    ran.map_err(WireError::Stack)??;
    Ok(machine.sim.summary())
}

/// The driver's record of a core that runs PEs.
struct Core {
    socket: usize,
    component: ComponentId,
    core: u8,
}

/// Where a PE is.
struct Seat {
    /// Index of its core.
    core: usize,
    socket: usize,
    /// Global address of its segment.
    address: u64,
    /// Stores that its socket had sent before.
    sent_before: u64,
}

struct Driver<'a> {
    machine: &'a mut Machine,
    settings: &'a Settings,
    board: SharedBoard,
    cores: Vec<Core>,
    seats: Vec<Seat>,
}

impl<'a> Driver<'a> {
    /// Gives each PE a core of its socket: one of its own as long as there are free ones.
    fn new(machine: &'a mut Machine, settings: &'a Settings) -> Result<Self, WireError> {
        check(machine, settings)?;
        let mut driver = Self {
            board: SharedBoard::new(settings.sockets.len()),
            machine,
            settings,
            cores: Vec::new(),
            seats: Vec::new(),
        };
        for (pe, &socket) in settings.sockets.iter().enumerate() {
            let core = driver.core_for(pe, socket)?;
            let beside = driver.seats.iter().filter(|seat| seat.socket == socket);
            let before_bytes = beside.count() as u64 * settings.pitch_bytes();
            let base = memory_of(driver.machine, socket) + settings.offset_bytes;
            let sent_before = driver.machine.socket(socket).counters().stores_sent;
            driver.seats.push(Seat {
                core,
                socket,
                address: base + before_bytes,
                sent_before,
            });
        }
        Ok(driver)
    }

    /// A free core of the socket, or the one with the fewest PEs.
    fn core_for(&mut self, pe: usize, socket: usize) -> Result<usize, WireError> {
        let board = self.board.clone();
        let program = CoreProgram {
            board: board.clone(),
            core: self.cores.len(),
        };
        let board = &mut *board.lock();
        let component = self.machine.sockets()[socket].component;
        let index = match self.machine.start(socket, program) {
            Some(core) => {
                self.cores.push(Core {
                    socket,
                    component,
                    core,
                });
                board.cores.push(board::Core::default());
                self.cores.len() - 1
            }
            None => {
                let cores = self.cores.iter().enumerate();
                let cores = cores.filter(|(_, core)| core.socket == socket);
                let fewest = cores.min_by_key(|(index, _)| board.cores[*index].pes.len());
                fewest.ok_or(WireError::NoFreeCore { pe, socket })?.0
            }
        };
        board.cores[index].pes.push(pe);
        let mut nodes = board.nodes.iter_mut();
        match nodes.find(|node| node.component == component.index()) {
            Some(node) => node.pes.push(pe),
            None => board.nodes.push(Node {
                component: component.index(),
                pes: vec![pe],
                arrived: 0,
            }),
        }
        Ok(index)
    }

    /// Makes the wires, and makes the sockets report writes.
    fn attach(&mut self, segments: Vec<Memory>) -> Result<Vec<Arc<VirtualWire>>, WireError> {
        let addresses: Vec<u64> = self.seats.iter().map(|seat| seat.address).collect();
        let mut counted = Vec::new();
        let mut wires = Vec::new();
        for ((pe, seat), memory) in self.seats.iter().enumerate().zip(segments) {
            let segment =
                Window::own(memory.clone(), Visibility::Coherent).map_err(WireError::Segment)?;
            let own = seat.address..seat.address + self.settings.segment_bytes as u64;
            let beside = self
                .seats
                .iter()
                .map(|other| self.node(other) == self.node(seat));
            let beside = beside.collect();
            let counts = !counted.contains(&seat.socket);
            counted.push(seat.socket);
            let opteron = self.machine.socket_mut(seat.socket);
            let config = opteron.config().clone();
            let board = self.board.clone();
            let observer = SegmentObserver::new(board, pe, own, memory, &config, counts);
            opteron.observe(observer);
            wires.push(Arc::new(VirtualWire {
                pe,
                board: self.board.clone(),
                segment,
                addresses: addresses.clone(),
                beside,
                look: config.memory_read,
                send_work: config.send_work,
            }));
        }
        Ok(wires)
    }

    /// The node of a PE.
    fn node(&self, seat: &Seat) -> NodeId {
        self.machine.sockets()[seat.socket].id.node
    }

    fn detach(&mut self) {
        for seat in &self.seats {
            self.machine.socket_mut(seat.socket).end_observation();
        }
    }

    fn drive(
        &mut self,
        mut coroutines: Coroutines<'_>,
        watch: &dyn Fn(&Summary) -> ControlFlow<()>,
    ) -> Result<(), WireError> {
        let mut events = 0_u64;
        loop {
            while let Some(pe) = self.next_ready() {
                let resumed = coroutines.resume(pe);
                self.file(pe, resumed);
            }
            if events.is_multiple_of(SLICE_EVENTS) && watch(&self.machine.sim.summary()).is_break()
            {
                let time = self.machine.sim.now();
                let time = self.since_origin(time);
                return Err(WireError::Interrupted { events, time });
            }
            if events == self.settings.events_max && self.machine.sim.pending() > 0 {
                let time = self.machine.sim.now();
                return Err(RunError::EventsSpent { events, time }.into());
            }
            self.check_time()?;
            if self.machine.sim.step().is_none() {
                break;
            }
            events += 1;
            self.wake_cores();
        }
        self.check_ended()
    }

    fn check_time(&self) -> Result<(), WireError> {
        let Some(until) = self.settings.until else {
            return Ok(());
        };
        if self.machine.sim.peek().is_none_or(|time| time <= until) {
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
        board.now = self.machine.sim.now();
        Some(pe)
    }

    /// Passes on the operation of a PE.
    fn file(&mut self, pe: usize, resumed: Resumed) {
        let shared = self.board.clone();
        let board = &mut *shared.lock();
        let Some(seat) = self.seats.get(pe) else {
            return;
        };
        let (core, socket) = (&self.cores[seat.core], seat.socket);
        let arrived = board.arrived_from(core.component.index());
        let Some(entry) = board.pes.get_mut(pe) else {
            return;
        };
        let mut ended = false;
        let wake_now = match (resumed, &entry.request) {
            (Resumed::Ended, _) => {
                entry.ended = true;
                ended = true;
                true
            }
            (Resumed::Suspended, Request::Arrival) => {
                let counters = self.machine.socket(socket).counters();
                let sent = counters.stores_sent - seat.sent_before;
                entry.awaited = Some(sent);
                let all_arrived = arrived >= sent;
                entry.wakes_at = all_arrived.then(|| self.machine.sim.now());
                all_arrived
            }
            (Resumed::Suspended, Request::Store { .. }) => false,
            (Resumed::Suspended, Request::Do(_) | Request::Doing | Request::None) => {
                if let Some(core) = board.cores.get_mut(seat.core) {
                    core.queue.push_back(pe);
                }
                true
            }
        };
        if wake_now {
            wake(self.machine, core, Ps::ZERO);
        }
        if ended {
            board.end(pe);
        }
    }

    fn wake_cores(&mut self) {
        let shared = self.board.clone();
        let board = &mut *shared.lock();
        while let Some((pe, time)) = board.wakes.pop_front() {
            if let Some(seat) = self.seats.get(pe) {
                wake(self.machine, &self.cores[seat.core], time);
            }
        }
    }

    /// The waits other than those of the PEs' cores: these cores wait for an operation of
    /// their PE.
    fn beside_the_pes(&self, mut report: StallReport) -> Option<StallReport> {
        let suspended: Vec<(&str, String)> = self
            .cores
            .iter()
            .map(|core| {
                let name = self.machine.sockets()[core.socket].name.as_str();
                (name, format!("core {}: a wake-up", core.core))
            })
            .collect();
        report.waits.retain(|(who, resource, _)| {
            !suspended
                .iter()
                .any(|(name, wait)| name == who && wait == resource)
        });
        (!report.waits.is_empty() || !report.faults.is_empty()).then_some(report)
    }

    /// No event is left: every wait now is for ever.
    fn check_ended(&self) -> Result<(), WireError> {
        let report = self.machine.sim.stall_report();
        let stalled = !report.waits.is_empty();
        let devices = self.beside_the_pes(report);
        // Faults of a device matter only if a PE waits.
        let devices = devices.filter(|devices| stalled || !devices.waits.is_empty());
        let board = self.board.lock();
        let waiting = board.pes.iter().zip(&self.seats).enumerate();
        let waiting = waiting.filter(|(_, (pe, _))| !pe.ended);
        let pes: Vec<String> = waiting
            .map(|(pe, (entry, seat))| {
                let name = &self.machine.sockets()[seat.socket].name;
                let component = self.cores[seat.core].component.index();
                let arrived = board.arrived_from(component);
                format!("PE {pe} on {name} {}", self.wants(entry, arrived))
            })
            .collect();
        match pes.is_empty() && devices.is_none() {
            true => Ok(()),
            false => Err(WireError::Stalled {
                time: self.since_origin(self.machine.sim.now()),
                pes,
                devices,
            }),
        }
    }

    fn since_origin(&self, time: Ps) -> Ps {
        Ps(time.0.saturating_sub(self.settings.origin.0))
    }

    fn wants(&self, entry: &Pe, arrived: u64) -> String {
        match &entry.request {
            Request::Store { since } => {
                format!(
                    "has waited for a store to its segment since {}",
                    self.since_origin(*since)
                )
            }
            Request::Arrival => format!(
                "waits for its stores to arrive: {arrived} of {} have",
                entry.awaited.unwrap_or(0)
            ),
            other => format!("waits for its core: {other:?}"),
        }
    }
}

/// Wakes a core at `time`, or now if that has passed.
fn wake(machine: &mut Machine, core: &Core, time: Ps) {
    let time = time.max(machine.sim.now());
    let event = OpteronEvent::Wake { core: core.core };
    let injected = machine
        .sim
        .inject(time, core.component, DeviceEvent::Opteron(event));
    debug_assert_eq!(injected, Ok(()));
}

fn memory_of(machine: &Machine, socket: usize) -> u64 {
    let processor = machine.plan().processor(machine.sockets()[socket].id);
    processor.map_or(0, |processor| processor.memory.start.0)
}

fn check(machine: &Machine, settings: &Settings) -> Result<(), WireError> {
    for (pe, &socket) in settings.sockets.iter().enumerate() {
        if socket >= machine.sockets().len() {
            return Err(WireError::NoSuchSocket {
                pe,
                socket,
                sockets: machine.sockets().len(),
            });
        }
        let beside = settings.sockets[..pe].iter().filter(|at| **at == socket);
        let before_bytes = settings.pitch_bytes().checked_mul(beside.count() as u64);
        let memory_bytes = machine.socket(socket).config().memory_bytes;
        let end = before_bytes
            .and_then(|bytes| bytes.checked_add(settings.offset_bytes))
            .and_then(|bytes| bytes.checked_add(settings.segment_bytes as u64));
        let aligned = settings.offset_bytes.is_multiple_of(LINE_BYTES);
        if !aligned || end.is_none_or(|end| end > memory_bytes) {
            return Err(WireError::NoMemory {
                socket,
                offset_bytes: settings.offset_bytes,
                segment_bytes: settings.segment_bytes,
                memory_bytes,
            });
        }
    }
    Ok(())
}
