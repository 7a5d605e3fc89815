//! `docs/tutorial.md` shows the programs of `examples/tutorial` as they are, and what they print.

use crate::job::run;

const PAGE: &str = include_str!("../../../docs/tutorial.md");

/// Name, source and program of each step, in the order of the page.
const STEPS: [(&str, &str, &str); 6] = [
    (
        "hello",
        include_str!("../../tutorial/hello.rs"),
        env!("CARGO_BIN_EXE_tutorial-hello"),
    ),
    (
        "put",
        include_str!("../../tutorial/put.rs"),
        env!("CARGO_BIN_EXE_tutorial-put"),
    ),
    (
        "signal",
        include_str!("../../tutorial/signal.rs"),
        env!("CARGO_BIN_EXE_tutorial-signal"),
    ),
    (
        "counter",
        include_str!("../../tutorial/counter.rs"),
        env!("CARGO_BIN_EXE_tutorial-counter"),
    ),
    (
        "message",
        include_str!("../../tutorial/message.rs"),
        env!("CARGO_BIN_EXE_tutorial-message"),
    ),
    (
        "server",
        include_str!("../../tutorial/server.rs"),
        env!("CARGO_BIN_EXE_tutorial-server"),
    ),
];

/// The part of the page between the heading of a step and the next heading.
fn section(number: usize) -> &'static str {
    let begin = PAGE.find(&format!("\n## Step {number}:")).unwrap();
    let rest = &PAGE[begin + 1..];
    &rest[..rest.find("\n## ").unwrap()]
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn the_tutorial_shows_these_programs() {
    for (step, (name, source, _)) in STEPS.iter().enumerate() {
        let (_, program) = source.split_once("\n\n").unwrap();
        assert!(
            section(step + 1).contains(&format!("```rust\n{program}```")),
            "step {} does not show examples/tutorial/{name}.rs as it is",
            step + 1
        );
    }
}

#[test]
fn the_programs_print_what_the_tutorial_shows() {
    for (step, (name, _, program)) in STEPS.iter().enumerate() {
        let text = section(step + 1);
        let command = "```\n$ target/release/hostwire run -n ";
        let (_, after) = text.split_once(command).unwrap();
        let (command, after) = after.split_once('\n').unwrap();
        let (pes, rest) = command.split_once(' ').unwrap();
        assert_eq!(rest, format!("target/release/tutorial-{name}"));
        let (shown, _) = after.split_once("```").unwrap();
        let ended = run::<&str>(pes.parse().unwrap(), program, &[]).well();
        assert_eq!(sorted(&ended.stdout), sorted(shown), "{name}");
    }
}

#[test]
fn the_programs_run_on_any_number_of_pes() {
    for (_, _, program) in STEPS {
        for pes in [1, 2, 5] {
            run::<&str>(pes, program, &[]).well();
        }
    }
}
