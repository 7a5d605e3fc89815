//! Telling the other hosts that a PE of this one has ended.

use std::collections::VecDeque;

use hostwire_address::JobMap;
use hostwire_link::LinkId;
use hostwire_transport::error::PeId;

use crate::core::FramesCore;
use crate::ended_pes::{End, EndedPes};

/// Words that still have to go into the tables of other hosts.
#[derive(Debug, Default)]
pub(super) struct Announcements(VecDeque<(LinkId, u64, u64)>);

impl Announcements {
    /// A PE has ended, and all its stores have been given to the links.
    pub(super) fn add(
        &mut self,
        map: &JobMap,
        links: impl Iterator<Item = LinkId>,
        pe: PeId,
        end: End,
    ) {
        let table = map.host_table().start.0;
        for link in links {
            let own = table + EndedPes::offset_of(pe) as u64;
            self.0.push_back((link, own, end.to_word()));
            self.0.push_back((link, table, u64::from(pe) + 1));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives words to the links, as many as they take now.
    pub(super) fn send(&mut self, core: &mut FramesCore) {
        let mut left = VecDeque::new();
        let mut full: Vec<LinkId> = Vec::new();
        for (link, address, word) in self.0.drain(..) {
            let is_open = core.closed(link).is_none();
            let taken = is_open
                && !full.contains(&link)
                && matches!(core.offer(link, address, &word.to_ne_bytes()), Ok(8));
            if is_open && !taken {
                full.push(link);
                left.push_back((link, address, word));
            }
        }
        self.0 = left;
    }
}
