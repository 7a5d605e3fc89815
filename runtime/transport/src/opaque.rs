//! Values that the compiler has to have worked out at a certain place.
//!
//! An address added up in each of the four stores of a put competes with loads for the
//! units that add (measured: +25 % in 64-byte puts). A computation after a wait that
//! could be done before it adds to the latency.

/// The address, as one register.
#[cfg(all(target_arch = "x86_64", not(any(miri, loom))))]
#[inline(always)]
#[expect(
    clippy::pointers_in_nomem_asm_block,
    reason = "the address is passed on, and nothing behind it is touched"
)]
pub(crate) fn address(mut at: *mut u8) -> *mut u8 {
    // SAFETY: no instruction; the register is given back as it was.
    unsafe {
        core::arch::asm!("/* {} */", inout(reg) at, options(nomem, nostack, preserves_flags));
    }
    at
}

/// The word, as one register.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(crate) fn word(mut value: u64) -> u64 {
    // SAFETY: no instruction; the register is given back as it was.
    unsafe {
        core::arch::asm!("/* {} */", inout(reg) value, options(nomem, nostack, preserves_flags));
    }
    value
}

#[cfg(all(any(not(target_arch = "x86_64"), miri), not(loom)))]
#[inline(always)]
pub(crate) fn address(at: *mut u8) -> *mut u8 {
    at
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
pub(crate) fn word(value: u64) -> u64 {
    value
}
