//! Variables that look like settings and are none: they would have no effect, without a word.

use hostwire::settings::TABLE;

use crate::report::nearest;

/// What all settings of the library begin with.
const PREFIX: &str = "HOSTWIRE_";

/// The names that are by a letter or two those of settings, each with that.
pub fn misspelt(names: impl Iterator<Item = String>) -> Vec<(String, String)> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_a_setting_is_found() {
        let found = |rest: &str| {
            let found = misspelt([format!("{PREFIX}{rest}")].into_iter());
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
            assert_eq!(found(rest).as_deref(), meant, "{rest}");
        }
        assert_eq!(misspelt(["WIER".to_owned()].into_iter()), Vec::new());
    }

    #[test]
    fn no_setting_is_taken_for_another() {
        let all = TABLE.iter().map(|setting| setting.variable.to_owned());
        assert_eq!(misspelt(all), Vec::new());
    }
}
