//! The events that devices exchange.

use crate::engine::{Event, Sim};

use super::link::{End, LinkEvent};
use super::link_port::LinkPortEvent;
use super::nic::NicEvent;
use super::opteron::OpteronEvent;
use super::packet::{Frame, Packet, VirtualChannel};

/// A simulation of devices.
pub type Fabric = Sim<DeviceEvent>;

/// Events from one device to another, or to itself.
#[derive(Debug)]
pub enum DeviceEvent {
    /// To a link: transmit this packet from `end`.
    Submit {
        /// Where the sender is attached.
        end: End,
        /// The packet.
        packet: Box<Packet>,
    },
    /// To a link: the device at `end` has emptied a receive buffer.
    Release {
        /// Where the receiver is attached.
        end: End,
        /// Channel of the buffer.
        channel: VirtualChannel,
        /// Whether a data buffer was also emptied.
        data: bool,
    },
    /// From a link: a packet has arrived at `port`. It occupies a receive
    /// buffer until the device releases it.
    Deliver {
        /// Port of the receiving device.
        port: u8,
        /// The packet.
        packet: Box<Packet>,
    },
    /// From a link: it has begun to transmit a packet that `port` submitted.
    Sent {
        /// Port of the device.
        port: u8,
        /// Channel of the packet.
        channel: VirtualChannel,
    },
    /// Between link ports, cables and switches: a frame has arrived whole.
    Frame {
        /// Port of the receiving device.
        port: u8,
        /// The frame.
        frame: Box<Frame>,
    },
    /// A link to itself.
    Link(LinkEvent),
    /// An Opteron to itself.
    Opteron(OpteronEvent),
    /// A NIC to itself.
    Nic(NicEvent),
    /// A NIC or a switch to itself, about one of its link ports.
    LinkPort(LinkPortEvent),
}

impl Event for DeviceEvent {
    fn digest(&self) -> u64 {
        match self {
            DeviceEvent::Submit { end, packet } => 1 | (*end as u64) << 8 | packet.digest() << 16,
            DeviceEvent::Release { end, channel, data } => {
                2 | (*end as u64) << 8 | (channel.index() as u64) << 16 | u64::from(*data) << 24
            }
            DeviceEvent::Deliver { port, packet } => {
                3 | u64::from(*port) << 8 | packet.digest() << 16
            }
            DeviceEvent::Sent { port, channel } => {
                4 | u64::from(*port) << 8 | (channel.index() as u64) << 16
            }
            DeviceEvent::Frame { port, frame } => 5 | u64::from(*port) << 8 | frame.digest() << 16,
            DeviceEvent::Link(event) => 6 | event.digest() << 8,
            DeviceEvent::Opteron(event) => 7 | event.digest() << 8,
            DeviceEvent::Nic(event) => 8 | event.digest() << 8,
            DeviceEvent::LinkPort(event) => 9 | event.digest() << 8,
        }
    }
}
