//! The setting of this wire: the region of memory.

use std::path::PathBuf;

use hostwire_bootstrap::settings::kinds::parse_bytes;
use hostwire_bootstrap::settings::{
    Flag, Kind, SettingError, expected, in_environment, listed, table,
};
use hostwire_transport::Visibility;

use crate::{Spec, contract_name};

table! {
    /// The setting of the environment, checked.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub struct Settings;

    /// The memory that all PEs map, for the wire `window`
    pub window: Option<Spec> = WINDOW("HOSTWIRE_WINDOW": Window) {
        without: || "memory of the job's own for PEs of one kernel".into(),
        detail: || "PATH is a file, a device-dax node or the memory of a PCI device, in which `hostwire \
                    window make` has made a region. The contract is what it takes for a store to be \
                    seen: coherent where hardware keeps the caches of all hosts equal, flushed where \
                    it does not, write-combining where stores are posted and loads do not cross. \
                    With bell=vfio PEs sleep until the doorbell of their ivshmem device rings. \
                    Who may open PATH may read and change all that is in it.".into(),
        flag: Some(Flag::of_value("window", "WINDOW")),
        may_differ: true,
    }
}

impl Settings {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// [`SettingError`] if the value makes no sense.
    pub fn from_env() -> Result<Self, SettingError> {
        Self::from_lookup(in_environment)
    }

    /// The region that a path leads to, if there is one.
    pub fn path(&self) -> Option<&Spec> {
        self.window.as_ref().filter(|spec| spec.path.is_some())
    }
}

/// All contracts.
const CONTRACTS: [Visibility; 3] = [
    Visibility::Coherent,
    Visibility::Flushed,
    Visibility::WriteCombining,
];

/// How interrupts of a device come to this process.
const BELL: &str = "vfio";

/// A region: a path, and what its user says about it.
pub struct Window;

impl Kind for Window {
    type Value = Spec;

    fn expected() -> String {
        let contracts = listed(CONTRACTS.into_iter().map(contract_name), "or");
        format!(
            "PATH[,OPTION]..., with the options offset=BYTES, size=BYTES, bell=vfio and contract=NAME, \
             and the name {contracts}"
        )
    }

    fn parse(text: &str) -> Result<Spec, String> {
        parse_window(text)
    }
}

/// Reads the setting [`WINDOW`].
///
/// # Errors
/// What is wrong with it, for people.
pub fn parse_window(text: &str) -> Result<Spec, String> {
    let mut spec = Spec::default();
    let mut seen: Vec<&str> = Vec::new();
    for (number, word) in text.split(',').enumerate() {
        let Some((name, value)) = word.split_once('=') else {
            match (number, word) {
                (0, path) if !path.is_empty() => spec.path = Some(PathBuf::from(path)),
                _ => return Err(expected::<Window>()),
            }
            continue;
        };
        if seen.contains(&name) {
            return Err(format!("{name} is there twice"));
        }
        seen.push(name);
        let bytes = || parse_bytes(value).map(|bytes| bytes as u64);
        match name {
            // 0 is the default. Other sizes may not be 0.
            "offset" if value == "0" => spec.offset_bytes = 0,
            "offset" => spec.offset_bytes = bytes()?,
            "size" => spec.size_bytes = Some(bytes()?),
            "contract" => {
                let mut all = CONTRACTS.into_iter();
                let found = all.find(|contract| contract_name(*contract) == value);
                spec.contract = Some(found.ok_or_else(expected::<Window>)?);
            }
            "bell" if value == BELL => spec.has_bell = true,
            _ => return Err(expected::<Window>()),
        }
    }
    if spec.path.is_none() && spec.has_bell {
        return Err("bell is that of a PATH".into());
    }
    match spec.path.is_none() && (spec.offset_bytes, spec.size_bytes) != (0, None) {
        true => Err("offset and size are those of a PATH".into()),
        false => Ok(spec),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_path_and_what_is_known_of_it() {
        let all = parse_window("/dev/dax0.0,offset=4M,size=1G,contract=flushed,bell=vfio").unwrap();
        let spec = Spec {
            path: Some("/dev/dax0.0".into()),
            offset_bytes: 4 << 20,
            size_bytes: Some(1 << 30),
            contract: Some(Visibility::Flushed),
            has_bell: true,
        };
        assert_eq!(all, spec);
        let own = parse_window("contract=write-combining").unwrap();
        assert_eq!(own.contract, Some(Visibility::WriteCombining));
        assert_eq!(
            (own.path, parse_window("a,offset=0")),
            (None, parse_window("a"))
        );
        for bad in [
            "",
            "a,b",
            "a,size=",
            "a,size=4 KB",
            "a,contract=fast",
            "a,contract=flushed,contract=flushed",
            "a,bell=1",
            "a,",
            "size=4M",
            "bell=vfio",
        ] {
            assert!(parse_window(bad).is_err(), "{bad}");
        }
    }
}
