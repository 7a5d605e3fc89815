//! A value and its unit, in the unit that reads well.

/// Units of one kind, the smaller first, and how many of the smallest each holds.
type Kind = &'static [(&'static str, f64)];

const KIB: f64 = 1024.0;
const KINDS: [Kind; 6] = [
    &[
        ("ps", 1e-3),
        ("ns", 1.0),
        ("us", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
    ],
    &[
        ("B", 1.0),
        ("KiB", KIB),
        ("MiB", KIB * KIB),
        ("GiB", KIB * KIB * KIB),
        ("TiB", KIB * KIB * KIB * KIB),
    ],
    &[
        ("B/s", 1.0),
        ("KiB/s", KIB),
        ("MiB/s", KIB * KIB),
        ("GiB/s", KIB * KIB * KIB),
    ],
    &[("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)],
    &[("kb/s", 1e3), ("Mb/s", 1e6), ("Gb/s", 1e9), ("Tb/s", 1e12)],
    &[("/s", 1.0), ("k/s", 1e3), ("M/s", 1e6), ("G/s", 1e9)],
];

/// The unit in which `value` has one to three digits before its point, and the factor from `unit`
/// to it. `unit` itself where no other one is better.
pub fn scale(value: f64, unit: &str) -> (f64, &str) {
    let Some((kind, of_unit)) = KINDS.iter().find_map(|kind| {
        let (_, size) = kind.iter().find(|(name, _)| *name == unit)?;
        Some((kind, *size))
    }) else {
        return (1.0, unit);
    };
    let base = (value * of_unit).abs();
    if base == 0.0 || !base.is_finite() {
        return (1.0, unit);
    }
    let fitting = kind.iter().rev().find(|(_, size)| base >= *size);
    match fitting.or(kind.first()) {
        Some((name, size)) => (of_unit / size, name),
        None => (1.0, unit),
    }
}

/// `6067220445.6` of `ns` as `6.067 s`; a value without a unit as a number.
pub fn figure(value: f64, unit: &str) -> String {
    let (factor, unit) = scale(value, unit);
    let number = number(value * factor);
    match unit {
        "" => number,
        "%" => format!("{number} %"),
        _ => format!("{number} {unit}"),
    }
}

/// Three decimals, or none for a whole number.
fn number(value: f64) -> String {
    // Whole numbers up to 2^53 are exact.
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        format!("{value:.0}")
    } else {
        format!("{value:.3}")
    }
}

/// `value` with so many digits, and never as a power of ten.
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    let before = value.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(digits - before).unwrap_or(0).min(12);
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_unit_that_reads_well() {
        for (value, unit, text) in [
            (6_067_220_445.6, "ns", "6.067 s"),
            (226.823, "ns", "226.823 ns"),
            (0.5, "ns", "500 ps"),
            (1e3, "ns", "1 us"),
            (999.9996, "ns", "1000.000 ns"),
            (5e12, "ns", "5000 s"),
            (0.0001, "ps", "0.000 ps"),
            (1536.0, "B", "1.500 KiB"),
            (1749.249, "MiB/s", "1.708 GiB/s"),
            (3647.0, "MB/s", "3.647 GB/s"),
            (0.005, "Gb/s", "5 Mb/s"),
            (6000.0, "", "6000"),
            (12.385, "", "12.385"),
            (42.679, "%", "42.679 %"),
            (7.0, "lanes", "7 lanes"),
            (0.0, "ns", "0 ns"),
            (f64::NAN, "ns", "NaN ns"),
        ] {
            assert_eq!(figure(value, unit), text);
        }
    }

    #[test]
    fn digits_are_counted_from_the_first() {
        for (value, text) in [
            (1.38, "1.38"),
            (0.0155, "0.0155"),
            (297.4, "297"),
            (11.32, "11.3"),
            (1234.0, "1234"),
            (0.0, "0"),
        ] {
            assert_eq!(significant(value, 3), text);
        }
    }
}
