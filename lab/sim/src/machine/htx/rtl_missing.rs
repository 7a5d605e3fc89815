//! In the place of hosts whose board is RTL, where there are none.

use crate::engine::{Component, ComponentId, Ps};
use crate::models::ht::nic::NicConfig;
use crate::models::ht::opteron::OpteronConfig;
use crate::models::link::{End, LinkCounters};
use crate::models::{DeviceEvent, Fabric};

use super::BoardKind;
use super::error::BoardError;
use super::host::{HtxHost, Purpose, Setup};

pub(super) const PHASES: u8 = 16;

pub(crate) fn find(_: BoardKind, _: u8) -> Result<(), BoardError> {
    Err(needs_linux())
}

pub(crate) fn add_rtl(
    _: &mut Fabric,
    _: &str,
    _: (&Setup, u8),
    _: (Purpose, NicConfig),
    _: OpteronConfig,
) -> Result<HtxHost, BoardError> {
    Err(needs_linux())
}

fn needs_linux() -> BoardError {
    BoardError::NotBuilt("boards that are RTL need Linux".to_owned())
}

pub(crate) fn join_rtl(_: &mut Fabric, _: [ComponentId; 2], _: Ps) {}

pub(crate) fn counters_rtl(_: &Fabric, _: ComponentId, _: End) -> Option<LinkCounters> {
    None
}

pub(crate) fn core_times(_: &Fabric, _: ComponentId) -> Option<(Ps, Ps)> {
    None
}

pub(crate) fn rtl_core_alone<C: Component<DeviceEvent>>(
    _: &mut Fabric,
    _: &Setup,
    _: impl Fn(ComponentId, End) -> C,
) -> Result<ComponentId, BoardError> {
    Err(needs_linux())
}

pub(crate) fn first_answer(_: &Fabric, _: ComponentId) -> Option<Ps> {
    None
}

pub(crate) fn slot_rtl(_: &Fabric, _: ComponentId) -> Option<Ps> {
    None
}

pub(crate) fn outcome(_: &Fabric) -> Result<(), BoardError> {
    Ok(())
}
