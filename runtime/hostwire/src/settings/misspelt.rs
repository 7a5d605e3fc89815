//! Variables that look like settings but are none: they would be ignored silently.

use super::TABLE;

/// What all settings of the library begin with.
const PREFIX: &str = "HOSTWIRE_";

/// A warning for each variable of this process whose name differs from a setting's by a letter or
/// two. No error, because other software may use the variable.
pub fn misspelt() -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let found = found(names).into_iter();
    let sentence = |(name, meant)| format!("{name} sets nothing; did you mean {meant}?");
    found.map(sentence).collect()
}

/// The names that are nearly those of settings, each with that.
fn found(names: impl Iterator<Item = String>) -> Vec<(String, String)> {
    let known = TABLE.iter().flat_map(|setting| {
        let all = [setting.variable].into_iter();
        all.chain(setting.aliases.iter().copied())
    });
    let known: Vec<&str> = known.filter_map(|name| name.strip_prefix(PREFIX)).collect();
    let mut found: Vec<(String, String)> = names
        .filter_map(|name| {
            let rest = name.strip_prefix(PREFIX)?;
            let near = nearest(rest, &known).filter(|near| *near != rest)?;
            let meant = format!("{PREFIX}{near}");
            Some((name, meant))
        })
        .collect();
    found.sort();
    found
}

/// The known word that equals `word`, begins with it, or differs from it by a letter or two.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if let [only] = *known
        .iter()
        .filter(|known| word.len() > 1 && known.starts_with(word))
        .collect::<Vec<_>>()
    {
        return Some(only);
    }
    known
        .iter()
        .map(|known| (strsim::osa_distance(word, known), *known))
        .filter(|(distance, known)| *distance <= known.len().div_ceil(4))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_a_setting_is_found() {
        let meant_by = |rest: &str| {
            let found = found([format!("{PREFIX}{rest}")].into_iter());
            found.into_iter().next().map(|(_, meant)| meant)
        };
        for (rest, meant) in [
            ("WIER", Some("HOSTWIRE_WIRE")),
            ("HAEP", Some("HOSTWIRE_HEAP")),
            ("LOST_AFTR", Some("HOSTWIRE_LOST_AFTER")),
            ("WIRE", None),
            ("RECORD", None),
            ("JOB", None),
            ("BOARD_FD", None),
            ("MY_OWN", None),
            ("", None),
        ] {
            assert_eq!(meant_by(rest).as_deref(), meant, "{rest}");
        }
        assert_eq!(found(["WIER".to_owned()].into_iter()), Vec::new());
    }

    #[test]
    fn no_setting_is_taken_for_another() {
        let all = TABLE.iter().map(|setting| setting.variable.to_owned());
        assert_eq!(found(all), Vec::new());
    }

    #[test]
    fn a_mistyped_word_finds_the_one_that_was_meant() {
        let known = [
            "run",
            "bench",
            "doctor",
            "plan",
            "reproduce",
            "sim",
            "stats",
        ];
        for (word, meant) in [
            ("rn", Some("run")),
            ("rnu", Some("run")),
            ("benhc", Some("bench")),
            ("repro", Some("reproduce")),
            ("stat", Some("stats")),
            ("dcotr", Some("doctor")),
            ("Plan", Some("plan")),
            ("launch", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, &known), meant, "{word}");
        }
    }
}
