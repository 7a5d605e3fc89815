//! The header for C, the library and the page of the manual. The example in C: `tools/cli/tests/run`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
        .map(|name| read(&format!("fronts/tca/src/{name}.rs")))
        .concat();
    let defined = names(&sources, "extern \"C\" fn tca");
    assert_eq!(declared, defined);
    assert_eq!(defined.len(), 31);
    // The page of the manual names all of them, and values of tcaError beside.
    let page = read("fronts/tca/man/hostwire_tca.3");
    let mut told = names(&page, "tca");
    told.retain(|name| !name.starts_with("Error") && !["Success", "_"].contains(name));
    told.remove("");
    assert_eq!(told, defined);
}
