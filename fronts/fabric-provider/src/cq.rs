//! Completion queues.

use core::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hostwire::station::{Guard, OwnerLock};
use hostwire_fabric_abi::{
    CONTEXT_BYTES, CqAttr, CqDataEntry, CqErrEntry, CqOps, CqTaggedEntry, FI_ADDR_UNSPEC,
    FI_CLASS_CQ, FI_CQ_FORMAT_CONTEXT, FI_CQ_FORMAT_DATA, FI_CQ_FORMAT_MSG, FI_CQ_FORMAT_TAGGED,
    FI_CQ_FORMAT_UNSPEC, FI_EAVAIL, FI_WAIT_NONE, Fid, FidCq, FidDomain, FidOps,
};

use crate::completions::Completions;
use crate::ep::Endpoint;
use crate::object::{Code, Table, fid_ops_of, give, no_bind, take};
use crate::wait::{self, Waitable, Waits};
use crate::waitset;

/// Bytes of the longest format, and of the others.
const ENTRY_BYTES_MAX: usize = size_of::<CqTaggedEntry>();
const DATA_BYTES: usize = size_of::<CqDataEntry>();
const MSG_BYTES: usize = size_of::<*mut c_void>() + 16;
const CONTEXT_ENTRY_BYTES: usize = size_of::<*mut c_void>();
const _: () = assert!(CONTEXT_BYTES >= ENTRY_BYTES_MAX);

/// Entries of a queue that says no number, and the fewest of any.
const ENTRIES_MIN: usize = 4096;
const AGAIN: isize = -(libc::EAGAIN as isize);

/// The end of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) entry: CqTaggedEntry,
    /// Who sent it, by address.
    pub(crate) from: u64,
    /// Bytes that did not fit.
    pub(crate) rest: usize,
    /// The number of an error, or 0.
    pub(crate) error: c_int,
}

// SAFETY: its pointers are never followed here, only given back to the program.
unsafe impl Send for Entry {}

impl Entry {
    pub(crate) const NOTHING: Self = Self {
        entry: CqTaggedEntry {
            op_context: core::ptr::null_mut(),
            flags: 0,
            len: 0,
            buf: core::ptr::null_mut(),
            data: 0,
            tag: 0,
        },
        from: FI_ADDR_UNSPEC,
        rest: 0,
        error: 0,
    };

    #[inline(always)]
    pub(crate) fn new(context: *mut c_void, flags: u64) -> Self {
        let mut entry = Self::NOTHING;
        entry.entry.op_context = context;
        entry.entry.flags = flags;
        entry
    }

    /// Writes so many of its first bytes: entries of all formats are beginnings of the longest.
    ///
    /// # Safety
    /// There is room for them at `to`, and `bytes` is the length of a format.
    #[inline(always)]
    unsafe fn copy_to(&self, to: *mut c_void, bytes: usize) {
        let entry = (&raw const self.entry).cast::<u8>();
        // Copies of fixed lengths, which are no calls.
        // SAFETY: as this function demands; no format is longer than the entry.
        unsafe {
            match bytes {
                ENTRY_BYTES_MAX => entry.copy_to_nonoverlapping(to.cast(), ENTRY_BYTES_MAX),
                DATA_BYTES => entry.copy_to_nonoverlapping(to.cast(), DATA_BYTES),
                MSG_BYTES => entry.copy_to_nonoverlapping(to.cast(), MSG_BYTES),
                _ => entry.copy_to_nonoverlapping(to.cast(), CONTEXT_ENTRY_BYTES),
            }
        }
    }
}

/// A call that reads a queue in which nothing is, and makes progress for it: the first completion goes straight to the program.
pub(crate) struct Reader<'a> {
    queue: &'a Queue,
    /// Where the program has room for one entry of the queue's format.
    out: *mut c_void,
    /// And for an address, unless it is null.
    from: *mut u64,
    has_one: bool,
}

impl Reader<'_> {
    /// Whether it takes the next completion of that queue.
    #[inline(always)]
    pub(crate) fn takes(&self, queue: &Queue) -> bool {
        !self.has_one && core::ptr::eq(self.queue, queue)
    }

    /// Whether it asks who has sent a message.
    #[inline(always)]
    pub(crate) fn asks_from(&self) -> bool {
        !self.from.is_null()
    }

    /// Gives one to the program: it is no error, and the reader [takes](Self::takes) it.
    #[inline(always)]
    pub(crate) fn give(&mut self, entry: &Entry) {
        self.has_one = true;
        // SAFETY: `look_and_take` has made the reader, whose caller has room for one entry.
        unsafe { entry.copy_to(self.out, self.queue.entry_bytes) };
        if self.asks_from() {
            // SAFETY: as above, for an address.
            unsafe { self.from.write(entry.from) };
        }
    }
}

/// The part of a queue into which endpoints put their completions.
pub(crate) struct Queue {
    /// An atomic exchange here would wait for the lines that a send has just stored to another core.
    entries: OwnerLock<Completions>,
    /// How many there are, for a look without the lock. Written under it.
    count: AtomicUsize,
    waits: Waits,
    /// The program has asked a waiting thread to stop.
    is_signalled: AtomicBool,
    size: usize,
    /// Bytes of an entry of its format.
    entry_bytes: usize,
    /// Nobody reads it: an endpoint has a counter in its place.
    is_void: bool,
}

impl Queue {
    fn new(waits: Waits, size: usize, format: c_int) -> Self {
        Self {
            entries: OwnerLock::new(Completions::default()),
            count: AtomicUsize::new(0),
            waits,
            is_signalled: AtomicBool::new(false),
            size: size.max(ENTRIES_MIN),
            entry_bytes: match format {
                FI_CQ_FORMAT_CONTEXT => CONTEXT_ENTRY_BYTES,
                FI_CQ_FORMAT_MSG => MSG_BYTES,
                FI_CQ_FORMAT_DATA => DATA_BYTES,
                _ => ENTRY_BYTES_MAX,
            },
            is_void: false,
        }
    }

    /// One in which nothing stays.
    pub(crate) fn void() -> Result<Self, Code> {
        let waits = Waits::new(FI_WAIT_NONE, None)?;
        let mut queue = Self::new(waits, 0, FI_CQ_FORMAT_CONTEXT);
        queue.is_void = true;
        Ok(queue)
    }

    #[inline(always)]
    fn entries(&self) -> Guard<'_, Completions> {
        self.entries.lock()
    }

    /// Reports the end of an operation.
    #[inline(always)]
    pub(crate) fn push(&self, endpoint: &Endpoint, entry: Entry) {
        match self.entries.try_lock_owned() {
            Some(entries) => self.push_locked(entries, endpoint, entry),
            // A copy, so that the other way keeps it in registers.
            None => self.push_shared(endpoint, &{ entry }),
        }
    }

    #[cold]
    #[inline(never)]
    fn push_shared(&self, endpoint: &Endpoint, entry: &Entry) {
        self.push_locked(self.entries(), endpoint, *entry);
    }

    #[inline(always)]
    fn push_locked(
        &self,
        mut entries: Guard<'_, Completions>,
        endpoint: &Endpoint,
        Entry {
            entry,
            from,
            rest,
            error,
        }: Entry,
    ) {
        if self.is_void {
            return;
        }
        // Field by field: see the text of `completions`.
        let end = entries.push();
        (end.from, end.rest, end.error) = (from, rest, error);
        let end = &mut end.entry;
        (end.op_context, end.flags) = (entry.op_context, entry.flags);
        (end.len, end.buf) = (entry.len, entry.buf);
        (end.data, end.tag) = (entry.data, entry.tag);
        self.count.store(entries.len(), Relaxed);
        drop(entries);
        self.waits.tell(Some(endpoint));
    }

    /// Whether the program should read before it starts more.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.count.load(Relaxed) >= self.size
    }

    /// # Safety
    /// There is room for `count` entries of the format at `out`, and for as many addresses at `from`
    /// unless that is null.
    unsafe fn read(&self, out: *mut c_void, count: usize, from: *mut u64) -> isize {
        if self.count.load(Relaxed) > 0
            && let Some(entries) = self.entries.try_lock_owned()
        {
            // SAFETY: as this function demands.
            return unsafe { self.take(entries, out, count, from) };
        }
        // SAFETY: as this function demands.
        unsafe { self.look_and_take(out, count, from) }
    }

    /// Makes progress before, if there is nothing. A function of its own: who has an entry saves no registers for it.
    ///
    /// # Safety
    /// As for `read`.
    #[inline(never)]
    unsafe fn look_and_take(&self, out: *mut c_void, count: usize, from: *mut u64) -> isize {
        // One that another thread puts in meanwhile is there at the next look.
        if self.count.load(Relaxed) > 0 {
            // SAFETY: as this function demands.
            return unsafe { self.take(self.entries(), out, count, from) };
        }
        let mut reader = Reader {
            queue: self,
            out,
            from,
            has_one: false,
        };
        // Who asks for none wants progress alone.
        let asks = (count > 0).then_some(&mut reader);
        let progress = self.waits.endpoints.progress(asks);
        match (reader.has_one, progress) {
            (true, _) if count > 1 && self.count.load(Relaxed) > 0 => {
                let from = match from.is_null() {
                    true => from,
                    // SAFETY: there is room for more than one.
                    false => unsafe { from.add(1) },
                };
                // SAFETY: as above.
                let out = unsafe { out.byte_add(self.entry_bytes) };
                // SAFETY: as this function demands, less the first.
                let more = unsafe { self.take(self.entries(), out, count - 1, from) };
                // An error is told by the next call.
                more.max(0) + 1
            }
            (true, _) => 1,
            // SAFETY: as this function demands.
            (false, Ok(true)) => unsafe { self.take(self.entries(), out, count, from) },
            (false, Ok(false)) => AGAIN,
            (false, Err(error)) => crate::code(&error) as isize,
        }
    }

    /// # Safety
    /// As for `read`.
    #[inline(always)]
    unsafe fn take(
        &self,
        mut entries: Guard<'_, Completions>,
        out: *mut c_void,
        count: usize,
        from: *mut u64,
    ) -> isize {
        self.waits.endpoints.have_brought();
        let mut read = 0;
        while read < count
            && let Some(next) = entries.get(read)
            && next.error == 0
        {
            // SAFETY: by the promise there is room for `count`.
            unsafe { next.copy_to(out.byte_add(read * self.entry_bytes), self.entry_bytes) };
            if !from.is_null() {
                // SAFETY: by the promise.
                unsafe { from.add(read).write(next.from) };
            }
            read += 1;
        }
        entries.forget(read);
        self.count.store(entries.len(), Relaxed);
        match read {
            0 if count > 0 && !entries.is_empty() => -FI_EAVAIL,
            0 => AGAIN,
            _ => read as isize,
        }
    }

    /// # Safety
    /// As for `read`.
    unsafe fn read_within(
        &self,
        out: *mut c_void,
        count: usize,
        from: *mut u64,
        timeout_ms: c_int,
    ) -> isize {
        let deadline = wait::deadline(timeout_ms);
        loop {
            // SAFETY: as this function demands.
            let got = unsafe { self.read(out, count, from) };
            if got != AGAIN || self.is_signalled.swap(false, Ordering::AcqRel) {
                return got;
            }
            match self.waits.wait(&|| self.is_ready(), deadline) {
                Ok(true) => {}
                Ok(false) => return AGAIN,
                Err(code) => return code as isize,
            }
        }
    }
}

impl Waitable for Queue {
    fn waits(&self) -> &Waits {
        &self.waits
    }

    fn is_ready(&self) -> bool {
        self.is_signalled.load(Ordering::Acquire) || !self.entries().is_empty()
    }

    fn is_new(&self) -> bool {
        !self.entries().is_empty()
    }
}

#[repr(C)]
struct Cq {
    fid: FidCq,
    queue: Arc<Queue>,
}

static FID_OPS: Table<FidOps> = Table(fid_ops_of(close, no_bind, control));

static OPS: Table<CqOps> = Table(CqOps {
    size: size_of::<CqOps>(),
    read: Some(read),
    readfrom: Some(readfrom),
    readerr: Some(readerr),
    sread: Some(sread),
    sreadfrom: Some(sreadfrom),
    signal: Some(signal),
    strerror: Some(strerror),
});

/// `fi_cq_open(3)`.
pub(crate) unsafe extern "C" fn open(
    _: *mut FidDomain,
    attr: *mut CqAttr,
    out: *mut *mut FidCq,
    context: *mut c_void,
) -> c_int {
    let (mut size, mut format) = (0, FI_CQ_FORMAT_UNSPEC);
    let (mut kind, mut set) = (FI_WAIT_NONE, core::ptr::null_mut());
    // SAFETY: by the contract null, or such a structure.
    if let Some(attr) = unsafe { attr.as_ref() } {
        (size, format) = (attr.size, attr.format);
        (kind, set) = (attr.wait_obj, attr.wait_set);
    }
    if format == FI_CQ_FORMAT_UNSPEC {
        format = FI_CQ_FORMAT_TAGGED;
    }
    if !(FI_CQ_FORMAT_CONTEXT..=FI_CQ_FORMAT_TAGGED).contains(&format) {
        return -libc::ENOSYS;
    }
    // SAFETY: by the contract a wait set, if the kind says so.
    let set = unsafe { waitset::of(kind, set) };
    let waits = match Waits::new(kind, set.map(waitset::alarm)) {
        Ok(waits) => waits,
        Err(code) => return code,
    };
    let queue = Arc::new(Queue::new(waits, size, format));
    waitset::join(set, &queue);
    let fid = Fid {
        class: FI_CLASS_CQ,
        context,
        ops: &raw const FID_OPS.0,
    };
    let cq = Cq {
        fid: FidCq {
            fid,
            ops: &raw const OPS.0,
        },
        queue,
    };
    // SAFETY: by the contract `out` can be written to; a `Cq` begins with a `FidCq`.
    unsafe { give(out, cq) }
}

/// The queue that is bound to an endpoint.
///
/// # Safety
/// `fid` is of a completion queue of this library that is open.
pub(crate) unsafe fn queue(fid: *mut Fid) -> Arc<Queue> {
    // SAFETY: as this function demands.
    let cq = unsafe { &*fid.cast::<Cq>() };
    Arc::clone(&cq.queue)
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: by the contract it is one of `open`, and closed once.
    drop(unsafe { take::<Cq>(fid) });
    0
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: by the contract.
    unsafe { of(fid.cast()).waits.control(command, argument) }
}

unsafe extern "C" fn signal(cq: *mut FidCq) -> c_int {
    // SAFETY: by the contract.
    let queue = unsafe { of(cq) };
    queue.is_signalled.store(true, Ordering::SeqCst);
    queue.waits.tell(None);
    0
}

/// # Safety
/// As the contract says of `cq`.
unsafe fn of<'a>(cq: *mut FidCq) -> &'a Queue {
    // SAFETY: as this function demands.
    let cq = unsafe { &*cq.cast::<Cq>() };
    debug_assert_eq!(cq.fid.fid.class, FI_CLASS_CQ);
    &cq.queue
}

unsafe extern "C" fn read(cq: *mut FidCq, out: *mut c_void, count: usize) -> isize {
    // SAFETY: by the contract.
    unsafe { of(cq).read(out, count, core::ptr::null_mut()) }
}

unsafe extern "C" fn readfrom(
    cq: *mut FidCq,
    out: *mut c_void,
    count: usize,
    from: *mut u64,
) -> isize {
    // SAFETY: by the contract.
    unsafe { of(cq).read(out, count, from) }
}

unsafe extern "C" fn sread(
    cq: *mut FidCq,
    out: *mut c_void,
    count: usize,
    _: *const c_void,
    timeout_ms: c_int,
) -> isize {
    // SAFETY: by the contract.
    unsafe { of(cq).read_within(out, count, core::ptr::null_mut(), timeout_ms) }
}

unsafe extern "C" fn sreadfrom(
    cq: *mut FidCq,
    out: *mut c_void,
    count: usize,
    from: *mut u64,
    _: *const c_void,
    timeout_ms: c_int,
) -> isize {
    // SAFETY: by the contract.
    unsafe { of(cq).read_within(out, count, from, timeout_ms) }
}

unsafe extern "C" fn readerr(cq: *mut FidCq, out: *mut CqErrEntry, _: u64) -> isize {
    // SAFETY: by the contract.
    let queue = unsafe { of(cq) };
    let mut entries = queue.entries();
    let Some(next) = entries.get(0).copied().filter(|next| next.error != 0) else {
        return AGAIN;
    };
    entries.forget(1);
    queue.count.store(entries.len(), Relaxed);
    // SAFETY: by the contract there is room for one; only fields that all versions have are
    // written, each on its own, since the structure of an older version is shorter.
    unsafe {
        (&raw mut (*out).op_context).write(next.entry.op_context);
        (&raw mut (*out).flags).write(next.entry.flags);
        (&raw mut (*out).len).write(next.entry.len);
        (&raw mut (*out).buf).write(next.entry.buf);
        (&raw mut (*out).data).write(next.entry.data);
        (&raw mut (*out).tag).write(next.entry.tag);
        (&raw mut (*out).olen).write(next.rest);
        (&raw mut (*out).err).write(next.error);
        (&raw mut (*out).prov_errno).write(next.error);
        (&raw mut (*out).err_data_size).write(0);
    }
    1
}

unsafe extern "C" fn strerror(
    _: *mut FidCq,
    error: c_int,
    _: *const c_void,
    _: *mut c_char,
    _: usize,
) -> *const c_char {
    match error {
        libc::ECONNRESET | libc::ESHUTDOWN => c"the process of the peer has ended",
        libc::ETIMEDOUT => c"the peer has not answered for too long",
        libc::EHOSTUNREACH | libc::ENETUNREACH => c"the peer cannot be reached from here",
        libc::EPROTO => c"the peer has broken the protocol of hostwire",
        libc::ECANCELED => c"cancelled",
        libc::EKEYREJECTED => c"the peer has no memory registered with this key",
        libc::EACCES => c"the memory with this key is shorter, or may not be used so",
        libc::EFAULT => c"the peer cannot copy the bytes to its memory",
        libc::ENOMSG => c"there is no such message",
        hostwire_fabric_abi::FI_ETRUNC => c"the message was longer than the buffer",
        _ => c"hostwire cannot go on",
    }
    .as_ptr()
}
