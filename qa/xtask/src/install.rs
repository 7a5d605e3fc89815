//! `make install` and `make uninstall`.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use hostwire_shmem_table::Table;

use crate::machine::Machine;
use crate::{Error, library, man, tree};

/// Where to.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder that programs will find it in.
    #[arg(long, value_name = "DIR", default_value = "/usr/local")]
    pub prefix: PathBuf,
    /// A folder to put in front of the prefix while files are copied.
    #[arg(long, value_name = "DIR")]
    pub destdir: Option<PathBuf>,
}

impl Args {
    /// The folder that files are copied to.
    fn place(&self) -> Result<PathBuf, Error> {
        if !self.prefix.is_absolute() {
            let prefix = self.prefix.display();
            return Err(Error::Argument(format!(
                "the prefix must be absolute, not {prefix}"
            )));
        }
        let inner = self.prefix.strip_prefix("/").unwrap_or(&self.prefix);
        Ok(match &self.destdir {
            Some(destdir) => destdir.join(inner),
            None => self.prefix.clone(),
        })
    }
}

/// Builds everything and copies it below the prefix.
pub fn install(table: &Table, args: &Args) -> Result<(), Error> {
    let built = library::build(table, &Machine::this(), None)?;
    place(table, &built, args)
}

/// Copies what has been built below the prefix, and keeps a list for [`uninstall`].
pub fn place(table: &Table, built: &Path, args: &Args) -> Result<(), Error> {
    let place = args.place()?;
    let mut list = copy_files(built, &place)?;
    let pages = man::tree(table);
    pages.write(&place.join("share/man"))?;
    list.extend(
        pages
            .iter()
            .map(|(path, _)| Path::new("share/man").join(path)),
    );
    // The wrappers and package files contain the prefix.
    library::wrappers(&place, &args.prefix)?;
    list.push(LIST.into());
    let lines: Vec<String> = list.iter().map(|path| path.display().to_string()).collect();
    tree::write(&place.join(LIST), &(lines.join("\n") + "\n"))
}

/// Removes the files in the list of an installation, and folders that are then empty.
pub fn uninstall(args: &Args) -> Result<(), Error> {
    let place = args.place()?;
    let list = place.join(LIST);
    let lines = fs::read_to_string(&list).map_err(Error::file(&list))?;
    for line in lines.lines() {
        let relative = Path::new(line);
        let is_inside = relative
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        if !is_inside {
            return Err(Error::Argument(format!(
                "{}: '{line}' is not in it",
                list.display()
            )));
        }
        let path = place.join(relative);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::file(&path)(error));
            }
            _ => {}
        }
        let mut folder = path.parent();
        while let Some(empty) = folder.filter(|folder| folder.starts_with(&place)) {
            if *empty == *place || fs::remove_dir(empty).is_err() {
                break;
            }
            folder = empty.parent();
        }
    }
    Ok(())
}

/// Which files an installation has, below the prefix.
const LIST: &str = "share/hostwire/shmem.files";

fn copy_files(from: &Path, to: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut copied = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let source = from.join(&folder);
        let target = to.join(&folder);
        fs::create_dir_all(&target).map_err(Error::file(&target))?;
        for entry in fs::read_dir(&source).map_err(Error::file(&source))? {
            let entry = entry.map_err(Error::file(&source))?;
            let relative = folder.join(entry.file_name());
            let kind = entry.file_type().map_err(Error::file(&entry.path()))?;
            if kind.is_dir() {
                folders.push(relative);
                continue;
            }
            copy_file(&entry.path(), &to.join(&relative), kind.is_symlink())?;
            copied.push(relative);
        }
    }
    copied.sort();
    Ok(copied)
}

fn copy_file(from: &Path, to: &Path, is_link: bool) -> Result<(), Error> {
    let _ = fs::remove_file(to);
    if is_link {
        let target = fs::read_link(from).map_err(Error::file(from))?;
        return symlink(target, to).map_err(Error::file(to));
    }
    fs::copy(from, to).map(drop).map_err(Error::file(to))
}
