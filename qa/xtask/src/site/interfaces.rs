//! References of what is not OpenSHMEM: headers for C, and the Python package.

use std::fs;

use super::c_headers;
use super::python::{self, Texts};
use crate::{Error, Tree, root};

/// The folder of the pages.
pub const FOLDER: &str = "interfaces";
/// Where classes of Python have their texts.
const RUST: [&str; 7] = [
    "array.rs",
    "array/transfer.rs",
    "array/words.rs",
    "get.rs",
    "job.rs",
    "tca.rs",
    "team.rs",
];
const PYTHON: [&str; 3] = ["_job.py", "errors.py", "tca.py"];

/// All pages.
///
/// # Errors
/// A source is not there.
pub fn tree() -> Result<Tree, Error> {
    let read = |path: String| {
        let path = root().join(path);
        fs::read_to_string(&path).map_err(Error::file(&path))
    };
    let mut tree = Tree::default();
    for (file, title, header) in [
        ("tca.md", "Accelerators for C", "hostwire_tca.h"),
        ("remote.md", "Borrowed memory for C", "hostwire_remote.h"),
    ] {
        let header = read(format!("include/{header}"))?;
        tree.add(file, c_headers::page(title, &header));
    }
    let package = "fronts/python/python/hostwire";
    let mut texts = Texts::default();
    for file in PYTHON {
        texts.add_python(&read(format!("{package}/{file}"))?);
    }
    for file in RUST {
        texts.add_rust(&read(format!("fronts/python/src/{file}"))?);
    }
    for (file, title, stub) in [
        ("python.md", "Python: hostwire", "__init__.pyi"),
        ("python-tca.md", "Python: hostwire.tca", "tca.pyi"),
    ] {
        let stub = read(format!("{package}/{stub}"))?;
        tree.add(file, python::page(title, &stub, &texts));
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_and_every_method_has_a_text() {
        let tree = tree().unwrap();
        let page = |name: &str| {
            let mut pages = tree.iter().filter(|(path, _)| path.ends_with(name));
            pages.next().unwrap().1.to_owned()
        };
        for (name, declared) in [
            ("tca.md", "`tcaMemcpyPeer`"),
            ("remote.md", "`hostwire_remote_alloc`"),
            ("python.md", "### Job.zeros"),
            ("python-tca.md", "## Chain"),
        ] {
            assert!(page(name).contains(declared), "{name}");
        }
        // Signatures with nothing behind them.
        for name in ["python.md", "python-tca.md"] {
            let page = page(name);
            let silent = page
                .split("### ")
                .filter(|part| part.contains("```py") && part.trim_end().ends_with("```"));
            let silent: Vec<&str> = silent.filter_map(|part| part.lines().next()).collect();
            assert_eq!(silent, Vec::<&str>::new(), "{name}");
        }
    }
}
