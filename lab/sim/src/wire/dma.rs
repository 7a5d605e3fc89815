//! Long puts by the DMA controllers of PEACH2 chips below sockets.
//!
//! The middle part of a long put over a chip of the PE's node goes by its pipelined controller: the
//! driver lays out data and table in the memory of the PE's socket, the core writes the doorbell, and then
//! loads the end of the table (EPLAST) until the controller has written it. PEs of a node wait for
//! the controller in turn. So everything that a PE has stored before leaves the chip before what it stores
//! next, by whichever way.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use hostwire_plan::{AdapterKind, AddressRange, GlobalAddress};
use hostwire_transport::{PeId, TransportError};

use crate::engine::{ComponentId, Ps};
use crate::machine::Machine;
use crate::models::Fabric;
use crate::models::ht::Packet;
use crate::models::ht::opteron::{Opteron, OpteronConfig, WriteObserver, packet_number};
use crate::models::pcie::peach2::chip::{
    CHAIN_BYTES_MAX, CONTROL_EPLAST, Chip, Descriptor, DmaKind, DmaStatus, EPLAST,
    LENGTH_BYTES_MAX, TABLE_BYTES, dma_part, doorbell, table,
};

use super::board::{Op, Outcome, Request, Sent, SharedBoard};
use super::messages::Looks;
use super::run::Settings;
use super::{VirtualWire, WireError};

/// A chip of a node that runs PEs.
pub(super) struct Engine {
    pub(super) chip: ComponentId,
    /// Where the doorbell is written.
    header: u64,
    /// Where the memory of the node begins.
    memory_start: u64,
    /// The sockets of the node that run PEs.
    places: Vec<ControllerMemory>,
    targets: Vec<AddressRange>,
    from_bytes: u64,
    /// Writes that had ended in the chip, and writes of its controller, before the job.
    kept: u64,
    writes_before: u64,
    /// Transfers that wait.
    queue: VecDeque<(usize, u64, Vec<u8>)>,
}

/// What a controller needs in the memory of a socket.
struct ControllerMemory {
    socket: usize,
    component: ComponentId,
    /// Where the memory of the socket begins.
    memory_start: u64,
    table: u64,
    /// Where the first PE's data are laid out, and room for them.
    source: u64,
    source_bytes: u64,
    /// The PEs of the socket.
    pes: Vec<usize>,
}

/// The controllers of chips whose nodes run PEs, if PEs can reach them and there is memory for the data. The driver of
/// each chip opens it.
pub(super) fn engines(machine: &mut Machine, settings: &Settings) -> Vec<Engine> {
    let adapters = machine.plan().adapters().iter();
    let chips = adapters.filter(|adapter| adapter.kind == AdapterKind::Peach2);
    let chips: Vec<_> = chips.cloned().collect();
    let mut engines = Vec::new();
    let mut used = Used::default();
    for adapter in chips {
        let node = adapter.port.processor.node;
        let sockets = machine.sockets().iter().enumerate();
        let sockets = sockets.filter(|(_, socket)| socket.id.node == node);
        let places = sockets.filter_map(|(socket, _)| used.place(machine, settings, socket));
        let places: Vec<ControllerMemory> = places.collect();
        let chip = machine.chips().get(adapter.member).copied();
        let start = machine.plan().node(node).map(|node| node.range.start.0);
        let (Some(chip), Some(memory_start), false) = (chip, start, places.is_empty()) else {
            continue;
        };
        let Some(door) = machine.open_chip(adapter.member) else {
            continue;
        };
        let reaches = |place: &ControllerMemory| machine.reaches_chip(place.socket, door);
        let places: Vec<ControllerMemory> = places.into_iter().filter(reaches).collect();
        for place in &places {
            used.take(place);
        }
        let counters = machine.sim.component::<Chip>(chip).map(Chip::counters);
        let counters = counters.unwrap_or_default();
        engines.push(Engine {
            chip,
            header: door.registers + DmaKind::Pipelined.header(),
            memory_start,
            places,
            targets: adapter.targets.iter().map(|(range, _)| *range).collect(),
            from_bytes: machine.dma_from_bytes(),
            kept: counters.kept,
            writes_before: counters.dma_writes,
            queue: VecDeque::new(),
        });
    }
    engines
}

/// Where the memory ends that the controllers of each socket's node have, behind its segments.
#[derive(Default)]
struct Used(BTreeMap<usize, u64>);

impl Used {
    /// Table and data of the PEs of a socket; `None` if it has none, or no room for them.
    fn place(
        &self,
        machine: &Machine,
        settings: &Settings,
        socket: usize,
    ) -> Option<ControllerMemory> {
        let placed = settings.sockets.iter().enumerate();
        let pes = placed.filter(|(_, at)| **at == socket);
        let pes: Vec<usize> = pes.map(|(pe, _)| pe).collect();
        let at = machine.sockets().get(socket)?;
        let memory = machine.plan().processor(at.id)?.memory;
        let (start, bytes) = (memory.start.0, memory.bytes);
        let count = pes.len() as u64;
        let segments = settings
            .offset_bytes
            .saturating_add(settings.pitch_bytes().saturating_mul(count));
        let begin = self.0.get(&socket).copied().unwrap_or(segments);
        let first = begin
            .next_multiple_of(TABLE_BYTES)
            .saturating_add(TABLE_BYTES);
        let most = bytes.saturating_sub(first).checked_div(count)?;
        let source_bytes = most.min(CHAIN_BYTES_MAX) / TABLE_BYTES * TABLE_BYTES;
        (source_bytes > 0).then_some(ControllerMemory {
            socket,
            component: at.component,
            memory_start: start,
            table: start + first - TABLE_BYTES,
            source: start + first,
            source_bytes,
            pes,
        })
    }

    /// The next controller of the node begins behind this.
    fn take(&mut self, place: &ControllerMemory) {
        let end = place.source + place.source_bytes * place.pes.len() as u64;
        self.0.insert(place.socket, end - place.memory_start);
    }
}

impl Engine {
    /// What a PE of its node knows of it.
    pub(super) fn way(&self, pe: usize) -> Option<DmaWay> {
        let place = self.place_of(pe)?;
        Some(DmaWay {
            targets: self.targets.clone(),
            from_bytes: self.from_bytes,
            most_bytes: place.source_bytes,
        })
    }

    /// The PEs that use it.
    pub(super) fn pes(&self) -> Vec<usize> {
        let places = self.places.iter();
        places.flat_map(|place| place.pes.iter().copied()).collect()
    }

    fn place_of(&self, pe: usize) -> Option<&ControllerMemory> {
        let mut places = self.places.iter();
        places.find(|place| place.pes.contains(&pe))
    }

    /// Whether a PE uses it.
    pub(super) fn serves(&self, pe: usize) -> bool {
        self.place_of(pe).is_some()
    }

    /// Whether a put to this address leaves by it.
    pub(super) fn leads_to(&self, address: u64) -> bool {
        let mut targets = self.targets.iter();
        targets.any(|range| range.contains(GlobalAddress(address)))
    }

    /// Whether its data and tables are in the memory of this component.
    pub(super) fn is_at(&self, component: ComponentId) -> bool {
        self.places.iter().any(|place| place.component == component)
    }

    /// Writes of its controller.
    pub(super) fn sent(&self, sim: &Fabric) -> Sent {
        let chip = sim.component::<Chip>(self.chip);
        let writes = chip.map_or(0, |chip| chip.counters().dma_writes);
        Sent {
            component: self.chip.index(),
            amount: writes - self.writes_before,
            last: packet_number(self.chip, writes),
        }
    }

    /// The number of the store that the last event has brought to the chip, if it was one.
    pub(super) fn taken(&mut self, sim: &Fabric) -> Option<u64> {
        let counters = sim.component::<Chip>(self.chip)?.counters();
        let before = std::mem::replace(&mut self.kept, counters.kept);
        (counters.kept > before).then_some(counters.last_kept)
    }

    /// Told of the end of each table in the memory of a socket.
    pub(super) fn observer(
        &self,
        (number, socket): (usize, usize),
        board: &SharedBoard,
        config: &OpteronConfig,
    ) -> Option<EndObserver> {
        let mut places = self.places.iter();
        let place = places.find(|place| place.socket == socket)?;
        Some(EndObserver {
            board: board.clone(),
            engine: number,
            address: place.table + EPLAST,
            looks: Looks::new(config),
        })
    }

    /// A transfer waits until the controller is free.
    pub(super) fn wait(&mut self, pe: usize, address: u64, data: Vec<u8>) {
        self.queue.push_back((pe, address, data));
    }

    /// The transfer that has waited longest.
    pub(super) fn next(&mut self) -> Option<(usize, u64, Vec<u8>)> {
        self.queue.pop_front()
    }

    /// Lays out data and table of a transfer in the memory of the PE's socket; the store that starts it.
    pub(super) fn lay_out(&self, sim: &mut Fabric, pe: usize, address: u64, data: &[u8]) -> Op {
        let (mut table_at, mut list) = (0, Vec::new());
        if let Some(place) = self.place_of(pe) {
            let mut pes = place.pes.iter();
            let of = pes.position(|of| *of == pe).unwrap_or(0) as u64;
            let source = place.source + of * place.source_bytes;
            for (offset, part) in (0..).zip(data.chunks(LENGTH_BYTES_MAX as usize)) {
                let offset = offset * LENGTH_BYTES_MAX;
                list.push(Descriptor {
                    dwords: (part.len() / 4) as u16,
                    local: source - self.memory_start + offset,
                    address: address + offset,
                });
            }
            table_at = place.table;
            if let Some(socket) = sim.component_mut::<Opteron>(place.component) {
                socket.memory.write(source, data);
                socket.memory.write(table_at, &table(&list, true));
            }
        }
        let doorbell = doorbell(table_at, list.len() as u32, CONTROL_EPLAST);
        Op::Store {
            address: self.header,
            data: doorbell.to_vec(),
        }
    }

    /// Whether the transfer of a PE that has just ended is done.
    pub(super) fn check(&self, sim: &Fabric, pe: usize) -> Result<(), WireError> {
        let chip = sim.component::<Chip>(self.chip);
        let status = chip.map(Chip::dma_status).unwrap_or_default();
        match status {
            DmaStatus::Done => Ok(()),
            _ => Err(WireError::Dma {
                pe,
                chip: sim.name(self.chip).unwrap_or_default().to_owned(),
                status,
            }),
        }
    }
}

/// Tells when a controller has written the end of its table.
pub(super) struct EndObserver {
    board: SharedBoard,
    engine: usize,
    address: u64,
    looks: Looks,
}

impl WriteObserver for EndObserver {
    fn wrote(&mut self, now: Ps, packet: &Packet) {
        let end = packet.address.saturating_add(packet.data.len() as u64);
        if !(packet.address..end).contains(&self.address) {
            return;
        }
        let board = &mut *self.board.lock();
        let Some(engine) = board.engines.get_mut(self.engine) else {
            return;
        };
        let Some(pe) = engine.at_work.take() else {
            return;
        };
        engine.ended = Some(pe);
        let Some(entry) = board.pes.get_mut(pe) else {
            return;
        };
        entry.is_moved = true;
        if let Request::Transfer { since } = entry.request {
            board.wake(pe, self.looks.seen_at(now, since));
        }
    }
}

/// The controller as a PE knows it.
#[derive(Debug)]
pub(super) struct DmaWay {
    targets: Vec<AddressRange>,
    from_bytes: u64,
    /// Most bytes of a transfer.
    most_bytes: u64,
}

impl DmaWay {
    /// The part of a put that goes by the controller.
    pub(super) fn part(&self, address: u64, len: usize) -> Option<Range<usize>> {
        let mut targets = self.targets.iter();
        targets.find(|range| range.contains(GlobalAddress(address)))?;
        let part = dma_part(self.from_bytes, address, len as u64);
        (!part.is_empty()).then_some(part.start as usize..part.end as usize)
    }
}

impl VirtualWire {
    /// A put of which `part` goes by the controller, in as many transfers as it takes.
    pub(super) fn put_by_dma(
        &self,
        way: &DmaWay,
        (pe, address): (PeId, u64),
        src: &[u8],
        part: Range<usize>,
    ) -> Result<(), TransportError> {
        let (before, after) = (src.get(..part.start), src.get(part.end..));
        if let Some(head) = before.filter(|head| !head.is_empty()) {
            self.store_at(pe, address, head.to_vec())?;
        }
        let mut at = address.saturating_add(part.start as u64);
        let tail_at = address.saturating_add(part.end as u64);
        let middle = src.get(part).unwrap_or_default();
        for data in middle.chunks(way.most_bytes as usize) {
            self.own(|own| own.is_moved = false)?;
            let data = data.to_vec();
            let bytes = data.len() as u64;
            if self.request(Request::Launch { address: at, data })? == Outcome::Aborted {
                return Err(TransportError::misused(
                    "starting a DMA controller",
                    "registers of a chip that its socket can reach",
                    "an address that no range claims",
                ));
            }
            let since = self.now();
            self.request(Request::Transfer { since })?;
            at = at.saturating_add(bytes);
        }
        match after.filter(|tail| !tail.is_empty()) {
            Some(tail) => self.store_at(pe, tail_at, tail.to_vec()),
            None => Ok(()),
        }
    }
}
