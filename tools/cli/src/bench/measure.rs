//! Timings of hostwire and of the limit, in turn.

use std::time::{Duration, Instant};

use hostwire::Result;

use super::args::REPEATS;
use super::cores::{self, Cores};
use super::pe::Context;
use super::report::{self, Line};

/// Runs an operation `n` times and returns the time.
pub type Loop<'a> = Box<dyn FnMut(u64) -> Result<Duration> + 'a>;

/// What a figure is compared with.
pub enum Limits<'a> {
    /// The best of these.
    Best(Vec<Loop<'a>>),
    /// Nothing, and why.
    None(&'static str),
}

impl<'a> From<Vec<Loop<'a>>> for Limits<'a> {
    fn from(loops: Vec<Loop<'a>>) -> Self {
        Self::Best(loops)
    }
}

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

    /// The same with fewer batches if one of each kind, which takes `batch`, is so slow that all would take longer than a figure may.
    /// Fewer repeats than usual have no longer ones.
    fn within(self, batch: Duration) -> Self {
        let repeat_max = FIGURE_MAX / self.repeats.max(REPEATS);
        let fit = repeat_max.as_nanos() / batch.as_nanos().max(1);
        let fit = u32::try_from(fit).unwrap_or(u32::MAX).max(BATCHES_MIN);
        Self {
            batches: self.batches.min(fit),
            ..self
        }
    }
}

/// A figure that takes longer has fewer batches and repeats: no benchmark of a slow wire lasts for minutes.
const FIGURE_MAX: Duration = Duration::from_secs(6);

/// Measures `ours` in turn with each of `limits`. All PEs of the job must call this with
/// the same plan; the line is PE 0's.
pub fn measure<'a>(
    context: &Context,
    bench: &'static str,
    size_bytes: u64,
    unit: Unit,
    plan: Plan,
    mut ours: Loop<'_>,
    limits: impl Into<Limits<'a>>,
) -> Result<Line> {
    let (mut limits, no_limit) = match limits.into() {
        Limits::Best(loops) => (loops, None),
        Limits::None(why) => (Vec::new(), Some(why)),
    };
    let timed = |run: &mut Loop<'_>| -> Result<f64> {
        context.job.barrier()?;
        Ok(unit.value(run(plan.turns)?, plan.turns))
    };
    // Warm up: page faults, branch predictors, the clock of the cores.
    let begin = Instant::now();
    timed(&mut ours)?;
    for limit in &mut limits {
        timed(limit)?;
    }
    let plan = plan.within(of_first(context, begin.elapsed())?);
    let mut seen = Seen::default();
    let begin = Instant::now();
    for repeat in 0..plan.repeats {
        seen.lines_ns.extend(cores::line_ns(context)?);
        let mut own = Vec::new();
        let mut bare = vec![Vec::new(); limits.len()];
        for _ in 0..plan.batches {
            context.progress(bench, size_bytes, (repeat, plan.repeats));
            own.push(timed(&mut ours)?);
            for (limit, values) in limits.iter_mut().zip(&mut bare) {
                values.push(timed(limit)?);
            }
        }
        seen.repeat(own, &bare, unit);
        if of_first(context, begin.elapsed())? >= FIGURE_MAX {
            break;
        }
    }
    Ok(Line {
        bench: bench.into(),
        pes: context.job.pes(),
        size_bytes,
        no_limit: no_limit.map(Into::into),
        ..seen.line(unit)
    })
}

/// What PE 0 has measured, on all PEs: they have to do the same.
fn of_first(context: &Context, time: Duration) -> Result<Duration> {
    let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let mut ns = [if context.is_first() { ns } else { 0 }];
    context.job.all_reduce(&mut ns, u64::max)?;
    Ok(Duration::from_nanos(ns[0]))
}

/// What was measured of one figure.
#[derive(Default)]
struct Seen {
    all: Vec<f64>,
    medians: Vec<f64>,
    limits: Vec<f64>,
    ratios: Vec<f64>,
    lines_ns: Vec<f64>,
}

impl Seen {
    /// Takes the values of one repeat.
    fn repeat(&mut self, own: Vec<f64>, bare: &[Vec<f64>], unit: Unit) {
        let mine = median(&own);
        self.medians.push(mine);
        self.all.extend(own);
        // The best of several candidates is the limit.
        let best = bare
            .iter()
            .map(|values| median(values))
            .reduce(if unit.is_time() { f64::min } else { f64::max });
        if let Some(best) = best {
            self.limits.push(best);
            self.ratios.push(mine / best);
        }
    }

    /// All but what it is a figure of.
    fn line(&self, unit: Unit) -> Line {
        let tail = if unit.is_time() { 0.99 } else { 0.01 };
        let is_probed = !self.lines_ns.is_empty();
        let repeats = u32::try_from(self.medians.len()).unwrap_or(u32::MAX);
        // A disturbed limit makes a ratio as wrong as a disturbed figure does.
        let spreads = [&self.medians, &self.limits].map(|values| report::spread(values));
        let line = Line::alone("", "shm", 2, 0, unit.name(), Vec::new(), repeats);
        Line {
            median: median(&self.medians),
            p99: quantile(&self.all, tail),
            min: self.all.iter().copied().fold(f64::INFINITY, f64::min),
            limit: (!self.limits.is_empty()).then(|| median(&self.limits)),
            ratio: (!self.ratios.is_empty()).then(|| median(&self.ratios)),
            cores: is_probed.then(|| Cores::during(&self.lines_ns)),
            line_ns: is_probed.then(|| median(&self.lines_ns)),
            ..line
        }
        .with_spread(spreads.into_iter().flatten().reduce(f64::max))
    }
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
    fn a_disturbed_figure_or_limit_is_noisy_and_moved_cores_are_told() {
        let unit = Unit::Ns { parts: 1.0 };
        let seen = |own: [f64; 2], limits: [f64; 2], lines_ns: [f64; 2]| {
            let mut seen = Seen::default();
            for (own, limit) in own.into_iter().zip(limits) {
                seen.repeat(vec![own], &[vec![limit], vec![9.0 * limit]], unit);
            }
            seen.lines_ns.extend(lines_ns);
            seen.line(unit)
        };
        let calm = seen([10.0, 12.0], [5.0, 5.0], [50.0, 52.0]);
        assert_eq!((calm.spread, calm.noisy), (Some(1.2), false));
        assert_eq!((calm.cores, calm.repeats), (Some(Cores::Near), 2));
        assert!(seen([10.0, 31.0], [5.0, 5.0], [50.0, 52.0]).noisy);
        let limit = seen([10.0, 10.0], [4.0, 16.0], [50.0, 200.0]);
        assert_eq!((limit.spread, limit.noisy), (Some(4.0), true));
        assert_eq!(limit.cores, Some(Cores::Moved));
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
    fn slow_batches_are_few() {
        let batches = |repeats, batch| Plan::new(repeats, 60, 20, 0).within(batch).batches;
        assert_eq!(batches(12, Duration::ZERO), 60);
        assert_eq!(batches(12, Duration::from_millis(8)), 60);
        assert_eq!(batches(12, Duration::from_millis(100)), 5);
        assert_eq!(batches(12, Duration::from_secs(2)), BATCHES_MIN);
        assert_eq!(batches(1, Duration::from_millis(100)), 8);
    }

    #[test]
    fn units_convert() {
        let time = Duration::from_micros(1);
        assert_eq!(Unit::Ns { parts: 2.0 }.value(time, 10), 50.0);
        assert_eq!(Unit::MPerS.value(time, 10), 10.0);
        assert_eq!(Unit::GBPerS { bytes: 64.0 }.value(time, 10), 0.64);
    }
}
