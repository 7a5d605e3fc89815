//! The memory of the PEs of this host, as the addresses in frames name it.

use std::collections::HashMap;

use hostwire_address::{GlobalAddress, JobMap, Place, SegmentId};
use hostwire_transport::error::{PeId, TransportError};
use hostwire_transport::window::Window;

use super::ended_pes::EndedPes;

/// See the [module text](self).
#[derive(Debug)]
pub(crate) struct Own {
    /// At least one, by ascending numbers.
    members: Box<[Member]>,
    /// Which PEs of other hosts have ended, as their hosts write it.
    ended: EndedPes,
    /// Whether other hosts may write it.
    shows_ended: bool,
    map: JobMap,
    /// Only of a single PE: if several share the host, PEs of other hosts are told that there is no
    /// registered memory.
    registered: HashMap<SegmentId, Window>,
}

/// A PE of this host.
#[derive(Debug)]
struct Member {
    pe: PeId,
    /// Its adjacent segments.
    window: Window,
    /// Their first address.
    first: u64,
}

impl Member {
    /// The offset of an address in the segments, if it lies there.
    #[inline]
    fn offset_of(&self, address: u64) -> Option<usize> {
        let offset = usize::try_from(address.wrapping_sub(self.first)).ok()?;
        (offset < self.window.memory().len_bytes()).then_some(offset)
    }
}

impl Own {
    /// The memory of PEs, at least one, in the order of their numbers: the adjacent segments of
    /// each. And the table of this host.
    ///
    /// # Errors
    /// [`TransportError::NoSuchPe`] if one is not in the map; [`TransportError::Misused`] without a PE.
    pub(crate) fn new(
        windows: impl IntoIterator<Item = (PeId, Window)>,
        ended: EndedPes,
        map: JobMap,
    ) -> Result<Self, TransportError> {
        let pes = map.pes();
        let member = |(pe, window)| {
            let near = map.near(pe).ok_or(TransportError::NoSuchPe { pe, pes })?;
            let first = near.start.0;
            Ok(Member { pe, window, first })
        };
        let members: Box<[Member]> = windows.into_iter().map(member).collect::<Result<_, _>>()?;
        if members.is_empty() || !members.is_sorted_by_key(|member| member.pe) {
            let pes = members.iter().map(|member| member.pe).collect::<Vec<_>>();
            return Err(TransportError::misused(
                "joining the memory of a host",
                "PEs whose numbers grow",
                format_args!("{pes:?}"),
            ));
        }
        Ok(Self {
            members,
            ended,
            shows_ended: true,
            map,
            registered: HashMap::new(),
        })
    }

    /// The memory of a station. Its peers write nothing else.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn of_station(window: Window, map: JobMap) -> Result<Self, TransportError> {
        let ended = EndedPes::alone(map.pes())?;
        Ok(Self {
            shows_ended: false,
            ..Self::new([(0, window)], ended, map)?
        })
    }

    /// Which PEs of other hosts have ended.
    pub(crate) const fn ended(&self) -> &EndedPes {
        &self.ended
    }

    pub(crate) fn register(&mut self, segment: SegmentId, window: Window) {
        self.registered.insert(segment, window);
    }

    pub(crate) fn unregister(&mut self, segment: SegmentId) {
        self.registered.remove(&segment);
    }

    /// Where the byte at an address lies, and the window whose doorbell has to be rung after a store
    /// there; `None` if it is not memory of this host.
    #[inline]
    pub(crate) fn find(&self, address: u64) -> Option<Found<'_>> {
        // Most hosts have one PE that speaks for itself.
        if let [only] = &*self.members
            && let Some(at) = only.offset_of(address)
        {
            return Some(Found::in_segments(&only.window, at));
        }
        self.find_further(address)
    }

    #[inline(never)]
    fn find_further(&self, address: u64) -> Option<Found<'_>> {
        let end = self.members.partition_point(|it| it.first <= address);
        let below = end.checked_sub(1).and_then(|at| self.members.get(at));
        if let Some(member) = below
            && let Some(at) = member.offset_of(address)
        {
            return Some(Found::in_segments(&member.window, at));
        }
        let table = self.map.host_table();
        if let Some(offset) = address.checked_sub(table.start.0)
            && offset < table.bytes
            && self.shows_ended
        {
            return Some(Found {
                window: self.ended.window(),
                at: usize::try_from(offset).ok()?,
                owner: None,
            });
        }
        match self.map.locate(GlobalAddress(address))? {
            (pe, Place::Registered(segment, offset)) => {
                let owner = self.members.first().filter(|only| only.pe == pe)?;
                Some(Found {
                    window: self.registered.get(&segment)?,
                    at: usize::try_from(offset).ok()?,
                    owner: Some(&owner.window),
                })
            }
            (_, Place::Near(_)) => None,
        }
    }
}

/// A byte of this host's memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    /// The memory around it.
    pub(crate) window: &'a Window,
    /// Where it lies there.
    pub(crate) at: usize,
    /// The segments of the PE that may wait for it.
    pub(crate) owner: Option<&'a Window>,
}

impl<'a> Found<'a> {
    #[inline]
    const fn in_segments(window: &'a Window, at: usize) -> Self {
        Self {
            window,
            at,
            owner: Some(window),
        }
    }
}
