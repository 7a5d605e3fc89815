//! All-to-all traffic on any cluster, with the use of every link.

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::devices::Fabric;
use crate::devices::link::End;
use crate::devices::opteron::LINE_BYTES;
use crate::engine::{Ps, Summary};
use crate::machine::Machine;

use super::programs::BareStores;
use super::tccluster::{booted, memory};
use super::{ExperimentError, mib_per_s};

/// Use of one direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkUse {
    /// The link, by its two ends.
    pub link: String,
    /// Which end transmits: "A" is the one named first.
    pub from: &'static str,
    /// Bytes of data.
    pub payload_bytes: u64,
    /// Share of the time in which the transmitter was occupied, 0 to 1.
    pub utilisation: f64,
}

/// As it is in a file.
#[derive(Deserialize)]
struct WrittenLinkUse {
    link: String,
    from: String,
    payload_bytes: u64,
    utilisation: f64,
}

impl<'de> Deserialize<'de> for LinkUse {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<LinkUse, D::Error> {
        let written = WrittenLinkUse::deserialize(input)?;
        let from = match written.from.as_str() {
            "A" => "A",
            "B" => "B",
            other => return Err(de::Error::unknown_variant(other, &["A", "B"])),
        };
        Ok(LinkUse {
            link: written.link,
            from,
            payload_bytes: written.payload_bytes,
            utilisation: written.utilisation,
        })
    }
}

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
    let links = LinkWatch::new(machine);
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
    let links = links.used(machine, time);
    let bytes = (sockets * sockets.saturating_sub(1)) as u64 * lines * LINE_BYTES;
    Ok(AllToAll {
        time,
        aggregate_mib_s: mib_per_s(bytes, time),
        links,
        summary,
    })
}

/// The use of links from a time on.
pub(super) struct LinkWatch {
    busy_before: Vec<[Ps; 2]>,
}

impl LinkWatch {
    /// From now on.
    pub(super) fn new(machine: &Machine) -> LinkWatch {
        let wires = 0..machine.wires().len();
        LinkWatch {
            busy_before: wires.map(|wire| busy(machine, wire)).collect(),
        }
    }

    /// Every direction of every link, over `time`.
    pub(super) fn used(self, machine: &Machine, time: Ps) -> Vec<LinkUse> {
        let mut links = Vec::new();
        for (wire, before) in self.busy_before.into_iter().enumerate() {
            let link = machine
                .sim
                .name(machine.wires()[wire].link)
                .unwrap_or_default()
                .to_string();
            for ((end, from), before) in [(End::A, "A"), (End::B, "B")].into_iter().zip(before) {
                let counters = machine.link(wire).counters(end);
                links.push(LinkUse {
                    link: link.clone(),
                    from,
                    payload_bytes: counters.payload_bytes,
                    utilisation: (counters.busy - before).as_s()
                        / time.as_s().max(f64::MIN_POSITIVE),
                });
            }
        }
        links
    }
}

fn busy(machine: &Machine, wire: usize) -> [Ps; 2] {
    [End::A, End::B].map(|end| machine.link(wire).counters(end).busy)
}
