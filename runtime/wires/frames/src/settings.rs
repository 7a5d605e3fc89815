//! The settings of the wires of this crate.

use hostwire_bootstrap::settings::{Kind, SettingError, expected, in_environment, table};

use crate::FrameWire;

table! {
    /// The settings of the environment, checked.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub struct Settings;

    /// The network interface between hosts, or several
    pub interfaces: Option<Vec<String>> = IFACE("HOSTWIRE_IFACE": Interfaces) {
        without: || "the only Ethernet interface that is up, else that of the default route".into(),
        detail: || "Several, as in `eth1,eth2`, are used at once: each has a network of its own, and the order \
                    of networks is the same on all hosts. If a cable is pulled, the others carry what it \
                    carried, and nothing is lost. `hostwire run --hosts` makes interfaces of its own and uses those.".into(),
        may_differ: true,
    }

    /// The EtherType of frames between hosts
    pub ether_type: u16 = ETHERTYPE("HOSTWIRE_ETHERTYPE": EtherType = EtherType::DEFAULT) {
        without: || format!("{:#06x}", EtherType::DEFAULT),
        detail: || format!("For the wires {}.", FrameWire::listed_with_ether_type("and")),
    }
}

impl Settings {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// [`SettingError`] for the first variable whose value makes no sense.
    pub fn from_env() -> Result<Self, SettingError> {
        Self::from_lookup(in_environment)
    }
}

/// Network interfaces.
pub struct Interfaces;

/// Most interfaces: as many as an address of the wire can name.
const INTERFACES_MAX: usize = 4;

impl Kind for Interfaces {
    type Value = Vec<String>;

    fn expected() -> String {
        format!(
            "a name, such as eth1, or up to {INTERFACES_MAX} different ones with commas between them"
        )
    }

    fn parse(text: &str) -> core::result::Result<Vec<String>, String> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        let is_new = |(at, name): (usize, &String)| {
            !name.is_empty() && names.iter().position(|one| one == name) == Some(at)
        };
        match names.len() <= INTERFACES_MAX && names.iter().enumerate().all(is_new) {
            true => Ok(names),
            false => Err(expected::<Self>()),
        }
    }
}

/// The EtherType of frames.
pub struct EtherType;

impl EtherType {
    /// IEEE 802: local experimental EtherType 1.
    pub(super) const DEFAULT: u16 = 0x88b5;
    /// Smaller numbers are lengths.
    const MIN: u16 = 0x0600;
    /// 802.1Q and 802.1ad: the kernel removes these tags before a socket sees them.
    const VLAN_TAGS: [u16; 2] = [0x8100, 0x88a8];
}

impl Kind for EtherType {
    type Value = u16;

    fn expected() -> String {
        "an EtherType, 0x0600 to 0xffff and no VLAN tag, such as 0x88b5".into()
    }

    /// Hexadecimal digits after `0x`.
    fn parse(text: &str) -> core::result::Result<u16, String> {
        let digits = text.trim().strip_prefix("0x");
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        number
            .filter(|number| *number >= Self::MIN && !Self::VLAN_TAGS.contains(number))
            .ok_or_else(expected::<Self>)
    }
}

#[cfg(test)]
mod tests {
    use hostwire_bootstrap::settings::Setting;

    use super::*;

    fn with(setting: &Setting, value: &str) -> Result<Settings, SettingError> {
        Settings::from_lookup(|asked| (asked == setting.variable).then(|| value.into()))
    }

    #[test]
    fn a_value_is_read_into_its_field() {
        assert_eq!(with(&ETHERTYPE, "0x88B6").unwrap().ether_type, 0x88b6);
        let without = with(&ETHERTYPE, &ETHERTYPE.without()).unwrap();
        assert_eq!(without, Settings::from_lookup(|_| None).unwrap());
        for (text, names) in [("eth1", &["eth1"][..]), ("eth1, eth2", &["eth1", "eth2"])] {
            let interfaces = with(&IFACE, text).unwrap().interfaces.unwrap();
            assert_eq!(interfaces, names);
        }
        for bad in ["", "eth1,", "eth1,eth1", "a,b,c,d,e"] {
            assert!(with(&IFACE, bad).is_err(), "{bad}");
        }
        for bad in ["88b5", "0x05ff", "0x8100", "0x+8b5", "0x188b5"] {
            let refused = SettingError {
                variable: ETHERTYPE.variable,
                value: bad.to_owned(),
                problem: ETHERTYPE.canonical(bad).unwrap_err(),
            };
            assert_eq!(with(&ETHERTYPE, bad), Err(refused));
        }
    }
}
