//! libfabric behind a safe interface, loaded on demand.
//!
//! | file | |
//! |---|---|
//! | `abi` | its structures and constants: the crate `hostwire-fabric-abi` |
//! | [`library`] | finding it, and its functions |
//! | [`info`] | what its providers offer |
//! | [`endpoint`] | an endpoint with all that belongs to it |
//! | `object` | the objects of the library that it consists of |
//!
//! No headers are needed at build time.

pub(crate) mod endpoint;
pub(crate) mod info;
pub(crate) mod library;
mod object;

use hostwire_fabric_abi as abi;

pub(crate) use self::endpoint::{Completion, Endpoint, Remote, Token};
pub(crate) use self::info::Info;
pub(crate) use self::library::Library;

/// An error of libfabric: its positive number and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FabricError {
    pub(crate) code: i32,
    /// Which function gave it, and what it means.
    pub(crate) text: Box<str>,
}

impl FabricError {
    /// The library lacks a function that it must have.
    pub(crate) fn lacks(what: &str) -> Self {
        let text = format!("this provider has no {what}").into();
        Self {
            code: libc::ENOSYS,
            text,
        }
    }
}

impl core::fmt::Display for FabricError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.text)
    }
}
