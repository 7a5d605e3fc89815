//! One PE writes random bytes over all memory that its peers let it write. They may
//! give up, but they do it in good order.

use crate::programs::run_probe;

const PES: usize = 4;

fn survived(kind: &str, seed: u64) {
    let options = ["--keep-going", "--heap", "4M", "--timeout", "60s"];
    let arguments = ["scribble", kind, &seed.to_string()];
    let ended = run_probe(PES as u32, &options, &arguments);
    let repeat = format!("fault_probe {}: {ended:#?}", arguments.join(" "));
    let said = |text: &str| ended.stdout.lines().filter(|l| l.contains(text)).count();
    assert_eq!(
        said("has given up: ") + said("has come to the end"),
        PES - 1,
        "{repeat}"
    );
    // No PE but the scribbler was killed, and none has panicked.
    let killed = ended
        .stderr
        .lines()
        .filter(|line| line.contains("was killed by"));
    let others = killed.filter(|line| !line.contains(&format!("PE {} ", PES - 1)));
    assert_eq!(others.count(), 0, "{repeat}");
    assert!(!ended.stderr.contains("panicked"), "{repeat}");
    assert!(!ended.stderr.contains("status 101"), "{repeat}");
}

/// Set by `HOSTWIRE_TEST_SEED`, as everywhere.
fn seed() -> u64 {
    match std::env::var("HOSTWIRE_TEST_SEED") {
        Ok(text) => text.parse().expect("a seed is a number"),
        Err(_) => 1,
    }
}

#[test]
fn whole_segments_of_random_bytes_are_survived() {
    (0..3).for_each(|n| survived("storm", seed() + n));
}

#[test]
fn random_words_here_and_there_are_survived() {
    (0..3).for_each(|n| survived("drizzle", seed() + n));
}

#[test]
fn plausible_words_at_the_wrong_place_are_survived() {
    (0..3).for_each(|n| survived("echo", seed() + n));
}
