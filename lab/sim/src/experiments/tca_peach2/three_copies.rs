//! The way that the paper compares itself with (section III.A): from a GPU to its host, by
//! InfiniBand to the other host, from there to the other GPU, one copy after the other.

use hostwire_packet::pcie::RoutingId;

use crate::engine::{ComponentId, Ps};
use crate::experiments::ExperimentError;
use crate::models::link::End;
use crate::models::pcie::mover::{Mover, MoverConfig, MoverEvent, Network};
use crate::models::pcie::peach2::host::{Host, HostConfig, MEMORY_BUS};
use crate::models::pcie::peach2::kib_at;
use crate::models::pcie::{Link, LinkConfig, Speed};
use crate::models::{DeviceEvent, Fabric};
use crate::tca::{Device, SubCluster};

use super::measure::{Dma, run_dma};

/// Where the buffers are in the memory of both hosts.
const BUFFER: u64 = MEMORY_BUS + (1 << 20);

/// Parameters of the way by InfiniBand. Sources are in `docs/sim/tca.md`.
#[derive(Clone, Debug)]
pub struct ThreeCopies {
    /// Hosts.
    pub host: HostConfig,
    /// Links of GPUs and adapters, without their speeds.
    pub link: LinkConfig,
    /// Between GPU and host: PCI Express Gen2 x16 (table II: a K20).
    pub gpu_link: Speed,
    /// Between adapter and host: Gen3 x8 (section II.A).
    pub adapter_link: Speed,
    /// DMA engines of GPUs and adapters. **Assumed.**
    pub mover: MoverConfig,
    /// The InfiniBand links.
    pub grade: Grade,
    /// Most data in a packet. **Assumed**, as the specification allows it.
    pub packet_bytes: u64,
    /// Headers and checks of a packet. Source: InfiniBand specification: LRH, BTH, ICRC, VCRC.
    pub overhead_bytes: u64,
    /// Both adapters, cables and switch, for the end of a packet. **Assumed.**
    pub latency: Ps,
    /// A call of `cudaMemcpy` until its DMA begins and from its end to the caller, together.
    /// **Fitted** to 17 us for 8 B from GPU to GPU.
    pub copy_call: Ps,
    /// MPI at both ends together. **Assumed.**
    pub mpi: Ps,
}

/// Grades of InfiniBand links of four lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// 10 Gb/s a lane, 8 of 10 bits: that of HA-PACS (table I).
    Qdr,
    /// 14.0625 Gb/s a lane, 64 of 66 bits.
    Fdr,
}

impl Grade {
    /// With their names in files.
    pub const ALL: [(&'static str, Grade); 2] = [("qdr", Grade::Qdr), ("fdr", Grade::Fdr)];

    fn bytes_per_s(self) -> u64 {
        match self {
            Grade::Qdr => 4_000_000_000,
            Grade::Fdr => 6_818_181_818,
        }
    }
}

impl ThreeCopies {
    /// With links of this grade, and these hosts.
    pub fn new(grade: Grade, host: HostConfig) -> ThreeCopies {
        ThreeCopies {
            grade,
            host,
            ..ThreeCopies::default()
        }
    }

    fn network(&self) -> Network {
        Network {
            kib: kib_at(self.grade.bytes_per_s()),
            packet_bytes: self.packet_bytes,
            overhead_bytes: self.overhead_bytes,
            latency: self.latency,
        }
    }

    fn link_of(&self, speed: Speed) -> LinkConfig {
        LinkConfig {
            speed,
            ..self.link.clone()
        }
    }
}

/// With InfiniBand QDR.
impl Default for ThreeCopies {
    fn default() -> ThreeCopies {
        ThreeCopies {
            host: HostConfig::default(),
            link: LinkConfig::default(),
            gpu_link: Speed {
                rate_mt_s: 5_000,
                lanes: 16,
            },
            adapter_link: Speed {
                rate_mt_s: 8_000,
                lanes: 8,
            },
            mover: MoverConfig {
                payload_bytes: 256,
                read_bytes: 512,
                read_tags: 32,
                places: 16,
            },
            grade: Grade::Qdr,
            packet_bytes: 2048,
            overhead_bytes: 8 + 12 + 4 + 2,
            latency: Ps::from_ns(300),
            copy_call: Ps::from_ns(7_640),
            mpi: Ps::from_ns(500),
        }
    }
}

/// Longest data that are tried by stores.
const STORES_MAX: u64 = 64 << 10;

/// How long each step took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// From the GPU to its host, if the data were in a GPU.
    pub out: Ps,
    /// From host to host, as MPI.
    pub network: Ps,
    /// Of that, without MPI.
    pub adapters: Ps,
    /// From the host to the GPU.
    pub into: Ps,
}

impl Steps {
    /// All of them.
    pub fn total(&self) -> Ps {
        self.out + self.network + self.into
    }
}

struct Node {
    host: ComponentId,
    gpu: ComponentId,
    adapter: ComponentId,
}

/// Copies `bytes` from GPU to GPU, or from host to host, and checks that they arrive.
///
/// # Errors
/// [`ExperimentError`] if they do not.
pub fn three_copies(
    config: &ThreeCopies,
    bytes: u64,
    between_gpus: bool,
) -> Result<(Steps, crate::engine::Summary), ExperimentError> {
    let mut sim = Fabric::new();
    let nodes = [0, 1].map(|node| add_node(&mut sim, node, config));
    let [a, b] = &nodes;
    if let Some(adapter) = sim.component_mut::<Mover>(a.adapter) {
        adapter.connect(b.adapter, config.network());
    }
    let data: Vec<u8> = (0..bytes).map(|at| ((at * 7) >> 2) as u8 | 1).collect();
    let mut steps = Steps::default();
    if between_gpus {
        let begun = sim.now();
        let write = MoverEvent::Write(Box::new((BUFFER, data.clone())));
        inject(&mut sim, config.copy_call, a.gpu, write)?;
        steps.out = arrived(&mut sim, a.host, &data)? - begun;
    } else if let Some(host) = sim.component_mut::<Host>(a.host) {
        host.write(BUFFER, &data);
    }
    let begun = sim.now();
    let send = MoverEvent::Read(Box::new((BUFFER, bytes, Some(BUFFER))));
    inject(&mut sim, config.mpi + config.host.out, a.adapter, send)?;
    steps.network = arrived(&mut sim, b.host, &data)? + config.host.poll - begun;
    steps.adapters = steps.network - config.mpi;
    let seen = sim.now() + config.host.poll;
    sim.run_until(seen);
    if between_gpus {
        let begun = sim.now();
        let read = MoverEvent::Read(Box::new((BUFFER, bytes, None)));
        inject(&mut sim, config.copy_call, b.gpu, read)?;
        let gpu = b.gpu;
        let end = run_until(&mut sim, |sim| {
            sim.component::<Mover>(gpu)
                .is_some_and(|gpu| gpu.got() == data)
        })?;
        steps.into = end - begun;
    }
    sim.run()?;
    Ok((steps, sim.summary()))
}

/// The same by PEACH2, until a program of the other node sees it: by the pipelined controller, or
/// by stores if these bring data of a host earlier.
///
/// # Errors
/// [`ExperimentError::Tca`].
pub fn direct(cluster: &mut SubCluster<'_>, dma: &Dma) -> Result<Ps, ExperimentError> {
    let poll = cluster.config().host.poll;
    let controller = run_dma(cluster, dma)?.arrived + poll;
    let bytes = dma.total_bytes();
    if dma.to.1 != Device::Host || bytes > STORES_MAX {
        return Ok(controller);
    }
    let begun = cluster.now();
    let [_, place] = dma.places();
    let data = vec![0x5a; bytes as usize];
    cluster.store(dma.from.0, place, &data)?;
    let stored = cluster.wait_for(dma.to.0, place, &data)? - begun;
    cluster.settle()?;
    Ok(stored.min(controller))
}

fn add_node(sim: &mut Fabric, node: u16, config: &ThreeCopies) -> Node {
    let id = |kind: u16| RoutingId(kind << 8 | node);
    let (memory, speed) = (8 << 30, config.gpu_link);
    let host = Host::new(id(0), memory, [None, None], config.host.clone(), speed);
    let host = sim.add(format!("host {node}"), host);
    let mut device = |name: &str, kind, speed, port| {
        let mover = sim.add(
            format!("{name} {node}"),
            Mover::new(id(kind), config.mover.clone()),
        );
        let wire = sim.add(
            format!("link of {name} {node}"),
            Link::new(config.link_of(speed)),
        );
        if let Some(link) = sim.component_mut::<Link>(wire) {
            link.attach(End::A, host, port);
            link.attach(End::B, mover, 0);
        }
        if let Some(host) = sim.component_mut::<Host>(host) {
            host.attach(wire, End::A);
        }
        if let Some(mover) = sim.component_mut::<Mover>(mover) {
            mover.attach(wire, End::B);
        }
        mover
    };
    let gpu = device("GPU", 1, config.gpu_link, 0);
    let adapter = device("adapter", 2, config.adapter_link, 1);
    Node { host, gpu, adapter }
}

fn inject(
    sim: &mut Fabric,
    after: Ps,
    device: ComponentId,
    event: MoverEvent,
) -> Result<(), ExperimentError> {
    let at = sim.now() + after;
    let injected = sim.inject(at, device, DeviceEvent::Mover(event));
    injected.map_err(|_| ExperimentError::NoMeasurement("a device"))
}

/// When the data are in the memory of a host.
fn arrived(sim: &mut Fabric, host: ComponentId, data: &[u8]) -> Result<Ps, ExperimentError> {
    let last = BUFFER + data.len() as u64 - 1;
    run_until(sim, |sim| {
        let now = sim.now();
        let host = sim.component::<Host>(host);
        host.is_some_and(|host| {
            host.last_commit() == now
                && host.read(last, 1).as_deref() == data.last().map(std::slice::from_ref)
                && host.read(BUFFER, data.len() as u64).as_deref() == Some(data)
        })
    })
}

fn run_until(
    sim: &mut Fabric,
    mut done: impl FnMut(&Fabric) -> bool,
) -> Result<Ps, ExperimentError> {
    while sim.step().is_some() {
        if done(sim) {
            return Ok(sim.now());
        }
    }
    Err(ExperimentError::NoMeasurement("data that have arrived"))
}
