//! All checks over their corpora and some thousand inputs made of them, the same in every run.
//! `FUZZ_CASES` and `FUZZ_SEED` make it more and others.

use std::process::Command;

/// The targets run in processes of their own. Their output is read here, since it is long if
/// something is wrong.
fn fuzzing(arguments: &[&str]) -> (bool, String) {
    let program = env!("CARGO_BIN_EXE_hostwire-fuzzing");
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), text)
}

#[test]
fn nothing_from_outside_breaks_a_check() {
    let (passed, text) = fuzzing(&["run"]);
    assert!(passed, "{text}");
    // Checks that it ran at all.
    let lines = text.lines().filter(|line| line.contains(" inputs, "));
    assert_eq!(lines.count(), hostwire_fuzzing::targets().len(), "{text}");
}

#[test]
fn an_input_is_repeated_by_its_digits() {
    let ticket = "30".repeat(64);
    assert_eq!(
        fuzzing(&["repeat", "ticket", &ticket]),
        (true, "passes\n".to_owned())
    );
    let (passed, text) = fuzzing(&["repeat", "ticket", "xy"]);
    assert!(!passed && text.contains("hexadecimal"), "{text}");
    let (passed, text) = fuzzing(&["repeat", "nonsense", "00"]);
    assert!(
        !passed && text.contains("there is no target nonsense"),
        "{text}"
    );
}
