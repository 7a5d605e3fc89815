//! Copies between memory of hosts and of accelerators, in one job: the TCA interface.
//!
//! [`Tca::malloc`] gives memory of the host or of a device. A [`Spot`] names a byte of it, and can be sent to
//! other PEs. [`Stream::memcpy_peer`] copies to a spot of any PE and any device, from memory of this PE, as
//! `cudaMemcpyPeerAsync` does within a host: copies of a stream are made in their order, and
//! [`synchronize`](Stream::synchronize) returns when they are there. A [`Chain`] of copies is checked once and
//! can be started many times. [`Stream::signal`] stores a word after the copies, for which the other PE
//! [waits](Buffer::wait_until).
//!
//! Only writes cross between PEs: the source of a copy is always memory of the PE that makes it.
//!
//! ```
//! use hostwire::Job;
//! use hostwire::tca::{Config, DeviceId, Tca};
//!
//! fn main() -> hostwire::Result<()> {
//!     let job = Job::attach()?;
//!     let tca = Tca::new(&job, Config::default())?;
//!     let inbox = tca.malloc(DeviceId::HOST, 4096, 64)?;
//!     let mut spots = vec![inbox.spot(); job.pes() as usize];
//!     job.all_gather(&[inbox.spot()], &mut spots)?;
//!
//!     let right = spots[(job.pe() as usize + 1) % spots.len()];
//!     let outbox = tca.malloc(DeviceId::HOST, 4096, 64)?;
//!     outbox.write(0, &[7; 1000])?;
//!     let stream = tca.stream();
//!     stream.memcpy_peer(right, outbox.spot(), 1000)?;
//!     stream.signal(right.at(4088), 1)?;
//!     stream.synchronize()?;
//!
//!     inbox.wait_until(4088, 1)?;
//!     let mut got = [0; 1000];
//!     inbox.read(0, &mut got)?;
//!     assert_eq!(got, [7; 1000]);
//!     drop((stream, inbox, outbox, tca));
//!     job.finalize()
//! }
//! ```
//!
//! | file | |
//! |---|---|
//! | `spot.rs` | device numbers, and bytes of the memory of devices |
//! | `buffer.rs` | memory of this PE |
//! | `chain.rs` | chains of copies, before and after the check |
//! | `table.rs` | chains that a wire makes itself |
//! | `stream.rs` | copies in their order |
//! | `devices.rs` | the devices of this PE |
//! | `door.rs` | the symmetric memory through which PEs meet: its layout |
//! | `failures.rs` | streams that have failed, and who hears of it |
//! | `progress.rs` | how far a stream is |
//! | `peers.rs` | memory of devices of other PEs of this host |
//! | `engine/` | makes the copies |
//! | `shared.rs` | what all of these share, and the thread of the engine |

mod buffer;
mod chain;
mod devices;
mod door;
mod engine;
mod failures;
#[cfg(all(feature = "fuzzing", target_os = "linux"))]
pub(crate) mod fuzzing;
mod peers;
mod progress;
mod shared;
mod spot;
mod stream;
mod table;

use std::sync::Arc;

pub use buffer::Buffer;
pub use chain::{Chain, Prepared, Stride};
use devices::Devices;
use door::Door;
use shared::{TcaShared, Worker};
pub use spot::{DeviceId, Spot};
pub use stream::Stream;

use crate::error::{Result, TcaError};
use crate::job::Job;
use crate::symmetric::Symmetric;

/// Bytes of host memory that a PE has for [`Tca::malloc`] by default.
pub const HOST_BYTES_USUAL: usize = 16 << 20;
/// The largest alignment of memory.
pub const ALIGN_MAX: usize = 4096;

/// The names of the GPUs that the CUDA driver shows.
///
/// # Errors
/// Why there is no driver, or none that works.
#[cfg(target_os = "linux")]
pub fn gpus() -> std::result::Result<Vec<String>, String> {
    hostwire_device::cuda::names().map_err(|fault| fault.to_string())
}

/// The settings of [`Tca::new`].
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Bytes of host memory that each PE has for [`Tca::malloc`]: the same on all PEs. They lie in the
    /// symmetric heap.
    pub host_bytes: usize,
    /// The devices of this PE. `None`: what `HOSTWIRE_DEVICES` says.
    pub devices: Option<crate::settings::Devices>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            host_bytes: HOST_BYTES_USUAL,
            devices: None,
        }
    }
}

/// Memory of hosts and devices, and copies between them. See the [module text](self).
///
/// Drop it, and everything made from it, before the job is finalized. A PE that has dropped it takes no more
/// copies to its devices: call a barrier first.
pub struct Tca {
    shared: Arc<TcaShared>,
    /// Ends with this.
    _worker: Worker,
    /// The memory through which PEs meet.
    _area: Symmetric<u8>,
}

impl Tca {
    /// Makes one. Collective: all PEs of the job, with the same `host_bytes`.
    ///
    /// # Errors
    /// As [`Job::alloc`]; [`Error::Setting`](crate::Error::Setting); [`Error::Tca`](crate::Error::Tca) with
    /// what the driver of the devices says.
    pub fn new(job: &Job, config: Config) -> Result<Self> {
        let inner = &job.inner;
        let devices = Devices::new(inner, config.devices)?;
        let bytes = Door::bytes(inner, config.host_bytes);
        let area = job.alloc::<u8>(bytes)?;
        let door = Door::new(inner, area.offset_bytes, config.host_bytes);
        devices.go_through(door);
        let shared = TcaShared::new(inner, door, devices);
        Ok(Self {
            _worker: Worker::of(&shared),
            shared,
            _area: area,
        })
    }

    /// How many devices this PE has.
    pub fn devices(&self) -> u32 {
        self.shared.devices.count()
    }

    /// What a device is, for people. Starts it if it has not been used.
    ///
    /// # Errors
    /// [`Error::Tca`](crate::Error::Tca).
    pub fn device_name(&self, device: DeviceId) -> Result<String> {
        match device.number() {
            None => Ok("host memory".to_owned()),
            Some(number) => Ok(self.shared.devices.get(number)?.name()),
        }
    }

    /// Zeroed memory of the host or of a device, at a multiple of `align`. Not collective.
    ///
    /// # Errors
    /// [`Error::TooManySegments`](crate::Error::TooManySegments), [`Error::Tca`](crate::Error::Tca).
    pub fn malloc(&self, device: DeviceId, len: usize, align: usize) -> Result<Buffer> {
        if !align.is_power_of_two() || align > ALIGN_MAX {
            let max = ALIGN_MAX;
            return Err(TcaError::Alignment { align, max }.into());
        }
        Buffer::allocate(&self.shared, device, len, align)
    }

    /// A stream of copies. Streams have no order among each other.
    pub fn stream(&self) -> Stream {
        Stream::new(&self.shared)
    }

    /// Checks a chain, so that it can be started.
    ///
    /// # Errors
    /// [`Error::Tca`](crate::Error::Tca), [`Error::NoSuchPe`](crate::Error::NoSuchPe).
    pub fn prepare(&self, chain: &Chain) -> Result<Prepared> {
        Prepared::for_wire(&self.shared, chain)
    }

    /// Copies `len` bytes and returns when they are there, as `cudaMemcpyPeer` with a node does.
    ///
    /// # Errors
    /// As [`Stream::memcpy_peer`] and [`Stream::synchronize`].
    pub fn memcpy_peer(&self, to: Spot, from: Spot, len: usize) -> Result<()> {
        let stream = self.stream();
        stream.memcpy_peer(to, from, len)?;
        stream.synchronize()
    }
}
