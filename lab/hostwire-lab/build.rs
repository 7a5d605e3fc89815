//! Lists the experiment and cluster files of the repository, for the page that
//! `hostwire reproduce --html` writes. Their folders are links beside this file, so that a package
//! has them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    // By the names that they have in the repository.
    for (folder, name) in [
        ("experiments", "experiments"),
        ("clusters", "examples/clusters"),
    ] {
        let folder = root.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut found = Vec::new();
        collect(&folder, &mut found)?;
        for file in found {
            let inner = file.strip_prefix(&folder).unwrap_or(&file);
            files.push((Path::new(name).join(inner), file));
        }
    }
    files.sort();
    let mut text = String::from("&[\n");
    for (name, file) in files {
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
