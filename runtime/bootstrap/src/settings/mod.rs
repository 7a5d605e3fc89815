//! What the environment may set: how tables of settings are made. The library and each wire have one.

pub mod kinds;
mod setting;

pub use setting::{Choice, Flag, Kind, Setting, SettingError, expected, listed};

pub use crate::settings_table as table;

/// What the environment of this process has under a name. A variable that is empty counts as not set.
pub fn in_environment(name: &str) -> Option<String> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(|value| value.to_string_lossy().into_owned())
}
