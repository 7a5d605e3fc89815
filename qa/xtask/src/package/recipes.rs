//! The sources as they are committed, and the recipes by which Spack and EasyBuild build them, which have their sum.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::library::{run, stdout};
use crate::tree::{root, write};

/// The version of the recipes.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The repository of packages that Spack gets, by its folder in packaging/spack.
const SPACK: &str = "spack_repo";

/// The names of the files.
pub fn names() -> [String; 3] {
    let hostwire = format!("hostwire-{VERSION}");
    [
        format!("{hostwire}.tar.gz"),
        format!("{hostwire}.eb"),
        format!("hostwire-spack-{VERSION}.tar.gz"),
    ]
}

/// Writes them into a folder, and says which.
///
/// # Errors
/// There is no git, tar or sha256sum, or a file cannot be written.
pub fn build(out: &Path) -> Result<Vec<PathBuf>, Error> {
    fs::create_dir_all(out).map_err(Error::file(out))?;
    let [sources, easybuild, spack] = names().map(|name| out.join(name));
    let mut git = Command::new("git");
    git.current_dir(root()).args(["archive", "--format=tar.gz"]);
    git.arg(format!("--prefix=hostwire-{VERSION}/"));
    run(git.arg("-o").arg(&sources).arg("HEAD"))?;
    let sum = stdout(Command::new("sha256sum").arg(&sources))?;
    let sum = sum.split(' ').next().unwrap_or_default();

    write(&easybuild, &filled("easybuild/hostwire.eb", sum)?)?;
    let work = out.join("spack");
    for path in [
        "hostwire/repo.yaml",
        "hostwire/packages/hostwire/package.py",
    ] {
        let path = format!("{SPACK}/{path}");
        write(&work.join(&path), &filled(&format!("spack/{path}"), sum)?)?;
    }
    let mut tar = Command::new("tar");
    tar.args([
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mtime=@0",
        "-czf",
    ]);
    run(tar.arg(&spack).arg("-C").arg(&work).arg(SPACK))?;
    fs::remove_dir_all(&work).map_err(Error::file(&work))?;
    Ok(vec![sources, easybuild, spack])
}

/// A recipe of packaging/ with the version and the sum of the sources.
fn filled(recipe: &str, sum: &str) -> Result<String, Error> {
    let path = root().join("packaging").join(recipe);
    let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
    Ok(text.replace("@VERSION@", VERSION).replace("@SHA256@", sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_have_the_version_and_the_sum() {
        for recipe in [
            "easybuild/hostwire.eb",
            "spack/spack_repo/hostwire/packages/hostwire/package.py",
        ] {
            let text = filled(recipe, "12ab").unwrap();
            assert!(text.contains(VERSION) && text.contains("12ab"), "{recipe}");
            assert!(
                !text.contains("@VERSION") && !text.contains("@SHA"),
                "{recipe}"
            );
        }
    }
}
