//! Hosts whose board is RTL.

use hostwire_rtl_harness::model;

use crate::engine::{Component, ComponentId, Ps};
use crate::models::ht::nic::{Nic, NicConfig};
use crate::models::ht::opteron::OpteronConfig;
use crate::models::ht::rtl::{Design, RtlBoard, RtlConfig, RtlError};
use crate::models::ht::{Buffers, Port};
use crate::models::link::{End, LinkCounters};
use crate::models::{DeviceEvent, Fabric};

use super::BoardKind;
use super::error::BoardError;
use super::host::{DESTINATION_BYTES, HtxHost, Purpose, Setup, WINDOW, processor};

/// See [`super::device::phases`].
pub(super) const PHASES: u8 = RtlConfig::PHASES;

/// An error if the design of boards that carry messages was not built.
pub(crate) fn find(device: BoardKind, width_bits: u8) -> Result<(), BoardError> {
    let library = design(device, Purpose::Messages).library(width_bits);
    match model::find(&library) {
        Ok(_) => Ok(()),
        Err(error) => Err(BoardError::NotBuilt(error.to_string())),
    }
}

fn design(device: BoardKind, purpose: Purpose) -> Design {
    match (device, purpose) {
        (BoardKind::Rtl, Purpose::Window) => Design::Example,
        (BoardKind::Rtl, Purpose::Messages) => Design::Message,
        _ => Design::Core,
    }
}

/// Base addresses, and registers that are written after them.
fn software(design: Design, purpose: Purpose, nic: &NicConfig) -> ([u64; 2], Vec<(u64, u32)>) {
    // One page: two would be more than the second base address has.
    let other = nic.send_base + u64::from(nic.id ^ 1) * DESTINATION_BYTES;
    match (design, purpose) {
        (Design::Message, _) => {
            let ring = nic.ring_base;
            let registers = [
                (0x08, nic.id.into()),
                (0x10, ring as u32),
                (0x14, (ring >> 32) as u32),
                (0x18, u32::try_from(nic.ring_slots).unwrap_or(u32::MAX)),
                (0x04, 1),
            ];
            let registers = registers.map(|(at, value)| (WINDOW + at, value));
            ([nic.send_base, WINDOW], registers.into())
        }
        (_, Purpose::Window) => ([WINDOW, other], Vec::new()),
        (_, Purpose::Messages) => ([nic.send_base, WINDOW], Vec::new()),
    }
}

/// The board alone, its link up and its registers written.
pub(crate) fn add_board(
    sim: &mut Fabric,
    name: &str,
    (setup, phase): (&Setup, u8),
    purpose: Purpose,
    nic: &NicConfig,
) -> Result<ComponentId, BoardError> {
    let failed = |error: &dyn std::fmt::Display| BoardError::Failed(error.to_string());
    if setup.user_mhz * 2 != setup.link_mhz {
        let (link, user) = (setup.link_mhz, setup.user_mhz);
        return Err(failed(&format_args!(
            "the logic of RTL has half the clock of the link, {} MHz, not {user}",
            link / 2
        )));
    }
    if ![8, 16].contains(&setup.width_bits) {
        let width = setup.width_bits;
        return Err(failed(&format_args!("RTL has 8 or 16 bit, not {width}")));
    }
    let design = design(setup.device, purpose);
    let (bars, registers) = software(design, purpose, nic);
    let board = RtlBoard::new(RtlConfig {
        design,
        width_bits: setup.width_bits,
        link_mhz: setup.link_mhz,
        slot: nic.slot,
        phase,
        bars,
        registers,
        host_buffers: Buffers::FAM10H,
        nop_credits: nic.nop_credits,
    });
    let board = board.map_err(|error| match error {
        RtlError::Library(model::Error::NotBuilt { .. }) => BoardError::NotBuilt(error.to_string()),
        error => failed(&error),
    })?;
    Ok(sim.add(format!("{name}.htx"), board))
}

/// See [`super::device::add`].
pub(crate) fn add_rtl(
    sim: &mut Fabric,
    name: &str,
    (setup, phase): (&Setup, u8),
    (purpose, nic): (Purpose, NicConfig),
    config: OpteronConfig,
) -> Result<HtxHost, BoardError> {
    let link = add_board(sim, name, (setup, phase), purpose, &nic)?;
    let mut opteron = processor(config.clone(), &nic);
    opteron.attach(0, Port::new(link, End::A, config.port_depth));
    let host = sim.add(format!("{name}.cpu"), opteron);
    let logic = (setup.device == BoardKind::RtlCore).then(|| {
        // The core's cycles are in the RTL.
        let nic = NicConfig {
            link_mhz: setup.link_mhz,
            user_mhz: setup.user_mhz,
            core_in_cycles: 0,
            core_out_cycles: 0,
            ..nic
        };
        let places = nic.core_places;
        let mut model = Nic::new(nic);
        model.attach(Port::new(link, End::B, places));
        sim.add(format!("{name}.nic"), model)
    });
    if let Some(board) = sim.component_mut::<RtlBoard>(link) {
        board.attach(host, 0);
        logic.into_iter().for_each(|nic| board.attach_logic(nic));
    }
    Ok(HtxHost {
        host,
        link,
        nic: logic.unwrap_or(link),
    })
}

/// See [`super::device::cable`].
pub(crate) fn join_rtl(sim: &mut Fabric, boards: [ComponentId; 2], propagation: Ps) {
    for (board, other) in [(boards[0], boards[1]), (boards[1], boards[0])] {
        if let Some(board) = sim.component_mut::<RtlBoard>(board) {
            board.connect(other, propagation);
        }
    }
}

/// See [`super::device::counters`].
pub(crate) fn counters_rtl(sim: &Fabric, link: ComponentId, end: End) -> Option<LinkCounters> {
    let board = sim.component::<RtlBoard>(link)?;
    Some(board.counters(end))
}

/// When the first packet of a board that is RTL began after the last one of its host.
pub(crate) fn first_answer(sim: &Fabric, link: ComponentId) -> Option<Ps> {
    sim.component::<RtlBoard>(link)?.first_answer()
}

/// From the pins of a host to those of its board.
pub(crate) fn slot_rtl(sim: &Fabric, link: ComponentId) -> Option<Ps> {
    Some(sim.component::<RtlBoard>(link)?.config().slot)
}

/// Times of the last packets through the core of a board, in and out.
pub(crate) fn core_times(sim: &Fabric, link: ComponentId) -> Option<(Ps, Ps)> {
    let times = sim.component::<RtlBoard>(link)?.times();
    Some((times.core_in, times.core_out))
}

/// A core with `device` at both ends: where the host is, and where the user's logic is.
pub(crate) fn rtl_core_alone<C: Component<DeviceEvent>>(
    sim: &mut Fabric,
    setup: &Setup,
    device: impl Fn(ComponentId, End) -> C,
) -> Result<ComponentId, BoardError> {
    let nic = NicConfig::htx_board(0);
    let link = add_board(sim, "board", (setup, 0), Purpose::Window, &nic)?;
    let [host, logic] = [End::A, End::B].map(|end| sim.add(format!("{end:?}"), device(link, end)));
    if let Some(board) = sim.component_mut::<RtlBoard>(link) {
        board.attach(host, 0);
        board.attach_logic(logic);
    }
    Ok(link)
}

/// An error if a board has done what it must not.
pub(crate) fn outcome(sim: &Fabric) -> Result<(), BoardError> {
    let boards = sim
        .ids()
        .filter_map(|id| Some((id, sim.component::<RtlBoard>(id)?)));
    for (id, board) in boards {
        let name = sim.name(id).unwrap_or("?");
        board
            .check()
            .map_err(|error| BoardError::Failed(format!("{name}: {error}")))?;
    }
    Ok(())
}
