//! The checks, one file each. A check looks at one thing and reports it.

pub(crate) mod adapters;
pub(crate) mod cables;
pub(crate) mod chips;
pub(crate) mod deadlock;
pub(crate) mod delivery;
pub(crate) mod links;
pub(crate) mod map;
pub(crate) mod memory_types;
pub(crate) mod ranges;
pub(crate) mod reach;
pub(crate) mod regions;
pub(crate) mod rings;
pub(crate) mod usage;
