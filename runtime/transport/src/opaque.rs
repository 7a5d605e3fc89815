//! Makes the compiler compute a value at a certain place.
//!
//! If each of the four stores of a put adds up its own address, these additions compete
//! with loads for the address units (measured: +25 % in 64-byte puts). And a computation
//! that is made after a wait instead of before it adds to the latency.

/// The address, as one register.
#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(miri, loom))
))]
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
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[inline(always)]
pub(crate) fn word(mut value: u64) -> u64 {
    // SAFETY: no instruction; the register is given back as it was.
    unsafe {
        core::arch::asm!("/* {} */", inout(reg) value, options(nomem, nostack, preserves_flags));
    }
    value
}

#[cfg(all(
    any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri),
    not(loom)
))]
#[inline(always)]
pub(crate) fn address(at: *mut u8) -> *mut u8 {
    at
}

#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
#[inline(always)]
pub(crate) fn word(value: u64) -> u64 {
    value
}
