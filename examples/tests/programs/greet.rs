use crate::job::run;

/// Between two machines `make vm-demo` runs it.
#[test]
fn both_find_a_greeting_and_all_is_right() {
    let ended = run(2, env!("CARGO_BIN_EXE_greet"), &["--turns", "3"]).well();
    let says = |text: &str| assert!(ended.stdout.contains(text), "{ended:?}");
    for (from, to) in [(0, 1), (1, 0)] {
        says(&format!(
            "finds in its memory: greetings from PE {from} on "
        ));
        says(&format!("to PE {to} on "));
    }
    for what in ["gets", "atomics", "long puts"] {
        says(&format!("{what}: right on both PEs"));
    }
    says("(3 round trips)");
}

#[test]
fn greetings_are_for_two() {
    let ended = run::<&str>(3, env!("CARGO_BIN_EXE_greet"), &[]);
    assert_eq!(ended.status, Some(2), "{ended:?}");
    assert_eq!(
        ended.stderr.lines().next(),
        Some("greet: two PEs greet each other, and here are 3"),
        "{ended:?}"
    );
}
