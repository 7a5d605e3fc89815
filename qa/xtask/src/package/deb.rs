//! Packages for Debian and Ubuntu, of what `make install` installs. `dpkg-deb` packs them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use hostwire_shmem_table::Table;

use super::contents::{PREFIX, Package, place};
use super::control;
use crate::library::{run, stdout};
use crate::machine::cargo_dir;
use crate::tree::{root, write};
use crate::{Error, install};

/// The version of the packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The folder of modules of Python.
const MODULES: &str = "usr/lib/python3/dist-packages";

/// The names of the files.
///
/// # Errors
/// There is no dpkg here.
pub fn names() -> Result<Vec<String>, Error> {
    let architecture = dpkg("--print-architecture")?;
    let name = |package: Package| file_name(package, &architecture);
    Ok(Package::ALL.into_iter().map(name).collect())
}

fn file_name(package: Package, architecture: &str) -> String {
    format!("{}_{VERSION}_{architecture}.deb", package.name())
}

fn dpkg(option: &str) -> Result<String, Error> {
    Ok(stdout(Command::new("dpkg").arg(option))?.trim().to_owned())
}

/// Builds all packages into a folder, and says which.
pub fn build(table: &Table, out: &Path) -> Result<Vec<PathBuf>, Error> {
    let work = cargo_dir().join("deb-work");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(out).map_err(Error::file(out))?;
    let architecture = dpkg("--print-architecture")?;
    let triplet = stdout(Command::new("gcc").arg("-print-multiarch"))?;

    let stage = work.join("stage");
    let args = install::Args {
        prefix: PREFIX.into(),
        destdir: Some(stage.clone()),
    };
    install::install(table, &args)?;
    let installed = stage.join(PREFIX.trim_start_matches('/'));
    let trees = Trees { work: &work };
    for path in files(&installed)? {
        if let Some((package, target)) = place(&path, triplet.trim()) {
            trees.add(package, &installed.join(&path), &target)?;
        }
    }
    trees.python()?;

    let date = stdout(
        Command::new("git")
            .current_dir(root())
            .args(["log", "-1", "--format=%aD"]),
    )?;
    Package::ALL
        .into_iter()
        .map(|package| {
            trees.finish(package, date.trim())?;
            let file = out.join(file_name(package, &architecture));
            trees.pack(package, &architecture, &file)?;
            Ok(file)
        })
        .collect()
}

/// Files and links below a folder, by their paths below it.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let here = folder.join(&below);
        for entry in fs::read_dir(&here).map_err(Error::file(&here))? {
            let entry = entry.map_err(Error::file(&here))?;
            let path = below.join(entry.file_name());
            match entry.file_type().map_err(Error::file(&here))?.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The trees of the packages.
struct Trees<'w> {
    work: &'w Path,
}

impl Trees<'_> {
    fn of(&self, package: Package) -> PathBuf {
        self.work.join(package.name())
    }

    /// Adds a file, as a package has it.
    fn add(&self, package: Package, from: &Path, target: &Path) -> Result<(), Error> {
        let to = self.of(package).join(target);
        make_folder_of(&to)?;
        if let Ok(link) = fs::read_link(from) {
            return symlink(link, &to).map_err(Error::file(&to));
        }
        let is_page = target.starts_with("usr/share/man");
        let text = match is_page || target.extension().is_some_and(|it| it == "cmake") {
            true => Some(fs::read_to_string(from).map_err(Error::file(from))?),
            false => None,
        };
        if let Some(page) = text.as_deref().filter(|_| is_page).and_then(stands_for) {
            // Packed pages have another name than a page says.
            let name = to.with_file_name(page).with_extension(extension(&to));
            let name = name
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let link = to.with_file_name(format!(
                "{}.gz",
                to.file_name().unwrap_or_default().to_string_lossy()
            ));
            return symlink(format!("{name}.gz"), &link).map_err(Error::file(&link));
        }
        match text {
            Some(text) => write(&to, &moved(&text, &extension(target))),
            None => fs::copy(from, &to).map(drop).map_err(Error::file(&to)),
        }
    }

    /// The package of Python: modules, the native part, and what says which version it is.
    fn python(&self) -> Result<(), Error> {
        let modules = self.of(Package::Python).join(MODULES);
        let sources = root().join("fronts/python/python");
        for path in files(&sources)? {
            let name = path.to_string_lossy();
            if !name.ends_with(".pyc") && !name.ends_with(".so") {
                self.add(
                    Package::Python,
                    &sources.join(&path),
                    &Path::new(MODULES).join(&path),
                )?;
            }
        }
        // The stable ABI: one for all versions of Python.
        let native = cargo_dir().join("release/lib_hostwire.so");
        let target = Path::new(MODULES).join("hostwire/_hostwire.abi3.so");
        self.add(Package::Python, &native, &target)?;
        let info = modules.join(format!("hostwire-{VERSION}.dist-info"));
        let metadata = format!(
            "Metadata-Version: 2.1\nName: hostwire\nVersion: {VERSION}\nRequires-Dist: numpy\n"
        );
        write(&info.join("METADATA"), &metadata)?;
        write(&info.join("INSTALLER"), "dpkg\n")
    }

    /// Links, documents, modes; and no tables for debuggers.
    fn finish(&self, package: Package, date: &str) -> Result<(), Error> {
        let tree = self.of(package);
        if package == Package::Lab {
            // Its commands are those of `hostwire`, which it needs.
            let page = tree.join("usr/share/man/man1/hostwire-lab.1.gz");
            make_folder_of(&page)?;
            symlink("hostwire.1.gz", &page).map_err(Error::file(&page))?;
        }
        for (name, program) in package.links() {
            let link = tree.join("usr/bin").join(name);
            make_folder_of(&link)?;
            symlink(format!("../lib/hostwire/bin/{program}"), &link).map_err(Error::file(&link))?;
        }
        let documents = tree.join("usr/share/doc").join(package.name());
        write(&documents.join("copyright"), &control::copyright())?;
        write(
            &documents.join("changelog.Debian"),
            &control::changelog(VERSION, date),
        )?;
        let changes = root().join("CHANGELOG.md");
        let changes = fs::read_to_string(&changes).map_err(Error::file(&changes))?;
        write(&documents.join("changelog"), &changes)?;
        for path in files(&tree)? {
            let file = tree.join(&path);
            if file.is_symlink() {
                continue;
            }
            let (is_object, is_archive) = (
                is_object(&file)?,
                path.extension().is_some_and(|it| it == "a"),
            );
            if is_object || is_archive {
                let how = if is_archive {
                    "--strip-debug"
                } else {
                    "--strip-unneeded"
                };
                run(Command::new("strip")
                    .args([how, "--remove-section=.comment"])
                    .arg(&file))?;
            }
            let is_program = is_script(&file)?
                || (is_object && path.parent().is_some_and(|it| it.ends_with("bin")));
            let mode = fs::Permissions::from_mode(if is_program { 0o755 } else { 0o644 });
            fs::set_permissions(&file, mode).map_err(Error::file(&file))?;
            let is_packed = path.starts_with("usr/share/man")
                || path
                    .file_name()
                    .is_some_and(|it| it.to_string_lossy().starts_with("changelog"));
            if is_packed {
                run(Command::new("gzip").args(["-9", "-n"]).arg(&file))?;
            }
        }
        run(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&tree))
    }

    /// Packs the tree of a package.
    fn pack(&self, package: Package, architecture: &str, file: &Path) -> Result<(), Error> {
        let tree = self.of(package);
        let (mut sums, mut size) = (String::new(), BTreeMap::new());
        for path in files(&tree)? {
            let full = tree.join(&path);
            let bytes = full.symlink_metadata().map_err(Error::file(&full))?.len();
            size.insert(path.clone(), bytes.div_ceil(1024));
            if !full.is_symlink() {
                sums += &stdout(Command::new("md5sum").current_dir(&tree).arg(&path))?;
            }
        }
        let about = tree.join("DEBIAN");
        // By it dpkg-shlibdeps knows the folder of a package.
        fs::create_dir_all(&about).map_err(Error::file(&about))?;
        let libraries = self.libraries(package)?;
        let size = size.values().sum();
        let text = control::control(package, VERSION, architecture, &libraries, size);
        write(&about.join("control"), &text)?;
        write(&about.join("md5sums"), &sums)?;
        if package == Package::Python {
            let script = |name: &str, text: &str| {
                let path = about.join(name);
                write(&path, text)?;
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(&path, mode).map_err(Error::file(&path))
            };
            script("postinst", POSTINST)?;
            script("prerm", PRERM)?;
        }
        let mut dpkg = Command::new("dpkg-deb");
        dpkg.args(["--root-owner-group", "-Zxz", "--build"]);
        stdout(dpkg.arg(&tree).arg(file)).map(drop)
    }

    /// The packages of the libraries that the files of a package need.
    fn libraries(&self, package: Package) -> Result<String, Error> {
        let tree = self.of(package);
        let mut objects = Vec::new();
        for path in files(&tree)? {
            let file = tree.join(path);
            if !file.is_symlink() && is_object(&file)? {
                objects.push(file);
            }
        }
        if objects.is_empty() {
            return Ok(String::new());
        }
        // It looks for the source of a package.
        write(
            &self.work.join("debian/control"),
            "Source: hostwire\n\nPackage: hostwire\nArchitecture: any\n",
        )?;
        let mut command = Command::new("dpkg-shlibdeps");
        command.current_dir(self.work).arg("-O");
        command.args(
            objects
                .iter()
                .map(|object| format!("-e{}", object.display())),
        );
        let said = stdout(&mut command)?;
        let line = said
            .lines()
            .find_map(|line| line.strip_prefix("shlibs:Depends="));
        Ok(line.unwrap_or_default().to_owned())
    }
}

/// Python keeps what it has compiled beside the modules.
const POSTINST: &str = "#!/bin/sh\nset -e\n\
    if [ \"$1\" = configure ] && command -v py3compile >/dev/null; then\n    py3compile -p python3-hostwire\nfi\n";
const PRERM: &str = "#!/bin/sh\nset -e\n\
    if command -v py3clean >/dev/null; then\n    py3clean -p python3-hostwire\nfi\n";

fn make_folder_of(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(Error::file(folder))
}

fn extension(path: &Path) -> String {
    path.extension()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The name of the page for which a page of the manual stands that has nothing else, without its section.
fn stands_for(page: &str) -> Option<&str> {
    let (_, name) = page.strip_prefix(".so ")?.trim().rsplit_once('/')?;
    Some(name)
}

/// The text of a page of the manual in the section `section`, or of a file for CMake, that is not below the prefix.
fn moved(text: &str, section: &str) -> String {
    let folder =
        "get_filename_component(_hostwire_prefix \"${CMAKE_CURRENT_LIST_DIR}/../../..\" ABSOLUTE)";
    let text = text.replace(folder, &format!("set(_hostwire_prefix \"{PREFIX}\")"));
    let lines = text.lines().map(|line| {
        let mut words = line.splitn(4, ' ');
        match [words.next(), words.next(), words.next(), words.next()] {
            [Some(".TH"), Some(name), Some("3"), Some(rest)] => {
                format!(".TH {name} {section} {rest}\n")
            }
            _ => format!("{line}\n"),
        }
    });
    lines.collect()
}

fn begins(path: &Path, with: &[u8]) -> Result<bool, Error> {
    use std::io::Read;
    let mut begin = vec![0; with.len()];
    let mut file = fs::File::open(path).map_err(Error::file(path))?;
    Ok(file.read_exact(&mut begin).is_ok() && begin == with)
}

fn is_object(path: &Path) -> Result<bool, Error> {
    begins(path, b"\x7fELF")
}

fn is_script(path: &Path) -> Result<bool, Error> {
    begins(path, b"#!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_say_the_section_that_they_are_in() {
        let page = ".\\\" x\n.TH shmem_put 3 \"\" hostwire\n.SH NAME\n";
        assert_eq!(
            moved(page, "3hostwire"),
            ".\\\" x\n.TH shmem_put 3hostwire \"\" hostwire\n.SH NAME\n"
        );
        let page = ".TH hostwire 1 \"\"\n";
        assert_eq!(moved(page, "1"), page);
        assert_eq!(stands_for(".so man3/shmem_put.3\n"), Some("shmem_put.3"));
        assert_eq!(stands_for(page), None);
    }
}
