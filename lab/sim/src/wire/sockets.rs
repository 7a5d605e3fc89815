//! Sockets of a booted machine, or of hosts with boards: PEs run on modelled cores of Opterons.

use std::sync::Arc;

use hostwire_plan::NodeId;
use hostwire_transport::{Memory, Visibility, Window};

use crate::engine::{ComponentId, Ps, Stepped};
use crate::models::ht::opteron::{LINE_BYTES, Opteron, OpteronEvent, origin_of, packet_number};
use crate::models::{DeviceEvent, Fabric};

use super::board::{self, Node, Request, Sent, SharedBoard};
use super::core_program::CoreProgram;
use super::dma::Engine;
use super::messages::{HOST_PES_MAX, Messages};
use super::observer::SegmentObserver;
use super::platform::Cores;
use super::run::Settings;
use super::socket::Socket;
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
    sim: &'a mut Fabric,
    sockets: Vec<Socket>,
    settings: &'a Settings,
    board: SharedBoard,
    cores: Vec<Core>,
    seats: Vec<Seat>,
    engines: Vec<Engine>,
}

impl<'a> Sockets<'a> {
    /// Gives each PE a core of its socket: one of its own as long as there are free ones.
    pub(super) fn new(
        (sim, sockets, engines): (&'a mut Fabric, Vec<Socket>, Vec<Engine>),
        settings: &'a Settings,
        board: SharedBoard,
    ) -> Result<Self, WireError> {
        check(sim, &sockets, settings)?;
        let mut sockets = Self {
            board,
            sim,
            sockets,
            settings,
            cores: Vec::new(),
            seats: Vec::new(),
            engines,
        };
        for (pe, &socket) in settings.sockets.iter().enumerate() {
            let core = sockets.core_for(pe, socket)?;
            let beside = sockets.seats.iter().filter(|seat| seat.socket == socket);
            let before_bytes = beside.count() as u64 * settings.pitch_bytes();
            let base = sockets.sockets[socket].memory_start + settings.offset_bytes;
            let sent_before = sockets.stores_sent(socket);
            sockets.seats.push(Seat {
                core,
                socket,
                address: base + before_bytes,
                sent_before,
            });
        }
        let board = sockets.board.clone();
        let board = &mut *board.lock();
        for engine in &sockets.engines {
            board.engines.push(board::Engine::default());
            let node = Node {
                pes: engine.pes(),
                arrived: 0,
            };
            board.nodes.insert(engine.chip.index(), node);
        }
        Ok(sockets)
    }

    /// The controller by which a put of a PE goes.
    fn engine_for(&self, pe: usize, address: u64) -> Option<usize> {
        let mut engines = self.engines.iter();
        engines.position(|engine| engine.serves(pe) && engine.leads_to(address))
    }

    /// Lets a controller carry out a transfer: the core of the PE starts it.
    fn launch(&mut self, engine: usize, pe: usize, address: u64, data: &[u8]) {
        let doorbell = self.engines[engine].lay_out(self.sim, pe, address, data);
        let board = &mut *self.board.lock();
        board.engines[engine].at_work = Some(pe);
        if let Some(entry) = board.pes.get_mut(pe) {
            entry.request = Request::Do(doorbell);
        }
        let seat = &self.seats[pe];
        if let Some(core) = board.cores.get_mut(seat.core) {
            core.queue.push_back(pe);
        }
        wake(self.sim, &self.cores[seat.core], Ps::ZERO);
    }

    /// Keeps a transfer until the controller has done those before it.
    fn put_off(&mut self, engine: usize, pe: usize, address: u64, data: Vec<u8>) {
        self.engines[engine].wait(pe, address, data);
        if let Some(entry) = self.board.lock().pes.get_mut(pe) {
            // The request stays, so that reports can tell what the PE waits for.
            let data = Vec::new();
            entry.request = Request::Launch { address, data };
        }
    }

    /// What a PE asks of the controller of its chip.
    fn take_launch(&mut self, pe: usize) -> Option<(u64, Vec<u8>)> {
        let mut board = self.board.lock();
        let entry = board.pes.get_mut(pe)?;
        match std::mem::replace(&mut entry.request, Request::Doing) {
            Request::Launch { address, data } => Some((address, data)),
            other => {
                entry.request = other;
                None
            }
        }
    }

    /// A free core of the socket, or the one with the fewest PEs.
    fn core_for(&mut self, pe: usize, socket: usize) -> Result<usize, WireError> {
        let board = self.board.clone();
        let program = CoreProgram {
            board: board.clone(),
            core: self.cores.len(),
        };
        let board = &mut *board.lock();
        let component = self.sockets[socket].component;
        let index = match self.start(component, program) {
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
        let node = board.nodes.entry(component.index()).or_default();
        node.pes.push(pe);
        Ok(index)
    }

    /// Loads a program on the next free core of a socket and starts it now. `None` if no core is
    /// free.
    fn start(&mut self, socket: ComponentId, program: CoreProgram) -> Option<u8> {
        let core = self.sim.component_mut::<Opteron>(socket)?.load(program)?;
        let event = DeviceEvent::Opteron(OpteronEvent::Step { core });
        self.sim.inject(self.sim.now(), socket, event).ok()?;
        Some(core)
    }

    fn stores_sent(&self, socket: usize) -> u64 {
        let model = opteron(self.sim, &self.sockets[socket]);
        model.map_or(0, |model| model.counters().stores_sent)
    }

    /// The node of a PE.
    fn node(&self, seat: &Seat) -> NodeId {
        self.sockets[seat.socket].node
    }

    /// The ways of the PEs, if they send messages.
    fn ways(&self, segments: &[Memory]) -> Vec<Messages> {
        let boards = self.seats.iter().filter_map(|seat| {
            let socket = &self.sockets[seat.socket];
            let config = opteron(self.sim, socket)?.config();
            Some((socket.board.clone()?, config.clone()))
        });
        let boards: Vec<_> = boards.collect();
        if boards.is_empty() {
            return Vec::new();
        }
        let hosts = self.seats.iter().map(|seat| self.node(seat).index());
        let hosts: Vec<usize> = hosts.collect();
        Messages::of_all(&self.board, &hosts, &boards, segments)
    }
}

impl Cores for Sockets<'_> {
    fn sim(&self) -> &Fabric {
        self.sim
    }

    fn sim_mut(&mut self) -> &mut Fabric {
        self.sim
    }

    fn attach(&mut self, segments: Vec<Memory>) -> Result<Vec<VirtualWire>, WireError> {
        let addresses: Arc<[u64]> = self.seats.iter().map(|seat| seat.address).collect();
        let nodes: Arc<[u16]> = self.seats.iter().map(|seat| self.node(seat).0).collect();
        let mut ways = self.ways(&segments).into_iter();
        let mut counted = Vec::new();
        let mut wires = Vec::new();
        for ((pe, seat), memory) in self.seats.iter().enumerate().zip(segments) {
            let segment =
                Window::own(memory.clone(), Visibility::Coherent).map_err(WireError::Segment)?;
            let own = seat.address..seat.address + self.settings.segment_bytes as u64;
            let counts = !counted.contains(&seat.socket);
            counted.push(seat.socket);
            let dma = self.engines.iter().filter_map(|engine| engine.way(pe));
            let dma = dma.collect();
            let socket = &self.sockets[seat.socket];
            let model = self.sim.component_mut::<Opteron>(socket.component);
            let model = model.ok_or(WireError::NoFreeCore {
                pe,
                socket: seat.socket,
            })?;
            let config = model.config().clone();
            let board = self.board.clone();
            match &socket.board {
                None => {
                    for (number, engine) in self.engines.iter().enumerate().filter(|_| counts) {
                        let at = (number, seat.socket);
                        let observer = engine.observer(at, &self.board, &config);
                        observer
                            .into_iter()
                            .for_each(|observer| model.observe(observer));
                    }
                    let observer = SegmentObserver::new(board, pe, own, memory, &config, counts);
                    model.observe(observer);
                }
                // One observer for the ring of a host.
                Some(network) if counts => {
                    let host = socket.node.index();
                    model.observe(Messages::observer(&board, host, network, &config));
                }
                Some(_) => {}
            }
            wires.push(VirtualWire {
                pe,
                board: self.board.clone(),
                segment,
                addresses: Arc::clone(&addresses),
                nodes: Arc::clone(&nodes),
                look: config.memory_read,
                send_work: config.send_work,
                dma,
                chains: None,
                messages: ways.next(),
            });
        }
        Ok(wires)
    }

    fn detach(&mut self) {
        for seat in &self.seats {
            let component = self.sockets[seat.socket].component;
            if let Some(model) = self.sim.component_mut::<Opteron>(component) {
                model.end_observation();
            }
        }
    }

    fn take(&mut self, pe: usize) -> Result<(), WireError> {
        if let Some((address, data)) = self.take_launch(pe) {
            if let Some(engine) = self.engine_for(pe, address) {
                let is_busy = self.board.lock().engines[engine].at_work.is_some();
                match is_busy {
                    true => self.put_off(engine, pe, address, data),
                    false => self.launch(engine, pe, address, &data),
                }
            }
            return Ok(());
        }
        let Some(seat) = self.seats.get(pe) else {
            return Ok(());
        };
        if let Some(core) = self.board.lock().cores.get_mut(seat.core) {
            core.queue.push_back(pe);
        }
        wake(self.sim, &self.cores[seat.core], Ps::ZERO);
        Ok(())
    }

    fn wake(&mut self, pe: usize, time: Ps) {
        if let Some(seat) = self.seats.get(pe) {
            wake(self.sim, &self.cores[seat.core], time);
        }
    }

    fn handled(&mut self, stepped: Stepped) -> Result<(), WireError> {
        for number in 0..self.engines.len() {
            let engine = &mut self.engines[number];
            if stepped.target == engine.chip
                && let Some(number) = engine.taken(self.sim)
            {
                let mut board = self.board.lock();
                board.arrived(origin_of(number), 1, number, stepped.time);
            }
            if !engine.is_at(stepped.target) {
                continue;
            }
            let ended = self.board.lock().engines[number].ended.take();
            if let Some(pe) = ended {
                engine.check(self.sim, pe)?;
                if let Some((pe, address, data)) = engine.next() {
                    self.launch(number, pe, address, &data);
                }
            }
        }
        Ok(())
    }

    fn name(&self, pe: usize) -> &str {
        &self.sockets[self.seats[pe].socket].name
    }

    fn sent(&self, pe: usize) -> Vec<Sent> {
        let seat = &self.seats[pe];
        let component = self.cores[seat.core].component;
        let model = opteron(self.sim, &self.sockets[seat.socket]);
        let stores = Sent {
            component: component.index(),
            amount: self.stores_sent(seat.socket) - seat.sent_before,
            last: packet_number(component, model.map_or(0, Opteron::packets)),
        };
        let engines = self.engines.iter().filter(|engine| engine.serves(pe));
        let moved = engines.map(|engine| engine.sent(self.sim));
        [stores].into_iter().chain(moved).collect()
    }

    fn is_idle_core(&self, component: &str, resource: &str) -> bool {
        self.cores.iter().any(|core| {
            let name = self.sim.name(core.component);
            name == Some(component) && resource == format!("core {}: a wake-up", core.core)
        })
    }
}

/// The model of a socket, to look at it.
fn opteron<'a>(sim: &'a Fabric, socket: &Socket) -> Option<&'a Opteron> {
    sim.component(socket.component)
}

/// Wakes a core at `time`, or now if that has passed.
fn wake(sim: &mut Fabric, core: &Core, time: Ps) {
    let time = time.max(sim.now());
    let event = OpteronEvent::Wake { core: core.core };
    let injected = sim.inject(time, core.component, DeviceEvent::Opteron(event));
    debug_assert_eq!(injected, Ok(()));
}

fn check(sim: &Fabric, sockets: &[Socket], settings: &Settings) -> Result<(), WireError> {
    let memory_of = |at: &Socket| opteron(sim, at).map_or(0, |model| model.config().memory_bytes);
    for (pe, &socket) in settings.sockets.iter().enumerate() {
        let Some(at) = sockets.get(socket) else {
            return Err(WireError::NoSuchSocket {
                pe,
                socket,
                sockets: sockets.len(),
            });
        };
        let beside = settings.sockets[..pe].iter().filter(|at| **at == socket);
        let before = beside.count();
        let before_bytes = settings.pitch_bytes().checked_mul(before as u64);
        let memory_bytes = memory_of(at);
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
                fits_bytes: settings.fits_bytes(|at| sockets.get(at).map_or(0, memory_of), 0),
            });
        }
        if at.board.is_some() && before >= HOST_PES_MAX {
            return Err(WireError::TooManyPes {
                host: socket,
                pes: before + 1,
            });
        }
    }
    Ok(())
}
