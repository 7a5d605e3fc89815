//! The site: the documents, and references out of the sources, as pages for a browser.
//!
//! | module | |
//! |---|---|
//! | `sources` | the documents, with links that lead somewhere on the site, or to the repository |
//! | `reference` | a page for each chapter of OpenSHMEM |
//! | `interfaces` | pages of the headers for C, by `c_headers`, and of the Python package, by `python` |
//! | `check` | every link leads somewhere, and nothing is loaded from elsewhere |
//!
//! mdBook makes the pages in between: `scripts/site.sh`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hostwire_shmem_table::Table;

use crate::{Error, root};

mod c_headers;
pub mod check;
mod interfaces;
mod python;
mod reference;
mod sources;

/// The steps of `cargo xtask site`.
#[derive(Debug, Subcommand)]
pub enum Step {
    /// Write what mdBook takes: book.toml and src/.
    Sources {
        /// The folder that gets them; what was in it is removed.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Follow all links of the finished pages.
    Check {
        /// The folder with index.html.
        #[arg(value_name = "DIR")]
        pages: PathBuf,
    },
}

/// Does a step.
pub fn run(step: &Step, table: &Table) -> Result<(), Error> {
    match step {
        Step::Sources { out } => write(table, out),
        Step::Check { pages } => {
            let found = check::findings(pages)?;
            if found.is_empty() {
                return Ok(());
            }
            Err(Error::Argument(format!(
                "links that lead nowhere:\n{}",
                found.join("\n")
            )))
        }
    }
}

fn write(table: &Table, out: &Path) -> Result<(), Error> {
    let src = out.join("src");
    if src.exists() {
        fs::remove_dir_all(&src).map_err(Error::file(&src))?;
    }
    let docs = root().join("docs");
    sources::copy(&docs, &src)?;
    let chapters = reference::tree(table);
    chapters.write(&src.join("reference"))?;
    interfaces::tree()?.write(&src.join(interfaces::FOLDER))?;
    let summary = docs.join("site/contents.txt");
    let summary = fs::read_to_string(&summary).map_err(Error::file(&summary))?;
    let summary = sources::summary(&summary, &docs, &chapters)?;
    crate::tree::write(&src.join("SUMMARY.md"), &summary)?;
    let book = docs.join("site/book.toml");
    fs::copy(&book, out.join("book.toml")).map_err(Error::file(&book))?;
    let style = docs.join("site/style.css");
    fs::copy(&style, out.join("style.css")).map_err(Error::file(&style))?;
    Ok(())
}
