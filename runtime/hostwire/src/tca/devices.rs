//! The devices of a PE, started at first use, and the allocations on them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use hostwire_address::{Place, SegmentId};
use hostwire_device::{Device, DeviceError};

use super::door::Door;
use super::peers;
use super::spot::{DeviceId, Spot};
use crate::error::{Result, TcaError};
use crate::inner::Inner;
use crate::settings::Devices as Choice;

/// See the [module text](self).
pub(super) struct Devices {
    inner: Arc<Inner>,
    choice: Choice,
    count: u32,
    /// Set before anything is allocated.
    door: OnceLock<Door>,
    started: Mutex<BTreeMap<u32, Arc<dyn Device>>>,
    /// By the number of the segment.
    allocations: Mutex<BTreeMap<SegmentId, Weak<Allocation>>>,
}

/// Memory of a device that is in use.
pub(super) struct Allocation {
    inner: Arc<Inner>,
    pub(super) device: Arc<dyn Device>,
    pub(super) number: u32,
    /// An address of the device.
    pub(super) at: u64,
    pub(super) len: usize,
    segment: SegmentId,
    /// Its entry in the list for other PEs of this host.
    named: OnceLock<(Door, usize)>,
}

impl Devices {
    pub(super) fn new(inner: &Arc<Inner>, choice: Option<Choice>) -> Result<Self> {
        let failed = |fault| TcaError::Device {
            pe: inner.pe,
            fault,
        };
        let choice = match choice {
            _ if inner.wire.is_in_virtual_time() => Choice::None,
            Some(choice) => choice,
            None => crate::settings::Settings::from_env()?.devices,
        };
        let (choice, count) = count(choice).map_err(failed)?;
        Ok(Self {
            inner: Arc::clone(inner),
            choice,
            count,
            door: OnceLock::new(),
            started: Mutex::default(),
            allocations: Mutex::default(),
        })
    }

    /// These devices, which have been started.
    #[cfg(feature = "fuzzing")]
    pub(super) fn of(inner: &Arc<Inner>, devices: Vec<Arc<dyn Device>>) -> Self {
        Self {
            inner: Arc::clone(inner),
            choice: Choice::None,
            count: devices.len() as u32,
            door: OnceLock::new(),
            started: Mutex::new((0..).zip(devices).collect()),
            allocations: Mutex::default(),
        }
    }

    /// Sets the memory that copies go through.
    pub(super) fn go_through(&self, door: Door) {
        // A second one would be the same.
        let _ = self.door.set(door);
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Device `number`; starts it if it is not used yet.
    pub(super) fn get(&self, number: u32) -> Result<Arc<dyn Device>> {
        let pe = self.inner.pe;
        if number >= self.count {
            let (device, devices) = (number, self.count);
            return Err(match self.inner.wire.is_in_virtual_time() {
                true => TcaError::InVirtualTime { pe },
                false => TcaError::NoDevice {
                    pe,
                    device,
                    devices,
                },
            }
            .into());
        }
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = started.get(&number) {
            return Ok(Arc::clone(device));
        }
        let device = start(self.choice, number);
        let device = device.map_err(|fault| TcaError::Device { pe, fault })?;
        if let Some(door) = self.door.get() {
            let (first, len) = door.range();
            // Copies also work without pinned memory.
            let _ = device.pin(self.inner.segment().memory(), first, len);
        }
        started.insert(number, Arc::clone(&device));
        Ok(device)
    }

    /// Memory of device `number`.
    pub(super) fn allocate(
        &self,
        number: u32,
        len: usize,
        align: usize,
    ) -> Result<Arc<Allocation>> {
        let device = self.get(number)?;
        let pe = self.inner.pe;
        let failed = |fault| TcaError::Device { pe, fault };
        if len as u64 > hostwire_address::place::REGISTERED_BYTES_MAX {
            return Err(failed(DeviceError::OutOfMemory {
                device: device.name(),
                len,
                why: "a segment has at most 1 TiB".into(),
            })
            .into());
        }
        let at = device.allocate(len, align).map_err(failed)?;
        let segment = self.inner.register_device().inspect_err(|_| {
            // Nothing uses it; the caller gets the earlier error.
            let _ = device.release(at);
        })?;
        let allocation = Arc::new(Allocation {
            inner: Arc::clone(&self.inner),
            device,
            number,
            at,
            len,
            segment,
            named: OnceLock::new(),
        });
        let mut allocations = self.allocations();
        allocations.insert(segment, Arc::downgrade(&allocation));
        if let Some(door) = self.door.get() {
            let whole = (allocation.spot().address(), len);
            let memory = (&*allocation.device, number, at);
            if let Some(entry) = peers::publish(&self.inner, door, whole, memory)? {
                let _ = allocation.named.set((*door, entry));
            }
        }
        drop(allocations);
        Ok(allocation)
    }

    fn allocations(&self) -> MutexGuard<'_, BTreeMap<SegmentId, Weak<Allocation>>> {
        self.allocations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory in which `len` bytes at `address` of a device lie, and their offset in it.
    pub(super) fn find(
        &self,
        device: u32,
        address: u64,
        len: u64,
    ) -> Option<(Arc<Allocation>, u64)> {
        let Some(Place::Registered(segment, offset)) = Place::of(address) else {
            return None;
        };
        let allocation = self.allocations().get(&segment)?.upgrade()?;
        let fits = allocation.number == device
            && offset
                .checked_add(len)
                .is_some_and(|end| end <= allocation.len as u64);
        fits.then_some((allocation, offset))
    }
}

impl Allocation {
    /// Its first byte, for all PEs.
    pub(super) fn spot(&self) -> Spot {
        // Offset 0 of any segment is a place.
        let place = Place::Registered(self.segment, 0)
            .offset()
            .unwrap_or_default();
        Spot::new(self.inner.pe, DeviceId::new(self.number), place)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.inner.unregister_device(self.segment);
        if self.inner.is_here() {
            if let Some((door, entry)) = self.named.get() {
                // Cannot fail: the place is in the segment.
                let _ = peers::withdraw(&self.inner, door, *entry);
            }
            // If the device is lost, so is the memory.
            let _ = self.device.release(self.at);
        }
    }
}

#[cfg(target_os = "linux")]
fn count(choice: Choice) -> hostwire_device::Result<(Choice, u32)> {
    use hostwire_device::cuda;
    Ok(match choice {
        Choice::None => (Choice::None, 0),
        Choice::Modelled(count) => (choice, count),
        Choice::Cuda => (choice, cuda::count()?),
        Choice::Auto => match cuda::count() {
            Ok(count) if count > 0 => (Choice::Cuda, count),
            _ => (Choice::Modelled(1), 1),
        },
    })
}

#[cfg(target_os = "linux")]
fn start(choice: Choice, number: u32) -> hostwire_device::Result<Arc<dyn Device>> {
    use hostwire_device::{cuda, modelled};
    match choice {
        Choice::Cuda => Ok(Arc::new(cuda::Gpu::open(number)?)),
        _ => Ok(Arc::new(modelled::Modelled::start(number)?)),
    }
}

#[cfg(not(target_os = "linux"))]
fn count(_: Choice) -> hostwire_device::Result<(Choice, u32)> {
    Ok((Choice::None, 0))
}

#[cfg(not(target_os = "linux"))]
fn start(_: Choice, number: u32) -> hostwire_device::Result<Arc<dyn Device>> {
    Err(DeviceError::NoDevice {
        kind: "modelled",
        number,
        count: 0,
    })
}
