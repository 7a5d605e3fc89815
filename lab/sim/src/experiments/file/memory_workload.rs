//! Workloads of memory systems, as they are part of a configuration.

use serde::Serialize;

use crate::engine::Ps;
use crate::models::memory::{Config, Placement, ProcessorKind, Region, RegionKind};

/// A memory system with all its keys resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryFigures {
    /// The paper's scenario, if the regions are those of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<&'static str>,
    /// Which region a page comes from.
    pub placement: Placement,
    /// A store that misses fetches the line.
    pub write_allocate: bool,
    /// Transactions on their way at a time; none: the processor blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
    /// The regions, equal ones that follow each other as one.
    pub regions: Vec<RegionFigures>,
    /// The configuration that the regions and the parameters give.
    #[serde(skip)]
    pub(super) config: Config,
}

/// Equal regions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegionFigures {
    /// How many.
    pub count: u64,
    /// Whose.
    pub owner: String,
    /// What.
    pub kind: RegionKind,
    /// Bytes of each.
    pub bytes: u64,
    /// An operation that reads.
    pub read_ps: u64,
    /// Bytes that it reads at most; none: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// An operation that writes.
    pub write_ps: u64,
    /// Bytes that it writes at most; none: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_bytes: Option<u64>,
    /// Memory for pages of swap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident_bytes: Option<u64>,
    /// Bringing a page in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_in_ps: Option<u64>,
    /// Writing a page out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_out_ps: Option<u64>,
}

impl RegionFigures {
    fn of(region: &Region) -> RegionFigures {
        let limited = |bytes: u64| (bytes != u64::MAX).then_some(bytes);
        let paging = |of: fn(&crate::models::memory::Paging) -> Ps| {
            region.paging.as_ref().map(|paging| of(paging).0)
        };
        RegionFigures {
            count: 1,
            owner: region.owner.clone(),
            kind: region.kind,
            bytes: region.bytes,
            read_ps: region.medium.read.0,
            read_bytes: limited(region.medium.read_bytes),
            write_ps: region.medium.write.0,
            write_bytes: limited(region.medium.write_bytes),
            resident_bytes: region.paging.map(|paging| paging.resident_bytes),
            page_in_ps: paging(|paging| paging.page_in),
            page_out_ps: paging(|paging| paging.page_out),
        }
    }
}

impl MemoryFigures {
    pub(super) fn of(config: Config, scenario: Option<&'static str>) -> MemoryFigures {
        let mut regions: Vec<RegionFigures> = Vec::new();
        for region in &config.regions {
            let next = RegionFigures::of(region);
            match regions.last_mut() {
                Some(last)
                    if (RegionFigures {
                        count: 1,
                        ..last.clone()
                    }) == next =>
                {
                    last.count += 1;
                }
                _ => regions.push(next),
            }
        }
        MemoryFigures {
            scenario,
            placement: config.placement,
            write_allocate: config.write_allocate,
            in_flight: match config.processor {
                ProcessorKind::Blocking => None,
                ProcessorKind::Overlapped { in_flight } => Some(in_flight),
            },
            regions,
            config,
        }
    }
}
