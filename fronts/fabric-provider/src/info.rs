//! What is offered, and whether that is what is asked for.

use core::ffi::{CStr, c_char, c_int, c_void};

use hostwire::station::{KEPT_BYTES_MAX, Name, PLACES_MAX, is_in_virtual_time};
use hostwire_fabric_abi::*;

use crate::library::{self, Library};
use crate::mr::PARTS_MAX;
use crate::ways::INJECT_BYTES_MAX;

/// Of this provider: 0.1.
pub(crate) const PROVIDER_VERSION: u32 = 1;
/// The protocol of endpoints: those of no other provider speak it.
const PROTOCOL: u32 = FI_PROV_SPECIFIC | 0x6877;
/// Addresses are names of stations.
const ADDRESSES: u32 = FI_PROV_SPECIFIC | 0x6877;
/// Sends that may be under way at a time.
pub(crate) const SENDS_MAX: usize = 1024;
/// Places that a message may be in.
pub(crate) const IOV_MAX: usize = 4;
/// The name of the one fabric and the one domain.
const PLACE: &CStr = c"hostwire";
/// `FI_TAG_GENERIC`: all bits of a tag are the user's.
const TAG_FORMAT: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// `FI_VERSION(1, 5)`: since then modes of registration are single ones.
const MR_MODE_VERSION: u32 = 1 << 16 | 5;

/// Capabilities that a user has to ask for. A user that asks for none gets all of them.
const PRIMARY: u64 =
    FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV | FI_MULTI_RECV | FI_RMA_EVENT;
/// Capabilities with directions, and the directions. A user that asks for no direction gets both.
const DIRECTIONS: [(u64, u64); 2] = [
    (FI_MSG | FI_TAGGED, FI_SEND | FI_RECV),
    (
        FI_RMA | FI_ATOMIC,
        FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
    ),
];
const ALL_DIRECTIONS: u64 = DIRECTIONS[0].1 | DIRECTIONS[1].1;
/// Those that cost nothing.
const SECONDARY: u64 = FI_SOURCE | REACHED;
/// Which peers a station reaches.
const REACHED: u64 = FI_LOCAL_COMM | FI_REMOTE_COMM;
const CAPS: u64 = PRIMARY | ALL_DIRECTIONS | SECONDARY;

/// The order in which messages reach a peer and operations change its memory: the order in which they were started.
const ORDERS: u64 = FI_ORDER_STRICT | ((FI_ORDER_ATOMIC_WAW << 1) - FI_ORDER_RMA_RAR);
/// How sends may complete. Within a host, a sent message is in the memory of its peer, whatever happens to the sender.
/// On another host, it is on its way there for as long as the sender lives. For `FI_DELIVERY_COMPLETE` a receive there
/// has it.
const TX_FLAGS: u64 =
    FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE;
const RX_FLAGS: u64 = FI_COMPLETION | FI_MULTI_RECV;

/// `fi_getinfo(3)`.
pub(crate) unsafe extern "C" fn getinfo(
    version: u32,
    node: *const c_char,
    service: *const c_char,
    flags: u64,
    hints: *const RawInfo,
    out: *mut *mut RawInfo,
) -> c_int {
    // Stations draw their names. Programs that exchange these names themselves still name a port of their own, and
    // nothing depends on it.
    let is_own_port = node.is_null() && flags & FI_SOURCE != 0;
    if !node.is_null() || (!service.is_null() && !is_own_port) {
        return -FI_ENODATA;
    }
    // SAFETY: by the contract null, or one that `fi_allocinfo` gave.
    let hints = unsafe { hints.as_ref() }.map(|info| Hints {
        info,
        is_source_said: flags & FI_SOURCE != 0,
    });
    if hints.as_ref().is_some_and(|hints| !hints.are_met()) {
        return -FI_ENODATA;
    }
    let Some(library) = library::get() else {
        return -libc::ENOSYS;
    };
    match offer(library, hints.as_ref(), version) {
        Some(info) => {
            // SAFETY: by the contract it can be written to.
            unsafe { out.write(info) };
            0
        }
        None => -libc::ENOMEM,
    }
}

/// What is asked for. Each part may be missing.
struct Hints<'a> {
    info: &'a RawInfo,
    /// The source was given in another way.
    is_source_said: bool,
}

impl<'a> Hints<'a> {
    fn tx(&self) -> Option<&'a TxAttr> {
        // SAFETY: by the contract null, or such a structure.
        unsafe { self.info.tx_attr.as_ref() }
    }

    fn rx(&self) -> Option<&'a RxAttr> {
        // SAFETY: by the contract null, or such a structure.
        unsafe { self.info.rx_attr.as_ref() }
    }

    fn ep(&self) -> Option<&'a EpAttr> {
        // SAFETY: by the contract null, or such a structure.
        unsafe { self.info.ep_attr.as_ref() }
    }

    fn domain(&self) -> Option<&'a DomainAttr> {
        // SAFETY: by the contract null, or such a structure.
        unsafe { self.info.domain_attr.as_ref() }
    }

    fn fabric(&self) -> Option<&'a FabricAttr> {
        // SAFETY: by the contract null, or such a structure.
        unsafe { self.info.fabric_attr.as_ref() }
    }

    /// The name of the peer, if there is one; `Some(None)` if it is not valid.
    #[allow(clippy::option_option, reason = "none is right, and none can be read")]
    fn destination(&self) -> Option<Option<Name>> {
        let bytes = address(self.info.dest_addr, self.info.dest_addrlen)?;
        Some(bytes.and_then(|bytes| Name::from_bytes(&bytes)))
    }

    /// Whether all of it is offered.
    fn are_met(&self) -> bool {
        let formats = [FI_FORMAT_UNSPEC, ADDRESSES];
        self.info.caps & !CAPS == 0
            && formats.contains(&self.info.addr_format)
            && (self.is_source_said || can_be_opened_at(self.info))
            && self.destination().is_none_or(|name| name.is_some())
            && self.tx().is_none_or(meets_tx)
            && self.rx().is_none_or(meets_rx)
            && self.ep().is_none_or(meets_ep)
            && self.domain().is_none_or(meets_domain)
            && self.fabric().is_none_or(|fabric| is_place(fabric.name))
    }
}

/// The bytes of an address, if there is one; `Some(None)` if it has not the length of a name.
#[allow(clippy::option_option, reason = "none is right, and none can be read")]
fn address(at: *const c_void, len: usize) -> Option<Option<[u8; Name::BYTES]>> {
    if at.is_null() || len == 0 {
        return None;
    }
    let is_name = len == Name::BYTES;
    // SAFETY: by the contract so many bytes are there.
    Some(is_name.then(|| unsafe { at.cast::<[u8; Name::BYTES]>().read_unaligned() }))
}

/// Whether an endpoint can be where this says. Names are drawn when endpoints open; only the host is known before.
pub(crate) fn can_be_opened_at(info: &RawInfo) -> bool {
    match address(info.src_addr, info.src_addrlen) {
        None => true,
        Some(asked) => asked.is_some_and(|asked| Name::of_this_host() == Ok(asked)),
    }
}

fn meets_tx(tx: &TxAttr) -> bool {
    tx.caps & !CAPS == 0
        && tx.op_flags & !TX_FLAGS == 0
        && tx.msg_order & !ORDERS == 0
        && tx.comp_order == 0
        && tx.inject_size <= INJECT_BYTES_MAX
        && tx.size <= SENDS_MAX
        && tx.iov_limit <= IOV_MAX
        && tx.rma_iov_limit <= PLACES_MAX
}

fn meets_rx(rx: &RxAttr) -> bool {
    rx.caps & !CAPS == 0
        && rx.op_flags & !RX_FLAGS == 0
        && rx.msg_order & !ORDERS == 0
        && rx.comp_order == 0
        && rx.size <= SENDS_MAX
        && rx.iov_limit <= IOV_MAX
}

fn meets_ep(ep: &EpAttr) -> bool {
    [FI_EP_UNSPEC, FI_EP_RDM].contains(&ep.kind)
        && [0, PROTOCOL].contains(&ep.protocol)
        && ep.max_msg_size <= isize::MAX as usize
        && ep.msg_prefix_size == 0
        && ep.max_order_war_size <= KEPT_BYTES_MAX
        && ep.tx_ctx_cnt <= 1
        && ep.rx_ctx_cnt <= 1
}

fn meets_domain(domain: &DomainAttr) -> bool {
    // In virtual time, a second thread would run at moments that the machine chooses.
    let is_model = is_in_virtual_time();
    let is_known = |progress| {
        (FI_PROGRESS_UNSPEC..=FI_PROGRESS_MANUAL).contains(&progress)
            && !(is_model && progress == FI_PROGRESS_AUTO)
    };
    is_known(domain.control_progress)
        && is_known(domain.data_progress)
        && domain.cq_data_size <= 8
        && domain.mr_key_size <= 8
        && domain.mr_iov_limit <= PARTS_MAX
        && domain.caps & !REACHED == 0
        && is_place(domain.name)
}

fn is_place(name: *const c_char) -> bool {
    if name.is_null() {
        return true;
    }
    // SAFETY: by the contract a terminated text.
    unsafe { CStr::from_ptr(name) == PLACE }
}

/// What a user with these hints gets; `None` if there is no memory.
fn offer(library: &Library, hints: Option<&Hints<'_>>, version: u32) -> Option<*mut RawInfo> {
    let raw = library.new_info();
    // SAFETY: it is null, or an empty one with all its parts, which is nobody else's.
    let info = unsafe { raw.as_mut() }?;
    // SAFETY: as above; no two of them are one.
    let parts = unsafe {
        (
            info.tx_attr.as_mut(),
            info.rx_attr.as_mut(),
            info.ep_attr.as_mut(),
            info.domain_attr.as_mut(),
            info.fabric_attr.as_mut(),
        )
    };
    // libfabric frees them by `free`.
    let copy = || {
        // SAFETY: a terminated text.
        unsafe { libc::strdup(PLACE.as_ptr()) }
    };
    let (Some(tx), Some(rx), Some(ep), Some(domain), Some(fabric)) = parts else {
        // SAFETY: it came from `new_info` just now.
        unsafe { library.free_info(raw) };
        return None;
    };
    info.caps = caps(hints.map_or(0, |hints| hints.info.caps));
    info.addr_format = ADDRESSES;
    // Without it, the user would have to open an endpoint first.
    if let Ok(host) = Name::of_this_host() {
        (info.src_addr, info.src_addrlen) = copy_of(host);
    }
    if let Some(Some(name)) = hints.and_then(Hints::destination) {
        (info.dest_addr, info.dest_addrlen) = copy_of(name.to_bytes());
    }
    fill_tx(tx, info.caps, hints.and_then(Hints::tx));
    fill_rx(rx, info.caps, hints.and_then(Hints::rx));
    ep.kind = FI_EP_RDM;
    ep.protocol = PROTOCOL;
    ep.protocol_version = 1;
    ep.max_msg_size = isize::MAX as usize;
    ep.max_order_raw_size = usize::MAX;
    ep.max_order_war_size = KEPT_BYTES_MAX;
    ep.max_order_waw_size = usize::MAX;
    ep.mem_tag_format = TAG_FORMAT;
    ep.tx_ctx_cnt = 1;
    ep.rx_ctx_cnt = 1;
    fill_domain(domain, hints.and_then(Hints::domain), version);
    domain.name = copy();
    fabric.name = copy();
    // The name of the provider is set by libfabric.
    fabric.prov_version = PROVIDER_VERSION;
    Some(raw)
}

/// An address that libfabric frees; none if there is no memory.
fn copy_of(bytes: [u8; Name::BYTES]) -> (*mut c_void, usize) {
    // SAFETY: any length may be asked for.
    let place = unsafe { libc::malloc(Name::BYTES) };
    if place.is_null() {
        return (place, 0);
    }
    // SAFETY: so much was given just now, to nobody else; any alignment will do.
    unsafe { place.cast::<[u8; Name::BYTES]>().write_unaligned(bytes) };
    (place, Name::BYTES)
}

/// The capabilities of a user that asks for these.
fn caps(asked: u64) -> u64 {
    if asked == 0 {
        return CAPS;
    }
    let of = |(of_what, all): (u64, u64)| match (asked & of_what, asked & all) {
        (0, _) => 0,
        (_, 0) => all,
        (_, some) => some,
    };
    let directions = DIRECTIONS.map(of);
    asked & PRIMARY | directions[0] | directions[1] | SECONDARY
}

fn fill_tx(tx: &mut TxAttr, caps: u64, hints: Option<&TxAttr>) {
    let memory = FI_RMA | FI_ATOMIC;
    tx.caps = caps & (FI_MSG | FI_TAGGED | FI_SEND | memory | FI_READ | FI_WRITE);
    tx.op_flags = hints.map_or(0, |hints| hints.op_flags);
    tx.msg_order = ORDERS;
    tx.inject_size = INJECT_BYTES_MAX;
    tx.size = SENDS_MAX;
    tx.iov_limit = IOV_MAX;
    tx.rma_iov_limit = PLACES_MAX;
}

fn fill_rx(rx: &mut RxAttr, caps: u64, hints: Option<&RxAttr>) {
    let messages = FI_MSG | FI_TAGGED | FI_RECV | FI_DIRECTED_RECV | FI_MULTI_RECV | FI_SOURCE;
    let memory = FI_RMA | FI_ATOMIC | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RMA_EVENT;
    rx.caps = caps & (messages | memory);
    rx.op_flags = hints.map_or(0, |hints| hints.op_flags);
    rx.msg_order = ORDERS;
    rx.size = SENDS_MAX;
    rx.iov_limit = IOV_MAX;
}

/// How a client of this version names registered memory. No mode that clients since 1.5 may offer is needed: addresses
/// are offsets, keys the user's, and nothing has to be allocated or bound.
fn mr_mode(version: u32, asked: c_int) -> c_int {
    match asked {
        FI_MR_BASIC | FI_MR_SCALABLE => asked,
        0 if version < MR_MODE_VERSION => FI_MR_SCALABLE,
        _ => 0,
    }
}

fn fill_domain(domain: &mut DomainAttr, hints: Option<&DomainAttr>, version: u32) {
    // Everything may be used by any thread, so any promise of the user is enough.
    domain.threading = match hints.map_or(FI_THREAD_UNSPEC, |hints| hints.threading) {
        FI_THREAD_UNSPEC => FI_THREAD_SAFE,
        promised => promised,
    };
    let progress = |asked| match asked {
        Some(FI_PROGRESS_AUTO) => FI_PROGRESS_AUTO,
        _ => FI_PROGRESS_MANUAL,
    };
    domain.control_progress = progress(hints.map(|hints| hints.control_progress));
    domain.data_progress = progress(hints.map(|hints| hints.data_progress));
    domain.resource_mgmt = FI_RM_ENABLED;
    domain.av_type = match hints.map_or(FI_AV_UNSPEC, |hints| hints.av_type) {
        FI_AV_UNSPEC => FI_AV_MAP,
        asked => asked,
    };
    domain.mr_mode = mr_mode(version, hints.map_or(0, |hints| hints.mr_mode));
    domain.mr_iov_limit = PARTS_MAX;
    domain.mr_key_size = 8;
    domain.cq_data_size = 8;
    domain.cq_cnt = 1024;
    domain.cntr_cnt = 1024;
    domain.ep_cnt = 256;
    domain.tx_ctx_cnt = 256;
    domain.rx_ctx_cnt = 256;
    domain.max_ep_tx_ctx = 1;
    domain.max_ep_rx_ctx = 1;
    domain.caps = REACHED;
}

const _: () = assert!(Name::BYTES <= FI_NAME_MAX);
const _: () = assert!(FI_AV_TABLE > FI_AV_MAP);
