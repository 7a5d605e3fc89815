//! Axes: range, ticks and their labels.

use std::ops::Range;

/// From this ratio of the largest to the least value on, an axis is logarithmic.
const LOG_FROM: f64 = 50.0;

/// How an axis is laid out.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// From zero.
    Linear,
    /// Powers of ten.
    Log,
    /// Powers of two of a number of bytes.
    Bytes,
    /// Words, in their order.
    Words(Vec<String>),
}

impl Scale {
    /// Powers of ten if the values have a large range and none is zero, else from zero.
    pub fn fitting(values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = extremes(values);
        match low > 0.0 && high / low >= LOG_FROM {
            true => Scale::Log,
            false => Scale::Linear,
        }
    }

    /// Whether each step multiplies.
    pub fn is_log(&self) -> bool {
        matches!(self, Scale::Log | Scale::Bytes)
    }

    /// Whether a value has a place on the axis.
    pub fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.is_log() || value > 0.0)
    }

    /// The factor of a step.
    pub fn base(&self) -> f64 {
        if *self == Scale::Bytes { 2.0 } else { 10.0 }
    }

    /// From the least to the largest value, with some room.
    pub fn range(&self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let (low, high) = extremes(values);
        if low > high {
            return if self.is_log() { 1.0..2.0 } else { 0.0..1.0 };
        }
        match self {
            Scale::Log | Scale::Bytes => low / 1.2..high * 1.2,
            Scale::Words(words) => -0.5..words.len() as f64 - 0.5,
            Scale::Linear => {
                let high = if high > 0.0 { high * 1.12 } else { 1.0 };
                low.min(0.0)..high
            }
        }
    }

    /// Label of a value.
    pub fn label(&self, value: f64) -> String {
        match self {
            Scale::Bytes => bytes(value),
            Scale::Words(words) => {
                let near = value.round();
                let word = (near >= 0.0 && (value - near).abs() < 0.01)
                    .then(|| words.get(near as usize))
                    .flatten();
                word.cloned().unwrap_or_default()
            }
            Scale::Log | Scale::Linear => number(value),
        }
    }

    /// A value with all of its digits that matter.
    pub fn exact(&self, value: f64) -> String {
        match value.abs() {
            small if small < 1.0 => format!("{value:.4}"),
            large if large >= 1000.0 => format!("{value:.0}"),
            _ => format!("{value:.2}"),
        }
    }
}

/// The least and the largest of values.
fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// The axis has the unit bytes.
fn bytes(value: f64) -> String {
    let units = [(1048576.0, " Mi"), (1024.0, " Ki")];
    let unit = units.into_iter().find(|(size, _)| value >= *size);
    let (size, name) = unit.unwrap_or((1.0, ""));
    format!("{}{name}", number(value / size))
}

fn number(value: f64) -> String {
    let large = [(1e9, " G"), (1e6, " M"), (1e4, " k")];
    if let Some((size, name)) = large.into_iter().find(|(size, _)| value.abs() >= *size) {
        let size = if name == " k" { 1e3 } else { size };
        let text = format!("{:.1}", value / size);
        return text.trim_end_matches('0').trim_end_matches('.').to_owned() + name;
    }
    if value != 0.0 && value.abs() < 0.1 {
        return format!("{value:.1e}");
    }
    if value != 0.0 && value.abs() < 10.0 {
        let text = format!("{value:.2}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    format!("{value:.0}")
}

/// A name for a file, out of any text.
pub fn file_name(text: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    format!("{}.svg", text.chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_units() {
        assert_eq!(Scale::Bytes.label(8.0), "8");
        assert_eq!(Scale::Bytes.label(4096.0), "4 Ki");
        assert_eq!(Scale::Bytes.label(4194304.0), "4 Mi");
        assert_eq!(Scale::Linear.label(0.5), "0.5");
        let exact = [0.123_456, 12.345, 2_397_119.1].map(|value| Scale::Log.exact(value));
        assert_eq!(exact, ["0.1235", "12.35", "2397119"]);
        assert_eq!(Scale::Words(vec!["ring".into()]).label(0.0), "ring");
        assert_eq!(Scale::Words(vec!["ring".into()]).label(-0.4), "");
    }

    #[test]
    fn an_axis_is_logarithmic_where_the_range_asks_for_it() {
        let fitting = |values: &[f64]| Scale::fitting(values.iter().copied());
        assert_eq!(fitting(&[1.0, 49.0]), Scale::Linear);
        assert_eq!(fitting(&[1.0, 7.0, 50.0]), Scale::Log);
        assert_eq!(fitting(&[0.0, 1e6]), Scale::Linear);
        assert_eq!(fitting(&[]), Scale::Linear);
        assert_eq!(Scale::Linear.label(25_000.0), "25 k");
        assert_eq!(Scale::Log.label(0.01), "1.0e-2");
    }

    #[test]
    fn any_values_have_a_range() {
        for scale in [
            Scale::Linear,
            Scale::Log,
            Scale::Bytes,
            Scale::Words(vec![]),
        ] {
            for values in [vec![], vec![1.0], vec![1.0, 1e300]] {
                let range = scale.range(values.into_iter());
                assert!(
                    range.start < range.end || scale == Scale::Words(vec![]),
                    "{scale:?}"
                );
            }
        }
    }
}
