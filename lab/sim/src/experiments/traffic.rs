//! All-to-all traffic on any cluster, with the use of every link.

use crate::engine::{Ps, Summary};
use crate::machine::Machine;
use crate::models::Fabric;
use crate::models::ht::opteron::LINE_BYTES;

use super::link_use::{LinkUse, LinkWatch};
use super::programs::BareStores;
use super::tccluster::{booted, memory};
use super::{ExperimentError, mib_per_s};

/// The result of an all-to-all exchange.
#[derive(Clone, Debug)]
pub struct AllToAll {
    /// From the first store to the last byte in memory.
    pub time: Ps,
    /// Data over that time, all sockets together.
    pub aggregate_mib_s: f64,
    /// Every direction of every link between sockets.
    pub links: Vec<LinkUse>,
    /// The cost of the simulation.
    pub summary: Summary,
}

/// Every socket stores `lines` lines into every other one's memory, starting with
/// its successor, and the clock is read when all have arrived.
///
/// # Errors
/// [`ExperimentError`] if the cluster does not boot or the run does not come to
/// its end; a deadlock is named.
pub fn all_to_all(cluster: &str, lines: u64) -> Result<AllToAll, ExperimentError> {
    let mut machine = booted(cluster)?;
    all_to_all_on(&mut machine, lines, |sim| Ok(sim.run()?))
}

/// As [`all_to_all`], on a machine that has booted; `run` runs it.
pub(super) fn all_to_all_on(
    machine: &mut Machine,
    lines: u64,
    run: impl FnOnce(&mut Fabric) -> Result<Summary, ExperimentError>,
) -> Result<AllToAll, ExperimentError> {
    let sockets = machine.sockets().len();
    let links = LinkWatch::new(&machine.sim);
    let begin = machine.sim.now();
    for from in 0..sockets {
        let mut steps = Vec::new();
        for distance in 1..sockets {
            let to = (from + distance) % sockets;
            let address = memory(machine, to)? + from as u64 * lines * LINE_BYTES;
            let stores = BareStores {
                address,
                lines,
                bytes: LINE_BYTES as usize,
                window_bytes: u64::MAX,
            };
            steps.extend(stores.steps());
        }
        machine.start(from, super::programs::Timed::new(steps).0);
    }
    let summary = run(&mut machine.sim)?;
    let last = (0..sockets)
        .map(|socket| machine.socket(socket).counters().last_write)
        .max();
    let time = last.unwrap_or(begin) - begin;
    let links = links.used(&machine.sim, time);
    let bytes = (sockets * sockets.saturating_sub(1)) as u64 * lines * LINE_BYTES;
    Ok(AllToAll {
        time,
        aggregate_mib_s: mib_per_s(bytes, time),
        links,
        summary,
    })
}
