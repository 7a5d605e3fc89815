//! The header, the library and the example in C.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use hostwire_testing::{is_installed, need};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

fn names<'a>(text: &'a str, before: &str) -> BTreeSet<&'a str> {
    let parts = text.split(before).skip(1);
    let name = |part: &'a str| {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric());
        &part[..end.unwrap_or(part.len())]
    };
    parts.map(name).collect()
}

/// The header declares what the library has, and nothing else.
#[test]
fn the_header_and_the_library_agree() {
    let header = read("include/hostwire_tca.h");
    let mut declared = names(&header, "tcaError tca");
    for kind in ["int tca", "void *tca", "const char *tca"] {
        declared.extend(names(&header, &format!("\n{kind}")));
    }
    let sources = ["status", "job", "copies", "chain"];
    let sources: String = sources
        .map(|name| read(&format!("crates/tca/src/{name}.rs")))
        .concat();
    let defined = names(&sources, "extern \"C\" fn tca");
    assert_eq!(declared, defined);
    assert_eq!(defined.len(), 30);
    // The page of the manual names all of them, and values of tcaError beside.
    let page = read("crates/tca/man/hostwire_tca.3");
    let mut told = names(&page, "tca");
    told.retain(|name| !name.starts_with("Error") && !["Success", "_"].contains(name));
    told.remove("");
    assert_eq!(told, defined);
}

/// Builds a package as the tests of this one are built, and says where it is.
fn built(package: &str, file: &str) -> PathBuf {
    let folder = std::env::current_exe().unwrap();
    let folder = folder.ancestors().nth(2).unwrap().to_owned();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package, "--target-dir"]);
    cargo.arg(folder.parent().unwrap());
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let done = cargo.output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    folder.join(file)
}

#[test]
fn the_example_copies_from_device_to_device() {
    if !is_installed("cc", &need::C) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = built("hostwire-tca", "libhostwire_tca.so");
    let hostwire = built("hostwire-cli", "hostwire");
    let program = folder.path().join("tca_ring");
    let mut compile = Command::new("cc");
    compile.args(["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-I"]);
    compile
        .arg(root().join("include"))
        .arg(root().join("examples/c/tca_ring.c"));
    compile
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(library.parent().unwrap());
    let compiled = compile.arg("-lhostwire_tca").output().unwrap();
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    for (devices, pes, way) in [
        ("modelled", "3", "device to device"),
        ("none", "2", "host to host"),
    ] {
        let mut command = Command::new(&hostwire);
        command.args([
            "run",
            "-n",
            pes,
            "--timeout",
            "100s",
            "--devices",
            devices,
            "--",
        ]);
        command
            .arg(&program)
            .env("LD_LIBRARY_PATH", library.parent().unwrap());
        let done = command.output().unwrap();
        let (said, errors) = (
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr),
        );
        assert!(done.status.success(), "{said}{errors}");
        let lines = said
            .lines()
            .filter(|line| line.ends_with(&format!("came 3 times, {way}")));
        assert_eq!(lines.count().to_string(), pes, "{said}{errors}");
    }
}
