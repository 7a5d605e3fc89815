//! Who notices the end of a PE on another host for a wire that does not notice it by itself.

use core::time::Duration;

use crate::error::PeId;

/// Notices that processes of other hosts have ended.
pub trait Watch: Send + Sync {
    /// Whether `pe` is known to have ended. May cost a system call, now and then.
    fn has_ended(&self, pe: PeId) -> bool;

    /// Whether the end of `pe` would be noticed.
    fn notices(&self, pe: PeId) -> bool;

    /// How long ago the kernel of the host of `pe` has answered; `None` if nobody asks it. May cost a system call.
    fn host_answered_ago(&self, pe: PeId) -> Option<Duration>;
}
