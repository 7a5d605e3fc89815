//! Timings of hostwire and of the limit, in turn.

use std::time::Duration;

use hostwire::Result;

use super::pe::Context;
use super::report::Line;

/// Runs an operation `n` times and returns the time.
pub type Loop<'a> = Box<dyn FnMut(u64) -> Result<Duration> + 'a>;

/// The kind of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Nanoseconds for each of this many parts of one turn of the loop.
    Ns { parts: f64 },
    /// Million turns per second.
    MPerS,
    /// 10^9 bytes per second, with this many bytes a turn.
    GBPerS { bytes: f64 },
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ns { .. } => "ns",
            Self::MPerS => "M/s",
            Self::GBPerS { .. } => "GB/s",
        }
    }

    /// Whether lower values are better.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Ns { .. })
    }

    fn value(self, time: Duration, n: u64) -> f64 {
        let ns = time.as_nanos().max(1) as f64 / n as f64;
        match self {
            Self::Ns { parts } => ns / parts,
            Self::MPerS => 1e3 / ns,
            Self::GBPerS { bytes } => bytes / ns,
        }
    }
}

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub repeats: u32,
    /// Pairs of timings in each repeat.
    pub batches: u32,
    /// Turns of the loop in each timing.
    pub turns: u64,
}

/// The most bytes of a timing, which always has one turn: milliseconds on any wire.
const BATCH_BYTES: u64 = 8 << 20;
/// The most bytes of a repeat, which always has [`BATCHES_MIN`]: a second or so on the slowest wire.
const REPEAT_BYTES: u64 = 128 << 20;
const BATCHES_MIN: u32 = 3;

impl Plan {
    /// So many `batches` of so many `turns`, or fewer where a turn moves so many bytes that it would take minutes.
    pub fn new(repeats: u32, batches: u32, turns: u64, turn_bytes: u64) -> Self {
        let turn_bytes = turn_bytes.max(1);
        let turns = turns.min(BATCH_BYTES / turn_bytes).max(1);
        let most = REPEAT_BYTES / (turns * turn_bytes);
        let most = u32::try_from(most).unwrap_or(u32::MAX).max(BATCHES_MIN);
        Self {
            repeats,
            batches: batches.min(most),
            turns,
        }
    }
}

/// Measures `ours` in turn with each of `limits`. All PEs of the job must call this with
/// the same plan; the line is PE 0's.
pub fn measure(
    context: &Context,
    bench: &'static str,
    size_bytes: u64,
    unit: Unit,
    plan: Plan,
    mut ours: Loop<'_>,
    mut limits: Vec<Loop<'_>>,
) -> Result<Line> {
    let timed = |run: &mut Loop<'_>| -> Result<f64> {
        context.job.barrier()?;
        Ok(unit.value(run(plan.turns)?, plan.turns))
    };
    // Warm up: page faults, branch predictors, the clock of the cores.
    timed(&mut ours)?;
    for limit in &mut limits {
        timed(limit)?;
    }
    let mut all = Vec::new();
    let mut medians = Vec::new();
    let mut limit_medians = Vec::new();
    let mut ratios = Vec::new();
    for repeat in 0..plan.repeats {
        context.progress(bench, size_bytes, (repeat, plan.repeats));
        let mut own = Vec::new();
        let mut bare = vec![Vec::new(); limits.len()];
        for _ in 0..plan.batches {
            own.push(timed(&mut ours)?);
            for (limit, values) in limits.iter_mut().zip(&mut bare) {
                values.push(timed(limit)?);
            }
        }
        let mine = median(&own);
        medians.push(mine);
        all.extend(own);
        // The best of several candidates is the limit.
        let best = bare
            .iter()
            .map(|values| median(values))
            .reduce(if unit.is_time() { f64::min } else { f64::max });
        if let Some(best) = best {
            limit_medians.push(best);
            ratios.push(mine / best);
        }
    }
    let tail = if unit.is_time() { 0.99 } else { 0.01 };
    Ok(Line {
        bench: bench.into(),
        wire: "shm".into(),
        pes: context.job.pes(),
        size_bytes,
        unit: unit.name().into(),
        median: median(&medians),
        p99: quantile(&all, tail),
        min: all.iter().copied().fold(f64::INFINITY, f64::min),
        limit: (!limit_medians.is_empty()).then(|| median(&limit_medians)),
        ratio: (!ratios.is_empty()).then(|| median(&ratios)),
        repeats: plan.repeats,
    })
}

/// The middle value; not a number if there is none.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which the fraction `q` of `values` lies.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = (q * last as f64).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_taken_from_the_sorted_values() {
        let values = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(median(&values), 3.0);
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 0.99), 5.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn long_turns_are_few() {
        let shape = |batches, turns, bytes| {
            let plan = Plan::new(7, batches, turns, bytes);
            (plan.batches, plan.turns)
        };
        assert_eq!(shape(60, 400, 0), (60, 400));
        assert_eq!(shape(60, 400, 16), (60, 400));
        assert_eq!(shape(20, 100, 2 << 20), (16, 4));
        assert_eq!(shape(20, 100, 128 << 20), (3, 1));
        assert_eq!(shape(2, 100, u64::MAX), (2, 1));
    }

    #[test]
    fn units_convert() {
        let time = Duration::from_micros(1);
        assert_eq!(Unit::Ns { parts: 2.0 }.value(time, 10), 50.0);
        assert_eq!(Unit::MPerS.value(time, 10), 10.0);
        assert_eq!(Unit::GBPerS { bytes: 64.0 }.value(time, 10), 0.64);
    }
}
