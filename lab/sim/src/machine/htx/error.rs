//! Why there is no board.

/// Why a board cannot be had, or what it has done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// One that is RTL cannot be had: nobody has built it.
    #[error("{0}")]
    NotBuilt(String),
    /// One that is RTL has failed.
    #[error("{0}")]
    Failed(String),
}
