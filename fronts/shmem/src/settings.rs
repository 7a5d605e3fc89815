//! What the environment may set: the table of settings that OpenSHMEM adds.
//!
//! A row is all that there is to say of a setting; see [`hostwire::settings`]. `docs/openshmem.md`
//! and what `SHMEM_INFO` prints come from it.

use hostwire::settings::{self, Kind, RING, Setting, expected, table};
use hostwire_transport::quoted;

use crate::fail::say;

/// Least bytes of a symmetric heap.
pub(crate) const BYTES_MIN: usize = 64 << 10;
/// Most bytes of the default, which is a share of the memory of the machine.
pub(crate) const DEFAULT_MAX: usize = 4 << 30;
/// Least bytes of the default.
pub(crate) const DEFAULT_MIN: usize = 64 << 20;

table! {
    /// The variables of OpenSHMEM.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Settings;

    /// Size of the symmetric heap of each PE
    pub(crate) symmetric_bytes: Option<usize> =
        SYMMETRIC_SIZE("SHMEM_SYMMETRIC_SIZE": SymmetricSize)
    {
        without: || format!("that of `{}`, or else a share of the memory of the machine", settings::HEAP),
        aliases: &["SMA_SYMMETRIC_SIZE"],
        detail: || "Memory is allocated when it is first touched.".into(),
    }

    /// Report mistakes of the program
    pub(crate) debug: Looks = DEBUG("SHMEM_DEBUG": Looks = Looks::default()) {
        without: || "no reports".into(),
        aliases: &["SMA_DEBUG"],
    }

    /// With SHMEM_DEBUG=race, sleep for random times (up to 0.5 ms) before operations
    pub(crate) delays: Option<u64> = DEBUG_DELAYS("SHMEM_DEBUG_DELAYS": Seed) {
        without: || "no delays".into(),
        aliases: &["SMA_DEBUG_DELAYS"],
        detail: || "The result must not depend on this; it tests the detector.".into(),
        may_differ: true,
    }

    /// Print all settings and their values
    pub(crate) info: bool = INFO("SHMEM_INFO": Anything = false) {
        without: || "silent".into(),
        aliases: &["SMA_INFO"],
        may_differ: true,
    }

    /// Print the version
    pub(crate) version: bool = VERSION("SHMEM_VERSION": Anything = false) {
        without: || "silent".into(),
        aliases: &["SMA_VERSION"],
        may_differ: true,
    }
}

impl Settings {
    pub(crate) fn from_env() -> Result<Self, hostwire::settings::SettingError> {
        Self::from_lookup(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into()))
    }

    /// Prints all settings and their values.
    pub(crate) fn print(&self, heap_bytes: usize) {
        let version = env!("CARGO_PKG_VERSION");
        if self.version || self.info {
            say(&format!("hostwire {version}, OpenSHMEM 1.6"));
        }
        if self.info {
            say(&info(heap_bytes, Setting::in_environment));
        }
    }
}

/// All settings, a line each, with the value that `now` gives.
fn info(heap_bytes: usize, now: impl Fn(&Setting) -> Option<String>) -> String {
    // The rings of an OpenSHMEM program have a size of their own.
    let others = settings::TABLE
        .iter()
        .filter(|setting| setting.variable != RING.variable);
    let all: Vec<&Setting> = TABLE.iter().chain(others).copied().collect();
    let widest = all.iter().map(|setting| setting.variable.len()).max();
    let widest = widest.unwrap_or(0);
    let lines = all.into_iter().map(|setting| {
        let stands = match now(setting) {
            Some(value) => format!("now {}", quoted(&value)),
            None => format!("not set: {}", setting.without().replace('`', "")),
        };
        let (variable, summary) = (setting.variable, setting.summary().replace('`', ""));
        let expected = setting.expected();
        format!("\n  {variable:widest$}  {summary}: {expected} ({stands})")
    });
    let lines: String = lines.collect();
    format!(
        "the symmetric heap of each PE has {heap_bytes} bytes\nvariables of the environment:{lines}"
    )
}

/// Bytes of the symmetric heap; see [`parse_size`].
struct SymmetricSize;

impl Kind for SymmetricSize {
    type Value = usize;

    fn expected() -> String {
        "a number of bytes, which may end in k, m, g or t, such as 512M or 1.5g".into()
    }

    fn parse(text: &str) -> Result<usize, String> {
        let bytes = parse_size(text).ok_or_else(expected::<Self>)?;
        Ok(bytes.max(BYTES_MIN))
    }
}

/// Which mistakes are searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Looks {
    pub(crate) checks: bool,
    pub(crate) bounds: bool,
    pub(crate) race: bool,
}

impl Kind for Looks {
    type Value = Self;

    fn expected() -> String {
        "checks (also 1, on, yes or true), bounds, race or all, separated by commas; or 0, off, no or \
         false for nothing"
            .into()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut looks = Self::default();
        for word in text.split([',', ' ', '+']) {
            match word.trim().to_ascii_lowercase().as_str() {
                "" | "0" | "off" | "no" | "false" => {}
                "checks" | "on" | "yes" | "true" => looks.checks = true,
                "bounds" => looks.bounds = true,
                "race" => looks.race = true,
                "all" => (looks.bounds, looks.race) = (true, true),
                // By the specification, any value turns debugging on, and programs are started with 1.
                number if number.parse::<u32>().is_ok() => looks.checks = true,
                _ => return Err(expected::<Self>()),
            }
        }
        looks.checks |= looks.bounds | looks.race;
        Ok(looks)
    }
}

/// The start of random numbers.
struct Seed;

impl Kind for Seed {
    type Value = u64;

    fn expected() -> String {
        "a number, the seed of the delays".into()
    }

    fn parse(text: &str) -> Result<u64, String> {
        text.trim().parse().map_err(|_| expected::<Self>())
    }
}

/// A setting that counts if it is set, to whatever value.
struct Anything;

impl Kind for Anything {
    type Value = bool;

    fn expected() -> String {
        "anything".into()
    }

    fn parse(_: &str) -> Result<bool, String> {
        Ok(true)
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
        let error = Settings::from_lookup(old).unwrap_err().to_string();
        assert!(
            error.contains("SMA_SYMMETRIC_SIZE") && error.contains("2x"),
            "{error}"
        );
        for name in ["SHMEM_SYMMETRIC_SIZE", "SHMEM_DEBUG_DELAYS"] {
            let long = |wanted: &str| (wanted == name).then(|| "x".repeat(100_000));
            let error = Settings::from_lookup(long).unwrap_err().to_string();
            assert!(
                error.len() < 300 && error.contains(name),
                "{} bytes",
                error.len()
            );
        }
    }

    #[test]
    fn debug_is_known_words_and_no_others() {
        let with = |value: &str| {
            let value = value.to_owned();
            let lookup = |name: &str| (name == "SHMEM_DEBUG").then(|| value.clone());
            let looks = Settings::from_lookup(lookup).map(|settings| settings.debug);
            let flags = |looks: Looks| (looks.checks, looks.bounds, looks.race);
            looks.map(flags).map_err(|error| error.to_string())
        };
        for on in ["1", "2", "on", "TRUE", "checks", "0,yes"] {
            assert_eq!(with(on), Ok((true, false, false)), "{on}");
        }
        for off in ["", "0", "off,no", "False"] {
            assert_eq!(with(off), Ok((false, false, false)), "{off}");
        }
        assert_eq!(with("race"), Ok((true, false, true)));
        assert_eq!(with("bounds, race"), Ok((true, true, true)));
        assert_eq!(with("all"), Ok((true, true, true)));
        for wrong in ["rase", "race,bound", "-1", "race=1"] {
            let said = with(wrong).unwrap_err();
            for word in ["SHMEM_DEBUG", wrong, "checks", "bounds, race or all"] {
                assert!(said.contains(word), "{wrong}: {said}");
            }
        }
    }

    #[test]
    fn the_default_is_a_share_of_the_machine() {
        assert_eq!(share(16 << 30, 2), 4 << 30);
        assert_eq!(share(16 << 30, 8), 1 << 30);
        assert_eq!(share(0, 8), DEFAULT_MIN);
        assert_eq!(share(usize::MAX, 1), DEFAULT_MAX);
    }

    #[test]
    fn info_tells_of_all_that_has_an_effect() {
        let now = |setting: &Setting| (setting.variable == "HOSTWIRE_WIRE").then(|| "udp".into());
        let text = info(4096, now);
        for setting in TABLE.iter().chain(settings::TABLE.iter()) {
            let told = text.contains(&format!("\n  {setting} "));
            assert_eq!(told, setting.variable != RING.variable, "{setting}: {text}");
        }
        assert!(text.contains("fabric or stores (now \"udp\")"), "{text}");
        assert!(text.contains("1 to 86400 seconds (not set: 60)"), "{text}");
    }

    #[test]
    fn every_old_name_is_that_of_the_new_one() {
        for setting in TABLE {
            let old = setting.variable.replace("SHMEM_", "SMA_");
            assert_eq!(setting.aliases, [old.as_str()]);
        }
    }

    /// With `HOSTWIRE_BLESS=1` the page is written anew.
    #[test]
    fn the_documentation_is_what_the_table_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openshmem.md");
        let read = || std::fs::read_to_string(path).unwrap();
        let table = settings::page::of_settings(TABLE);
        let wanted = settings::page::with_block(&read(), "settings", &table).expect("its marks");
        if std::env::var_os("HOSTWIRE_BLESS").is_some() {
            std::fs::write(path, &wanted).unwrap();
        }
        assert!(
            read() == wanted,
            "HOSTWIRE_BLESS=1 writes it anew:\n{table}"
        );
        let manual = include_str!("../man/oshrun.1");
        for setting in TABLE {
            assert!(manual.contains(setting.variable), "{setting}");
        }
    }
}
