//! Which events of a model are kept, of the commands that write event traces.

/// Which events an event trace has.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct EventOptions {
    /// Keep only events for these components in the event trace: left,*switch*
    ///
    /// `*` stands for any text. A name that does not exist ends the command before anything starts,
    /// with those that do.
    #[arg(long, value_name = "NAMES", requires = "events", value_delimiter = ',')]
    pub events_of: Vec<String>,

    /// Keep only events of these kinds in the event trace: ht_*,processor_write
    #[arg(long, value_name = "KINDS", requires = "events", value_delimiter = ',')]
    pub events_kind: Vec<String>,

    /// Keep only events of this time in the event trace: 10us..20us, 10us.. or ..20us
    ///
    /// The begin belongs to it, the end does not.
    #[arg(long, value_name = "FROM..UNTIL", requires = "events", value_parser = time_window)]
    pub events_in: Option<TimeWindow>,
}

/// A part of the time of a model, in picoseconds: its begin belongs to it, its end does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeWindow {
    /// Its begin.
    pub from_ps: u64,
    /// Its end, if it has one.
    pub until_ps: Option<u64>,
}

/// A part of simulated time: `10us..20us`, `10us..`, `..20us`.
fn time_window(text: &str) -> Result<TimeWindow, String> {
    let expected = || "expected FROM..UNTIL, such as 10us..20us, 10us.. or ..20us".to_owned();
    let (from, until) = text.split_once("..").ok_or_else(expected)?;
    let time = |text: &str| match text {
        "" => Ok(None),
        text => picoseconds(text).map(Some).map_err(|_| expected()),
    };
    match (time(from)?, time(until)?) {
        (None, None) => Err(expected()),
        (Some(from), Some(until)) if from >= until => {
            Err("ends before it begins, or has no length".to_owned())
        }
        (from, until_ps) => Ok(TimeWindow {
            from_ps: from.unwrap_or(0),
            until_ps,
        }),
    }
}

/// A length of simulated time: `500ns`, `10us`, `3ms`, `1s`.
///
/// # Errors
/// What was expected.
pub fn picoseconds(text: &str) -> Result<u64, String> {
    let expected = || "expected a time such as 500ns, 10us, 3ms or 1s".to_owned();
    let digits_end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, suffix) = text.split_at(digits_end.unwrap_or(text.len()));
    let unit_ps: u64 = match suffix {
        "ps" => 1,
        "ns" => 1_000,
        "us" => 1_000_000,
        "ms" => 1_000_000_000,
        "s" => 1_000_000_000_000,
        _ => return Err(expected()),
    };
    let number: u64 = digits.parse().map_err(|_| expected())?;
    let time_ps = number.checked_mul(unit_ps);
    time_ps.ok_or_else(|| "longer than 213 days".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_a_begin_an_end_or_both() {
        let of = |from_ps, until_ps| Ok(TimeWindow { from_ps, until_ps });
        assert_eq!(time_window("10us..20us"), of(10_000_000, Some(20_000_000)));
        assert_eq!(time_window("10us.."), of(10_000_000, None));
        assert_eq!(time_window("..7ns"), of(0, Some(7_000)));
        assert_eq!(time_window("0ns.."), of(0, None));
        for wrong in [
            "",
            "..",
            "10us",
            "2us..1us",
            "1us..1us",
            "1..2",
            "a..b",
            "1us..2us..3us",
        ] {
            assert!(time_window(wrong).is_err(), "{wrong}");
        }
    }
}
