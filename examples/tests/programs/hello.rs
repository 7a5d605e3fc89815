use crate::job::run;

#[test]
fn every_pe_hears_from_its_left_neighbour() {
    for pes in 1..=4 {
        let ended = run::<&str>(pes, env!("CARGO_BIN_EXE_hello"), &[]).well();
        let mut lines: Vec<&str> = ended.stdout.lines().collect();
        lines.sort_unstable();
        let expected: Vec<String> = (0..pes)
            .map(|pe| format!("PE {pe} heard from PE {}", (pe + pes - 1) % pes))
            .collect();
        assert_eq!(lines, expected);
    }
}

/// The README shows the program that was compiled and run above.
#[test]
fn the_readme_shows_this_program() {
    let readme = include_str!("../../../README.md");
    let program = include_str!("../../hello.rs");
    let (_, program) = program.split_once("\n\n").unwrap();
    assert!(
        readme.contains(&format!("```rust\n{program}```")),
        "README.md does not show examples/hello.rs as it is"
    );
}
