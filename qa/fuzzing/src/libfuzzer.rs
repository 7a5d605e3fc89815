//! The files of `qa/fuzz/`, which are made from the list of targets.

use std::path::PathBuf;

use crate::{Target, targets};

/// The part of the manifest that is written by hand ends with this line.
const MARKER: &str =
    "# One program per target, written by `cargo run -p hostwire-fuzzing -- files`.\n";

/// Where the package of libFuzzer's targets is.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// The program of a target.
pub fn source(target: &Target) -> String {
    let name = target.name;
    format!(
        "#![no_main]\n\n\
         libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostwire_fuzzing::check(\"{name}\", bytes));\n"
    )
}

/// The manifest, with the programs of all targets; `present` is what it is now.
pub fn manifest(present: &str) -> String {
    let by_hand = present.split(MARKER).next().unwrap_or_default();
    let programs: String = targets()
        .iter()
        .map(|target| program(target.name))
        .collect();
    format!("{by_hand}{MARKER}{programs}")
}

fn program(name: &str) -> String {
    format!(
        "\n[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n\
         test = false\ndoc = false\nbench = false\n"
    )
}
