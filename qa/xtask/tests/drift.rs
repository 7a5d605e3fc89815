//! The committed files agree with the table.

use std::collections::BTreeSet;

use hostwire_shmem_table::Table;
use xtask::{headers, man, root};

#[test]
fn headers_are_what_the_table_says() {
    let table = Table::load().expect("the table");
    let checked = headers::tree(&table).check(&root().join("include"));
    assert!(checked.is_ok(), "{}", checked.unwrap_err());
}

#[test]
fn every_function_has_a_page_of_the_manual() {
    let table = Table::load().expect("the table");
    let tree = man::tree(&table);
    let pages: BTreeSet<String> = tree
        .iter()
        .map(|(path, _)| path.display().to_string())
        .collect();
    for function in table.functions() {
        assert!(
            pages.contains(&format!("man3/{}.3", function.name())),
            "{}",
            function.name()
        );
    }
    for (path, text) in tree.iter() {
        if let Some(target) = text.strip_prefix(".so ") {
            assert!(
                pages.contains(target.trim()),
                "{} goes to {target}",
                path.display()
            );
        } else {
            assert!(text.contains(".SH NAME"), "{}", path.display());
        }
    }
}
