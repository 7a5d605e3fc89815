//! The job of the process.

use core::ffi::c_int;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire::Job;
use hostwire::tca::{Buffer, DeviceId, Spot, Stream, Tca};

use crate::status::Failure;

/// The state between `tcaInit` and `tcaFinalize`. Parts are dropped in this order.
pub struct Session {
    /// By device and address of the first byte.
    buffers: Mutex<BTreeMap<(DeviceId, u64), Arc<Buffer>>>,
    /// The stream without a name.
    pub stream: Stream,
    pub tca: Tca,
    pub job: Job,
}

static STATE: Mutex<Option<Arc<Session>>> = Mutex::new(None);

fn slot() -> MutexGuard<'static, Option<Arc<Session>>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The job.
///
/// # Errors
/// Before `tcaInit`, and after `tcaFinalize`.
pub fn state() -> Result<Arc<Session>, Failure> {
    let state = slot().clone();
    state.ok_or_else(|| Failure::caller("expected a job: call tcaInit first"))
}

/// Makes the job of the process.
///
/// # Errors
/// If there is one.
pub fn begin(make: impl FnOnce() -> Result<Session, Failure>) -> Result<(), Failure> {
    let mut slot = slot();
    if slot.is_some() {
        return Err(Failure::caller(
            "expected one call of tcaInit, got a second one",
        ));
    }
    *slot = Some(Arc::new(make()?));
    Ok(())
}

/// Removes the job, to end it.
///
/// # Errors
/// If something uses it.
pub fn end() -> Result<Session, Failure> {
    let mut slot = slot();
    let state = slot.take();
    let state = state.ok_or_else(|| Failure::caller("expected a job: call tcaInit first"))?;
    Arc::try_unwrap(state).map_err(|state| {
        *slot = Some(state);
        Failure::caller(
            "expected no streams and no chains, and no other thread in a call, got some",
        )
    })
}

/// The device that C calls `number`.
pub fn device(number: c_int) -> Result<DeviceId, Failure> {
    match u32::try_from(number) {
        Ok(number) => Ok(DeviceId::new(number)),
        Err(_) if number == -1 => Ok(DeviceId::HOST),
        Err(_) => Err(Failure::caller(format!(
            "device {number}: expected TCA_HOST, or 0 and more"
        ))),
    }
}

/// The spot that C names.
pub fn spot(node: c_int, number: c_int, address: u64) -> Result<Spot, Failure> {
    let node = u32::try_from(node)
        .map_err(|_| Failure::caller(format!("node {node}: expected 0 and more")))?;
    Ok(Spot::new(node, device(number)?, address))
}

impl Session {
    pub fn new(job: Job, tca: Tca) -> Self {
        let stream = tca.stream();
        Self {
            buffers: Mutex::default(),
            stream,
            tca,
            job,
        }
    }

    /// Ends everything that depends on the job.
    pub fn into_job(self) -> Job {
        let Self {
            buffers,
            stream,
            tca,
            job,
        } = self;
        drop((buffers, stream, tca));
        job
    }

    fn buffers(&self) -> MutexGuard<'_, BTreeMap<(DeviceId, u64), Arc<Buffer>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn keep(&self, buffer: Buffer) -> u64 {
        let spot = buffer.spot();
        self.buffers()
            .insert((spot.device(), spot.address()), Arc::new(buffer));
        spot.address()
    }

    /// Takes the buffer that begins there.
    pub fn take(&self, device: DeviceId, address: u64) -> Result<(), Failure> {
        let taken = self.buffers().remove(&(device, address));
        taken.map(drop).ok_or_else(|| missing(device, address))
    }

    /// The buffer that an address is in, and where.
    pub fn find(&self, device: DeviceId, address: u64) -> Result<(Arc<Buffer>, usize), Failure> {
        let buffers = self.buffers();
        let before = buffers.range(..=(device, address)).next_back();
        let found = before.filter(|((of, start), buffer)| {
            *of == device && address - start <= buffer.len() as u64
        });
        let ((_, start), buffer) = found.ok_or_else(|| missing(device, address))?;
        Ok((Arc::clone(buffer), (address - start) as usize))
    }
}

fn missing(device: DeviceId, address: u64) -> Failure {
    Failure::caller(format!(
        "{device}+{address:#x} is not in memory that tcaMalloc has given"
    ))
}
