//! Memory of devices of other PEs of this host: devices of this PE copy to it directly.
//!
//! A PE lists its memory in its segment, by the name that its device exports for other processes. A PE that
//! wants to copy there loads the name through its window, and its own device opens it once. Each copy checks
//! that the name is still in the list.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use hostwire_address::Place;
use hostwire_device::{Device, Export};
use hostwire_transport::sync::{Ordering, fence};
use hostwire_transport::{PeId, Visibility, Window};
use zerocopy::IntoBytes;

use super::door::{Door, EXPORTS};
use super::spot::Spot;
use crate::error::Result;
use crate::inner::Inner;

/// An entry of the list, after its first word. The first word is the place of the first byte, or 0.
#[derive(Clone, Copy, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
#[repr(C)]
struct Name {
    len: u64,
    /// Of the device.
    kind: u64,
    /// Of the device, among those of its PE.
    number: u64,
    export: Export,
}

/// Adds memory of this PE to its list, and returns the entry. `None` if the list is full, or the device has no
/// name for it.
pub(super) fn publish(
    inner: &Inner,
    door: &Door,
    (first, len): (u64, usize),
    (device, number, at): (&dyn Device, u32, u64),
) -> Result<Option<usize>> {
    let segment = inner.segment();
    let mut free = None;
    for entry in 0..EXPORTS {
        if segment.load_word(door.export(entry))? == 0 {
            free = Some(entry);
            break;
        }
    }
    let (Some(entry), Ok(export)) = (free, device.export(at)) else {
        return Ok(None);
    };
    let (len, kind, number) = (len as u64, device.kind() as u64, number.into());
    let name = Name {
        len,
        kind,
        number,
        export,
    };
    segment.put_unannounced(door.export(entry) + 8, name.as_bytes())?;
    segment.put_word_unannounced(door.export(entry), first)?;
    Ok(Some(entry))
}

/// Takes a name out of the list.
pub(super) fn withdraw(inner: &Inner, door: &Door, entry: usize) -> Result<()> {
    Ok(inner
        .segment()
        .put_word_unannounced(door.export(entry), 0)?)
}

/// What this PE has opened. See the [module text](self).
#[derive(Default)]
pub(super) struct Peers {
    /// By PE, place of the first byte, and device of this PE.
    opened: Mutex<BTreeMap<(PeId, u64, u32), Opened>>,
}

struct Opened {
    device: Arc<dyn Device>,
    entry: usize,
    /// Of the device that has it.
    number: u64,
    len: u64,
    /// Nothing if the device cannot open it.
    at: Option<u64>,
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(at) = self.at {
            self.device.close(at);
        }
    }
}

impl Peers {
    /// The address at which a device of this PE, with this number, reaches `len` bytes of another PE directly.
    pub(super) fn find(
        &self,
        (inner, door): (&Inner, &Door),
        (device, number): (&Arc<dyn Device>, u32),
        (to, len): (Spot, u64),
    ) -> Result<Option<u64>> {
        let window = inner.load_window(to.pe());
        let window = window.filter(|window| window.visibility() == Visibility::Coherent);
        let (Some(window), Some(Place::Registered(segment, offset))) =
            (window, Place::of(to.address()))
        else {
            return Ok(None);
        };
        let Some(first) = Place::Registered(segment, 0).offset() else {
            return Ok(None);
        };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (to.pe(), first, number);
        if let Some(known) = opened.get(&key)
            && window.load_word(door.export(known.entry))? != first
        {
            opened.remove(&key);
        }
        let known = match opened.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => match open(window, door, first, device)? {
                Some(found) => free.insert(found),
                None => return Ok(None),
            },
        };
        let is_on = to.device().number().map(u64::from) == Some(known.number);
        let end = offset.checked_add(len);
        let fits = is_on && end.is_some_and(|end| end <= known.len);
        Ok(known.at.filter(|_| fits).map(|at| at + offset))
    }
}

/// Opens memory whose name stands in the list of a PE.
fn open(
    window: &Window,
    door: &Door,
    first: u64,
    device: &Arc<dyn Device>,
) -> Result<Option<Opened>> {
    for entry in 0..EXPORTS {
        if window.load_word(door.export(entry))? != first {
            continue;
        }
        fence(Ordering::Acquire);
        let mut name = Name {
            len: 0,
            kind: 0,
            number: 0,
            export: [0; 64],
        };
        window.get(door.export(entry) + 8, name.as_mut_bytes())?;
        let len = usize::try_from(name.len).unwrap_or(usize::MAX);
        let at = match name.kind == device.kind() as u64 {
            // If it cannot be opened, copies go the same way as to other hosts.
            true => device.open(&name.export, len).ok(),
            false => None,
        };
        let (device, number, len) = (Arc::clone(device), name.number, name.len);
        return Ok(Some(Opened {
            device,
            entry,
            number,
            len,
            at,
        }));
    }
    Ok(None)
}
