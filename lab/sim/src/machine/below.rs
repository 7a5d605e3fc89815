//! HTX boards and PEACH2 chips that join islands of processors, and their cables.

use std::cell::RefCell;
use std::rc::Rc;

use hostwire_packet::pcie::RoutingId;
use hostwire_plan::AdapterKind;
use hostwire_plan::registers::peach2::NORTH;

use crate::engine::ComponentId;
use crate::models::ht::Buffers;
use crate::models::ht::carry::Notes;
use crate::models::ht::nic::{Nic, NicConfig};
use crate::models::ht::opteron::registers::MemoryType;
use crate::models::ht::opteron::{Mapping, Opteron, OpteronConfig};
use crate::models::link::End;
use crate::models::pcie::bridge::Bridge;
use crate::models::pcie::peach2::chip::{Chip, ChipConfig, DMA_FROM_BYTES};
use crate::models::pcie::{Link, LinkConfig};

use super::adapters::small;
use super::error::BuildError;
use super::htx::{BoardNetwork, Boards, board_of, regions_at};
use super::{Machine, PcieWire};

/// The parameters of HTX boards and PEACH2 chips of a machine, except those in its plan.
#[derive(Clone, Debug)]
pub struct Below {
    /// Boards and their switches.
    pub boards: Boards,
    /// Chips.
    pub chip: ChipConfig,
    /// PCI Express links. Damage is that of cables between chips only; the seeds of cable `n` are
    /// `2 n` larger, so that cables differ.
    pub chip_link: LinkConfig,
    /// Puts of programs over the chip of their socket go by its controller from so many bytes on.
    pub dma_from_bytes: u64,
}

impl Default for Below {
    fn default() -> Self {
        Below {
            boards: Boards::default(),
            chip: ChipConfig::default(),
            chip_link: LinkConfig::default(),
            dma_from_bytes: DMA_FROM_BYTES,
        }
    }
}

/// The registers of a chip in the address space of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipDoor {
    /// The socket that the chip's bridge is plugged into.
    pub socket: usize,
    /// The first address.
    pub registers: u64,
}

/// Ranges of a northbridge count in so many bytes.
const RANGE_BYTES: u64 = 64 << 10;
/// Configuration function and register of the first range, and from one to the next.
const RANGE_FUNCTION: u8 = 1;
const RANGE_BASE: u16 = 0x80;
const RANGE_STRIDE: u16 = 8;
const RANGES: u8 = 8;
const READ_WRITE: u32 = 0b11;
/// What lies from here to 1 TiB is HyperTransport's own.
const RESERVED: u64 = 0xfd_0000_0000;

/// Chips name themselves in TLPs after all bridges.
const FIRST_CHIP: u16 = 1 << 8;

impl Machine {
    /// Adds the boards of the plan as windows, their switches and cables.
    pub(super) fn add_boards(
        &mut self,
        config: &OpteronConfig,
        usual: &Boards,
    ) -> Result<(), BuildError> {
        let Some(plan) = self.plan.boards().cloned() else {
            return Ok(());
        };
        let notes = Rc::new(RefCell::new(Notes::default()));
        let adapters = self.adapters_of(AdapterKind::Htx);
        let mut nics = vec![None; adapters.len()];
        for adapter in adapters {
            let port = adapter.port;
            let missing = BuildError::Peer { port };
            let board = board_of(&plan, small(adapter.member), usual).ok_or(missing.clone())?;
            let mut board = board;
            for (region, planned) in board
                .regions
                .iter_mut()
                .zip(regions_at(&plan, adapter.member))
            {
                region.target += self.memory_above(planned.of).ok_or(missing.clone())?;
            }
            let trained = self.plan.processor(port.processor);
            let mut links = trained.into_iter().flat_map(|processor| &processor.links);
            let mhz = links
                .find(|link| link.link == port.link)
                .and_then(|link| link.frequency_mhz);
            let board = NicConfig {
                link_mhz: mhz.map_or(board.link_mhz, u32::from),
                targets: self.targets_of(&adapter),
                ..board
            };
            let socket = self.socket_name(port)?;
            let name = adapter.kind.name(adapter.index);
            let core = (board.core_buffers(), board.core_places);
            let nic = Nic::new(board).with_notes(&notes);
            let nic = self.sim.add(format!("{socket}.{name}"), nic);
            self.adapters.push(nic);
            let host = (config.port_depth, core.0, core.1);
            let here = self.add_adapter_wire((port, nic), &name, host)?;
            if let Some(model) = self.sim.component_mut::<Nic>(nic) {
                model.attach(here);
            }
            nics[adapter.member] = Some(nic);
        }
        let nics: Vec<ComponentId> = nics.into_iter().flatten().collect();
        self.boards = BoardNetwork::join(&mut self.sim, &plan, nics, usual);
        Ok(())
    }

    /// Adds the bridges and chips of the plan and the cables between them. The chips route as the plan
    /// says; drivers have been loaded.
    pub(super) fn add_chips(
        &mut self,
        config: &OpteronConfig,
        below: &Below,
    ) -> Result<(), BuildError> {
        let adapters = self.adapters_of(AdapterKind::Peach2);
        let mut chips = vec![None; adapters.len()];
        for adapter in &adapters {
            let (port, member) = (adapter.port, small(adapter.member));
            let noun = match adapter.index {
                0 => "bridge".to_owned(),
                index => format!("bridge{index}"),
            };
            let name = format!("{}.{noun}", self.socket_name(port)?);
            let bridge = Bridge::new(RoutingId(member), self.plan.bridge());
            let bridge = self.sim.add(name.clone(), bridge);
            self.adapters.push(bridge);
            let host = (config.port_depth, Buffers::FAM10H, config.port_depth);
            let here = self.add_adapter_wire((port, bridge), &noun, host)?;
            let mut chip = Chip::new(RoutingId(FIRST_CHIP | member), below.chip.clone());
            let plan = &self.plan.chips()[adapter.member];
            chip.configure(&plan.registers);
            chip.pass();
            let chip_name = plan.name.clone();
            let chip = self.sim.add(chip_name.clone(), chip);
            chips[adapter.member] = Some(chip);
            let ends = [name, format!("{chip_name}.north")];
            let link = below.chip_link.undamaged();
            let link = self.add_pcie(ends, [(bridge, 0), (chip, NORTH)], link);
            if let Some(model) = self.sim.component_mut::<Bridge>(bridge) {
                model.attach(here);
                model.attach_below(link, End::A);
            }
        }
        self.chips = chips.into_iter().flatten().collect();
        self.dma_from_bytes = below.dma_from_bytes;
        for (number, ends) in self.plan.chip_cables().to_vec().into_iter().enumerate() {
            let names = ends.map(|end| self.plan.chip_port_name(end));
            let ends = ends.map(|(chip, port)| (self.chips[chip], port));
            self.add_pcie(names, ends, below.chip_link.of_cable(number));
        }
        Ok(())
    }

    /// Where the memory of the processor above a board begins.
    fn memory_above(&self, board: usize) -> Option<u64> {
        let mut adapters = self.plan.adapters().iter();
        let owner =
            adapters.find(|adapter| (adapter.kind, adapter.member) == (AdapterKind::Htx, board))?;
        Some(self.plan.processor(owner.port.processor)?.memory.start.0)
    }

    /// The driver of a chip makes its registers reachable for the sockets of its node: a free range of each
    /// northbridge, behind the last address of the plan and the chips before this one of the node, which it maps
    /// uncached. A second call changes nothing. `None` if all ranges of the chip's socket are in use, or if there is no
    /// room below the addresses that HyperTransport keeps for itself; then nobody can start the DMA controller.
    pub fn open_chip(&mut self, member: usize) -> Option<ChipDoor> {
        let chip = *self.chips.get(member)?;
        let adapters = self.plan.adapters().iter();
        let mut adapters = adapters.filter(|adapter| adapter.kind == AdapterKind::Peach2);
        let adapter = adapters.find(|adapter| adapter.member == member)?;
        let (port, index) = (adapter.port, adapter.index as u64);
        let socket = self.find(port.processor)?;
        let memory = self.plan.node(port.processor.node)?.range.start.0;
        let end = self.plan.map().end().0;
        let first = end.checked_next_multiple_of(RANGE_BYTES)?;
        let first = first.checked_add(index.checked_mul(RANGE_BYTES)?)?;
        let last = first.checked_add(RANGE_BYTES - 1)?;
        if last >= RESERVED {
            return None;
        }
        let owner = self.socket(socket).registers.node_id();
        let link = u32::from(port.link.get());
        let destination = u32::from(owner) | (link & 3) << 4 | (link >> 2) << 6;
        if !open_range(self.socket_mut(socket), (first, last), destination) {
            return None;
        }
        let all = self.sockets.iter().enumerate();
        let beside =
            all.filter(|(at, beside)| *at != socket && beside.id.node == port.processor.node);
        let beside: Vec<usize> = beside.map(|(at, _)| at).collect();
        for at in beside {
            // One without a free range leaves long puts to its cores.
            open_range(self.socket_mut(at), (first, last), destination);
        }
        if let Some(chip) = self.sim.component_mut::<Chip>(chip) {
            chip.place(first, RANGE_BYTES, [0, 0, memory]);
        }
        Some(ChipDoor {
            socket,
            registers: first,
        })
    }

    /// Whether the cores of a socket reach the registers of a chip.
    pub fn reaches_chip(&self, socket: usize, door: ChipDoor) -> bool {
        is_open(self.socket(socket), door.registers)
    }

    fn add_pcie(
        &mut self,
        names: [String; 2],
        ends: [(ComponentId, u8); 2],
        config: LinkConfig,
    ) -> ComponentId {
        let link = self.sim.add(names.join(" - "), Link::new(config));
        for ((device, port), end) in ends.into_iter().zip([End::A, End::B]) {
            if let Some(model) = self.sim.component_mut::<Link>(link) {
                model.attach(end, device, port);
            }
            if let Some(chip) = self.sim.component_mut::<Chip>(device) {
                chip.attach(port, link, end);
            }
        }
        let ends = names;
        self.pcie.push(PcieWire { link, ends });
        link
    }
}

/// Whether a range of a socket begins here.
fn is_open(socket: &Opteron, first: u64) -> bool {
    (0..RANGES).any(|index| {
        let range = socket.registers.mmio_range(index);
        range.is_some_and(|range| range.base == first)
    })
}

/// Sets a free range of a socket, uncached, unless it is set. False if there is none.
fn open_range(socket: &mut Opteron, (first, last): (u64, u64), destination: u32) -> bool {
    if is_open(socket, first) {
        return true;
    }
    let registers = &mut socket.registers;
    let free = (0..RANGES).find(|index| registers.mmio_range(*index).is_none());
    let (Some(free), false) = (free, registers.core_sees_dram(first)) else {
        return false;
    };
    let at = RANGE_BASE + RANGE_STRIDE * u16::from(free);
    // Address bits 39:16 in bits 31:8.
    let bits = |address: u64| (address >> 8) as u32 & !0xff;
    registers.write(RANGE_FUNCTION, at + 4, bits(last) | destination);
    registers.write(RANGE_FUNCTION, at, bits(first) | READ_WRITE);
    socket.mappings.push(Mapping {
        first,
        last,
        page_type: Some(MemoryType::Uncached),
    });
    true
}
