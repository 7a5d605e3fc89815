//! What is installed, or built, with this command.

use std::path::{Path, PathBuf};

/// The library of this name, beside this command or in the folder for libraries.
///
/// # Errors
/// Says where it was looked for.
pub fn library(name: &str) -> Result<PathBuf, String> {
    let folder = folder()?;
    let places = [folder.join(name), folder.join("../lib").join(name)];
    let found = places.iter().find(|path| path.is_file());
    found
        .cloned()
        .ok_or_else(|| format!("{name} is not in {} or ../lib", folder.display()))
}

/// The program of this name, beside this command.
///
/// # Errors
/// Says where it was looked for.
pub fn command(name: &str) -> Result<PathBuf, String> {
    let folder = folder()?;
    let path = folder.join(name);
    match path.is_file() {
        true => Ok(path),
        false => Err(format!("it is not in {}", folder.display())),
    }
}

/// The provider of libfabric that was installed, or built, with this command. Libfabric takes all
/// files of a folder whose names end in `fi.so`.
///
/// # Errors
/// Says where it was looked for, and how it comes there.
#[cfg(target_os = "linux")]
pub fn provider() -> Result<PathBuf, String> {
    let folder = folder()?;
    let installed = folder.join("../lib/libfabric/libhostwire-fi.so");
    let built = folder.join("libhostwire_fi.so");
    let found = [installed, built].into_iter().find(|path| path.is_file());
    let found = found.and_then(|path| path.canonicalize().ok());
    found.ok_or_else(|| {
        format!(
            "the provider of libfabric is not installed with this command, nor built: there is no \
             {0}/../lib/libfabric/libhostwire-fi.so and no {0}/libhostwire_fi.so; `make install \
             PREFIX=DIR` installs both, `cargo build --release` builds both",
            folder.display()
        )
    })
}

/// Where this command is.
fn folder() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("where hostwire is: {error}"))?;
    Ok(own.parent().unwrap_or(Path::new("/")).to_path_buf())
}
