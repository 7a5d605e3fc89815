use crate::job::run;

const GUPS: &str = env!("CARGO_BIN_EXE_gups");

#[test]
fn no_word_is_wrong_in_either_mode() {
    for mode in ["atomic", "bucket"] {
        for pes in 1..=4 {
            let ended = run(pes, GUPS, &["--log2-words", "14", "--mode", mode]).well();
            assert!(ended.stdout.contains("GUPS: 65536 updates"), "{ended:?}");
            assert!(ended.stdout.contains("check: 0 wrong words"), "{ended:?}");
            // The check takes its own time, and says so.
            assert!(ended.stdout.contains("(at most 1 %), in "), "{ended:?}");
        }
    }
}

#[test]
fn the_check_sees_lost_updates() {
    for mode in ["atomic", "bucket"] {
        let ended = run(
            2,
            GUPS,
            &["--log2-words", "14", "--mode", mode, "--sabotage"],
        );
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("check failed"), "{ended:?}");
    }
}

#[test]
fn impossible_tables_are_refused_in_one_line() {
    let ended = run(2, GUPS, &["--log2-words", "40"]);
    assert_eq!(ended.status, Some(1));
    assert_eq!(ended.stderr.matches("heap is full").count(), 1, "{ended:?}");
    let ended = run(2, GUPS, &["--log2-words", "5"]);
    assert_eq!(ended.status, Some(2));
    assert_eq!(ended.stderr.matches("error:").count(), 1, "{ended:?}");
    let ended = run(65, GUPS, &["--log2-words", "6"]);
    assert_eq!(ended.status, Some(2));
    assert!(
        ended
            .stderr
            .contains("64 words cannot be spread over 65 PEs")
    );
}
