//! Keys of registered memory. Peers ask for them at first use.

use std::time::Instant;

use hostwire_address::SegmentId;
use hostwire_transport::error::{PeId, TransportError};
use hostwire_transport::os::random;

use super::core::FabricCore;
use super::ffi::endpoint::Key;
use super::keys::{Given, Known, place, registered};
use super::message::{Kind, Outgoing};
use super::{Fabric, Patience};

impl FabricCore {
    /// Handles a record about keys. `None` if it makes no sense.
    pub(super) fn apply_key(
        &mut self,
        from: PeId,
        kind: Kind,
        place: usize,
        data: &[u8],
    ) -> Option<()> {
        let (segment, _) = registered(place)?;
        let peer = self.peer_mut(from)?;
        match kind {
            Kind::Wanted => self.keys.owe(from, segment),
            Kind::Key => {
                // Only a key that was asked for.
                let known = peer.keys.get_mut(&segment)?;
                *known = match data {
                    [] => Known::Nothing,
                    data => Known::Given(Given::of(data)?),
                };
            }
            Kind::Forget => drop(peer.keys.remove(&segment)),
            _ => return None,
        }
        Some(())
    }

    /// Answers peers that want keys.
    pub(super) fn pay_keys(&mut self) {
        for _ in 0..self.keys.owed.len() {
            let Some((pe, segment)) = self.keys.owed.pop() else {
                return;
            };
            let given = self.give(segment);
            let bytes = given.map(Given::to_bytes);
            let data: &[u8] = bytes.as_ref().map_or(&[], |bytes| bytes);
            let mut answer = Outgoing::one(Kind::Key, place(segment), &[data]);
            match self.send(pe, &mut answer) {
                Ok(Some(_)) => {
                    if let Some((_, holders)) = self.keys.given.get_mut(&segment)
                        && !holders.contains(&pe)
                    {
                        holders.push(pe);
                    }
                }
                // No room: at the next turn, after the others.
                Ok(None) if self.open(pe).is_ok_and(|peer| peer.is_some()) => {
                    self.keys.owed.insert(0, (pe, segment));
                }
                // No peer waits for it any more.
                Ok(None) | Err(_) => {}
            }
        }
    }

    /// The key of a segment of this PE. The memory is registered with the provider at the first request.
    fn give(&mut self, segment: SegmentId) -> Option<Given> {
        if let Some((given, _)) = self.keys.given.get(&segment) {
            return Some(*given);
        }
        let memory = self.home.registered(segment)?.memory().clone();
        let wish = u64::from_ne_bytes(random().ok()?);
        // Without a key peers use messages.
        let key = self.endpoint.expose(&memory, wish).ok()?;
        let given = Given {
            key,
            len_bytes: memory.len_bytes() as u64,
        };
        self.keys.given.insert(segment, (given, Vec::new()));
        Some(given)
    }
}

impl Fabric {
    /// How to reach `len` bytes of registered memory of a peer by RDMA; `None` if that is not possible.
    pub(super) fn given(
        &self,
        pe: PeId,
        offset_bytes: usize,
        len: usize,
    ) -> Result<Option<Key>, TransportError> {
        let Some((segment, offset)) = registered(offset_bytes) else {
            return Ok(None);
        };
        let mut patience = Patience::default();
        let begin = Instant::now();
        loop {
            let mut core = self.hold()?;
            if core.open(pe)?.is_none() {
                return Ok(None);
            }
            let known = core
                .peer_mut(pe)
                .and_then(|peer| match peer.keys.get(&segment) {
                    // It may be registered the next time.
                    Some(Known::Nothing) => peer.keys.remove(&segment),
                    known => known.copied(),
                });
            match known {
                Some(Known::Given(Given { key, len_bytes })) => {
                    let end = offset.checked_add(len as u64);
                    let is_inside = end.is_some_and(|end| end <= len_bytes);
                    let base = key.base.wrapping_add(offset);
                    return Ok(is_inside.then_some(Key { base, ..key }));
                }
                Some(Known::Nothing) => return Ok(None),
                Some(Known::Asked) => {}
                None => {
                    let mut question = Outgoing::one(Kind::Wanted, place(segment), &[]);
                    if core.send(pe, &mut question)?.is_some()
                        && let Some(peer) = core.peer_mut(pe)
                    {
                        peer.keys.insert(segment, Known::Asked);
                    }
                }
            }
            self.go_on(core, &mut patience, (pe, begin));
        }
    }

    /// Takes back the key of a segment. When this returns, no peer has it, and the provider stores nothing
    /// there.
    pub(super) fn take_back(&self, segment: SegmentId) {
        let Ok(mut core) = self.hold() else {
            return;
        };
        let given = core.keys.given.remove(&segment);
        drop(core);
        let Some((given, holders)) = given else {
            return;
        };
        for pe in holders {
            let forget = Outgoing::one(Kind::Forget, place(segment), &[]);
            // A lost peer does not use it any more.
            let sent = self.send(pe, forget, false);
            let number = self.shared.lock().peer(pe).map(|peer| peer.ordered);
            if let (Ok(()), Some(number)) = (sent, number) {
                let _ = self.applied(pe, number);
            }
        }
        self.shared.lock().endpoint.conceal(given.key.key);
    }
}
