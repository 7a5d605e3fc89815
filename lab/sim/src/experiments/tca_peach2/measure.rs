//! The measurements of the paper, as calls of the programming interface.

use hostwire_plan::Plan;

use crate::engine::{Ps, Summary};
use crate::experiments::ExperimentError;
use crate::experiments::link_use::{LinkUse, LinkWatch};
use crate::models::pcie::peach2::chip::REGISTER_BYTES;
use crate::tca::{
    Chain, Config, Device, DeviceAddress, Engine, LOOPBACK, Stride, SubCluster, TcaError,
};

/// Bytes of a store in the paper's loopback test.
pub const LOOPBACK_BYTES: u64 = 4;
/// Where programs put what others poll.
const FLAG: u64 = 0x1000;
/// Where DMA targets begin.
const BUFFER: u64 = 0x10_0000;

/// One chain of equal transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dma {
    /// Node whose controller runs, with the device that has the data.
    pub from: (u16, Device),
    /// Node and device that get it.
    pub to: (u16, Device),
    /// Bytes of each descriptor, a multiple of 4.
    pub bytes: u64,
    /// Number of descriptors, 1 to 255.
    pub descriptors: u64,
    /// From the start of a block to the next one at the source; 0: blocks follow each other.
    pub source_step: u64,
    /// The same at the destination.
    pub destination_step: u64,
    /// How it is run.
    pub engine: Engine,
}

impl Dma {
    /// Blocks that follow each other.
    pub fn new(from: (u16, Device), to: (u16, Device), bytes: u64, descriptors: u64) -> Dma {
        Dma {
            from,
            to,
            bytes,
            descriptors,
            source_step: 0,
            destination_step: 0,
            engine: Engine::TwoPhase,
        }
    }

    /// Bytes of all descriptors.
    pub fn total_bytes(&self) -> u64 {
        self.bytes.saturating_mul(self.descriptors)
    }

    /// Checks that a cluster can run it: it has to fit one table and lie inside of both
    /// devices.
    ///
    /// # Errors
    /// [`TcaError`](crate::tca::TcaError), as launching it would give.
    pub fn check(&self, cluster: &SubCluster<'_>) -> Result<(), TcaError> {
        cluster.check_chain(self.from.0, &self.chain()?)
    }

    pub(super) fn chain(&self) -> Result<Chain, TcaError> {
        let [source, destination] = self.places();
        let mut chain = Chain::new();
        chain.block_stride(destination, source, self.stride())?;
        Ok(chain)
    }

    fn stride(&self) -> Stride {
        let step = |step: u64| if step == 0 { self.bytes } else { step };
        Stride {
            block_bytes: self.bytes,
            blocks: self.descriptors,
            destination_step: step(self.destination_step),
            source_step: step(self.source_step),
        }
    }

    /// First byte of the source and of the destination.
    pub fn places(&self) -> [DeviceAddress; 2] {
        [self.from, self.to].map(|(node, device)| {
            let offset = match device {
                Device::Internal => REGISTER_BYTES,
                _ => BUFFER,
            };
            DeviceAddress::new(node, device, offset)
        })
    }
}

/// When a chain was over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DmaTimes {
    /// From the doorbell to the interrupt's handler, as the paper measures.
    pub handler: Ps,
    /// From the doorbell until all has arrived.
    pub arrived: Ps,
    /// Bytes.
    pub bytes: u64,
}

impl DmaTimes {
    /// Bytes over the time to the handler, in GB/s.
    pub fn gb_s(&self) -> f64 {
        self.bytes as f64 / self.handler.as_s() / 1e9
    }
}

/// Runs a chain on an idle cluster.
///
/// # Errors
/// [`ExperimentError::Tca`].
pub fn run_dma(cluster: &mut SubCluster<'_>, dma: &Dma) -> Result<DmaTimes, ExperimentError> {
    let transfer = cluster.launch(dma.from.0, &dma.chain()?, dma.engine)?;
    let launched = transfer.launched();
    let handler = cluster.wait(transfer)? - launched;
    let arrived = cluster.settle_data()? - launched;
    Ok(DmaTimes {
        handler,
        arrived,
        bytes: dma.total_bytes(),
    })
}

/// Programs on two nodes answer each other `rounds` times by stores of `bytes` bytes: half of a
/// round, in nanoseconds.
///
/// # Errors
/// [`ExperimentError::Tca`].
pub fn ping_pong(
    cluster: &mut SubCluster<'_>,
    nodes: [u16; 2],
    bytes: u64,
    rounds: u64,
) -> Result<f64, ExperimentError> {
    let started = cluster.now();
    let [a, b] = nodes;
    for round in 1..=rounds.max(1) {
        for (from, to) in [(a, b), (b, a)] {
            let place = DeviceAddress::new(to, Device::Host, FLAG);
            let message = vec![(round % 255 + 1) as u8; bytes as usize];
            cluster.store(from, place, &message)?;
            cluster.wait_for(to, place, &message)?;
        }
    }
    let time = cluster.now() - started;
    Ok(time.as_ns() / 2.0 / rounds.max(1) as f64)
}

/// The results of the loopback test.
#[derive(Clone, Debug, PartialEq)]
pub struct Loopback {
    /// From the store until the processor sees it in its memory.
    pub latency_ns: f64,
    /// Use of every direction of every link that carried data.
    pub links: Vec<LinkUse>,
    /// The cost of the simulation.
    pub summary: Summary,
}

/// The paper's loopback test (figure 10): a store goes through board A and board B to the memory of
/// the processor that stored.
///
/// # Errors
/// [`ExperimentError`].
pub fn loopback(
    bytes: u64,
    config: &Config,
    prepare: &dyn Fn(&mut SubCluster<'_>) -> Result<(), ExperimentError>,
) -> Result<Loopback, ExperimentError> {
    let config = Config {
        one_host: true,
        ..config.clone()
    };
    let mut cluster = SubCluster::new(&planned(LOOPBACK)?, &config)?;
    prepare(&mut cluster)?;
    let place = DeviceAddress::new(1, Device::Host, FLAG);
    let message = vec![0x5a; bytes as usize];
    let started = cluster.now();
    let before = LinkWatch::new(cluster.sim());
    cluster.store(0, place, &message)?;
    let seen = cluster.wait_for(1, place, &message)?;
    Ok(Loopback {
        latency_ns: (seen - started).as_ns(),
        links: before.used_at_all(cluster.sim(), cluster.now() - started),
        summary: cluster.summary(),
    })
}

/// A ring of `nodes` nodes as a cluster file; more than eight are two rings.
pub fn ring(nodes: usize) -> String {
    let kind = if nodes > 8 { "double-ring" } else { "ring" };
    format!(
        "fabric = \"peach2\"\n[topology]\nkind = \"{kind}\"\nnodes = {nodes}\n\
         [topology.node]\nmemory = \"8GiB\"\ngpus = 2\ngpu_memory = \"5GiB\"\n"
    )
}

/// Two nodes with the given parameters.
///
/// # Errors
/// [`ExperimentError`].
pub fn two_nodes(config: &Config) -> Result<SubCluster<'static>, ExperimentError> {
    Ok(SubCluster::new(&planned(LOOPBACK)?, config)?)
}

pub(super) fn planned(text: &str) -> Result<Plan, ExperimentError> {
    hostwire_plan::plan("cluster.toml", text.as_bytes())
        .map_err(|rejected| ExperimentError::Plan(rejected.to_string()))
}
