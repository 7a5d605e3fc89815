//! An endpoint, with the completion queue, the addresses and the memory that belong to it.
//!
//! Only one thread at a time may use it (`FI_THREAD_DOMAIN`): all calls that change anything take
//! `&mut`.

use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr::{self, NonNull};
use std::os::fd::{BorrowedFd, RawFd};

use hostwire_transport::error::TransportError;
use hostwire_transport::memory::Memory;

use super::abi::*;
use super::info::Promises;
use super::object::{Object, open_domain, open_endpoint, open_queues, wait_fd};
use super::{FabricError, Info};

/// Completions that are read at a time.
const BATCH: usize = 16;
/// Longest name of an endpoint.
const NAME_BYTES_MAX: usize = 512;
const EAGAIN: isize = -(libc::EAGAIN as isize);

/// The number of an operation that is under way.
pub(crate) type Token = usize;

/// The end of an operation.
#[derive(Debug)]
pub(crate) struct Completion {
    /// The operation; `None` if the library does not say.
    pub(crate) token: Option<Token>,
    /// Bytes of a message that came.
    pub(crate) len: usize,
    /// The offset of a message in the buffers, if it shares its receive with others.
    pub(crate) at: Option<usize>,
    /// No further completion of this receive follows.
    pub(crate) is_last: bool,
    /// Its result.
    pub(crate) result: Result<(), FabricError>,
}

/// Memory of another endpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Remote {
    /// The endpoint.
    pub(crate) to: u64,
    /// The address that its owner gave.
    pub(crate) address: u64,
    /// The key that it gave out.
    pub(crate) key: u64,
}

/// What peers have to know to access memory of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) key: u64,
    /// The address of the first byte.
    pub(crate) base: u64,
}

/// See the [module text](self). The fields are dropped in this order.
pub(crate) struct Endpoint {
    calls: Calls,
    ep: Option<Object<FidEp>>,
    /// Registered memory, which lives at least as long as it is registered.
    registered: Vec<(Object<FidMr>, Memory)>,
    cq: Object<FidCq>,
    av: Object<FidAv>,
    domain: Object<FidDomain>,
    fabric: Object<FidFabric>,
    promises: Promises,
    info: Info,
    /// One of [`CONTEXT_BYTES`] for each operation.
    contexts: Memory,
    /// Buffers of messages and copied bytes.
    buffers: Memory,
    /// The library's descriptor for them.
    buffers_desc: Desc,
    wait_fd: Option<RawFd>,
}

/// The library's descriptor for registered memory.
#[derive(Clone, Copy)]
struct Desc(*mut c_void);

// SAFETY: never followed here, only given back to the library.
unsafe impl Send for Desc {}

/// The functions of an endpoint, as this provider has them.
struct Calls {
    recv: RecvFn,
    recvmsg: Option<RecvMsgFn>,
    send: SendFn,
    inject: InjectFn,
    read: ReadFn,
    writemsg: WriteMsgFn,
    cq_read: CqReadFn,
    cq_readerr: CqReadErrFn,
    trywait: Option<TryWaitFn>,
}

impl Calls {
    fn of(
        fabric: &Object<FidFabric>,
        cq: &Object<FidCq>,
        ep: &Object<FidEp>,
    ) -> Result<Self, FabricError> {
        // SAFETY: alive, and nobody changes it.
        let ep = unsafe { ep.at.as_ref() };
        let (msg, rma) = (ep.msg, ep.rma);
        // SAFETY: null or a table that lasts as long as the endpoint.
        let msg = unsafe { msg.as_ref() }.ok_or_else(|| FabricError::lacks("messages"))?;
        // SAFETY: null or another table that lasts as long as the endpoint.
        let rma = unsafe { rma.as_ref() }.ok_or_else(|| FabricError::lacks("remote memory"))?;
        // SAFETY: alive, and nobody changes it.
        let cq = unsafe { cq.at.as_ref().ops };
        // SAFETY: null or a table that lasts as long as the queue.
        let cq = unsafe { cq.as_ref() }.ok_or_else(|| FabricError::lacks("completions"))?;
        // SAFETY: alive, and nobody changes it.
        let fabric = unsafe { fabric.at.as_ref().ops };
        // SAFETY: null or a table that lasts as long as the fabric.
        let fabric = unsafe { fabric.as_ref() }.ok_or_else(|| FabricError::lacks("fabric"))?;
        let has_trywait = fabric.size > offset_of!(FabricOps, trywait);
        Ok(Self {
            recv: msg.recv.ok_or_else(|| FabricError::lacks("fi_recv"))?,
            recvmsg: msg.recvmsg,
            send: msg.send.ok_or_else(|| FabricError::lacks("fi_send"))?,
            inject: msg.inject.ok_or_else(|| FabricError::lacks("fi_inject"))?,
            read: rma.read.ok_or_else(|| FabricError::lacks("fi_read"))?,
            writemsg: rma
                .writemsg
                .ok_or_else(|| FabricError::lacks("fi_writemsg"))?,
            cq_read: cq.read.ok_or_else(|| FabricError::lacks("fi_cq_read"))?,
            cq_readerr: cq
                .readerr
                .ok_or_else(|| FabricError::lacks("fi_cq_readerr"))?,
            trywait: fabric.trywait.filter(|_| has_trywait),
        })
    }
}

impl Endpoint {
    /// An endpoint of this offer, with room for so many operations at a time and so many bytes of
    /// buffers, for messages of at most `message_bytes`.
    pub(crate) fn open(
        info: Info,
        tokens: usize,
        (buffer_bytes, message_bytes): (usize, usize),
        key: u64,
    ) -> Result<Self, FabricError> {
        let library = info.library();
        let mut fabric = ptr::null_mut();
        // SAFETY: the attributes are those of the offer; the object is written.
        let status =
            unsafe { (library.fabric)(info.fabric_attr(), &raw mut fabric, ptr::null_mut()) };
        let fabric = Object::made(library, "fi_fabric", status, fabric)?;
        let domain = open_domain(&info, &fabric)?;
        let (av, cq, is_waitable) = open_queues(&info, &domain, tokens)?;
        let ep = open_endpoint(&info, &domain)?;
        ep.bind(library, &av, 0)?;
        ep.bind(library, &cq, FI_SEND | FI_RECV)?;
        let status = ep.control(FI_ENABLE, ptr::null_mut());
        library.check("fi_enable", status as isize)?;
        let wait_fd = is_waitable.then(|| wait_fd(&cq)).flatten();
        let calls = Calls::of(&fabric, &cq, &ep)?;
        let mut promises = info.promises();
        promises.shares_receives &=
            calls.recvmsg.is_some() && ep.end_shared_receives_below(message_bytes);
        let mut endpoint = Self {
            calls,
            ep: Some(ep),
            registered: Vec::new(),
            cq,
            av,
            domain,
            fabric,
            promises,
            info,
            contexts: Memory::anonymous(tokens * CONTEXT_BYTES),
            buffers: Memory::anonymous(buffer_bytes),
            buffers_desc: Desc(ptr::null_mut()),
            wait_fd,
        };
        if endpoint.promises.local_keys {
            let access = FI_SEND | FI_RECV | FI_READ | FI_WRITE;
            let buffers = endpoint.buffers.clone();
            let mr = endpoint.register_with(&buffers, key, access)?;
            // SAFETY: just made, and nobody changes it.
            endpoint.buffers_desc = Desc(unsafe { mr.as_ref() }.mem_desc);
        }
        Ok(endpoint)
    }

    /// What the provider promises.
    pub(crate) const fn promises(&self) -> Promises {
        self.promises
    }

    /// The provider, as libfabric names it.
    pub(crate) fn provider(&self) -> String {
        self.info.provider()
    }

    /// The buffers.
    pub(crate) const fn buffers(&self) -> &Memory {
        &self.buffers
    }

    /// Where other endpoints reach this one.
    pub(crate) fn name(&self) -> Result<Vec<u8>, FabricError> {
        let lacks = || FabricError::lacks("fi_getname");
        let ep = self.ep.as_ref().ok_or_else(closed)?;
        // SAFETY: alive, and nobody changes it.
        let cm = unsafe { ep.at.as_ref() }.cm;
        // SAFETY: null or a table that lasts as long as the endpoint.
        let getname = unsafe { cm.as_ref() }
            .and_then(|cm| cm.getname)
            .ok_or_else(lacks)?;
        let mut name = vec![0; NAME_BYTES_MAX];
        let mut len = name.len();
        // SAFETY: alive; as many bytes are written as there is room for.
        let status = unsafe { getname(ep.fid(), name.as_mut_ptr().cast(), &raw mut len) };
        self.info.library().check("fi_getname", status as isize)?;
        name.truncate(len);
        Ok(name)
    }

    /// The number of another endpoint.
    pub(crate) fn insert(&mut self, name: &[u8]) -> Result<u64, FabricError> {
        // SAFETY: alive, and nobody changes it.
        let ops = unsafe { self.av.at.as_ref() }.ops;
        // SAFETY: null or a table that lasts as long as the object.
        let insert = unsafe { ops.as_ref() }.and_then(|ops| ops.insert);
        let insert = insert.ok_or_else(|| FabricError::lacks("fi_av_insert"))?;
        // Names of a fixed length are read whole, whatever a peer has published.
        let mut room = name.to_vec();
        room.resize(name.len().max(NAME_BYTES_MAX), 0);
        let mut number = FI_ADDR_UNSPEC;
        // SAFETY: alive; one name with zeros behind it, and one number to write.
        let inserted = unsafe {
            insert(
                self.av.at.as_ptr(),
                room.as_ptr().cast(),
                1,
                &raw mut number,
                0,
                ptr::null_mut(),
            )
        };
        match inserted {
            1 if number != FI_ADDR_UNSPEC => Ok(number),
            0.. => Err(self
                .info
                .library()
                .error("fi_av_insert", -(libc::EINVAL as isize))),
            error => Err(self.info.library().error("fi_av_insert", error as isize)),
        }
    }

    /// Lets other endpoints read and write memory.
    pub(crate) fn expose(&mut self, memory: &Memory, key: u64) -> Result<Key, FabricError> {
        let mr = self.register_with(memory, key, FI_REMOTE_READ | FI_REMOTE_WRITE)?;
        Ok(Key {
            // SAFETY: just made, and nobody changes it.
            key: unsafe { mr.as_ref() }.key,
            base: match self.promises.virtual_addresses {
                true => memory.base().addr().get() as u64,
                false => 0,
            },
        })
    }

    /// Other endpoints may not any more. When this returns, the provider does nothing there.
    pub(crate) fn conceal(&mut self, key: u64) {
        self.registered.retain(|(mr, memory)| {
            // SAFETY: alive, and nobody changes it.
            let has_key = unsafe { mr.at.as_ref() }.key == key;
            !has_key || memory.base() == self.buffers.base()
        });
    }

    /// Registers memory, and keeps it alive while it is registered.
    fn register_with(
        &mut self,
        memory: &Memory,
        key: u64,
        access: u64,
    ) -> Result<NonNull<FidMr>, FabricError> {
        let library = self.info.library();
        // SAFETY: alive, and nobody changes it.
        let ops = unsafe { self.domain.at.as_ref() }.mr;
        // SAFETY: null or a table that lasts as long as the domain.
        let reg = unsafe { ops.as_ref() }.and_then(|ops| ops.reg);
        let reg = reg.ok_or_else(|| FabricError::lacks("fi_mr_reg"))?;
        let key = match self.promises.key_bytes {
            bytes @ 1..8 => key & ((1 << (8 * bytes)) - 1),
            _ => key,
        };
        let mut made = ptr::null_mut();
        // SAFETY: the memory is mapped, and kept in `registered` until the registration has ended;
        // the object is written.
        let status = unsafe {
            reg(
                self.domain.fid(),
                memory.base().as_ptr().cast(),
                memory.len_bytes(),
                access,
                0,
                key,
                0,
                &raw mut made,
                ptr::null_mut(),
            )
        };
        let mr: Object<FidMr> = Object::made(library, "fi_mr_reg", status, made)?;
        if self.promises.memory_of_endpoint {
            let ep = self.ep.as_ref().ok_or_else(closed)?;
            mr.bind(library, ep, 0)?;
            let status = mr.control(FI_ENABLE, ptr::null_mut());
            library.check("fi_mr_enable", status as isize)?;
        }
        let at = mr.at;
        self.registered.push((mr, memory.clone()));
        Ok(at)
    }

    fn ep(&self) -> Result<*mut FidEp, FabricError> {
        self.ep.as_ref().map(|ep| ep.at.as_ptr()).ok_or_else(closed)
    }

    fn context(&self, token: Token) -> Result<*mut c_void, FabricError> {
        let at = self.contexts.range(token * CONTEXT_BYTES, CONTEXT_BYTES);
        at.map(<*mut u8>::cast).map_err(|error| misused(&error))
    }

    fn buffer(&self, at: usize, len: usize) -> Result<*mut u8, FabricError> {
        self.buffers.range(at, len).map_err(|error| misused(&error))
    }

    /// Whether an operation was accepted; if not, there is no room for it now.
    fn taken(&self, what: &str, status: isize) -> Result<bool, FabricError> {
        match status {
            EAGAIN => Ok(false),
            status => self.info.library().check(what, status).map(|()| true),
        }
    }

    /// Posts a receive of one message into this part of the buffers, or of several if the provider
    /// [shares receives](Promises::shares_receives). The part must not be used until the last
    /// completion.
    pub(crate) fn recv(
        &mut self,
        token: Token,
        at: usize,
        len: usize,
    ) -> Result<bool, FabricError> {
        let (ep, context) = (self.ep()?, self.context(token)?);
        let (buffer, desc) = (self.buffer(at, len)?.cast(), self.buffers_desc.0);
        let status = match self.calls.recvmsg.filter(|_| self.promises.shares_receives) {
            Some(recvmsg) => {
                let mut desc = desc;
                let iov = libc::iovec {
                    iov_base: buffer,
                    iov_len: len,
                };
                let message = Msg {
                    msg_iov: &raw const iov,
                    desc: &raw mut desc,
                    iov_count: 1,
                    addr: FI_ADDR_UNSPEC,
                    context,
                    data: 0,
                };
                // SAFETY: an open endpoint; the buffer and the context lie in memory that ends after it,
                // and the vector is copied before the call returns.
                unsafe { recvmsg(ep, &raw const message, FI_COMPLETION | FI_MULTI_RECV) }
            }
            None => {
                // SAFETY: an open endpoint; the buffer and the context lie in memory that ends after it.
                unsafe { (self.calls.recv)(ep, buffer, len, desc, FI_ADDR_UNSPEC, context) }
            }
        };
        self.taken("fi_recv", status)
    }

    /// Sends this part of the buffers, which must not change until the completion.
    pub(crate) fn send(
        &mut self,
        token: Token,
        at: usize,
        len: usize,
        to: u64,
    ) -> Result<bool, FabricError> {
        let (ep, context) = (self.ep()?, self.context(token)?);
        let (buffer, desc) = (
            self.buffer(at, len)?.cast_const().cast(),
            self.buffers_desc.0,
        );
        // SAFETY: an open endpoint; the buffer and the context lie in memory that ends after it.
        let status = unsafe { (self.calls.send)(ep, buffer, len, desc, to, context) };
        self.taken("fi_send", status)
    }

    /// Sends at most [`Promises::inject_bytes`]; nothing completes.
    pub(crate) fn inject(&mut self, bytes: &[u8], to: u64) -> Result<bool, FabricError> {
        let ep = self.ep()?;
        // SAFETY: an open endpoint; the bytes are copied before the call returns.
        let status = unsafe { (self.calls.inject)(ep, bytes.as_ptr().cast(), bytes.len(), to) };
        self.taken("fi_inject", status)
    }

    /// The part of the buffers at `at`, as an operation takes it.
    pub(crate) fn own(&self, at: usize, len: usize) -> Result<*mut u8, FabricError> {
        self.buffer(at, len)
    }

    /// Writes to memory of another endpoint. With `delivered` the completion means that the bytes have
    /// arrived, and otherwise only that they are under way.
    ///
    /// # Safety
    /// `src` is valid for `len` bytes of reads until the operation has completed, or the endpoint
    /// is [closed](Self::close). Where keys are local, it lies in the buffers.
    pub(crate) unsafe fn write(
        &mut self,
        token: Token,
        (src, len): (*const u8, usize),
        remote: Remote,
        delivered: bool,
    ) -> Result<bool, FabricError> {
        let (ep, context) = (self.ep()?, self.context(token)?);
        let mut desc = self.desc(src);
        let local = libc::iovec {
            iov_base: src.cast_mut().cast(),
            iov_len: len,
        };
        let there = RmaIov {
            addr: remote.address,
            len,
            key: remote.key,
        };
        let message = MsgRma {
            msg_iov: &raw const local,
            desc: &raw mut desc,
            iov_count: 1,
            addr: remote.to,
            rma_iov: &raw const there,
            rma_iov_count: 1,
            context,
            data: 0,
        };
        let flags = match delivered {
            true => FI_COMPLETION | FI_DELIVERY_COMPLETE,
            false => FI_COMPLETION,
        };
        // SAFETY: an open endpoint; the caller keeps the source, and the vectors are copied before
        // the call returns.
        let status = unsafe { (self.calls.writemsg)(ep, &raw const message, flags) };
        self.taken("fi_write", status)
    }

    /// Reads memory of another endpoint.
    ///
    /// # Safety
    /// `dst` is valid for `len` bytes of writes until the operation has completed, or the endpoint
    /// is [closed](Self::close). Where keys are local, it lies in the buffers.
    pub(crate) unsafe fn read(
        &mut self,
        token: Token,
        (dst, len): (*mut u8, usize),
        remote: Remote,
    ) -> Result<bool, FabricError> {
        let (ep, context) = (self.ep()?, self.context(token)?);
        let desc = self.desc(dst);
        let Remote { to, address, key } = remote;
        // SAFETY: an open endpoint; the caller keeps the destination.
        let status =
            unsafe { (self.calls.read)(ep, dst.cast(), len, desc, to, address, key, context) };
        self.taken("fi_read", status)
    }

    fn desc(&self, at: *const u8) -> *mut c_void {
        let first = self.buffers.base().addr().get();
        match (first..first + self.buffers.len_bytes()).contains(&at.addr()) {
            true => self.buffers_desc.0,
            false => ptr::null_mut(),
        }
    }

    /// Lets the provider make progress, and gives completions to the caller. Returns whether there were
    /// any.
    pub(crate) fn poll(
        &mut self,
        mut completed: impl FnMut(Completion),
    ) -> Result<bool, FabricError> {
        const NONE: CqDataEntry = CqDataEntry {
            op_context: ptr::null_mut(),
            flags: 0,
            len: 0,
            buf: ptr::null_mut(),
            data: 0,
        };
        let mut entries = [NONE; BATCH];
        let cq = self.cq.at.as_ptr();
        // SAFETY: an open queue of this format, and room for as many entries.
        let read = unsafe { (self.calls.cq_read)(cq, entries.as_mut_ptr().cast(), BATCH) };
        match read {
            EAGAIN | 0 => Ok(false),
            count @ 1.. => {
                for entry in entries.iter().take(count as usize) {
                    completed(Completion {
                        token: self.token(entry.op_context),
                        len: entry.len,
                        at: self.place(entry.buf),
                        is_last: self.is_last(entry.flags),
                        result: Ok(()),
                    });
                }
                Ok(true)
            }
            status if status == -FI_EAVAIL => {
                completed(self.failure()?);
                Ok(true)
            }
            status => Err(self.info.library().error("fi_cq_read", status)),
        }
    }

    fn failure(&mut self) -> Result<Completion, FabricError> {
        let mut entry = CqErrEntry {
            op_context: ptr::null_mut(),
            flags: 0,
            len: 0,
            buf: ptr::null_mut(),
            data: 0,
            tag: 0,
            olen: 0,
            err: 0,
            prov_errno: 0,
            err_data: ptr::null_mut(),
            err_data_size: 0,
            later: [0; 8],
        };
        let library = self.info.library();
        // SAFETY: an open queue; an entry with room for what later versions write.
        let status = unsafe { (self.calls.cq_readerr)(self.cq.at.as_ptr(), &raw mut entry, 0) };
        if status < 0 && status != EAGAIN {
            return Err(library.error("fi_cq_readerr", status));
        }
        let text = library.text(entry.err).into();
        Ok(Completion {
            token: self.token(entry.op_context),
            len: 0,
            at: None,
            is_last: self.is_last(entry.flags),
            result: Err(FabricError {
                code: entry.err,
                text,
            }),
        })
    }

    fn token(&self, context: *mut c_void) -> Option<Token> {
        let from = context
            .addr()
            .checked_sub(self.contexts.base().addr().get())?;
        (from < self.contexts.len_bytes()).then_some(from / CONTEXT_BYTES)
    }

    /// The offset in the buffers, if receives are shared; else the operation determines it.
    fn place(&self, at: *mut c_void) -> Option<usize> {
        let from = at.addr().checked_sub(self.buffers.base().addr().get())?;
        (self.promises.shares_receives && from < self.buffers.len_bytes()).then_some(from)
    }

    /// Whether a completion with these flags is the last one of its receive.
    const fn is_last(&self, flags: u64) -> bool {
        !self.promises.shares_receives || flags & FI_MULTI_RECV != 0
    }

    /// The descriptor that is readable when there is something to [poll](Self::poll) for. Use it only
    /// after [`may_wait`](Self::may_wait).
    pub(crate) fn wait_fd(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the descriptor is that of the queue, and is closed with it.
        self.wait_fd.map(|fd| unsafe { BorrowedFd::borrow_raw(fd) })
    }

    /// Whether the descriptor may be waited on: nothing has come already.
    pub(crate) fn may_wait(&mut self) -> bool {
        let mut queue = [self.cq.fid()];
        match (self.calls.trywait, self.wait_fd) {
            (Some(trywait), Some(_)) => {
                // SAFETY: an open fabric, and an open queue of it.
                let status = unsafe { trywait(self.fabric.at.as_ptr(), queue.as_mut_ptr(), 1) };
                status == 0
            }
            _ => false,
        }
    }

    /// Ends all operations: from now on the library uses no memory of the caller, and every
    /// operation fails.
    pub(crate) fn close(&mut self) {
        self.ep = None;
    }
}

fn closed() -> FabricError {
    FabricError {
        code: libc::ESHUTDOWN,
        text: "the endpoint is closed".into(),
    }
}

fn misused(error: &TransportError) -> FabricError {
    FabricError {
        code: libc::EINVAL,
        text: error.to_string().into(),
    }
}
