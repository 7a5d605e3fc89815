//! STREAM of the 16P scenario over modelled links: what accesses to other boards cost with one
//! processor at work, and with several.
//!
//! The links carry a STREAM that is a ten-thousandth of the paper's, with a cache and pages that are as much smaller.
//! The mean costs of a remote load and a store there go into the memory system of the whole STREAM, whose fitted
//! constants stay as they are.

use hostwire_plan::Cluster;

use crate::engine::Ps;
use crate::experiments::remote::{self, Accesses, Cache, Hosts, Step, Walk};
use crate::experiments::{ExperimentError, Monitor};
use crate::machine::htx::HtxCluster;
use crate::models::ht::opteron::{LINE_BYTES, OpteronConfig};
use crate::models::memory::{Config, Medium, MemorySystem};

use super::scenario::{Media, REGIONS, Scenario};
use super::{KERNELS, MEMORY_BYTES, STREAM, StreamTimes, config, never};

const BOARDS: &str = include_str!("../../../clusters/htx-regions.toml");
/// Elements of each array. **Assumed** to be enough: twice as many change the costs by less than a percent.
const ELEMENTS: u64 = 2_000;
const CACHE: Cache = Cache {
    cache_bytes: 16 << 10,
    page_bytes: 512,
};
/// A quarter of the memory is on the own board.
const LOCAL_BYTES: u64 = MEMORY_BYTES / 4;
const EVENTS_MAX: u64 = 1_000_000_000;

/// Costs of the memory of other boards, as means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkCosts {
    /// A load of 8 bytes.
    pub read: Ps,
    /// A store of a line, posted: what the processor waits for it.
    pub write: Ps,
}

impl LinkCosts {
    /// As a memory system has it.
    pub fn medium(self) -> Medium {
        Medium {
            read: self.read,
            read_bytes: 8,
            write: self.write,
            write_bytes: LINE_BYTES,
        }
    }
}

/// Lets so many processors of the four boards run STREAM at once.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn costs_on_links(processors: u64) -> Result<LinkCosts, ExperimentError> {
    let plan = match hostwire_plan::cluster("htx-regions.toml", BOARDS.as_bytes()) {
        Ok(Cluster::Htx(plan)) => plan,
        Ok(Cluster::AddressMap(_)) => return Err(ExperimentError::NoMeasurement("boards")),
        Err(rejected) => return Err(ExperimentError::Plan(rejected.to_string())),
    };
    let processor = OpteronConfig::opteron_246();
    let mut cluster = HtxCluster::new(plan, &processor)?;
    let walk = Walk {
        processors,
        local_bytes: LOCAL_BYTES,
        read_bytes: 8,
        in_flight: 1,
        work_ps: STREAM.work_per_access.0,
        accesses: Accesses::Stream {
            kernels: KERNELS.to_vec(),
            elements: ELEMENTS,
            cache: CACHE,
        },
    };
    let hosts = Hosts::of_boards(cluster.plan());
    let mut all = Vec::new();
    let mut work = Ps::ZERO;
    for host in hosts.processors().into_iter().take(processors as usize) {
        let memory = hosts.ranges(host, LOCAL_BYTES);
        let steps = remote::stream((&KERNELS, ELEMENTS), CACHE, STREAM.work_per_access, memory)?;
        work += steps.iter().fold(Ps::ZERO, |sum, step| match step {
            Step::Work(time) => sum + *time,
            _ => sum,
        });
        all.push(Box::new(steps.into_iter()) as Box<dyn Iterator<Item = Step>>);
    }
    let components: Vec<_> = cluster.hosts().iter().map(|host| host.host).collect();
    let walked = remote::run(
        &mut cluster.sim,
        (&hosts, &components),
        &walk,
        all,
        (EVENTS_MAX, &Monitor::default()),
    )?;
    let remote = walked
        .remote
        .as_ref()
        .ok_or(ExperimentError::NoMeasurement("remote loads"))?;
    let read = Ps((remote.mean_ns() * 1e3).round() as u64);
    // All that is neither work nor a load is waiting for stores.
    let loads = read.0 * remote.count() as u64 + processor.memory_read.0 * walked.local_loads;
    let busy = walked.time_mean.0 * processors;
    let stores = busy.saturating_sub(work.0 + loads);
    Ok(LinkCosts {
        read,
        write: Ps(stores / walked.stores.max(1)),
    })
}

/// The paper's STREAM in 16P with these costs of other boards.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn run_with(costs: LinkCosts) -> Result<StreamTimes, ExperimentError> {
    let media = Media {
        remote: costs.medium(),
        ..Media::PAPER
    };
    let config = Config {
        regions: Scenario::Remote.regions(&media, MEMORY_BYTES / REGIONS),
        ..config(Scenario::Remote)
    };
    Ok(STREAM.run(&mut MemorySystem::new(config)?, never())?)
}
