//! The place in the program where a routine was called, as far as symbols show it.
//!
//! A *place* is an address that means the same in all PEs, which run the same program at
//! different addresses: the number of the executable or library in its upper 16 bits, and the
//! distance from its beginning.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// The header whose functions are inline in the program's.
const INLINE: &str = "shmemx_inline.h";

/// Whether the code at an address is the library's own, by address.
static OWN: Mutex<Option<HashMap<usize, bool>>> = Mutex::new(None);

/// The address of the call that the program made.
pub(crate) fn caller() -> usize {
    let mut found = 0;
    backtrace::trace(|frame| {
        let address = frame.ip() as usize;
        if is_own(address) {
            return true;
        }
        // A return address: the call is in front of it.
        found = address.wrapping_sub(1);
        false
    });
    found
}

fn is_own(address: usize) -> bool {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    *own.get_or_insert_default()
        .entry(address)
        .or_insert_with(|| look_up(address))
}

/// All code in the shared library is its own. In a program with the static library,
/// symbols decide: the library's code is Rust, or has the name of a routine.
fn look_up(address: usize) -> bool {
    let call = address.wrapping_sub(1);
    let Some(object) = object_of(call) else {
        return false;
    };
    if Some(object) != object_of(look_up as *const () as usize) {
        return false;
    }
    // SAFETY: reads a number that the kernel has given the process.
    let entry = unsafe { libc::getauxval(libc::AT_ENTRY) };
    if Some(object) != object_of(entry as usize) {
        return true;
    }
    let mut is_own = false;
    backtrace::resolve(call as *mut c_void, |symbol| {
        let is_rust = symbol
            .filename()
            .is_some_and(|file| file.extension().is_some_and(|extension| extension == "rs"));
        let name = symbol
            .name()
            .map(|name| name.to_string())
            .unwrap_or_default();
        // The last symbol is the function itself, and those before are inlined into it. Functions
        // of ours may be inlined into those of the program.
        is_own = is_rust || name.starts_with("shmem_") || name.starts_with("pshmem_");
    });
    is_own
}

/// The number of the executable or library that has this address. Not by `dladdr`, which finds
/// nothing in a statically linked program.
fn object_of(address: usize) -> Option<usize> {
    let has_it = |object: &Object| (object.start..object.end).contains(&address);
    find_object(|objects| objects.iter().position(has_it))
}

/// "file.c:12 (main)", or as much of it as there is.
pub(crate) fn describe(address: usize) -> String {
    let mut function = None;
    let mut line = None;
    backtrace::resolve(address as *mut c_void, |symbol| {
        if symbol.filename().is_some_and(|file| file.ends_with(INLINE)) {
            return;
        }
        if function.is_none() {
            function = symbol.name().map(|name| name.to_string());
        }
        if let (None, Some(file), Some(number)) = (&line, symbol.filename(), symbol.lineno()) {
            line = Some(format!("{}:{number}", file.display()));
        }
    });
    match (line, function) {
        (Some(line), Some(function)) => format!("{line} ({function})"),
        (Some(line), None) => line,
        (None, Some(function)) => format!("{function} (address {address:#x})"),
        (None, None) => format!("address {address:#x}"),
    }
}

/// An executable or library, in the order of the loader.
#[derive(Debug, Clone, Copy)]
struct Object {
    /// The base of the addresses in its file.
    base: usize,
    start: usize,
    end: usize,
}

static OBJECTS: Mutex<Vec<Object>> = Mutex::new(Vec::new());
const OFFSET_BITS: u32 = 48;

/// The result of `look` in the objects; if it finds nothing, they are listed again, because
/// more may have been loaded.
fn find_object<R>(look: impl Fn(&[Object]) -> Option<R>) -> Option<R> {
    let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = look(&objects) {
        return Some(found);
    }
    let mut all: Vec<Object> = Vec::new();
    // SAFETY: the callback gets the pointer back, while `all` is alive.
    unsafe { libc::dl_iterate_phdr(Some(list), (&raw mut all).cast()) };
    *objects = all;
    look(&objects)
}

unsafe extern "C" fn list(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut c_void,
) -> libc::c_int {
    // SAFETY: `find_object` passed a pointer to this.
    let all = unsafe { &mut *data.cast::<Vec<Object>>() };
    // SAFETY: the loader's description of an object, valid during the call.
    let info = unsafe { &*info };
    // SAFETY: the object's program headers, as many as it says.
    let headers =
        unsafe { core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let base = info.dlpi_addr as usize;
    let parts = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD);
    let start = parts.clone().map(|part| part.p_vaddr as usize).min();
    let end = parts
        .map(|part| (part.p_vaddr + part.p_memsz) as usize)
        .max();
    all.push(Object {
        base,
        start: base + start.unwrap_or(0),
        end: base + end.unwrap_or(0),
    });
    0
}

/// The place of an address of this process; 0 if it is of no code.
pub(crate) fn place(address: usize) -> u64 {
    let look = |objects: &[Object]| {
        let (number, object) = objects
            .iter()
            .enumerate()
            .find(|(_, object)| (object.start..object.end).contains(&address))?;
        Some((number as u64) << OFFSET_BITS | (address - object.base) as u64)
    };
    find_object(look).unwrap_or(0)
}

/// The place of the call that the program made.
pub(crate) fn caller_place() -> u64 {
    place(caller())
}

/// As [`describe`], for a place, of whichever PE.
pub(crate) fn describe_place(place: u64) -> String {
    let number = (place >> OFFSET_BITS) as usize;
    let offset = (place & ((1 << OFFSET_BITS) - 1)) as usize;
    let base = find_object(|objects| objects.get(number).map(|object| object.base));
    match base.filter(|_| place != 0) {
        // A peer may have sent anything: no address is used, only looked up.
        Some(base) => describe(base.wrapping_add(offset)),
        None => "an unknown place".into(),
    }
}

/// The name of the variable at an address, and which of its bytes that is.
pub(crate) fn variable(address: usize) -> Option<(String, usize)> {
    let mut found = None;
    // It looks one byte before the address, which is right for a return address.
    backtrace::resolve((address + 1) as *mut c_void, |symbol| {
        let (Some(name), Some(start)) = (symbol.name(), symbol.addr()) else {
            return;
        };
        let byte = address.wrapping_sub(start as usize);
        found = Some((name.to_string(), byte));
    });
    found
}

/// As a part of a sentence.
pub(crate) fn here() -> String {
    format!("called at {}", describe(caller()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_address_that_it_was() {
        let address = a_place_is_the_address_that_it_was as *const () as usize;
        let place = place(address);
        assert_ne!(place, 0);
        assert_eq!(describe_place(place), describe(address));
        assert_eq!(super::place(1), 0);
        for nowhere in [0, 1 << 63, u64::MAX] {
            assert!(!describe_place(nowhere).is_empty());
        }
    }
}
