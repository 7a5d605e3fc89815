//! Parameters of the HTX board. Sources: the doc comments here, collected in
//! `docs/sim/nic.md`.

use hostwire_plan::{AddressRange, GlobalAddress};

use crate::engine::Ps;
use crate::models::ht::link_port::LinkPortConfig;
use crate::models::ht::{Buffers, Carried, LinkConfig, Packet};

/// Clocks and pipeline lengths of the design in the FPGA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NicConfig {
    /// This NIC's number in the network.
    pub id: u16,
    /// HyperTransport link clock in MHz; the HT-Core counts in it.
    pub link_mhz: u32,
    /// Clock of all other parts in MHz.
    pub user_mhz: u32,
    /// HT-Core, receive path, in link clocks. Source: paper, Table II.
    pub core_in_cycles: u64,
    /// HT-Core, transmit path, in link clocks. Source: paper, Table II.
    pub core_out_cycles: u64,
    /// Answering a read, in user clocks. **Fitted** to Table V (H6).
    pub read_cycles: u64,
    /// Requester: from a PIO write to a network packet, in user clocks.
    /// Assumed, with the next four: 21 cycles in all keep H13 below 750 ns.
    pub requester_cycles: u64,
    /// Network port, transmit side, in user clocks.
    pub network_out_cycles: u64,
    /// Link port and network port, receive side, in user clocks.
    pub network_in_cycles: u64,
    /// Completer, in user clocks.
    pub completer_cycles: u64,
    /// Crossbar between network port and link ports, in user clocks. 0: the
    /// experiment of the paper, which had none.
    pub crossbar_cycles: u64,
    /// Link ports.
    pub ports: Vec<LinkPortConfig>,
    /// Link port by destination NIC.
    pub routes: Vec<u8>,
    /// Writes to `send_base + (destination << 12)` are messages; all other
    /// writes are counted and dropped, as in the example design.
    pub send_base: u64,
    /// Where received messages go in host memory: slots of 128 bytes, payload
    /// in the first line, status in the second.
    pub ring_base: u64,
    /// Slots of the ring.
    pub ring_slots: u64,
    /// Bytes of the status write. Assumed: 16, the smallest message.
    pub status_bytes: usize,
    /// From the pins of the host's processor to those of the board. Assumed, for a board in the slot
    /// of a host of its own: below a socket it is a trace as others.
    pub slot: Ps,
    /// Addresses of memory elsewhere, ascending, each with the NIC that takes writes to it. If there
    /// are any, the board is a window: it carries writes to other boards, which write them to the same
    /// addresses on their own links. Then there are no send window and no ring.
    pub targets: Vec<(AddressRange, u16)>,
    /// Messages that wait for the host's link.
    pub receive_messages_max: usize,
    /// Memory of other hosts that this host uses.
    pub regions: Vec<RemoteRegion>,
    /// Reads of the host's memory, for other hosts, that may be under way at once. Source:
    /// HyperTransport has five bits for the tags of a unit.
    pub read_tags: u8,
    /// Receive buffers of the HT-Core for commands, per virtual channel. Source: acchdl documentation
    /// of the HT-Core, 32 of each kind.
    pub core_command_credits: u8,
    /// The same for data.
    pub core_data_credits: u8,
    /// Transmit places of the HT-Core per virtual channel. Source: the same, FIFOs of 32 entries.
    pub core_places: usize,
    /// [`LinkConfig::nop_credits`](crate::models::ht::LinkConfig::nop_credits) of the link to the
    /// processor of a host of its own.
    pub nop_credits: u8,
}

/// Memory of another host, and where this host has it among its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteRegion {
    /// First address here.
    pub base: u64,
    /// Its size.
    pub bytes: u64,
    /// The NIC of its owner.
    pub host: u16,
    /// First address in the owner's memory.
    pub target: u64,
}

impl RemoteRegion {
    /// A request for it as its owner gets it.
    pub(super) fn carried(&self, packet: &Packet) -> Carried {
        Carried {
            address: packet.address - self.base + self.target,
            ..Carried::of(packet)
        }
    }
}

impl NicConfig {
    /// The paper's first experiment: 8-bit link at 200 MHz, user clock 100 MHz,
    /// one ATOLL port.
    pub fn htx_board(id: u16) -> NicConfig {
        NicConfig {
            id,
            link_mhz: 200,
            user_mhz: 100,
            core_in_cycles: 11,
            core_out_cycles: 7,
            read_cycles: 13,
            requester_cycles: 5,
            network_out_cycles: 5,
            network_in_cycles: 6,
            completer_cycles: 5,
            crossbar_cycles: 0,
            ports: vec![LinkPortConfig::atoll(100)],
            routes: vec![0; 2],
            send_base: 0xfc_0000_0000,
            ring_base: hostwire_plan::htx::RING_BASE,
            ring_slots: 32,
            status_bytes: 16,
            slot: Ps::from_ns(5),
            targets: Vec::new(),
            receive_messages_max: 8,
            regions: Vec::new(),
            read_tags: 32,
            core_command_credits: 32,
            core_data_credits: 32,
            core_places: 32,
            nop_credits: LinkConfig::default().nop_credits,
        }
    }

    /// Whether it carries writes by their address.
    pub(crate) fn is_window(&self) -> bool {
        !self.targets.is_empty()
    }

    /// The NIC that a write to this address goes to.
    pub(super) fn destination(&self, address: u64) -> Option<u16> {
        if !self.is_window() {
            return Some(((address - self.send_base) >> 12) as u16);
        }
        let address = GlobalAddress(address);
        let after = self
            .targets
            .partition_point(|(range, _)| range.start <= address);
        let (range, nic) = self.targets.get(after.checked_sub(1)?)?;
        (address <= range.last()).then_some(*nic)
    }

    /// The region with this address.
    pub(super) fn region(&self, address: u64) -> Option<RemoteRegion> {
        let holds = |region: &&RemoteRegion| {
            address
                .checked_sub(region.base)
                .is_some_and(|at| at < region.bytes)
        };
        self.regions.iter().find(holds).copied()
    }

    /// Receive buffers of the HT-Core.
    pub(crate) fn core_buffers(&self) -> Buffers {
        Buffers {
            command: [self.core_command_credits; 3],
            data: [self.core_data_credits; 3],
        }
    }

    pub(super) fn core_in(&self) -> Ps {
        Ps::from_cycles(self.core_in_cycles, self.link_mhz)
    }

    pub(super) fn core_out(&self) -> Ps {
        Ps::from_cycles(self.core_out_cycles, self.link_mhz)
    }

    pub(super) fn user(&self, cycles: u64) -> Ps {
        Ps::from_cycles(cycles, self.user_mhz)
    }
}
