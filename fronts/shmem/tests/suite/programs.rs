//! Programs that check themselves, on several numbers of PEs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use hostwire_testing::{is_installed, left_out, need, or_long};

use crate::build::{self, Language, TABLE, has_cxx, oshrun, program, tree, work, wrapper};
use crate::succeeds;
use crate::tested::{add_program, is_emulated};

/// A pair, one that is no power of two, and more than there are cores. Alone, and by powers of two, in `make test-long`.
fn pes() -> &'static [usize] {
    or_long(&[2, 3, 8], &[1, 2, 3, 4, 8])
}

/// For C++, where only the headers differ.
fn some_pes() -> &'static [usize] {
    or_long(&[3], &[2, 3])
}

fn runs(name: &str, language: Language, pes: &[usize], arguments: &[&str]) {
    let Some(tree) = tree() else { return };
    if language == Language::Cxx && !has_cxx() {
        return;
    }
    let program = program(tree, name, language);
    for &pes in pes {
        succeeds(add_program(&mut oshrun(tree, pes), &program).args(arguments));
    }
}

/// One test for each program and language.
macro_rules! programs {
    ($($test:ident: $name:literal in $language:ident;)*) => { $(
        #[test]
        fn $test() {
            let pes = match Language::$language {
                Language::C11 | Language::C99 => pes(),
                Language::Cxx => some_pes(),
            };
            runs($name, Language::$language, pes, &[]);
        }
    )* };
}

programs! {
    puts_and_gets: "rma" in C11;
    puts_and_gets_in_cxx: "rma" in Cxx;
    puts_and_gets_in_c99: "rma" in C99;
    signals: "signal" in C11;
    signals_in_cxx: "signal" in Cxx;
    atomics: "atomic" in C11;
    atomics_in_cxx: "atomic" in Cxx;
    collectives: "collective" in C11;
    collectives_in_cxx: "collective" in Cxx;
    reductions: "reduce" in C11;
    reductions_in_cxx: "reduce" in Cxx;
    reductions_of_active_sets: "active" in C11;
    waits: "wait" in C11;
    waits_in_cxx: "wait" in Cxx;
    setup_and_memory: "setup" in C11;
    teams_and_contexts: "teams" in C11;
    locks: "lock" in C11;
    static_objects: "statics" in C11;
    threads: "threads" in C11;
    older_programs: "older" in C99;
    older_programs_in_cxx: "older" in Cxx;
    arguments_at_their_limits: "edges" in C11;
    handles_at_their_limits: "handles" in C11;
    threads_with_teams_of_their_own: "parallel" in C11;
}

#[test]
fn work_on_a_pe_that_computes_completes() {
    runs(
        "progress",
        Language::C11,
        or_long(&[3], &[2, 3, 4]),
        &["loop"],
    );
}

#[test]
fn work_on_a_pe_that_sleeps_completes() {
    runs("progress", Language::C11, or_long(&[2], &[2, 4]), &["read"]);
}

/// Also the test that nothing hangs in many runs after another.
#[test]
fn random_traffic_agrees_with_a_model() {
    let Some(tree) = tree() else { return };
    let program = program(tree, "random", Language::C11);
    let times = std::env::var("SHMEM_TEST_RUNS")
        .ok()
        .and_then(|times| times.parse().ok());
    let pes = [1, 2, 3, 4, 8];
    for seed in 1..=times.unwrap_or(or_long(10u64, 100)) {
        let pes = pes[seed as usize % pes.len()];
        succeeds(add_program(&mut oshrun(tree, pes), &program).arg(seed.to_string()));
    }
}

/// Initialised objects are in a part of the program of their own then.
#[test]
fn static_objects_of_the_medium_code_model() {
    let Some(tree) = tree() else { return };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/statics.c");
    for option in ["-pie", "-no-pie"] {
        let program = work().join(format!("statics.medium{option}"));
        let mut compile = wrapper(tree, "oshcc");
        compile.args(["-std=gnu11", "-O1", "-mcmodel=medium", option, "-o"]);
        let compiled = crate::output(compile.arg(&program).arg(&source));
        if !compiled.status.success() {
            return left_out(&need::SANITIZER, "the C compiler has no medium code model");
        }
        succeeds(add_program(&mut oshrun(tree, 3), &program));
    }
}

/// AddressSanitizer puts guards between static objects, and sees what is done to them.
#[test]
fn address_sanitizer_finds_nothing() {
    let Some(tree) = tree() else { return };
    if is_emulated() {
        return left_out(&need::SANITIZER, "sanitizers do not run emulated");
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    for name in ["statics", "setup"] {
        let program = work().join(format!("{name}.asan"));
        let mut compile = Command::new(tree.join("bin/oshcc"));
        compile.args(["-std=gnu11", "-O1", "-g", "-fsanitize=address", "-o"]);
        compile.arg(&program).arg(sources.join(format!("{name}.c")));
        if !crate::output(&mut compile).status.success() {
            return left_out(&need::SANITIZER, "the C compiler has no AddressSanitizer");
        }
        succeeds(oshrun(tree, 2).arg(&program));
    }
}

/// ThreadSanitizer sees what the library allocates and frees, and which threads it joins, but not what it does in
/// between. So no memory may go from one of its threads to another without a join.
#[test]
fn thread_sanitizer_finds_nothing() {
    let Some(tree) = tree() else { return };
    if is_emulated() {
        return left_out(&need::SANITIZER, "sanitizers do not run emulated");
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    if !is_installed("setarch", &need::UTIL_LINUX) {
        return;
    }
    for (name, runs) in [
        ("setup", or_long(3, 12)),
        ("teams", or_long(1, 4)),
        ("active", or_long(1, 2)),
    ] {
        let program = work().join(format!("{name}.tsan"));
        let mut compile = Command::new(tree.join("bin/oshcc"));
        compile.args(["-std=gnu11", "-O1", "-g", "-fsanitize=thread", "-o"]);
        compile.arg(&program).arg(sources.join(format!("{name}.c")));
        if !crate::output(&mut compile).status.success() {
            return left_out(&need::SANITIZER, "the C compiler has no ThreadSanitizer");
        }
        // At addresses that it knows: the kernel may choose others.
        let fixed = |program: &mut Command| {
            let mut fixed = Command::new("setarch");
            fixed.arg("-R").arg(program.get_program());
            fixed
                .args(program.get_args())
                .stdin(std::process::Stdio::null());
            fixed
        };
        for _ in 0..runs {
            let output = crate::output(&mut fixed(oshrun(tree, 2).arg(&program)));
            let said = crate::text(&output);
            if said.contains("unexpected memory mapping")
                || said.contains("failed to set personality")
            {
                return left_out(&need::SANITIZER, "ThreadSanitizer does not run here");
            }
            assert!(output.status.success(), "{name}: {said}");
        }
    }
}

/// Every program with collectives or waits, a hundred times on each number of PEs: a hang
/// ends by the time limit of the launcher.
#[test]
#[ignore = "takes minutes; make test-long"]
fn nothing_hangs_in_a_hundred_runs() {
    let Some(tree) = tree() else { return };
    let names = [
        "collective",
        "reduce",
        "active",
        "edges",
        "handles",
        "parallel",
        "threads",
        "teams",
        "lock",
        "wait",
        "signal",
        "random",
    ];
    for name in names {
        let program = program(tree, name, Language::C11);
        for &pes in pes() {
            for run in 1..=100u32 {
                succeeds(add_program(&mut oshrun(tree, pes), &program).arg(run.to_string()));
            }
        }
    }
}

/// A tool replaces every function, so each can be interposed; and the programs call each of
/// them at least once.
#[test]
fn every_function_is_called_and_can_be_interposed() {
    let Some(tree) = tree() else { return };
    let tool = build::interposer(tree);
    let calls = work().join("calls.txt");
    let _ = fs::remove_file(&calls);
    let programs = [
        ("rma", ""),
        ("signal", ""),
        ("atomic", ""),
        ("collective", ""),
        ("reduce", ""),
        ("wait", ""),
        ("setup", ""),
        ("teams", ""),
        ("lock", ""),
        ("threads", ""),
        ("lifecycle", "implicit"),
        ("lifecycle", "global-exit"),
    ];
    for (name, argument) in programs {
        let program = program(tree, name, Language::C11);
        let mut command = oshrun(tree, 2);
        command.args(["-x", &format!("LD_PRELOAD={}", tool.display())]);
        command.args(["-x", &format!("SHMEM_CALLS={}", calls.display())]);
        add_program(&mut command, &program).args((!argument.is_empty()).then_some(argument));
        let output = crate::output(&mut command);
        let is_good = output.status.success() || argument == "global-exit";
        assert!(is_good, "{command:?}: {}", crate::text(&output));
    }
    let called = fs::read_to_string(&calls).expect("the tool has written");
    let called: BTreeSet<&str> = called.lines().collect();
    let functions = TABLE.functions();
    let missing: Vec<&str> = functions
        .iter()
        .map(|of| of.name())
        .filter(|name| !called.contains(name))
        .collect();
    assert!(
        missing.is_empty(),
        "{} are never called: {missing:?}",
        missing.len()
    );
}
