//! How a program waits for a queue or a counter.
//!
//! An object has an [`Alarm`] if anybody sleeps on a descriptor for it: an eventfd that becomes readable. Nothing rings
//! it without a request. So a waiting thread arms the alarm and the doorbells of the stations from which something may
//! come, and [looks](is_idle) once more: the look finds what came before it, and what comes later rings.
//!
//! | what happens | what rings the alarm |
//! |---|---|
//! | a completion, in whatever thread | that thread: [`Waits::tell`] |
//! | a store of a peer, while nobody reads | a thread of the endpoint that sleeps on the doorbell: see [`watch`](crate::watch) |
//! | the same with automatic progress | the thread that makes progress, if something has ended |
//!
//! A call that blocks in this library needs no descriptor if only one endpoint can bring anything: it sleeps on the
//! doorbell of that endpoint.

use core::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use hostwire::station::is_in_virtual_time;
use hostwire_fabric_abi::{
    FI_GETWAIT, FI_GETWAITOBJ, FI_WAIT_FD, FI_WAIT_NONE, FI_WAIT_SET, FI_WAIT_UNSPEC, FI_WAIT_YIELD,
};

use crate::endpoints::Endpoints;
use crate::ep::Endpoint;
use crate::object::Code;

/// The longest sleep without a look: endpoints may be bound meanwhile.
const TURN: Duration = Duration::from_millis(100);

/// A descriptor that becomes readable.
pub(crate) struct Alarm {
    event: OwnedFd,
    is_armed: AtomicBool,
}

impl Alarm {
    pub(crate) fn new() -> Result<Arc<Self>, Code> {
        // SAFETY: no memory is passed.
        let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if event < 0 {
            let error = std::io::Error::last_os_error();
            return Err(-error.raw_os_error().unwrap_or(libc::EMFILE));
        }
        Ok(Arc::new(Self {
            // SAFETY: it is a new descriptor of nobody else.
            event: unsafe { OwnedFd::from_raw_fd(event) },
            is_armed: AtomicBool::new(false),
        }))
    }

    /// From now on a change of the object rings.
    fn arm(&self) {
        let mut count = 0_u64;
        // SAFETY: 8 bytes are there. It fails where nothing has rung.
        unsafe { libc::read(self.event.as_raw_fd(), (&raw mut count).cast(), 8) };
        self.is_armed.store(true, Ordering::SeqCst);
    }

    /// Something has happened.
    pub(crate) fn raise(&self) {
        if self.is_armed.load(Ordering::SeqCst) && self.is_armed.swap(false, Ordering::SeqCst) {
            self.ring();
        }
    }

    fn ring(&self) {
        let one = 1_u64;
        // SAFETY: 8 bytes are there. A counter that is full is readable, too.
        unsafe { libc::write(self.event.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// Sleeps until it rings, or for that long.
    fn sleep(&self, limit: Duration) {
        let mut fd = libc::pollfd {
            fd: self.event.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let ms = limit.as_micros().div_ceil(1000);
        let ms = c_int::try_from(ms).unwrap_or(c_int::MAX);
        // SAFETY: one such structure is there. Whatever ends it, the caller looks.
        unsafe { libc::poll(&raw mut fd, 1, ms) };
    }
}

/// How an object is waited for.
pub(crate) struct Waits {
    kind: c_int,
    alarm: OnceLock<Arc<Alarm>>,
    /// The endpoints that bring what it reports.
    pub(crate) endpoints: Endpoints,
    /// Threads that sleep on the doorbell of an endpoint.
    sleepers: AtomicUsize,
}

impl Waits {
    /// Waits of an object whose attributes ask for this kind; `shared` is the alarm of its wait set.
    pub(crate) fn new(kind: c_int, shared: Option<Arc<Alarm>>) -> Result<Self, Code> {
        let alarm = OnceLock::new();
        let own = match (kind, shared) {
            // In virtual time, the ringing thread would run at moments that the machine chooses.
            (FI_WAIT_FD | FI_WAIT_SET, _) if is_in_virtual_time() => return Err(-libc::ENOSYS),
            (FI_WAIT_SET, Some(shared)) => Some(shared),
            (FI_WAIT_SET, None) => return Err(-libc::EINVAL),
            (FI_WAIT_FD, _) => Some(Alarm::new()?),
            (FI_WAIT_NONE | FI_WAIT_UNSPEC | FI_WAIT_YIELD, _) => None,
            _ => return Err(-libc::ENOSYS),
        };
        if let Some(own) = own {
            let _ = alarm.set(own);
        }
        Ok(Self {
            kind,
            alarm,
            endpoints: Endpoints::default(),
            sleepers: AtomicUsize::new(0),
        })
    }

    fn alarm(&self) -> Result<&Arc<Alarm>, Code> {
        if let Some(alarm) = self.alarm.get() {
            return Ok(alarm);
        }
        let alarm = Alarm::new()?;
        Ok(self.alarm.get_or_init(|| alarm))
    }

    /// Wakes threads that sleep on its descriptor: the object has changed.
    #[inline(always)]
    pub(crate) fn ring(&self) {
        if let Some(alarm) = self.alarm.get() {
            alarm.raise();
        }
    }

    /// Wakes threads that wait: the object has changed, by `endpoint` or by a call of the program.
    #[inline(always)]
    pub(crate) fn tell(&self, endpoint: Option<&Endpoint>) {
        self.ring();
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.tell_sleepers(endpoint);
        }
    }

    #[cold]
    fn tell_sleepers(&self, endpoint: Option<&Endpoint>) {
        match endpoint {
            Some(endpoint) => endpoint.station.wake(),
            None => {
                let wake = |endpoint: &Arc<Endpoint>| {
                    endpoint.station.wake();
                    Ok::<(), ()>(())
                };
                let _ = self.endpoints.each(wake);
            }
        }
    }

    /// Waits until `is_ready`: `true`; or until the deadline.
    pub(crate) fn wait(
        &self,
        is_ready: &dyn Fn() -> bool,
        deadline: Option<Instant>,
    ) -> Result<bool, Code> {
        loop {
            if is_ready() {
                return Ok(true);
            }
            let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            let turn = left.map_or(TURN, |left| left.min(TURN));
            if let Some(endpoint) = self.endpoints.only() {
                self.sleepers.fetch_add(1, Ordering::SeqCst);
                let waited = endpoint.progress_unless(turn, is_ready);
                self.sleepers.fetch_sub(1, Ordering::SeqCst);
                waited.map_err(|error| crate::code(&error))?;
            } else {
                let alarm = self.alarm()?;
                if is_idle(self, is_ready, alarm)? {
                    alarm.sleep(turn);
                }
            }
        }
    }

    /// Whether it is safe to sleep on the descriptor: see [`fi_trywait`](crate::fabric).
    pub(crate) fn try_wait(&self, is_ready: &dyn Fn() -> bool) -> Result<bool, Code> {
        is_idle(self, is_ready, self.alarm()?)
    }

    /// `fi_control(3)` of such an object.
    ///
    /// # Safety
    /// As the command says of its argument.
    pub(crate) unsafe fn control(&self, command: c_int, argument: *mut c_void) -> c_int {
        if argument.is_null() {
            return -libc::EINVAL;
        }
        match command {
            FI_GETWAIT if self.kind == FI_WAIT_FD => match self.alarm() {
                // SAFETY: by the contract a number can be written there.
                Ok(alarm) => unsafe { give_descriptor(alarm, argument) },
                Err(code) => code,
            },
            FI_GETWAITOBJ => {
                // SAFETY: by the contract a number can be written there.
                unsafe { argument.cast::<c_int>().write(self.kind) };
                0
            }
            _ => -libc::ENOSYS,
        }
    }
}

/// # Safety
/// A number can be written there.
pub(crate) unsafe fn give_descriptor(alarm: &Alarm, out: *mut c_void) -> c_int {
    // SAFETY: as this function demands.
    unsafe { out.cast::<c_int>().write(alarm.event.as_raw_fd()) };
    0
}

/// A queue or a counter, for threads that wait for several.
pub(crate) trait Waitable: Send + Sync {
    fn waits(&self) -> &Waits;

    /// There is something that the program has not seen.
    fn is_ready(&self) -> bool;

    /// As [`is_ready`](Self::is_ready), for a poll set: it need not report the same thing twice.
    fn is_new(&self) -> bool {
        self.is_ready()
    }
}

/// Arms the alarm, and looks once more. `true`: what comes from now on rings it.
fn is_idle(waits: &Waits, is_ready: &dyn Fn() -> bool, alarm: &Arc<Alarm>) -> Result<bool, Code> {
    alarm.arm();
    look_again(waits, is_ready, alarm)
}

fn look_again(
    waits: &Waits,
    is_ready: &dyn Fn() -> bool,
    alarm: &Arc<Alarm>,
) -> Result<bool, Code> {
    waits.endpoints.each(|endpoint| endpoint.watch(alarm))?;
    // Something else here may have waited for what has ended.
    while !is_ready() {
        let went_on = waits.endpoints.progress(None);
        if !went_on.map_err(|error| crate::code(&error))? {
            break;
        }
    }
    if is_ready() {
        // Somebody else may sleep on it already.
        alarm.ring();
        return Ok(false);
    }
    Ok(true)
}

/// As [`Waits::try_wait`], for all members of a set that share an alarm.
pub(crate) fn are_idle(members: &[Arc<dyn Waitable>], alarm: &Arc<Alarm>) -> Result<bool, Code> {
    alarm.arm();
    for member in members {
        if !look_again(member.waits(), &|| member.is_ready(), alarm)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sleeps until the alarm of a set rings, or until the deadline.
pub(crate) fn sleep(alarm: &Alarm, deadline: Option<Instant>) {
    let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
    alarm.sleep(left.map_or(TURN, |left| left.min(TURN)));
}

/// When a call with this timeout of libfabric ends; never if that is negative.
pub(crate) fn deadline(timeout_ms: c_int) -> Option<Instant> {
    let limit = u64::try_from(timeout_ms).ok().map(Duration::from_millis)?;
    Instant::now().checked_add(limit)
}
