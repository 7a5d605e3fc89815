//! The machine that is tested: this one, or the one that `SHMEM_TEST_TARGET` names, whose programs an
//! emulator runs. The launcher is always that of this machine.

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use xtask::machine::Machine;

/// The variable that names another machine, as Rust calls it.
const TARGET: &str = "SHMEM_TEST_TARGET";

/// The machine that is tested.
pub static MACHINE: LazyLock<Machine> = LazyLock::new(|| match env::var(TARGET) {
    Ok(target) => Machine::other(&target).unwrap_or_else(|error| panic!("{TARGET}: {error}")),
    Err(_) => Machine::this(),
});

/// The command that runs its programs here, to be put in front of theirs. Cargo runs them in the same way.
static EMULATOR: LazyLock<Vec<String>> = LazyLock::new(|| {
    let Some(target) = MACHINE.target() else {
        return Vec::new();
    };
    let name = target.to_uppercase().replace('-', "_");
    let variable = format!("CARGO_TARGET_{name}_RUNNER");
    let words = env::var(&variable)
        .unwrap_or_else(|_| panic!("{variable} must name the emulator for the {TARGET} {target}"));
    words.split_whitespace().map(String::from).collect()
});

/// Whether an emulator runs the programs.
pub fn is_emulated() -> bool {
    MACHINE.target().is_some()
}

/// A program that needs no launcher.
pub fn alone(program: &Path) -> Command {
    let mut words = EMULATOR.iter().map(Path::new).chain([program]);
    let mut command = Command::new(words.next().unwrap_or(program));
    command.args(words);
    command
}

/// Adds a program to the command that starts it.
pub fn add_program<'a>(command: &'a mut Command, program: &Path) -> &'a mut Command {
    command.args(EMULATOR.iter()).arg(program)
}
