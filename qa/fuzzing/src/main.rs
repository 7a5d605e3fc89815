//! Runs the checks of input from outside.
//!
//! ```text
//! hostwire-fuzzing list                    the targets
//! hostwire-fuzzing run [TARGET]...         their corpora, and inputs made of them
//! hostwire-fuzzing repeat TARGET INPUT     one input: hexadecimal digits, or @FILE
//! hostwire-fuzzing keep TARGET NAME INPUT  add one to the corpus
//! hostwire-fuzzing files                   write anew what is made from the list of targets:
//!                                          the seeds of all corpora, the programs of libFuzzer
//! ```
//!
//! `FUZZ_CASES` sets how many inputs are made for each target (2000), `FUZZ_SEED` which ones
//! (1).

#![forbid(unsafe_code)]

use std::alloc::System;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};

use hostwire_fuzzing::report::{Failure, from_hex};
use hostwire_fuzzing::run::{self, CPU_MAX, Meter, Plan, WAIT_MAX};
use hostwire_fuzzing::{Target, corpus, libfuzzer, target, targets};
use peakmem_alloc::{PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static PEAK: PeakMemAlloc<System> = PeakMemAlloc::system();

const METER: Meter = Meter {
    peak_bytes: || PEAK.get_peak_memory(),
    reset: || PEAK.reset_peak_memory(),
};
const CASES: &str = "FUZZ_CASES";
const SEED: &str = "FUZZ_SEED";
const USAGE: &str = "expected list, run [TARGET]..., repeat TARGET INPUT, keep TARGET NAME INPUT \
                     or files; an INPUT is hexadecimal digits, or @FILE";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["list"] => {
            targets().iter().for_each(|target| say(target.name));
            Ok(true)
        }
        ["run", ref names @ ..] => run_all(names),
        ["work", at_hand, name] => work(at_hand, name),
        ["repeat", name, input] => repeat(name, input),
        ["keep", name, file, input] => keep(name, file, input),
        ["files"] => write_files(),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("hostwire-fuzzing: {error}"));
            ExitCode::from(2)
        }
    }
}

/// It is no failure if nobody reads it.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

fn number(name: &str, usual: u64) -> Result<u64> {
    match std::env::var(name) {
        Ok(text) => Ok(text
            .parse()
            .map_err(|_| format!("{name}={text:?}: expected a number"))?),
        Err(_) => Ok(usual),
    }
}

fn plan(at_hand: Option<File>) -> Result<Plan> {
    Ok(Plan {
        cases: number(CASES, 2000)?,
        seed: number(SEED, 1)?,
        at_hand,
    })
}

fn found(name: &str) -> Result<Target> {
    Ok(target(name).ok_or_else(|| format!("there is no target {name}; see: list"))?)
}

/// Each target runs in a process of its own, which may die of its input.
fn run_all(names: &[&str]) -> Result<bool> {
    let chosen: Vec<Target> = match names {
        [] => targets(),
        names => names
            .iter()
            .map(|name| found(name))
            .collect::<Result<_>>()?,
    };
    let Plan { cases, seed, .. } = plan(None)?;
    say(&format!("{CASES}={cases} {SEED}={seed}"));
    let mut failed = 0;
    for target in &chosen {
        let at_hand = tempfile::NamedTempFile::new()?;
        let status = Command::new(std::env::current_exe()?)
            .args(["work", &at_hand.path().to_string_lossy(), target.name])
            .status()?;
        failed += u32::from(!status.success());
        if let Some(why) = died(status) {
            let (_, bytes) = run::read_at_hand(&std::fs::read(at_hand.path())?).unwrap_or_default();
            say(&Failure::new(target.name, format!("seed {seed}"), bytes, why).to_string());
        }
    }
    let passed = chosen.len() - failed as usize;
    say(&format!("fuzzing: {passed} passed, {failed} failed"));
    Ok(failed == 0)
}

/// The end of a process that could not report it itself.
fn died(status: ExitStatus) -> Option<String> {
    let signal = status.signal()?;
    Some(format!(
        "its process was ended by signal {signal} (6: out of memory, {} s of processor time, or \
         {} s in all; 11: its stack was full)",
        CPU_MAX.as_secs(),
        WAIT_MAX.as_secs()
    ))
}

fn work(at_hand: &str, name: &str) -> Result<bool> {
    run::catch_panics();
    run::watch()?;
    run::limit_memory()?;
    let target = found(name)?;
    let outcome = run::run(&target, &plan(Some(File::create(at_hand)?))?, METER)?;
    if let Some(failure) = outcome.failure {
        say(&failure.to_string());
        return Ok(false);
    }
    say(&format!(
        "{name}: {} inputs, {} of them new",
        outcome.tried, outcome.added
    ));
    Ok(true)
}

fn input(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix('@') {
        Some(path) => std::fs::read(path).map_err(|error| format!("{path}: {error}").into()),
        None => Ok(from_hex(text).ok_or("an input is pairs of hexadecimal digits, or @FILE")?),
    }
}

fn repeat(name: &str, text: &str) -> Result<bool> {
    let bytes = input(text)?;
    // With the panic as it is, backtrace and all.
    let failure = run::fails(&found(name)?, &bytes, &plan(None)?, METER);
    say(if failure.is_some() { "fails" } else { "passes" });
    Ok(failure.is_none())
}

fn keep(name: &str, file: &str, text: &str) -> Result<bool> {
    let path = corpus::keep(&found(name)?, file, &input(text)?)?;
    say(&format!("wrote {}", path.display()));
    Ok(true)
}

fn write_files() -> Result<bool> {
    let folder = libfuzzer::folder();
    for target in targets() {
        let program = format!("fuzz_targets/{}.rs", target.name);
        std::fs::write(folder.join(program), libfuzzer::source(&target))?;
        for (name, bytes) in (target.seeds)() {
            corpus::keep(&target, &name, &bytes)?;
        }
    }
    let manifest = folder.join("Cargo.toml");
    let text = libfuzzer::manifest(&std::fs::read_to_string(&manifest)?);
    std::fs::write(manifest, text)?;
    Ok(true)
}
