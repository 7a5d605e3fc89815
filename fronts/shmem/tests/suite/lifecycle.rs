//! Beginnings and ends of jobs, good and bad.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::time::{Duration, Instant};

use hostwire_testing::or_long;

use crate::build::{Language, oshrun, program, tree};
use crate::text;

/// Runs `lifecycle.c` in one of its ways; `None` where nothing can be built.
fn lifecycle(way: &str, pes: usize, options: &[&str]) -> Option<Output> {
    let tree = tree()?;
    let program = program(tree, "lifecycle", Language::C11);
    let mut command = oshrun(tree, pes);
    Some(crate::output(command.args(options).arg(program).arg(way)))
}

fn ends_well(way: &str) {
    for &pes in or_long(&[1, 3, 8][..], &[1, 2, 3, 4, 8]) {
        let Some(output) = lifecycle(way, pes, &[]) else {
            return;
        };
        assert!(
            output.status.success(),
            "{way} on {pes} PEs: {}",
            text(&output)
        );
    }
}

/// The job fails, and says what was wrong.
fn is_refused(way: &str, options: &[&str], words: &[&str]) {
    let Some(output) = lifecycle(way, 2, options) else {
        return;
    };
    let said = text(&output);
    assert!(!output.status.success(), "{way} must fail: {said}");
    // Not by a crash.
    assert_eq!(output.status.signal(), None, "{way}: {said}");
    assert!(!said.contains("signal 11"), "{way}: {said}");
    for word in words {
        assert!(said.contains(word), "{way} does not say '{word}': {said}");
    }
}

#[test]
fn the_library_begins_and_ends_many_times() {
    ends_well("repeated");
}

#[test]
fn start_pes_finalizes_at_exit() {
    ends_well("implicit");
}

#[test]
fn what_is_left_over_is_given_back() {
    ends_well("left-over");
}

#[test]
fn out_of_memory_is_told_with_what_to_do() {
    let Some(output) = lifecycle("out-of-memory", 2, &[]) else {
        return;
    };
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for word in ["1125899906842624", "free", "SHMEM_SYMMETRIC_SIZE"] {
        assert!(said.contains(word), "does not say '{word}': {said}");
    }
}

#[test]
fn a_block_is_freed_once() {
    is_refused("double-free", &[], &["shmem_free"]);
}

#[test]
fn only_blocks_are_freed() {
    is_refused(
        "foreign-free",
        &[],
        &[
            "shmem_free",
            "16 bytes behind the beginning of a block of 100 bytes",
        ],
    );
}

#[test]
fn a_forked_child_is_told_that_it_is_no_pe() {
    for options in [&[][..], &["-x", "SHMEM_DEBUG=1"]] {
        let Some(output) = lifecycle("forked", 2, options) else {
            return;
        };
        let said = text(&output);
        assert!(output.status.success(), "{said}");
        let told = said.matches("a child that a PE has forked").count();
        assert_eq!(told, 2 * 10, "{said}");
        assert!(!said.contains("before shmem_init"), "{said}");
    }
}

#[test]
fn a_child_without_memory_for_static_objects_ends() {
    let Some(output) = lifecycle("forked-without-memory", 2, &[]) else {
        return;
    };
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    let told = said
        .matches("no memory for static objects of the child's own")
        .count();
    assert_eq!(told, 2, "{said}");
}

#[test]
fn global_exit_ends_the_job_with_its_status() {
    for pes in [1, 2, 4] {
        let Some(output) = lifecycle("global-exit", pes, &[]) else {
            return;
        };
        assert_eq!(output.status.code(), Some(7), "{}", text(&output));
    }
}

/// The launcher may see the end of the PE before it reads that the PE has asked for it.
#[test]
fn global_exit_with_0_is_a_success() {
    for pes in [1, 2, 3, 3, 3, 8] {
        let Some(output) = lifecycle("global-success", pes, &[]) else {
            return;
        };
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    }
}

#[test]
fn signals_are_the_programs() {
    ends_well("signals");
}

#[test]
fn alarms_of_the_program_do_not_keep_it_from_its_job() {
    ends_well("alarms");
}

#[test]
fn global_exit_runs_exit_handlers_and_writes_buffers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("file");
    let variable = format!("SHMEM_TEST_FILE={}", file.display());
    let Some(output) = lifecycle("orderly-exit", 3, &["-x", &variable]) else {
        return;
    };
    let said = text(&output);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("goodbye"), "{said}");
    let written = std::fs::read_to_string(&file).expect("PE 0 has made it");
    assert_eq!(written, "in a buffer");
}

#[test]
fn finalize_does_not_wait_for_the_dead() {
    let begin = Instant::now();
    let Some(output) = lifecycle("death", 3, &["--keep-going"]) else {
        return;
    };
    let said = text(&output);
    // The first to see it ends the job.
    assert!(said.contains("shmem_finalize: PE 2 is lost"), "{said}");
    assert!(
        begin.elapsed() < Duration::from_secs(60),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn checks_name_what_is_wrong() {
    let debug = ["-x", "SHMEM_DEBUG=1"];
    is_refused("after-finalize", &debug, &["shmem_barrier_all"]);
    is_refused("bad-pe", &debug, &["PE 2"]);
    is_refused("bad-address", &debug, &["symmetric"]);
}

#[test]
fn an_impossible_heap_size_is_an_error() {
    for size in ["many", "-5", "1e400", ""] {
        let Some(output) = lifecycle(
            "left-over",
            1,
            &["-x", &format!("SHMEM_SYMMETRIC_SIZE={size}")],
        ) else {
            return;
        };
        let said = text(&output);
        assert!(!output.status.success(), "'{size}' must be refused: {said}");
        assert!(said.contains("SHMEM_SYMMETRIC_SIZE"), "'{size}': {said}");
    }
    for size in ["2097152", "4m", "3.5M", ".01g", "20mk"] {
        let Some(output) = lifecycle(
            "left-over",
            2,
            &["-x", &format!("SHMEM_SYMMETRIC_SIZE={size}")],
        ) else {
            return;
        };
        assert!(output.status.success(), "'{size}': {}", text(&output));
    }
}
