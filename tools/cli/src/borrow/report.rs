//! What `hostwire borrow --stats` prints.

use std::time::Duration;

use hostwire_borrow::PAGE_BYTES;
use hostwire_borrow::paging::Stats;

/// What a pager has done.
pub struct Done<'a> {
    /// Pages were mapped, and did not move.
    pub is_mapped: bool,
    pub stats: &'a Stats,
    /// Pages that programs had, at most.
    pub used_pages: u64,
    /// Bytes that programs asked for and did not get.
    pub refused_bytes: u64,
    pub took: Duration,
}

/// As counters, for `hostwire stats`.
pub fn values(stats: &Stats) -> Vec<(String, u64)> {
    let bytes = |pages: u64| pages.saturating_mul(PAGE_BYTES as u64);
    let rows = [
        ("faults, pages not here", stats.faults_missing),
        ("faults, stores", stats.faults_protected),
        ("hits, pages that came ahead", stats.ahead),
        ("bytes mapped, not moved", bytes(stats.mapped)),
        ("bytes fetched", bytes(stats.fetched)),
        ("bytes written back", bytes(stats.saved)),
        ("fault ns, median", stats.latency.percentile(50)),
        ("fault ns, 90 %", stats.latency.percentile(90)),
        ("fault ns, 99 %", stats.latency.percentile(99)),
    ];
    rows.map(|(name, value)| (name.to_owned(), value)).into()
}

/// As lines.
pub fn text(done: &Done<'_>) -> String {
    let stats = done.stats;
    let mib = |pages: u64| pages as f64 * PAGE_BYTES as f64 / f64::from(1 << 20);
    let us = |percent| stats.latency.percentile(percent) as f64 / 1000.0;
    let faults = stats.faults_missing + stats.faults_protected;
    let head = [
        format!("borrowed at most   {:.1} MiB", mib(done.used_pages)),
        format!(
            "not to be had      {:.1} MiB",
            done.refused_bytes as f64 / f64::from(1 << 20)
        ),
    ];
    let moved = [
        format!(
            "faults             {faults} ({} of pages not here, {} of stores)",
            stats.faults_missing, stats.faults_protected
        ),
        format!(
            "hits               {} pages that came ahead of the program",
            stats.ahead
        ),
        format!("fetched            {:.1} MiB", mib(stats.fetched)),
        format!("written back       {:.1} MiB", mib(stats.saved)),
        format!("began with zeros   {:.1} MiB", mib(stats.zeros)),
        format!(
            "time of a fault    {:.1} us median, {:.1} us 90 %, {:.1} us 99 %, {:.1} us longest",
            us(50),
            us(90),
            us(99),
            us(100)
        ),
    ];
    let mapped = [format!(
        "mapped             {:.1} MiB, which did not move",
        mib(stats.mapped)
    )];
    let rows = match done.is_mapped {
        true => &mapped[..],
        false => &moved,
    };
    let end = format!("time of the run    {:.3} s", done.took.as_secs_f64());
    let rows = head.iter().chain(rows).chain([&end]);
    let lines: Vec<String> = rows.map(|row| format!("  {row}")).collect();
    format!("hostwire borrow:\n{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counter_is_printed() {
        let mut stats = Stats {
            faults_missing: 3,
            faults_protected: 4,
            ahead: 5,
            fetched: 256,
            saved: 512,
            zeros: 768,
            ..Stats::default()
        };
        stats.latency.add(2_000);
        let done = |is_mapped, stats| Done {
            is_mapped,
            stats,
            used_pages: 1024,
            refused_bytes: 0,
            took: Duration::from_millis(1500),
        };
        let mapped = Stats {
            mapped: 1792,
            ..Stats::default()
        };
        let mapped = super::text(&done(true, &mapped));
        assert!(
            mapped.contains("7.0 MiB") && !mapped.contains("faults"),
            "{mapped}"
        );
        let text = text(&done(false, &stats));
        for part in [
            "4.0 MiB", "7 (3 of", "5 pages", "1.0 MiB", "2.0 MiB", "3.0 MiB", "1.500 s",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
