//! The table has exactly the functions of OpenSHMEM 1.6.

use std::collections::BTreeSet;

use hostwire_shmem_table::Table;

/// Every name in the text of the specification, current and deprecated.
const NAMES: &str = include_str!("names-1.6.txt");

#[test]
fn all_functions_of_the_specification_and_no_others() {
    let table = Table::load().expect("the table");
    let functions = table.functions();
    let standard = functions
        .iter()
        .filter(|function| !function.family.is_extension);
    let listed: Vec<&str> = standard.map(|function| function.name()).collect();
    let ours: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(ours.len(), listed.len(), "a name comes twice");

    let theirs: BTreeSet<&str> = NAMES.lines().collect();
    let missing: Vec<_> = theirs.difference(&ours).collect();
    let unknown: Vec<_> = ours.difference(&theirs).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "missing {missing:?}, unknown {unknown:?}"
    );
    assert_eq!(ours.len(), 1794);
}

#[test]
fn each_family_says_when_it_came_or_went() {
    let table = Table::load().expect("the table");
    for function in table.functions() {
        let family = function.family;
        let said = family.since.is_some() || family.deprecated.is_some() || family.is_extension;
        assert!(said, "{}", function.name());
    }
}

#[test]
fn every_parameter_of_a_typed_family_is_explained() {
    let table = Table::load().expect("the table");
    for function in table
        .functions()
        .iter()
        .filter(|function| function.family.types.is_some())
    {
        for parameter in &function.prototype.parameters {
            let name = &parameter.name;
            assert_ne!(table.meaning(name), "", "{}: {name}", function.name());
        }
    }
}

#[test]
fn the_glue_has_a_strong_and_a_weak_name_for_each() {
    let table = Table::load().expect("the table");
    let glue = hostwire_shmem_table::glue::entry_points(&table).expect("types are known");
    let lines: BTreeSet<&str> = glue.lines().collect();
    for function in table.functions().iter().filter(|function| !function.is_c()) {
        let (name, strong) = (function.name(), function.profiling_name());
        let alias = format!(
            "core::arch::global_asm!(\".weak {name}\", \".set {name}, {{}}\", sym {strong});"
        );
        assert!(lines.contains(alias.as_str()), "{name}");
    }
}

/// Collective operations exchange their names, in a line with the other values that have to
/// agree.
#[test]
fn names_of_collective_operations_fit_a_line() {
    let table = Table::load().expect("the table");
    for function in table
        .functions()
        .iter()
        .filter(|function| function.family.is_named)
    {
        let name = function.name().trim_start_matches("shmem_");
        assert!(name.len() <= 24, "{name}");
    }
}
