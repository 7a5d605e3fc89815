//! Libraries that are installed, or built, with this command.

use std::path::{Path, PathBuf};

/// The library of this name, beside this command or in the folder for libraries.
///
/// # Errors
/// Says where it was looked for.
pub fn library(name: &str) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("where hostwire is: {error}"))?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    let places = [folder.join(name), folder.join("../lib").join(name)];
    let found = places.iter().find(|path| path.is_file());
    found
        .cloned()
        .ok_or_else(|| format!("{name} is not in {} or ../lib", folder.display()))
}
