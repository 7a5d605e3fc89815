//! Latencies: percentiles, a histogram, flows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::Ps;

/// A message that has arrived.
#[derive(Clone, Copy, Debug)]
pub(in crate::experiments) struct Arrived {
    pub(in crate::experiments) flow: (u32, u32),
    pub(in crate::experiments) bytes: u64,
    pub(in crate::experiments) latency: Ps,
}

/// The messages from one processor to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowUse {
    /// Processor that sends.
    pub from: String,
    /// Processor that gets.
    pub to: String,
    /// How many.
    pub messages: u64,
    /// Their bytes.
    pub payload_bytes: u64,
    /// Mean of their latencies.
    pub latency_ns_mean: f64,
    /// Half of them took at most so long.
    pub latency_ns_p50: f64,
    /// 99 % of them took at most so long.
    pub latency_ns_p99: f64,
    /// The longest one.
    pub latency_ns_max: f64,
}

/// A part of the histogram of latencies; parts without messages are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// At least so long.
    pub from_ns: f64,
    /// Shorter than this.
    pub to_ns: f64,
    /// How many messages.
    pub messages: u64,
}

/// Buckets of a factor of two.
const BUCKETS_PER_OCTAVE_LOG2: u32 = 2;

/// Latencies of all messages.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// From the begin to the last arrival.
    pub time: Ps,
    /// Bytes of all messages.
    pub bytes: u64,
    /// In rising order.
    sorted: Vec<Ps>,
    flows: BTreeMap<(u32, u32), (u64, Vec<Ps>)>,
}

impl Latencies {
    /// `None` without messages.
    pub(in crate::experiments) fn of(arrived: Vec<Arrived>, time: Ps) -> Option<Latencies> {
        let mut flows: BTreeMap<_, (u64, Vec<Ps>)> = BTreeMap::new();
        for message in &arrived {
            let (bytes, latencies) = flows.entry(message.flow).or_default();
            *bytes += message.bytes;
            latencies.push(message.latency);
        }
        flows
            .values_mut()
            .for_each(|(_, latencies)| latencies.sort_unstable());
        let bytes = arrived.iter().map(|message| message.bytes).sum();
        let mut sorted: Vec<Ps> = arrived.iter().map(|message| message.latency).collect();
        sorted.sort_unstable();
        (!sorted.is_empty()).then_some(Latencies {
            time,
            bytes,
            sorted,
            flows,
        })
    }

    /// Number of messages.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// Mean of all latencies.
    pub fn mean_ns(&self) -> f64 {
        mean_ns(&self.sorted)
    }

    /// The latency that `per_mille` thousandths of the messages do not exceed.
    pub fn percentile_ns(&self, per_mille: u64) -> f64 {
        percentile(&self.sorted, per_mille).as_ns()
    }

    /// Every flow, by its processors, which `name` names.
    pub fn flows(&self, name: impl Fn(usize) -> String) -> Vec<FlowUse> {
        let flows = self.flows.iter();
        flows
            .map(|(&(from, to), (bytes, latencies))| FlowUse {
                from: name(from as usize),
                to: name(to as usize),
                messages: latencies.len() as u64,
                payload_bytes: *bytes,
                latency_ns_mean: mean_ns(latencies),
                latency_ns_p50: percentile(latencies, 500).as_ns(),
                latency_ns_p99: percentile(latencies, 990).as_ns(),
                latency_ns_max: percentile(latencies, 1_000).as_ns(),
            })
            .collect()
    }

    /// How many messages took how long: four buckets for each factor of two.
    pub fn histogram(&self) -> Vec<Bucket> {
        let mut buckets: Vec<(u32, u64)> = Vec::new();
        for latency in &self.sorted {
            let bucket = bucket_of(latency.0);
            match buckets.last_mut() {
                Some((last, messages)) if *last == bucket => *messages += 1,
                _ => buckets.push((bucket, 1)),
            }
        }
        buckets
            .into_iter()
            .map(|(bucket, messages)| Bucket {
                from_ns: Ps(bucket_begin(bucket)).as_ns(),
                to_ns: Ps(bucket_begin(bucket + 1)).as_ns(),
                messages,
            })
            .collect()
    }
}

/// Number of the bucket of a value.
fn bucket_of(value: u64) -> u32 {
    let octave = value.max(1).ilog2();
    // The bits behind the first one.
    let shifted = value << (63 - octave) << 1;
    let within = (shifted >> (64 - BUCKETS_PER_OCTAVE_LOG2)) as u32;
    octave << BUCKETS_PER_OCTAVE_LOG2 | within
}

/// The least value of a bucket.
fn bucket_begin(bucket: u32) -> u64 {
    let octave = bucket >> BUCKETS_PER_OCTAVE_LOG2;
    let within = u64::from(bucket & ((1 << BUCKETS_PER_OCTAVE_LOG2) - 1));
    let first = u128::from((1 << BUCKETS_PER_OCTAVE_LOG2) | within);
    let begin = first << octave >> BUCKETS_PER_OCTAVE_LOG2;
    u64::try_from(begin).unwrap_or(u64::MAX)
}

fn mean_ns(latencies: &[Ps]) -> f64 {
    let sum: u128 = latencies.iter().map(|latency| u128::from(latency.0)).sum();
    sum as f64 / latencies.len().max(1) as f64 / 1e3
}

/// The nearest rank, of values in rising order.
fn percentile(sorted: &[Ps], per_mille: u64) -> Ps {
    let rank = (sorted.len() as u64 * per_mille).div_ceil(1_000).max(1);
    let place = usize::try_from(rank - 1).ok();
    let value = place.and_then(|place| sorted.get(place));
    value.or(sorted.last()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values: Vec<Ps> = (1..=200).map(Ps).collect();
        assert_eq!(percentile(&values, 500), Ps(100));
        assert_eq!(percentile(&values, 990), Ps(198));
        assert_eq!(percentile(&values, 999), Ps(200));
        assert_eq!(percentile(&values, 1_000), Ps(200));
        assert_eq!(percentile(&values[..1], 1), Ps(1));
    }

    proptest! {
        #[test]
        fn every_value_lies_in_its_bucket(value in 0u64..1 << 62) {
            let bucket = bucket_of(value);
            prop_assert!(bucket_begin(bucket) <= value.max(1), "{bucket}");
            prop_assert!(value < bucket_begin(bucket + 1) || value < 4, "{bucket}");
        }

        /// Compared with counting.
        #[test]
        fn flows_and_histogram_count_everything(
            messages in prop::collection::vec((0u32..3, 0u32..3, 1u64..1 << 30), 1..200),
        ) {
            let arrived = messages.iter().map(|&(from, to, ps)| Arrived {
                flow: (from, to),
                bytes: 8,
                latency: Ps(ps),
            });
            let latencies = Latencies::of(arrived.collect(), Ps(1)).unwrap();
            let histogram = latencies.histogram();
            prop_assert_eq!(histogram.iter().map(|b| b.messages).sum::<u64>(), messages.len() as u64);
            for bucket in &histogram {
                let inside = |ps: u64| (bucket.from_ns..bucket.to_ns).contains(&Ps(ps).as_ns());
                let want = messages.iter().filter(|(.., ps)| inside(*ps)).count() as u64;
                prop_assert_eq!(bucket.messages, want, "{:?}", bucket);
            }
            for flow in latencies.flows(|index| index.to_string()) {
                let of_flow = messages.iter().filter(|(from, to, _)| {
                    (from.to_string(), to.to_string()) == (flow.from.clone(), flow.to.clone())
                });
                let times: Vec<u64> = of_flow.map(|(.., ps)| *ps).collect();
                prop_assert_eq!(flow.messages, times.len() as u64);
                prop_assert_eq!(flow.latency_ns_max, Ps(*times.iter().max().unwrap()).as_ns());
            }
        }
    }
}
