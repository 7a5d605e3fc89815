//! A host with an HTX board: its hardware, its registers as a BIOS leaves them.

use hostwire_plan::htx::{BoardKind, REGION_BASE};

use crate::engine::ComponentId;
use crate::models::Fabric;
use crate::models::ht::Port;
use crate::models::ht::nic::{Nic, NicConfig};
use crate::models::ht::opteron::registers::{
    DRAM_BASE, INIT_CONTROL, LINK_CONNECTED, LINK_NONCOHERENT, LINK_READY, LINK_TYPE, MMIO_BASE,
    MemoryType, msr,
};
use crate::models::ht::opteron::{Mapping, Opteron, OpteronConfig};
use crate::models::ht::{Buffers, Link, LinkConfig, LinkMode};
use crate::models::link::End;

/// Window of the example design: writes are counted, reads are answered.
pub const WINDOW: u64 = 0x80_0000_0000;
/// Its size.
pub const WINDOW_BYTES: u64 = 1 << 30;
/// A destination's part of the send window.
pub const DESTINATION_BYTES: u64 = 1 << 12;
/// Granularity of the northbridge's ranges.
const RANGE_BYTES: u64 = 1 << 16;

/// What the host does with the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Reads and writes of its window.
    Window,
    /// Messages.
    Messages,
}

/// Widths and clocks of a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// What the board is.
    pub device: BoardKind,
    /// Link width.
    pub width_bits: u8,
    /// Link clock.
    pub link_mhz: u32,
    /// Clock of the user logic.
    pub user_mhz: u32,
}

impl Default for Setup {
    /// The paper's: 8 bit, 200 MHz, 100 MHz.
    fn default() -> Self {
        Setup {
            device: BoardKind::Model,
            width_bits: 8,
            link_mhz: 200,
            user_mhz: 100,
        }
    }
}

/// An Opteron 246 with an HTX board in its slot.
pub struct HtxHost {
    /// The processor.
    pub host: ComponentId,
    /// The link between them; the processor is at end A.
    pub link: ComponentId,
    /// The board.
    pub nic: ComponentId,
}

/// Builds a host with a board and sets the host's registers as its BIOS does.
pub fn add_host(sim: &mut Fabric, name: &str, setup: &Setup, nic: NicConfig) -> HtxHost {
    add_host_with(sim, name, setup, nic, OpteronConfig::opteron_246())
}

/// As [`add_host`], with another processor.
pub fn add_host_with(
    sim: &mut Fabric,
    name: &str,
    setup: &Setup,
    nic: NicConfig,
    config: OpteronConfig,
) -> HtxHost {
    let depth = config.port_depth;
    let config_link = LinkConfig {
        propagation: nic.slot,
        buffers: [Buffers::FAM10H, nic.core_buffers()],
        nop_credits: nic.nop_credits,
        ..LinkConfig::default()
    };
    let link = sim.add(format!("{name}.htx"), Link::new(config_link));
    let nic = NicConfig {
        link_mhz: setup.link_mhz,
        user_mhz: setup.user_mhz,
        ..nic
    };
    let mut opteron = processor(config, &nic);
    opteron.attach(0, Port::new(link, End::A, depth));
    let core_places = nic.core_places;
    let mut board = Nic::new(nic);
    board.attach(Port::new(link, End::B, core_places));
    let host = sim.add(format!("{name}.cpu"), opteron);
    let nic = sim.add(format!("{name}.nic"), board);
    let now = sim.now();
    if let Some(model) = sim.component_mut::<Link>(link) {
        model.attach(End::A, host, 0);
        model.attach(End::B, nic, 0);
        let (after, ready) =
            model.train(now, LinkMode::symmetric(setup.width_bits, setup.link_mhz));
        // Not in the past, and the link exists.
        let _ = sim.inject(now + after, link, ready);
    }
    HtxHost { host, link, nic }
}

/// A processor whose board is at link 0.
pub fn processor(config: OpteronConfig, nic: &NicConfig) -> Opteron {
    let regions = nic.regions.iter().map(|region| region.base + region.bytes);
    let regions = regions.max().map(|end| (REGION_BASE, end - REGION_BASE));
    let send_bytes = nic.routes.len() as u64 * DESTINATION_BYTES;
    let send_bytes = send_bytes.next_multiple_of(RANGE_BYTES);
    let windows = [
        Some((WINDOW, WINDOW_BYTES)),
        Some((nic.send_base, send_bytes)),
        regions,
    ];
    let mut opteron = Opteron::new(config, true);
    configure(&mut opteron, windows.into_iter().flatten().collect());
    opteron
}

/// Registers: DRAM from 0 on, the board's windows as MMIO behind link 0,
/// write-combining; the ring in memory cached, since device writes invalidate.
fn configure(opteron: &mut Opteron, windows: Vec<(u64, u64)>) {
    let memory_bytes = opteron.config().memory_bytes;
    let registers = &mut opteron.registers;
    registers.write(0, INIT_CONTROL, 0);
    registers.write_link(0, LINK_TYPE, LINK_CONNECTED | LINK_READY | LINK_NONCOHERENT);
    registers.write(
        1,
        DRAM_BASE + 4,
        ((memory_bytes - 1) >> 8) as u32 & 0xffff_0000,
    );
    registers.write(1, DRAM_BASE, 0b11);
    for (range, &(base, bytes)) in (0..).zip(&windows) {
        let last = base + bytes - 1;
        registers.write(
            1,
            MMIO_BASE + 8 * range + 4,
            (last >> 8) as u32 & 0xffff_ff00,
        );
        registers.write(
            1,
            MMIO_BASE + 8 * range,
            (base >> 8) as u32 & 0xffff_ff00 | 0b11,
        );
    }
    registers.write_msr(msr::TOP_MEM, memory_bytes);
    registers.write_msr(msr::MTRR_DEFAULT, 1 << 11);
    opteron.memory_ready = true;
    let mapping = |first, bytes: u64, page_type| Mapping {
        first,
        last: first + bytes - 1,
        page_type: Some(page_type),
    };
    let combining = |(base, bytes)| mapping(base, bytes, MemoryType::WriteCombining);
    opteron.mappings = vec![mapping(0, memory_bytes, MemoryType::Uncached)];
    opteron.mappings.extend(windows.into_iter().map(combining));
}
