//! A PCI device that belongs to this process: its first BAR, and an interrupt as a descriptor.
//!
//! # Source
//! Linux, Documentation/driver-api/vfio.rst, `include/uapi/linux/vfio.h`. PCI: the command register.

use core::ptr::NonNull;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use hostwire_transport::error::{RegionFault, TransportError};
use rustix::event::{EventfdFlags, eventfd};
use rustix::mm::{MapFlags, ProtFlags};

use super::Result;

const GET_API_VERSION: u64 = 0x3b64;
const SET_IOMMU: u64 = 0x3b66;
const GROUP_SET_CONTAINER: u64 = 0x3b68;
const GROUP_GET_DEVICE_FD: u64 = 0x3b6a;
const DEVICE_GET_REGION_INFO: u64 = 0x3b6c;
const DEVICE_SET_IRQS: u64 = 0x3b6e;

const API_VERSION: i32 = 0;
const TYPE1_V2_IOMMU: u64 = 3;
const BAR0_REGION: u32 = 0;
const CONFIG_REGION: u32 = 7;
const MSIX_IRQS: u32 = 2;
const IRQ_SET_DATA_EVENTFD: u32 = 1 << 2;
const IRQ_SET_ACTION_TRIGGER: u32 = 1 << 5;

/// The offset of the command register in the configuration of a PCI device.
const COMMAND_OFFSET_BYTES: u64 = 4;
/// Its bit that enables bus mastering. An interrupt is a store of the device.
const COMMAND_MASTER: u8 = 1 << 2;
/// Bytes of BAR 0 that are mapped. The device has fewer, in a page of its own.
const PAGE_BYTES: usize = 4096;

/// `struct vfio_region_info`.
#[repr(C)]
#[derive(Default)]
struct RegionInfo {
    argsz: u32,
    flags: u32,
    index: u32,
    cap_offset: u32,
    size: u64,
    offset: u64,
}

/// `struct vfio_irq_set` followed by one descriptor.
#[repr(C)]
struct IrqSet {
    argsz: u32,
    flags: u32,
    index: u32,
    start: u32,
    count: u32,
    fd: i32,
}

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct Device {
    /// Reading it waits for the interrupt.
    pub(super) interrupts: File,
    registers: NonNull<u32>,
    /// As long as they are open, the device belongs to this process.
    _open: Vec<OwnedFd>,
}

// SAFETY: the pointer leads to a mapping that ends with the value, and is used for volatile accesses to whole
// registers only, which the device takes from any thread.
unsafe impl Send for Device {}
// SAFETY: accesses are volatile, of whole aligned registers; the bus orders those of several threads.
unsafe impl Sync for Device {}

impl Device {
    /// Opens the device in whose folder `path` is, and enables its first interrupt.
    ///
    /// # Errors
    /// [`RegionFault::Bell`] if it is not bound to `vfio-pci`; errors of the system.
    pub(super) fn open(path: &Path, fault: &dyn Fn(RegionFault) -> TransportError) -> Result<Self> {
        let folder = path.canonicalize().ok();
        let folder = folder.as_deref().and_then(Path::parent);
        let end_of = |name: &str| {
            let leads_to = std::fs::read_link(folder?.join(name)).ok()?;
            Some(leads_to.file_name()?.to_string_lossy().into_owned())
        };
        let bound = end_of("driver").filter(|driver| driver == "vfio-pci");
        let (Some(folder), Some(group), Some(_)) = (folder, end_of("iommu_group"), bound) else {
            return Err(fault(RegionFault::Bell {
                why: "its device is not in the hands of the driver vfio-pci, behind an IOMMU",
            }));
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let name = std::ffi::CString::new(name.as_bytes()).unwrap_or_default();
        Self::of_group(&group, &name, fault)
    }

    fn of_group(
        group: &str,
        name: &core::ffi::CStr,
        fault: &dyn Fn(RegionFault) -> TransportError,
    ) -> Result<Self> {
        let container = open("/dev/vfio/vfio")?;
        let group = open(&format!("/dev/vfio/{group}"))?;
        let because = |what: &'static str| move |e: io::Error| TransportError::environment(what, e);
        // SAFETY: it takes no argument.
        let version = unsafe { libc::ioctl(container.as_raw_fd(), GET_API_VERSION as libc::Ioctl) };
        if version != API_VERSION {
            return Err(fault(RegionFault::Bell {
                why: "the kernel has another version of VFIO",
            }));
        }
        let number = container.as_raw_fd();
        // SAFETY: it reads one `int`, which outlives the call.
        let done = unsafe {
            let request = GROUP_SET_CONTAINER as libc::Ioctl;
            libc::ioctl(group.as_raw_fd(), request, core::ptr::from_ref(&number))
        };
        checked(done).map_err(because("asking for the group of the window's device"))?;
        // SAFETY: its argument is a number.
        let done = unsafe {
            let request = SET_IOMMU as libc::Ioctl;
            libc::ioctl(container.as_raw_fd(), request, TYPE1_V2_IOMMU)
        };
        checked(done).map_err(because("asking for the IOMMU of the window's device"))?;
        // SAFETY: it reads a name that ends with a zero, which outlives the call.
        let device = unsafe {
            let request = GROUP_GET_DEVICE_FD as libc::Ioctl;
            libc::ioctl(group.as_raw_fd(), request, name.as_ptr())
        };
        let device = checked(device).map_err(because("opening the window's device"))?;
        // SAFETY: the kernel has just made this descriptor, and nobody else knows it.
        let device = unsafe { OwnedFd::from_raw_fd(device) };
        let device = File::from(device);
        master(&device).map_err(because("switching the window's interrupts on"))?;
        let interrupts = eventfd(0, EventfdFlags::CLOEXEC);
        let interrupts = interrupts.map_err(|errno| because("making an eventfd")(errno.into()))?;
        let interrupts = File::from(interrupts);
        trigger(&device, &interrupts).map_err(because("asking for the window's interrupt"))?;
        let registers = map(&device).map_err(because("mapping the window's registers"))?;
        Ok(Self {
            interrupts,
            registers,
            _open: vec![device.into(), group, container],
        })
    }

    /// Loads a register of BAR 0.
    pub(super) fn load(&self, offset_bytes: usize) -> u32 {
        // SAFETY: a page is mapped there until the value is dropped, the offset lies in it and is aligned, and
        // registers are only accessed in this way.
        unsafe { self.register(offset_bytes).read_volatile() }
    }

    /// Stores a register of BAR 0.
    pub(super) fn store(&self, offset_bytes: usize, value: u32) {
        // SAFETY: `register` leads into the page that is mapped for writing until the value is dropped, aligned
        // for a `u32`, to which no reference exists.
        unsafe { self.register(offset_bytes).write_volatile(value) }
    }

    fn register(&self, offset_bytes: usize) -> NonNull<u32> {
        let at = (offset_bytes % PAGE_BYTES) / size_of::<u32>();
        // SAFETY: less than a page, of which all is mapped.
        unsafe { self.registers.add(at) }
    }

    /// Registers in plain memory, without any effect.
    #[cfg(test)]
    pub(super) fn of_memory() -> Self {
        let file = hostwire_transport::shm::create_file("hostwire-registers", PAGE_BYTES).unwrap();
        Self {
            interrupts: File::from(eventfd(0, EventfdFlags::CLOEXEC).unwrap()),
            registers: map_at(&File::from(file), 0).unwrap(),
            _open: Vec::new(),
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: exactly the page that `map_at` mapped; the pointer is used by methods of this value only.
        let _ = unsafe { rustix::mm::munmap(self.registers.as_ptr().cast(), PAGE_BYTES) };
    }
}

fn open(path: &str) -> Result<OwnedFd> {
    let file = File::options().read(true).write(true).open(path);
    let file = file.map_err(|e| TransportError::environment(format!("opening {path}"), e))?;
    Ok(file.into())
}

fn checked(done: i32) -> io::Result<i32> {
    match done {
        -1 => Err(io::Error::last_os_error()),
        done => Ok(done),
    }
}

/// The offset of a region of the device in its descriptor.
fn offset_of(device: &File, index: u32) -> io::Result<u64> {
    let mut info = RegionInfo {
        argsz: size_of::<RegionInfo>() as u32,
        index,
        ..RegionInfo::default()
    };
    // SAFETY: it reads and writes a `vfio_region_info`, of which `RegionInfo` has the layout, up to `argsz`
    // bytes.
    let done = unsafe {
        let request = DEVICE_GET_REGION_INFO as libc::Ioctl;
        libc::ioctl(device.as_raw_fd(), request, core::ptr::from_mut(&mut info))
    };
    checked(done).map(|_| info.offset)
}

/// Enables bus mastering of the device.
fn master(device: &File) -> io::Result<()> {
    let at = offset_of(device, CONFIG_REGION)? + COMMAND_OFFSET_BYTES;
    let mut command = [0];
    device.read_exact_at(&mut command, at)?;
    device.write_all_at(&[command[0] | COMMAND_MASTER], at)
}

/// The first interrupt counts up `to`.
fn trigger(device: &File, to: &File) -> io::Result<()> {
    let mut set = IrqSet {
        argsz: size_of::<IrqSet>() as u32,
        flags: IRQ_SET_DATA_EVENTFD | IRQ_SET_ACTION_TRIGGER,
        index: MSIX_IRQS,
        start: 0,
        count: 1,
        fd: to.as_raw_fd(),
    };
    // SAFETY: it reads a `vfio_irq_set` with one descriptor, of which `IrqSet` has the layout, up to `argsz`
    // bytes.
    let done = unsafe {
        let request = DEVICE_SET_IRQS as libc::Ioctl;
        libc::ioctl(device.as_raw_fd(), request, core::ptr::from_mut(&mut set))
    };
    checked(done).map(|_| ())
}

fn map(device: &File) -> io::Result<NonNull<u32>> {
    map_at(device, offset_of(device, BAR0_REGION)?)
}

/// A page of a file.
fn map_at(file: &File, offset_bytes: u64) -> io::Result<NonNull<u32>> {
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory of this process.
    let page = unsafe {
        rustix::mm::mmap(
            core::ptr::null_mut(),
            PAGE_BYTES,
            protection,
            flags,
            file,
            offset_bytes,
        )
    }?;
    NonNull::new(page.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}
