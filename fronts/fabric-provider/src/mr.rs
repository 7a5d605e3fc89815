//! Registered memory: a region that all endpoints of a domain let their peers use.

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use hostwire::station::{MemoryRegion, MemoryRegions, Rights, Witness};
use hostwire_fabric_abi::{
    FI_CLASS_CNTR, FI_CLASS_EP, FI_CLASS_MR, FI_ENABLE, FI_ENOKEY, FI_REMOTE_READ, FI_REMOTE_WRITE,
    Fid, FidMr, FidOps, MrAttr, MrOps,
};
use hostwire_transport::Memory;
use hostwire_transport::memory::Backing;

use crate::cntr::{self, Counter};
use crate::domain;
use crate::domain_endpoints::DomainEndpoints;
use crate::object::{Table, fid_ops_of, give, take};

/// Parts that a registration may have.
pub(crate) const PARTS_MAX: usize = 1;
/// Nothing lies below: registrations of all memory begin at null.
const FIRST_ADDRESS: usize = 4096;

pub(crate) static OPS: Table<MrOps> = Table(MrOps {
    size: size_of::<MrOps>(),
    reg: Some(reg),
    regv: Some(regv),
    regattr: Some(regattr),
});

static FID_OPS: Table<FidOps> = Table(fid_ops_of(close, bind, control));

#[repr(C)]
struct Mr {
    fid: FidMr,
    regions: Arc<MemoryRegions>,
    members: Arc<DomainEndpoints>,
    counts: Arc<Counts>,
}

/// The counters of a registration: of what reads it, and of what writes it.
#[derive(Default)]
struct Counts {
    read: OnceLock<Arc<Counter>>,
    written: OnceLock<Arc<Counter>>,
}

impl Witness for Counts {
    fn ended(&self, did: Rights) {
        let both = [(did.read, &self.read), (did.write, &self.written)];
        for (_, counter) in both.into_iter().filter(|(is, _)| *is) {
            if let Some(counter) = counter.get() {
                counter.count_use();
            }
        }
    }
}

/// The program has lent it until it closes the registration.
struct Lent;

impl Backing for Lent {}

unsafe extern "C" fn reg(
    domain: *mut Fid,
    buf: *const c_void,
    len: usize,
    access: u64,
    offset: u64,
    key: u64,
    flags: u64,
    out: *mut *mut FidMr,
    context: *mut c_void,
) -> c_int {
    let part = libc::iovec {
        iov_base: buf.cast_mut(),
        iov_len: len,
    };
    // SAFETY: by the contract; there is one part.
    unsafe {
        regv(
            domain,
            &raw const part,
            1,
            access,
            offset,
            key,
            flags,
            out,
            context,
        )
    }
}

unsafe extern "C" fn regv(
    domain: *mut Fid,
    parts: *const libc::iovec,
    count: usize,
    access: u64,
    offset: u64,
    requested_key: u64,
    flags: u64,
    out: *mut *mut FidMr,
    context: *mut c_void,
) -> c_int {
    let attr = MrAttr {
        mr_iov: parts,
        iov_count: count,
        access,
        offset,
        requested_key,
        context,
    };
    // SAFETY: by the contract.
    unsafe { regattr(domain, &raw const attr, flags, out) }
}

unsafe extern "C" fn regattr(
    domain: *mut Fid,
    attr: *const MrAttr,
    flags: u64,
    out: *mut *mut FidMr,
) -> c_int {
    // SAFETY: by the contract it is a domain, and the attributes are there.
    let (domain, attr) = unsafe { (domain::of(domain), &*attr) };
    if attr.iov_count > PARTS_MAX || attr.offset != 0 || flags != 0 {
        return -libc::EINVAL;
    }
    let (mut base, mut len) = (core::ptr::null_mut(), 0);
    if attr.iov_count > 0 {
        // SAFETY: by the contract as many parts are there.
        let part = unsafe { attr.mr_iov.read() };
        (base, len) = (part.iov_base.cast::<u8>(), part.iov_len);
    }
    let begin = base.addr().max(FIRST_ADDRESS);
    let skipped = begin - base.addr();
    let Some(first_byte) = NonNull::new(base.with_addr(begin)) else {
        return -libc::EINVAL;
    };
    let len = len.saturating_sub(skipped).min(isize::MAX as usize);
    // SAFETY: by the contract of a registration the memory is there whenever a peer that has the key
    // uses it, and until the registration is closed; and may be read and written as its rights say.
    // No reference of this library leads there but those of its own operations, which by their
    // contracts are on memory that nobody else uses meanwhile.
    let memory = unsafe { Memory::new(first_byte, len, Arc::new(Lent)) };
    let region = MemoryRegion {
        memory,
        first: match domain.has_addresses() {
            true => begin as u64,
            false => skipped as u64,
        },
        rights: Rights {
            read: attr.access & FI_REMOTE_READ != 0,
            write: attr.access & FI_REMOTE_WRITE != 0,
        },
        // Without a counter nobody has to learn of it.
        witness: None,
    };
    let counts = Arc::<Counts>::default();
    let key = (!domain.draws_keys()).then_some(attr.requested_key);
    let Some(key) = domain.regions.add(key, region) else {
        return -FI_ENOKEY;
    };
    let fid = Fid {
        class: FI_CLASS_MR,
        context: attr.context,
        ops: &raw const FID_OPS.0,
    };
    let mr = Mr {
        fid: FidMr {
            fid,
            mem_desc: core::ptr::null_mut(),
            key,
        },
        regions: Arc::clone(&domain.regions),
        members: Arc::clone(&domain.members),
        counts,
    };
    // SAFETY: by the contract `out` can be written to; an `Mr` begins with a `FidMr`.
    unsafe { give(out, mr) }
}

impl Mr {
    fn count(&self, counter: &Arc<Counter>, flags: u64) -> c_int {
        if flags == 0 || flags & !(FI_REMOTE_READ | FI_REMOTE_WRITE) != 0 {
            return -libc::EINVAL;
        }
        let both = [
            (FI_REMOTE_READ, &self.counts.read),
            (FI_REMOTE_WRITE, &self.counts.written),
        ];
        for (_, place) in both.into_iter().filter(|(flag, _)| flags & flag != 0) {
            if place.set(Arc::clone(counter)).is_err() {
                return -libc::EINVAL;
            }
        }
        self.members.watch(counter);
        let witness = Arc::clone(&self.counts) as Arc<dyn Witness>;
        self.regions.watch(self.fid.key, witness);
        0
    }
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: by the contract it is one of `regattr`, and closed once.
    let mr = unsafe { take::<Mr>(fid) };
    mr.regions.remove(mr.fid.key);
    0
}

/// A counter counts what peers do to the memory. Every endpoint of the domain lets its peers use it: an
/// endpoint may be bound, and nothing happens.
unsafe extern "C" fn bind(fid: *mut Fid, other: *mut Fid, flags: u64) -> c_int {
    // SAFETY: by the contract it is another object of this library.
    match unsafe { (*other).class } {
        FI_CLASS_EP => 0,
        FI_CLASS_CNTR => {
            // SAFETY: by the contract it is one of `regattr` that is open; the class of the other
            // one says what it is.
            let (mr, counter) = unsafe { (&*fid.cast::<Mr>(), cntr::counter(other)) };
            mr.count(&counter, flags)
        }
        _ => -libc::ENOSYS,
    }
}

unsafe extern "C" fn control(_: *mut Fid, command: c_int, _: *mut c_void) -> c_int {
    match command {
        FI_ENABLE => 0,
        _ => -libc::ENOSYS,
    }
}
