//! The events between the devices of a sub-cluster.

use hostwire_packet::pcie::{CreditClass, CreditCost};

use crate::devices::link::End;
use crate::engine::{Event, Sim};

use super::chip::ChipEvent;
use super::host::HostEvent;
use super::link::LinkEvent;
use super::tlp::Tlp;

/// A simulation of a sub-cluster.
pub type Fabric = Sim<PcieEvent>;

/// An event.
#[derive(Debug)]
pub enum PcieEvent {
    /// To a link: transmit this TLP from `end`.
    Submit {
        /// Where the sender is attached.
        end: End,
        /// The TLP.
        tlp: Tlp,
    },
    /// To a link: the device at `end` has emptied receive buffers.
    Release {
        /// Where the receiver is attached.
        end: End,
        /// What was in them.
        cost: CreditCost,
    },
    /// From a link: a TLP has arrived whole and sound. It occupies receive buffers until the
    /// device releases them.
    Deliver {
        /// Port of the receiving device.
        port: u8,
        /// The TLP.
        tlp: Tlp,
    },
    /// From a link: it has begun to transmit a TLP that `port` submitted.
    Sent {
        /// Port of the device.
        port: u8,
        /// Class of the TLP.
        class: CreditClass,
    },
    /// A link to itself.
    Link(LinkEvent),
    /// A chip to itself.
    Chip(ChipEvent),
    /// To a host, from its programs or itself.
    Host(HostEvent),
}

impl Event for PcieEvent {
    fn digest(&self) -> u64 {
        let (kind, value) = match self {
            PcieEvent::Submit { end, tlp } => (1, tlp.digest() ^ *end as u64),
            PcieEvent::Release { end, cost } => (2, cost_digest(cost) ^ (*end as u64) << 40),
            PcieEvent::Deliver { port, tlp } => (3, tlp.digest() ^ u64::from(*port)),
            PcieEvent::Sent { port, class } => (4, u64::from(*port) << 8 | *class as u64),
            PcieEvent::Link(event) => (5, event.digest()),
            PcieEvent::Chip(event) => (6, event.digest()),
            PcieEvent::Host(event) => (7, event.digest()),
        };
        value.rotate_left(7) ^ kind
    }
}

pub(super) fn cost_digest(cost: &CreditCost) -> u64 {
    (cost.class as u64) << 32 | u64::from(cost.header) << 16 | u64::from(cost.data)
}
