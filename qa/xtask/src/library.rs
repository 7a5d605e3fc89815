//! Libraries, headers and wrappers in one tree, laid out as an installation.
//!
//! ```text
//! bin/      oshcc oshc++ oshrun hostwire hostwire-lab
//! include/  shmem.h pshmem.h shmemx.h shmemx_race.h hostwire_remote.h hostwire_tca.h mpp/
//! lib/      libshmem.so libshmem.so.1 libshmem.a libshmem_race.a libshmem_race_threads.a
//!           libhostwire_remote.so libhostwire_tca.so
//!           pkgconfig/ cmake/ libfabric/libhostwire-fi.so
//! share/    what bash, zsh and fish complete hostwire and oshrun by, pages of the manual,
//!           hostwire/wireshark/hostwire.lua hostwire/clusters/*.toml
//! ```
//!
//! The tree lies below the target folder and can be used from there. A tree for another machine has no launcher, nor
//! the files that the launcher writes: it cannot run here. `HOSTWIRE` tells `oshrun` which launcher to take.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use hostwire_shmem_table::Table;

use crate::machine::Machine;
use crate::tree::{Tree, root, write};
use crate::{Error, headers};

/// The libraries that a static library needs and the compiler does not add by itself.
const PRIVATE_LIBS: &str = "-lpthread -ldl -lm";
const CMAKE_PRIVATE_LIBS: &str = "pthread;dl;m;gcc_s";
const SONAME: &str = "libshmem.so.1";

/// The symbols that the code of `oshcc --race` needs, besides those of the table.
pub const RACE_SYMBOLS: [&str; 3] = [
    "shmemx_race_1",
    "shmemx_race_access_1",
    "shmemx_race_sync_1",
];

/// What the sources of that code include.
const RACE_HEADERS: [(&str, &str); 2] = [
    ("race.h", include_str!("../../../fronts/shmem/csrc/race.h")),
    (
        "race_front.h",
        include_str!("../../../fronts/shmem/csrc/race_front.h"),
    ),
];

/// Files of the wrappers: their targets, their sources, and whether they are programs.
const WRAPPERS: [(&str, &str, bool); 8] = [
    (
        "bin/oshcc",
        include_str!("../../../fronts/shmem/wrappers/oshcc"),
        true,
    ),
    (
        "bin/oshc++",
        include_str!("../../../fronts/shmem/wrappers/oshcc"),
        true,
    ),
    (
        "bin/oshrun",
        include_str!("../../../fronts/shmem/wrappers/oshrun"),
        true,
    ),
    (
        "lib/pkgconfig/shmem.pc",
        include_str!("../../../fronts/shmem/wrappers/shmem.pc"),
        false,
    ),
    (
        "lib/pkgconfig/hostwire-shmem.pc",
        include_str!("../../../fronts/shmem/wrappers/shmem.pc"),
        false,
    ),
    (
        "lib/pkgconfig/hostwire-tca.pc",
        include_str!("../../../fronts/tca/wrappers/hostwire-tca.pc"),
        false,
    ),
    (
        "lib/cmake/HostwireShmem/HostwireShmemConfig.cmake",
        include_str!("../../../fronts/shmem/wrappers/HostwireShmemConfig.cmake"),
        false,
    ),
    (
        "lib/cmake/HostwireShmem/HostwireShmemConfigVersion.cmake",
        include_str!("../../../fronts/shmem/wrappers/HostwireShmemConfigVersion.cmake"),
        false,
    ),
];

/// Headers of the libraries beside OpenSHMEM.
const HEADERS: [(&str, &str); 2] = [
    (
        "hostwire_remote.h",
        include_str!("../../../include/hostwire_remote.h"),
    ),
    ("hostwire_tca.h", headers::TCA),
];

/// Builds everything for a machine in release mode and returns where the tree is. The launcher is the one that is
/// given, with the laboratory beside it, or else built like the rest.
pub fn build(table: &Table, machine: &Machine, launcher: Option<&Path>) -> Result<PathBuf, Error> {
    let target = machine.target_dir();
    let is_here = machine.target().is_none();
    // Without packages it is what users build, with the laboratory. Tests bring a launcher, and need neither that of this
    // mode nor the laboratory.
    let packages: &[&str] = match (is_here, launcher) {
        (true, None) => &[],
        (true, Some(_)) => &[
            "hostwire-shmem",
            "hostwire-preload",
            "hostwire-clock",
            "hostwire-fabric-provider",
            "hostwire-tca",
        ],
        (false, _) => &["hostwire-shmem"],
    };
    cargo_build(machine, packages)?;
    let release = target.join("release");
    let tree = target.join("shmem");
    let (lib, work) = (tree.join("lib"), target.join("shmem-work"));
    for folder in [tree.join("bin"), lib.clone(), work.clone()] {
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    }
    headers::tree(table).write(&tree.join("include"))?;
    let header = tree.join("include/shmemx_race.h");
    write(
        &header,
        include_str!("../../../fronts/shmem/csrc/shmemx_race.h"),
    )?;
    wrappers(&tree, &tree)?;
    if is_here {
        let built = release.join("hostwire");
        let launcher = launcher.unwrap_or(&built);
        for program in ["hostwire", "hostwire-lab"] {
            copy(
                &launcher.with_file_name(program),
                &tree.join("bin").join(program),
            )?;
        }
        launcher_pages(&tree)?;
        data(&tree)?;
        // For `hostwire borrow` and `hostwire run --cluster`, which look for them beside their
        // folder, and for C programs.
        for name in ["remote", "clock", "tca"] {
            let name = format!("libhostwire_{name}.so");
            copy(&release.join(&name), &lib.join(&name))?;
        }
        // In a folder of its own, and under a name that libfabric takes for a provider.
        let providers = lib.join("libfabric");
        fs::create_dir_all(&providers).map_err(Error::file(&providers))?;
        let provider = providers.join("libhostwire-fi.so");
        copy(&release.join("libhostwire_fi.so"), &provider)?;
        for (name, text) in HEADERS {
            write(&tree.join("include").join(name), text)?;
        }
    }

    let built = Built {
        table,
        machine,
        rust: release.join("libhostwire_shmem.a"),
        work,
        lib,
    };
    built.shared()?;
    built.archive()?;
    built.hooks()?;
    Ok(tree)
}

fn cargo_build(machine: &Machine, packages: &[&str]) -> Result<(), Error> {
    // See .cargo/config.toml.
    let chore = match packages.is_empty() {
        true => "products",
        false => "build",
    };
    let mut command = machine.cargo(chore);
    command.args(["--quiet", "--release", "--locked"]);
    command.args(packages.iter().flat_map(|package| ["-p", package]));
    run(&mut command)
}

/// Where each shell looks for what a package brings along.
const COMPLETIONS: [(&str, &str, &str); 3] = [
    ("bash", "share/bash-completion/completions/", ""),
    ("zsh", "share/zsh/site-functions/_", ""),
    ("fish", "share/fish/vendor_completions.d/", ".fish"),
];

/// Folders of this repository that users of the launcher need, the files of theirs, and where they go.
const DATA: [(&str, &str, &str); 2] = [
    ("tools/wireshark", "lua", "share/hostwire/wireshark"),
    ("examples/clusters", "toml", "share/hostwire/clusters"),
];

fn data(tree: &Path) -> Result<(), Error> {
    let root = root();
    for (folder, extension, place) in DATA {
        let (folder, place) = (root.join(folder), tree.join(place));
        fs::create_dir_all(&place).map_err(Error::file(&place))?;
        for entry in fs::read_dir(&folder).map_err(Error::file(&folder))? {
            let path = entry.map_err(Error::file(&folder))?.path();
            if path.extension().is_some_and(|it| it == extension)
                && let Some(name) = path.file_name()
            {
                copy(&path, &place.join(name))?;
            }
        }
    }
    Ok(())
}

/// Completions and pages of the manual, by the launcher itself.
fn launcher_pages(tree: &Path) -> Result<(), Error> {
    let launcher = tree.join("bin/hostwire");
    for (shell, before, behind) in COMPLETIONS {
        for program in ["hostwire", "oshrun"] {
            let arguments = ["completions", shell, "--for", program];
            let script = stdout(Command::new(&launcher).args(arguments))?;
            write(&tree.join(format!("{before}{program}{behind}")), &script)?;
        }
    }
    run(Command::new(&launcher)
        .arg("manual")
        .arg(tree.join("share/man/man1")))
}

/// The wrappers and package files for a tree that will be found at `prefix`.
pub fn wrappers(tree: &Path, prefix: &Path) -> Result<(), Error> {
    for (path, text, is_program) in WRAPPERS {
        let path = tree.join(path);
        let text = text
            .replace("@PREFIX@", &prefix.to_string_lossy())
            .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@PRIVATE_LIBS@", PRIVATE_LIBS)
            .replace("@CMAKE_PRIVATE_LIBS@", CMAKE_PRIVATE_LIBS);
        if fs::read_to_string(&path).is_ok_and(|there| there == text) {
            continue;
        }
        write(&path, &text)?;
        if is_program {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&path, mode).map_err(Error::file(&path))?;
        }
    }
    Ok(())
}

/// Every symbol that programs may see, in the order of the table.
pub fn symbols(table: &Table) -> Vec<String> {
    let names = table.functions().into_iter();
    names
        .flat_map(|function| [function.name().to_string(), function.profiling_name()])
        .chain(headers::inline::SYMBOLS.map(String::from))
        .chain(RACE_SYMBOLS.map(String::from))
        .collect()
}

/// What cargo has built, and what becomes libraries of it.
struct Built<'a> {
    table: &'a Table,
    machine: &'a Machine,
    /// All of it, as cargo leaves it.
    rust: PathBuf,
    /// The folder for what is needed on the way.
    work: PathBuf,
    /// The folder for libraries.
    lib: PathBuf,
}

impl Built<'_> {
    /// A shared library that exports only the symbols of the table. The C compiler links it, since
    /// a Rust `cdylib` would hide the symbols of the C file and the weak names.
    fn shared(&self) -> Result<(), Error> {
        let mut script = Tree::default();
        let names = symbols(self.table).join(";\n        ");
        let text = format!("{{\n    global:\n        {names};\n    local:\n        *;\n}};\n");
        script.add("symbols.map", text);
        script.write(&self.work)?;

        let library = self.lib.join(SONAME);
        let new = self.work.join(SONAME);
        let mut command = self.machine.compiler();
        command.args(["-shared", "-o"]).arg(&new);
        command
            .args(["-Wl,--whole-archive"])
            .arg(&self.rust)
            .arg("-Wl,--no-whole-archive");
        command.arg(format!("-Wl,-soname,{SONAME}"));
        command.arg(format!(
            "-Wl,--version-script={}",
            self.work.join("symbols.map").display()
        ));
        command.args([
            "-Wl,--gc-sections",
            "-Wl,-z,relro,-z,now",
            // A program that closes a plugin which brought the library along still has the exit
            // handlers of the library, and perhaps its threads.
            "-Wl,-z,nodelete",
            "-Wl,--as-needed",
            "-lgcc_s",
        ]);
        run(command.args(PRIVATE_LIBS.split(' ')))?;
        // At once, since a program that runs may have the old one mapped.
        fs::rename(&new, &library).map_err(Error::file(&library))?;

        let link = self.lib.join("libshmem.so");
        let _ = fs::remove_file(&link);
        symlink(SONAME, &link).map_err(Error::file(&link))
    }

    /// A static library of one object that exports only the symbols of the table, so that it
    /// can be linked into a program with other Rust libraries.
    ///
    /// Code that nothing in it uses is left out, so that it asks a static C library for no more than it needs.
    fn archive(&self) -> Result<(), Error> {
        let (object, kept) = (self.work.join("shmem.o"), self.work.join("symbols.list"));
        let names = symbols(self.table);
        write(&kept, &(names.join("\n") + "\n"))?;
        let roots = self.work.join("roots.ld");
        write(&roots, &format!("EXTERN({})\n", names.join(" ")))?;
        let resolver = self.object(
            "resolver",
            include_str!("../../../fronts/shmem/csrc/resolver.c"),
        )?;

        let mut link = self.machine.tool("ld");
        link.args(["-r", "--gc-sections"])
            .args(["--wrap=getaddrinfo", "--wrap=freeaddrinfo"])
            .arg("-o")
            .arg(&object)
            .args([&roots, &resolver])
            .arg("--whole-archive")
            .arg(&self.rust);
        run(&mut link)?;
        // Members that the compiler of the standard library left there, which `ar` and `nm` may not
        // accept.
        let mut clean = self.machine.tool("objcopy");
        clean.args(["--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
        run(clean.arg(&object))?;
        let asked = self.work.join("undefined.list");
        write(&asked, &self.undefined(&object)?)?;
        let mut hide = self.machine.tool("objcopy");
        hide.arg(format!("--keep-global-symbols={}", kept.display()))
            // The linker keeps the names that only the sections it left out referred to. They go
            // because they are not to be global, too.
            .arg(format!("--strip-unneeded-symbols={}", asked.display()))
            .arg(&object);
        run(&mut hide)?;
        self.collect("libshmem.a", &[object])
    }

    /// The names that an object leaves to others, one a line.
    fn undefined(&self, object: &Path) -> Result<String, Error> {
        let mut command = self.machine.tool("nm");
        command.args(["--undefined-only", "--format=posix"]);
        let text = stdout(command.arg(object))?;
        let names = text.lines().filter_map(|line| line.split(' ').next());
        Ok(names.map(|name| format!("{name}\n")).collect())
    }

    /// What `oshcc --race` links into programs: the functions that the compiler calls in front of
    /// loads and stores, and those that stand in front of functions of threads.
    fn hooks(&self) -> Result<(), Error> {
        for (name, text) in RACE_HEADERS {
            write(&self.work.join(name), text)?;
        }
        let hooks = self.object("race", include_str!("../../../fronts/shmem/csrc/race.c"))?;
        self.collect("libshmem_race.a", &[hooks])?;
        let threads = [
            self.object(
                "race_threads",
                include_str!("../../../fronts/shmem/csrc/race_threads.c"),
            )?,
            self.object(
                "race_openmp",
                include_str!("../../../fronts/shmem/csrc/race_openmp.c"),
            )?,
        ];
        self.collect("libshmem_race_threads.a", &threads)
    }

    /// Compiles C for programs of any kind.
    fn object(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let (source, object) = (
            self.work.join(format!("{name}.c")),
            self.work.join(format!("{name}.o")),
        );
        write(&source, text)?;
        let mut command = self.machine.compiler();
        command.args(["-std=gnu99", "-O2", "-fPIC", "-Wall", "-Wextra", "-c", "-o"]);
        run(command.arg(&object).arg(&source))?;
        Ok(object)
    }

    /// A static library of these objects.
    fn collect(&self, name: &str, objects: &[PathBuf]) -> Result<(), Error> {
        let library = self.lib.join(name);
        let _ = fs::remove_file(&library);
        let mut command = self.machine.tool("ar");
        run(command.arg("rcs").arg(&library).args(objects))
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    // Not over a file that may be running.
    let new = to.with_extension("new");
    fs::copy(from, &new).map_err(Error::file(from))?;
    fs::rename(&new, to).map_err(Error::file(to))
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Result<(), Error> {
    ended(command, Command::status, |status| *status).map(drop)
}

/// Runs a command to its end and returns what it printed.
pub(crate) fn stdout(command: &mut Command) -> Result<String, Error> {
    command.stderr(Stdio::inherit());
    let output = ended(command, Command::output, |output| output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn ended<T>(
    command: &mut Command,
    start: impl FnOnce(&mut Command) -> io::Result<T>,
    status: impl FnOnce(&T) -> ExitStatus,
) -> Result<T, Error> {
    let program = Path::new(command.get_program()).file_name();
    let program = program.unwrap_or(OsStr::new("?"));
    let program = program.to_string_lossy().into_owned();
    match start(command) {
        Ok(ended) => match status(&ended) {
            status if status.success() => Ok(ended),
            status => Err(Error::Program { program, status }),
        },
        Err(source) => Err(Error::Start { program, source }),
    }
}
