//! Running the workloads of memory systems.

use crate::engine::{Ps, Summary};
use crate::experiments::pgas_cluster::{DeviceCost, Kernel, Stream, break_even};
use crate::experiments::{ExperimentError, Monitor};
use crate::models::memory::trace::{Format, Reader, ReplayError, replay};
use crate::models::memory::{MemoryError, MemorySystem, Totals, Watch};

use super::hashed::Hashed;
use super::memory_workload::MemoryFigures;
use super::outcome::{Metric, RegionUse};
use super::run::{Measured, metric};
use super::workload::Workload;
use super::{Open, Point};

pub(super) fn run(
    point: &Point,
    monitor: &Monitor,
    open: Open<'_>,
) -> Result<Measured, ExperimentError> {
    let watch = |summary: &Summary| monitor.watch(summary);
    let models = &point.models.memory;
    match &point.workload {
        Workload::MemoryStream {
            system,
            elements,
            series,
        } => {
            let mut memory = MemorySystem::new(system.config.clone())?;
            let stream = Stream {
                elements: *elements,
                series: *series,
                work_per_access: models.work_per_access,
            };
            let times = stream.run(&mut memory, &watch).map_err(ended)?;
            let mut metrics = vec![
                metric("time", times.mean_s(), "s"),
                metric("traffic", times.mean_mb_s(), "MB/s"),
            ];
            metrics.extend(times.kernels.iter().map(|kernel| {
                let name = match kernel.kernel {
                    Kernel::Copy => "copy_time",
                    Kernel::Scale => "scale_time",
                    Kernel::Add => "add_time",
                    Kernel::Triad => "triad_time",
                };
                metric(name, kernel.time_s, "s")
            }));
            metrics.extend(counted(&memory.totals()));
            Ok(Measured {
                regions: RegionUse::of(&system.config.regions, memory.regions()),
                ..measured(metrics, vec![memory.summary()])
            })
        }
        Workload::MemoryTrace {
            system,
            path,
            format,
            ..
        } => replayed(system, models.instruction, (path, *format), open, &watch),
        Workload::BreakEven {
            pattern,
            memory_bytes,
            working_set_bytes,
            config,
        } => {
            let media = &models.media;
            let found = break_even(
                config,
                *pattern,
                *memory_bytes,
                *working_set_bytes,
                media.local,
                &watch,
            );
            let found = found.map_err(ended)?;
            let swap = DeviceCost::Page {
                page_in: media.page_in,
                page_out: media.page_out,
            };
            let remote_ns = found.remote_ns(&media.remote, config.line_bytes);
            let metrics = vec![
                metric("break_even_latency", found.latency_ns(swap), "ns"),
                metric("remote_latency", remote_ns, "ns"),
                metric("swap_hit_rate", found.hit_rate() * 100.0, "%"),
            ];
            Ok(measured(metrics, found.summaries.to_vec()))
        }
        _ => Err(ExperimentError::NoMeasurement(
            "no such workload of a memory system",
        )),
    }
}

/// A trace of this format, through the memory.
fn replayed(
    system: &MemoryFigures,
    instruction: Ps,
    (path, format): (&str, Format),
    open: Open<'_>,
    watch: Watch<'_>,
) -> Result<Measured, ExperimentError> {
    let mut memory = MemorySystem::new(system.config.clone())?;
    let failed = |error: ReplayError| match error {
        ReplayError::Memory(error) => ended(error),
        ReplayError::Trace(error) => ExperimentError::Trace {
            file: path.to_owned(),
            message: error.to_string(),
        },
    };
    let (input, hash) = Hashed::open(path, open)?;
    let reader = Reader::new(input, format);
    let replayed = replay(&mut memory, reader, instruction, watch);
    let replayed = replayed.map_err(failed)?;
    let totals = memory.totals();
    let ns = memory.time().as_ns();
    let mut metrics = vec![
        metric("time", ns, "ns"),
        metric("accesses", replayed.accesses as f64, ""),
        metric("instructions", replayed.instructions as f64, ""),
        metric("mean_access", ns / replayed.accesses.max(1) as f64, "ns"),
        metric("pages", totals.pages as f64, ""),
    ];
    metrics.extend(counted(&totals));
    Ok(Measured {
        regions: RegionUse::of(&system.config.regions, memory.regions()),
        trace_hash: Some(format!("{:016x}", hash.get())),
        ..measured(metrics, vec![memory.summary()])
    })
}

/// An interrupted run is one however it was computed.
fn ended(error: MemoryError) -> ExperimentError {
    match error {
        MemoryError::Interrupted { events, time } => ExperimentError::Cancelled { events, time },
        other => other.into(),
    }
}

/// Counters that are not zero.
fn counted(totals: &Totals) -> Vec<Metric> {
    let counters = [
        ("lines_read", totals.memory.reads),
        ("lines_written", totals.memory.writes),
        ("pages_in", totals.memory.page_ins),
        ("pages_out", totals.memory.page_outs),
    ];
    let seen = counters.into_iter().filter(|(_, count)| *count > 0);
    seen.map(|(name, count)| metric(name, count as f64, ""))
        .collect()
}

fn measured(metrics: Vec<Metric>, summaries: Vec<Summary>) -> Measured {
    Measured {
        metrics,
        summaries,
        ..Measured::default()
    }
}
