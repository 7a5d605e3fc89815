//! What the environment may set.

use hostwire_transport::quoted;

use crate::fail::say;

/// What `SHMEM_SYMMETRIC_SIZE` (or, as of old, `SMA_SYMMETRIC_SIZE`) and the other
/// variables say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Settings {
    /// Bytes of the symmetric heap of each PE, if it is set.
    pub(crate) symmetric_bytes: Option<usize>,
    pub(crate) info: bool,
    pub(crate) version: bool,
    pub(crate) checks: bool,
    pub(crate) bounds: bool,
    pub(crate) race: bool,
    /// What the detector of races draws delays from, in its tests.
    pub(crate) delays: Option<u64>,
}

/// Least bytes of a symmetric heap.
pub(crate) const BYTES_MIN: usize = 64 << 10;
/// Most bytes of the default, which is a share of the memory of the machine.
pub(crate) const DEFAULT_MAX: usize = 4 << 30;
/// Least bytes of the default.
pub(crate) const DEFAULT_MIN: usize = 64 << 20;

impl Settings {
    pub(crate) fn from_env() -> Result<Self, String> {
        Self::from_lookup(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into()))
    }

    pub(crate) fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let either = |name: &str| {
            ["SHMEM_", "SMA_"].into_iter().find_map(|prefix| {
                let name = format!("{prefix}{name}");
                lookup(&name).map(|value| (name, value))
            })
        };
        let mut settings = Self {
            info: either("INFO").is_some(),
            version: either("VERSION").is_some(),
            ..Self::default()
        };
        if let Some((name, value)) = either("SYMMETRIC_SIZE") {
            let bytes = parse_size(&value).ok_or_else(|| {
                format!(
                    "{name}={} is not usable: expected a number of bytes, with k, m, g or t \
                     if you like, such as 512M or 1.5g",
                    quoted(&value)
                )
            })?;
            settings.symmetric_bytes = Some(bytes.max(BYTES_MIN));
        }
        if let Some((_, value)) = either("DEBUG") {
            for word in value.split([',', ' ', '+']) {
                match word.trim().to_ascii_lowercase().as_str() {
                    "" | "0" | "off" | "no" => {}
                    "bounds" => settings.bounds = true,
                    "race" => settings.race = true,
                    "all" => (settings.bounds, settings.race) = (true, true),
                    // Any value turns debugging on, says the specification.
                    _ => settings.checks = true,
                }
            }
            settings.checks |= settings.bounds | settings.race;
        }
        if let Some((name, value)) = either("DEBUG_DELAYS") {
            let seed = value.trim().parse().map_err(|_| {
                let value = quoted(&value);
                format!("{name}={value} is not usable: expected a number, the seed of the delays")
            })?;
            settings.delays = Some(seed);
        }
        Ok(settings)
    }

    /// Tells what there is to set, and how it stands.
    pub(crate) fn print(&self, heap_bytes: usize) {
        let version = env!("CARGO_PKG_VERSION");
        if self.version || self.info {
            say(&format!("hostwire {version}, OpenSHMEM 1.6"));
        }
        if self.info {
            say(&format!(
                "variables of the environment:\n  \
                 SHMEM_SYMMETRIC_SIZE  bytes of the symmetric heap of each PE, with k, m, g or t \
                 ({heap_bytes} now)\n  \
                 SHMEM_DEBUG           checks, bounds, race or all, separated by commas: look for \
                 mistakes of the program (off by default)\n  \
                 SHMEM_DEBUG_DELAYS    a number: sleep at random in front of operations while \
                 SHMEM_DEBUG=race looks, to test that\n  \
                 SHMEM_INFO            print this\n  \
                 SHMEM_VERSION         print the version\n  \
                 HOSTWIRE_WIRE         shm; ether, xdp or udp between hosts; or stores: shared memory \
                 with everything but posted stores hidden\n  \
                 HOSTWIRE_ATTACH_TIMEOUT  seconds that PEs wait for each other when the job starts"
            ));
        }
    }
}

/// A number of bytes: integer or floating point, with an optional `k`, `m`, `g` or `t`.
/// What follows the multiplier is ignored, as the specification says.
pub(crate) fn parse_size(text: &str) -> Option<usize> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let end = end + exponent_len(&text[end..]);
    let (number, rest) = text.split_at(end);
    let factor: u64 = match rest.chars().next().map(|c| c.to_ascii_lowercase()) {
        None => 1,
        Some('k') => 1 << 10,
        Some('m') => 1 << 20,
        Some('g') => 1 << 30,
        Some('t') => 1 << 40,
        Some(_) => return None,
    };
    let bytes = match number.parse::<u64>() {
        Ok(number) => number.checked_mul(factor)?,
        Err(_) => {
            let bytes = (number.parse::<f64>().ok()? * factor as f64).ceil();
            // Beyond this a floating point number is no exact count, and no memory either.
            (bytes <= (1u64 << 53) as f64).then_some(bytes as u64)?
        }
    };
    usize::try_from(bytes).ok()
}

/// Bytes of the exponent at the beginning of `text`, as in `1e9`; 0 if there is none.
fn exponent_len(text: &str) -> usize {
    let Some(power) = text.strip_prefix(['e', 'E']) else {
        return 0;
    };
    let digits = power.strip_prefix(['+', '-']).unwrap_or(power);
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.len() < digits.len() {
        true => text.len() - rest.len(),
        false => 0,
    }
}

/// Half of the machine's memory shared by the PEs of the job, in whole powers of two and
/// within limits; pages that are not touched cost nothing.
pub(crate) fn default_bytes(pes: u32) -> usize {
    default_of(
        &std::fs::read_to_string("/proc/meminfo").unwrap_or_default(),
        pes,
    )
}

/// As [`default_bytes`], from the text of `/proc/meminfo`.
pub(crate) fn default_of(memory: &str, pes: u32) -> usize {
    let kib = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| {
            rest.trim()
                .trim_end_matches("kB")
                .trim()
                .parse::<usize>()
                .ok()
        });
    share(kib.unwrap_or(0).saturating_mul(1024), pes)
}

fn share(memory_bytes: usize, pes: u32) -> usize {
    let share = memory_bytes / 2 / (pes as usize).max(1);
    let whole = (share + 1).next_power_of_two() / 2;
    whole.clamp(DEFAULT_MIN, DEFAULT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_specification_says() {
        for (text, bytes) in [
            ("20m", 20_971_520),
            ("3.1M", 3_250_586),
            (".5m", 524_288),
            ("0.5m", 524_288),
            ("20kk", 20_480),
            ("4096", 4096),
            ("1T", 1 << 40),
            ("0", 0),
            ("1.5g", 3 << 29),
            ("1e6", 1_000_000),
            ("2.5E+3k", 2_560_000),
            ("5e-1m", 524_288),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for bad in [
            "",
            "m",
            "-1",
            "1x",
            "1..5m",
            "lots",
            "99999999999t",
            "1e300",
            "1e",
            "1e+k",
            "e3",
            "nan",
        ] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_new_name_wins_and_a_bad_value_is_named() {
        let both = |name: &str| match name {
            "SHMEM_SYMMETRIC_SIZE" => Some("1m".to_owned()),
            "SMA_SYMMETRIC_SIZE" => Some("2m".to_owned()),
            _ => None,
        };
        let settings = Settings::from_lookup(both).unwrap();
        assert_eq!(settings.symmetric_bytes, Some(1 << 20));
        let old = |name: &str| (name == "SMA_SYMMETRIC_SIZE").then(|| "2x".to_owned());
        let error = Settings::from_lookup(old).unwrap_err();
        assert!(
            error.contains("SMA_SYMMETRIC_SIZE") && error.contains("2x"),
            "{error}"
        );
        for name in ["SHMEM_SYMMETRIC_SIZE", "SHMEM_DEBUG_DELAYS"] {
            let long = |wanted: &str| (wanted == name).then(|| "x".repeat(100_000));
            let error = Settings::from_lookup(long).unwrap_err();
            assert!(
                error.len() < 300 && error.contains(name),
                "{} bytes",
                error.len()
            );
        }
    }

    #[test]
    fn any_value_of_debug_means_checks() {
        let with = |value: &str| {
            let value = value.to_owned();
            let lookup = |name: &str| (name == "SHMEM_DEBUG").then(|| value.clone());
            let settings = Settings::from_lookup(lookup).unwrap();
            (settings.checks, settings.bounds, settings.race)
        };
        assert_eq!(with("1"), (true, false, false));
        assert_eq!(with("race"), (true, false, true));
        assert_eq!(with("bounds,race"), (true, true, true));
        assert_eq!(with("0"), (false, false, false));
    }

    #[test]
    fn the_default_is_a_share_of_the_machine() {
        assert_eq!(share(16 << 30, 2), 4 << 30);
        assert_eq!(share(16 << 30, 8), 1 << 30);
        assert_eq!(share(0, 8), DEFAULT_MIN);
        assert_eq!(share(usize::MAX, 1), DEFAULT_MAX);
    }
}
