//! The doorbell of an ivshmem device (`ivshmem-doorbell` of QEMU): a posted store to a register wakes a PE on
//! another machine, and an interrupt wakes this one.
//!
//! | register of BAR 0 | offset | what |
//! |---|---|---|
//! | IntrMask, IntrStatus | 0, 4 | for devices without MSI-X; not used |
//! | IVPosition | 8 | the number of this machine, from 0 on; read only |
//! | Doorbell | 12 | the number of a machine times 65536, plus the number of its vector: rings it |
//!
//! # Source
//! QEMU, docs/specs/ivshmem-spec: "Device-specific registers".

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use hostwire_transport::error::{RegionFault, TransportError};
use hostwire_transport::shm::{Bells, Sleepers};
use hostwire_transport::window::Ring;
use hostwire_transport::worker;

use super::Result;
use super::vfio::Device;

const IV_POSITION_OFFSET_BYTES: usize = 8;
const DOORBELL_OFFSET_BYTES: usize = 12;
/// All PEs use the first one.
const VECTOR: u32 = 0;
/// A device that has not heard from its server has -1.
const POSITION_MAX: u32 = 0xffff;

/// What is stored to the doorbell register.
const fn call_of(position: u32) -> u32 {
    position << 16 | VECTOR
}

/// The device of this machine, for one PE.
#[derive(Debug)]
pub(super) struct OwnBell {
    device: Arc<Device>,
    position: u32,
}

impl OwnBell {
    /// Opens the device to which the memory at `path` belongs.
    ///
    /// # Errors
    /// [`RegionFault::Bell`], and errors of the system.
    pub(super) fn open(path: &Path, fault: impl Fn(RegionFault) -> TransportError) -> Result<Self> {
        let device = Device::open(path, &fault)?;
        let position = device.load(IV_POSITION_OFFSET_BYTES);
        match position {
            0..=POSITION_MAX => Ok(Self {
                device: Arc::new(device),
                position,
            }),
            _ => Err(fault(RegionFault::Bell {
                why: "it has no number among the machines: no server of ivshmem has given it one",
            })),
        }
    }

    /// The number under which other PEs ring it: never 0.
    pub(super) fn number(&self) -> u32 {
        self.position + 1
    }

    /// The bells of a job, whose PEs have these numbers, this one being `pe`.
    pub(super) fn start(&self, pe: u32, numbers: &[u32]) -> Result<(Bells, Option<Listener>)> {
        let sleepers = Arc::new(Sleepers::default());
        let ring = |(at, number): (u32, &u32)| -> Arc<dyn Ring> {
            match at == pe {
                true => Arc::clone(&sleepers) as Arc<dyn Ring>,
                false => Arc::new(Peer {
                    device: Arc::clone(&self.device),
                    call: call_of(number.saturating_sub(1) & POSITION_MAX),
                }),
            }
        };
        let rings = (0..).zip(numbers).map(ring).collect();
        let listener = Listener::start(&self.device, Arc::clone(&sleepers))?;
        Ok((Bells { rings, sleepers }, Some(listener)))
    }
}

/// The bell of a PE on another machine.
#[derive(Debug)]
struct Peer {
    device: Arc<Device>,
    call: u32,
}

impl Ring for Peer {
    fn ring(&self) {
        self.device.store(DOORBELL_OFFSET_BYTES, self.call);
    }
}

/// The thread that sleeps until the interrupt comes. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Listener {
    device: Arc<Device>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    fn start(device: &Arc<Device>, sleepers: Arc<Sleepers>) -> Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (its_device, its_end) = (Arc::clone(device), Arc::clone(&is_over));
        let listen = move || {
            let mut count = [0; 8];
            while !its_end.load(Ordering::SeqCst) {
                match (&its_device.interrupts).read(&mut count) {
                    Ok(_) => sleepers.wake(),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    // Sleeps also end by themselves.
                    Err(_) => return,
                }
            }
        };
        let thread = worker::start("hostwire-bell", 128 << 10, listen);
        let thread = thread.map_err(|e| TransportError::environment("starting a thread", e))?;
        Ok(Self {
            device: Arc::clone(device),
            is_over,
            thread: Some(thread),
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let woken = (&self.device.interrupts).write(&1u64.to_ne_bytes());
        if let (Some(thread), Ok(_)) = (self.thread.take(), woken) {
            // It does not panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_the_machine_in_its_upper_half_and_the_vector_in_its_lower_half() {
        assert_eq!(call_of(0).to_le_bytes(), [0, 0, 0, 0]);
        assert_eq!(call_of(1).to_le_bytes(), [0, 0, 1, 0]);
        assert_eq!(call_of(0x0203).to_le_bytes(), [0, 0, 3, 2]);
    }

    #[test]
    fn a_peer_is_called_by_one_store_to_its_register_and_an_interrupt_wakes_who_sleeps() {
        let device = Arc::new(Device::of_memory());
        device.store(IV_POSITION_OFFSET_BYTES, 7);
        let own = OwnBell {
            position: device.load(IV_POSITION_OFFSET_BYTES),
            device: Arc::clone(&device),
        };
        assert_eq!(own.number(), 8);
        let (bells, listener) = own.start(0, &[8, 4]).unwrap();
        bells.rings[1].ring();
        let registers = [0, 4, 8, 12].map(|at| device.load(at));
        assert_eq!(registers, [0, 0, 7, 3 << 16]);

        let word = hostwire_transport::sync::AtomicU32::new(0);
        let doorbell = hostwire_transport::wait::Doorbell::new(&word);
        doorbell.arm_for_calls();
        std::thread::scope(|scope| {
            let sleeps = scope.spawn(|| {
                let limit = std::time::Duration::from_secs(60);
                bells.sleepers.sleep(doorbell, limit)
            });
            // The call of another machine, and its interrupt.
            assert!(doorbell.call() && !doorbell.call());
            (&device.interrupts).write_all(&1u64.to_ne_bytes()).unwrap();
            assert!(sleeps.join().unwrap());
        });
        drop(listener);
    }
}
