//! Long puts by the DMA controllers of PEACH2 chips below sockets.
//!
//! The middle part of a long put over the chip of the PE's socket goes by its pipelined controller: the
//! driver lays out data and table in the memory of the socket, the core writes the doorbell, and then
//! loads the end of the table (EPLAST) until the controller has written it. PEs of a socket wait for
//! the controller in turn. So everything that a PE has stored before leaves the chip before what it stores
//! next, by whichever way.

use std::collections::VecDeque;
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

/// A chip below a socket that runs PEs.
pub(super) struct Engine {
    pub(super) chip: ComponentId,
    /// Its socket.
    pub(super) component: ComponentId,
    /// Where the doorbell is written.
    header: u64,
    /// Where the memory of the socket begins.
    memory_start: u64,
    table: u64,
    /// Where the first PE's data are laid out, and room for them.
    source: u64,
    source_bytes: u64,
    /// The PEs of the socket.
    pub(super) pes: Vec<usize>,
    targets: Vec<AddressRange>,
    from_bytes: u64,
    /// Writes that had ended in the chip, and writes of its controller, before the job.
    kept: u64,
    writes_before: u64,
    /// Transfers that wait.
    queue: VecDeque<(usize, u64, Vec<u8>)>,
}

/// Those of the chips whose sockets run PEs, if they can be reached and there is memory for what they
/// move. Its driver opens each.
pub(super) fn engines(machine: &mut Machine, settings: &Settings) -> Vec<Engine> {
    let adapters = machine.plan().adapters().iter();
    let chips = adapters.filter(|adapter| adapter.kind == AdapterKind::Peach2);
    let chips: Vec<_> = chips.cloned().collect();
    let mut engines = Vec::new();
    for adapter in chips {
        let Some(socket) = machine.find(adapter.port.processor) else {
            continue;
        };
        let placed = settings.sockets.iter().enumerate();
        let pes = placed.filter(|(_, at)| **at == socket);
        let pes: Vec<usize> = pes.map(|(pe, _)| pe).collect();
        let (Some(memory), false) = (
            machine.plan().processor(adapter.port.processor),
            pes.is_empty(),
        ) else {
            continue;
        };
        let (start, bytes) = (memory.memory.start.0, memory.memory.bytes);
        let count = pes.len() as u64;
        let pitch_bytes = settings.pitch_bytes();
        let segments = settings
            .offset_bytes
            .saturating_add(pitch_bytes.saturating_mul(count));
        let first = segments
            .next_multiple_of(TABLE_BYTES)
            .saturating_add(TABLE_BYTES);
        let most = bytes.saturating_sub(first) / count;
        let source_bytes = most.min(CHAIN_BYTES_MAX) / TABLE_BYTES * TABLE_BYTES;
        let chip = machine.chips().get(adapter.member).copied();
        let (Some(chip), false) = (chip, source_bytes == 0) else {
            continue;
        };
        let Some(door) = machine.open_chip(adapter.member) else {
            continue;
        };
        let counters = machine.sim.component::<Chip>(chip).map(Chip::counters);
        let counters = counters.unwrap_or_default();
        engines.push(Engine {
            chip,
            component: machine.sockets()[socket].component,
            header: door.registers + DmaKind::Pipelined.header(),
            memory_start: start,
            table: start + first - TABLE_BYTES,
            source: start + first,
            source_bytes,
            pes,
            targets: adapter.targets.iter().map(|(range, _)| *range).collect(),
            from_bytes: machine.dma_from_bytes(),
            kept: counters.kept,
            writes_before: counters.dma_writes,
            queue: VecDeque::new(),
        });
    }
    engines
}

impl Engine {
    /// What a PE of its socket knows of it.
    pub(super) fn way(&self) -> DmaWay {
        DmaWay {
            targets: self.targets.clone(),
            from_bytes: self.from_bytes,
            most_bytes: self.source_bytes,
        }
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

    /// Told of the end of each table.
    pub(super) fn observer(
        &self,
        number: usize,
        board: &SharedBoard,
        config: &OpteronConfig,
    ) -> EndObserver {
        EndObserver {
            board: board.clone(),
            engine: number,
            address: self.table + EPLAST,
            looks: Looks::new(config),
        }
    }

    /// A transfer waits until the controller is free.
    pub(super) fn wait(&mut self, pe: usize, address: u64, data: Vec<u8>) {
        self.queue.push_back((pe, address, data));
    }

    /// The transfer that has waited longest.
    pub(super) fn next(&mut self) -> Option<(usize, u64, Vec<u8>)> {
        self.queue.pop_front()
    }

    /// Lays out data and table of a transfer; the store that starts it.
    pub(super) fn lay_out(&self, sim: &mut Fabric, pe: usize, address: u64, data: &[u8]) -> Op {
        let mut pes = self.pes.iter();
        let place = pes.position(|of| *of == pe).unwrap_or(0) as u64;
        let source = self.source + place * self.source_bytes;
        let mut list = Vec::new();
        for (offset, part) in (0..).zip(data.chunks(LENGTH_BYTES_MAX as usize)) {
            let offset = offset * LENGTH_BYTES_MAX;
            list.push(Descriptor {
                dwords: (part.len() / 4) as u16,
                local: source - self.memory_start + offset,
                address: address + offset,
            });
        }
        if let Some(socket) = sim.component_mut::<Opteron>(self.component) {
            socket.memory.write(source, data);
            socket.memory.write(self.table, &table(&list, true));
        }
        let doorbell = doorbell(self.table, list.len() as u32, CONTROL_EPLAST);
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
