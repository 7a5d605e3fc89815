//! What the environment may set, by variable.

use hostwire_transport::ether::{self, Faults};

use crate::error::{Error, Result};
use crate::layout::Sizes;

/// Bytes of the symmetric heap of each PE; `K`, `M`, `G`, `T` multiply by powers of 1024.
pub const HEAP: &str = "HOSTWIRE_HEAP";
/// Bytes of each message ring.
pub const RING: &str = "HOSTWIRE_RING";
/// Which wire: `shm`, shared memory, for the PEs of one host; `ether`, Ethernet frames
/// between hosts and shared memory within them; `xdp`, the same past the network stack, with one PE
/// per host; `udp`, the same by UDP; or `stores`: shared
/// memory that hides everything but posted stores, which is what a network looks like to
/// the library. For tests.
pub const WIRE: &str = "HOSTWIRE_WIRE";
/// The network interface of the wires `ether`, `xdp` and `udp`; by default the only Ethernet
/// interface, or that of the default route.
pub const IFACE: &str = "HOSTWIRE_IFACE";
/// The EtherType of the wires `ether` and `xdp`, such as `0x88b5`, the default.
pub const ETHERTYPE: &str = "HOSTWIRE_ETHERTYPE";
/// `1` sends the frames between hosts as they are: neither secret nor authentic. The same
/// for all PEs of a job.
pub const INSECURE_WIRE: &str = "HOSTWIRE_INSECURE_WIRE";
/// What those should know who set [`INSECURE_WIRE`].
pub const INSECURE_WIRE_WARNING: &str =
    "whoever is on the network between the hosts can read and change the memory of this job";
/// Faults that the frames of the wires `ether` and `udp` are to meet, such as
/// `drop=0.01,dup=0,reorder=0.1,flip=0,seed=7`: see
/// [`Faults`]. For tests.
pub const FAULTS: &str = "HOSTWIRE_FAULTS";
/// `1` makes each PE print what its wire has counted, when it leaves the job.
pub const STATS: &str = "HOSTWIRE_STATS";
/// Seconds after which a silent PE of another host is lost, 10 by default. One that is
/// killed is noticed at once if its host has other PEs, or `hostwire run` started it: they tell.
pub const LOST_AFTER: &str = "HOSTWIRE_LOST_AFTER";
/// Seconds that PEs wait for each other when a job starts.
pub const ATTACH_TIMEOUT: &str = "HOSTWIRE_ATTACH_TIMEOUT";

/// What carries stores between hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Nothing: shared memory, whole or only its posted stores.
    Shm {
        stores_only: bool,
    },
    Ether,
    Xdp,
    Udp,
}

impl Wire {
    /// For people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shm { .. } => "shm",
            Self::Ether => "ether",
            Self::Xdp => "xdp",
            Self::Udp => "udp",
        }
    }
}

/// What the environment says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) sizes: Sizes,
    pub(crate) wire: Wire,
    pub(crate) interface: Option<String>,
    pub(crate) ether_type: u16,
    pub(crate) insecure_wire: bool,
    pub(crate) faults: Option<Faults>,
    pub(crate) stats: bool,
    pub(crate) attach_timeout_s: u64,
    pub(crate) lost_after_s: u64,
}

impl Settings {
    pub(crate) fn from_env() -> Result<Self> {
        Self::from_lookup(|name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    pub(crate) fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let mut sizes = Sizes::default();
        if let Some(value) = lookup(HEAP) {
            sizes.heap_bytes = bytes(HEAP, &value)?;
        }
        if let Some(value) = lookup(RING) {
            sizes.ring_bytes = bytes(RING, &value)?;
        }
        let wire = match lookup(WIRE).as_deref() {
            None | Some("shm") => Wire::Shm { stores_only: false },
            Some("stores") => Wire::Shm { stores_only: true },
            Some("ether") => Wire::Ether,
            Some("xdp") => Wire::Xdp,
            Some("udp") => Wire::Udp,
            Some(other) => {
                return Err(unusable(
                    WIRE,
                    other,
                    "the wires of this build are: shm, ether, xdp, udp, stores",
                ));
            }
        };
        let ether_type = match lookup(ETHERTYPE) {
            None => ETHERTYPE_DEFAULT,
            Some(value) => parse_ether_type(&value).ok_or_else(|| {
                let expected = "an EtherType, 0x0600 to 0xffff and no VLAN tag, such as 0x88b5";
                unusable(ETHERTYPE, &value, expected)
            })?,
        };
        let insecure_wire = match lookup(INSECURE_WIRE).as_deref() {
            None | Some("" | "0") => false,
            Some("1") => true,
            Some(other) => return Err(unusable(INSECURE_WIRE, other, "1, 0 or nothing")),
        };
        let faults = match lookup(FAULTS).filter(|text| !text.is_empty()) {
            None => None,
            Some(value) => Some(value.parse().map_err(|_| {
                let expected = "faults, such as drop=0.01,dup=0,reorder=0.1,flip=0,seed=7";
                unusable(FAULTS, &value, expected)
            })?),
        };
        let stats = match lookup(STATS).as_deref() {
            None | Some("" | "0") => false,
            Some("1") => true,
            Some(other) => return Err(unusable(STATS, other, "1, 0 or nothing")),
        };
        let seconds = |name, usual| match lookup(name) {
            None => Ok(usual),
            Some(value) => value
                .parse()
                .ok()
                .filter(|seconds| (1..=86_400).contains(seconds))
                .ok_or_else(|| unusable(name, &value, "1 to 86400 seconds")),
        };
        let attach_timeout_s = seconds(ATTACH_TIMEOUT, 60)?;
        let lost_after_s = seconds(LOST_AFTER, ether::LOST_AFTER.as_secs())?;
        Ok(Self {
            sizes,
            wire,
            interface: lookup(IFACE).filter(|name| !name.is_empty()),
            ether_type,
            insecure_wire,
            faults,
            stats,
            attach_timeout_s,
            lost_after_s,
        })
    }
}

/// IEEE 802: local experimental EtherType 1.
const ETHERTYPE_DEFAULT: u16 = 0x88b5;
/// Smaller numbers are lengths.
const ETHERTYPE_MIN: u16 = 0x0600;
/// 802.1Q and 802.1ad: the kernel takes these tags off before anybody sees them.
const VLAN_TAGS: [u16; 2] = [0x8100, 0x88a8];

/// Hexadecimal digits behind `0x`.
fn parse_ether_type(text: &str) -> Option<u16> {
    let digits = text.trim().strip_prefix("0x")?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let number = u16::from_str_radix(digits, 16).ok()?;
    (number >= ETHERTYPE_MIN && !VLAN_TAGS.contains(&number)).then_some(number)
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
    fn wires_have_names() {
        let settings = |name: &str, value: &str| {
            Settings::from_lookup(|asked| (asked == name).then(|| value.into())).unwrap()
        };
        let wires = ["shm", "stores", "ether", "udp", "xdp"].map(|name| settings(WIRE, name).wire);
        let shm = |stores_only| Wire::Shm { stores_only };
        assert_eq!(
            wires,
            [shm(false), shm(true), Wire::Ether, Wire::Udp, Wire::Xdp]
        );
        assert_eq!(settings(ETHERTYPE, "0x88B6").ether_type, 0x88b6);
        assert_eq!(settings(IFACE, "eth1").interface.as_deref(), Some("eth1"));
        assert!(settings(INSECURE_WIRE, "1").insecure_wire);
        assert!(!settings(INSECURE_WIRE, "0").insecure_wire);
        assert!(!settings(WIRE, "ether").insecure_wire);
    }

    #[test]
    fn an_unusable_setting_is_named() {
        for (name, value) in [
            (HEAP, "lots"),
            (RING, "4 KB"),
            (WIRE, "pigeon"),
            (ATTACH_TIMEOUT, "0"),
            (LOST_AFTER, "0.5"),
            (ETHERTYPE, "88b5"),
            (ETHERTYPE, "0x05ff"),
            (ETHERTYPE, "0x8100"),
            (ETHERTYPE, "0x+8b5"),
            (ETHERTYPE, "0x188b5"),
            (INSECURE_WIRE, "yes"),
            (STATS, "yes"),
            (FAULTS, "drop=2"),
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
