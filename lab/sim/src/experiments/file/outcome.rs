//! The results of an experiment.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use crate::engine::Summary;
use crate::experiments::htoe::Bottleneck;
use crate::experiments::link_use::LinkUse;
use crate::experiments::load::{Bucket, FlowUse};
use crate::models::memory::{Region, RegionCounters, RegionKind};

use super::configuration::Configuration;

/// The results of an experiment file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Version of this crate.
    pub version: &'static str,
    /// What the file calls the experiment.
    pub title: String,
    /// The key that was swept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<String>,
    /// One per value of the sweep, in its order; one without a sweep.
    pub results: Vec<RunResult>,
    /// The highest memory use of the process, if the caller measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// The swept value, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Hash of `configuration`.
    pub configuration_hash: String,
    /// Seed of what is random in the run, where anything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// All that the run depended on.
    pub configuration: Configuration,
    /// The measured values.
    pub metrics: Vec<Metric>,
    /// Use of every direction of every link, for traffic on a cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkUse>,
    /// Use of every region of a memory system, those of one owner and kind as one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionUse>,
    /// The capacity of each part of the way, for adapters: the smallest one limits the
    /// run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bottlenecks: Vec<Bottleneck>,
    /// What made the run slow that a parameter ends: the cause, and the value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Messages and latencies of every pair of processors, for messages between all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowUse>,
    /// How many messages took how long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<Bucket>,
    /// The cost of the run.
    pub run: RunFigures,
}

/// One measured number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// What it is.
    pub name: Cow<'static, str>,
    /// The number. JSON has null for what is not finite.
    #[serde(deserialize_with = "number")]
    pub value: f64,
    /// Its unit.
    pub unit: Cow<'static, str>,
}

fn number<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(input)?.unwrap_or(f64::NAN))
}

/// The traffic to and from the regions of one owner and kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionUse {
    /// Whose they are.
    pub owner: String,
    /// What they are.
    pub kind: RegionKind,
    /// Lines read.
    pub lines_read: u64,
    /// Lines written.
    pub lines_written: u64,
    /// Pages that swap brought in.
    pub pages_in: u64,
    /// Pages that swap wrote out.
    pub pages_out: u64,
}

impl RegionUse {
    /// Of `regions`, in their order, with what each has seen.
    pub(super) fn of(regions: &[Region], seen: &[RegionCounters]) -> Vec<RegionUse> {
        let mut uses: Vec<RegionUse> = Vec::new();
        for (region, seen) in regions.iter().zip(seen) {
            let same = |known: &RegionUse| known.owner == region.owner && known.kind == region.kind;
            let place = uses.iter().position(same).unwrap_or_else(|| {
                uses.push(RegionUse {
                    owner: region.owner.clone(),
                    kind: region.kind,
                    lines_read: 0,
                    lines_written: 0,
                    pages_in: 0,
                    pages_out: 0,
                });
                uses.len() - 1
            });
            if let Some(known) = uses.get_mut(place) {
                known.lines_read += seen.reads;
                known.lines_written += seen.writes;
                known.pages_in += seen.page_ins;
                known.pages_out += seen.page_outs;
            }
        }
        uses
    }
}

/// The cost of a run. The wall time and the values derived from it differ from run to
/// run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// Events handled.
    pub events: u64,
    /// Hash over all of them: equal for equal configurations.
    pub event_hash: String,
    /// Simulated time.
    pub virtual_time_ns: f64,
    /// Real time spent in the engine.
    pub wall_s: f64,
    /// Events per second of real time.
    pub events_per_s: f64,
    /// Simulated seconds per real second.
    pub virtual_over_wall: f64,
}

impl Outcome {
    /// Every metric that some run has, once. A short run may lack one.
    pub fn metrics(&self) -> Vec<&Metric> {
        let mut metrics: Vec<&Metric> = Vec::new();
        let longest = self
            .results
            .iter()
            .max_by_key(|result| result.metrics.len());
        for metric in longest
            .into_iter()
            .chain(&self.results)
            .flat_map(|result| &result.metrics)
        {
            if !metrics.iter().any(|known| known.name == metric.name) {
                metrics.push(metric);
            }
        }
        metrics
    }
}

impl RunResult {
    /// A metric by its name.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let metric = self.metrics.iter().find(|metric| metric.name == name)?;
        Some(metric.value)
    }
}

impl RunFigures {
    /// Figures of one or several simulations of the same run.
    pub fn of(summaries: &[Summary]) -> RunFigures {
        let events = summaries.iter().map(|summary| summary.events).sum();
        let virtual_s: f64 = summaries.iter().map(|s| s.virtual_time.as_s()).sum();
        let wall_s: f64 = summaries.iter().map(|s| s.wall.as_secs_f64()).sum();
        let hash = summaries
            .iter()
            .fold(0u64, |hash, summary| hash.rotate_left(7) ^ summary.hash.0);
        let per_wall = |amount: f64| amount / wall_s.max(f64::MIN_POSITIVE);
        RunFigures {
            events,
            event_hash: format!("{hash:016x}"),
            virtual_time_ns: virtual_s * 1e9,
            wall_s,
            events_per_s: per_wall(events as f64),
            virtual_over_wall: per_wall(virtual_s),
        }
    }
}
