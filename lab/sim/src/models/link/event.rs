//! The events between links and devices.

use super::config::End;
use super::family::{Family, Unit};

/// Events between a link and its devices, and of a link to itself.
#[derive(Debug)]
pub enum LinkEvent<F: Family> {
    /// To a link: transmit this packet from `end`.
    Submit {
        /// Where the sender is attached.
        end: End,
        /// The packet.
        packet: F::Packet,
    },
    /// To a link: the device at `end` has emptied receive buffers.
    Release {
        /// Where the receiver is attached.
        end: End,
        /// The buffers.
        cost: F::Cost,
    },
    /// From a link: a packet has arrived at `port`. It occupies receive buffers until the
    /// device releases them.
    Deliver {
        /// Port of the receiving device.
        port: u8,
        /// The packet.
        packet: F::Packet,
    },
    /// From a link: it has begun to transmit a packet that `port` submitted.
    Sent {
        /// Port of the device.
        port: u8,
        /// Channel of the packet.
        channel: F::Channel,
    },
    /// To itself: the transmitter of this end is free.
    Free {
        /// Which end.
        end: End,
        /// Training that was in force; later ones make the event void.
        generation: u32,
    },
    /// To itself: a unit has arrived whole at this end.
    Arrive {
        /// Which end.
        end: End,
        /// Training that was in force.
        generation: u32,
        /// What arrived.
        unit: Unit<F>,
    },
    /// To itself: training is over.
    Trained {
        /// Training that was in force.
        generation: u32,
    },
    /// To itself: has this end waited for an acknowledgement too long?
    ReplayTimer {
        /// Which end.
        end: End,
    },
    /// To itself: a control unit of this end was lost and is due again.
    Again {
        /// Which end.
        end: End,
        /// What it said.
        control: F::Control,
    },
    /// To a link: the port at `end` is on in this role, or off.
    Port {
        /// Which end.
        end: End,
        /// Its role.
        role: Option<F::Role>,
    },
    /// To a link: its cable is plugged in or pulled.
    Cable {
        /// It is plugged in.
        plugged: bool,
    },
    /// From a link: how it is, to a port that was switched.
    State {
        /// Port of the device.
        port: u8,
        /// How it is.
        state: PortState,
    },
}

/// What a link tells a port that was switched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortState {
    /// Packets can cross.
    pub is_up: bool,
    /// There is a cable with something behind it.
    pub is_plugged: bool,
    /// Packets and control units with a wrong CRC that this end has received.
    pub errors: u32,
    /// How often the link has trained.
    pub trainings: u16,
}
