//! Registers of a family 10h northbridge that the model obeys.
//!
//! Offsets and fields: BIOS and Kernel Developer's Guide for family 10h as used
//! by coreboot (`amdfam10.h`, `resourcemap.c`, `h3ncmn.c`). Only what is listed
//! in `docs/sim/opteron.md` has an effect; other offsets store what is written.

/// Links of one socket: four of 16 bits, or eight sublinks of 8 bits (4 to 7 are
/// the second halves and have their registers in function 4).
pub const LINKS: u8 = 8;
/// Routing rows, one per NodeID.
pub const NODES_MAX: u8 = 8;
/// DRAM and MMIO ranges of one socket.
pub const RANGES: u8 = 8;
/// Extended MMIO ranges of one socket.
pub const EXTENDED_RANGES: u8 = 4;
/// Functions of the northbridge.
pub const FUNCTIONS: u8 = 5;
/// Bytes of configuration space per function.
pub const FUNCTION_BYTES: u16 = 0x200;

/// F0x40: routing table, one dword per NodeID.
pub const ROUTING: u16 = 0x40;
/// F0x60: NodeID and node count.
pub const NODE_ID: u16 = 0x60;
/// F0x64: link to the southbridge.
pub const UNIT_ID: u16 = 0x64;
/// F0x6C: link initialisation control.
pub const INIT_CONTROL: u16 = 0x6c;
/// F0x84 + 0x20 per link: link control and width.
pub const LINK_CONTROL: u16 = 0x84;
/// F0x88 + 0x20 per link: frequency and frequency capability.
pub const LINK_FREQUENCY: u16 = 0x88;
/// F0x98 + 0x20 per link: link type.
pub const LINK_TYPE: u16 = 0x98;
/// F0x9C + 0x20 per link: fifth bit of the frequency.
pub const LINK_FREQUENCY_EXT: u16 = 0x9c;
/// F0x130 + 4 per link: retry.
pub const LINK_RETRY: u16 = 0x130;
/// F0x170 + 4 per link: scrambling.
pub const LINK_EXT_CONTROL: u16 = 0x170;
/// F0x1F8: debug register that forces links non-coherent at the next warm
/// reset, one bit per link. **Assumed**: the paper names such a register but
/// not its address; no public source has it.
pub const FORCE_NONCOHERENT: u16 = 0x1f8;
/// F1x40 + 8 per range: DRAM base; limit at + 4.
pub const DRAM_BASE: u16 = 0x40;
/// F1x80 + 8 per range: MMIO base; limit at + 4.
pub const MMIO_BASE: u16 = 0x80;
/// F1x180 + 4 per range: bits 47:40 of an MMIO base in 7:0 and of its limit in 23:16. Family 15h
/// has it; on family 10h nothing writes it, and extended ranges reach beyond 40 bits.
///
/// Source: Numascale's bootloader, as `hostwire-plan` writes it.
pub const MMIO_HIGH: u16 = 0x180;
/// F1x140 + 8 per range: bits 47:40 of DRAM base; of the limit at + 4.
pub const DRAM_BASE_HIGH: u16 = 0x140;

/// F1x110 and F1x114: index and data of the extended MMIO ranges.
pub const EXTENDED_INDEX: u16 = 0x110;

/// F0x84: the link has failed.
pub const LINK_FAIL: u32 = 1 << 4;
/// F0x84: initialisation is complete.
pub const INIT_COMPLETE: u32 = 1 << 5;
/// F0x84: nothing is attached.
pub const END_OF_CHAIN: u32 = 1 << 6;
/// F0x98: connected.
pub const LINK_CONNECTED: u32 = 1 << 0;
/// F0x98: initialisation is complete.
pub const LINK_READY: u32 = 1 << 1;
/// F0x98: non-coherent.
pub const LINK_NONCOHERENT: u32 = 1 << 2;
/// F0x6C: the routing table is not used yet.
pub const ROUTE_TABLE_DISABLED: u32 = 1 << 0;
/// F0x6C: the processor does not fetch code yet.
pub const REQUEST_DISABLED: u32 = 1 << 1;
/// F0x6C: clear after a cold reset only.
pub const COLD_RESET_DETECT: u32 = 1 << 4;
/// F0x6C: clear before a warm reset that the firmware asks for.
pub const BIOS_RESET_DETECT: u32 = 1 << 5;

/// Link clock in MHz by frequency code, 0 where the code is not defined.
///
/// Source: HyperTransport I/O link specification; coreboot `h3finit.c`.
pub const FREQUENCY_MHZ: [u32; 20] = [
    200, 300, 400, 500, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2400, 2600, 0, 0, 2800,
    3000, 3200,
];

/// NodeID after reset. Source: paper, IV.E.
pub const NODE_ID_RESET: u32 = 7;

/// Memory types of MTRRs, as encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryType {
    /// Uncached: every access goes out by itself, in order.
    Uncached = 0,
    /// Stores collect in write-combining buffers; loads are uncached.
    WriteCombining = 1,
    /// Cached; stores go through.
    WriteThrough = 4,
    /// Cached for loads.
    WriteProtect = 5,
    /// Cached.
    WriteBack = 6,
}

impl MemoryType {
    fn from_bits(bits: u64) -> MemoryType {
        match bits & 0x7 {
            1 => MemoryType::WriteCombining,
            4 => MemoryType::WriteThrough,
            5 => MemoryType::WriteProtect,
            6 => MemoryType::WriteBack,
            _ => MemoryType::Uncached,
        }
    }
}

/// MSR numbers that the model obeys.
pub mod msr {
    /// First of eight pairs of variable-range base and mask.
    pub const MTRR_BASE: u32 = 0x200;
    /// Default memory type; bit 11 enables the MTRRs.
    pub const MTRR_DEFAULT: u32 = 0x2ff;
    /// System configuration; bit 21 enables TOP_MEM2.
    pub const SYSCFG: u32 = 0xc001_0010;
    /// First of two pairs of I/O range base and mask.
    pub const IORR_BASE: u32 = 0xc001_0016;
    /// End of DRAM below 4 GB.
    pub const TOP_MEM: u32 = 0xc001_001a;
    /// End of DRAM above 4 GB.
    pub const TOP_MEM2: u32 = 0xc001_001d;
}

/// A DRAM range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramRange {
    /// First byte.
    pub base: u64,
    /// Last byte.
    pub limit: u64,
    /// NodeID of the home node.
    pub node: u8,
}

/// An MMIO range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MmioRange {
    /// First byte.
    pub base: u64,
    /// Last byte.
    pub limit: u64,
    /// NodeID of the node that owns the link.
    pub node: u8,
    /// Link of that node.
    pub link: u8,
}

/// Configuration space of functions 0 and 1 and the MSRs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    functions: Vec<Vec<u32>>,
    /// Extended MMIO ranges: base and mask registers.
    extended: [(u32, u32); EXTENDED_RANGES as usize],
    msrs: Msrs,
    decoded: Decoded,
}

/// The model-specific registers; all cores of a socket have the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Msrs {
    mtrrs: [(u64, u64); 8],
    mtrr_default: u64,
    iorrs: [(u64, u64); 2],
    syscfg: u64,
    top_mem: u64,
    top_mem2: u64,
}

impl Registers {
    /// The values with which the northbridge compares packets.
    pub(super) fn decoded(&self) -> &Decoded {
        &self.decoded
    }

    /// Another number after every write: what was worked out from the registers holds as long
    /// as it stays.
    pub(super) fn version(&self) -> u64 {
        self.decoded.version.0
    }

    /// State after a cold reset. The bootstrap processor (the one with the
    /// southbridge) begins as node 0 and may fetch code.
    pub fn cold(bootstrap: bool) -> Registers {
        let words = usize::from(FUNCTION_BYTES / 4);
        let mut registers = Registers {
            functions: vec![vec![0; words]; usize::from(FUNCTIONS)],
            extended: Default::default(),
            msrs: Msrs::default(),
            decoded: Decoded::default(),
        };
        registers.reset_common(bootstrap);
        for link in 0..LINKS {
            // 8 bit, 200 MHz, all frequencies up to 2.6 GHz supported, 16 bit possible.
            registers.write_link(link, LINK_CONTROL, 0x0011 << 16);
            registers.write_link(link, LINK_FREQUENCY, 0x7fff << 16);
        }
        registers
    }

    /// A warm reset: link settings, the debug register and the detect bits
    /// survive; routing and NodeID do not.
    pub fn warm(&mut self, bootstrap: bool) {
        let kept = self.read(0, INIT_CONTROL) & (COLD_RESET_DETECT | BIOS_RESET_DETECT);
        self.reset_common(bootstrap);
        let control = self.read(0, INIT_CONTROL);
        self.write(0, INIT_CONTROL, control | kept);
        for link in 0..LINKS {
            let control =
                self.read_link(link, LINK_CONTROL) & !(LINK_FAIL | INIT_COMPLETE | END_OF_CHAIN);
            self.write_link(link, LINK_CONTROL, control);
            self.write_link(link, LINK_TYPE, 0);
        }
    }

    fn reset_common(&mut self, bootstrap: bool) {
        for node in 0..u16::from(NODES_MAX) {
            // All requests, responses and broadcasts to this node itself.
            self.write(0, ROUTING + 4 * node, 1 | 1 << 9 | 1 << 18);
        }
        self.write(0, NODE_ID, if bootstrap { 0 } else { NODE_ID_RESET });
        let request_disabled = if bootstrap { 0 } else { REQUEST_DISABLED };
        self.write(0, INIT_CONTROL, ROUTE_TABLE_DISABLED | request_disabled);
        self.functions[1].fill(0);
        self.extended = Default::default();
        self.msrs = Msrs::default();
        self.decode();
    }

    fn decode(&mut self) {
        self.decoded = Decoded::of(self);
    }

    /// Reads a register of a link's capability block by its offset for link 0.
    pub fn read_link(&self, link: u8, register: u16) -> u32 {
        let (function, offset) = link_register(link, register);
        self.read(function, offset)
    }

    /// Writes a register of a link's capability block.
    pub fn write_link(&mut self, link: u8, register: u16, value: u32) {
        let (function, offset) = link_register(link, register);
        self.write(function, offset, value);
    }

    /// Reads a dword; all ones where there is no register.
    pub fn read(&self, function: u8, offset: u16) -> u32 {
        let words = self.functions.get(usize::from(function));
        words
            .and_then(|words| words.get(usize::from(offset / 4)))
            .copied()
            .unwrap_or(u32::MAX)
    }

    /// Writes a dword; lost where there is no register.
    pub fn write(&mut self, function: u8, offset: u16, value: u32) {
        let words = self.functions.get_mut(usize::from(function));
        if let Some(word) = words.and_then(|words| words.get_mut(usize::from(offset / 4))) {
            *word = value;
        }
        if (function, offset) == (1, EXTENDED_INDEX + 4) {
            let index = self.read(1, EXTENDED_INDEX);
            if let Some((base, mask)) = self.extended.get_mut((index & 0x0fff_ffff) as usize) {
                match index >> 28 {
                    2 => *base = value,
                    3 => *mask = value,
                    _ => {}
                }
            }
        }
        self.decode();
    }

    /// Reads an MSR that the model has; 0 for others.
    pub fn read_msr(&self, number: u32) -> u64 {
        let half = |(base, mask): (u64, u64), number: u32| {
            if number.is_multiple_of(2) { base } else { mask }
        };
        match number {
            0x200..=0x20f => half(self.msrs.mtrrs[(number - 0x200) as usize / 2], number),
            0xc001_0016..=0xc001_0019 => half(
                self.msrs.iorrs[(number - msr::IORR_BASE) as usize / 2],
                number,
            ),
            msr::MTRR_DEFAULT => self.msrs.mtrr_default,
            msr::SYSCFG => self.msrs.syscfg,
            msr::TOP_MEM => self.msrs.top_mem,
            msr::TOP_MEM2 => self.msrs.top_mem2,
            _ => 0,
        }
    }

    /// Writes an MSR; others than the model has are ignored.
    pub fn write_msr(&mut self, number: u32, value: u64) {
        let set = |(base, mask): &mut (u64, u64)| {
            *(if number.is_multiple_of(2) { base } else { mask }) = value
        };
        match number {
            0x200..=0x20f => set(&mut self.msrs.mtrrs[(number - 0x200) as usize / 2]),
            0xc001_0016..=0xc001_0019 => {
                set(&mut self.msrs.iorrs[(number - msr::IORR_BASE) as usize / 2])
            }
            msr::MTRR_DEFAULT => self.msrs.mtrr_default = value,
            msr::SYSCFG => self.msrs.syscfg = value,
            msr::TOP_MEM => self.msrs.top_mem = value,
            msr::TOP_MEM2 => self.msrs.top_mem2 = value,
            _ => {}
        }
        self.decode();
    }

    /// This socket's NodeID.
    pub fn node_id(&self) -> u8 {
        (self.read(0, NODE_ID) & 0x7) as u8
    }

    /// The DRAM range `index` if it is enabled for reads or writes.
    pub fn dram_range(&self, index: u8) -> Option<DramRange> {
        let at = DRAM_BASE + 8 * u16::from(index);
        let high = DRAM_BASE_HIGH + 8 * u16::from(index);
        let (base, limit) = (self.read(1, at), self.read(1, at + 4));
        let byte = |register: u32, high: u32| {
            u64::from(register >> 16) << 24 | u64::from(high & 0xff) << 40
        };
        (base & 0x3 != 0).then(|| DramRange {
            base: byte(base, self.read(1, high)),
            limit: byte(limit, self.read(1, high + 4)) | 0xff_ffff,
            node: (limit & 0x7) as u8,
        })
    }

    /// The MMIO range `index` if it is enabled.
    pub fn mmio_range(&self, index: u8) -> Option<MmioRange> {
        let at = MMIO_BASE + 8 * u16::from(index);
        let (base, limit) = (self.read(1, at), self.read(1, at + 4));
        let high = u64::from(self.read(1, MMIO_HIGH + 4 * u16::from(index)));
        (base & 0x3 != 0).then(|| MmioRange {
            base: (high & 0xff) << 40 | u64::from(base >> 8) << 16,
            limit: (high >> 16 & 0xff) << 40 | u64::from(limit >> 8) << 16 | 0xffff,
            node: (limit & 0x7) as u8,
            link: (limit >> 4 & 0x7) as u8,
        })
    }

    /// The extended MMIO range `index` if it is enabled and holds `address`:
    /// NodeID and link. They reach 48 bits, in steps of 128 MB.
    pub fn extended_range(&self, index: u8, address: u64) -> Option<(u8, u8)> {
        let (base, mask) = *self.extended.get(usize::from(index))?;
        let ignored = u64::from(mask >> 8 & 0x1f_ffff);
        let first = u64::from(base >> 8 & 0x1f_ffff);
        let enabled = mask & 1 == 1;
        let holds = enabled && (address >> 27) & !ignored == first & !ignored;
        holds.then_some(((base & 0x7) as u8, (base >> 4 & 0x7) as u8))
    }

    /// Routing row of `node`: (request, response, broadcast) masks; bit 0 is
    /// this node, bit 1 + n is link n.
    pub fn routing_row(&self, node: u8) -> (u32, u32, u32) {
        let row = self.read(0, ROUTING + 4 * u16::from(node % NODES_MAX));
        (row & 0x1ff, row >> 9 & 0x1ff, row >> 18 & 0x1ff)
    }

    /// Type register of a link.
    pub fn link_type(&self, link: u8) -> u32 {
        self.read_link(link, LINK_TYPE)
    }

    /// Whether the link is up.
    pub fn link_ready(&self, link: u8) -> bool {
        link < LINKS && self.decoded.ready >> link & 1 == 1
    }

    /// Whether the link is up and non-coherent.
    pub fn link_noncoherent(&self, link: u8) -> bool {
        link < LINKS && self.decoded.noncoherent >> link & 1 == 1
    }

    /// Memory type of an address: the variable MTRRs, else the default; with
    /// MTRRs off everything is uncached. Overlaps take the more restrictive of
    /// uncached and anything, else the first.
    pub fn memory_type(&self, address: u64) -> MemoryType {
        if self.msrs.mtrr_default & 1 << 11 == 0 {
            return MemoryType::Uncached;
        }
        let hits = self.msrs.mtrrs.iter().filter(|(base, mask)| {
            let significant = mask & !0xfff;
            mask & 1 << 11 != 0 && address & significant == base & significant
        });
        let types = hits.map(|(base, _)| MemoryType::from_bits(*base));
        types
            .reduce(|first, other| {
                if other == MemoryType::Uncached {
                    other
                } else {
                    first
                }
            })
            .unwrap_or(MemoryType::from_bits(self.msrs.mtrr_default))
    }

    /// Whether a core treats `address` as memory: an I/O range register decides, else
    /// it is memory below TOP_MEM, and from 4 GB up to TOP_MEM2.
    pub fn core_sees_dram(&self, address: u64) -> bool {
        const READ_AND_WRITE_MEMORY: u64 = 0b11 << 3;
        let hit = self.msrs.iorrs.iter().find(|(base, mask)| {
            let significant = mask & !0xfff;
            mask & 1 << 11 != 0 && address & significant == base & significant
        });
        if let Some((base, _)) = hit {
            return base & READ_AND_WRITE_MEMORY == READ_AND_WRITE_MEMORY;
        }
        let top_mem2 = if self.msrs.syscfg & 1 << 21 != 0 {
            self.msrs.top_mem2
        } else {
            0
        };
        address < self.msrs.top_mem || (address >= 1 << 32 && address < top_mem2)
    }
}

/// The routing state of a northbridge, worked out when a register is written and not for every
/// packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decoded {
    version: Version,
    pub(super) node_id: u8,
    /// The routing table is not used yet.
    pub(super) table_disabled: bool,
    /// Links that are up, a bit each.
    ready: u8,
    /// Links that are up and non-coherent, a bit each.
    noncoherent: u8,
    /// Links that were forced non-coherent, a bit each.
    forced: u8,
    /// By NodeID: first link of the request route.
    pub(super) request_link: [Option<u8>; NODES_MAX as usize],
    dram: Ranges<DramRange>,
    mmio: Ranges<MmioRange>,
    /// Whether an extended range is on.
    pub(super) extended: bool,
}

/// The enabled ones of eight ranges, in their order.
type Ranges<T> = [Option<T>; RANGES as usize];

/// A version number, independent of the contents of the registers.
#[derive(Clone, Copy, Debug, Default)]
struct Version(u64);

impl PartialEq for Version {
    fn eq(&self, _: &Version) -> bool {
        true
    }
}

impl Eq for Version {}

impl Decoded {
    fn of(registers: &Registers) -> Decoded {
        let links = |holds: &dyn Fn(u8) -> bool| {
            let bits = (0..LINKS).filter(|link| holds(*link));
            bits.fold(0, |mask, link| mask | 1 << link)
        };
        let forced = registers.read(0, FORCE_NONCOHERENT);
        Decoded {
            version: Version(registers.decoded.version.0.wrapping_add(1)),
            node_id: registers.node_id(),
            table_disabled: registers.read(0, INIT_CONTROL) & ROUTE_TABLE_DISABLED != 0,
            ready: links(&|link| registers.link_type(link) & LINK_READY != 0),
            noncoherent: links(&|link| {
                let both = LINK_READY | LINK_NONCOHERENT;
                registers.link_type(link) & both == both
            }),
            forced: links(&|link| forced >> link & 1 == 1),
            request_link: std::array::from_fn(|node| {
                let (request, _, _) = registers.routing_row(node as u8);
                (0..LINKS).find(|link| request >> (1 + link) & 1 == 1)
            }),
            dram: compact(|index| registers.dram_range(index)),
            mmio: compact(|index| registers.mmio_range(index)),
            extended: registers.extended.iter().any(|(_, mask)| mask & 1 == 1),
        }
    }

    /// The DRAM range that holds `address`, the first if several do.
    pub(super) fn dram_at(&self, address: u64) -> Option<&DramRange> {
        let mut ranges = self.dram.iter().map_while(Option::as_ref);
        ranges.find(|range| (range.base..=range.limit).contains(&address))
    }

    /// The MMIO range that holds `address`, the first if several do.
    pub(super) fn mmio_at(&self, address: u64) -> Option<&MmioRange> {
        let mut ranges = self.mmio.iter().map_while(Option::as_ref);
        ranges.find(|range| (range.base..=range.limit).contains(&address))
    }

    pub(super) fn is_forced(&self, link: u8) -> bool {
        self.forced >> link & 1 == 1
    }
}

fn compact<T: Copy>(range: impl Fn(u8) -> Option<T>) -> Ranges<T> {
    let mut compact = [None; RANGES as usize];
    let enabled = (0..RANGES).filter_map(range);
    for (place, range) in compact.iter_mut().zip(enabled) {
        *place = Some(range);
    }
    compact
}

/// Function and offset of a register in a link's capability block.
fn link_register(link: u8, register: u16) -> (u8, u16) {
    let link = u16::from(link);
    if link < 4 {
        (0, register + 0x20 * link)
    } else {
        (4, register + 0x20 * (link - 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_processor_is_node_seven_after_reset() {
        assert_eq!(Registers::cold(false).node_id(), 7);
        let mut registers = Registers::cold(false);
        registers.write(0, NODE_ID, 2);
        registers.write(0, FORCE_NONCOHERENT, 1);
        registers.warm(false);
        assert_eq!(
            (registers.node_id(), registers.read(0, FORCE_NONCOHERENT)),
            (7, 1)
        );
    }

    #[test]
    fn ranges_decode_from_literal_values() {
        let mut registers = Registers::cold(true);
        registers.write(1, 0x40, 0x0010_0003);
        registers.write(1, 0x44, 0x001f_0002);
        let dram = DramRange {
            base: 0x1000_0000,
            limit: 0x1fff_ffff,
            node: 2,
        };
        assert_eq!(registers.dram_range(0), Some(dram));
        registers.write(1, 0x88, 0x0001_0003);
        registers.write(1, 0x8c, 0x0001_ff31);
        let mmio = MmioRange {
            base: 0x100_0000,
            limit: 0x1ff_ffff,
            node: 1,
            link: 3,
        };
        assert_eq!(registers.mmio_range(1), Some(mmio));
        assert_eq!(registers.mmio_range(0), None);
    }

    #[test]
    fn family_15h_has_high_bits_for_mmio_ranges() {
        let mut registers = Registers::cold(true);
        registers.write(1, 0x84, 0x0000_ff20);
        registers.write(1, 0x80, 0x0000_0003);
        registers.write(1, 0x180, 0x0005_0004);
        let mmio = MmioRange {
            base: 0x400_0000_0000,
            limit: 0x500_00ff_ffff,
            node: 0,
            link: 2,
        };
        assert_eq!(registers.mmio_range(0), Some(mmio));
    }

    #[test]
    fn mtrrs() {
        let mut registers = Registers::cold(true);
        assert_eq!(registers.memory_type(0x1000), MemoryType::Uncached);
        registers.write_msr(msr::MTRR_DEFAULT, 1 << 11 | 6);
        registers.write_msr(0x200, 0x1_0000_0000 | 1);
        registers.write_msr(0x201, 0xffff_0000_0000 | 1 << 11);
        assert_eq!(
            registers.memory_type(0x1_2345_6789),
            MemoryType::WriteCombining
        );
        assert_eq!(registers.memory_type(0x2_0000_0000), MemoryType::WriteBack);
    }

    #[test]
    fn nothing_outside_the_register_file_is_touched() {
        let mut registers = Registers::cold(true);
        let before = registers.clone();
        registers.write(9, 0x40, 1);
        registers.write(0, 0xffff, 1);
        registers.write_msr(0x1b, 1);
        assert_eq!(registers, before);
        assert_eq!(registers.read(9, 0), u32::MAX);
    }
}
