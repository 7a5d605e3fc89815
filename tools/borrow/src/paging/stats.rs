//! What a pager counts.

/// Counters of a pager.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Threads that were stopped because a page was not here.
    pub faults_missing: u64,
    /// Threads that were stopped because they wanted to write a page that they could only read.
    pub faults_protected: u64,
    /// Faults that had been settled meanwhile.
    pub stray: u64,
    /// Pages that came before they were asked for.
    pub ahead: u64,
    /// Pages fetched.
    pub fetched: u64,
    /// Pages that began with zeros.
    pub zeros: u64,
    /// Pages written back.
    pub saved: u64,
    /// Pages that had to leave.
    pub removed: u64,
    /// Pages that programs took and map where they lie, so that they never move.
    pub mapped: u64,
    /// How long a thread waited for a page that was not here, since the pager received the fault.
    pub latency: Histogram,
}

/// Parts of each power of two.
const PARTS: usize = 4;
const BUCKETS: usize = 64 * PARTS;

/// How often a value was about this large: four classes per power of two.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            total: 0,
        }
    }
}

impl core::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Histogram({} values)", self.total)
    }
}

impl Histogram {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        if let Some(count) = self.counts.get_mut(class(value)) {
            *count += 1;
            self.total += 1;
        }
    }

    /// How many values there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// A value that `percent` of all values do not exceed: the upper end of its class. 0 without
    /// values.
    pub fn percentile(&self, percent: u64) -> u64 {
        let wanted = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (class, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return end(class);
            }
        }
        0
    }
}

/// The class of a value: the power of two below it, and the two bits behind.
fn class(value: u64) -> usize {
    if value < PARTS as u64 {
        return value as usize;
    }
    let power = value.ilog2() as usize;
    let part = (value >> (power - 2)) as usize & (PARTS - 1);
    (power - 1) * PARTS + part
}

/// The largest value of a class.
fn end(class: usize) -> u64 {
    if class < PARTS {
        return class as u64;
    }
    let (power, part) = (class / PARTS + 1, class % PARTS);
    let width = 1u64 << (power - 2);
    (1u64 << power) + width * part as u64 + (width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_each_other() {
        let mut before = 0;
        for value in 0..5000 {
            let now = class(value);
            assert!(now == before || now == before + 1, "{value}");
            assert!(end(now) >= value);
            before = now;
        }
        assert!(class(u64::MAX) < BUCKETS);
        assert_eq!(end(class(u64::MAX)), u64::MAX);
    }

    #[test]
    fn percentiles_are_within_a_quarter() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(50), 0);
        for value in 1..=1000 {
            histogram.add(value);
        }
        let median = histogram.percentile(50);
        assert!((500..=640).contains(&median), "{median}");
        assert!(histogram.percentile(100) >= 1000);
    }
}
