//! The detector of races against labelled programs: the rules of the specification, one by one, racy
//! and clean. No verdict may depend on when things happen, so every program is run with PEs that are
//! delayed at random in front of everything they do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use hostwire_testing::{is_installed, left_out, need, or_long};

use crate::build::{Language, oshrun, program, tree, work};
use crate::hosts::turn;
use crate::{output, succeeds, text};

const PES: usize = 3;
/// Seeds of delays; 0 is none.
fn seeds() -> std::ops::Range<u64> {
    0..or_long(2, 60)
}
/// For tests of something else than the schedule.
const NO_DELAYS: std::ops::Range<u64> = 0..1;

/// What became of one labelled program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Verdict {
    is_racy: bool,
    reports: Vec<String>,
}

/// The verdicts of a run, by the names of the programs.
fn verdicts(said: &str) -> BTreeMap<String, Verdict> {
    let mut all = BTreeMap::new();
    let mut now = String::new();
    for line in said.lines() {
        if let Some(rest) = line.strip_prefix("case ") {
            let (name, rest) = rest.split_once(" is ").expect("a case has a label");
            now = name.to_string();
            let verdict = Verdict {
                is_racy: rest.starts_with("racy:"),
                reports: Vec::new(),
            };
            assert!(all.insert(now.clone(), verdict).is_none(), "{name} twice");
        } else if line.contains("race on") {
            let verdict = all.get_mut(&now).expect("a race belongs to a case");
            verdict.reports.push(line.to_string());
        }
    }
    all
}

fn looked_at(command: &mut Command, seed: u64) -> &mut Command {
    command.args(["-x", "SHMEM_DEBUG=race"]);
    if seed > 0 {
        command.args(["-x", &format!("SHMEM_DEBUG_DELAYS={seed}")]);
    }
    command
}

/// Runs these programs with these seeds: not one false report, and nearly all races in every run.
/// With each program, how many cases it has at least.
fn are_judged(
    seeds: std::ops::Range<u64>,
    job: impl Fn() -> Command,
    programs: &[(PathBuf, usize)],
) {
    let mut racy = BTreeMap::new();
    for seed in seeds {
        for (program, least) in programs {
            judge(looked_at(&mut job(), seed).arg(program), *least, &mut racy);
        }
    }
    let missed: Vec<&String> = racy
        .iter()
        .filter(|(_, found)| !**found)
        .map(|(name, _)| name)
        .collect();
    assert!(
        missed.len() * 20 <= racy.len(),
        "not found in every schedule: {missed:?} of {}",
        racy.len()
    );
}

/// Runs one of them once. `racy` has, for each case with a race, whether it was found in all runs so far.
fn judge(command: &mut Command, least: usize, racy: &mut BTreeMap<String, bool>) {
    let ended = output(command);
    let said = text(&ended);
    let verdicts = verdicts(&said);
    assert!(
        said.contains("all cases are done") && verdicts.len() >= least,
        "{command:?}: {} programs, {}: {said}",
        verdicts.len(),
        ended.status
    );
    assert_eq!(
        ended.status.code(),
        Some(66),
        "a job with races ends so: {command:?}: {said}"
    );
    for (name, verdict) in verdicts {
        match verdict.is_racy {
            true => *racy.entry(name).or_insert(true) &= !verdict.reports.is_empty(),
            false => assert!(
                verdict.reports.is_empty(),
                "{name} is clean, {command:?}: {said}"
            ),
        }
    }
}

/// Races between calls of the library.
fn calls(tree: &Path) -> [(PathBuf, usize); 2] {
    [("races", 56), ("races_order", 35)]
        .map(|(name, least)| (program(tree, name, Language::C11), least))
}

/// Races between calls and the loads and stores of an instrumented program.
fn memory(program: PathBuf) -> [(PathBuf, usize); 1] {
    [(program, 45)]
}

#[test]
fn calls_are_judged_the_same_in_every_schedule() {
    let Some(tree) = tree() else { return };
    are_judged(seeds(), || oshrun(tree, PES), &calls(tree));
}

/// Compiles a source with `--race`.
fn instrumented(tree: &Path, wrapper: &str, source: &Path, options: &[&str]) -> PathBuf {
    let name = source
        .file_stem()
        .expect("a source has a name")
        .to_string_lossy();
    let program = work().join(format!("{name}.{wrapper}{}.race", options.concat()));
    let mut command = Command::new(tree.join("bin").join(wrapper));
    command
        .args(["--race", "-O1", "-Wall", "-Wextra", "-Werror"])
        .args(options);
    if wrapper == "oshc++" {
        command.args(["-x", "c++"]);
    }
    succeeds(command.arg("-o").arg(&program).arg(source).arg("-lm"));
    program
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name)
}

#[test]
fn loads_and_stores_are_judged_the_same_in_every_schedule() {
    let Some(tree) = tree() else { return };
    let program = instrumented(tree, "oshcc", &source("races_memory.c"), &[]);
    are_judged(seeds(), || oshrun(tree, PES), &memory(program));
}

/// The threads of a PE, with each other and with other PEs.
#[test]
fn threads_are_judged_the_same_in_every_schedule() {
    let Some(tree) = tree() else { return };
    let options = ["-std=gnu11", "-pthread"];
    let program = instrumented(tree, "oshcc", &source("races_threads.c"), &options);
    are_judged(seeds(), || oshrun(tree, PES), &[(program, 47)]);
    if !is_installed("c++", &need::CXX) {
        return;
    }
    let program = instrumented(tree, "oshc++", &source("races_cxx.c"), &["-pthread"]);
    are_judged(seeds(), || oshrun(tree, PES), &[(program, 8)]);
}

#[test]
fn openmp_is_judged_the_same_in_every_schedule() {
    let Some(tree) = tree() else { return };
    if !has_openmp() {
        return left_out(&need::C, "the C compiler has no OpenMP of GCC");
    }
    let program = instrumented(tree, "oshcc", &source("races_openmp.c"), &["-fopenmp"]);
    let job = || {
        let mut command = oshrun(tree, PES);
        // Threads that wait leave the cores to others.
        command.args(["-x", "OMP_WAIT_POLICY=passive"]);
        command
    };
    are_judged(seeds(), job, &[(program, 34)]);
}

fn has_openmp() -> bool {
    let source = work().join("openmp.c");
    std::fs::write(
        &source,
        "#include <omp.h>\nint main(void) { return omp_get_thread_num(); }\n",
    )
    .expect("a source can be written");
    let mut compile = Command::new("cc");
    compile
        .args(["-fopenmp", "-o"])
        .arg(work().join("openmp"))
        .arg(&source);
    is_installed("cc", &need::C) && output(&mut compile).status.success()
}

#[test]
fn a_report_names_threads() {
    let Some(tree) = tree() else { return };
    let options = ["-std=gnu11", "-pthread", "-g2"];
    let program = instrumented(tree, "oshcc", &source("races_threads.c"), &options);
    let mut command = oshrun(tree, PES);
    let said = text(&output(
        looked_at(&mut command, 0).arg(program).arg("stores_of_two"),
    ));
    for words in [
        "PE 0 (thread 1) stores to it, called at",
        "PE 0 (thread 2) stores to it, called at",
        "races_threads.c:",
        "nothing orders the two threads of PE 0",
    ] {
        assert!(said.contains(words), "{words:?} is not in: {said}");
    }
    assert_eq!(said.matches("race on").count(), 1, "{said}");
}

/// Linked into one file, and in the other language.
#[test]
fn instrumented_programs_may_be_static_and_cxx() {
    let Some(tree) = tree() else { return };
    let program = instrumented(tree, "oshcc", &source("races_memory.c"), &["-static"]);
    are_judged(NO_DELAYS, || oshrun(tree, PES), &memory(program));
    if !is_installed("c++", &need::CXX) {
        return;
    }
    let program = instrumented(tree, "oshc++", &source("races_memory.c"), &[]);
    are_judged(NO_DELAYS, || oshrun(tree, PES), &memory(program));
}

/// As a build system does it: objects first, among them one that is not instrumented.
#[test]
fn objects_are_linked_with_the_same_option() {
    let Some(tree) = tree() else { return };
    let object = work().join("races_memory.race.o");
    let oshcc = tree.join("bin/oshcc");
    let mut compile = Command::new(&oshcc);
    compile.args(["--race", "-O1", "-c", "-o"]).arg(&object);
    succeeds(compile.arg(source("races_memory.c")));
    let program = work().join("races_memory.linked.race");
    let mut link = Command::new(&oshcc);
    succeeds(link.args(["--race", "-o"]).arg(&program).arg(&object));
    are_judged(NO_DELAYS, || oshrun(tree, PES), &memory(program.clone()));
    // Without the detector it is an ordinary program.
    let said = succeeds(oshrun(tree, PES).arg(&program));
    assert!(!said.contains("race on"), "{said}");
}

#[test]
fn all_are_judged_the_same_over_posted_stores() {
    let Some(tree) = tree() else { return };
    let job = || {
        let mut command = oshrun(tree, PES);
        command.args(["-x", "HOSTWIRE_WIRE=stores"]);
        command
    };
    let calls = calls(tree);
    are_judged(1..2, job, &calls);
    let loads_and_stores = instrumented(tree, "oshcc", &source("races_memory.c"), &["-g3"]);
    are_judged(1..2, job, &memory(loads_and_stores));
}

#[test]
fn all_are_judged_the_same_between_hosts() {
    let Some(tree) = tree() else { return };
    let job = || {
        let mut command = oshrun(tree, PES);
        command.args(["--wire", "udp", "--hosts", "2"]);
        command
    };
    let calls = calls(tree);
    let loads_and_stores = instrumented(tree, "oshcc", &source("races_memory.c"), &["-g1"]);
    let _turn = turn();
    let tried = output(job().arg("true"));
    if !tried.status.success() {
        let why = format!("no hosts can be made: {}", text(&tried).trim());
        return left_out(&need::NAMESPACES, why);
    }
    are_judged(1..2, job, &calls);
    are_judged(1..2, job, &memory(loads_and_stores));
}

/// Programs that keep to the rules: a report would be false.
#[test]
fn programs_that_keep_to_the_rules_are_clean() {
    let Some(tree) = tree() else { return };
    for (name, language) in [
        ("lock", Language::C11),
        ("statics", Language::C11),
        ("threads", Language::C11),
        ("older", Language::C99),
    ] {
        let program = program(tree, name, language);
        let said = succeeds(looked_at(&mut oshrun(tree, PES), 0).arg(&program));
        assert!(!said.contains("race on"), "{name}: {said}");
    }
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    for (name, arguments) in [
        ("hello", &[][..]),
        ("heat", &["50", "100"]),
        ("heat2d", &["32", "8", "20"]),
        ("gups", &["64", "200"]),
    ] {
        let program = instrumented(tree, "oshcc", &examples.join(format!("{name}.c")), &[]);
        let mut command = oshrun(tree, PES);
        let said = succeeds(looked_at(&mut command, 1).arg(&program).args(arguments));
        assert!(!said.contains("race on"), "{name}: {said}");
    }
}

/// A program that is not instrumented gets one line that says so, and an instrumented one gets none.
#[test]
fn a_program_that_is_not_instrumented_is_told() {
    let Some(tree) = tree() else { return };
    let hello = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c/hello.c");
    let plain = work().join("hello.plain");
    let mut compile = Command::new(tree.join("bin/oshcc"));
    succeeds(compile.arg("-o").arg(&plain).arg(&hello).arg("-lm"));
    let instrumented = instrumented(tree, "oshcc", &hello, &["-g2"]);
    for (program, times) in [(&plain, 1), (&instrumented, 0)] {
        let said = succeeds(looked_at(&mut oshrun(tree, PES), 0).arg(program));
        let told = said
            .matches("only calls of the library are looked at")
            .count();
        assert_eq!(told, times, "{said}");
    }
    let said = succeeds(oshrun(tree, PES).arg(&plain));
    assert!(!said.contains("only calls"), "{said}");
}

#[test]
fn a_word_that_debug_does_not_know_is_an_error() {
    let Some(tree) = tree() else { return };
    let program = program(tree, "lock", Language::C11);
    let ended = output(
        oshrun(tree, 2)
            .args(["-x", "SHMEM_DEBUG=rase"])
            .arg(&program),
    );
    let said = text(&ended);
    assert!(!ended.status.success(), "{said}");
    assert!(
        said.contains("SHMEM_DEBUG") && said.contains("bounds, race or all"),
        "{said}"
    );
}

/// The report of a race: both places, both PEs, the object, and what is missing.
#[test]
fn a_report_says_what_where_and_what_is_missing() {
    let Some(tree) = tree() else { return };
    let program = program(tree, "races", Language::C11);
    let mut command = oshrun(tree, PES);
    let command = looked_at(&mut command, 0)
        .arg(program)
        .arg("put_fence_get_same_pe");
    let said = text(&output(command));
    for words in [
        "of the symmetric heap of PE 1, byte 0 of the block of",
        "allocated at",
        "PE 0 reads it by shmem_get, called at",
        "PE 0 writes it by shmem_put on the default context, called at",
        "races.c:",
        "(put_fence_get_same_pe)",
        "PE 0 needs a shmem_quiet on the default context between the two",
    ] {
        assert!(said.contains(words), "{words:?} is not in: {said}");
    }
    assert_eq!(said.matches("race on").count(), 1, "{said}");
}
