//! Running the workloads of TCA sub-clusters.

use hostwire_plan::Plan;

use crate::engine::{Ps, Summary};
use crate::experiments::link_use::LinkWatch;
use crate::experiments::tca_peach2::{
    Dma, Grade, Steps, ThreeCopies, couple_and_separate, direct, loopback, ping_pong, run_dma,
    three_copies,
};
use crate::experiments::{ExperimentError, Monitor};
use crate::record::Recording;
use crate::tca::{Device, Engine, Start, SubCluster, TcaError};

use super::run::{Measured, metric};
use super::workload::Workload;
use super::{Point, outcome::Metric};

impl Workload {
    /// The chain of a `tca-dma` or `tca-rings`. `None` for other workloads, or nodes that the plan lacks.
    pub(super) fn dma(&self, plan: &Plan) -> Option<Dma> {
        let number = |name: &str| plan.node_by_name(name).map(|node| node.id.0);
        if let Workload::TcaRings {
            from,
            to,
            size_bytes,
            descriptors,
        } = self
        {
            let [from, to] = [from, to].map(|name| Some((number(name)?, Device::Host)));
            return Some(Dma {
                engine: Engine::Pipelined,
                ..Dma::new(from?, to?, *size_bytes, *descriptors)
            });
        }
        if let Workload::TcaThreeCopies {
            from,
            to,
            devices,
            size_bytes,
            ..
        } = self
        {
            let [from, to] = [from, to].map(|name| Some((number(name)?, *devices)));
            return Some(Dma {
                engine: Engine::Pipelined,
                ..Dma::new(from?, to?, *size_bytes, 1)
            });
        }
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
        let ran = loopback(size_bytes, &config, &|cluster| {
            cluster.limit(point.events_max, None);
            if let Some(recording) = recording {
                cluster.record(recording)?;
            }
            Ok(())
        })?;
        return Ok(Measured {
            metrics: vec![metric("latency", ran.latency_ns, "ns")],
            links: ran.links,
            summaries: vec![ran.summary],
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
    if matches!(point.workload, Workload::TcaRings { .. }) {
        config.start = Start::Separate;
    }
    let missing = ExperimentError::NoMeasurement("no such workload of a sub-cluster");
    let Some(plan) = point.plan() else {
        return Err(missing);
    };
    let mut cluster = SubCluster::new(plan, &config)?;
    cluster.limit(point.events_max, Some(&watch));
    if let Some(recording) = recording {
        cluster.record(recording)?;
    }
    let begin = cluster.now();
    let before = LinkWatch::new(cluster.sim());
    let mut others = Vec::new();
    let metrics = match &point.workload {
        Workload::TcaPingPong { .. } => answer(&mut cluster, plan, &point.workload)?,
        workload => {
            let dma = workload.dma(plan).ok_or(missing)?;
            match workload {
                Workload::TcaThreeCopies { network, .. } => {
                    let copies = point.models.tca.copies.clone();
                    let (metrics, summary) = compare(&mut cluster, &dma, (*network, copies))?;
                    others.push(summary);
                    metrics
                }
                Workload::TcaRings { .. } => {
                    // The same transfer while nothing is coupled.
                    let mut quiet = SubCluster::new(plan, &config)?;
                    quiet.limit(point.events_max, Some(&watch));
                    let alone = run_dma(&mut quiet, &dma).map_err(ended)?;
                    others.push(quiet.summary());
                    rings(&mut cluster, &dma, alone.gb_s())?
                }
                _ => transfer(&mut cluster, &dma)?,
            }
        }
    };
    let hints = early_replays(&cluster).into_iter().collect();
    let summaries = std::iter::once(cluster.summary()).chain(others);
    Ok(Measured {
        metrics,
        links: before.used_at_all(cluster.sim(), cluster.now() - begin),
        summaries: summaries.collect(),
        hints,
        ..Measured::default()
    })
}

/// `tca-ping-pong`.
fn answer(
    cluster: &mut SubCluster<'_>,
    plan: &Plan,
    workload: &Workload,
) -> Result<Vec<Metric>, ExperimentError> {
    let missing = ExperimentError::NoMeasurement("no such nodes");
    let Workload::TcaPingPong {
        from,
        to,
        size_bytes,
        rounds,
    } = workload
    else {
        return Err(missing);
    };
    let numbers = [from, to].map(|name| plan.node_by_name(name).map(|node| node.id));
    let [Some(a), Some(b)] = numbers else {
        return Err(missing);
    };
    let half_ns = ping_pong(cluster, [a.0, b.0], *size_bytes, *rounds);
    // There and back may be different ways.
    let hops = [(a, b), (b, a)].map(|(from, to)| {
        let target = plan.node(to)?.range.start;
        plan.route(from, target).ok().map(|hops| hops.len())
    });
    let hops: usize = hops.into_iter().flatten().sum();
    Ok(vec![
        metric("half_round_trip", half_ns.map_err(ended)?, "ns"),
        metric("hops", hops as f64 / 2.0, ""),
    ])
}

/// `tca-dma`.
fn transfer(cluster: &mut SubCluster<'_>, dma: &Dma) -> Result<Vec<Metric>, ExperimentError> {
    let times = run_dma(cluster, dma).map_err(ended)?;
    let gb_s = |time: Ps| times.bytes as f64 / time.as_s() / 1e9;
    let mut metrics = vec![
        metric("bandwidth", gb_s(times.handler), "GB/s"),
        metric("time", times.handler.as_ns(), "ns"),
        metric("arrival_bandwidth", gb_s(times.arrived), "GB/s"),
        metric("arrival_time", times.arrived.as_ns(), "ns"),
    ];
    metrics.extend(replayed(cluster));
    Ok(metrics)
}

/// `tca-rings`.
fn rings(
    cluster: &mut SubCluster<'_>,
    dma: &Dma,
    alone_gb_s: f64,
) -> Result<Vec<Metric>, ExperimentError> {
    let times = couple_and_separate(cluster, dma).map_err(ended)?;
    let mut metrics = vec![
        metric("coupling", times.coupling.as_ns(), "ns"),
        metric("across", times.across.as_ns(), "ns"),
        metric("separating", times.separating.as_ns(), "ns"),
        metric("bandwidth", times.gb_s, "GB/s"),
        metric("bandwidth_alone", alone_gb_s, "GB/s"),
    ];
    metrics.extend((times.lost > 0).then(|| metric("lost_tlps", times.lost as f64, "")));
    Ok(metrics)
}

/// `tca-three-copies`.
fn compare(
    cluster: &mut SubCluster<'_>,
    dma: &Dma,
    (network, copies): (Grade, ThreeCopies),
) -> Result<(Vec<Metric>, Summary), ExperimentError> {
    let copies = ThreeCopies {
        grade: network,
        host: cluster.config().host.clone(),
        link: cluster.config().link.undamaged(),
        ..copies
    };
    let direct = direct(cluster, dma).map_err(ended)?;
    let bytes = dma.total_bytes();
    let (steps, summary) = three_copies(&copies, bytes, dma.from.1 != Device::Host)?;
    Ok((compared(bytes, direct, &steps), summary))
}

/// Both ways of the same data.
fn compared(bytes: u64, direct: Ps, steps: &Steps) -> Vec<Metric> {
    let mb_s = |time: Ps| bytes as f64 / time.as_s() / 1e6;
    let mut metrics = vec![
        metric("peach2_time", direct.as_ns(), "ns"),
        metric("infiniband_time", steps.total().as_ns(), "ns"),
        metric("peach2_bandwidth", mb_s(direct), "MB/s"),
        metric("infiniband_bandwidth", mb_s(steps.total()), "MB/s"),
        metric("network", steps.network.as_ns(), "ns"),
    ];
    if steps.out > Ps::ZERO {
        metrics.push(metric("copy_out", steps.out.as_ns(), "ns"));
        metrics.push(metric("copy_in", steps.into.as_ns(), "ns"));
    }
    metrics
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
    let replayed = replayed_tlps(cluster);
    (replayed > 0).then(|| metric("replayed_tlps", replayed as f64, ""))
}

fn replayed_tlps(cluster: &SubCluster<'_>) -> u64 {
    let links = cluster.links();
    links.iter().map(|link| link.counters.replayed).sum()
}

/// A replay timer that is shorter than the way of a TLP and of its Ack: TLPs are repeated that have arrived.
fn early_replays(cluster: &SubCluster<'_>) -> Option<String> {
    let replayed = replayed_tlps(cluster);
    let needed = cluster.config().ack_time();
    let link = &cluster.config().link;
    if replayed == 0 || link.replay_timeout >= needed {
        return None;
    }
    // Twice, in whole microseconds: the timer must not be close to the usual.
    let enough_us = (2 * needed.0).div_ceil(1_000_000);
    let [timeout, needed, cable] =
        [link.replay_timeout, needed, link.propagation].map(|time| time.as_ns());
    Some(format!(
        "a transmitter repeats what has no Ack after {timeout} ns, and TLP and Ack take up to {needed} ns over {cable} ns of cable: \
         {replayed} TLPs were repeated, most of which had arrived. replay_timeout = \"{enough_us}us\" ends it"
    ))
}
