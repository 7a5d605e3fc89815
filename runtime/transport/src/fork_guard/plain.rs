//! Ordinary memory, for systems where no process of a job can be copied.

use crate::sync::AtomicU64;

use crate::error::TransportError;

#[derive(Debug)]
pub(super) struct Words(Box<[AtomicU64]>);

impl Words {
    #[expect(clippy::unnecessary_wraps, reason = "as where the kernel may refuse")]
    pub(super) fn new(count: usize) -> Result<Self, TransportError> {
        Ok(Self((0..count).map(|_| AtomicU64::new(0)).collect()))
    }

    pub(super) fn are_wiped_by_kernel(&self) -> bool {
        true
    }

    #[inline(always)]
    pub(super) fn first(&self) -> &AtomicU64 {
        &self.0[0]
    }

    #[inline(always)]
    pub(super) fn words(&self) -> &[AtomicU64] {
        &self.0
    }
}
