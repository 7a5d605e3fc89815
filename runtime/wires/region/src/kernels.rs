//! How a kernel gets a number in a region, only by loads and stores.
//!
//! Each number has two lines to which all kernels may store, with a word in each: the last asker's token,
//! and whether the number is closed. An asker stores its token to the first, checks that the second does not
//! say closed, closes it, and checks that its token is still in the first. If it is, the asker has the
//! number.
//!
//! No two kernels get the same number. Suppose that P and Q both found their token at the end, and P stored
//! its token before Q. P found its token after it had closed the number, so Q had not stored yet. So Q
//! checked whether the number is closed after P had closed it, and found it closed: a contradiction. This
//! needs no time limit: an asker that is stopped or ends in between only makes a number unusable.
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

/// Whether a kernel has this number.
pub(super) fn is_had(window: &Window, head: &Head, kernel: u32) -> Result<bool> {
    let at = block_offset_bytes(head, kernel) + EPOCH_OFFSET_BYTES;
    Ok(window.load_word(at)? != 0)
}

/// The number of the kernel with this epoch, if it has one.
fn number(window: &Window, head: &Head, epoch: u64) -> Result<Option<u32>> {
    for kernel in 0..head.kernels {
        let at = block_offset_bytes(head, kernel) + EPOCH_OFFSET_BYTES;
        if window.load_word(at)? == epoch {
            return Ok(Some(kernel));
        }
    }
    Ok(None)
}

/// The number of the kernel with this epoch, which gets one if it has none. The token must be unique and not
/// 0.
///
/// # Errors
/// [`RegionFault::Kernels`] if all numbers have been used.
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
