//! The words of a command in one argument.

use std::ffi::OsString;

/// A command and its arguments; at least the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(pub Vec<OsString>);

impl Words {
    /// Cuts `text` at blanks. A part in `'...'` or `"..."` stays together, and so does a character behind a `\`,
    /// except in `'...'`. Nothing else has a meaning, as it would have for a shell.
    ///
    /// # Errors
    /// No word, or a quote without its end.
    pub fn parse(text: &str) -> Result<Words, String> {
        let mut words = Vec::new();
        // Nothing between two blanks is no word, and '' is one.
        let mut word: Option<String> = None;
        let mut quote = None;
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match (character, quote) {
                (end, Some(begin)) if end == begin => quote = None,
                ('\'' | '"', None) => {
                    quote = Some(character);
                    word.get_or_insert_default();
                }
                ('\\', None | Some('"')) => {
                    let next = characters.next().ok_or("there is nothing behind the \\")?;
                    word.get_or_insert_default().push(next);
                }
                (blank, None) if blank.is_whitespace() => words.extend(word.take()),
                (plain, _) => word.get_or_insert_default().push(plain),
            }
        }
        if let Some(quote) = quote {
            return Err(format!(
                "there is no {quote} to end the part that begins with one"
            ));
        }
        words.extend(word);
        match words.first().is_some_and(|name| !name.is_empty()) {
            true => Ok(Words(words.into_iter().map(OsString::from).collect())),
            false => Err("it names no command".to_owned()),
        }
    }

    /// The words for one PE.
    pub fn of_pe(&self, pe: u32, pes: u32) -> impl Iterator<Item = OsString> {
        self.0.iter().map(move |word| match word.to_str() {
            Some(text) => text
                .replace("{pe}", &pe.to_string())
                .replace("{pes}", &pes.to_string())
                .into(),
            None => word.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let words = Words::parse(text).unwrap().0.into_iter();
        words.map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn words_are_between_blanks() {
        for (text, expected) in [
            ("valgrind", &["valgrind"][..]),
            ("  valgrind \t -q  ", &["valgrind", "-q"]),
            ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
            ("a --x='b c'd ''", &["a", "--x=b cd", ""]),
            (r#"a b\ c "d\"e\\" 'f\g'"#, &["a", "b c", "d\"e\\", "f\\g"]),
            ("a $HOME *; b", &["a", "$HOME", "*;", "b"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        for (text, problem) in [
            ("", "it names no command"),
            ("  ", "it names no command"),
            ("'' a", "it names no command"),
            ("a 'b", "there is no ' to end the part that begins with one"),
            ("a \\", "there is nothing behind the \\"),
        ] {
            assert_eq!(Words::parse(text).unwrap_err(), problem, "{text}");
        }
    }

    #[test]
    fn words_know_their_pe() {
        let words = Words::parse("perf record -o {pe}-of-{pes}.data {x}").unwrap();
        let of_pe: Vec<_> = words.of_pe(3, 8).collect();
        assert_eq!(of_pe, ["perf", "record", "-o", "3-of-8.data", "{x}"]);
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(words in proptest::collection::vec("\\PC{1,8}", 1..5)) {
            let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
            let text = quoted.collect::<Vec<_>>().join(" ");
            prop_assert_eq!(super::tests::words(&text), words);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,16}|[ab'\"\\\\ ]{0,16}") {
            let _ = Words::parse(&text);
        }
    }
}
