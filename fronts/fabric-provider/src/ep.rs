//! Endpoints: a station each.

use core::ffi::{c_int, c_void};
use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hostwire::station::{
    Claim, Guard, MakesProgress, OwnerLock, ProgressThread, Station, is_in_virtual_time,
};
use hostwire::{Envelope, Error};
use hostwire_fabric_abi::{
    CmOps, CollectiveOps, EpOps, FI_CLASS_AV, FI_CLASS_CNTR, FI_CLASS_CQ, FI_CLASS_EP, FI_CLASS_EQ,
    FI_COMPLETION, FI_DIRECTED_RECV, FI_ENABLE, FI_GETOPSFLAG, FI_MSG, FI_OPT_ENDPOINT,
    FI_OPT_MIN_MULTI_RECV, FI_RECV, FI_SELECTIVE_COMPLETION, FI_SEND, FI_SETOPSFLAG, FI_TAGGED,
    Fid, FidDomain, FidEp, FidOps, RawInfo,
};

use crate::atomic::ATOMIC_OPS;
use crate::av::Addresses;
use crate::buffer::Spare;
use crate::calls::{MSG_OPS, TAGGED_OPS};
use crate::cntr::Counters;
use crate::cq::Queue;
use crate::domain_endpoints::DomainEndpoints;
use crate::info::can_be_opened_at;
use crate::object::{Code, Table, UNSUPPORTED, fid_ops_of, give, take};
use crate::rma::RMA_OPS;
use crate::wait::{Alarm, Waitable};
use crate::watch::Watcher;
use crate::{av, cntr, cq, domain, thread};

const FI_ENOCQ: c_int = 263;
const FI_ENOAV: c_int = 267;

/// See the [module text](self).
pub(crate) struct Endpoint {
    pub(crate) station: Station,
    /// The program says whose messages it wants.
    pub(crate) is_directed: bool,
    pub(crate) addresses: OnceLock<Arc<Addresses>>,
    pub(crate) tx: OnceLock<Bound>,
    pub(crate) rx: OnceLock<Bound>,
    pub(crate) counters: Counters,
    /// Flags that calls without flags have.
    pub(crate) tx_flags: AtomicU64,
    pub(crate) rx_flags: AtomicU64,
    /// Sends that have not ended.
    pub(crate) sending: AtomicUsize,
    /// A receive for several messages ends when less is left.
    pub(crate) min_multi_recv: Arc<AtomicUsize>,
    /// As in a queue: no atomic exchange on the way of a message.
    pub(crate) books: OwnerLock<Books>,
    /// It makes progress while nobody reads.
    is_automatic: bool,
    /// It is for more than memory of others.
    has_messages: bool,
    pub(crate) members: Arc<DomainEndpoints>,
    helpers: Mutex<Helpers>,
}

/// The threads of an endpoint, as far as it needs any.
#[derive(Default)]
struct Helpers {
    watcher: Option<Watcher>,
    progress: Option<ProgressThread>,
}

/// A queue for sends or receives.
pub(crate) struct Bound {
    pub(crate) queue: Arc<Queue>,
    /// Whether only operations that ask for it report their success.
    pub(crate) is_selective: bool,
}

pub(crate) struct Books {
    /// Messages that were claimed, by context.
    pub(crate) claims: HashMap<usize, (Claim, Envelope)>,
    /// By address: the number of its station here.
    pub(crate) numbers: Vec<Option<u32>>,
    /// By number: the address.
    pub(crate) sources: Vec<Option<u64>>,
    /// The version of the addresses that those two hold.
    pub(crate) version: u64,
    pub(crate) spare: Spare,
}

impl Endpoint {
    pub(crate) fn books(&self) -> Guard<'_, Books> {
        self.books.lock()
    }

    fn helpers(&self) -> MutexGuard<'_, Helpers> {
        self.helpers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next thing that comes from a peer raises that alarm. With automatic progress, the end of an operation raises
    /// it.
    pub(crate) fn watch(self: &Arc<Self>, alarm: &Arc<Alarm>) -> Result<(), Code> {
        if self.is_automatic {
            return Ok(());
        }
        let mut helpers = self.helpers();
        let watcher = match helpers.watcher.take() {
            Some(watcher) => watcher,
            None => Watcher::start(self)?,
        };
        helpers.watcher.insert(watcher).add(self, alarm);
        Ok(())
    }

    /// Puts what ends from now on into that queue, as far as the flags say so.
    fn bind_queue(self: &Arc<Self>, queue: &Arc<Queue>, flags: u64) -> Result<(), Code> {
        let places = [(FI_SEND, &self.tx), (FI_RECV, &self.rx)].into_iter();
        let places = places.filter(|(kind, _)| flags & kind != 0);
        let places: Vec<_> = places.map(|(_, place)| place).collect();
        let bound = || Bound {
            queue: Arc::clone(queue),
            is_selective: flags & FI_SELECTIVE_COMPLETION != 0,
        };
        queue.waits().endpoints.bind(self, &places, bound)
    }

    /// Whether it has all that it needs. Begins to make progress, if it does so by itself.
    fn enable(self: &Arc<Self>) -> Result<(), Code> {
        if self.addresses.get().is_none() {
            return Err(-FI_ENOAV);
        }
        for (bound, kind) in [(&self.tx, FI_SEND), (&self.rx, FI_RECV)] {
            if bound.get().is_some() {
                continue;
            }
            // It reports by a counter alone, or has nothing to report.
            if self.has_messages && self.counters.of(kind).is_none() {
                return Err(-FI_ENOCQ);
            }
            let _ = bound.set(Bound {
                queue: Arc::new(Queue::void()?),
                is_selective: true,
            });
        }
        let mut helpers = self.helpers();
        if self.is_automatic && helpers.progress.is_none() {
            let started = ProgressThread::start("hostwire-progress", self);
            helpers.progress = Some(started.map_err(thread::code)?);
        }
        Ok(())
    }

    /// Ends its threads.
    fn stop(&self) {
        let Helpers { watcher, progress } = core::mem::take(&mut *self.helpers());
        if let Some(watcher) = watcher {
            watcher.stop(self);
        }
        if let Some(progress) = progress {
            progress.stop(&self.station);
        }
    }
}

impl MakesProgress for Endpoint {
    fn station(&self) -> &Station {
        &self.station
    }

    fn turn(&self) -> bool {
        self.progress(None).unwrap_or(false)
    }
}

#[repr(C)]
struct Ep {
    fid: FidEp,
    endpoint: Arc<Endpoint>,
}

static FID_OPS: Table<FidOps> = Table(fid_ops_of(close, bind, control));

static OPS: Table<EpOps> = Table(EpOps {
    size: size_of::<EpOps>(),
    cancel: Some(cancel),
    getopt: Some(getopt),
    setopt: Some(setopt),
    tx_ctx: UNSUPPORTED,
    rx_ctx: UNSUPPORTED,
    rx_size_left: UNSUPPORTED,
    tx_size_left: UNSUPPORTED,
});

static CM_OPS: Table<CmOps> = Table(CmOps {
    size: size_of::<CmOps>(),
    setname: UNSUPPORTED,
    getname: Some(getname),
    getpeer: UNSUPPORTED,
    connect: UNSUPPORTED,
    listen: UNSUPPORTED,
    accept: UNSUPPORTED,
    reject: UNSUPPORTED,
    shutdown: UNSUPPORTED,
    join: UNSUPPORTED,
});

static COLLECTIVE_OPS: Table<CollectiveOps> = Table(CollectiveOps {
    size: size_of::<CollectiveOps>(),
    all: [UNSUPPORTED; 12],
});

/// `fi_endpoint(3)`.
pub(crate) unsafe extern "C" fn open(
    domain: *mut FidDomain,
    info: *mut RawInfo,
    out: *mut *mut FidEp,
    context: *mut c_void,
) -> c_int {
    let mut flags = (0, 0);
    let mut caps = 0;
    // SAFETY: by the contract null, or one that `fi_getinfo` gave.
    if let Some(info) = unsafe { info.as_ref() } {
        if !can_be_opened_at(info) {
            return -libc::EADDRNOTAVAIL;
        }
        caps = info.caps;
        // SAFETY: by the contract null, or such structures.
        let (tx, rx) = unsafe { (info.tx_attr.as_ref(), info.rx_attr.as_ref()) };
        flags = (
            tx.map_or(0, |tx| tx.op_flags),
            rx.map_or(0, |rx| rx.op_flags),
        );
    }
    // SAFETY: by the contract it is a domain of this library.
    let domain = unsafe { domain::of(domain.cast()) };
    let station = match Station::with(Arc::clone(&domain.regions)) {
        Ok(station) => station,
        Err(error) => {
            if matches!(&error, Error::Setting(_)) || is_in_virtual_time() {
                // An error number does not say which variable is wrong, or that an endpoint is the second of its
                // process. It is no error if nobody reads the line.
                let _ = writeln!(std::io::stderr(), "hostwire: {error}");
            }
            return crate::code(&error);
        }
    };
    let endpoint = Arc::new(Endpoint {
        station,
        is_directed: caps & FI_DIRECTED_RECV != 0,
        addresses: OnceLock::new(),
        tx: OnceLock::new(),
        rx: OnceLock::new(),
        counters: Counters::default(),
        is_automatic: domain.is_automatic,
        has_messages: caps == 0 || caps & (FI_MSG | FI_TAGGED) != 0,
        members: Arc::clone(&domain.members),
        helpers: Mutex::default(),
        tx_flags: AtomicU64::new(flags.0),
        rx_flags: AtomicU64::new(flags.1),
        sending: AtomicUsize::new(0),
        min_multi_recv: Arc::new(AtomicUsize::new(64)),
        books: OwnerLock::new(Books {
            claims: HashMap::new(),
            numbers: Vec::new(),
            sources: Vec::new(),
            version: 0,
            spare: Spare::default(),
        }),
    });
    domain.members.enter(&endpoint);
    let fid = Fid {
        class: FI_CLASS_EP,
        context,
        ops: &raw const FID_OPS.0,
    };
    let ep = Ep {
        fid: FidEp {
            fid,
            ops: &raw const OPS.0,
            cm: &raw const CM_OPS.0,
            msg: &raw const MSG_OPS.0,
            rma: &raw const RMA_OPS.0,
            tagged: &raw const TAGGED_OPS.0,
            atomic: &raw const ATOMIC_OPS.0,
            collective: &raw const COLLECTIVE_OPS.0,
        },
        endpoint,
    };
    // SAFETY: by the contract `out` can be written to; an `Ep` begins with a `FidEp`.
    unsafe { give(out, ep) }
}

/// # Safety
/// `ep` is an endpoint of this library that is open.
pub(crate) unsafe fn of<'a>(ep: *mut FidEp) -> &'a Arc<Endpoint> {
    // SAFETY: as this function demands.
    let ep = unsafe { &*ep.cast::<Ep>() };
    debug_assert_eq!(ep.fid.fid.class, FI_CLASS_EP);
    &ep.endpoint
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: by the contract it is one of `open`, and closed once.
    let ep = unsafe { take::<Ep>(fid) };
    ep.endpoint.finish();
    // First, so that no thread that waits for a queue starts a watcher again.
    ep.endpoint.leave();
    ep.endpoint.stop();
    // A thread that reads a queue may still bring messages into memory of the program. In a copy of
    // the process there is no such thread.
    while ep.endpoint.is_here() && Arc::strong_count(&ep.endpoint) > 1 {
        std::thread::yield_now();
    }
    0
}

unsafe extern "C" fn bind(fid: *mut Fid, other: *mut Fid, flags: u64) -> c_int {
    // SAFETY: by the contract it is an endpoint.
    let endpoint = unsafe { of(fid.cast()) };
    // SAFETY: by the contract it is another object of this library.
    match unsafe { (*other).class } {
        FI_CLASS_AV => {
            // SAFETY: its class says so.
            let addresses = unsafe { av::addresses(other) };
            match endpoint.addresses.set(addresses) {
                Ok(()) => 0,
                Err(_) => -libc::EINVAL,
            }
        }
        FI_CLASS_CQ => {
            // SAFETY: its class says so.
            let queue = unsafe { cq::queue(other) };
            let bound = endpoint.bind_queue(&queue, flags);
            bound.map_or_else(|code| code, |()| 0)
        }
        FI_CLASS_CNTR => {
            // SAFETY: its class says so.
            let counter = unsafe { cntr::counter(other) };
            let bound = endpoint.counters.bind(&counter, endpoint, flags);
            bound.map_or_else(|code| code, |()| 0)
        }
        FI_CLASS_EQ => 0,
        _ => -libc::ENOSYS,
    }
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: by the contract it is an endpoint.
    let endpoint = unsafe { of(fid.cast()) };
    match command {
        FI_ENABLE => endpoint.enable().map_or_else(|code| code, |()| 0),
        FI_GETOPSFLAG | FI_SETOPSFLAG => {
            let Some(flags) = core::ptr::NonNull::new(argument.cast::<u64>()) else {
                return -libc::EINVAL;
            };
            // SAFETY: by the contract of these commands a number is there, to be read or written.
            let asked = unsafe { flags.read() };
            let known = match asked & (FI_SEND | FI_RECV) {
                FI_SEND => &endpoint.tx_flags,
                FI_RECV => &endpoint.rx_flags,
                _ => return -libc::EINVAL,
            };
            match command {
                FI_SETOPSFLAG => known.store(asked & !(FI_SEND | FI_RECV), Relaxed),
                // SAFETY: as above.
                _ => unsafe { flags.write(known.load(Relaxed)) },
            }
            0
        }
        _ => -libc::ENOSYS,
    }
}

unsafe extern "C" fn getname(fid: *mut Fid, out: *mut c_void, len: *mut usize) -> c_int {
    // SAFETY: by the contract it is an endpoint.
    let endpoint = unsafe { of(fid.cast()) };
    let name = endpoint.station.name().to_bytes();
    // SAFETY: by the contract `len` can be read and written.
    let room = unsafe { len.read() };
    // SAFETY: as above.
    unsafe { len.write(name.len()) };
    if room < name.len() || out.is_null() {
        return -hostwire_fabric_abi::FI_ETOOSMALL;
    }
    // SAFETY: by the contract that many bytes at `out` can be written.
    unsafe { core::ptr::copy_nonoverlapping(name.as_ptr(), out.cast(), name.len()) };
    0
}

unsafe extern "C" fn cancel(fid: *mut Fid, context: *mut c_void) -> isize {
    // SAFETY: by the contract it is an endpoint.
    let endpoint = unsafe { of(fid.cast()) };
    let ticket = endpoint.station.receive_marked(context as usize);
    match ticket.map(|ticket| endpoint.station.cancel(ticket)) {
        Some(Err(error)) => crate::code(&error) as isize,
        // Its queue reports its end.
        Some(Ok(_)) => 0,
        None => -(libc::ENOENT as isize),
    }
}

unsafe extern "C" fn getopt(
    fid: *mut Fid,
    level: c_int,
    name: c_int,
    out: *mut c_void,
    len: *mut usize,
) -> c_int {
    // SAFETY: by the contract it is an endpoint.
    let endpoint = unsafe { of(fid.cast()) };
    if level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV {
        return -libc::ENOPROTOOPT;
    }
    // SAFETY: by the contract `len` can be read.
    if unsafe { len.read() } < size_of::<usize>() {
        return -hostwire_fabric_abi::FI_ETOOSMALL;
    }
    let min = endpoint.min_multi_recv.load(Relaxed);
    // SAFETY: by the contract `len` can be written, and that many bytes at `out`.
    unsafe {
        out.cast::<usize>().write_unaligned(min);
        len.write(size_of::<usize>());
    }
    0
}

unsafe extern "C" fn setopt(
    fid: *mut Fid,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: usize,
) -> c_int {
    // SAFETY: by the contract it is an endpoint.
    let endpoint = unsafe { of(fid.cast()) };
    if level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV {
        return -libc::ENOPROTOOPT;
    }
    if len != size_of::<usize>() {
        return -libc::EINVAL;
    }
    // SAFETY: by the contract that many bytes are there.
    let min = unsafe { value.cast::<usize>().read_unaligned() };
    endpoint.min_multi_recv.store(min, Relaxed);
    0
}

/// Whether the success of an operation with these flags is reported.
pub(crate) fn tells(bound: &Bound, flags: u64) -> bool {
    !bound.is_selective || flags & FI_COMPLETION != 0
}
