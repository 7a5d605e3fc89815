//! From the plan of a node to the register writes of its processors.

use super::memory_types::MemoryPlan;
use super::{DRAM_RANGES, EXTENDED_RANGES, GEN1_MHZ_MAX, MMIO_RANGES, frequency_code, width_code};
use crate::blocks::Block;
use crate::check::map::{LOW_END, SOUTHBRIDGE_START};
use crate::id::LinkIndex;
use crate::registers::{Register, RegisterWrite};
use crate::spec::Family;
use hostwire_address::AddressRange;

/// A processor and a link of a node: where a range leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    pub processor: u8,
    pub link: LinkIndex,
}

/// Everything about a node that its registers express.
pub(crate) struct NodeSetup<'a> {
    pub family: Family,
    /// Bytes of low memory: mapped at address 0 on this node alone, the same memory as the first
    /// bytes of processor 0.
    pub low_bytes: u64,
    /// The memory of each processor.
    pub memory: Vec<AddressRange>,
    pub cores: u8,
    pub southbridge: Option<LinkIndex>,
    /// Remote addresses and the way to them, as base and limit.
    pub windows: Vec<(AddressRange, Exit)>,
    /// Remote addresses past 40 bit on family 10h, as base and mask.
    pub extended: Vec<(Block, Exit)>,
    /// `routes[p][q]`: the link from processor p towards processor q.
    pub routes: &'a dyn Fn(u8, u8) -> Option<LinkIndex>,
    /// `broadcast[p][q]`: the links on which p passes on a broadcast of q.
    pub broadcast: &'a dyn Fn(u8, u8) -> Vec<LinkIndex>,
    /// Addresses past 40 bit are in use.
    pub extended_addresses: bool,
    pub memory_plan: &'a MemoryPlan,
}

/// A link that is in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkSetup {
    pub link: LinkIndex,
    pub width_bits: u8,
    pub frequency_mhz: u16,
    /// Operated without coherence: a cable of the fabric.
    pub non_coherent: bool,
}

struct Writer(Vec<RegisterWrite>);

impl Writer {
    fn set(&mut self, function: u8, offset: u16, mask: u64, value: u64, what: &'static str) {
        let register = Register::Config { function, offset };
        self.0.push(RegisterWrite {
            register,
            value: value & mask,
            mask,
            what,
        });
    }

    fn put(&mut self, function: u8, offset: u16, value: u64, what: &'static str) {
        self.set(function, offset, 0xFFFF_FFFF, value, what);
    }
}

/// The writes for processor `processor`, in the order firmware should make them.
pub(crate) fn writes(
    setup: &NodeSetup<'_>,
    processor: u8,
    links: &[LinkSetup],
) -> Vec<RegisterWrite> {
    let mut out = Writer(Vec::new());
    identity(&mut out, setup, processor);
    routing_rows(&mut out, setup, processor);
    for link in links {
        write_link(&mut out, link, setup.extended_addresses);
    }
    dram_ranges(&mut out, setup, processor);
    mmio_ranges(&mut out, setup);
    if setup.extended_addresses && setup.family == Family::Fam10h {
        extended_ranges(&mut out, setup);
    }
    io_and_config(&mut out, setup);
    setup.memory_plan.writes(&mut out.0);
    out.0
}

fn identity(out: &mut Writer, setup: &NodeSetup<'_>, processor: u8) {
    let processors = setup.memory.len() as u64;
    // F0x60: [2:0] NodeID, [6:4] NodeCnt - 1, [20:16] CpuCnt - 1.
    let cores = (processors * u64::from(setup.cores)).min(32) - 1;
    let value = u64::from(processor) | (processors - 1) << 4 | cores << 16;
    out.set(0, 0x60, 0x001F_0077, value, "NodeID, NodeCnt, CpuCnt");
    if let Some(link) = setup.southbridge {
        out.set(0, 0x64, 0x700, u64::from(link.get()) << 8, "SbLink");
    }
    // F0x68: 15 LimitCldtCfg, 25 CHtExtAddrEn.
    let value = 1 << 15 | u64::from(setup.extended_addresses) << 25;
    out.set(
        0,
        0x68,
        1 << 25 | 1 << 15,
        value,
        "LimitCldtCfg, CHtExtAddrEn",
    );
    if setup.extended_addresses && setup.family == Family::Fam10h {
        out.set(
            0,
            0x168,
            0x300,
            0x200,
            "granularity of extended MMIO ranges: 128MiB",
        );
    }
}

fn routing_rows(out: &mut Writer, setup: &NodeSetup<'_>, processor: u8) {
    // F0x40 + 4n: [8:0] request, [17:9] response, [26:18] broadcast; bit 0 self, bit 1 + l link l.
    for row in 0..8u8 {
        let own = 1u64;
        let to = match (setup.routes)(processor, row) {
            Some(link) if usize::from(row) < setup.memory.len() => 2 << link.get(),
            _ => own,
        };
        let mut broadcast = own;
        if usize::from(row) < setup.memory.len() {
            for link in (setup.broadcast)(processor, row) {
                broadcast |= 2 << link.get();
            }
        }
        let value = to | to << 9 | broadcast << 18;
        out.put(
            0,
            0x40 + 4 * u16::from(row),
            value,
            "routing row: request, response, broadcast",
        );
    }
    // F0x6C: 0 RouteTblDis, 1 ReqDis.
    out.set(0, 0x6C, 0b11, 0, "RouteTblDis, ReqDis");
}

fn write_link(out: &mut Writer, setup: &LinkSetup, extended_addresses: bool) {
    let link = u16::from(setup.link.get());
    // Links 4 to 7 are sublinks: the same capability block in function 4.
    let (function, block) = if link < 4 {
        (0, 0x80 + 0x20 * link)
    } else {
        (4, 0x20 * link)
    };
    // Link control: [26:24] width in, [30:28] width out, 15 64-bit addresses.
    let width = width_code(setup.width_bits);
    let wide = u64::from(extended_addresses && setup.non_coherent);
    let value = width << 24 | width << 28 | wide << 15;
    out.set(
        function,
        block + 0x4,
        0x7700_8000,
        value,
        "link widths, Addr64BitEn",
    );
    // Freq[4] must be written before Freq[3:0].
    let code = frequency_code(setup.frequency_mhz);
    out.set(
        function,
        block + 0x1C,
        1,
        code >> 4,
        "link frequency, bit 4",
    );
    out.set(
        function,
        block + 0x8,
        0xF00,
        (code & 0xF) << 8,
        "link frequency, bits 3:0",
    );
    let gen3 = u64::from(setup.frequency_mhz > GEN1_MHZ_MAX);
    out.set(0, 0x130 + 4 * link, 1, gen3, "link retry");
    let ganged = u64::from(setup.width_bits == 16);
    out.set(
        0,
        0x170 + 4 * link,
        0b1001,
        gen3 << 3 | ganged,
        "ganged, scrambling",
    );
}

fn dram_ranges(out: &mut Writer, setup: &NodeSetup<'_>, processor: u8) {
    let low = AddressRange::new(0..setup.low_bytes);
    let ranges = low
        .map(|range| (range, 0u8))
        .into_iter()
        .chain(setup.memory.iter().copied().zip(0u8..))
        .map(Some)
        .chain(std::iter::repeat(None))
        .take(DRAM_RANGES);
    for (i, range) in (0u16..).zip(ranges) {
        let (base, limit) = (0x40 + 8 * i, 0x44 + 8 * i);
        let Some((range, node)) = range else {
            out.put(1, base, 0, "DRAM base: off");
            continue;
        };
        let (first, last) = (range.start.0, range.last().0);
        // Limit: [2:0] DstNode, [31:16] address [39:24]; high registers: [7:0] address [47:40].
        out.put(
            1,
            0x144 + 8 * i,
            last >> 40 & 0xFF,
            "DRAM limit, bits 47:40",
        );
        out.put(
            1,
            limit,
            last >> 8 & 0xFFFF_0000 | u64::from(node),
            "DRAM limit, DstNode",
        );
        out.put(
            1,
            0x140 + 8 * i,
            first >> 40 & 0xFF,
            "DRAM base, bits 47:40",
        );
        out.put(
            1,
            base,
            first >> 8 & 0xFFFF_0000 | 0b11,
            "DRAM base, RE, WE",
        );
    }
    if let Some(own) = setup.memory.get(usize::from(processor)) {
        // Address [47:27] in [20:0].
        out.put(
            1,
            0x120,
            own.start.0 >> 27 & 0x1F_FFFF,
            "own DRAM base, bits 47:27",
        );
        out.put(
            1,
            0x124,
            own.last().0 >> 27 & 0x1F_FFFF,
            "own DRAM limit, bits 47:27",
        );
    }
    out.put(1, 0xF0, 0, "DRAM hole: off");
}

/// [2:0] DstNode, [5:4] DstLink, 6 sublink; 7 NP stays 0, for posted writes.
fn destination(exit: Exit) -> u64 {
    let link = u64::from(exit.link.get());
    u64::from(exit.processor) | (link & 3) << 4 | (link >> 2) << 6
}

fn mmio_ranges(out: &mut Writer, setup: &NodeSetup<'_>) {
    let southbridge = setup.southbridge.and_then(|link| {
        Some((
            AddressRange::new(SOUTHBRIDGE_START..LOW_END)?,
            Exit { processor: 0, link },
        ))
    });
    let ranges = southbridge
        .into_iter()
        .chain(setup.windows.iter().copied())
        .map(Some)
        .chain(std::iter::repeat(None))
        .take(MMIO_RANGES);
    for (i, range) in (0u16..).zip(ranges) {
        let (base, limit) = (0x80 + 8 * i, 0x84 + 8 * i);
        let Some((range, exit)) = range else {
            out.put(1, base, 0, "MMIO base: off");
            continue;
        };
        let (first, last) = (range.start.0, range.last().0);
        if setup.family == Family::Fam15h {
            // [7:0] base [47:40], [23:16] limit [47:40].
            let value = first >> 40 & 0xFF | (last >> 40 & 0xFF) << 16;
            out.put(1, 0x180 + 4 * i, value, "MMIO base and limit, bits 47:40");
        }
        // [31:8] address [39:16].
        let value = last >> 8 & 0xFFFF_FF00 | destination(exit);
        out.put(1, limit, value, "MMIO limit, DstNode, DstLink, NP");
        out.put(
            1,
            base,
            first >> 8 & 0xFFFF_FF00 | 0b11,
            "MMIO base, RE, WE",
        );
    }
}

fn extended_ranges(out: &mut Writer, setup: &NodeSetup<'_>) {
    // F1x110: [31:28] 2 base or 3 mask, low bits the entry. F1x114: address [47:27] in [28:8];
    // the base has the destination in its low byte, the mask its enable in bit 0. A mask bit
    // that is 1 is not compared. All entries are written, because reading an entry that was
    // never written raises a northbridge array error.
    for entry in 0..EXTENDED_RANGES {
        let (base, mask) = match setup.extended.get(entry) {
            Some((block, exit)) => (
                (block.start >> 27 & 0x1F_FFFF) << 8 | destination(*exit),
                (((block.bytes - 1) >> 27) & 0x1F_FFFF) << 8 | 1,
            ),
            None => (0, 0),
        };
        out.put(
            1,
            0x110,
            2 << 28 | entry as u64,
            "select extended MMIO base",
        );
        out.put(1, 0x114, base, "extended MMIO base, destination");
        out.put(
            1,
            0x110,
            3 << 28 | entry as u64,
            "select extended MMIO mask",
        );
        out.put(1, 0x114, mask, "extended MMIO mask, enable");
    }
}

fn io_and_config(out: &mut Writer, setup: &NodeSetup<'_>) {
    let Some(link) = setup.southbridge else {
        out.put(1, 0xC0, 0, "IO base: off");
        out.put(1, 0xE0, 0, "configuration map: off");
        return;
    };
    let exit = destination(Exit { processor: 0, link });
    // IO: [24:12] address; base 0 RE, 1 WE. All 64 KiB of ports (and the 32 MiB of HyperTransport
    // I/O space) go to the southbridge.
    out.put(1, 0xC4, 0x01FF_F000 | exit, "IO limit, DstNode, DstLink");
    out.put(1, 0xC0, 0b11, "IO base, RE, WE");
    // Configuration: 0 RE, 1 WE, [6:4] DstNode, [9:8] and 10 DstLink, [23:16] first and
    // [31:24] last bus.
    let link = u64::from(link.get());
    let value = 0xFF << 24 | (link >> 2) << 10 | (link & 3) << 8 | 0b11;
    out.put(
        1,
        0xE0,
        value,
        "configuration map: all buses to the southbridge",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destination_bits() {
        let exit = |processor, link| Exit {
            processor,
            link: LinkIndex::new(link).unwrap(),
        };
        assert_eq!(destination(exit(0, 2)), 0x20);
        assert_eq!(destination(exit(3, 5)), 0x53);
    }

    #[test]
    fn frequency_codes_match_the_table() {
        let table = [
            (200, 0),
            (300, 1),
            (400, 2),
            (500, 3),
            (600, 4),
            (800, 5),
            (1000, 6),
            (1200, 7),
            (1400, 8),
            (1600, 9),
            (1800, 10),
            (2000, 11),
            (2200, 12),
            (2400, 13),
            (2600, 14),
            (2800, 17),
            (3000, 18),
            (3200, 19),
        ];
        for (mhz, code) in table {
            assert_eq!(frequency_code(mhz), code, "{mhz} MHz");
        }
    }
}
