//! The kinds of events, as traces name them.

use crate::models::DeviceEvent;
use crate::models::ethernet::EtherEvent;
use crate::models::flit::FlitEvent;
use crate::models::ht::RtlEvent;
use crate::models::ht::link_port::LinkPortEvent;
use crate::models::ht::nic::NicEvent;
use crate::models::ht::opteron::OpteronEvent;
use crate::models::htea::adapter::AdapterEvent;
use crate::models::link::LinkEvent;
use crate::models::pcie::bridge::BridgeEvent;
use crate::models::pcie::mover::MoverEvent;
use crate::models::pcie::peach2::{ChipEvent, HostEvent};

/// Names every event by its device or family of links and by what it is. The match of `of` has to
/// cover all events, so that a new one gets a name.
macro_rules! kinds {
    ($($kind:ident = $event:pat,)+) => {
        #[allow(non_camel_case_types, reason = "these are the names")]
        enum Kind {
            $($kind,)+
        }

        /// The names, by number.
        pub(super) const NAMES: &[&str] = &[$(stringify!($kind),)+];

        /// The number of an event's name.
        pub(super) fn of(event: &DeviceEvent) -> u8 {
            match event {
                $($event => Kind::$kind as u8,)+
            }
        }
    };
}

kinds! {
    ht_submit = DeviceEvent::Ht(LinkEvent::Submit { .. }),
    ht_release = DeviceEvent::Ht(LinkEvent::Release { .. }),
    ht_deliver = DeviceEvent::Ht(LinkEvent::Deliver { .. }),
    ht_sent = DeviceEvent::Ht(LinkEvent::Sent { .. }),
    ht_free = DeviceEvent::Ht(LinkEvent::Free { .. }),
    ht_arrive = DeviceEvent::Ht(LinkEvent::Arrive { .. }),
    ht_trained = DeviceEvent::Ht(LinkEvent::Trained { .. }),
    ht_replay_timer = DeviceEvent::Ht(LinkEvent::ReplayTimer { .. }),
    ht_again = DeviceEvent::Ht(LinkEvent::Again { .. }),
    ht_port = DeviceEvent::Ht(LinkEvent::Port { .. }),
    ht_cable = DeviceEvent::Ht(LinkEvent::Cable { .. }),
    ht_state = DeviceEvent::Ht(LinkEvent::State { .. }),
    pcie_submit = DeviceEvent::Pcie(LinkEvent::Submit { .. }),
    pcie_release = DeviceEvent::Pcie(LinkEvent::Release { .. }),
    pcie_deliver = DeviceEvent::Pcie(LinkEvent::Deliver { .. }),
    pcie_sent = DeviceEvent::Pcie(LinkEvent::Sent { .. }),
    pcie_free = DeviceEvent::Pcie(LinkEvent::Free { .. }),
    pcie_arrive = DeviceEvent::Pcie(LinkEvent::Arrive { .. }),
    pcie_trained = DeviceEvent::Pcie(LinkEvent::Trained { .. }),
    pcie_replay_timer = DeviceEvent::Pcie(LinkEvent::ReplayTimer { .. }),
    pcie_again = DeviceEvent::Pcie(LinkEvent::Again { .. }),
    pcie_port = DeviceEvent::Pcie(LinkEvent::Port { .. }),
    pcie_cable = DeviceEvent::Pcie(LinkEvent::Cable { .. }),
    pcie_state = DeviceEvent::Pcie(LinkEvent::State { .. }),
    flit_submit = DeviceEvent::Flit(LinkEvent::Submit { .. }),
    flit_release = DeviceEvent::Flit(LinkEvent::Release { .. }),
    flit_deliver = DeviceEvent::Flit(LinkEvent::Deliver { .. }),
    flit_sent = DeviceEvent::Flit(LinkEvent::Sent { .. }),
    flit_free = DeviceEvent::Flit(LinkEvent::Free { .. }),
    flit_arrive = DeviceEvent::Flit(LinkEvent::Arrive { .. }),
    flit_trained = DeviceEvent::Flit(LinkEvent::Trained { .. }),
    flit_replay_timer = DeviceEvent::Flit(LinkEvent::ReplayTimer { .. }),
    flit_again = DeviceEvent::Flit(LinkEvent::Again { .. }),
    flit_port = DeviceEvent::Flit(LinkEvent::Port { .. }),
    flit_cable = DeviceEvent::Flit(LinkEvent::Cable { .. }),
    flit_state = DeviceEvent::Flit(LinkEvent::State { .. }),
    flit_forward = DeviceEvent::FlitDevice(FlitEvent::Forward { .. }),
    flit_wake = DeviceEvent::FlitDevice(FlitEvent::Wake),
    flit_timer = DeviceEvent::FlitDevice(FlitEvent::Timer),
    frame = DeviceEvent::Frame { .. },
    ethernet_arrive = DeviceEvent::Ethernet(EtherEvent::Arrive(_)),
    ethernet_join = DeviceEvent::Ethernet(EtherEvent::Join(_)),
    ethernet_free = DeviceEvent::Ethernet(EtherEvent::Free),
    ethernet_timer = DeviceEvent::Ethernet(EtherEvent::Timer),
    ethernet_start = DeviceEvent::Ethernet(EtherEvent::Start),
    adapter_mapped = DeviceEvent::Adapter(AdapterEvent::Mapped(_)),
    adapter_encapsulated = DeviceEvent::Adapter(AdapterEvent::Encapsulated),
    adapter_deencapsulated = DeviceEvent::Adapter(AdapterEvent::Deencapsulated(_)),
    adapter_queued = DeviceEvent::Adapter(AdapterEvent::Queued(_)),
    processor_step = DeviceEvent::Opteron(OpteronEvent::Step { .. }),
    processor_wake = DeviceEvent::Opteron(OpteronEvent::Wake { .. }),
    processor_write = DeviceEvent::Opteron(OpteronEvent::Write { .. }),
    processor_read = DeviceEvent::Opteron(OpteronEvent::Read { .. }),
    processor_response = DeviceEvent::Opteron(OpteronEvent::Response { .. }),
    processor_loaded = DeviceEvent::Opteron(OpteronEvent::Loaded { .. }),
    processor_sample = DeviceEvent::Opteron(OpteronEvent::Sample { .. }),
    board_from_core = DeviceEvent::Nic(NicEvent::FromCore { .. }),
    board_to_link = DeviceEvent::Nic(NicEvent::ToLink { .. }),
    board_read_done = DeviceEvent::Nic(NicEvent::ReadDone { .. }),
    board_to_network = DeviceEvent::Nic(NicEvent::ToNetwork { .. }),
    board_from_network = DeviceEvent::Nic(NicEvent::FromNetwork { .. }),
    board_complete = DeviceEvent::Nic(NicEvent::Complete { .. }),
    board_answer = DeviceEvent::Nic(NicEvent::Answer { .. }),
    link_port_free = DeviceEvent::LinkPort(LinkPortEvent::Free { .. }),
    link_port_crossed = DeviceEvent::LinkPort(LinkPortEvent::Crossed { .. }),
    link_port_timer = DeviceEvent::LinkPort(LinkPortEvent::Timer { .. }),
    bridge_down = DeviceEvent::Bridge(BridgeEvent::Down(_)),
    bridge_up = DeviceEvent::Bridge(BridgeEvent::Up(_)),
    mover_write = DeviceEvent::Mover(MoverEvent::Write(_)),
    mover_read = DeviceEvent::Mover(MoverEvent::Read(_)),
    chip_inside = DeviceEvent::Chip(ChipEvent::Inside { .. }),
    chip_outside = DeviceEvent::Chip(ChipEvent::Outside { .. }),
    chip_free = DeviceEvent::Chip(ChipEvent::Free { .. }),
    chip_wake = DeviceEvent::Chip(ChipEvent::Wake),
    chip_boot = DeviceEvent::Chip(ChipEvent::Boot),
    chip_instruction = DeviceEvent::Chip(ChipEvent::Instruction),
    chip_timer = DeviceEvent::Chip(ChipEvent::Timer { .. }),
    chip_reconfigured = DeviceEvent::Chip(ChipEvent::Reconfigured { .. }),
    host_store = DeviceEvent::Host(HostEvent::Store { .. }),
    host_load = DeviceEvent::Host(HostEvent::Load { .. }),
    host_out = DeviceEvent::Host(HostEvent::Out { .. }),
    host_commit = DeviceEvent::Host(HostEvent::Commit { .. }),
    host_free = DeviceEvent::Host(HostEvent::Free { .. }),
    host_serve = DeviceEvent::Host(HostEvent::Serve { .. }),
    host_handler = DeviceEvent::Host(HostEvent::Handler { .. }),
    host_wake = DeviceEvent::Host(HostEvent::Wake { .. }),
    rtl_edge = DeviceEvent::Rtl(RtlEvent::Edge),
    rtl_cable = DeviceEvent::Rtl(RtlEvent::Cable { .. }),
}
