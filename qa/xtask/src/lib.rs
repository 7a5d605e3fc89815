//! Chores of this repository: files that are generated from the table of OpenSHMEM functions, the
//! tree of libraries, headers and wrappers, and checks of the sources.
//!
//! | module | `cargo xtask` | |
//! |---|---|---|
//! | [`guide`] | `guide` | runs the commands of a page, and compares what they print |
//! | [`headers`] | `headers` | `include/*.h`, committed |
//! | [`man`] | `man` | pages of the manual |
//! | [`library`] | `library` | `libshmem.so` and `libshmem.a` in a tree that can be used as it is |
//! | [`machine`] | | for which machine: this one or another |
//! | [`install`] | `install`, `uninstall` | that tree below a prefix |
//! | [`interposer`] | | a profiling tool, for tests |
//! | [`package`] | `package` | packages of distributions |
//! | [`release`] | `release` | a version: where it is named, what is uploaded |
//! | [`site`] | `site` | the documents as pages for a browser |
//! | [`suite`] | `suite` | headers that the C test suite includes |
//! | [`tests`] | `test` | runs the programs of tests, several at a time |
//! | [`tidy`] | `tidy` | rules that no compiler checks, on all files of the repository |
#![forbid(unsafe_code)]

pub mod guide;
pub mod headers;
pub mod install;
pub mod interposer;
pub mod library;
pub mod machine;
pub mod man;
pub mod package;
pub mod release;
pub mod site;
pub mod suite;
pub mod tests;
pub mod tidy;

mod error;
mod tree;

pub use error::Error;
pub use tree::{Tree, plain, root};
