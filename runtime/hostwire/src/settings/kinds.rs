//! What values settings can have that only this crate has.

use hostwire_bootstrap::settings::kinds::{parse_bytes, shown};
use hostwire_bootstrap::settings::{Kind, SettingError, expected};
use hostwire_transport::ring::{RING_BYTES_MAX, RING_BYTES_MIN, Slots};

use super::RING;

/// Bytes of a message ring.
pub(super) struct RingBytes;

impl Kind for RingBytes {
    type Value = usize;

    fn expected() -> String {
        let (least, most) = (shown(RING_BYTES_MIN), shown(RING_BYTES_MAX));
        format!("a power of two from {least} to {most}")
    }

    fn parse(text: &str) -> core::result::Result<usize, String> {
        let bytes = parse_bytes(text)?;
        let slots = Slots::of_bytes(bytes);
        slots.map(|_| bytes).ok_or_else(expected::<Self>)
    }

    fn canonical(text: &str) -> core::result::Result<String, String> {
        Self::parse(text).map(|bytes| bytes.to_string())
    }
}

/// How many hosts are reached from one.
#[cfg(target_os = "linux")]
pub(super) struct FanOut;

#[cfg(target_os = "linux")]
impl FanOut {
    /// With one, each host would wait for the one before it.
    const VALUES: core::ops::RangeInclusive<u32> = 2..=1024;
}

#[cfg(target_os = "linux")]
impl Kind for FanOut {
    type Value = u32;

    fn expected() -> String {
        let (least, most) = (Self::VALUES.start(), Self::VALUES.end());
        format!("{least} to {most} hosts")
    }

    fn parse(text: &str) -> core::result::Result<u32, String> {
        let hosts = text.parse().ok();
        hosts
            .filter(|hosts| Self::VALUES.contains(hosts))
            .ok_or_else(expected::<Self>)
    }
}

/// Checks the size of a message ring.
///
/// # Errors
/// [`SettingError`].
pub(crate) fn check_ring(ring_bytes: usize) -> Result<Slots, SettingError> {
    Slots::of_bytes(ring_bytes).ok_or_else(|| SettingError {
        variable: RING.variable,
        value: ring_bytes.to_string(),
        problem: expected::<RingBytes>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_host_reaches_more_than_one() {
        assert_eq!(
            (FanOut::parse("2"), FanOut::parse("1024")),
            (Ok(2), Ok(1024))
        );
        for wrong in ["1", "1025", "all", ""] {
            let problem = FanOut::parse(wrong).unwrap_err();
            assert_eq!(problem, "expected 2 to 1024 hosts");
        }
    }

    #[test]
    fn sizes_of_rings_are_powers_of_two() {
        for (text, bytes) in [("256", 256), ("4K", 4096), ("1M", 1 << 20)] {
            assert_eq!(RingBytes::parse(text), Ok(bytes));
        }
        for wrong in ["64", "192", "2M"] {
            let problem = RingBytes::parse(wrong).unwrap_err();
            assert_eq!(problem, "expected a power of two from 256 to 1M");
        }
    }
}
