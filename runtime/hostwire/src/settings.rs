//! What the environment may set: the table of all settings.
//!
//! A row of the table says everything about a setting. All of these come from it: the code that reads the
//! setting, its option of `hostwire run`, the help, `docs/environment.md`, the output of OpenSHMEM's
//! `SHMEM_INFO`, and the variables that the launcher passes to PEs. A variable that is empty counts as not
//! set.
//!
//! | file | |
//! |---|---|
//! | this one | all settings |
//! | `own.rs` | the table of those that are no wire's |
//! | `wire.rs` | the table of wires; each has settings of its own |
//! | `devices.rs` | which devices a PE has |
//! | `kinds.rs` | what values settings can have |
//! | `misspelt.rs` | variables that are nearly settings |
//! | [`page`] | tables for documentation |

mod devices;
mod kinds;
mod misspelt;
mod own;
#[doc(hidden)]
pub mod page;
mod wire;

use std::sync::LazyLock;

pub use devices::Devices;
use hostwire_bootstrap::settings::in_environment;
pub use hostwire_bootstrap::settings::kinds::parse_bytes;
#[doc(hidden)]
pub use hostwire_bootstrap::settings::table;
pub use hostwire_bootstrap::settings::{Choice, Flag, Kind, Setting, SettingError, expected};
pub use hostwire_bootstrap::variables::INSECURE_WIRE_WARNING;
pub(crate) use kinds::check_ring;
#[doc(hidden)]
pub use misspelt::{misspelt, nearest};
pub use wire::{WireChoice, WireName};

use crate::sizes::Sizes;

pub use own::*;

/// All settings: those of the library, and those of its wires.
pub static TABLE: LazyLock<Vec<&'static Setting>> = LazyLock::new(|| {
    let mut all = own::TABLE.to_vec();
    for setting in WireName::ALL
        .into_iter()
        .flat_map(|wire| wire.entry().settings)
    {
        if !all.iter().any(|known| known.variable == setting.variable) {
            all.push(setting);
        }
    }
    all
});

impl Settings {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// [`SettingError`] for the first variable whose value makes no sense.
    pub fn from_env() -> Result<Self, SettingError> {
        Self::checked(in_environment)
    }

    /// As [`from_lookup`](Self::from_lookup), and also checks the settings of every wire, whichever the job
    /// will use.
    ///
    /// # Errors
    /// [`SettingError`] for the first variable whose value makes no sense.
    pub fn checked(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let settings = Self::from_lookup(&lookup)?;
        for setting in TABLE.iter().skip(own::TABLE.len()) {
            let Some(value) = lookup(setting.variable) else {
                continue;
            };
            setting.canonical(&value).map_err(|problem| SettingError {
                variable: setting.variable,
                value,
                problem,
            })?;
        }
        Ok(settings)
    }

    /// Seconds of silence after which a PE on another host is lost.
    pub fn lost_after_s(&self) -> u64 {
        self.lost_after_s
    }

    /// The sizes of this process's segment, without those that a program asks for.
    pub(crate) fn sizes(&self) -> Sizes {
        let usual = Sizes::default();
        Sizes {
            heap_bytes: self.heap_bytes.unwrap_or(usual.heap_bytes),
            ring_bytes: self.ring_bytes.unwrap_or(usual.ring_bytes),
            ..Sizes::USUAL
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn with(setting: &Setting, value: &str) -> Result<Settings, SettingError> {
        Settings::from_lookup(|asked| (asked == setting.variable).then(|| value.into()))
    }

    #[test]
    fn a_value_is_read_into_its_field() {
        for wire in WireName::ALL {
            let read = with(&WIRE, wire.name()).unwrap().wire;
            assert_eq!(read, WireChoice::Named(wire));
        }
        assert!(with(&INSECURE_WIRE, "1").unwrap().insecure_wire);
        assert!(!with(&INSECURE_WIRE, "0").unwrap().insecure_wire);
        assert!(!with(&WIRE, "ether").unwrap().insecure_wire);
    }

    #[test]
    fn pes_are_handed_bytes() {
        assert_eq!(HEAP.canonical("64MiB").unwrap(), "67108864");
        assert_eq!(RING.canonical("8K").unwrap(), "8192");
        assert_eq!(WIRE.canonical("udp").unwrap(), "udp");
        let refused = RING.canonical("192").unwrap_err();
        assert_eq!(refused, "expected a power of two from 256 to 1M");
    }

    #[test]
    fn what_is_not_set_has_its_default() {
        let nothing = Settings::from_lookup(|_| None).unwrap();
        assert_eq!(nothing.sizes(), Sizes::default());
        assert_eq!(nothing.wire, WireChoice::Auto);
        // The defaults in the table are the real ones.
        let holds = |settings: &Settings| {
            let sizes = (settings.sizes().heap_bytes, settings.sizes().ring_bytes);
            let times = (settings.lost_after_s, settings.attach_timeout_s);
            (sizes, times, settings.wire)
        };
        for setting in [&HEAP, &RING, &WIRE, &LOST_AFTER, &ATTACH_TIMEOUT] {
            let said = with(setting, &setting.without()).unwrap();
            assert_eq!(holds(&said), holds(&nothing), "{setting}");
        }
    }

    #[test]
    fn an_unusable_setting_is_named() {
        for (setting, value) in [
            (&HEAP, "lots"),
            (&HEAP, "0"),
            (&RING, "4 KB"),
            (&RING, "192"),
            (&WIRE, "pigeon"),
            (&ATTACH_TIMEOUT, "0"),
            (&LOST_AFTER, "0.5"),
            (&INSECURE_WIRE, "yes"),
            (&STATS, "yes"),
            (&DEVICES, "gpu"),
            (&FAULTS, "drop=2"),
        ] {
            let refused = SettingError {
                variable: setting.variable,
                value: value.to_owned(),
                problem: setting.canonical(value).unwrap_err(),
            };
            assert_eq!(with(setting, value).unwrap_err(), refused);
        }
    }
}
