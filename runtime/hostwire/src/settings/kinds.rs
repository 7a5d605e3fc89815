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
