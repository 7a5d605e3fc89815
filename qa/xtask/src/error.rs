//! The errors of a chore.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// Why a chore was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The table of functions does not parse.
    #[error("{0}")]
    Table(#[from] hostwire_shmem_table::TableError),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A program could not be started.
    #[error("cannot run {program}: {source}")]
    Start {
        /// Which program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// A program failed.
    #[error("{program} failed ({status})")]
    Program {
        /// Which program.
        program: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// Committed files differ from those that the table gives.
    #[error("{} is not what the table says; run `cargo xtask headers`", path.display())]
    Drift {
        /// Which file.
        path: PathBuf,
    },
    /// Tests failed.
    #[error("tests: {failed} programs failed; what they printed is above")]
    Tests {
        /// How many programs have failed.
        failed: usize,
    },
    /// Signals could not be handled.
    #[error("cannot handle signals: {0}")]
    Signals(std::io::Error),
    /// The sources are not as they should be.
    #[error("tidy: {found} to mend")]
    Untidy {
        /// How many findings there are.
        found: usize,
    },
    /// A version cannot be released yet.
    #[error("release: {found} to mend first")]
    NotReady {
        /// How many things.
        found: usize,
    },
    /// An argument cannot be used.
    #[error("{0}")]
    Argument(String),
}

impl Error {
    /// For `map_err`: an error about `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { path, source }
    }
}
