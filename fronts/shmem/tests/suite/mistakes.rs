//! What `SHMEM_DEBUG` says of wrong arguments: one text for each, and no crash, no hang.

use std::process::Command;

use xtask::{Tree, suite};

use crate::build::{Language, TABLE, oshrun, program, tree, work};
use crate::{output, succeeds, text};

/// Every pointer of all functions: null, private instead of symmetric, not mapped, and with a count that reaches too
/// far.
#[test]
fn every_function_looks_at_every_pointer() {
    let Some(tree) = tree() else { return };
    let mut source = Tree::default();
    let text = suite::pointers(&TABLE).expect("the table says what pointers name");
    source.add("pointers.c", text);
    source.write(&work()).expect("the program can be written");
    let program = work().join("pointers");
    let mut compile = Command::new(tree.join("bin/oshcc"));
    compile
        .args(["-std=gnu11", "-w", "-O0", "-o"])
        .arg(&program);
    succeeds(compile.arg(work().join("pointers.c")));
    let mut run = Command::new(&program);
    let said = succeeds(
        run.env("SHMEM_DEBUG", "checks")
            .env("SHMEM_SYMMETRIC_SIZE", "1m"),
    );
    let tries: usize = said
        .lines()
        .find_map(|line| line.split_once(" tries, 0 failures")?.0.parse().ok())
        .unwrap_or_default();
    assert!(tries > 8_000, "{said}");
}

/// PEs that do not do the same, on 2 PEs: both operations are named.
#[test]
fn pes_that_disagree_on_a_collective_operation_are_told() {
    let Some(tree) = tree() else { return };
    let program = program(tree, "disagree", Language::C11);
    for (way, one, other) in [
        ("operation", "int_sum_reduce", "int_max_reduce"),
        ("long_operation", "int_sum_reduce", "int_prod_reduce"),
        ("type", "int_sum_reduce", "uint_sum_reduce"),
        ("wide_type", "int_sum_reduce", "long_sum_reduce"),
        ("count", "4, 4", "8, 4"),
        ("place", "int_sum_reduce", "destination"),
        ("root", "4, 0", "4, 1"),
        ("kind", "int_broadcast", "int_fcollect"),
        ("scan", "int_sum_inscan", "int_sum_exscan"),
        ("collect_type", "int_collect", "long_collect"),
        ("strides", "int_alltoalls", "disagree"),
        ("barrier", "barrier_all", "sync_all"),
        ("set_operation", "int_sum_to_all", "int_max_to_all"),
        ("set_type", "int_sum_to_all", "long_sum_to_all"),
        ("set_count", "1, 4", "2, 4"),
        ("set_size", "shmem_broadcast32", "shmem_broadcast64"),
        ("set_root", "8, 0", "8, 1"),
        ("set_kind", "shmem_collect32", "shmem_fcollect32"),
        ("set_alltoall", "8, 0", "4, 0"),
        ("set_strides", "shmem_alltoalls32", "disagree"),
        ("set_barrier", "shmem_barrier ", "shmem_sync "),
        ("set_psync", "pSync", "PE_start"),
    ] {
        let mut run = oshrun(tree, 2);
        run.args(["-x", "SHMEM_DEBUG=checks"])
            .arg(&program)
            .arg(way);
        let output = output(&mut run);
        let said = text(&output);
        assert!(!output.status.success(), "{way} must fail: {said}");
        for word in ["the PEs disagree", one, other] {
            assert!(said.contains(word), "{way} does not say '{word}': {said}");
        }
    }
}

#[test]
fn one_type_by_two_names_is_one_type() {
    let Some(tree) = tree() else { return };
    let program = program(tree, "disagree", Language::C11);
    let mut run = oshrun(tree, 3);
    succeeds(
        run.args(["-x", "SHMEM_DEBUG=checks"])
            .arg(&program)
            .arg("same_type"),
    );
}

/// They return what the specification says, and a line tells the reason.
#[test]
fn an_invalid_team_is_told() {
    let Some(tree) = tree() else { return };
    let program = program(tree, "disagree", Language::C11);
    let mut quiet = oshrun(tree, 2);
    let said = succeeds(quiet.arg(&program).arg("invalid_team"));
    assert!(!said.contains("INVALID"), "{said}");
    let mut run = oshrun(tree, 2);
    let said = succeeds(
        run.args(["-x", "SHMEM_DEBUG=1"])
            .arg(&program)
            .arg("invalid_team"),
    );
    for name in [
        "shmem_int_sum_reduce",
        "shmem_int_broadcast",
        "shmem_int_collect",
        "shmem_fcollectmem",
        "shmem_alltoallmem",
        "shmem_int_alltoalls",
        "shmem_int_sum_inscan",
        "shmem_team_sync",
    ] {
        let told = format!("{name}: team is SHMEM_TEAM_INVALID");
        assert!(said.contains(&told), "does not say '{told}': {said}");
    }
    for told in ["there is no PE_root 2", "a team that was destroyed"] {
        assert!(said.contains(told), "does not say '{told}': {said}");
    }
}

/// Programs without mistakes are left alone.
#[test]
fn checks_find_nothing_in_good_programs() {
    let Some(tree) = tree() else { return };
    for (name, language) in [
        ("collective", Language::C11),
        ("reduce", Language::C11),
        ("active", Language::C11),
        ("older", Language::C99),
        ("rma", Language::C11),
        ("signal", Language::C11),
        ("wait", Language::C11),
        ("atomic", Language::C11),
        ("teams", Language::C11),
        ("setup", Language::C11),
        ("threads", Language::C11),
    ] {
        let program = program(tree, name, language);
        for pes in [1, 3] {
            succeeds(
                oshrun(tree, pes)
                    .args(["-x", "SHMEM_DEBUG=checks"])
                    .arg(&program),
            );
        }
    }
}
