//! Running the points of an experiment.

use crate::engine::Summary;
use crate::experiments::ethernet::Ethernet;
use crate::experiments::htoe::Bottleneck;
use crate::experiments::jobs::{self, Pair};
use crate::experiments::link_use::{LinkUse, LinkWatch};
use crate::experiments::load::{Bucket, FlowUse};
use crate::experiments::traffic::all_to_all_on;
use crate::experiments::{ExperimentError, Monitor};
use crate::machine::Machine;
use crate::models::ht::opteron::LINE_BYTES;
use crate::record::Recording;
use hostwire_plan::Cluster;

use super::outcome::{Metric, Outcome, RegionUse, RunFigures, RunResult};
use super::workload::Workload;
use super::{
    Experiment, Open, Point, Surroundings, ethernet, htea, htx, links, load, memory, program,
    remote, tca,
};

/// The measured values of a run.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) metrics: Vec<Metric>,
    pub(super) links: Vec<LinkUse>,
    pub(super) regions: Vec<RegionUse>,
    pub(super) bottlenecks: Vec<Bottleneck>,
    pub(super) hints: Vec<String>,
    pub(super) flows: Vec<FlowUse>,
    pub(super) histogram: Vec<Bucket>,
    pub(super) summaries: Vec<Summary>,
    /// Hash of the trace that was read.
    pub(super) trace_hash: Option<String>,
}

pub(super) fn metric(name: &'static str, value: f64, unit: &'static str) -> Metric {
    Metric {
        name: name.into(),
        value,
        unit: unit.into(),
    }
}

/// Use of the link that is used most.
pub(super) fn busiest(links: &[LinkUse]) -> Metric {
    let used = links.iter().map(|link| link.utilisation);
    metric("busiest_link", used.fold(0.0, f64::max) * 100.0, "%")
}

impl Experiment {
    /// As [`run_with`](Self::run_with), for experiments without traces and programs.
    ///
    /// # Errors
    /// As [`run_with`](Self::run_with).
    pub fn run(
        &self,
        monitor: &Monitor,
        recording: Option<&Recording>,
    ) -> Result<Outcome, ExperimentError> {
        let nothing = |_: &str| Err(std::io::ErrorKind::Unsupported.into());
        self.run_with(monitor, recording, Surroundings::opening(&nothing))
    }

    /// Runs every point, in order. Records traffic of the links after the boot in `recording`, if
    /// there is one.
    ///
    /// # Errors
    /// [`ExperimentError`] if a run does not come to its end: a deadlock is named
    /// with all PEs and devices that wait, and for what.
    pub fn run_with(
        &self,
        monitor: &Monitor,
        recording: Option<&Recording>,
        surroundings: Surroundings<'_>,
    ) -> Result<Outcome, ExperimentError> {
        let mut results = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            monitor.begin_point(index, self.points.len());
            monitor.check()?;
            let (measured, run) = match &point.workload {
                Workload::Program(program) => {
                    let ran = program::run(program, point.place, surroundings.launch);
                    if ran.is_err() {
                        // One that was ended has not failed.
                        monitor.check()?;
                    }
                    ran?
                }
                _ => {
                    let measured = point.run(monitor, recording, surroundings.open)?;
                    let run = RunFigures::of(&measured.summaries);
                    (measured, run)
                }
            };
            let mut configuration = point.configuration.clone();
            configuration.workload.set_trace_hash(measured.trace_hash);
            results.push(RunResult {
                value: point.label.clone(),
                configuration_hash: configuration.hash(),
                seed: configuration.seed(),
                configuration,
                metrics: measured.metrics,
                links: measured.links,
                regions: measured.regions,
                bottlenecks: measured.bottlenecks,
                hints: measured.hints,
                flows: measured.flows,
                histogram: measured.histogram,
                run,
            });
        }
        Ok(Outcome {
            version: env!("CARGO_PKG_VERSION"),
            title: self.title.clone(),
            sweep: self.sweep.clone(),
            results,
            peak_memory_bytes: None,
        })
    }
}

impl Point {
    fn run(
        &self,
        monitor: &Monitor,
        recording: Option<&Recording>,
        open: Open<'_>,
    ) -> Result<Measured, ExperimentError> {
        if self.workload.is_memory() {
            return memory::run(self, monitor, open);
        }
        if self.workload.is_tca() {
            return tca::run(self, monitor, recording);
        }
        if let Workload::Htea { config, .. } = &self.workload {
            return htea::run(*config, self.events_max, monitor, recording);
        }
        if let Workload::Ethernet {
            hosts,
            pattern,
            lines,
        } = self.workload
        {
            let models = self.models.ethernet.clone();
            let network = Ethernet {
                hosts,
                towards: pattern,
                lines,
                link: models.link,
                port: models.port,
                switch: models.switch,
            };
            return ethernet::run(&network, self.events_max, monitor, recording);
        }
        if let Workload::Links(network) = &self.workload {
            return links::run(network, self.events_max, monitor, recording);
        }
        if let (Workload::RemoteMemory(walk), Some(Cluster::Htx(boards))) =
            (&self.workload, &self.cluster)
        {
            return remote::on_boards(self, boards, walk, (monitor, recording), open);
        }
        let Some(plan) = self.plan() else {
            return htx::run(self, monitor, recording);
        };
        let mut machine = self.models.built(plan)?;
        if let Some(recording) = recording {
            recording.check_events(&machine.sim)?;
        }
        self.models.boot(&mut machine)?;
        if let Some(recording) = recording {
            recording.watch_all(&mut machine.sim)?;
        }
        if let Some(measured) = load::run(self, &mut machine, monitor, open) {
            return measured;
        }
        if let Workload::RemoteMemory(walk) = &self.workload {
            return remote::on_sockets(self, &mut machine, walk, monitor, open);
        }
        if let Workload::AllToAll { size_bytes } = self.workload {
            return self.all_to_all(&mut machine, size_bytes, monitor);
        }
        let begin = machine.sim.now();
        let before = LinkWatch::new(&machine.sim);
        let (summary, metrics) = self.run_job(&mut machine, monitor)?;
        Ok(Measured {
            metrics,
            links: before.used(&machine.sim, machine.sim.now() - begin),
            summaries: vec![summary],
            ..Measured::default()
        })
    }

    /// Runs a job of two PEs on a booted cluster.
    fn run_job(
        &self,
        machine: &mut Machine,
        monitor: &Monitor,
    ) -> Result<(Summary, Vec<Metric>), ExperimentError> {
        match &self.workload {
            Workload::PingPong {
                from,
                to,
                size_bytes,
                order,
            } => {
                let mut pair = self.pair(machine, from, to, monitor)?;
                let ran = jobs::ping_pong(&mut pair, bytes(*size_bytes)?, *order)?;
                let half_ns = ran.half_round_trip_ns;
                let mib_s = *size_bytes as f64 / half_ns * 1e9 / f64::from(1 << 20);
                Ok((
                    ran.summary,
                    vec![
                        metric("half_round_trip", half_ns, "ns"),
                        metric("bandwidth", mib_s, "MiB/s"),
                    ],
                ))
            }
            Workload::Stream {
                from,
                to,
                size_bytes,
                messages,
                order,
            } => {
                let mut pair = self.pair(machine, from, to, monitor)?;
                let size = bytes(*size_bytes)?;
                let ran = jobs::stream(&mut pair, size, *messages, *order)?;
                Ok((
                    ran.summary,
                    vec![
                        metric("sender_bandwidth", ran.sent_mib_s, "MiB/s"),
                        metric("receiver_bandwidth", ran.received_mib_s, "MiB/s"),
                        metric("message_rate", ran.messages_per_s / 1e6, "M/s"),
                        metric("time", ran.time.as_ns(), "ns"),
                    ],
                ))
            }
            Workload::Put {
                from,
                to,
                size_bytes,
                order,
            } => {
                let mut pair = self.pair(machine, from, to, monitor)?;
                let ran = jobs::put(&mut pair, bytes(*size_bytes)?, *order)?;
                Ok((
                    ran.summary,
                    vec![
                        metric("sender_bandwidth", ran.apparent_mib_s, "MiB/s"),
                        metric("receiver_bandwidth", ran.arrived_mib_s, "MiB/s"),
                        metric("time", ran.time.as_ns(), "ns"),
                    ],
                ))
            }
            _ => Err(ExperimentError::NoMeasurement(
                "no such workload of a cluster",
            )),
        }
    }

    fn all_to_all(
        &self,
        machine: &mut Machine,
        size_bytes: u64,
        monitor: &Monitor,
    ) -> Result<Measured, ExperimentError> {
        let run = |sim: &mut _| monitor.run(sim, self.events_max);
        let all = all_to_all_on(machine, size_bytes / LINE_BYTES, run)?;
        let metrics = vec![
            metric("time", all.time.as_ns(), "ns"),
            metric("aggregate_bandwidth", all.aggregate_mib_s, "MiB/s"),
            busiest(&all.links),
        ];
        Ok(Measured {
            metrics,
            links: all.links,
            summaries: vec![all.summary],
            ..Measured::default()
        })
    }

    /// Where a job of two PEs runs.
    fn pair<'m>(
        &self,
        machine: &'m mut Machine,
        from: &str,
        to: &str,
        monitor: &'m Monitor,
    ) -> Result<Pair<'m>, ExperimentError> {
        let sockets = [find(machine, from)?, find(machine, to)?];
        Ok(Pair {
            events_max: self.events_max,
            monitor: Some(monitor),
            ..Pair::new(machine, sockets)
        })
    }
}

/// A processor by its name; the reader has checked that it is in the plan.
fn find(machine: &Machine, name: &str) -> Result<usize, ExperimentError> {
    machine
        .sockets()
        .iter()
        .position(|socket| socket.name == name)
        .ok_or(ExperimentError::NoMeasurement("no such processor"))
}

/// A size that the reader has found to be small.
fn bytes(size_bytes: u64) -> Result<usize, ExperimentError> {
    usize::try_from(size_bytes).map_err(|_| ExperimentError::NoMeasurement("such a size"))
}
