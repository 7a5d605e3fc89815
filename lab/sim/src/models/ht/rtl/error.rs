//! Why there is no board.

use hostwire_rtl_harness::model;

/// Why a board that is RTL cannot be had, or has failed.
#[derive(Debug, thiserror::Error)]
pub enum RtlError {
    /// The design was not built, or its library does not fit: environment.
    #[error(transparent)]
    Library(#[from] model::Error),
    /// Its link does not come up: a defect of the design.
    #[error("the design {design} does not begin: {why}")]
    Boot {
        /// The design.
        design: String,
        /// What was expected and got.
        why: String,
    },
    /// It has done what it must not: a defect of the design.
    #[error("a board: {0}")]
    Wrong(String),
}
