//! How far the two cores of a benchmark are from each other.
//!
//! Figures of the same build differ several times with it, and a hypervisor moves the cores of a virtual machine as it
//! likes, in the middle of a run too. So the half round trip of a line is measured with each figure, and before the first
//! and behind the last.

use std::borrow::Cow;
use std::time::Instant;

use hostwire::Result;
use hostwire_transport::limits;

use super::measure::median;
use super::pe::{Context, place};
use super::report::{Line, name};

/// Fitted: cores of one cache gave half round trips of 26 to 70 ns.
const NEAR_NS_MAX: f64 = 70.0;
/// Fitted: cores of two caches gave half round trips above 140 ns.
const FAR_NS_MIN: f64 = 140.0;
/// One of them may be disturbed, not half of them.
const PROBES: usize = 11;
const ROUNDS: u64 = 100;
/// More changes than these are only counted.
const CHANGES_MAX: usize = 4;

/// Where the two cores are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cores {
    /// They share a cache.
    Near,
    /// Farther than near cores are, and nearer than far ones.
    Between,
    /// They share none.
    Far,
    /// Near and far while one figure was taken.
    Moved,
}

impl Cores {
    const ALL: [Self; 4] = [Self::Near, Self::Between, Self::Far, Self::Moved];

    /// Where cores are between which a line takes `line_ns`.
    pub fn at(line_ns: f64) -> Self {
        match line_ns {
            _ if line_ns <= NEAR_NS_MAX => Self::Near,
            _ if line_ns > FAR_NS_MIN => Self::Far,
            _ => Self::Between,
        }
    }

    /// Where cores were that gave these half round trips in turn.
    pub fn during(lines_ns: &[f64]) -> Self {
        let was = |cores| lines_ns.iter().any(|ns| Self::at(*ns) == cores);
        match was(Self::Near) && was(Self::Far) {
            true => Self::Moved,
            false => Self::at(median(lines_ns)),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Near => "near",
            Self::Between => "between",
            Self::Far => "far",
            Self::Moved => "moved",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cores| cores.name() == name)
    }

    /// The same for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Near => "near",
            Self::Between => "neither near nor far",
            Self::Far => "far",
            Self::Moved => "near and far in turn",
        }
    }
}

/// The half round trip of a line between the two PEs, in nanoseconds. Both have to call it.
///
/// None without two cores, without two PEs, or where memory is not mapped.
///
/// # Errors
/// The memory is not there.
pub fn line_ns(bench: &Context) -> Result<Option<f64>> {
    if !bench.has_two_cores() || bench.job.pes() != 2 || !bench.is_mapped() {
        return Ok(None);
    }
    let own = place::PROBE + bench.job.pe() as usize;
    let other = place::PROBE + bench.peer() as usize;
    // Each side's line lies with the other, as a put would leave it.
    let (mine, theirs) = (
        bench.word(bench.peer(), own)?,
        bench.word(bench.job.pe(), other)?,
    );
    let mut turn = bench.probed.get();
    let times: Vec<f64> = (0..PROBES)
        .map(|_| {
            let begin = Instant::now();
            limits::ping_pong(bench.side(), mine, theirs, &mut turn, ROUNDS);
            begin.elapsed().as_nanos() as f64 / (2 * ROUNDS) as f64
        })
        .collect();
    bench.probed.set(turn);
    Ok(Some(median(&times)))
}

/// The benchmark that is only that, for the command.
pub fn run(bench: &Context) -> Result<()> {
    if let Some(ns) = line_ns(bench)? {
        bench.record(&Line::alone("line", "shm", 2, 64, "ns", vec![ns], 1));
    }
    Ok(())
}

/// The first line of a run. `line_ns` is None if it could not be measured.
pub fn sentence(line_ns: Option<f64>, has_two_cores: bool) -> String {
    let Some(ns) = line_ns else {
        if has_two_cores {
            return "cores: how far they are from each other could not be measured".to_owned();
        }
        return "cores: this process may use one core only, and both PEs share it".to_owned();
    };
    let words = Cores::at(ns).words();
    format!(
        "cores: {words}; {ns:.0} ns, half the round trip of a line (near: up to {NEAR_NS_MAX:.0} ns, far: above {FAR_NS_MIN:.0} ns)"
    )
}

/// Says where the cores were when, if that changed. `first` and `last` were taken before and behind all figures.
pub fn changes(first: Option<f64>, figures: &[Line], last: Option<f64>) -> Option<String> {
    let begin = first.map(|ns| (Cow::Borrowed("at first"), Cores::at(ns)));
    let middle = figures.iter().filter_map(|line| {
        let when = format!("at {}", name(line));
        line.cores.map(|cores| (Cow::Owned(when), cores))
    });
    let end = last.map(|ns| (Cow::Borrowed("at the end"), Cores::at(ns)));
    let mut stays: Vec<(Cow<'_, str>, Cores)> = Vec::new();
    for (when, cores) in begin.into_iter().chain(middle).chain(end) {
        if stays.last().is_none_or(|(_, known)| *known != cores) {
            stays.push((when, cores));
        }
    }
    let more = stays.len().saturating_sub(1 + CHANGES_MAX);
    if stays.len() < 2 {
        return None;
    }
    let said = stays.iter().take(1 + CHANGES_MAX);
    let said: Vec<String> = said
        .map(|(when, cores)| format!("{} {when}", cores.words()))
        .collect();
    let more = match more {
        0 => String::new(),
        more => format!(", and {more} changes more"),
    };
    Some(format!(
        "the cores moved during this run: {}{more}. Figures of near and of far cores cannot be compared",
        said.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(bench: &'static str, cores: Option<Cores>) -> Line {
        Line {
            cores,
            ..Line::alone(bench, "shm", 2, 8, "ns", vec![1.0], 1)
        }
    }

    #[test]
    fn the_half_round_trip_says_where_the_cores_are() {
        for (ns, cores) in [
            (26.0, Cores::Near),
            (70.0, Cores::Near),
            (70.1, Cores::Between),
            (140.0, Cores::Between),
            (140.1, Cores::Far),
        ] {
            assert_eq!(Cores::at(ns), cores, "{ns}");
        }
        assert_eq!(Cores::during(&[50.0, 60.0, 90.0]), Cores::Near);
        assert_eq!(Cores::during(&[50.0, 200.0, 50.0]), Cores::Moved);
        for cores in Cores::ALL {
            assert_eq!(Cores::from_name(cores.name()), Some(cores));
            let json = serde_json::to_string(&cores).unwrap();
            assert_eq!(json, format!("\"{}\"", cores.name()));
        }
    }

    #[test]
    fn the_first_line_has_words_and_the_figure() {
        let said = sentence(Some(45.4), true);
        assert!(said.starts_with("cores: near; 45 ns, half "), "{said}");
        let said = sentence(Some(101.0), true);
        assert!(said.starts_with("cores: neither near nor far; "), "{said}");
        assert!(sentence(None, false).contains("one core only"));
    }

    #[test]
    fn only_a_change_is_told_with_the_figure_where_it_was_seen() {
        let (near, far) = (Some(45.0), Some(200.0));
        let stay = [
            figure("latency", Some(Cores::Near)),
            figure("startup", None),
        ];
        assert_eq!(changes(near, &stay, near), None);
        assert_eq!(changes(None, &stay[1..], None), None);
        let said = changes(near, &stay, far).unwrap();
        assert!(said.contains(": near at first, far at the end."), "{said}");
        let moved = [
            figure("latency", Some(Cores::Near)),
            figure("put", Some(Cores::Far)),
        ];
        let said = changes(near, &moved, far).unwrap();
        let expected = ": near at first, far at put of 8 B, 2 PEs.";
        assert!(said.contains(expected), "{said}");
        let turns = [Cores::Near, Cores::Far].map(|cores| figure("get", Some(cores)));
        let turns: Vec<Line> = (0..4).flat_map(|_| turns.clone()).collect();
        let said = changes(near, &turns, near).unwrap();
        assert!(said.contains(", and 4 changes more."), "{said}");
    }
}
