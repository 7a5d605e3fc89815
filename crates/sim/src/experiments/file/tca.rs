//! Running the workloads of TCA sub-clusters.

use hostwire_plan::Plan;

use crate::engine::{Ps, Summary};
use crate::experiments::tca_peach2::{Dma, loopback, ping_pong, run_dma};
use crate::experiments::traffic::LinkUse;
use crate::experiments::{ExperimentError, Monitor};
use crate::record::Recording;
use crate::tca::{Device, SubCluster, TcaError};

use super::run::{Measured, metric};
use super::workload::Workload;
use super::{Point, outcome::Metric};

impl Workload {
    /// The chain of a `tca-dma`. `None` for other workloads, or nodes that the plan lacks.
    pub(super) fn dma(&self, plan: &Plan) -> Option<Dma> {
        let Workload::TcaDma {
            from,
            source,
            to,
            target,
            size_bytes,
            descriptors,
            source_step_bytes,
            target_step_bytes,
            engine,
            ..
        } = self
        else {
            return None;
        };
        let number = |name: &str| plan.node_by_name(name).map(|node| node.id.0);
        Some(Dma {
            from: (number(from)?, *source),
            to: (number(to)?, *target),
            bytes: *size_bytes,
            descriptors: *descriptors,
            source_step: *source_step_bytes,
            destination_step: *target_step_bytes,
            engine: *engine,
        })
    }
}

pub(super) fn run(
    point: &Point,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<Measured, ExperimentError> {
    let watch = |summary: &Summary| monitor.watch(summary);
    let mut config = point.models.tca.resolved();
    if let Workload::TcaLoopback { size_bytes } = point.workload {
        let (latency_ns, summary) = loopback(size_bytes, &config, &|cluster| {
            cluster.limit(point.events_max, None);
            if let Some(recording) = recording {
                cluster.record(recording);
            }
        })?;
        return Ok(Measured {
            metrics: vec![metric("latency", latency_ns, "ns")],
            summaries: vec![summary],
            ..Measured::default()
        });
    }
    if let Workload::TcaDma {
        other_socket: Some(gpu),
        ..
    } = point.workload
    {
        config.gpu_on_other_socket[usize::from(gpu == Device::Gpu1)] = true;
    }
    let missing = ExperimentError::NoMeasurement("no such workload of a sub-cluster");
    let Some(plan) = &point.plan else {
        return Err(missing);
    };
    let mut cluster = SubCluster::new(plan, &config)?;
    cluster.limit(point.events_max, Some(&watch));
    if let Some(recording) = recording {
        cluster.record(recording);
    }
    let metrics = match &point.workload {
        Workload::TcaPingPong {
            from,
            to,
            size_bytes,
            rounds,
        } => {
            let numbers = [from, to].map(|name| plan.node_by_name(name).map(|node| node.id));
            let [Some(a), Some(b)] = numbers else {
                return Err(missing);
            };
            let half_ns = ping_pong(&mut cluster, [a.0, b.0], *size_bytes, *rounds);
            // There and back may be different ways.
            let hops = [(a, b), (b, a)].map(|(from, to)| {
                let target = plan.node(to)?.range.start;
                plan.route(from, target).ok().map(|hops| hops.len())
            });
            let hops: usize = hops.into_iter().flatten().sum();
            vec![
                metric("half_round_trip", half_ns.map_err(ended)?, "ns"),
                metric("hops", hops as f64 / 2.0, ""),
            ]
        }
        workload => {
            let dma = workload.dma(plan).ok_or(missing)?;
            let times = run_dma(&mut cluster, &dma).map_err(ended)?;
            let gb_s = |time: Ps| times.bytes as f64 / time.as_s() / 1e9;
            let mut metrics = vec![
                metric("bandwidth", gb_s(times.handler), "GB/s"),
                metric("time", times.handler.as_ns(), "ns"),
                metric("arrival_bandwidth", gb_s(times.arrived), "GB/s"),
                metric("arrival_time", times.arrived.as_ns(), "ns"),
            ];
            metrics.extend(replayed(&cluster));
            metrics
        }
    };
    Ok(Measured {
        metrics,
        links: links(&cluster),
        summaries: vec![cluster.summary()],
        ..Measured::default()
    })
}

/// An interrupted run is one however it was computed.
fn ended(error: ExperimentError) -> ExperimentError {
    match error {
        ExperimentError::Tca(TcaError::Interrupted { events, time }) => {
            ExperimentError::Cancelled { events, time }
        }
        other => other,
    }
}

fn replayed(cluster: &SubCluster<'_>) -> Option<Metric> {
    let links = cluster.links();
    let replayed: u64 = links.iter().map(|link| link.counters.replayed).sum();
    (replayed > 0).then(|| metric("replayed_tlps", replayed as f64, ""))
}

/// Directions that carried data.
pub(super) fn links(cluster: &SubCluster<'_>) -> Vec<LinkUse> {
    let time = cluster.now().as_s().max(f64::MIN_POSITIVE);
    let used = cluster.links().into_iter().enumerate();
    let used = used.filter(|(_, link)| link.counters.payload_bytes > 0);
    let figures = used.map(|(index, link)| {
        // Directions alternate; both are named by end A first.
        let (a, b, from) = match index % 2 {
            0 => (link.from, link.to, "A"),
            _ => (link.to, link.from, "B"),
        };
        LinkUse {
            link: format!("{a} - {b}"),
            from,
            payload_bytes: link.counters.payload_bytes,
            utilisation: link.counters.busy.as_s() / time,
        }
    });
    figures.collect()
}
