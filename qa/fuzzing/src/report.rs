//! The report of an input that fails: everything that is needed to repeat it.

use std::fmt;

/// Longest input that is written out.
const HEX_BYTES_MAX: usize = 600;

/// An input that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    target: String,
    /// Where the input is from.
    origin: String,
    bytes: Vec<u8>,
    why: String,
}

impl Failure {
    /// `bytes` from `origin`, and the fault that the check of `target` found in them.
    pub fn new(target: &str, origin: String, bytes: Vec<u8>, why: String) -> Self {
        Self {
            target: target.to_owned(),
            origin,
            bytes,
            why,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            target,
            origin,
            bytes,
            why,
        } = self;
        let command = "cargo run -p hostwire-fuzzing --";
        writeln!(f, "FAILED {target} ({origin}): {why}")?;
        let hex = to_hex(bytes);
        match bytes.len() {
            0..=HEX_BYTES_MAX => {
                writeln!(f, "  input, {} bytes: {hex}", bytes.len())?;
                writeln!(f, "  repeat it: {command} repeat {target} {hex}")?;
                write!(
                    f,
                    "  once it is mended, add it to the corpus, which every run begins with: \
                     {command} keep {target} NAME {hex}"
                )
            }
            len => {
                writeln!(f, "  input, {len} bytes: {} ...", &hex[..2 * HEX_BYTES_MAX])?;
                write!(f, "  repeat it: {command} run {target}, with this seed")
            }
        }
    }
}

/// Two digits per byte.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The reverse of [`to_hex`].
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit) && digits.len().is_multiple_of(2);
    is_hex.then(|| digits.chunks(2).map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_their_digits() {
        assert_eq!(to_hex(&[0, 0xa5, 255]), "00a5ff");
        assert_eq!(from_hex("00A5ff"), Some(vec![0, 0xa5, 255]));
        assert_eq!(from_hex(""), Some(vec![]));
        for bad in ["0", "0g", "+1", "é"] {
            assert_eq!(from_hex(bad), None);
        }
    }

    #[test]
    fn a_report_says_how_to_see_it_again() {
        let failure = Failure::new("ticket", "seed 1, case 7".into(), vec![1, 2], "no".into());
        let text = failure.to_string();
        for said in [
            "ticket",
            "seed 1, case 7",
            "repeat ticket 0102",
            "keep ticket NAME 0102",
        ] {
            assert!(text.contains(said), "{text}");
        }
    }
}
