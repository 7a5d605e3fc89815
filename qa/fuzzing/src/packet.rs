//! Packets and frames: the checks are those of the property tests of the crate.

use crate::Target;

#[path = "../../../runtime/packet/tests/checks/mod.rs"]
mod checks;
#[path = "../../../runtime/packet/tests/seeds/mod.rs"]
mod seeds;

/// One target per check.
macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TARGETS: &[Target] = &[$(Target {
            name: stringify!($name),
            check: checks::$name,
            seeds: || seeds::of(stringify!($name)),
            cost: 1,
        }),*];
    };
}

targets!(
    ethernet_header,
    ht_packet,
    ht_packet_crc,
    ht_periodic_crc,
    ht_stream,
    htoe_build,
    htoe_frame,
    pcie_dllp,
    pcie_link_tlp,
    pcie_tlp,
);
