//! Sockets of a booted machine: PEs run on modelled cores of Opterons.

use hostwire_plan::NodeId;
use hostwire_transport::{Memory, Visibility, Window};

use crate::devices::opteron::{LINE_BYTES, OpteronEvent};
use crate::devices::{DeviceEvent, Fabric};
use crate::engine::{ComponentId, Ps};
use crate::machine::Machine;

use super::board::{self, Node, SharedBoard};
use super::core_program::CoreProgram;
use super::observer::SegmentObserver;
use super::platform::Cores;
use super::run::Settings;
use super::{VirtualWire, WireError};

/// A core that runs PEs.
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

/// See the [module text](self).
pub(super) struct Sockets<'a> {
    machine: &'a mut Machine,
    settings: &'a Settings,
    board: SharedBoard,
    cores: Vec<Core>,
    seats: Vec<Seat>,
}

impl<'a> Sockets<'a> {
    /// Gives each PE a core of its socket: one of its own as long as there are free ones.
    pub(super) fn new(
        machine: &'a mut Machine,
        settings: &'a Settings,
        board: SharedBoard,
    ) -> Result<Self, WireError> {
        check(machine, settings)?;
        let mut sockets = Self {
            board,
            machine,
            settings,
            cores: Vec::new(),
            seats: Vec::new(),
        };
        for (pe, &socket) in settings.sockets.iter().enumerate() {
            let core = sockets.core_for(pe, socket)?;
            let beside = sockets.seats.iter().filter(|seat| seat.socket == socket);
            let before_bytes = beside.count() as u64 * settings.pitch_bytes();
            let base = memory_of(sockets.machine, socket) + settings.offset_bytes;
            let sent_before = sockets.machine.socket(socket).counters().stores_sent;
            sockets.seats.push(Seat {
                core,
                socket,
                address: base + before_bytes,
                sent_before,
            });
        }
        Ok(sockets)
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

    /// The node of a PE.
    fn node(&self, seat: &Seat) -> NodeId {
        self.machine.sockets()[seat.socket].id.node
    }
}

impl Cores for Sockets<'_> {
    fn sim(&self) -> &Fabric {
        &self.machine.sim
    }

    fn sim_mut(&mut self) -> &mut Fabric {
        &mut self.machine.sim
    }

    fn attach(&mut self, segments: Vec<Memory>) -> Result<Vec<VirtualWire>, WireError> {
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
            wires.push(VirtualWire {
                pe,
                board: self.board.clone(),
                segment,
                addresses: addresses.clone(),
                beside,
                look: config.memory_read,
                send_work: config.send_work,
            });
        }
        Ok(wires)
    }

    fn detach(&mut self) {
        for seat in &self.seats {
            self.machine.socket_mut(seat.socket).end_observation();
        }
    }

    fn take(&mut self, pe: usize) -> Result<(), WireError> {
        let Some(seat) = self.seats.get(pe) else {
            return Ok(());
        };
        if let Some(core) = self.board.lock().cores.get_mut(seat.core) {
            core.queue.push_back(pe);
        }
        wake(self.machine, &self.cores[seat.core], Ps::ZERO);
        Ok(())
    }

    fn wake(&mut self, pe: usize, time: Ps) {
        if let Some(seat) = self.seats.get(pe) {
            wake(self.machine, &self.cores[seat.core], time);
        }
    }

    fn name(&self, pe: usize) -> &str {
        &self.machine.sockets()[self.seats[pe].socket].name
    }

    fn origin(&self, pe: usize) -> usize {
        self.cores[self.seats[pe].core].component.index()
    }

    fn sent(&self, pe: usize) -> u64 {
        let seat = &self.seats[pe];
        self.machine.socket(seat.socket).counters().stores_sent - seat.sent_before
    }

    fn unit(&self) -> &'static str {
        ""
    }

    fn is_idle_core(&self, component: &str, resource: &str) -> bool {
        self.cores.iter().any(|core| {
            let name = self.machine.sockets()[core.socket].name.as_str();
            name == component && resource == format!("core {}: a wake-up", core.core)
        })
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
