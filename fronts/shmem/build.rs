//! Writes the C entry points and the constants from the table, and compiles the C file.
#![allow(clippy::exit, clippy::print_stdout, clippy::print_stderr)]

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use hostwire_shmem_table::{Table, glue};

fn main() {
    if let Err(error) = build() {
        eprintln!("hostwire-shmem: {error}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    // On other systems the crate reports that it needs Linux. The errors of a C
    // compiler would be less clear.
    if env::var_os("CARGO_CFG_TARGET_OS").is_none_or(|system| system != "linux") {
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets no OUT_DIR")?);
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("no CARGO_MANIFEST_DIR")?);
    let table = Table::load()?;
    fs::write(out.join("constants.rs"), glue::constants(&table))?;
    fs::write(out.join("entry_points.rs"), glue::entry_points(&table)?)?;

    let include = root.join("../../include");
    let source = root.join("csrc/abi.c");
    watch(&source);
    watch(&include);
    watch(&root.join("build.rs"));
    cc::Build::new()
        .file(&source)
        .include(&include)
        .std("c99")
        .warnings(true)
        .extra_warnings(true)
        .opt_level(2)
        // All of it belongs into the static library, although no Rust code calls it.
        .link_lib_modifier("+whole-archive")
        .try_compile("hostwire_shmem_abi")?;
    Ok(())
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}
