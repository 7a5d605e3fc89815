//! The command as a whole: unknown words, colours, completions, the manual.

use std::process::{Command, Output};

use hostwire_testing::built;

use crate::job::hostwire;

/// The commands that a user sees.
const COMMANDS: [&str; 14] = [
    "run",
    "bench",
    "lend",
    "borrow",
    "compare",
    "doctor",
    "env",
    "events",
    "plan",
    "reproduce",
    "sim",
    "stats",
    "window",
    "completions",
];

fn output(command: &mut Command) -> Output {
    built::laboratory();
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        // Unless the test has set it.
        if !command.get_envs().any(|(name, _)| name == variable) {
            command.env_remove(variable);
        }
    }
    command.output().unwrap()
}

/// What `hostwire ARGUMENTS` prints.
fn printed(arguments: &[&str]) -> String {
    let output = output(&mut hostwire(arguments));
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn said(command: &mut Command) -> String {
    let output = output(command);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_mistyped_command_finds_the_one_that_was_meant() {
    for (word, meant) in [("rn", "run"), ("benhc", "bench"), ("repro", "reproduce")] {
        let said = said(&mut hostwire(&[word, "-n", "2"]));
        let expected = format!("hostwire: there is no command '{word}'; did you mean '{meant}'?\n");
        assert_eq!(said, expected);
    }
    let program = said(&mut hostwire(&["./prog"]));
    assert!(program.contains("hostwire run -n 4 ./prog"), "{program}");
    let all = said(&mut hostwire(&["zzz"]));
    assert!(
        all.ends_with(&format!("there are {}\n", COMMANDS.join(", "))),
        "{all}"
    );
    let option = said(&mut hostwire(&["plan", "--registrs", "x"]));
    assert!(option.contains("'--registers'"), "{option}");
}

#[test]
fn colours_are_for_terminals_or_for_who_asks() {
    let is_coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = hostwire(arguments);
        command.envs(variables.iter().copied());
        said(&mut command).contains('\u{1b}')
    };
    assert!(!is_coloured(&["rn"], &[]), "a pipe is no terminal");
    assert!(is_coloured(&["--color", "always", "rn"], &[]));
    assert!(is_coloured(
        &["--color=always", "plan", "/no/such/file"],
        &[]
    ));
    assert!(is_coloured(
        &["plan", "/no/such/file", "--color", "always"],
        &[]
    ));
    assert!(is_coloured(&["rn"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(
        &["rn"],
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]
    ));
    assert!(!is_coloured(
        &["--color", "never", "rn"],
        &[("CLICOLOR_FORCE", "1")]
    ));
    let help = output(&mut hostwire(&["--color", "always", "--help"])).stdout;
    assert!(help.contains(&0x1b));
}

/// Commands of the laboratory: where its program is not installed, one line says how to get it.
#[test]
fn who_has_no_laboratory_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("hostwire");
    std::fs::copy(env!("CARGO_BIN_EXE_hostwire"), &alone).unwrap();
    for arguments in [
        &["plan", "cluster.toml"][..],
        &["plan", "--help"],
        &["sim", "--json", "one.toml"],
        &["reproduce"],
        &["events", "-"],
        &["compare", "-n", "2", "true"],
        &["run", "--cluster", "cluster.toml", "-n", "2", "true"],
    ] {
        let text = said(Command::new(&alone).args(arguments));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1, "{arguments:?}: {text}");
        for words in [
            arguments[0],
            "hostwire-lab",
            "make install",
            "cargo products",
        ] {
            assert!(text.contains(words), "{arguments:?}: {text}");
        }
    }
    // A command that needs no laboratory still works.
    let whole = output(Command::new(&alone).args(["completions", "bash"]));
    assert!(whole.status.success(), "{whole:?}");
    assert!(String::from_utf8_lossy(&whole.stdout).contains("reproduce"));
}

#[test]
fn help_of_a_command_is_that_of_its_program() {
    assert_eq!(printed(&["help", "plan"]), printed(&["plan", "--help"]));
    assert!(printed(&["plan", "-h"]).contains("--registers"));
}

#[test]
fn what_the_doctor_says_fits_a_terminal() {
    let text = printed(&["doctor"]);
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

#[test]
fn shells_complete_commands_options_and_values() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        for word in COMMANDS.iter().chain(&["wire", "registers", "udp"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(!script.contains("warden"), "{shell}");
        let script = printed(&["completions", shell, "--for", "oshrun"]);
        for word in ["wire", "udp", "bind-to", "cluster", "oversubscribe"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(!script.contains("figures"), "{shell}");
    }
    // As bash itself does it, where there is one.
    let complete = |words: &str| {
        let program = words.split(' ').next().unwrap();
        let script = format!(
            "source <({} completions bash --for {program}) && COMP_WORDS=({words}) \
             && COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )) \
             && _{program} {program} \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\" \
             && echo \"${{COMPREPLY[*]}}\"",
            env!("CARGO_BIN_EXE_hostwire")
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(complete("hostwire repr").trim(), "reproduce");
    assert_eq!(complete("hostwire run --wir").trim(), "--wire");
    assert_eq!(complete("hostwire run --wire e").trim(), "ether");
    assert_eq!(complete("oshrun --wir").trim(), "--wire");
    assert_eq!(complete("oshrun --bind-to c").trim(), "core");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("man1");
    printed(&["manual", there.to_str().unwrap()]);
    let read = |name: &str| std::fs::read_to_string(there.join(name)).unwrap();
    assert!(read("hostwire.1").contains("hostwire\\-run(1)"));
    for command in COMMANDS {
        let page = read(&format!("hostwire-{command}.1"));
        assert!(
            page.contains(&format!("hostwire\\-{command} \\- ")),
            "{page}"
        );
        assert!(!page.contains(".SH EXTRA"), "{page}");
        let help = printed(&[command, "--help"]);
        for option in help
            .split_whitespace()
            .filter(|word| word.starts_with("--"))
        {
            let name: String = option
                .chars()
                .take_while(|c| c.is_ascii_alphabetic() || *c == '-')
                .collect();
            assert!(
                page.contains(&name.replace('-', "\\-")),
                "{command}: {name}"
            );
        }
    }
    let count = std::fs::read_dir(&there).unwrap().count();
    assert_eq!(
        count,
        COMMANDS.len() + 1,
        "and none for what is not for users"
    );
    assert!(read("hostwire-run.1").contains(".SH EXIT STATUS"));
    // What man would warn of.
    if let Ok(output) = Command::new("groff")
        .args(["-ww", "-z", "-man", "-Tutf8"])
        .args(
            std::fs::read_dir(&there)
                .unwrap()
                .map(|page| page.unwrap().path()),
        )
        .output()
    {
        let warned = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && warned.is_empty(), "{warned}");
    }
}
