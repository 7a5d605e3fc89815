//! Lists the experiment and cluster files of the repository, for the page that
//! `hostwire reproduce --html` writes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["experiments", "examples/clusters"] {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let mut text = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    ({:?}, include_str!({file:?})),", name);
    }
    text += "]\n";
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    std::fs::write(PathBuf::from(out).join("shipped.rs"), text)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
