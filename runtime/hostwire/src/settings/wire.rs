//! The wires, in one table.

use core::fmt;
use core::str::FromStr;

use super::setting::{Choice, Kind, expected, listed};

/// What the table says of a wire beside its name and meaning.
struct Facts {
    name: &'static str,
    summary: &'static str,
    needs: &'static str,
    spans_hosts: bool,
    is_network: bool,
    wants_insecure: bool,
    has_ether_type: bool,
    /// Of those that are chosen by speed the one with the larger number is faster. One with 0 is taken only by
    /// name.
    speed: u32,
    is_for_tests: bool,
}

impl Facts {
    const fn new(name: &'static str, summary: &'static str) -> Self {
        Self {
            name,
            summary,
            needs: "nothing",
            spans_hosts: false,
            is_network: false,
            wants_insecure: false,
            has_ether_type: false,
            speed: 0,
            is_for_tests: false,
        }
    }
}

/// Makes [`WireName`] from a table: the meaning, the variant, the name, and what is not as usual.
macro_rules! wires {
    ($(
        $(#[doc = $summary:literal])+
        $wire:ident = $name:literal { $($fact:ident: $value:expr),* $(,)? }
    )+) => {
        /// What carries stores from PE to PE.
        ///
        /// Not `#[non_exhaustive]`: whoever does something for each wire should hear of a new one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum WireName {
            $($(#[doc = $summary])+ $wire,)+
        }

        impl WireName {
            /// All wires.
            pub const ALL: [Self; [$(Self::$wire),+].len()] = [$(Self::$wire),+];

            const fn facts(self) -> &'static Facts {
                match self {
                    $(Self::$wire => {
                        const FACTS: Facts = Facts {
                            $($fact: $value,)*
                            ..Facts::new($name, concat!($($summary),+))
                        };
                        &FACTS
                    })+
                }
            }
        }
    };
}

wires! {
    /// Shared memory of one host
    Shm = "shm" {
        needs: "Linux 4.16",
    }
    /// Ethernet frames between hosts, shared memory within them
    Ether = "ether" {
        needs: "CAP_NET_RAW",
        spans_hosts: true,
        is_network: true,
        speed: 2,
        has_ether_type: true,
    }
    /// As ether, past the network stack (AF_XDP): one job per interface
    Xdp = "xdp" {
        needs: "CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF",
        spans_hosts: true,
        is_network: true,
        speed: 3,
        has_ether_type: true,
    }
    /// As ether, in UDP datagrams
    Udp = "udp" {
        spans_hosts: true,
        is_network: true,
        speed: 1,
    }
    /// As ether, on TCP connections: for long transfers
    Tcp = "tcp" {
        spans_hosts: true,
        is_network: true,
    }
    /// A region of memory that all hosts map: see HOSTWIRE_WINDOW
    Window = "window" {
        needs: "a file or device that all map, or one kernel",
        spans_hosts: true,
    }
    /// libfabric between hosts: RDMA, or TCP; shared memory within them
    Fabric = "fabric" {
        needs: "libfabric.so.1, HOSTWIRE_INSECURE_WIRE=1",
        spans_hosts: true,
        is_network: true,
        wants_insecure: true,
    }
    /// Shared memory of which only posted stores are used, as on a network: for tests
    Stores = "stores" {
        is_for_tests: true,
    }
}

impl WireName {
    /// Its name, as in [`WIRE`](super::WIRE).
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// What it is, in a line.
    pub const fn summary(self) -> &'static str {
        self.facts().summary.trim_ascii()
    }

    /// What a process has to have or be allowed to use it.
    pub const fn needs(self) -> &'static str {
        self.facts().needs
    }

    /// Whether it goes from host to host.
    pub const fn spans_hosts(self) -> bool {
        self.facts().spans_hosts
    }

    /// Whether it goes through network interfaces.
    pub const fn is_network(self) -> bool {
        self.facts().is_network
    }

    /// Whether it sends what it carries as it is, so that the settings have to allow that.
    pub const fn wants_insecure(self) -> bool {
        self.facts().wants_insecure
    }

    /// Whether what it sends has an [EtherType](super::ETHERTYPE) of its own.
    pub const fn has_ether_type(self) -> bool {
        self.facts().has_ether_type
    }

    /// Whether it is for tests of the library alone.
    pub const fn is_for_tests(self) -> bool {
        self.facts().is_for_tests
    }

    /// The names of those for which `pick` is true, as a part of a sentence: `ether, xdp or udp`.
    pub fn listed(pick: impl Fn(Self) -> bool, conjunction: &str) -> String {
        let wires = Self::ALL.into_iter().filter(|wire| pick(*wire));
        listed(wires.map(Self::name), conjunction)
    }

    /// Those that are chosen by speed, the fastest first.
    pub fn fastest_first() -> Vec<Self> {
        let mut wires = Self::ALL.to_vec();
        wires.retain(|wire| wire.facts().speed > 0);
        wires.sort_by_key(|wire| core::cmp::Reverse(wire.facts().speed));
        wires
    }
}

/// Which wire a job takes, as the settings have it.
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
    pub const fn may_span_hosts(self) -> bool {
        match self {
            Self::Auto => true,
            Self::Named(wire) => wire.spans_hosts(),
        }
    }

    /// What a job of several hosts may have, to choose from: `auto, ether, xdp, udp or fabric`.
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
        assert_eq!(
            WireName::listed(WireName::has_ether_type, "and"),
            "ether and xdp"
        );
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
