//! How a kernel gets a number in a region, by loads and stores alone.
//!
//! Each number has two lines that all kernels may store to, a word in each: who was the last to ask, and
//! whether the number is closed. Who asks stores a token to the first, looks whether the second says closed,
//! closes it, and looks whether its token is still the last. If it is, the number is its own.
//!
//! No two get the same number. Say both found their token, and P stored its token before Q did. P found its
//! own after it had closed the number, so Q had not stored yet; so Q looked whether the number is
//! closed after P had closed it, and found that it is. That needs no time limit: whoever is stopped or ends
//! in between takes nothing but a number out of use.
//!
//! The processes of a kernel ask one after the other ([`super::table_lock`]).

use hostwire_transport::error::RegionFault;
use hostwire_transport::window::Window;

use super::format::{
    ASKED_OFFSET_BYTES, BLOCKS_OFFSET_BYTES, CLOSED_OFFSET_BYTES, EPOCH_OFFSET_BYTES, Head,
};
use super::{Result, fault};

/// Where the block of a kernel begins.
pub(super) const fn block_offset_bytes(head: &Head, kernel: u32) -> usize {
    BLOCKS_OFFSET_BYTES + kernel as usize * head.block_bytes()
}

/// Whether a kernel has that number.
pub(super) fn is_had(window: &Window, head: &Head, kernel: u32) -> Result<bool> {
    let at = block_offset_bytes(head, kernel) + EPOCH_OFFSET_BYTES;
    Ok(window.load_word(at)? != 0)
}

/// The number of the kernel of that epoch, if it has one.
fn number(window: &Window, head: &Head, epoch: u64) -> Result<Option<u32>> {
    for kernel in 0..head.kernels {
        let at = block_offset_bytes(head, kernel) + EPOCH_OFFSET_BYTES;
        if window.load_word(at)? == epoch {
            return Ok(Some(kernel));
        }
    }
    Ok(None)
}

/// The number of the kernel of that epoch, which gets one if it has none. Nobody else has the token,
/// which is not 0.
///
/// # Errors
/// [`RegionFault::Kernels`]: there are no more.
pub(super) fn enter(window: &Window, head: &Head, epoch: u64, token: u64) -> Result<u32> {
    if let Some(kernel) = number(window, head, epoch)? {
        return Ok(kernel);
    }
    for kernel in 0..head.kernels {
        let at = block_offset_bytes(head, kernel);
        if is_first(window, at, token)? {
            window.put_word(at + EPOCH_OFFSET_BYTES, epoch)?;
            window.visibility().quiet();
            return Ok(kernel);
        }
    }
    let kernels = head.kernels;
    Err(fault(RegionFault::Kernels { kernels }))
}

fn is_first(window: &Window, block: usize, token: u64) -> Result<bool> {
    let (asked, closed) = (block + ASKED_OFFSET_BYTES, block + CLOSED_OFFSET_BYTES);
    window.put_word(asked, token)?;
    hostwire_transport::site!("kernels: asked before looking", window.visibility().quiet());
    if window.load_word(closed)? != 0 {
        return Ok(false);
    }
    window.put_word(closed, 1)?;
    hostwire_transport::site!(
        "kernels: closed before looking",
        window.visibility().quiet()
    );
    Ok(window.load_word(asked)? == token)
}
