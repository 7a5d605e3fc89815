//! The board of a host as what it is to be: the model, or RTL.

use crate::engine::{ComponentId, Ps};
use crate::models::Fabric;
use crate::models::ht::Link;
use crate::models::ht::nic::NicConfig;
use crate::models::ht::opteron::OpteronConfig;
use crate::models::link::{End, LinkCounters};

use super::error::BoardError;
use super::host::{HtxHost, Purpose, Setup, WINDOW_BYTES, add_host_with};
use super::rtl::{PHASES, add_rtl, counters_rtl, join_rtl, slot_rtl};
use super::{BoardKind, join};

/// Memory behind the window of a board: RTL has less.
pub(crate) fn window_bytes(device: BoardKind) -> u64 {
    match device {
        BoardKind::Model => WINDOW_BYTES,
        BoardKind::RtlCore => 1 << 20,
        BoardKind::Rtl => 1 << 14,
    }
}

/// How many runs a device needs for a mean: one for each place that words on the link can have in a clock of the core.
pub(crate) fn phases(device: BoardKind) -> u8 {
    match device {
        BoardKind::Model => 1,
        BoardKind::RtlCore | BoardKind::Rtl => PHASES,
    }
}

/// How much later a run begins, so that the host's first store has each place in a word of the link.
pub(crate) fn offset(setup: &Setup, phase: u8) -> Ps {
    // 5 and 16 have no common divisor: neither phase follows from the other.
    let eighths = u64::from(phase) * 5 % u64::from(PHASES);
    Ps(eighths * 125_000 / u64::from(setup.link_mhz.max(1)))
}

/// A host with a board. `phase` is below [`phases`].
///
/// # Errors
/// [`BoardError`] if the design was not built, or does not begin.
pub(crate) fn add(
    sim: &mut Fabric,
    name: &str,
    (setup, phase): (&Setup, u8),
    (purpose, nic): (Purpose, NicConfig),
    processor: OpteronConfig,
) -> Result<HtxHost, BoardError> {
    match setup.device {
        BoardKind::Model => Ok(add_host_with(sim, name, setup, nic, processor)),
        BoardKind::RtlCore | BoardKind::Rtl => {
            add_rtl(sim, name, (setup, phase), (purpose, nic), processor)
        }
    }
}

/// A cable between ports of two boards of this kind, or of a board to itself; of the model also to a switch.
pub(crate) fn cable(
    sim: &mut Fabric,
    kind: BoardKind,
    name: String,
    ends: [(ComponentId, u8); 2],
    propagation: Ps,
) {
    match kind {
        // They have one port.
        BoardKind::Rtl => join_rtl(sim, ends.map(|(board, _)| board), propagation),
        BoardKind::Model | BoardKind::RtlCore => _ = join(sim, name, ends, propagation),
    }
}

/// The counters of the link between a host and its board; the host is at end A.
pub(crate) fn counters(sim: &Fabric, link: ComponentId, end: End) -> Option<LinkCounters> {
    match sim.component::<Link>(link) {
        Some(link) => Some(link.counters(end)),
        None => counters_rtl(sim, link, end),
    }
}

/// From the pins of a host to those of its board.
pub(crate) fn slot(sim: &Fabric, link: ComponentId) -> Option<Ps> {
    let model = sim.component::<Link>(link);
    let slot = model.map(|link| link.config().propagation);
    slot.or_else(|| slot_rtl(sim, link))
}
