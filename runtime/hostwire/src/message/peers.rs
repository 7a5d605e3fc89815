//! What this PE keeps of others, by their number: nothing of one until it is needed. Most PEs of a large job never talk to most
//! others.

use hostwire_transport::PeId;

use super::peer::Peer;

/// See the [module text](self).
#[derive(Default)]
pub(super) struct Peers {
    by_pe: Vec<Option<Box<Peer>>>,
    /// Those of which something is kept, in the order in which that began.
    kept: Vec<PeId>,
}

impl Peers {
    /// Of none of so many PEs anything is kept.
    pub(super) fn of(pes: u32) -> Self {
        let by_pe = core::iter::repeat_with(|| None).take(pes as usize);
        Self {
            by_pe: by_pe.collect(),
            kept: Vec::new(),
        }
    }

    /// How many PEs there are.
    pub(super) fn known(&self) -> u32 {
        self.by_pe.len() as u32
    }

    #[inline(always)]
    pub(super) fn get(&self, pe: PeId) -> Option<&Peer> {
        self.by_pe.get(pe as usize)?.as_deref()
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, pe: PeId) -> Option<&mut Peer> {
        self.by_pe.get_mut(pe as usize)?.as_deref_mut()
    }

    /// From now on this is kept of its PE; if there is no such PE, there are as many more.
    pub(super) fn keep(&mut self, peer: Peer) {
        let pe = peer.pe;
        if self.known() <= pe {
            self.by_pe.resize_with(pe as usize + 1, || None);
        }
        if let Some(place) = self.by_pe.get_mut(pe as usize)
            && place.replace(Box::new(peer)).is_none()
        {
            self.kept.push(pe);
        }
    }

    /// Those of which something is kept.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Peer> {
        self.kept.iter().filter_map(|pe| self.get(*pe))
    }

    pub(super) fn for_each(&mut self, mut each: impl FnMut(&mut Peer)) {
        let Self { by_pe, kept } = self;
        for pe in kept {
            if let Some(Some(peer)) = by_pe.get_mut(*pe as usize) {
                each(peer);
            }
        }
    }
}
