//! A sweep that is not in the file: `key=from..to`, from a command line.

use std::borrow::Cow;
use std::ops::Range;
use std::str::FromStr;

use hostwire_plan::file::{FREQUENCY, Quantity, SIZE, TIME, WIDTH, clip};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::sweep::VALUES_MAX;

/// The reason why a text is not a sweep. Quoted parts of it are clipped and have no
/// control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RangeError {
    /// There is no key, or nothing behind it.
    #[error("`{0}` is no sweep: expected `key=from..to` or `key=value,value`")]
    Form(String),
    /// From and to are not of one kind, or no numbers at all.
    #[error("`{from}..{to}`: expected two numbers, or two quantities of one kind such as 8B..4KiB")]
    Ends {
        /// Where it begins.
        from: String,
        /// Where it ends.
        to: String,
    },
    /// The step cannot be made.
    #[error("`{0}` is no step: expected what is added (such as 5ns), or `x2` to multiply")]
    Step(String),
    /// A range of this kind has no usual step.
    #[error("`{0}` has no step: add one, as in `from..to:5ns` or `from..to:x2`")]
    NoStep(String),
    /// It ends before it begins.
    #[error("`{0}` ends before it begins")]
    Empty(String),
    /// Too many values.
    #[error("`{0}` has more than {VALUES_MAX} values")]
    TooMany(String),
}

/// A key and its values, which replace the sweep of the file.
///
/// ```
/// use hostwire_sim::experiments::file::SweepRange;
/// let sweep: SweepRange = "workload.size=8B..64B".parse()?;
/// assert_eq!(sweep.values(), ["8B", "16B", "32B", "64B"]);
/// let sweep: SweepRange = "parameters.hop=20ns..30ns:5ns".parse()?;
/// assert_eq!(sweep.values(), ["20ns", "25ns", "30ns"]);
/// # Ok::<(), hostwire_sim::experiments::file::RangeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepRange {
    /// As written on the command line.
    text: String,
    key: Range<usize>,
    values: Vec<String>,
    /// Where in `text` each value is from: a range is the place of all its values.
    places: Vec<Range<usize>>,
}

/// A unit to write values in, and how many of the smallest unit it holds.
type Unit = (&'static str, u64);

const KINDS: [(&Quantity, &[Unit]); 4] = [
    (
        &SIZE,
        &[
            ("TiB", 1 << 40),
            ("GiB", 1 << 30),
            ("MiB", 1 << 20),
            ("KiB", 1 << 10),
            ("B", 1),
        ],
    ),
    (
        &TIME,
        &[
            ("ms", 1_000_000_000),
            ("us", 1_000_000),
            ("ns", 1_000),
            ("ps", 1),
        ],
    ),
    (&FREQUENCY, &[("MHz", 1)]),
    (&WIDTH, &[("bit", 1)]),
];

impl SweepRange {
    /// The key, by its tables.
    pub fn key(&self) -> &str {
        self.text.get(self.key.clone()).unwrap_or_default()
    }

    /// The values, as a file would have them.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// As written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// As the table `[sweep]` of a file. Its places are those in [`text`](Self::text), which
    /// begins at `start`.
    pub(super) fn table(&self, start: usize) -> DeTable<'_> {
        let at = |place: &Range<usize>| start + place.start..start + place.end;
        let whole = start..start + self.text.len();
        let name = |name| Spanned::new(whole.clone(), Cow::Borrowed(name));
        let values = self.values.iter().zip(&self.places);
        let values = values.map(|(value, place)| Spanned::new(at(place), value_of(value)));
        let mut table = DeTable::new();
        let key = DeValue::String(Cow::Borrowed(self.key()));
        table.insert(name("key"), Spanned::new(at(&self.key), key));
        let values = DeValue::Array(values.collect());
        table.insert(name("values"), Spanned::new(whole.clone(), values));
        table
    }
}

/// A number if it is one, else text.
fn value_of(text: &str) -> DeValue<'_> {
    let number = || {
        text.parse::<i64>().ok()?;
        DeValue::parse(text).ok().map(Spanned::into_inner)
    };
    number().unwrap_or(DeValue::String(Cow::Borrowed(text)))
}

impl FromStr for SweepRange {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<SweepRange, RangeError> {
        let form = || RangeError::Form(clip(text));
        let (key, range) = text.split_once('=').ok_or_else(form)?;
        let (key, range) = (key.trim(), range.trim());
        if key.is_empty() || range.is_empty() {
            return Err(form());
        }
        let place = |part: &str| {
            let from = part.as_ptr().addr() - text.as_ptr().addr();
            from..from + part.len()
        };
        let (values, places) = match range.split_once("..") {
            Some((from, rest)) => {
                let (to, step) = match rest.split_once(':') {
                    Some((to, step)) => (to, Some(step.trim())),
                    None => (rest, None),
                };
                let values = expand(range, from.trim(), to.trim(), step)?;
                let places = vec![place(range); values.len()];
                (values, places)
            }
            None => {
                let values = || range.split(',').map(str::trim);
                (
                    values().map(str::to_owned).collect(),
                    values().map(place).collect(),
                )
            }
        };
        if values.iter().any(String::is_empty) {
            return Err(form());
        }
        if values.len() > VALUES_MAX {
            return Err(RangeError::TooMany(clip(range)));
        }
        Ok(SweepRange {
            text: text.to_owned(),
            key: place(key),
            values,
            places,
        })
    }
}

#[derive(Clone, Copy)]
enum Step {
    Add(u64),
    Multiply(u64),
}

fn expand(
    range: &str,
    from: &str,
    to: &str,
    step: Option<&str>,
) -> Result<Vec<String>, RangeError> {
    for (quantity, units) in KINDS {
        let (Ok(first), Ok(last)) = (quantity.parse(from), quantity.parse(to)) else {
            continue;
        };
        let usual = std::ptr::eq(quantity, &SIZE).then_some(Step::Multiply(2));
        let step = read_step(range, step, usual, |text| quantity.parse(text).ok())?;
        let values = steps(range, first, last, step)?;
        return Ok(values.into_iter().map(|v| written(v, units)).collect());
    }
    let (Ok(first), Ok(last)) = (from.parse::<u64>(), to.parse::<u64>()) else {
        return Err(RangeError::Ends {
            from: clip(from),
            to: clip(to),
        });
    };
    let step = read_step(range, step, Some(Step::Add(1)), |text| text.parse().ok())?;
    let values = steps(range, first, last, step)?;
    Ok(values.into_iter().map(|value| value.to_string()).collect())
}

fn read_step(
    range: &str,
    text: Option<&str>,
    usual: Option<Step>,
    parse: impl Fn(&str) -> Option<u64>,
) -> Result<Step, RangeError> {
    let Some(text) = text else {
        return usual.ok_or_else(|| RangeError::NoStep(clip(range)));
    };
    let step = match text.strip_prefix('x') {
        Some(factor) => {
            let factor = factor.parse().ok().filter(|factor| *factor > 1);
            factor.map(Step::Multiply)
        }
        None => parse(text).filter(|step| *step > 0).map(Step::Add),
    };
    step.ok_or_else(|| RangeError::Step(clip(text)))
}

/// From `first` up to `last`, and `last` itself only if a step reaches it.
fn steps(range: &str, first: u64, last: u64, step: Step) -> Result<Vec<u64>, RangeError> {
    if last < first {
        return Err(RangeError::Empty(clip(range)));
    }
    if let (0, Step::Multiply(_)) = (first, step) {
        return Err(RangeError::Step(
            "a factor, from 0 where none gets anywhere".to_owned(),
        ));
    }
    let next = |value: &u64| match step {
        Step::Add(amount) => value.checked_add(amount),
        Step::Multiply(factor) => value.checked_mul(factor),
    };
    let values: Vec<u64> = std::iter::successors(Some(first), next)
        .take_while(|value| *value <= last)
        .take(VALUES_MAX + 1)
        .collect();
    if values.len() > VALUES_MAX {
        return Err(RangeError::TooMany(clip(range)));
    }
    Ok(values)
}

/// In the largest unit that divides it.
fn written(value: u64, units: &[Unit]) -> String {
    let divides = |(_, scale): &&Unit| value >= *scale && value.is_multiple_of(*scale);
    let unit = units.iter().find(divides).or(units.last());
    let (name, scale) = unit.copied().unwrap_or(("", 1));
    format!("{}{name}", value / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        text.parse::<SweepRange>().unwrap().values
    }

    fn error(text: &str) -> String {
        text.parse::<SweepRange>().unwrap_err().to_string()
    }

    #[test]
    fn ranges_are_expanded() {
        assert_eq!(values("k=512B..2KiB"), ["512B", "1KiB", "2KiB"]);
        assert_eq!(values("k=8B..40B:16B"), ["8B", "24B", "40B"]);
        assert_eq!(values("k=8B..30B:x3"), ["8B", "24B"]);
        assert_eq!(values("k=1..4"), ["1", "2", "3", "4"]);
        assert_eq!(values("k=1..100:x10"), ["1", "10", "100"]);
        assert_eq!(
            values("k=0.5ns..2ns:500ps"),
            ["500ps", "1ns", "1500ps", "2ns"]
        );
        assert_eq!(values("k=0ns..2ns:1ns"), ["0ps", "1ns", "2ns"]);
        assert_eq!(
            values("k=0.2GHz..800MHz:x2"),
            ["200MHz", "400MHz", "800MHz"]
        );
        assert_eq!(values("k=n1, n2"), ["n1", "n2"]);
        assert_eq!(values("k=7..7"), ["7"]);
    }

    #[test]
    fn what_is_no_range_is_refused() {
        assert!(error("size").contains("key=from..to"));
        assert!(error("=1..2").contains("key=from..to"));
        assert!(error("k=a,,b").contains("key=from..to"));
        assert!(error("k=1..").contains("two numbers"));
        assert!(error("k=1B..2ns").contains("one kind"));
        assert!(error("k=1ns..2ns").contains("has no step"));
        assert!(error("k=1..2:0").contains("no step"));
        assert!(error("k=1..2:x1").contains("no step"));
        assert!(error("k=1..2:1ns").contains("no step"));
        assert!(error("k=0..2:x2").contains("from 0"));
        assert!(error("k=2..1").contains("ends before"));
        assert!(error("k=1..1001").contains("1000 values"));
        assert!(error("k=1..18446744073709551615").contains("1000 values"));
        assert_eq!(
            values("k=1..18446744073709551615:x18446744073709551615").len(),
            2
        );
    }

    #[test]
    fn errors_quote_little_and_nothing_that_a_terminal_obeys() {
        let long = "9".repeat(5000);
        for bad in [
            "\u{1b}[2J".to_owned(),
            format!("k={long}\u{7}..1"),
            format!("k=\u{7}..{long}"),
            format!("k=1..2:\u{7}{long}"),
            format!("k=2{long}..\u{7}"),
        ] {
            let text = error(&bad);
            assert!(!text.contains(char::is_control), "{text:?}");
            assert!(text.len() < 300, "{} bytes", text.len());
        }
    }

    #[test]
    fn any_text_is_a_value_and_has_its_place() {
        let text = " a.b = \u{1}\"\\ , 3,é";
        let sweep: SweepRange = text.parse().unwrap();
        let table = sweep.table(100);
        let found = |key: &str| {
            let (_, value) = table
                .iter()
                .find(|(name, _)| name.get_ref() == key)
                .unwrap();
            value
        };
        let at = |value: &Spanned<DeValue<'_>>| {
            let place = value.span();
            text.get(place.start - 100..place.end - 100).unwrap()
        };
        assert_eq!(found("key").get_ref().as_str(), Some("a.b"));
        assert_eq!(at(found("key")), "a.b");
        let values = found("values").get_ref().as_array().unwrap();
        let places: Vec<_> = values.iter().map(at).collect();
        assert_eq!(places, ["\u{1}\"\\", "3", "é"]);
        assert_eq!(values[0].get_ref().as_str(), Some("\u{1}\"\\"));
        assert_eq!(values[1].get_ref().as_integer().unwrap().as_str(), "3");
    }

    #[test]
    fn a_range_is_the_place_of_its_values() {
        let sweep: SweepRange = "k = 1..2".parse().unwrap();
        assert_eq!(sweep.places, [4..8, 4..8]);
    }
}
