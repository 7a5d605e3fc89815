//! What a provider offers: `struct fi_info`.

use core::ffi::{CStr, c_char, c_int};
use core::ptr::{self, NonNull};
use std::ffi::CString;
use std::net::Ipv4Addr;

use hostwire_transport::os::signals;

use super::abi::*;
use super::{FabricError, Library};

/// One offer of a provider.
pub(crate) struct Info {
    library: &'static Library,
    raw: NonNull<RawInfo>,
}

// SAFETY: the structure is owned, and nobody changes it but through `&mut`.
unsafe impl Send for Info {}
// SAFETY: a shared one is only read.
unsafe impl Sync for Info {}

impl Drop for Info {
    fn drop(&mut self) {
        // SAFETY: made by `fi_dupinfo` of this library, and freed only here.
        unsafe { (self.library.freeinfo)(self.raw.as_ptr()) }
    }
}

/// The properties that a provider gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Promises {
    /// Messages arrive after the writes before them, and writes after writes.
    pub(crate) orders_writes: bool,
    /// Buffers have to be registered.
    pub(crate) local_keys: bool,
    /// Addresses of remote memory are those of its owner; otherwise they count from 0.
    pub(crate) virtual_addresses: bool,
    /// The provider chooses the keys of memory.
    pub(crate) chooses_keys: bool,
    /// Memory is bound to an endpoint.
    pub(crate) memory_of_endpoint: bool,
    /// Bytes of a key.
    pub(crate) key_bytes: usize,
    /// Longest message or write.
    pub(crate) operation_bytes_max: usize,
    /// Longest message that needs no buffer until its completion.
    pub(crate) inject_bytes: usize,
    /// A receive may take several messages.
    pub(crate) shares_receives: bool,
}

/// The capabilities that the wire needs.
const NEEDED: u64 = FI_MSG | FI_RMA;

impl Info {
    /// All offers of reliable endpoints with messages and remote memory, the best first, restricted
    /// to a provider and a domain if they are named.
    ///
    /// # Errors
    /// [`FabricError`]. An empty list is no error.
    pub(crate) fn all(
        library: &'static Library,
        provider: Option<&str>,
        domain: Option<&str>,
    ) -> Result<Vec<Self>, FabricError> {
        // A provider promises only what the hints ask for.
        let more = FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW;
        let all = Self::with(library, provider, domain, more, NEEDED)?;
        match all.is_empty() {
            false => Ok(all),
            true => Self::with(library, provider, domain, FI_ORDER_SAS, NEEDED),
        }
    }

    fn with(
        library: &'static Library,
        provider: Option<&str>,
        domain: Option<&str>,
        order: u64,
        caps: u64,
    ) -> Result<Vec<Self>, FabricError> {
        let mut hints = Self::empty(library)?;
        hints.wish(provider, domain, order)?;
        hints.raw_mut().caps = caps;
        Self::offered(library, hints.raw.as_ptr())
    }

    /// The same offer with receives that take several messages, if the provider has them.
    pub(crate) fn with_shared_receives(self) -> Self {
        let (provider, domain) = (self.provider(), self.domain());
        let order = self.tx().map_or(FI_ORDER_SAS, |tx| tx.msg_order);
        let wanted = order & (FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW);
        let caps = NEEDED | FI_MULTI_RECV;
        let found = Self::with(self.library, Some(&provider), Some(&domain), wanted, caps);
        let is_same = |other: &Self| {
            let (ours, theirs) = (self.promises(), other.promises());
            let shares_receives = theirs.shares_receives;
            let ours = Promises {
                shares_receives,
                ..ours
            };
            let is_same_place = other.provider() == provider && other.ipv4() == self.ipv4();
            is_same_place && shares_receives && ours == theirs
        };
        let same = found.ok().and_then(|all| all.into_iter().find(is_same));
        same.unwrap_or(self)
    }

    /// All offers of all kinds.
    ///
    /// # Errors
    /// [`FabricError`].
    pub(crate) fn everything(library: &'static Library) -> Result<Vec<Self>, FabricError> {
        Self::offered(library, ptr::null())
    }

    /// The offers for these hints, or without hints.
    fn offered(library: &'static Library, hints: *const RawInfo) -> Result<Vec<Self>, FabricError> {
        let mut list = ptr::null_mut();
        // It loads the providers that are libraries of their own, and starts all.
        // SAFETY: the hints are null or those of the callers above, complete and alive; the list is
        // written, and freed below.
        let status = signals::kept(|| unsafe {
            (library.getinfo)(
                API_VERSION,
                ptr::null(),
                ptr::null(),
                0,
                hints,
                &raw mut list,
            )
        });
        if status == -libc::ENODATA {
            return Ok(Vec::new());
        }
        library.check("fi_getinfo", status as isize)?;
        let mut all = Vec::new();
        let mut next = list;
        while let Some(entry) = NonNull::new(next) {
            // SAFETY: an entry of the list, which nobody changes.
            let copy = unsafe { (library.dupinfo)(entry.as_ptr()) };
            if let Some(raw) = NonNull::new(copy) {
                all.push(Self { library, raw });
            }
            // SAFETY: an entry of the list has the fields of all versions.
            next = unsafe { entry.as_ref() }.next;
        }
        // SAFETY: made by fi_getinfo, and freed only here; the copies are their own.
        unsafe { (library.freeinfo)(list) };
        Ok(all)
    }

    fn empty(library: &'static Library) -> Result<Self, FabricError> {
        // SAFETY: null asks for an empty structure with all its parts.
        let raw = unsafe { (library.dupinfo)(ptr::null()) };
        let raw = NonNull::new(raw).ok_or_else(|| library.error("fi_allocinfo", -12))?;
        Ok(Self { library, raw })
    }

    fn wish(
        &mut self,
        provider: Option<&str>,
        domain_name: Option<&str>,
        order: u64,
    ) -> Result<(), FabricError> {
        let info = self.raw_mut();
        // The contexts of operations have this room.
        info.mode = FI_CONTEXT | FI_CONTEXT2;
        let (tx, rx, ep) = (info.tx_attr, info.rx_attr, info.ep_attr);
        let (domain, fabric) = (info.domain_attr, info.fabric_attr);
        let lacks = || FabricError::lacks("attributes");
        // SAFETY: null or a part of this structure, which nobody else has.
        let tx = unsafe { tx.as_mut() }.ok_or_else(lacks)?;
        tx.msg_order = order;
        // SAFETY: null or a part of this structure, which nobody else has, and another part.
        let rx = unsafe { rx.as_mut() }.ok_or_else(lacks)?;
        rx.msg_order = order;
        // SAFETY: null or a third part of this structure, which nobody else has.
        let ep = unsafe { ep.as_mut() }.ok_or_else(lacks)?;
        ep.kind = FI_EP_RDM;
        // SAFETY: null or a fourth part of this structure, which nobody else has.
        let domain = unsafe { domain.as_mut() }.ok_or_else(lacks)?;
        domain.threading = FI_THREAD_DOMAIN;
        domain.resource_mgmt = FI_RM_ENABLED;
        domain.mr_mode =
            FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
        domain.name = copied(domain_name)?;
        // SAFETY: null or a fifth part of this structure, which nobody else has.
        let fabric = unsafe { fabric.as_mut() }.ok_or_else(lacks)?;
        fabric.prov_name = copied(provider)?;
        Ok(())
    }

    fn raw_mut(&mut self) -> &mut RawInfo {
        // SAFETY: owned, and borrowed as long as `self`; the fields are those of all versions.
        unsafe { self.raw.as_mut() }
    }

    fn raw(&self) -> &RawInfo {
        // SAFETY: owned, and changed only through `&mut self`.
        unsafe { self.raw.as_ref() }
    }

    pub(super) fn as_ptr(&self) -> *mut RawInfo {
        self.raw.as_ptr()
    }

    pub(super) fn library(&self) -> &'static Library {
        self.library
    }

    pub(super) fn fabric_attr(&self) -> *mut FabricAttr {
        self.raw().fabric_attr
    }

    fn tx(&self) -> Option<&TxAttr> {
        // SAFETY: null or a part of this structure, which lives as long.
        unsafe { self.raw().tx_attr.as_ref() }
    }

    fn domain_attr(&self) -> Option<&DomainAttr> {
        // SAFETY: null or the part of this structure for the domain, which lives as long.
        unsafe { self.raw().domain_attr.as_ref() }
    }

    fn ep_attr(&self) -> Option<&EpAttr> {
        // SAFETY: null or the part of this structure for the endpoint, which lives as long.
        unsafe { self.raw().ep_attr.as_ref() }
    }

    pub(super) fn av_type(&self) -> c_int {
        self.domain_attr().map_or(0, |domain| domain.av_type)
    }

    /// The provider, as libfabric names it: `tcp;ofi_rxm`.
    pub(crate) fn provider(&self) -> String {
        // SAFETY: null or the part of this structure for the fabric, which lives as long.
        let fabric = unsafe { self.raw().fabric_attr.as_ref() };
        fabric.map_or_else(String::new, |fabric| text(fabric.prov_name))
    }

    /// The domain: a device, or an interface.
    pub(crate) fn domain(&self) -> String {
        self.domain_attr()
            .map_or_else(String::new, |domain| text(domain.name))
    }

    /// The IPv4 address that the endpoint will have, if it has one.
    pub(crate) fn ipv4(&self) -> Option<Ipv4Addr> {
        let info = self.raw();
        let is_long = info.src_addrlen >= size_of::<libc::sockaddr_in>();
        if info.addr_format != FI_SOCKADDR_IN || !is_long || info.src_addr.is_null() {
            return None;
        }
        let address = info.src_addr.cast::<libc::sockaddr_in>();
        // SAFETY: not null, long enough, and of this format, as the structure says.
        let address = unsafe { address.read_unaligned() };
        Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)))
    }

    /// Its properties.
    pub(crate) fn promises(&self) -> Promises {
        let mode = self.domain_attr().map_or(0, |domain| domain.mr_mode);
        let order = self.tx().map_or(0, |tx| tx.msg_order);
        let is = |bit| mode & bit != 0;
        let wanted = FI_ORDER_SAW | FI_ORDER_WAW;
        Promises {
            orders_writes: order & wanted == wanted,
            local_keys: is(FI_MR_LOCAL),
            virtual_addresses: is(FI_MR_VIRT_ADDR),
            chooses_keys: is(FI_MR_PROV_KEY),
            memory_of_endpoint: is(FI_MR_ENDPOINT),
            key_bytes: self.domain_attr().map_or(0, |domain| domain.mr_key_size),
            operation_bytes_max: self.ep_attr().map_or(0, |ep| ep.max_msg_size),
            inject_bytes: self.tx().map_or(0, |tx| tx.inject_size),
            shares_receives: self.raw().caps & FI_MULTI_RECV != 0,
        }
    }
}

/// A copy that `fi_freeinfo` frees; null for `None`.
fn copied(text: Option<&str>) -> Result<*mut c_char, FabricError> {
    let Some(text) = text else {
        return Ok(ptr::null_mut());
    };
    let text = CString::new(text).map_err(|_| FabricError {
        code: libc::EINVAL,
        text: "the name of a provider has no zero byte".into(),
    })?;
    // SAFETY: a terminated string.
    Ok(unsafe { libc::strdup(text.as_ptr()) })
}

fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: not null, so it is a terminated string of a structure that its owner lends for this
    // call.
    let text = unsafe { CStr::from_ptr(at) };
    text.to_string_lossy().into_owned()
}
