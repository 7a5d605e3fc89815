//! The driver: resumes the coroutines when their cores have carried out their
//! operations.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use hostwire_transport::coroutine::{self, Body, Coroutines, Resumed};
use hostwire_transport::{Memory, Transport, Visibility, Window};

use crate::devices::DeviceEvent;
use crate::devices::opteron::{LINE_BYTES, OpteronEvent};
use crate::engine::{ComponentId, Ps, RunError, StallReport, Summary};
use crate::machine::Machine;

use super::board::{Pe, Request, SharedBoard};
use super::core_program::CoreProgram;
use super::observer::SegmentObserver;
use super::{VirtualWire, WireError};

/// How a job is laid out on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Socket of each PE: at most one PE per socket.
    pub sockets: Vec<usize>,
    /// Bytes of each PE's segment.
    pub segment_bytes: usize,
    /// Where in the memory of its socket a segment begins; a multiple of 64.
    pub offset_bytes: u64,
    /// Stack of each PE on the host.
    pub stack_bytes: usize,
    /// Events after which a run is given up.
    pub events_max: u64,
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
        }
    }
}

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
    let mut driver = Driver::new(machine, settings)?;
    let bodies = driver.attach()?;
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

/// The driver's record of the core of a PE.
struct Core {
    socket: usize,
    component: ComponentId,
    core: u8,
    /// Stores that its socket had sent before.
    sent_before: u64,
}

struct Driver<'a> {
    machine: &'a mut Machine,
    settings: &'a Settings,
    board: SharedBoard,
    cores: Vec<Core>,
}

impl<'a> Driver<'a> {
    /// Puts a program on a core of each socket.
    fn new(machine: &'a mut Machine, settings: &'a Settings) -> Result<Self, WireError> {
        check(machine, settings)?;
        let board = SharedBoard::new(settings.sockets.len());
        let mut cores = Vec::new();
        for (pe, &socket) in settings.sockets.iter().enumerate() {
            let sent_before = machine.socket(socket).counters().stores_sent;
            let program = CoreProgram {
                board: board.clone(),
                pe,
            };
            let core = machine
                .start(socket, program)
                .ok_or(WireError::NoFreeCore { pe, socket })?;
            cores.push(Core {
                socket,
                component: machine.sockets()[socket].component,
                core,
                sent_before,
            });
        }
        Ok(Self {
            machine,
            settings,
            board,
            cores,
        })
    }

    /// Makes the wires, and makes the sockets report writes.
    fn attach(&mut self) -> Result<Vec<Arc<VirtualWire>>, WireError> {
        let bases: Vec<u64> = self
            .cores
            .iter()
            .map(|core| memory_of(self.machine, core.socket) + self.settings.offset_bytes)
            .collect();
        let components = self.cores.iter().map(|core| core.component.index());
        let components: Vec<usize> = components.collect();
        let mut wires = Vec::new();
        for (pe, core) in self.cores.iter().enumerate() {
            let memory = Memory::anonymous(self.settings.segment_bytes);
            let segment =
                Window::own(memory.clone(), Visibility::Coherent).map_err(WireError::Segment)?;
            let addresses = bases[pe]..bases[pe] + self.settings.segment_bytes as u64;
            let opteron = self.machine.socket_mut(core.socket);
            let config = opteron.config().clone();
            let board = self.board.clone();
            opteron.observe(SegmentObserver::new(
                board,
                pe,
                addresses,
                memory,
                &config,
                components.clone(),
            ));
            wires.push(Arc::new(VirtualWire {
                pe,
                board: self.board.clone(),
                segment,
                addresses: bases.clone(),
                look: config.memory_read,
                send_work: config.send_work,
            }));
        }
        Ok(wires)
    }

    fn detach(&mut self) {
        for core in &self.cores {
            self.machine.socket_mut(core.socket).end_observation();
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
                return Err(WireError::Interrupted { events, time });
            }
            if events == self.settings.events_max && self.machine.sim.pending() > 0 {
                let time = self.machine.sim.now();
                return Err(RunError::EventsSpent { events, time }.into());
            }
            if self.machine.sim.step().is_none() {
                break;
            }
            events += 1;
            self.wake_cores();
        }
        self.check_ended()
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
        let (Some(entry), Some(core)) = (board.pes.get_mut(pe), self.cores.get(pe)) else {
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
                let counters = self.machine.socket(core.socket).counters();
                let sent = counters.stores_sent - core.sent_before;
                entry.awaited = Some(sent);
                entry.arrived >= sent
            }
            (Resumed::Suspended, Request::Store { .. }) => false,
            (Resumed::Suspended, Request::Do(_) | Request::Doing | Request::None) => true,
        };
        if wake_now {
            entry.woken = true;
            wake(self.machine, core, Ps::ZERO);
        }
        if ended {
            board.ring_all();
        }
    }

    fn wake_cores(&mut self) {
        let shared = self.board.clone();
        let board = &mut *shared.lock();
        while let Some((pe, time)) = board.wakes.pop_front() {
            if let Some(core) = self.cores.get(pe) {
                wake(self.machine, core, time);
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
        let waiting = board.pes.iter().zip(&self.cores).enumerate();
        let waiting = waiting.filter(|(_, (pe, _))| !pe.ended);
        let pes: Vec<String> = waiting
            .map(|(pe, (entry, core))| {
                let name = &self.machine.sockets()[core.socket].name;
                format!("PE {pe} on {name} {}", wants(entry))
            })
            .collect();
        match pes.is_empty() && devices.is_none() {
            true => Ok(()),
            false => Err(WireError::Stalled {
                time: self.machine.sim.now(),
                pes,
                devices,
            }),
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

fn wants(entry: &Pe) -> String {
    match &entry.request {
        Request::Store { since } => {
            format!("has waited for a store to its segment since {since}")
        }
        Request::Arrival => format!(
            "waits for its stores to arrive: {} of {} have",
            entry.arrived,
            entry.awaited.unwrap_or(0)
        ),
        other => format!("waits for its core: {other:?}"),
    }
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
        let earlier = settings.sockets[..pe].iter().position(|at| *at == socket);
        if let Some(other) = earlier {
            return Err(WireError::SocketTaken { pe, socket, other });
        }
        let memory_bytes = machine.socket(socket).config().memory_bytes;
        let end = settings
            .offset_bytes
            .checked_add(settings.segment_bytes as u64);
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
