//! What the environment may set, by variable.

use crate::error::{Error, Result};
use crate::layout::Sizes;

/// Bytes of the symmetric heap of each PE; `K`, `M`, `G`, `T` multiply by powers of 1024.
pub const HEAP: &str = "HOSTWIRE_HEAP";
/// Bytes of each message ring.
pub const RING: &str = "HOSTWIRE_RING";
/// Which wire: `shm`, or `stores`: shared memory that hides everything but posted stores,
/// which is what a network looks like to the library. For tests.
pub const WIRE: &str = "HOSTWIRE_WIRE";
/// Seconds that PEs wait for each other when a job starts.
pub const ATTACH_TIMEOUT: &str = "HOSTWIRE_ATTACH_TIMEOUT";

/// What the environment says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) sizes: Sizes,
    pub(crate) stores_only: bool,
    pub(crate) attach_timeout_s: u64,
}

impl Settings {
    pub(crate) fn from_env() -> Result<Self> {
        Self::from_lookup(|name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let mut sizes = Sizes::default();
        if let Some(value) = lookup(HEAP) {
            sizes.heap_bytes = bytes(HEAP, &value)?;
        }
        if let Some(value) = lookup(RING) {
            sizes.ring_bytes = bytes(RING, &value)?;
        }
        let stores_only = match lookup(WIRE).as_deref() {
            None | Some("shm") => false,
            Some("stores") => true,
            Some(other) => {
                return Err(unusable(
                    WIRE,
                    other,
                    "the wires of this build are: shm, stores",
                ));
            }
        };
        let attach_timeout_s = match lookup(ATTACH_TIMEOUT) {
            None => 60,
            Some(value) => value
                .parse()
                .ok()
                .filter(|seconds| (1..=86_400).contains(seconds))
                .ok_or_else(|| unusable(ATTACH_TIMEOUT, &value, "1 to 86400 seconds"))?,
        };
        Ok(Self {
            sizes,
            stores_only,
            attach_timeout_s,
        })
    }
}

/// A number of bytes: digits with an optional `K`, `M`, `G` or `T` (powers of 1024).
///
/// Returns `None` if it is anything else or does not fit.
pub fn parse_bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let (digits, shift) = match text.char_indices().next_back()? {
        (end, 'k' | 'K') => (&text[..end], 10),
        (end, 'm' | 'M') => (&text[..end], 20),
        (end, 'g' | 'G') => (&text[..end], 30),
        (end, 't' | 'T') => (&text[..end], 40),
        _ => (text, 0),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

fn bytes(variable: &'static str, value: &str) -> Result<usize> {
    parse_bytes(value).ok_or_else(|| {
        unusable(
            variable,
            value,
            "a number of bytes, such as 4096, 64K, 512M or 2G",
        )
    })
}

fn unusable(variable: &'static str, value: &str, expected: &str) -> Error {
    Error::Setting {
        variable,
        value: value.into(),
        expected: expected.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_may_carry_a_unit() {
        assert_eq!(parse_bytes("4096"), Some(4096));
        assert_eq!(parse_bytes("64k"), Some(65_536));
        assert_eq!(parse_bytes(" 2G "), Some(2 << 30));
        for bad in ["", "k", "-1", "+1", "1.5G", "1KB", "99999999T", "é", "1 G"] {
            assert_eq!(parse_bytes(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_unusable_setting_is_named() {
        for (name, value) in [
            (HEAP, "lots"),
            (RING, "4 KB"),
            (WIRE, "pigeon"),
            (ATTACH_TIMEOUT, "0"),
        ] {
            let error =
                Settings::from_lookup(|asked| (asked == name).then(|| value.into())).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(value), "{text}");
        }
        assert_eq!(
            Settings::from_lookup(|_| None).unwrap().sizes,
            Sizes::default()
        );
    }
}
