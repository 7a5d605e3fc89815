//! Every check of input from outside: files, frames, texts of launchers, memory that peers write.
//!
//! A check takes any bytes and returns, or panics with the fault. libFuzzer (`qa/fuzz/`), which needs
//! a nightly compiler, and [`run`], which does not, run the same checks. [`run`] changes the files
//! of the corpus at random a number of times, in the same way in every run.
//!
//! Checks of private parts of a crate are in that crate, in its module `fuzzing` behind the feature of that name.
//! Checks of public functions are here. `qa/fuzz/README.md` lists them all.

#![forbid(unsafe_code)]

pub mod corpus;
mod files;
pub mod libfuzzer;
mod link;
mod mutate;
mod packet;
mod pmi_server;
mod pmix;
pub mod report;
pub mod run;

pub use hostwire_transport::fuzzing::kit::{Seeds, Target};

/// Every check, in the order of the names.
pub fn targets() -> Vec<Target> {
    let mut all = [
        files::TARGETS,
        link::TARGETS,
        packet::TARGETS,
        pmi_server::TARGETS,
        pmix::TARGETS,
        hostwire::fuzzing::TARGETS,
        hostwire_bootstrap::fuzzing::TARGETS,
        hostwire_frames::fuzzing::TARGETS,
        hostwire_region::fuzzing::TARGETS,
        hostwire_shmem::fuzzing::TARGETS,
        hostwire_station::fuzzing::TARGETS,
        hostwire_transport::fuzzing::TARGETS,
    ]
    .concat();
    all.sort_by_key(|target| target.name);
    all
}

/// The check with this name.
pub fn target(name: &str) -> Option<Target> {
    targets().into_iter().find(|target| target.name == name)
}

/// Gives `bytes` to the check called `name`: what a target of libFuzzer does.
///
/// # Panics
/// If there is no such check, or if it finds something.
pub fn check(name: &str, bytes: &[u8]) {
    use std::sync::OnceLock;
    static FOUND: OnceLock<Option<Target>> = OnceLock::new();
    // A process of libFuzzer has one target.
    let found = FOUND.get_or_init(|| target(name));
    let target = found.filter(|target| target.name == name);
    (target
        .or_else(|| self::target(name))
        .expect("a target of this name")
        .check)(bytes);
}
