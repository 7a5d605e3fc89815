//! In the place of hosts whose board is RTL, where there are none.

use crate::engine::{ComponentId, Ps};
use crate::machine::htx::{HtxHost, Setup};
use crate::models::Fabric;
use crate::models::ht::nic::NicConfig;
use crate::models::ht::opteron::OpteronConfig;
use crate::models::link::{End, LinkCounters};

use super::ExperimentError;
use super::htx_device::Purpose;

pub(super) const PHASES: u8 = 16;

pub(super) fn add_rtl(
    _: &mut Fabric,
    _: &str,
    _: (&Setup, u8),
    _: (Purpose, NicConfig),
    _: OpteronConfig,
) -> Result<HtxHost, ExperimentError> {
    let text = "boards that are RTL need Linux";
    Err(ExperimentError::Rtl(text.to_owned()))
}

pub(super) fn join_rtl(_: &mut Fabric, _: [ComponentId; 2], _: Ps) {}

pub(super) fn counters_rtl(_: &Fabric, _: ComponentId, _: End) -> Option<LinkCounters> {
    None
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
