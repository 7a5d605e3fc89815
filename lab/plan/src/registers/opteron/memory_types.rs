//! Which addresses a processor core takes for memory, and how it caches them.
//!
//! A core decides by its own registers whether an access is memory or memory-mapped I/O: below
//! TOP_MEM and between 4 GiB and TOP_MEM2 it is memory, elsewhere I/O, unless one of two I/O
//! range registers (IORR) says otherwise. The ranges of the northbridge do not matter for
//! this. Local memory lies in the middle of remote memory, so the plan must find settings that
//! make exactly the local interval memory:
//! - TOP_MEM2 off, up to two IORRs that make the local interval memory; or
//! - TOP_MEM2 at the end of the local interval, up to two IORRs that make what lies below it I/O.
//!
//! IORRs are aligned powers of two, as are MTRRs.
//!
//! Local memory is write-back. Remote memory is uncacheable by default; where MTRRs are left,
//! windows are write-combining. Otherwise the driver maps them write-combining through the
//! page attribute table, which the plan sets up in any case (PAT WC over MTRR UC gives WC).

use crate::blocks::{Block, cover};
use crate::check::map::{ADDRESS_END, EXTENDED_START, HT_RESERVED_START, LOW_END};
use crate::registers::{Register, RegisterWrite};
use hostwire_address::{AddressRange, GlobalAddress};

const SYSCFG: u32 = 0xC001_0010;
const IORR_BASE: u32 = 0xC001_0016;
const TOP_MEM: u32 = 0xC001_001A;
const TOP_MEM2: u32 = 0xC001_001D;
const MTRR_BASE: u32 = 0x200;
const MTRR_DEF_TYPE: u32 = 0x2FF;
const PAT: u32 = 0x277;
/// As Linux sets it: entries 0 to 3 are write-back, write-combining, UC-minus and uncacheable; 4 to
/// 7 are the same.
const PAT_VALUE: u64 = 0x0007_0106_0007_0106;
const MTRRS: usize = 8;
const IORRS: usize = 2;
const PAGE: u64 = 4096;
/// Address bits 47:12.
const ADDRESS_FIELD: u64 = 0xFFFF_FFFF_F000;

/// A memory type of the MTRRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryType {
    /// Type 0.
    Uncacheable,
    /// Type 1.
    WriteCombining,
    /// Type 6.
    WriteBack,
}

impl MemoryType {
    fn code(self) -> u64 {
        match self {
            Self::Uncacheable => 0,
            Self::WriteCombining => 1,
            Self::WriteBack => 6,
        }
    }

    fn from_code(code: u64) -> Option<Self> {
        [Self::Uncacheable, Self::WriteCombining, Self::WriteBack]
            .into_iter()
            .find(|t| t.code() == code)
    }
}

/// The settings of one node; all its cores have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryPlan {
    low_bytes: u64,
    top_mem2: Option<u64>,
    /// Blocks, and whether they are memory.
    iorr: Vec<(Block, bool)>,
    mtrr: Vec<(Block, MemoryType)>,
    /// The windows are write-combining by MTRR, not by page attributes only.
    pub windows_write_combining: bool,
}

/// Why there are no settings for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shortage {
    Iorr,
    Mtrr { needed: usize },
}

/// Finds the settings for a node with memory at `local` in a map that spans `map`. `behind`: where addresses
/// behind the map begin that are I/O, if there are any.
pub(crate) fn plan(
    local: AddressRange,
    map: (u64, u64),
    low_bytes: u64,
    behind: Option<u64>,
) -> Result<MemoryPlan, Shortage> {
    let (first, end) = (local.start.0, local.end());
    let (floor, ceiling) = if map.0 < EXTENDED_START {
        (LOW_END, behind.unwrap_or(HT_RESERVED_START))
    } else {
        (EXTENDED_START, ADDRESS_END)
    };
    // No device answers outside the map, so blocks may extend beyond it.
    let allowed = (
        if first == map.0 { floor } else { first },
        if end == map.1 { ceiling } else { end },
    );
    let as_memory = cover((first, end), allowed, PAGE).filter(|b| b.len() <= IORRS);
    let (top_mem2, iorr) = match as_memory {
        Some(blocks) => (None, blocks.into_iter().map(|b| (b, true)).collect()),
        None => {
            let below = cover((map.0, first), (floor, first), PAGE)
                .filter(|b| b.len() <= IORRS)
                .ok_or(Shortage::Iorr)?;
            (Some(end), below.into_iter().map(|b| (b, false)).collect())
        }
    };
    let mut mtrr = Vec::new();
    let low = cover((0, low_bytes), (0, low_bytes), PAGE).unwrap_or_default();
    let own = cover((first, end), allowed, PAGE).unwrap_or_default();
    mtrr.extend(
        low.into_iter()
            .chain(own)
            .map(|b| (b, MemoryType::WriteBack)),
    );
    if mtrr.len() > MTRRS {
        return Err(Shortage::Mtrr { needed: mtrr.len() });
    }
    let below = cover((map.0, first), (floor, first), PAGE).unwrap_or_default();
    let above = cover((end, map.1), (end, ceiling), PAGE).unwrap_or_default();
    let windows_write_combining = mtrr.len() + below.len() + above.len() <= MTRRS;
    if windows_write_combining {
        mtrr.extend(
            below
                .into_iter()
                .chain(above)
                .map(|b| (b, MemoryType::WriteCombining)),
        );
    }
    Ok(MemoryPlan {
        low_bytes,
        top_mem2,
        iorr,
        mtrr,
        windows_write_combining,
    })
}

impl MemoryPlan {
    pub(super) fn writes(&self, out: &mut Vec<RegisterWrite>) {
        let mut put = |number, mask, value, what| {
            out.push(RegisterWrite {
                register: Register::Msr(number),
                value,
                mask,
                what,
            });
        };
        put(TOP_MEM, u64::MAX, self.low_bytes, "end of low memory");
        put(
            TOP_MEM2,
            u64::MAX,
            self.top_mem2.unwrap_or(0),
            "end of memory past 4GiB",
        );
        for (i, pair) in (0u32..).step_by(2).zip(0..IORRS) {
            let (base, mask) = match self.iorr.get(pair) {
                // Base: 4 RdMem, 3 WrMem. Mask: 11 valid.
                Some((block, memory)) => (
                    block.start | if *memory { 0b11000 } else { 0 },
                    !(block.bytes - 1) & ADDRESS_FIELD | 1 << 11,
                ),
                None => (0, 0),
            };
            put(IORR_BASE + i, u64::MAX, base, "IORR base, RdMem, WrMem");
            put(IORR_BASE + i + 1, u64::MAX, mask, "IORR mask, valid");
        }
        // 20 MtrrVarDramEn, 21 Tom2En, 22 Tom2ForceWB.
        let value = 1 << 20 | u64::from(self.top_mem2.is_some()) << 21;
        put(
            SYSCFG,
            0b111 << 20,
            value,
            "MtrrVarDramEn, Tom2En, Tom2ForceWB",
        );
        for (i, pair) in (0u32..).step_by(2).zip(0..MTRRS) {
            let (base, mask) = match self.mtrr.get(pair) {
                Some((block, kind)) => (
                    block.start | kind.code(),
                    !(block.bytes - 1) & ADDRESS_FIELD | 1 << 11,
                ),
                None => (0, 0),
            };
            put(MTRR_BASE + i, u64::MAX, base, "MTRR base, type");
            put(MTRR_BASE + i + 1, u64::MAX, mask, "MTRR mask, valid");
        }
        put(
            MTRR_DEF_TYPE,
            0x8FF,
            1 << 11,
            "MTRRs on, default uncacheable",
        );
        put(
            PAT,
            u64::MAX,
            PAT_VALUE,
            "page attributes; entry 1 is write-combining",
        );
    }
}

/// A core's view of the address space, decoded from its registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuMemory {
    top_mem: u64,
    top_mem2: Option<u64>,
    iorr: Vec<(u64, u64, bool)>,
    mtrr: Vec<(u64, u64, Option<MemoryType>)>,
    default_type: Option<MemoryType>,
}

impl CpuMemory {
    /// The core after these writes; registers start at zero.
    pub fn from_writes(writes: &[RegisterWrite]) -> Self {
        let mut file = std::collections::HashMap::new();
        for write in writes {
            if let Register::Msr(number) = write.register {
                let register = file.entry(number).or_default();
                *register = write.apply(*register);
            }
        }
        let read = |number: u32| file.get(&number).copied().unwrap_or(0u64);
        let pairs = |first: u32, count: usize| {
            let numbers: Vec<u32> = (first..).step_by(2).take(count).collect();
            numbers
                .into_iter()
                .map(|n| (read(n), read(n + 1)))
                .filter(|(_, mask)| mask >> 11 & 1 == 1)
        };
        Self {
            top_mem: read(TOP_MEM),
            top_mem2: (read(SYSCFG) >> 21 & 1 == 1).then(|| read(TOP_MEM2)),
            iorr: pairs(IORR_BASE, IORRS)
                .map(|(base, mask)| {
                    (
                        base & ADDRESS_FIELD,
                        mask & ADDRESS_FIELD,
                        base >> 3 & 3 == 3,
                    )
                })
                .collect(),
            mtrr: pairs(MTRR_BASE, MTRRS)
                .map(|(base, mask)| {
                    let kind = MemoryType::from_code(base & 0xFF);
                    (base & ADDRESS_FIELD, mask & ADDRESS_FIELD, kind)
                })
                .collect(),
            default_type: MemoryType::from_code(read(MTRR_DEF_TYPE) & 0xFF),
        }
    }

    /// Whether an access is memory, not memory-mapped I/O.
    pub fn is_memory(&self, addr: GlobalAddress) -> bool {
        let addr = addr.0;
        if let Some((.., memory)) = self
            .iorr
            .iter()
            .find(|(base, mask, _)| addr & mask == *base)
        {
            return *memory;
        }
        if addr < LOW_END {
            return addr < self.top_mem;
        }
        self.top_mem2.is_some_and(|top| addr < top)
    }

    /// The memory type, or `None` where the MTRRs contradict each other or name none of the three.
    pub fn memory_type(&self, addr: GlobalAddress) -> Option<MemoryType> {
        let mut found = self
            .mtrr
            .iter()
            .filter(|(base, mask, _)| addr.0 & mask == *base);
        let Some((.., first)) = found.next() else {
            return self.default_type;
        };
        found.all(|(.., kind)| kind == first).then_some(*first)?
    }
}
