//! The paper's scenarios: which regions there are, and what they cost.

use serde::Serialize;

use crate::engine::Ps;
use crate::models::memory::{Medium, Paging, Region, RegionKind};

/// Regions of the paper's memory.
pub const REGIONS: u64 = 16;
/// Regions that one board has in the scenarios of four processors and more.
const BOARD_REGIONS: u64 = 4;

/// A scenario of the paper, or one of its swap scenarios with pages that stay in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scenario {
    /// 1P: everything in the own processor's memory.
    Local,
    /// 4P: everything on the own board.
    SameBoard,
    /// 16P: a quarter on the own board, the rest on three others.
    Remote,
    /// 1P-SW: all regions but the first are swap.
    LocalSwap,
    /// 4P-SW-U: four regions on the board, then swap. Which regions figure 2 shows is not
    /// in the text: **assumed**.
    BoardSwapUniform,
    /// 4P-SW-D: every fourth region on the board, swap in between. **Assumed** as well.
    BoardSwapInterleaved,
    /// 1P-SW, but a region's worth of memory holds the pages in use.
    LocalSwapPaged,
    /// 4P-SW, but four regions' worth of memory hold the pages in use.
    BoardSwapPaged,
}

/// Scenarios with their names in files and reports.
pub const SCENARIOS: [(&str, Scenario); 8] = [
    ("1P", Scenario::Local),
    ("4P", Scenario::SameBoard),
    ("16P", Scenario::Remote),
    ("1P-SW", Scenario::LocalSwap),
    ("4P-SW-U", Scenario::BoardSwapUniform),
    ("4P-SW-D", Scenario::BoardSwapInterleaved),
    ("1P-SW-paged", Scenario::LocalSwapPaged),
    ("4P-SW-paged", Scenario::BoardSwapPaged),
];

/// The costs of the kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Media {
    /// Memory of the own processor.
    pub local: Ps,
    /// Memory of another processor of the board.
    pub same_board: Ps,
    /// Memory of another board.
    pub remote: Medium,
    /// An access to swap, where every access goes there.
    pub swap: Ps,
    /// Bringing a page in, where pages stay in memory.
    pub page_in: Ps,
    /// Writing a page out.
    pub page_out: Ps,
}

impl Media {
    /// The paper's section 4.1. `local` is not in it: **fitted** to the times of 1P, 4P and
    /// 16P, see [`calibrate`](super::calibrate()). That a page costs as much as the paper's
    /// access to swap is **assumed**.
    pub const PAPER: Media = Media {
        local: Ps(79_890),
        same_board: Ps::from_ns(115),
        remote: Medium {
            read: Ps::from_ns(610),
            read_bytes: 8,
            write: Ps::from_ns(430),
            write_bytes: 64,
        },
        swap: Ps::from_ns(45_600),
        page_in: Ps::from_ns(45_600),
        page_out: Ps::from_ns(45_600),
    };

    /// The cost of a region of a kind.
    pub fn of(&self, kind: RegionKind) -> Medium {
        match kind {
            RegionKind::Local => Medium::uniform(self.local),
            RegionKind::SameBoard => Medium::uniform(self.same_board),
            RegionKind::Remote => self.remote,
            RegionKind::Swap => Medium::uniform(self.swap),
        }
    }
}

impl Scenario {
    /// The name in files and reports.
    pub fn name(self) -> &'static str {
        let found = SCENARIOS.iter().find(|(_, scenario)| *scenario == self);
        found.map_or("?", |(name, _)| name)
    }

    /// The regions, of `region_bytes` each.
    pub fn regions(self, media: &Media, region_bytes: u64) -> Vec<Region> {
        let all = 0..REGIONS;
        all.map(|index| self.region(index, media, region_bytes))
            .collect()
    }

    fn region(self, index: u64, media: &Media, bytes: u64) -> Region {
        let plain = |owner: String, kind| Region::new(owner, kind, bytes, media.of(kind));
        let own = |processor: u64| format!("board 0, processor {processor}");
        let swap = || plain("swap".to_owned(), RegionKind::Swap);
        let paged = |resident: Ps, regions: u64| Region {
            medium: Medium::uniform(resident),
            paging: Some(Paging {
                resident_bytes: bytes * regions,
                page_in: media.page_in,
                page_out: media.page_out,
            }),
            ..swap()
        };
        match self {
            Self::Local => plain(own(0), RegionKind::Local),
            Self::SameBoard => plain(own(index % BOARD_REGIONS), RegionKind::SameBoard),
            Self::Remote if index < BOARD_REGIONS => plain(own(index), RegionKind::SameBoard),
            Self::Remote => {
                let (board, processor) = (index / BOARD_REGIONS, index % BOARD_REGIONS);
                plain(
                    format!("board {board}, processor {processor}"),
                    RegionKind::Remote,
                )
            }
            Self::LocalSwap if index == 0 => plain(own(0), RegionKind::Local),
            Self::BoardSwapUniform if index < BOARD_REGIONS => {
                plain(own(index), RegionKind::SameBoard)
            }
            Self::BoardSwapInterleaved if index.is_multiple_of(REGIONS / BOARD_REGIONS) => {
                plain(own(index / BOARD_REGIONS), RegionKind::SameBoard)
            }
            Self::LocalSwap | Self::BoardSwapUniform | Self::BoardSwapInterleaved => swap(),
            Self::LocalSwapPaged => paged(media.local, 1),
            Self::BoardSwapPaged => paged(media.same_board, BOARD_REGIONS),
        }
    }
}
