//! Results, as NIXL has them (`nixl_status_t`).

use hostwire::Error;
use hostwire::station::Refusal;

/// A result of NIXL: 0, 1 while something is under way, or a negative number for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Status(pub i32);

impl Status {
    pub(crate) const IN_PROGRESS: Self = Self(1);
    pub(crate) const SUCCESS: Self = Self(0);
    pub(crate) const INVALID: Self = Self(-2);
    pub(crate) const BACKEND: Self = Self(-3);
    pub(crate) const NOT_FOUND: Self = Self(-4);
    pub(crate) const NOT_ALLOWED: Self = Self(-6);
    pub(crate) const ACTIVE: Self = Self(-7);
    pub(crate) const LOST: Self = Self(-10);
    pub(crate) const CANCELLED: Self = Self(-11);
}

impl From<&Error> for Status {
    fn from(error: &Error) -> Self {
        match error {
            Error::PeerLost { .. } | Error::PeerLeft { .. } => Self::LOST,
            Error::Cancelled => Self::CANCELLED,
            Error::NoSuchPe { .. } => Self::NOT_FOUND,
            Error::Length { .. } | Error::Setting(_) => Self::INVALID,
            // The other agent has deregistered it since.
            Error::MemoryRefused {
                why: Refusal::NoKey,
                ..
            } => Self::NOT_FOUND,
            Error::MemoryRefused {
                why: Refusal::Outside | Refusal::NoRight,
                ..
            } => Self::NOT_ALLOWED,
            _ => Self::BACKEND,
        }
    }
}

impl<T> From<Result<T, Self>> for Status {
    fn from(result: Result<T, Self>) -> Self {
        result.err().unwrap_or(Self::SUCCESS)
    }
}
