//! Settings from the environment: how tables of settings are made. The library and each wire have
//! one.

pub mod kinds;
mod setting;

pub use setting::{Choice, Flag, Kind, Setting, SettingError, expected, listed};

pub use crate::settings_table as table;

/// The value of a variable in the environment of this process. An empty variable counts as not set.
pub fn in_environment(name: &str) -> Option<String> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(|value| value.to_string_lossy().into_owned())
}
