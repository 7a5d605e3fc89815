//! The kinds of values of settings.

use hostwire_transport::faults::Faults;

use super::{Kind, expected};

/// A number of bytes; see [`parse_bytes`].
pub struct Bytes;

impl Kind for Bytes {
    type Value = usize;

    fn expected() -> String {
        "bytes, or a number with K, M, G or T, such as 64M".into()
    }

    fn parse(text: &str) -> core::result::Result<usize, String> {
        parse_bytes(text)
    }

    fn canonical(text: &str) -> core::result::Result<String, String> {
        Self::parse(text).map(|bytes| bytes.to_string())
    }
}

/// A file.
pub struct File;

impl Kind for File {
    type Value = String;

    fn expected() -> String {
        "the name of a file".into()
    }

    fn parse(text: &str) -> core::result::Result<String, String> {
        Ok(text.to_owned())
    }
}

/// A folder.
pub struct Folder;

impl Kind for Folder {
    type Value = String;

    fn expected() -> String {
        "the name of a folder".into()
    }

    fn parse(text: &str) -> core::result::Result<String, String> {
        Ok(text.to_owned())
    }
}

/// A command: words with spaces between them.
pub struct Command;

impl Kind for Command {
    type Value = String;

    fn expected() -> String {
        "a command, as words with spaces between them".into()
    }

    fn parse(text: &str) -> core::result::Result<String, String> {
        match text.trim().is_empty() {
            true => Err(expected::<Self>()),
            false => Ok(text.to_owned()),
        }
    }
}

/// On or off.
pub struct Switch;

impl Kind for Switch {
    type Value = bool;

    fn expected() -> String {
        "1, 0 or nothing".into()
    }

    fn parse(text: &str) -> core::result::Result<bool, String> {
        match text {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(expected::<Self>()),
        }
    }
}

/// A time limit.
pub struct Seconds;

impl Seconds {
    const MAX: u64 = 86_400;
}

impl Kind for Seconds {
    type Value = u64;

    fn expected() -> String {
        format!("1 to {} seconds", Self::MAX)
    }

    fn parse(text: &str) -> core::result::Result<u64, String> {
        let seconds = text.parse().ok();
        seconds
            .filter(|seconds| (1..=Self::MAX).contains(seconds))
            .ok_or_else(expected::<Self>)
    }
}

impl Kind for Faults {
    type Value = Self;

    fn expected() -> String {
        "faults, such as drop=0.01,dup=0,reorder=0.1,flip=0,seed=7".into()
    }

    fn parse(text: &str) -> core::result::Result<Self, String> {
        text.parse().map_err(|_| expected::<Self>())
    }
}

/// A number of bytes: digits, with `K`, `M`, `G` or `T` (or `KiB` ...) for powers of 1024.
///
/// # Errors
/// What is wrong with `text`, for people.
pub fn parse_bytes(text: &str) -> core::result::Result<usize, String> {
    let text = text.trim();
    let digits_end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, suffix) = text.split_at(digits_end);
    if digits.is_empty() {
        return Err(expected::<Bytes>());
    }
    let shift = match suffix {
        "" | "B" => 0,
        "K" | "k" | "KiB" => 10,
        "M" | "m" | "MiB" => 20,
        "G" | "g" | "GiB" => 30,
        "T" | "t" | "TiB" => 40,
        "kB" | "KB" | "MB" | "GB" | "TB" => {
            return Err(format!(
                "{suffix} is a power of 1000 to some and of 1024 to others; say {}iB",
                suffix.trim_end_matches('B').to_uppercase()
            ));
        }
        _ => return Err(expected::<Bytes>()),
    };
    let number = digits.parse::<usize>().ok();
    match number.and_then(|number| number.checked_mul(1 << shift)) {
        Some(0) => Err("must be more than 0".to_owned()),
        Some(bytes) => Ok(bytes),
        None => Err("more than any machine has".to_owned()),
    }
}

/// The number in the largest unit that gives a whole number, in the form of [`parse_bytes`].
pub fn shown(bytes: usize) -> String {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let fits = |(shift, _): &(u32, &str)| bytes.trailing_zeros() >= *shift;
    match units.into_iter().find(fits) {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_may_carry_a_unit() {
        for (text, bytes) in [
            ("4096", 4096),
            ("1", 1),
            ("64k", 65_536),
            ("64M", 64 << 20),
            ("64MiB", 64 << 20),
            (" 2G ", 2 << 30),
            ("1T", 1 << 40),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
            assert_eq!(parse_bytes(&shown(bytes)), Ok(bytes), "{text}");
        }
        for bad in ["", "M", "-1", "+1", "1.5G", "é", "1 G", "0x10", "1Q"] {
            let problem = parse_bytes(bad).unwrap_err();
            assert!(problem.starts_with("expected bytes"), "{bad}: {problem}");
        }
        assert_eq!(parse_bytes("0").unwrap_err(), "must be more than 0");
        let huge = parse_bytes("17000000T").unwrap_err();
        assert_eq!(huge, "more than any machine has");
        assert!(parse_bytes("64MB").unwrap_err().ends_with("say MiB"));
    }
}
