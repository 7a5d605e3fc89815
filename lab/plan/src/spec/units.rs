//! Quantities with units: `"16GiB"`, `"800MHz"`, `"16bit"`, `"24in"`.

use std::fmt;

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitError {
    /// No number at the start, or one with too many digits.
    NotANumber,
    /// A number without a unit.
    MissingUnit,
    /// A unit that this quantity does not have.
    UnknownUnit(String),
    /// The value does not fit, or is not a whole number of the smallest unit.
    NotExact,
}

/// A kind of quantity: its units and how many of the smallest unit each holds.
pub struct Quantity {
    /// For messages: `a size`, `a frequency`.
    pub noun: &'static str,
    /// For messages: how one is written.
    pub example: &'static str,
    units: &'static [Unit],
}

/// Its name, and how many of the smallest unit it holds.
pub(super) type Unit = (&'static str, u64);

const BINARY: &[(&str, u64)] = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Memory sizes, in bytes.
pub const SIZE: Quantity = Quantity {
    noun: "a size",
    example: "\"16GiB\"",
    units: BINARY,
};

/// Addresses that are a round size.
pub const ADDRESS: Quantity = Quantity {
    noun: "an address",
    example: "\"4GiB\" or \"0x1_0000_0000\"",
    units: BINARY,
};

/// Link clocks, in MHz.
pub const FREQUENCY: Quantity = Quantity {
    noun: "a link frequency",
    example: "\"800MHz\"",
    units: &[("MHz", 1), ("GHz", 1000)],
};

/// Rates of a lane, in millions of transfers per second.
pub const RATE: Quantity = Quantity {
    noun: "a rate",
    example: "\"5GT/s\"",
    units: &[("MT/s", 1), ("GT/s", 1000)],
};

/// Link widths, in bits.
pub const WIDTH: Quantity = Quantity {
    noun: "a link width",
    example: "\"16bit\"",
    units: &[("bit", 1)],
};

/// Trace and cable lengths, in micrometres (an inch is exactly 25,400).
pub const LENGTH: Quantity = Quantity {
    noun: "a length",
    example: "\"24in\" or \"60cm\"",
    units: &[
        ("in", 25_400),
        ("mm", 1_000),
        ("cm", 10_000),
        ("m", 1_000_000),
    ],
};

/// Times, in picoseconds.
pub const TIME: Quantity = Quantity {
    noun: "a time",
    example: "\"50ns\"",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
    ],
};

/// Bandwidths, in bytes per second.
pub const BANDWIDTH: Quantity = Quantity {
    noun: "a bandwidth",
    example: "\"12.8GB/s\"",
    units: &[("MB/s", 1_000_000), ("GB/s", 1_000_000_000)],
};

impl Quantity {
    /// The units, for messages.
    pub fn unit_names(&self) -> String {
        let names: Vec<_> = self.units.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// Reads `text` into the smallest unit, exactly.
    ///
    /// # Errors
    /// [`UnitError`] says what is wrong with it.
    pub fn parse(&self, text: &str) -> Result<u64, UnitError> {
        Ok(self.parse_with_unit(text)?.0)
    }

    /// As [`parse`](Self::parse), with the unit of the text: its name, and how many of the smallest it
    /// holds.
    pub(super) fn parse_with_unit(&self, text: &str) -> Result<(u64, Unit), UnitError> {
        let text = text.trim();
        let number_len = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(number_len);
        let number: String = number.chars().filter(|&c| c != '_').collect();
        let unit = unit.trim_start();
        let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
        if whole.is_empty() || whole.len() > 19 || fraction.len() > 9 || fraction.contains('.') {
            return Err(UnitError::NotANumber);
        }
        if unit.is_empty() {
            return Err(UnitError::MissingUnit);
        }
        // Sizes as options have them: 64M.
        let long = format!("{}iB", unit.to_ascii_uppercase());
        let is_unit = |(name, _): &&Unit| *name == unit || *name == long;
        let Some(&(name, scale)) = self.units.iter().find(is_unit) else {
            return Err(UnitError::UnknownUnit(unit.to_owned()));
        };
        let whole: u64 = whole.parse().map_err(|_| UnitError::NotANumber)?;
        let mut value = whole.checked_mul(scale).ok_or(UnitError::NotExact)?;
        if !fraction.is_empty() {
            // At most nine digits and a scale of at most 2^40: fits u128 with room.
            let digits: u128 = fraction.parse().map_err(|_| UnitError::NotANumber)?;
            let tens = 10u128.pow(fraction.len() as u32);
            let scaled = digits * u128::from(scale);
            if !scaled.is_multiple_of(tens) {
                return Err(UnitError::NotExact);
            }
            let part = u64::try_from(scaled / tens).map_err(|_| UnitError::NotExact)?;
            value = value.checked_add(part).ok_or(UnitError::NotExact)?;
        }
        Ok((value, (name, scale)))
    }
}

/// `1 cable`, `2 cables`.
pub fn display_count(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// A number of bytes in the largest unit that divides it: `16GiB`.
pub fn display_bytes(bytes: u64) -> String {
    SIZE.units
        .iter()
        .rev()
        .find(|(_, scale)| bytes >= *scale && bytes.is_multiple_of(*scale))
        .map_or_else(
            || format!("{bytes}B"),
            |(name, scale)| format!("{}{name}", bytes / scale),
        )
}

/// A length that is shown in the unit in which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// In micrometres.
    pub um: u64,
    unit: Unit,
}

impl Length {
    /// So many inches.
    pub const fn inches(inches: u64) -> Length {
        let unit = ("in", 25_400);
        Length {
            um: inches * unit.1,
            unit,
        }
    }

    pub(super) fn new(um: u64, unit: Unit) -> Length {
        Length { um, unit }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, scale) = self.unit;
        write!(f, "{}", self.um / scale)?;
        let mut rest = u128::from(self.um % scale) * 1_000_000_000 / u128::from(scale);
        let mut digits = 9;
        while rest != 0 && rest.is_multiple_of(10) {
            (rest, digits) = (rest / 10, digits - 1);
        }
        if rest != 0 {
            write!(f, ".{rest:0digits$}")?;
        }
        f.write_str(name)
    }
}

/// In micrometres.
impl serde::Serialize for Length {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.um)
    }
}

/// A length in inches, with up to two decimals.
pub fn display_inches(um: u64) -> String {
    let hundredths = um / 254;
    match (hundredths / 100, hundredths % 100) {
        (inches, 0) => format!("{inches}in"),
        (inches, part) => format!("{inches}.{part:02}in"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_exact_values() {
        assert_eq!(SIZE.parse("16GiB"), Ok(16 << 30));
        assert_eq!(SIZE.parse("1.5 GiB"), Ok(3 << 29));
        assert_eq!(SIZE.parse("4_096B"), Ok(4096));
        for (short, long) in [
            ("64K", "64KiB"),
            ("64k", "64KiB"),
            ("1.5M", "1536KiB"),
            ("2T", "2TiB"),
        ] {
            assert_eq!(SIZE.parse(short), SIZE.parse(long), "{short}");
        }
        assert_eq!(FREQUENCY.parse("2.4GHz"), Ok(2400));
        assert_eq!(WIDTH.parse("16bit"), Ok(16));
        assert_eq!(LENGTH.parse("24in"), Ok(609_600));
        assert_eq!(LENGTH.parse("60cm"), Ok(600_000));
    }

    #[test]
    fn refuses_the_rest() {
        assert_eq!(SIZE.parse("16"), Err(UnitError::MissingUnit));
        assert_eq!(SIZE.parse("16GB"), Err(UnitError::UnknownUnit("GB".into())));
        assert_eq!(SIZE.parse("16Gi"), Err(UnitError::UnknownUnit("Gi".into())));
        assert_eq!(SIZE.parse("GiB"), Err(UnitError::NotANumber));
        assert_eq!(SIZE.parse("1.1.1GiB"), Err(UnitError::NotANumber));
        assert_eq!(SIZE.parse("-1GiB"), Err(UnitError::NotANumber));
        assert_eq!(SIZE.parse("0.3B"), Err(UnitError::NotExact));
        assert_eq!(SIZE.parse("99999999999TiB"), Err(UnitError::NotExact));
        assert_eq!(SIZE.parse(""), Err(UnitError::NotANumber));
    }

    #[test]
    fn prints_round_units() {
        assert_eq!(display_bytes(16 << 30), "16GiB");
        assert_eq!(display_bytes(3 << 29), "1536MiB");
        assert_eq!(display_bytes(0), "0B");
        assert_eq!(display_inches(609_600), "24in");
        assert_eq!(display_inches(600_000), "23.62in");
        for text in [
            "2m", "60cm", "24in", "50in", "127cm", "0.5in", "1.25m", "0mm",
        ] {
            let (um, unit) = LENGTH.parse_with_unit(text).unwrap();
            assert_eq!(Length::new(um, unit).to_string(), text);
        }
    }
}
