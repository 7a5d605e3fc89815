//! What runs on a host with an HTX board, and a link without hosts.

use crate::engine::{ComponentId, Ps};
use crate::machine::htx::device::add;
use crate::machine::htx::{HtxHost, Purpose, SETTLE, Setup};
use crate::models::ht::nic::NicConfig;
use crate::models::ht::opteron::{Opteron, OpteronConfig, OpteronEvent, Program};
use crate::models::ht::{Link, LinkConfig, LinkMode};
use crate::models::{DeviceEvent, Fabric};

use super::ExperimentError;

pub(super) fn start(
    sim: &mut Fabric,
    host: ComponentId,
    program: impl Program + 'static,
) -> Result<(), ExperimentError> {
    let core = sim
        .component_mut::<Opteron>(host)
        .and_then(|host| host.load(program));
    let core = core.ok_or(ExperimentError::NoMeasurement("no free core"))?;
    let now = sim.now();
    let event = DeviceEvent::Opteron(OpteronEvent::Step { core });
    sim.inject(now, host, event)
        .map_err(|_| ExperimentError::NoMeasurement("start"))
}

/// One host with the example design, its link settled.
pub(super) fn bench(setup: &Setup, phase: u8) -> Result<(Fabric, HtxHost), ExperimentError> {
    let models = (NicConfig::htx_board(0), OpteronConfig::opteron_246());
    bench_with((setup, phase), models)
}

/// The same with other models.
pub(super) fn bench_with(
    setup: (&Setup, u8),
    (nic, processor): (NicConfig, OpteronConfig),
) -> Result<(Fabric, HtxHost), ExperimentError> {
    let mut sim = Fabric::new();
    let host = add(&mut sim, "host", setup, (Purpose::Window, nic), processor)?;
    sim.run_until(SETTLE);
    Ok((sim, host))
}

/// A link between devices that do nothing, settled.
pub(super) fn bare_link(mode: LinkMode) -> (Fabric, ComponentId) {
    let mut sim = Fabric::new();
    let link = sim.add("link", Link::new(LinkConfig::default()));
    let now = sim.now();
    if let Some(model) = sim.component_mut::<Link>(link) {
        let (after, ready) = model.train(now, mode);
        let _ = sim.inject(now + after, link, ready);
        sim.run_until(now + after + Ps::from_ns(1));
        // Buffers are announced within the first CRC window.
        while sim.peek().is_some() {
            sim.step();
        }
    }
    (sim, link)
}
