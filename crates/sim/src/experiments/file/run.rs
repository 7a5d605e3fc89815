//! Running the points of an experiment.

use crate::devices::opteron::LINE_BYTES;
use crate::engine::{Ps, Summary};
use crate::experiments::programs::{PingPong, Stream};
use crate::experiments::tccluster::memory;
use crate::experiments::traffic::{LinkUse, all_to_all_on};
use crate::experiments::{ExperimentError, mib_per_s};
use crate::firmware;
use crate::machine::Machine;
use crate::record::Recording;
use hostwire_plan::{LinkRole, Plan};

use super::configuration::Configuration;
use super::monitor::Monitor;
use super::outcome::{Metric, Outcome, RunFigures, RunResult};
use super::workload::{Order, Workload};
use super::{Experiment, Point, htx};

/// What a run measured.
pub(super) struct Measured {
    pub(super) metrics: Vec<Metric>,
    pub(super) links: Vec<LinkUse>,
    pub(super) summaries: Vec<Summary>,
}

pub(super) fn metric(name: &'static str, value: f64, unit: &'static str) -> Metric {
    Metric { name, value, unit }
}

impl Experiment {
    /// Runs every point, in order. What crosses the links after the boot goes to
    /// `recording`, if there is one.
    ///
    /// # Errors
    /// [`ExperimentError`] if a run does not come to its end: a deadlock is named
    /// with everybody who waits, and for what.
    pub fn run(
        &self,
        monitor: &Monitor,
        recording: Option<&Recording>,
    ) -> Result<Outcome, ExperimentError> {
        let mut results = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            monitor.begin_point(index, self.points.len());
            monitor.check()?;
            let measured = point.run(monitor, recording)?;
            results.push(RunResult {
                value: point.label.clone(),
                configuration_hash: Configuration::hash(&point.configuration),
                configuration: point.configuration.clone(),
                metrics: measured.metrics,
                links: measured.links,
                run: RunFigures::of(&measured.summaries),
            });
        }
        Ok(Outcome {
            version: env!("CARGO_PKG_VERSION"),
            title: self.title.clone(),
            sweep: self.sweep.clone(),
            results,
        })
    }
}

impl Point {
    fn run(
        &self,
        monitor: &Monitor,
        recording: Option<&Recording>,
    ) -> Result<Measured, ExperimentError> {
        let Some(plan) = &self.plan else {
            return htx::run(self, monitor, recording);
        };
        let mut machine = self.boot(plan)?;
        if let Some(recording) = recording {
            let fabric = machine.wires().iter();
            let links: Vec<_> = fabric
                .filter(|wire| wire.role != LinkRole::Southbridge)
                .map(|wire| wire.link)
                .collect();
            for link in links {
                recording.watch(&mut machine.sim, link, false);
            }
        }
        match &self.workload {
            Workload::PingPong {
                from,
                to,
                size_bytes,
                order,
            } => {
                let ends = (find(&machine, from)?, find(&machine, to)?);
                self.ping_pong(&mut machine, ends, *size_bytes, *order, monitor)
            }
            Workload::Stream {
                from,
                to,
                size_bytes,
                order,
                work_ps,
            } => {
                let ends = (find(&machine, from)?, find(&machine, to)?);
                let stream = Stream {
                    address: memory(&machine, ends.1)?,
                    lines: size_bytes.div_ceil(LINE_BYTES),
                    bytes: (*size_bytes).min(LINE_BYTES) as usize,
                    ordered: *order == Order::Fenced,
                    work: (*work_ps > 0).then_some(Ps(*work_ps)),
                };
                self.stream(&mut machine, ends, stream, monitor)
            }
            Workload::AllToAll { size_bytes } => {
                let run = |sim: &mut _| monitor.run(sim, self.events_max);
                let all = all_to_all_on(&mut machine, size_bytes / LINE_BYTES, run)?;
                let used = all.links.iter().map(|link| link.utilisation);
                let busiest = used.fold(0.0, f64::max);
                let metrics = vec![
                    metric("time", all.time.as_ns(), "ns"),
                    metric("aggregate_bandwidth", all.aggregate_mib_s, "MiB/s"),
                    metric("busiest_link", busiest * 100.0, "%"),
                ];
                Ok(Measured {
                    metrics,
                    links: all.links,
                    summaries: vec![all.summary],
                })
            }
            Workload::HtxWrite { .. } | Workload::HtxRead { .. } | Workload::HtxMessage { .. } => {
                htx::run(self, monitor, recording)
            }
        }
    }

    /// A machine with the point's parameters that has booted.
    fn boot(&self, plan: &Plan) -> Result<Machine, ExperimentError> {
        let mut machine = Machine::new(plan.clone(), &self.models.processor)?;
        for wire in 0..machine.wires().len() {
            if machine.wires()[wire].role != LinkRole::Fabric {
                continue;
            }
            machine.link_mut(wire).configure(|config| {
                config.buffers = self.models.link.buffers;
                config.retry_attempts_max = self.models.link.retry_attempts_max;
                config.damage = self.models.damage(wire);
            });
        }
        firmware::boot_all(&mut machine)?;
        Ok(machine)
    }

    fn ping_pong(
        &self,
        machine: &mut Machine,
        (from, to): (usize, usize),
        bytes: u64,
        order: Order,
        monitor: &Monitor,
    ) -> Result<Measured, ExperimentError> {
        let sides = PingPong {
            ping: memory(machine, to)?,
            pong: memory(machine, from)?,
            bytes,
            ordered: order == Order::Fenced,
            poll: self.models.processor.memory_read,
        };
        let (first, marks) = sides.first();
        machine.start(to, sides.second());
        machine.start(from, first);
        let summary = monitor.run(&mut machine.sim, self.events_max)?;
        let half = sides
            .half_round_trip_ns(&marks)
            .ok_or(ExperimentError::NoMeasurement("ping-pong"))?;
        let rate = bytes as f64 / half * 1e9 / f64::from(1 << 20);
        Ok(Measured {
            metrics: vec![
                metric("half_round_trip", half, "ns"),
                metric("bandwidth", rate, "MiB/s"),
            ],
            links: Vec::new(),
            summaries: vec![summary],
        })
    }

    fn stream(
        &self,
        machine: &mut Machine,
        (from, to): (usize, usize),
        stream: Stream,
        monitor: &Monitor,
    ) -> Result<Measured, ExperimentError> {
        let bytes = stream.lines * stream.bytes as u64;
        let (program, marks) = stream.program();
        machine.start(from, program);
        let summary = monitor.run(&mut machine.sim, self.events_max)?;
        let [begin, end] = marks.times()[..] else {
            return Err(ExperimentError::NoMeasurement("stream"));
        };
        let mut metrics = vec![metric(
            "sender_bandwidth",
            mib_per_s(bytes, end - begin),
            "MiB/s",
        )];
        let counters = machine.socket(to).counters();
        if let Some(first) = counters.first_write.filter(|_| stream.lines > 1) {
            let counted = counters.write_bytes - stream.bytes as u64;
            let rate = mib_per_s(counted, counters.last_write - first);
            metrics.push(metric("receiver_bandwidth", rate, "MiB/s"));
        }
        let time = counters.last_write.max(end) - begin;
        metrics.push(metric("time", time.as_ns(), "ns"));
        Ok(Measured {
            metrics,
            links: Vec::new(),
            summaries: vec![summary],
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
