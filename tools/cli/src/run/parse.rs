//! Values of options: sizes, times, lists of CPUs.

use std::time::Duration;

use hostwire::settings::parse_bytes;
use hostwire_bootstrap::PES_MAX;

use super::bind::Bind;
use crate::events::picoseconds;

/// The most PEs of one host, which may be one of several or one that is modelled.
pub const PES_OF_HOST_MAX: u32 = 4096;
/// The highest CPU number that the affinity calls can name.
const CPU_MAX: usize = 1023;
/// The longest list of CPUs: more would never be used.
const CPU_LIST_MAX: usize = PES_OF_HOST_MAX as usize;
/// The longest time, about 31 years: beyond it a deadline could overflow.
const SECONDS_MAX: u64 = 1_000_000_000;

/// The number of PEs of a job.
pub fn pes(text: &str) -> Result<u32, String> {
    match text {
        // `-np 4` of mpirun is `-n p` here, with a program called 4.
        "p" => Err("`-np N` of mpirun is `-n N` here".to_owned()),
        _ => number(text, "a job", PES_MAX),
    }
}

/// The number of PEs of one host.
pub fn pes_of_host(text: &str) -> Result<u32, String> {
    number(text, "a host", PES_OF_HOST_MAX)
}

fn number(text: &str, of: &str, max: u32) -> Result<u32, String> {
    match text.parse::<u64>() {
        Ok(0) => Err(format!("{of} has at least one PE")),
        Ok(n) => u32::try_from(n)
            .ok()
            .filter(|n| *n <= max)
            .ok_or_else(|| format!("{of} has at most {max} PEs")),
        Err(_) => Err(format!("expected a number from 1 to {max}")),
    }
}

/// A size in bytes, as in the environment.
pub fn size(text: &str) -> Result<u64, String> {
    parse_bytes(text).map(|bytes| bytes as u64)
}

/// A length of time of more than zero.
pub fn duration(text: &str) -> Result<Duration, String> {
    match grace(text)? {
        Duration::ZERO => Err("must be more than 0".to_owned()),
        time => Ok(time),
    }
}

/// A length of time, which may be 0: `500ms`, `30s`, `2m`, `1h`, plain seconds.
pub fn grace(text: &str) -> Result<Duration, String> {
    let digits_end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, suffix) = text.split_at(digits_end);
    let milliseconds: u64 = match suffix {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return Err("expected a time such as 500ms, 30s, 2m or 1h".to_owned()),
    };
    if digits.is_empty() {
        return Err("expected a time such as 500ms, 30s, 2m or 1h".to_owned());
    }
    digits
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(milliseconds))
        .filter(|total| *total <= SECONDS_MAX * 1000)
        .map(Duration::from_millis)
        .ok_or_else(|| format!("longer than {SECONDS_MAX} seconds"))
}

/// A length of simulated time of more than zero, in picoseconds: `500ns`, `10us`, `3ms`, `1s`.
pub fn virtual_time(text: &str) -> Result<u64, String> {
    match picoseconds(text)? {
        0 => Err("must be more than 0".to_owned()),
        time_ps => Ok(time_ps),
    }
}

/// A variable for the PEs: its value, or that of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub value: Option<String>,
}

/// `NAME` or `NAME=VALUE`.
pub fn variable(text: &str) -> Result<Variable, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    match name.is_empty() {
        true => Err("expected NAME or NAME=VALUE".to_owned()),
        false => Ok(Variable {
            name: name.to_owned(),
            value,
        }),
    }
}

/// `auto`, `none`, or CPUs such as `0,2-5`.
pub fn bind(text: &str) -> Result<Bind, String> {
    match text {
        "auto" => return Ok(Bind::Auto),
        "none" => return Ok(Bind::None),
        _ => {}
    }
    let expected = || "expected auto, none, or CPUs such as 0,2-5".to_owned();
    let cpu = |digits: &str| -> Result<usize, String> {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(expected());
        }
        digits
            .parse::<usize>()
            .ok()
            .filter(|cpu| *cpu <= CPU_MAX)
            .ok_or_else(|| {
                format!("CPU {digits} does not exist; {CPU_MAX} is the highest possible")
            })
    };
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (cpu(first)?, cpu(last)?),
            None => (cpu(part)?, cpu(part)?),
        };
        if first > last {
            return Err(format!("{part} runs backwards"));
        }
        cpus.extend(first..=last);
        if cpus.len() > CPU_LIST_MAX {
            return Err(format!("more than {CPU_LIST_MAX} CPUs"));
        }
    }
    Ok(Bind::List(cpus))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_of_pes() {
        assert_eq!(pes("1"), Ok(1));
        assert_eq!(pes("65536"), Ok(65_536));
        assert_eq!(pes_of_host("4096"), Ok(4096));
        assert_eq!(pes("0").unwrap_err(), "a job has at least one PE");
        for absurd in ["65537", "4294967297", "18446744073709551615"] {
            assert_eq!(pes(absurd).unwrap_err(), "a job has at most 65536 PEs");
        }
        assert_eq!(
            pes_of_host("4097").unwrap_err(),
            "a host has at most 4096 PEs"
        );
        for wrong in ["", "-1", "four", "1.5", "99999999999999999999"] {
            assert_eq!(pes(wrong).unwrap_err(), "expected a number from 1 to 65536");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(size("0").unwrap_err(), "must be more than 0");
    }

    #[test]
    fn times() {
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(grace("0"), Ok(Duration::ZERO));
        assert_eq!(duration("0").unwrap_err(), "must be more than 0");
        assert!(duration("99999999999h").is_err());
        for wrong in ["", "s", "-1", "1d", "1.5s", "1 s"] {
            assert!(
                duration(wrong).unwrap_err().starts_with("expected a time"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn lists_of_cpus() {
        assert_eq!(bind("auto"), Ok(Bind::Auto));
        assert_eq!(bind("none"), Ok(Bind::None));
        assert_eq!(bind("0,1"), Ok(Bind::List(vec![0, 1])));
        assert_eq!(bind("0-2,7,1"), Ok(Bind::List(vec![0, 1, 2, 7, 1])));
        assert_eq!(bind("3-1").unwrap_err(), "3-1 runs backwards");
        assert!(bind("1024").unwrap_err().contains("does not exist"));
        assert!(
            bind(&["0-1023"; 5].join(","))
                .unwrap_err()
                .contains("more than")
        );
        for wrong in ["", ",", "0,", "a", "1-", "-1", "1-2-3", "+1", "0x1", "all"] {
            assert!(
                bind(wrong).unwrap_err().starts_with("expected auto"),
                "{wrong}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,12}|[0-9a-zA-Z,.-]{0,24}") {
            let _ = (pes(&text), size(&text), duration(&text), bind(&text));
        }
    }
}
