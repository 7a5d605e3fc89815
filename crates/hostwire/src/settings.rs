//! What the environment may set, by variable. One that is empty counts as not set.

#[cfg(target_os = "linux")]
use hostwire_transport::ether::Faults;
use hostwire_transport::ring::{RING_BYTES_MAX, RING_BYTES_MIN, Slots};

use crate::error::{Error, Result};
#[cfg(target_os = "linux")]
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
/// Faults that the frames of the wires between hosts are to meet, such as
/// `drop=0.01,dup=0,reorder=0.1,flip=0,seed=7`: see
/// [`Faults`]. For tests.
pub const FAULTS: &str = "HOSTWIRE_FAULTS";
/// `1` makes each PE print what its wire has counted, when it leaves the job.
pub const STATS: &str = "HOSTWIRE_STATS";
/// Seconds after which a silent PE of another host is lost, 10 by default. One that is
/// killed is noticed at once if its host has other PEs, or `hostwire run` started it: they tell.
pub const LOST_AFTER: &str = "HOSTWIRE_LOST_AFTER";
/// What it is where it is not set, in seconds.
pub(crate) const LOST_AFTER_S: u64 = hostwire_transport::LOST_AFTER.as_secs();
/// Seconds that PEs wait for each other when a job starts.
pub const ATTACH_TIMEOUT: &str = "HOSTWIRE_ATTACH_TIMEOUT";

/// What carries stores from PE to PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Wire {
    /// The shared memory of one host.
    #[default]
    Shm,
    /// The same, with all hidden but its posted stores.
    Stores,
    /// Ethernet frames between hosts.
    Ether,
    /// The same, past the network stack.
    Xdp,
    /// UDP datagrams between hosts.
    Udp,
}

impl Wire {
    const ALL: [Self; 5] = [Self::Shm, Self::Stores, Self::Ether, Self::Xdp, Self::Udp];

    /// Its name, as in [`WIRE`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
            Self::Stores => "stores",
            Self::Ether => "ether",
            Self::Xdp => "xdp",
            Self::Udp => "udp",
        }
    }
}

/// What the environment says, checked: the library asks as a process joins its job, and a
/// launcher before it starts any.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// [`HEAP`], if it is set.
    pub heap_bytes: Option<usize>,
    /// [`RING`], if it is set.
    pub ring_bytes: Option<usize>,
    /// [`WIRE`], if it is set.
    pub wire: Option<Wire>,
    pub(crate) interface: Option<String>,
    pub(crate) ether_type: u16,
    pub(crate) insecure_wire: bool,
    pub(crate) faults: Option<Faults>,
    pub(crate) stats: bool,
    pub(crate) attach_timeout_s: u64,
    pub(crate) lost_after_s: u64,
}

#[cfg(target_os = "linux")]
impl Settings {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// [`Error::Setting`] for the first variable whose value makes no sense.
    pub fn from_env() -> Result<Self> {
        Self::from_lookup(|name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    /// The sizes of this process's segment, but for what a program asks for.
    pub(crate) fn sizes(&self) -> Sizes {
        let usual = Sizes::default();
        Sizes {
            heap_bytes: self.heap_bytes.unwrap_or(usual.heap_bytes),
            ring_bytes: self.ring_bytes.unwrap_or(usual.ring_bytes),
        }
    }

    /// The wire of this process.
    pub(crate) fn wire(&self) -> Wire {
        self.wire.unwrap_or_default()
    }

    pub(crate) fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let lookup = |name| lookup(name).filter(|value| !value.is_empty());
        let heap_bytes = lookup(HEAP).map(|value| bytes(HEAP, &value)).transpose()?;
        let ring_bytes = lookup(RING).map(|value| bytes(RING, &value)).transpose()?;
        if let Some(ring_bytes) = ring_bytes {
            check_ring(ring_bytes)?;
        }
        let wire = lookup(WIRE).map(|value| {
            let wire = Wire::ALL.into_iter().find(|wire| wire.name() == value);
            wire.ok_or_else(|| unusable(WIRE, &value, "expected shm, ether, xdp, udp or stores"))
        });
        let wire = wire.transpose()?;
        let ether_type = match lookup(ETHERTYPE) {
            None => ETHERTYPE_DEFAULT,
            Some(value) => parse_ether_type(&value).ok_or_else(|| {
                let expected =
                    "expected an EtherType, 0x0600 to 0xffff and no VLAN tag, such as 0x88b5";
                unusable(ETHERTYPE, &value, expected)
            })?,
        };
        let switch = |name| match lookup(name).as_deref() {
            None | Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(other) => Err(unusable(name, other, "expected 1, 0 or nothing")),
        };
        let insecure_wire = switch(INSECURE_WIRE)?;
        let stats = switch(STATS)?;
        let faults = match lookup(FAULTS) {
            None => None,
            Some(value) => Some(value.parse().map_err(|_| {
                let expected = "expected faults, such as drop=0.01,dup=0,reorder=0.1,flip=0,seed=7";
                unusable(FAULTS, &value, expected)
            })?),
        };
        let seconds = |name, usual| match lookup(name) {
            None => Ok(usual),
            Some(value) => value
                .parse()
                .ok()
                .filter(|seconds| (1..=86_400).contains(seconds))
                .ok_or_else(|| unusable(name, &value, "expected 1 to 86400 seconds")),
        };
        let attach_timeout_s = seconds(ATTACH_TIMEOUT, 60)?;
        let lost_after_s = seconds(LOST_AFTER, LOST_AFTER_S)?;
        Ok(Self {
            heap_bytes,
            ring_bytes,
            wire,
            interface: lookup(IFACE),
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

/// A number of bytes: digits, with `K`, `M`, `G` or `T` (or `KiB` ...) for powers of 1024.
///
/// # Errors
/// What is wrong with `text`, for people.
pub fn parse_bytes(text: &str) -> std::result::Result<usize, String> {
    let expected = || "expected bytes, or a number with K, M, G or T, such as 64M".to_owned();
    let text = text.trim();
    let digits_end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, suffix) = text.split_at(digits_end);
    if digits.is_empty() {
        return Err(expected());
    }
    let shift = match suffix {
        "" | "B" => 0,
        "K" | "k" | "KiB" => 10,
        "M" | "m" | "MiB" => 20,
        "G" | "g" | "GiB" => 30,
        "T" | "t" | "TiB" => 40,
        "kB" | "KB" | "MB" | "GB" | "TB" => {
            return Err(format!(
                "{suffix} is a power of 1000 to some and of 1024 to others; say {}iB",
                suffix.trim_end_matches('B').to_uppercase()
            ));
        }
        _ => return Err(expected()),
    };
    let number = digits.parse::<usize>().ok();
    match number.and_then(|number| number.checked_mul(1 << shift)) {
        Some(0) => Err("must be more than 0".to_owned()),
        Some(bytes) => Ok(bytes),
        None => Err("more than any machine has".to_owned()),
    }
}

/// Checks the size of a message ring.
///
/// # Errors
/// [`Error::Setting`].
pub(crate) fn check_ring(ring_bytes: usize) -> Result<Slots> {
    Slots::of_bytes(ring_bytes).ok_or_else(|| {
        let expected = format!("a power of two from {RING_BYTES_MIN} to {RING_BYTES_MAX} bytes");
        unusable(
            RING,
            &ring_bytes.to_string(),
            &format!("expected {expected}"),
        )
    })
}

fn bytes(variable: &'static str, value: &str) -> Result<usize> {
    parse_bytes(value).map_err(|problem| unusable(variable, value, &problem))
}

fn unusable(variable: &'static str, value: &str, problem: &str) -> Error {
    Error::Setting {
        variable,
        value: value.into(),
        problem: problem.into(),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn sizes_may_carry_a_unit() {
        for (text, bytes) in [
            ("4096", 4096),
            ("1", 1),
            ("64k", 65_536),
            ("64M", 64 << 20),
            ("64MiB", 64 << 20),
            (" 2G ", 2 << 30),
            ("1T", 1 << 40),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for bad in ["", "M", "-1", "+1", "1.5G", "é", "1 G", "0x10", "1Q"] {
            let problem = parse_bytes(bad).unwrap_err();
            assert!(problem.starts_with("expected bytes"), "{bad}: {problem}");
        }
        assert_eq!(parse_bytes("0").unwrap_err(), "must be more than 0");
        let huge = parse_bytes("17000000T").unwrap_err();
        assert_eq!(huge, "more than any machine has");
        assert!(parse_bytes("64MB").unwrap_err().ends_with("say MiB"));
    }

    #[test]
    fn wires_have_names() {
        let settings = |name: &str, value: &str| {
            Settings::from_lookup(|asked| (asked == name).then(|| value.into())).unwrap()
        };
        for wire in Wire::ALL {
            assert_eq!(settings(WIRE, wire.name()).wire, Some(wire));
        }
        assert_eq!(settings(WIRE, "stores").wire(), Wire::Stores);
        assert_eq!(settings(ETHERTYPE, "0x88B6").ether_type, 0x88b6);
        assert_eq!(settings(IFACE, "eth1").interface.as_deref(), Some("eth1"));
        assert!(settings(INSECURE_WIRE, "1").insecure_wire);
        assert!(!settings(INSECURE_WIRE, "0").insecure_wire);
        assert!(!settings(WIRE, "ether").insecure_wire);
    }

    #[test]
    fn all_are_in_the_documentation() {
        let page = include_str!("../../../docs/environment.md");
        for name in [
            HEAP,
            RING,
            WIRE,
            IFACE,
            ETHERTYPE,
            INSECURE_WIRE,
            FAULTS,
            STATS,
            LOST_AFTER,
            ATTACH_TIMEOUT,
            hostwire_pmix::LIBRARY_VARIABLE,
        ] {
            assert!(page.contains(&format!("| `{name}` |")), "{name}");
        }
        for wire in Wire::ALL {
            assert!(page.contains(&format!("`{}`", wire.name())), "{wire:?}");
        }
    }

    #[test]
    fn what_is_empty_is_not_set() {
        let nothing = Settings::from_lookup(|_| None).unwrap();
        assert_eq!(nothing.sizes(), Sizes::default());
        assert_eq!((nothing.wire, nothing.wire()), (None, Wire::Shm));
        assert_eq!(Settings::from_lookup(|_| Some(String::new())), Ok(nothing));
    }

    #[test]
    fn an_unusable_setting_is_named() {
        for (name, value) in [
            (HEAP, "lots"),
            (HEAP, "0"),
            (RING, "4 KB"),
            (RING, "192"),
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
    }
}
