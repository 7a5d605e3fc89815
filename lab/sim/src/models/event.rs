//! The events that devices exchange.

use crate::engine::{Event, Sim};

use crate::models::ethernet::EtherEvent;
use crate::models::flit::{Flit, FlitEvent};
use crate::models::ht::Frame;
use crate::models::ht::link_port::LinkPortEvent;
use crate::models::ht::nic::NicEvent;
use crate::models::ht::opteron::OpteronEvent;
use crate::models::ht::{Ht, RtlEvent};
use crate::models::htea::adapter::AdapterEvent;
use crate::models::link::{Family, LinkEvent};
use crate::models::pcie::Pcie;
use crate::models::pcie::bridge::BridgeEvent;
use crate::models::pcie::mover::MoverEvent;
use crate::models::pcie::peach2::{ChipEvent, HostEvent};

use super::kind;

/// A simulation of devices.
pub type Fabric = Sim<DeviceEvent>;

/// Events from one device to another, or to itself: devices of all families can stand in one
/// machine.
#[derive(Debug)]
pub enum DeviceEvent {
    /// HyperTransport: between a link and its devices.
    Ht(LinkEvent<Ht>),
    /// PCI Express: between a link and its devices.
    Pcie(LinkEvent<Pcie>),
    /// Links of today: between a link and its devices.
    Flit(LinkEvent<Flit>),
    /// A switch or a host on links of today to itself.
    FlitDevice(FlitEvent),
    /// Between link ports, cables and switches: a frame has arrived whole.
    Frame {
        /// Port of the receiving device.
        port: u8,
        /// The frame.
        frame: Box<Frame>,
    },
    /// Between hosts or adapters with the project's own links and their switch.
    Ethernet(EtherEvent),
    /// An adapter to itself.
    Adapter(AdapterEvent),
    /// An Opteron to itself.
    Opteron(OpteronEvent),
    /// A NIC to itself.
    Nic(NicEvent),
    /// A NIC or a switch to itself, about one of its link ports.
    LinkPort(LinkPortEvent),
    /// A bridge to itself.
    Bridge(BridgeEvent),
    /// To a device with a DMA engine, from its driver or from another one.
    Mover(MoverEvent),
    /// A PEACH2 chip to itself.
    Chip(ChipEvent),
    /// To a host with PEACH2 chips, from its programs or itself.
    Host(HostEvent),
    /// A board that is RTL to itself, or to the one at the other end of its cable.
    Rtl(RtlEvent),
}

/// Events are moved several times on their way through the queue: a large part of one belongs
/// behind a pointer.
const _: () = assert!(size_of::<DeviceEvent>() <= 32);

impl Event for DeviceEvent {
    const KINDS: &'static [&'static str] = kind::NAMES;

    fn kind(&self) -> u8 {
        kind::of(self)
    }

    fn digest(&self) -> u64 {
        match self {
            DeviceEvent::Ht(event) => Ht::digest(event),
            DeviceEvent::Pcie(event) => Pcie::digest(event),
            DeviceEvent::Frame { port, frame } => 5 | u64::from(*port) << 8 | frame.digest() << 16,
            DeviceEvent::Opteron(event) => 7 | event.digest() << 8,
            DeviceEvent::Nic(event) => 8 | event.digest() << 8,
            DeviceEvent::LinkPort(event) => 9 | event.digest() << 8,
            DeviceEvent::Ethernet(event) => 10 | event.digest() << 8,
            DeviceEvent::Flit(event) => 11 | Flit::digest(event) << 8,
            DeviceEvent::FlitDevice(event) => 12 | event.digest() << 8,
            DeviceEvent::Adapter(event) => 13 | event.digest() << 8,
            DeviceEvent::Bridge(event) => 14 | event.digest() << 8,
            DeviceEvent::Mover(event) => 15 | event.digest() << 8,
            DeviceEvent::Chip(event) => event.digest().rotate_left(7) ^ 6,
            DeviceEvent::Host(event) => event.digest().rotate_left(7) ^ 7,
            DeviceEvent::Rtl(event) => event.digest().rotate_left(7) ^ 8,
        }
    }
}
