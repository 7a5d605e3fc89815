//! The wires of this crate: their entries in the table of wires.

use core::fmt;
use core::str::FromStr;

use hostwire_bootstrap::settings::listed;
use hostwire_bootstrap::{Entry, Meets};

use crate::{join, settings};

/// One of the wires whose frames a socket carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameWire {
    /// Through a packet socket.
    Ether,
    /// Past the network stack.
    Xdp,
    /// In datagrams.
    Udp,
    /// On connections.
    Tcp,
}

const fn entry(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        is_network: true,
        settings: settings::TABLE,
        counters: || crate::counted().collect(),
        ..Entry::new(name, summary, Meets::BetweenHosts(join::join))
    }
}

/// `ether`.
pub static ETHER: Entry = Entry {
    needs: "CAP_NET_RAW",
    speed: 2,
    ..entry(
        "ether",
        "Ethernet frames between hosts, shared memory within them",
    )
};
/// `xdp`.
pub static XDP: Entry = Entry {
    needs: "CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF",
    speed: 3,
    ..entry(
        "xdp",
        "As ether, past the network stack (AF_XDP): one job per interface",
    )
};
/// `udp`.
pub static UDP: Entry = Entry {
    speed: 1,
    ..entry("udp", "As ether, in UDP datagrams")
};
/// `tcp`.
pub static TCP: Entry = entry("tcp", "As ether, on TCP connections: for long transfers");

impl FrameWire {
    /// All.
    pub const ALL: [Self; 4] = [Self::Ether, Self::Xdp, Self::Udp, Self::Tcp];

    /// Its entry in the table of wires.
    pub fn entry(self) -> &'static Entry {
        match self {
            Self::Ether => &ETHER,
            Self::Xdp => &XDP,
            Self::Udp => &UDP,
            Self::Tcp => &TCP,
        }
    }

    /// The wires among which `auto` chooses, the fastest first.
    pub fn fastest_first() -> Vec<Self> {
        let mut wires = Self::ALL.to_vec();
        wires.retain(|wire| wire.entry().speed > 0);
        wires.sort_by_key(|wire| core::cmp::Reverse(wire.entry().speed));
        wires
    }

    /// Whether its frames have an EtherType of their own.
    pub fn has_ether_type(self) -> bool {
        matches!(self, Self::Ether | Self::Xdp)
    }

    /// The wires with an EtherType, as a part of a sentence.
    pub fn listed_with_ether_type(conjunction: &str) -> String {
        let wires = Self::ALL.into_iter().filter(|wire| wire.has_ether_type());
        listed(wires.map(|wire| wire.entry().name), conjunction)
    }
}

impl fmt::Display for FrameWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().name)
    }
}

impl FromStr for FrameWire {
    type Err = ();

    /// By its name.
    fn from_str(name: &str) -> Result<Self, ()> {
        let mut wires = Self::ALL.into_iter();
        wires.find(|wire| wire.entry().name == name).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_names_and_the_fastest_is_first() {
        for wire in FrameWire::ALL {
            assert_eq!(wire.entry().name.parse(), Ok(wire));
        }
        assert_eq!("pigeon".parse::<FrameWire>(), Err(()));
        let order = [FrameWire::Xdp, FrameWire::Ether, FrameWire::Udp];
        assert_eq!(FrameWire::fastest_first(), order);
        assert_eq!(FrameWire::listed_with_ether_type("and"), "ether and xdp");
    }
}
