//! In the place of hosts whose board is RTL, where there are none.

use crate::engine::{Component, ComponentId, Ps};
use crate::machine::htx::{HtxHost, Purpose, Setup};
use crate::models::ht::nic::NicConfig;
use crate::models::ht::opteron::OpteronConfig;
use crate::models::link::{End, LinkCounters};
use crate::models::{DeviceEvent, Fabric};

use super::ExperimentError;

pub(super) const PHASES: u8 = 16;

pub(super) fn add_rtl(
    _: &mut Fabric,
    _: &str,
    _: (&Setup, u8),
    _: (Purpose, NicConfig),
    _: OpteronConfig,
) -> Result<HtxHost, ExperimentError> {
    Err(needs_linux())
}

fn needs_linux() -> ExperimentError {
    ExperimentError::RtlNotBuilt("boards that are RTL need Linux".to_owned())
}

pub(super) fn join_rtl(_: &mut Fabric, _: [ComponentId; 2], _: Ps) {}

pub(super) fn counters_rtl(_: &Fabric, _: ComponentId, _: End) -> Option<LinkCounters> {
    None
}

pub(super) fn core_times(_: &Fabric, _: ComponentId) -> Option<(Ps, Ps)> {
    None
}

pub(super) fn rtl_core_alone<C: Component<DeviceEvent>>(
    _: &mut Fabric,
    _: &Setup,
    _: impl Fn(ComponentId, End) -> C,
) -> Result<ComponentId, ExperimentError> {
    Err(needs_linux())
}

pub(super) fn first_answer(_: &Fabric, _: ComponentId) -> Option<Ps> {
    None
}

pub(super) fn slot_rtl(_: &Fabric, _: ComponentId) -> Option<Ps> {
    None
}

pub(super) fn outcome(_: &Fabric) -> Result<(), ExperimentError> {
    Ok(())
}
