//! Who notices the end of a PE on another host for a wire that does not notice it by itself.

use crate::error::PeId;

/// Notices that processes of other hosts have ended.
pub trait Watch: Send + Sync {
    /// Whether `pe` is known to have ended. May cost a system call, now and then.
    fn has_ended(&self, pe: PeId) -> bool;

    /// Whether the end of `pe` would be noticed.
    fn notices(&self, pe: PeId) -> bool;
}
