//! Addresses: names of stations, to which the program refers by their place in a table.

use core::ffi::{c_char, c_int, c_void};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire::station::Name;
use hostwire_fabric_abi::{
    AvAttr, AvOps, FI_ADDR_UNSPEC, FI_CLASS_AV, Fid, FidAv, FidDomain, FidOps,
};

use crate::object::{Table, UNSUPPORTED, fid_ops_of, give, take};

/// The part of a table that endpoints look at.
#[derive(Default)]
pub(crate) struct Addresses {
    books: Mutex<Books>,
    /// Grows with every change.
    version: AtomicU64,
}

#[derive(Default)]
struct Books {
    names: Vec<Option<Name>>,
    /// By the number of a station: the first place that it got.
    places: HashMap<u128, u64>,
}

impl Addresses {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    pub(crate) fn name(&self, address: u64) -> Option<Name> {
        let place = usize::try_from(address).ok()?;
        self.books().names.get(place).copied().flatten()
    }

    /// The address that the program has for that station, if it has one.
    pub(crate) fn address(&self, name: &Name) -> Option<u64> {
        self.books().places.get(&name.id()).copied()
    }

    fn insert(&self, name: Name) -> u64 {
        let mut books = self.books();
        let place = books.names.len() as u64;
        books.names.push(Some(name));
        books.places.entry(name.id()).or_insert(place);
        self.version.fetch_add(1, Ordering::Release);
        place
    }

    /// Removes an address. Returns whether it was there.
    fn remove(&self, address: u64) -> bool {
        let mut books = self.books();
        let place = usize::try_from(address).unwrap_or(usize::MAX);
        let Some(name) = books.names.get_mut(place).and_then(Option::take) else {
            return false;
        };
        let same = |other: &Option<Name>| other.is_some_and(|other| other.id() == name.id());
        match books.names.iter().position(same) {
            Some(next) => books.places.insert(name.id(), next as u64),
            None => books.places.remove(&name.id()),
        };
        self.version.fetch_add(1, Ordering::Release);
        true
    }
}

#[repr(C)]
struct Av {
    fid: FidAv,
    addresses: Arc<Addresses>,
}

static FID_OPS: Table<FidOps> = Table(fid_ops_of(close, bind, control));

static OPS: Table<AvOps> = Table(AvOps {
    size: size_of::<AvOps>(),
    insert: Some(insert),
    insertsvc: UNSUPPORTED,
    insertsym: UNSUPPORTED,
    remove: Some(remove),
    lookup: Some(lookup),
    straddr: Some(straddr),
    av_set: UNSUPPORTED,
});

/// `fi_av_open(3)`.
pub(crate) unsafe extern "C" fn open(
    _: *mut FidDomain,
    attr: *mut AvAttr,
    out: *mut *mut FidAv,
    context: *mut c_void,
) -> c_int {
    // SAFETY: by the contract null, or such a structure.
    if let Some(attr) = unsafe { attr.as_ref() } {
        let is_shared = !attr.name.is_null();
        // Completions in an event queue, addresses of several contexts: not offered.
        if is_shared || attr.flags != 0 || attr.rx_ctx_bits != 0 {
            return -libc::ENOSYS;
        }
    }
    let fid = Fid {
        class: FI_CLASS_AV,
        context,
        ops: &raw const FID_OPS.0,
    };
    let av = Av {
        fid: FidAv {
            fid,
            ops: &raw const OPS.0,
        },
        addresses: Arc::default(),
    };
    // SAFETY: by the contract `out` can be written to; an `Av` begins with a `FidAv`.
    unsafe { give(out, av) }
}

/// The addresses of a table that is bound to an endpoint.
///
/// # Safety
/// `fid` is of an address vector of this library that is open.
pub(crate) unsafe fn addresses(fid: *mut Fid) -> Arc<Addresses> {
    // SAFETY: as this function demands.
    let av = unsafe { &*fid.cast::<Av>() };
    Arc::clone(&av.addresses)
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: by the contract it is one of `open`, and closed once.
    drop(unsafe { take::<Av>(fid) });
    0
}

/// An event queue may be bound: nothing goes there.
unsafe extern "C" fn bind(_: *mut Fid, _: *mut Fid, _: u64) -> c_int {
    0
}

unsafe extern "C" fn control(_: *mut Fid, _: c_int, _: *mut c_void) -> c_int {
    -libc::ENOSYS
}

/// # Safety
/// As the contract says of `av`.
unsafe fn of<'a>(av: *mut FidAv) -> &'a Addresses {
    // SAFETY: as this function demands.
    let av = unsafe { &*av.cast::<Av>() };
    debug_assert_eq!(av.fid.fid.class, FI_CLASS_AV);
    &av.addresses
}

unsafe extern "C" fn insert(
    av: *mut FidAv,
    names: *const c_void,
    count: usize,
    out: *mut u64,
    _: u64,
    _: *mut c_void,
) -> c_int {
    // SAFETY: by the contract.
    let addresses = unsafe { of(av) };
    let mut inserted = 0;
    for at in 0..count {
        // SAFETY: by the contract `count` names are there.
        let bytes = unsafe { names.cast::<[u8; Name::BYTES]>().add(at).read() };
        let name = Name::from_bytes(&bytes);
        inserted += c_int::from(name.is_some());
        let place = name.map_or(FI_ADDR_UNSPEC, |name| addresses.insert(name));
        if !out.is_null() {
            // SAFETY: by the contract there is room for `count` of them.
            unsafe { out.add(at).write(place) };
        }
    }
    inserted
}

unsafe extern "C" fn remove(av: *mut FidAv, these: *mut u64, count: usize, _: u64) -> c_int {
    // SAFETY: by the contract.
    let addresses = unsafe { of(av) };
    let mut result = 0;
    for at in 0..count {
        // SAFETY: by the contract `count` of them are there.
        let address = unsafe { these.add(at).read() };
        if !addresses.remove(address) {
            result = -libc::EINVAL;
        }
    }
    result
}

unsafe extern "C" fn lookup(
    av: *mut FidAv,
    address: u64,
    out: *mut c_void,
    len: *mut usize,
) -> c_int {
    // SAFETY: by the contract.
    let Some(name) = (unsafe { of(av) }).name(address) else {
        return -libc::EINVAL;
    };
    // SAFETY: by the contract `len` can be read and written, and as many bytes at `out` written.
    unsafe {
        let room = len.read().min(Name::BYTES);
        core::ptr::copy_nonoverlapping(name.to_bytes().as_ptr(), out.cast(), room);
        len.write(Name::BYTES);
    }
    0
}

/// The key is not shown.
unsafe extern "C" fn straddr(
    _: *mut FidAv,
    name: *const c_void,
    out: *mut c_char,
    len: *mut usize,
) -> *const c_char {
    // SAFETY: by the contract a name is there.
    let bytes = unsafe { name.cast::<[u8; Name::BYTES]>().read() };
    let text = match Name::from_bytes(&bytes) {
        Some(name) => format!("fi_hostwire://{:032x}\0", name.id()),
        None => "fi_hostwire://?\0".to_owned(),
    };
    // SAFETY: by the contract `len` can be read and written, and as many bytes at `out` written.
    unsafe {
        let room = len.read().min(text.len());
        core::ptr::copy_nonoverlapping(text.as_ptr().cast(), out, room);
        if let Some(last) = room.checked_sub(1) {
            out.add(last).write(0);
        }
        len.write(text.len());
    }
    out
}
