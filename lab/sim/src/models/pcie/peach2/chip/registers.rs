//! The registers of a chip, at the start of its internal block.
//!
//! The paper prints no offsets. Those of the routing registers are the planner's; the others
//! are this project's, in the layout of Altera's chaining DMA, which the paper says it uses.
//!
//! | offset | register |
//! |---|---|
//! | `0x000..0x080` | mask, lower and upper bound of each port, see [`peach2`] |
//! | `0x080` | first address of the node |
//! | `0x088` | bytes of each of its four blocks |
//! | `0x090`, `0x098`, `0x0a0` | address of GPU 0, GPU 1, the host's memory on the host's bus |
//! | `0xa8` | 1: port north leads to a bridge, and addresses pass it as they are. `0x080` and `0x088` are then
//!   first address and bytes of this internal block, and `0x0a0` is where the socket's memory begins |
//! | `0x100`, `0x110`, `0x120` | table header of a DMA write, read, pipelined |
//! | `0x140` | status of the DMA controller, read only |
//! | `0x180 + 0x20 * port` | control of the port: bit 0 on, bit 1 root complex |
//! | ` + 0x08` | its status: bit 0 link up, bit 1 cable, bit 2 reconfiguring; read only |
//! | ` + 0x10` | CRC errors, and trainings in the upper half; read only |
//! | ` + 0x18` | TLPs in the chip for the port; read only |
//! | `0x200`, `0x208` | mailbox of the management processor: command and port |
//! | `0x210` | its reply |
//! | `0x218` | how often it found a port on and without a link |
//! | `0x220..0x238` | mask, lower and upper bound for the port that the next command opens |
//!
//! A table header is four words of 32 bits: number of descriptors and control, address of the
//! table on the host's bus (high, low), and the last descriptor to run. Writing the last word
//! starts the controller. All are little-endian.

use hostwire_plan::GlobalAddress;
use hostwire_plan::registers::peach2::{PORTS, Router};
use hostwire_plan::registers::{Fault, Register, RegisterWrite, Step};

/// Bytes of registers; memory follows.
pub const REGISTER_BYTES: u64 = 4096;
/// The table header of a DMA write, in the chip's internal block.
pub const WRITE_TABLE: u64 = 0x100;
/// The table header of a DMA read.
pub const READ_TABLE: u64 = 0x110;
/// The table header of a pipelined DMA.
pub const PIPELINED_TABLE: u64 = 0x120;
/// The status of the DMA controller.
pub const STATUS: u64 = 0x140;

/// The registers of the first port.
pub const PORTS_AT: u64 = 0x180;
/// From a port to the next.
pub const PORT_STRIDE: u64 = 0x20;
/// From the routing registers of a port to those of the next.
pub(super) const ROUTING_STRIDE: u64 = 0x20;
pub(super) const PORT_CONTROL: u64 = 0;
/// The status of a port, from its first register.
pub const PORT_STATUS: u64 = 8;
pub(super) const PORT_PENDING: u64 = 0x18;
pub(super) const CONTROL_ON: u64 = 1;
pub(super) const CONTROL_ROOT: u64 = 2;
/// Status bit: the link is up.
pub const STATUS_UP: u64 = 1;
/// Status bit: there is a cable.
pub const STATUS_CABLE: u64 = 2;
pub(super) const STATUS_RECONFIGURING: u64 = 4;
/// The mailbox: a command, and the number of a port behind it.
pub const COMMAND: u64 = 0x200;
/// The reply to the last command; 0 while there is none.
pub const REPLY: u64 = 0x210;
/// How often the management processor found a port on and without a link.
pub const LOSSES: u64 = 0x218;
/// Routing of the port that is opened next.
pub const SHADOW: u64 = 0x220;

const NODE_BASE: u64 = 0x80;
const BLOCK_BYTES: u64 = 0x88;
const BUS: [u64; 3] = [0x90, 0x98, 0xa0];
const PASS: u64 = 0xa8;
const KEPT: usize = 0x240;
const ROUTING: u64 = 0x80;

/// How the controller moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DmaKind {
    /// From the chip's memory to anywhere.
    Write,
    /// From the node's host or GPUs to the chip's memory.
    Read,
    /// From the node's host or GPUs to anywhere, through a buffer.
    Pipelined,
}

impl DmaKind {
    /// Where its table header is.
    pub const fn header(self) -> u64 {
        match self {
            DmaKind::Write => WRITE_TABLE,
            DmaKind::Read => READ_TABLE,
            DmaKind::Pipelined => PIPELINED_TABLE,
        }
    }
}

/// What a write to a register sets off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The DMA controller starts.
    Dma(DmaKind),
    /// A port is switched.
    Port(u8),
    /// The management processor has a command.
    Mailbox,
}

/// The contents of a table header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableHeader {
    pub(super) count: u16,
    pub(super) control: u16,
    pub(super) table: u64,
    pub(super) last: u16,
}

/// The destination of an address by the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To a neighbour.
    Port(u8),
    /// To the host's bus, at this address. The first is whether it is the host's memory.
    Host(bool, u64),
    /// Into the chip, at this offset of its internal block.
    Internal(u64),
    /// Nowhere.
    Fault(Fault),
}

pub(super) struct Registers {
    bytes: [u8; KEPT],
    router: Router,
}

impl Registers {
    /// All zero: nothing is routed.
    pub(super) fn new() -> Registers {
        Registers {
            bytes: [0; KEPT],
            router: Router::default(),
        }
    }

    /// Writes `bytes` at `offset`; what this sets off, if anything. Offsets without a
    /// register take nothing.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> Option<Effect> {
        let end = offset.saturating_add(bytes.len() as u64);
        let range = usize::try_from(offset).ok()?..usize::try_from(end).ok()?;
        self.bytes.get_mut(range)?.copy_from_slice(bytes);
        if offset < ROUTING {
            self.router = Router::from_writes(&self.routing());
        }
        let written = offset..end;
        let kinds = [DmaKind::Write, DmaKind::Read, DmaKind::Pipelined];
        let started = kinds
            .into_iter()
            .find(|kind| written.contains(&(kind.header() + 0xc)));
        let control = |port: &u8| PORTS_AT + PORT_STRIDE * u64::from(*port) + PORT_CONTROL;
        let switched = || (0..PORTS).find(|port| written.contains(&control(port)));
        let mailbox = written.contains(&COMMAND).then_some(Effect::Mailbox);
        let port = || switched().map(Effect::Port);
        started.map(Effect::Dma).or_else(port).or(mailbox)
    }

    /// Sets a register that the chip itself keeps.
    pub(super) fn show(&mut self, offset: u64, value: u64) {
        let range = usize::try_from(offset).map(|at| at..at.saturating_add(8));
        if let Ok(range) = range
            && let Some(place) = self.bytes.get_mut(range)
        {
            place.copy_from_slice(&value.to_le_bytes());
        }
    }

    pub(super) fn apply(&mut self, writes: &[RegisterWrite]) {
        for write in writes {
            if let Register::Peach2(offset) = write.register {
                let old = self.word(u64::from(offset));
                self.write(u64::from(offset), &write.apply(old).to_le_bytes());
            }
        }
    }

    /// Says where the node lies, and where its blocks are on the host's bus.
    pub(super) fn place(&mut self, base: u64, block_bytes: u64, bus: [u64; 3]) {
        let values = [base, block_bytes].into_iter().chain(bus);
        for (offset, value) in [NODE_BASE, BLOCK_BYTES].into_iter().chain(BUS).zip(values) {
            self.write(offset, &value.to_le_bytes());
        }
    }

    /// Says that port north leads to a bridge.
    pub(super) fn pass(&mut self) {
        self.write(PASS, &1_u64.to_le_bytes());
    }

    pub(super) fn read(&self, offset: u64, len: usize) -> Vec<u8> {
        let from = usize::try_from(offset).unwrap_or(KEPT);
        let mut bytes: Vec<u8> = self.bytes.iter().skip(from).take(len).copied().collect();
        bytes.resize(len, 0);
        bytes
    }

    pub(super) fn set_status(&mut self, status: u32) {
        self.write(STATUS, &u64::from(status).to_le_bytes());
    }

    /// From where the sources of the pipelined controller count: the node's first address, or below a
    /// bridge that of the node's memory.
    pub(super) fn source_base(&self) -> u64 {
        match self.passes() {
            true => self.word(BUS[2]),
            false => self.word(NODE_BASE),
        }
    }

    fn passes(&self) -> bool {
        self.word(PASS) == 1
    }

    pub(super) fn header(&self, kind: DmaKind) -> TableHeader {
        let word = |index: u64| self.word(kind.header() + index * 4) as u32;
        TableHeader {
            count: word(0) as u16,
            control: (word(0) >> 16) as u16,
            table: u64::from(word(1)) << 32 | u64::from(word(2)),
            last: word(3) as u16,
        }
    }

    /// Decides by the routing registers; only for the node itself the block matters too.
    pub(super) fn way(&self, address: u64) -> Way {
        if self.passes()
            && let Some(offset) = address.checked_sub(self.word(NODE_BASE))
            && offset < self.word(BLOCK_BYTES)
        {
            return Way::Internal(offset);
        }
        match self.router.step(GlobalAddress(address)) {
            Step::Forward(link) => Way::Port(link.get()),
            Step::Fault(fault) => Way::Fault(fault),
            Step::Deliver => self.at_home(address),
        }
    }

    /// Where the DMA controller reads this address: on the own bus if no register names it, and below a bridge always.
    pub(super) fn source(&self, address: u64) -> Way {
        match self.way(address) {
            Way::Fault(_) => Way::Host(true, address),
            Way::Port(_) if self.passes() => Way::Host(true, address),
            way => way,
        }
    }

    /// Port north: the node's first address is subtracted, that of the device added.
    fn at_home(&self, address: u64) -> Way {
        let unmapped = Way::Fault(Fault::Unmapped);
        if self.passes() {
            return Way::Host(false, address);
        }
        let Some(offset) = address.checked_sub(self.word(NODE_BASE)) else {
            return unmapped;
        };
        let block_bytes = self.word(BLOCK_BYTES);
        let Some(block) = offset.checked_div(block_bytes) else {
            return unmapped;
        };
        let within = offset % block_bytes;
        match usize::try_from(block) {
            Ok(3) => Way::Internal(within),
            Ok(block) => match BUS.get(block) {
                Some(&register) => Way::Host(block == 2, self.word(register).wrapping_add(within)),
                None => unmapped,
            },
            Err(_) => unmapped,
        }
    }

    fn word(&self, offset: u64) -> u64 {
        let at = usize::try_from(offset).unwrap_or(KEPT);
        let word = self.bytes.get(at..).and_then(|bytes| bytes.first_chunk());
        word.map_or(0, |word| u64::from_le_bytes(*word))
    }

    fn routing(&self) -> Vec<RegisterWrite> {
        let ports = 0..u16::from(PORTS);
        let offsets = ports.flat_map(|port| [0, 8, 0x10].map(|register| port * 0x20 + register));
        let write = |offset: u16| RegisterWrite {
            register: Register::Peach2(offset),
            value: self.word(u64::from(offset)),
            mask: u64::MAX,
            what: "as written",
        };
        offsets.map(write).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostwire_plan::registers::peach2::NORTH;

    const NODE: u64 = 32 << 30;

    /// The chip of node 1 of four, as in figure 5: east leads to 2 and 3, west to 0.
    fn registers() -> Registers {
        let mut registers = Registers::new();
        let mask = !(NODE - 1);
        let base = 512u64 << 30;
        for (port, first, last) in [(0, 2, 3), (1, 0, 0), (2, 9, 8), (u64::from(NORTH), 1, 1)] {
            for (register, value) in [mask, base + first * NODE, base + last * NODE]
                .into_iter()
                .enumerate()
            {
                registers.write(port * 0x20 + register as u64 * 8, &value.to_le_bytes());
            }
        }
        registers.place(base + NODE, NODE / 4, [1 << 44, 1 << 45, 1 << 32]);
        registers
    }

    #[test]
    fn masks_and_bounds_route() {
        let registers = registers();
        let base = 512u64 << 30;
        for (address, way) in [
            (base, Way::Port(1)),
            (base + NODE - 1, Way::Port(1)),
            (base + 2 * NODE, Way::Port(0)),
            (base + 4 * NODE - 1, Way::Port(0)),
            (base + 4 * NODE, Way::Fault(Fault::Unmapped)),
            (base - 1, Way::Fault(Fault::Unmapped)),
            (base + NODE + 5, Way::Host(false, (1 << 44) + 5)),
            (base + NODE + NODE / 4, Way::Host(false, 1 << 45)),
            (base + NODE + NODE / 2 + 9, Way::Host(true, (1 << 32) + 9)),
            (base + NODE + NODE / 4 * 3 + 7, Way::Internal(7)),
        ] {
            assert_eq!(registers.way(address), way, "{address:#x}");
        }
    }

    #[test]
    fn a_wrong_bound_misroutes() {
        let mut registers = registers();
        let base = 512u64 << 30;
        registers.write(0x10, &(base + 2 * NODE).to_le_bytes());
        assert_eq!(registers.way(base + 3 * NODE), Way::Fault(Fault::Unmapped));
        registers.write(0x28, &base.to_le_bytes());
        registers.write(0x30, &(base + 2 * NODE).to_le_bytes());
        assert_eq!(registers.way(base + 2 * NODE), Way::Fault(Fault::Overlap));
        assert_eq!(Registers::new().way(base), Way::Fault(Fault::Unmapped));
    }

    #[test]
    fn the_last_word_of_a_header_starts() {
        let mut registers = registers();
        let mut header = Vec::new();
        for word in [0x0003_00ffu32, 1, 0x8000_0000, 254] {
            header.extend(word.to_le_bytes());
        }
        assert_eq!(registers.write(READ_TABLE, &header[..12]), None);
        let read = Some(Effect::Dma(DmaKind::Read));
        assert_eq!(registers.write(READ_TABLE, &header), read);
        let read = registers.header(DmaKind::Read);
        assert_eq!((read.count, read.control, read.last), (255, 3, 254));
        assert_eq!(read.table, 0x1_8000_0000);
        assert_eq!(registers.write(0x1fff, &[1]), None, "no such register");
        assert_eq!(registers.write(u64::MAX, &[1]), None);
    }
}
