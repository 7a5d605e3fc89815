//! Rules that a compiler does not check: `cargo xtask tidy`.
//!
//! | module | rule | what it finds |
//! |---|---|---|
//! | `crates` | `crates` | a crate that depends on one that the table does not allow |
//! | `crates` | `products` | a crate whose code depends on one of a product that its own may not use |
//! | `modules` | `modules` | a module that uses one of its own layer or of a higher one |
//! | `circles` | `circle` | modules of a folder that use each other in a circle |
//! | `size` | `file`, `function` | files of more than 700 lines, functions of more than 80 |
//! | `left_out` | `ignore`, `skip` | tests that are ignored without a reason, or end early in silence |
//! | `words` | `word` | marks of unfinished work |
//!
//! What is allowed is in `tidy.toml` at the root of the tree (module `table`), exceptions included.
//! An exception that is not needed any more is a finding, too.

mod arrows;
mod circles;
mod crates;
mod left_out;
mod modules;
mod size;
mod source;
mod table;
mod tokens;
mod words;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::Error;

use source::Sources;
use table::Table;

/// Something that has to be mended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Where, below the root.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The rule, as exceptions name it.
    pub rule: &'static str,
    /// What of the file it is about, as exceptions name it: a function, an arrow.
    pub what: String,
    /// What is wrong, and what to do about it.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {} [{}]",
            self.file.display(),
            self.line,
            self.text,
            self.rule
        )
    }
}

/// Everything below `root` that has to be mended, in the order of files and lines.
pub fn findings(root: &Path) -> Result<Vec<Finding>, Error> {
    let table = Table::load(root)?;
    let sources = Sources::load(root)?;
    let mut all = Vec::new();
    all.extend(sources.unreadable());
    all.extend(crates::findings(&table, &sources)?);
    all.extend(modules::findings(&table, &sources));
    all.extend(circles::findings(&sources));
    all.extend(size::findings(&sources));
    all.extend(left_out::findings(&sources));
    all.extend(words::findings(&sources));
    let mut left = table.without_exceptions(all);
    left.sort();
    left.dedup();
    Ok(left)
}

/// Prints what has to be mended; an error if that is anything.
#[expect(clippy::print_stderr, reason = "this is what the chore is for")]
pub fn check(root: &Path) -> Result<(), Error> {
    let findings = findings(root)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        found => Err(Error::Untidy { found }),
    }
}
