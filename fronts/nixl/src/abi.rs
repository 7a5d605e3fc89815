//! The functions that `csrc/plugin.cpp` calls; `csrc/hostwire_nixl.h` declares them.
//!
//! # Safety
//! An agent or a transfer is one that a function of this module has given and that was not closed. Each pointer leads to as many
//! bytes as its length says. The contract of NIXL is kept: see the [crate].

#![allow(
    clippy::missing_safety_doc,
    reason = "all have the contract of the module"
)]

use core::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::sync::Arc;

use hostwire::PeId;

use crate::agent::Agent;
use crate::bytes::Loan;
use crate::engine::{Order, Piece};
use crate::status::Status;
use crate::transfer::Transfer;

/// Bytes of C++.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Text {
    first: *const u8,
    len: usize,
}

impl Text {
    /// # Safety
    /// The contract of the [module](self); nobody writes to them while the result lives.
    unsafe fn bytes<'a>(self) -> &'a [u8] {
        match self.len {
            0 => &[],
            // SAFETY: as this function demands.
            len => unsafe { core::slice::from_raw_parts(self.first, len) },
        }
    }
}

/// A piece of a transfer, as C++ has it.
#[repr(C)]
pub struct RawPiece {
    here: *mut u8,
    len: usize,
    there: u64,
    key: u64,
}

/// A transfer, as C++ has it.
#[repr(C)]
pub struct RawOrder {
    is_read: bool,
    has_message: bool,
    with: PeId,
    pieces: *const RawPiece,
    count: usize,
    message: Text,
}

/// What C++ does with a notification: its sender, and what it says.
pub type Give = unsafe extern "C" fn(context: *mut c_void, agent: Text, message: Text);

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// The version of hostwire.
#[unsafe(no_mangle)]
pub extern "C" fn hw_nixl_version() -> *const c_char {
    VERSION.as_ptr()
}

/// An agent of this name, or null. Why there is none is written to the standard error: NIXL asks for no more than that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_open(agent: Text, has_thread: bool) -> *mut Agent {
    // SAFETY: the contract.
    match Agent::open(unsafe { agent.bytes() }, has_thread) {
        Ok(agent) => Box::into_raw(Box::new(agent)),
        Err(why) => {
            // It is no error if nobody reads the line.
            let _ = writeln!(std::io::stderr(), "hostwire: {why}");
            core::ptr::null_mut()
        }
    }
}

/// Its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_close(agent: *mut Agent) {
    // SAFETY: the contract; it came from `into_raw`.
    unsafe { Box::from_raw(agent) }.close();
}

/// Writes the name by which others reach it, of 64 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_name(own: *const Agent, out: *mut [u8; 64]) {
    // SAFETY: the contract.
    let (own, out) = unsafe { (&*own, &mut *out) };
    *out = own.engine.station.name().to_bytes();
}

/// Learns where another agent is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_load(own: *const Agent, agent: Text, name: Text) -> Status {
    // SAFETY: the contract.
    let (engine, agent, name) = unsafe { (&(*own).engine, agent.bytes(), name.bytes()) };
    engine.load(agent, name).into()
}

/// Forgets it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_unload(own: *const Agent, agent: Text) -> Status {
    // SAFETY: the contract.
    let (engine, agent) = unsafe { (&(*own).engine, agent.bytes()) };
    engine.unload(agent).into()
}

/// Gives the number of an agent here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_number(own: *const Agent, agent: Text, out: *mut PeId) -> Status {
    // SAFETY: the contract.
    let (engine, agent) = unsafe { (&(*own).engine, agent.bytes()) };
    let number = engine.number(agent);
    // SAFETY: the contract.
    number.map(|number| unsafe { out.write(number) }).into()
}

/// Lets others use memory, and gives its key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_register(
    own: *const Agent,
    first: *mut u8,
    len: usize,
    out: *mut u64,
) -> Status {
    // SAFETY: the contract.
    let key = unsafe { (*own).engine.register(first, len) };
    // SAFETY: the contract.
    key.map(|key| unsafe { out.write(key) }).into()
}

/// Nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_deregister(own: *const Agent, key: u64) -> Status {
    // SAFETY: the contract.
    unsafe { (*own).engine.deregister(key).into() }
}

/// A transfer that was not started.
#[unsafe(no_mangle)]
pub extern "C" fn hw_nixl_transfer() -> *const Transfer {
    Arc::into_raw(Transfer::new())
}

/// Starts it: its status, or why it was not started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_post(
    own: *const Agent,
    transfer: *const Transfer,
    order: *const RawOrder,
) -> Status {
    // SAFETY: the contract; the transfer came from `into_raw`, and one more is counted.
    let (engine, order, transfer) = unsafe {
        Arc::increment_strong_count(transfer);
        (&(*own).engine, &*order, Arc::from_raw(transfer))
    };
    let raw = match order.count {
        0 => &[],
        // SAFETY: the contract.
        count => unsafe { core::slice::from_raw_parts(order.pieces, count) },
    };
    let piece = |raw: &RawPiece| {
        // SAFETY: the contract: NIXL leaves the memory alone until the transfer was released, which waits for its end.
        let here = unsafe { Loan::new(raw.here, raw.len) };
        let here = here.filter(|here| here.address().checked_add(here.len() as u64).is_some());
        let (there, key) = (raw.there, raw.key);
        here.map(|here| Piece { here, there, key })
    };
    let Some(pieces) = raw.iter().map(piece).collect() else {
        return Status::INVALID;
    };
    // SAFETY: the contract.
    let message = unsafe { order.message.bytes() };
    let order = Order {
        is_read: order.is_read,
        with: order.with,
        pieces,
        message: order.has_message.then(|| message.to_vec()),
    };
    engine.post(&transfer, order)
}

/// How it has ended, or that it has not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_check(own: *const Agent, transfer: *const Transfer) -> Status {
    // SAFETY: the contract.
    unsafe { (*own).engine.check(&*transfer) }
}

/// Waits for its end, and frees it unless there is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_release(own: *const Agent, transfer: *const Transfer) -> Status {
    // SAFETY: the contract.
    let released = unsafe { (*own).engine.release(&*transfer) };
    if released.is_ok() {
        // SAFETY: the contract; it came from `into_raw`.
        drop(unsafe { Arc::from_raw(transfer) });
    }
    released.into()
}

/// Sends a notification that belongs to no transfer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_notify(own: *const Agent, agent: Text, message: Text) -> Status {
    // SAFETY: the contract.
    let (engine, agent, message) = unsafe { (&(*own).engine, agent.bytes(), message.bytes()) };
    engine.notify(agent, message).into()
}

/// Gives all notifications that have come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hw_nixl_take(
    own: *const Agent,
    give: Give,
    context: *mut c_void,
) -> Status {
    let text = |bytes: &[u8]| Text {
        first: bytes.as_ptr(),
        len: bytes.len(),
    };
    // SAFETY: the contract.
    let engine = unsafe { &(*own).engine };
    // SAFETY: the contract: `give` copies them, and does not call back.
    let give = |agent: &[u8], message: &[u8]| unsafe { give(context, text(agent), text(message)) };
    engine.take(give).into()
}
