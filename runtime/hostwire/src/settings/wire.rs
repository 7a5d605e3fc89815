//! The table of wires.

use core::fmt;
use core::str::FromStr;
#[cfg(target_os = "linux")]
use std::sync::Arc;

use hostwire_bootstrap::settings::{Choice, Kind, expected, listed};
use hostwire_bootstrap::{Entry, Meets};
#[cfg(target_os = "linux")]
use hostwire_transport::wrap::StoresOnly;

/// Shared memory as if it were a network.
#[cfg(target_os = "linux")]
static STORES: Entry = Entry {
    named_by_all: Some("HOSTWIRE_WIRE=stores"),
    is_for_tests: true,
    ..Entry::new(
        "stores",
        "Shared memory of which only posted stores are used, as on a network: for tests",
        Meets::OnHost(|wire| Ok(Arc::new(StoresOnly::new(wire)?))),
    )
};

/// Makes [`WireName`] of the entries of wires.
#[cfg(target_os = "linux")]
macro_rules! wires {
    ($($wire:ident = $entry:expr;)+) => {
        /// What carries stores from PE to PE.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum WireName {
            $(
                #[doc = concat!("`", stringify!($entry), "`")]
                $wire,
            )+
        }

        impl WireName {
            /// All wires.
            pub const ALL: [Self; [$(Self::$wire),+].len()] = [$(Self::$wire),+];

            /// What the wire says of itself.
            pub fn entry(self) -> &'static Entry {
                match self {
                    $(Self::$wire => &$entry,)+
                }
            }
        }
    };
}

// The only place of this crate that names wires. Without Linux the only wires are those that a
// program brings.
#[cfg(target_os = "linux")]
wires! {
    Shm = hostwire_bootstrap::SHM;
    Ether = hostwire_frames::ETHER;
    Xdp = hostwire_frames::XDP;
    Udp = hostwire_frames::UDP;
    Tcp = hostwire_frames::TCP;
    Window = hostwire_region::WINDOW;
    Fabric = hostwire_fabric::FABRIC;
    Stores = STORES;
}

/// Without Linux the only wires are those that a program brings.
#[cfg(not(target_os = "linux"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireName {}

#[cfg(not(target_os = "linux"))]
impl WireName {
    /// All wires.
    pub const ALL: [Self; 0] = [];

    /// What the wire says of itself.
    pub fn entry(self) -> &'static Entry {
        match self {}
    }
}

impl WireName {
    /// Its name, as in [`WIRE`](super::WIRE).
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// What it is, in a line.
    pub fn summary(self) -> &'static str {
        self.entry().summary
    }

    /// What a process has to have or be allowed to use it.
    pub fn needs(self) -> &'static str {
        self.entry().needs
    }

    /// Whether it goes from host to host.
    pub fn spans_hosts(self) -> bool {
        self.entry().spans_hosts()
    }

    /// Whether it goes through network interfaces.
    pub fn is_network(self) -> bool {
        self.entry().is_network
    }

    /// Whether it sends without encryption, so that the settings have to allow it.
    pub fn wants_insecure(self) -> bool {
        self.entry().wants_insecure
    }

    /// Whether it is for tests of the library alone.
    pub fn is_for_tests(self) -> bool {
        self.entry().is_for_tests
    }

    /// The names of those for which `pick` is true, as a part of a sentence: `ether, xdp or udp`.
    pub fn listed(pick: impl Fn(Self) -> bool, conjunction: &str) -> String {
        let wires = Self::ALL.into_iter().filter(|wire| pick(*wire));
        listed(wires.map(Self::name), conjunction)
    }

    /// The wires among which `auto` chooses, the fastest first.
    pub fn fastest_first() -> Vec<Self> {
        let mut wires = Self::ALL.to_vec();
        wires.retain(|wire| wire.entry().speed > 0);
        wires.sort_by_key(|wire| core::cmp::Reverse(wire.entry().speed));
        wires
    }
}

/// Which wire a job takes, as the settings say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WireChoice {
    /// Shared memory within a host, and between hosts the fastest wire that all PEs can use.
    #[default]
    Auto,
    /// This one.
    Named(WireName),
}

impl WireChoice {
    /// What [`Auto`](Self::Auto) is called.
    const AUTO: &str = "auto";
    const AUTO_SUMMARY: &str =
        "Shared memory within a host; between hosts the fastest wire that all PEs can use";

    /// The wire, if one is named.
    pub const fn named(self) -> Option<WireName> {
        match self {
            Self::Auto => None,
            Self::Named(wire) => Some(wire),
        }
    }

    /// Whether the PEs of the job may be on several hosts.
    pub fn may_span_hosts(self) -> bool {
        match self {
            Self::Auto => true,
            Self::Named(wire) => wire.spans_hosts(),
        }
    }

    /// The choices for a job of several hosts: `auto, ether, xdp, udp or fabric`.
    pub fn listed_between_hosts() -> String {
        let wires = WireName::ALL.into_iter().filter(|wire| wire.spans_hosts());
        listed(
            [Self::AUTO].into_iter().chain(wires.map(WireName::name)),
            "or",
        )
    }
}

impl fmt::Display for WireChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.named().map_or(Self::AUTO, WireName::name))
    }
}

impl Kind for WireChoice {
    type Value = Self;

    fn expected() -> String {
        let wires = WireName::ALL.into_iter().map(WireName::name);
        listed([Self::AUTO].into_iter().chain(wires), "or")
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            Self::AUTO => Ok(Self::Auto),
            name => match name.parse() {
                Ok(wire) => Ok(Self::Named(wire)),
                Err(_) => Err(expected::<Self>()),
            },
        }
    }

    fn choices() -> Vec<Choice> {
        let auto = Choice {
            name: Self::AUTO,
            summary: Self::AUTO_SUMMARY,
            is_for_tests: false,
        };
        let named = WireName::ALL.into_iter().map(|wire| Choice {
            name: wire.name(),
            summary: wire.summary(),
            is_for_tests: wire.is_for_tests(),
        });
        [auto].into_iter().chain(named).collect()
    }
}

impl fmt::Display for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for WireName {
    type Err = String;

    /// By its name.
    fn from_str(name: &str) -> Result<Self, String> {
        let mut wires = Self::ALL.into_iter();
        wires
            .find(|wire| wire.name() == name)
            .ok_or_else(|| format!("expected {}", Self::listed(|_| true, "or")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_names_and_lists_come_from_the_table() {
        for wire in WireName::ALL {
            assert_eq!(wire.name().parse(), Ok(wire));
            assert_eq!(wire.to_string(), wire.name());
            let same = |other: &WireName| other.name() == wire.name();
            assert_eq!(WireName::ALL.iter().filter(|other| same(other)).count(), 1);
        }
        let networks = WireName::listed(WireName::is_network, "or");
        assert_eq!(networks, "ether, xdp, udp, tcp or fabric");
        let between = WireName::listed(WireName::spans_hosts, "or");
        assert_eq!(between, "ether, xdp, udp, tcp, window or fabric");
        let refused = "pigeon".parse::<WireName>().unwrap_err();
        let expected = "expected shm, ether, xdp, udp, tcp, window, fabric or stores";
        assert_eq!(refused, expected);
    }

    #[test]
    fn the_order_of_speed_has_the_wires_that_auto_takes() {
        let order = [WireName::Xdp, WireName::Ether, WireName::Udp];
        assert_eq!(WireName::fastest_first(), order);
    }

    #[test]
    fn a_wire_is_named_or_chosen() {
        assert_eq!(WireChoice::parse("auto"), Ok(WireChoice::Auto));
        assert_eq!(WireChoice::default().to_string(), "auto");
        for wire in WireName::ALL {
            let choice = WireChoice::Named(wire);
            assert_eq!(WireChoice::parse(wire.name()), Ok(choice));
            assert_eq!(choice.to_string(), wire.name());
        }
        let refused = WireChoice::parse("pigeon").unwrap_err();
        let expected = "expected auto, shm, ether, xdp, udp, tcp, window, fabric or stores";
        assert_eq!(refused, expected);
        let between = WireChoice::listed_between_hosts();
        assert_eq!(between, "auto, ether, xdp, udp, tcp, window or fabric");
    }
}
