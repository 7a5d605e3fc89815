//! The library and the programs, built once for all tests.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use hostwire_shmem_table::Table;
use xtask::{Tree, interposer, library, suite};

use hostwire_testing::{built, is_installed, need};

use crate::succeeds;
use crate::tested::{MACHINE, is_emulated};

/// A language that programs are compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// C11, with the type-generic macros.
    C11,
    /// C99, without them.
    C99,
    /// C++.
    Cxx,
}

/// How short puts, gets and atomics get into a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Short {
    /// As calls of the library.
    Called,
    /// As part of the program.
    Inline,
}

/// The table of functions.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| Table::load().expect("the table"));

/// The tree with library and wrappers; `None` where there is no C compiler.
pub fn tree() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        if !is_installed(MACHINE.compiler().get_program(), &need::C) {
            return None;
        }
        // The launcher of the tests also works with libraries in release mode.
        let launcher = (!is_emulated()).then(built::launcher);
        if launcher.is_some() {
            built::laboratory();
        }
        let tree = library::build(&TABLE, &MACHINE, launcher)
            .unwrap_or_else(|error| panic!("no library: {error}"));
        suite::tree(&TABLE)
            .write(&work())
            .expect("headers of the suite can be written");
        Some(tree)
    });
    built.as_deref()
}

/// Where programs go.
pub fn work() -> PathBuf {
    MACHINE.target_dir().join("shmem-suite")
}

/// Compiles `tests/c/NAME.c`, once.
pub fn program(tree: &Path, name: &str, language: Language) -> PathBuf {
    program_with(tree, name, language, Short::Called)
}

/// The same, with short operations as asked.
pub fn program_with(tree: &Path, name: &str, language: Language, short: Short) -> PathBuf {
    type Once = Arc<OnceLock<PathBuf>>;
    type Key = (String, Language, Short);
    static BUILT: LazyLock<Mutex<HashMap<Key, Once>>> = LazyLock::new(Mutex::default);
    let cell = {
        let mut built = BUILT.lock().expect("no test panics with it");
        Arc::clone(
            built
                .entry((name.to_string(), language, short))
                .or_default(),
        )
    };
    cell.get_or_init(|| compile(tree, name, language, short))
        .clone()
}

fn compile(tree: &Path, name: &str, language: Language, short: Short) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let (wrapper, standard, suffix) = match language {
        Language::C11 => ("oshcc", "-std=gnu11", "c11"),
        Language::C99 => ("oshcc", "-std=gnu99", "c99"),
        Language::Cxx => ("oshc++", "-std=gnu++11", "cxx"),
    };
    // Inline operations need an optimiser that moves them.
    let (options, inline): (&[&str], _) = match short {
        Short::Called => (&["-O1"], ""),
        Short::Inline => (&["--inline", "-O2"], ".inline"),
    };
    let program = work().join(format!("{name}.{suffix}{inline}"));
    let mut command = self::wrapper(tree, wrapper);
    command
        .args(options)
        .args([standard, "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]);
    if language == Language::Cxx {
        command.args(["-x", "c++"]);
    }
    // Templates are included by headers that lie elsewhere.
    command.arg("-I").arg(&sources).arg("-I").arg(work());
    command
        .arg("-o")
        .arg(&program)
        .arg(sources.join(format!("{name}.c")));
    // The language is for the source alone, not for the libraries behind it.
    if language == Language::Cxx {
        command.args(["-x", "none"]);
    }
    succeeds(&mut command);
    program
}

/// `oshcc` or `oshc++`, with the compiler of the tested machine.
pub fn wrapper(tree: &Path, name: &str) -> Command {
    let mut command = Command::new(tree.join("bin").join(name));
    if is_emulated() {
        command.env("OSHCC", MACHINE.compiler().get_program());
        command.env("OSHCXX", MACHINE.tool("g++").get_program());
    }
    command
}

/// Whether there is a C++ compiler for the tested machine. Says that something is left out if not.
pub fn has_cxx() -> bool {
    let compiler = if is_emulated() { "g++" } else { "c++" };
    is_installed(MACHINE.tool(compiler).get_program(), &need::CXX)
}

/// `oshrun` for a job of so many PEs that ends after two minutes.
pub fn oshrun(tree: &Path, pes: usize) -> Command {
    let mut command = Command::new(tree.join("bin/oshrun"));
    command
        .args(["-n", &pes.to_string(), "--timeout", "120"])
        .stdin(Stdio::null());
    // What the tests set by themselves must not come from outside.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SHMEM_")) {
        command.env_remove(name);
    }
    command
}

/// A library for `LD_PRELOAD` that notes every function that is called.
pub fn interposer(tree: &Path) -> PathBuf {
    let mut source = Tree::default();
    source.add("calls.c", interposer::source(&TABLE));
    source.write(&work()).expect("the tool can be written");
    let library = work().join("libcalls.so");
    let mut command = wrapper(tree, "oshcc");
    command
        .args(["-std=gnu99", "-shared", "-fPIC", "-o"])
        .arg(&library);
    succeeds(command.arg(work().join("calls.c")));
    library
}
