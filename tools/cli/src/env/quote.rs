//! Values as shells take them for one word. None has control characters.

/// For sh and its kin.
pub(super) fn sh(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// For fish, where a backslash escapes itself and the quote.
pub(super) fn fish(value: &str) -> String {
    format!("'{}'", escaped(value, &['\\', '\'']))
}

/// For csh, which looks for its history in quotes as well.
pub(super) fn csh(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''").replace('!', r"\!"))
}

/// For Tcl, between double quotes.
pub(super) fn tcl(value: &str) -> String {
    format!(
        "\"{}\"",
        escaped(value, &['\\', '"', '$', '[', ']', '{', '}'])
    )
}

fn escaped(value: &str, special: &[char]) -> String {
    let escape = |c: char| special.contains(&c).then_some('\\').into_iter().chain([c]);
    value.chars().flat_map(escape).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const HARD: &str = r#"/a b/it's "$HOME" `ls` \n [x] {y} \ !3 ^ucx;#"#;

    #[test]
    fn a_word_comes_back_from_sh_as_it_was() {
        let script = format!("printf %s {}", sh(HARD));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), HARD);
    }

    #[test]
    fn each_shell_has_its_own_escapes() {
        assert_eq!(fish(r"it's \ $x"), r"'it\'s \\ $x'");
        assert_eq!(csh("it's !3"), r"'it'\''s \!3'");
        assert_eq!(tcl(r#"a"$b[c]{d}\"#), r#""a\"\$b\[c\]\{d\}\\""#);
    }
}
