//! The API.

pub mod board;
pub mod pmi;
