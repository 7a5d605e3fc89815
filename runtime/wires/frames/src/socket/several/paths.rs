//! Which of several paths the frames for one host take: without I/O.
//!
//! A path leads from an interface here to the one of the same number there. Two rules:
//!
//! - *A change of path waits for a quiet moment.* A frame on another path may overtake frames in
//!   flight, and the receiving link takes that for a loss. After a quiet moment no frames are in
//!   flight (flowlets, as in CONGA and LetFlow). Then the path is drawn anew, so that frames for
//!   several hosts, and bursts for one host, spread over all paths.
//! - *A path that does not work is left at once.* While frames are exchanged, both hosts send short
//!   [`Report`]s over all paths. A report says over which paths its sender hears the other. A path is
//!   silent if nothing comes over it while others bring reports. So each host knows for each path
//!   whether its own frames arrive (as with BFD, RFC 5880). Reports also take silent paths, so a
//!   repaired path is noticed.

use hostwire_link::Ns;

use super::super::super::address::INTERFACES_MAX;
use super::report::Report;

/// Frames sent longer ago have arrived, or are lost.
pub(super) const QUIET_NS: u64 = 500_000;
/// Time between two reports to one host.
pub(super) const REPORT_NS: u64 = 25_000_000;
/// A path is silent if so many reports come over each other path and nothing comes over it. Reports
/// are counted instead of time, because a busy host is not heard at all.
pub(super) const MISSED_MAX: u32 = 4;
/// A path on which sending failed is tried again after this time.
pub(super) const REFUSED_NS: u64 = 100_000_000;
/// How long reports are sent after a frame: longer than a link waits before it sends a lost frame
/// again.
pub(super) const ACTIVE_NS: u64 = 300_000_000;

/// All paths to one host.
#[derive(Debug, Clone)]
pub(super) struct Paths {
    count: usize,
    paths: [Path; INTERFACES_MAX],
    current: usize,
    /// When a frame left last.
    sent_at: Ns,
    /// Until when reports are sent.
    active_until: Ns,
    /// Until when the other host is asked for reports.
    asks_until: Ns,
    report_at: Ns,
    /// State of the generator that draws paths.
    random: u64,
}

#[derive(Debug, Clone, Copy)]
struct Path {
    /// Reports that came over other paths since something came over this one.
    missed: u32,
    /// Whether frames on it arrive, as the other host says.
    arrives: bool,
    /// Until when nothing is sent over it because the system refused.
    refused_until: Ns,
}

impl Paths {
    /// `count` paths, two to [`INTERFACES_MAX`], in unknown state. `seed` differs for each host.
    pub(super) fn new(count: usize, seed: u64) -> Self {
        let path = Path {
            missed: 0,
            arrives: true,
            refused_until: Ns(0),
        };
        let mut paths = Self {
            count: count.clamp(2, INTERFACES_MAX),
            paths: [path; INTERFACES_MAX],
            current: 0,
            sent_at: Ns(0),
            active_until: Ns(0),
            asks_until: Ns(0),
            report_at: Ns(0),
            // Never 0: the generator would stay at 0.
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        };
        paths.current = paths.draw(paths.count);
        paths
    }

    fn known(&self) -> &[Path] {
        self.paths.get(..self.count).unwrap_or_default()
    }

    /// A frame came over a path.
    pub(super) fn heard(&mut self, now: Ns, path: usize) {
        if let Some(path) = self.paths.get_mut(path) {
            path.missed = 0;
        }
        self.frame(now);
    }

    /// A report came over a path.
    pub(super) fn told(&mut self, now: Ns, path: usize, report: Report) {
        for (number, known) in self.paths.iter_mut().enumerate() {
            known.arrives = report.hears >> number & 1 == 1;
            known.missed = match number == path {
                true => 0,
                false => known.missed.saturating_add(1),
            };
        }
        if report.asks {
            self.active_until = self.active_until.max(now.after(ACTIVE_NS));
        }
    }

    /// The system refused a frame for a path.
    pub(super) fn refused(&mut self, now: Ns, path: usize) {
        if let Some(path) = self.paths.get_mut(path) {
            path.refused_until = now.after(REFUSED_NS);
        }
    }

    /// The path for a frame that leaves now.
    pub(super) fn choose(&mut self, now: Ns) -> usize {
        let is_quiet = now.since(self.sent_at) >= QUIET_NS;
        self.frame(now);
        self.sent_at = now;
        let usable = self.usable(now);
        if is_quiet || usable >> self.current & 1 == 0 {
            self.current = self.drawn(usable);
        }
        self.current
    }

    /// The report that is due now, if any. It has to be sent over all paths.
    pub(super) fn report(&mut self, now: Ns) -> Option<Report> {
        if now < self.report_at || now >= self.active_until {
            return None;
        }
        self.report_at = now.after(REPORT_NS);
        let hears = self.bits(|path| !self.is_silent(path));
        Some(Report {
            hears,
            asks: now < self.asks_until,
        })
    }

    /// A frame leaves or has come.
    fn frame(&mut self, now: Ns) {
        self.active_until = now.after(ACTIVE_NS);
        self.asks_until = self.active_until;
    }

    /// Compared with other paths: if nothing comes at all, no path is worse than another.
    const fn is_silent(&self, path: &Path) -> bool {
        path.missed >= MISSED_MAX * (self.count as u32 - 1)
    }

    /// Bit `n` is set if path `n` works, as far as is known.
    fn usable(&self, now: Ns) -> u8 {
        let taken = |path: &Path| now >= path.refused_until;
        let arrives = self.bits(|path| taken(path) && path.arrives);
        match (arrives, self.bits(taken)) {
            (0, 0) => self.bits(|_| true),
            (0, taken) => taken,
            (arrives, _) => arrives,
        }
    }

    fn bits(&self, is_so: impl Fn(&Path) -> bool) -> u8 {
        let paths = self.known().iter().enumerate();
        paths.fold(0, |bits, (number, path)| {
            bits | u8::from(is_so(path)) << number
        })
    }

    /// One of the paths whose bits are set.
    fn drawn(&mut self, usable: u8) -> usize {
        let nth = self.draw(usable.count_ones() as usize);
        let mut set = (0..self.count).filter(|number| usable >> number & 1 == 1);
        set.nth(nth).unwrap_or(self.current)
    }

    /// A number below `end`, by Marsaglia's xorshift.
    fn draw(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        match end {
            0 | 1 => 0,
            // The low bits are less random.
            end => (self.random >> 33) as usize % end,
        }
    }
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
