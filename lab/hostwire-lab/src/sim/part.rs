//! `--part K/N`: every Nth point, beginning with the Kth.

use std::fmt;
use std::str::FromStr;

/// A share of the points. The whole is 1 of 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    index: usize,
    count: usize,
}

impl Default for Part {
    fn default() -> Part {
        Part { index: 0, count: 1 }
    }
}

impl Part {
    /// The part of one point out of `points`.
    pub fn one(place: usize, points: usize) -> Part {
        Part {
            index: place,
            count: points.max(1),
        }
    }

    /// Whether the point at `place`, from 0, belongs to it.
    pub fn has(&self, place: usize) -> bool {
        place % self.count == self.index
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Part, String> {
        let number = |text: &str| text.parse::<u32>().ok().map(|number| number as usize);
        let parts = text.split_once('/');
        match parts.map(|(index, count)| (number(index), number(count))) {
            Some((Some(index), Some(count))) if (1..=count).contains(&index) => Ok(Part {
                index: index - 1,
                count,
            }),
            _ => Err("expected K/N with K from 1 to N, such as 3/16".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_all_points_out() {
        for count in 1..5 {
            for place in 0..12 {
                let parts = (1..=count).map(|index| format!("{index}/{count}").parse::<Part>());
                let having = parts.filter(|part| part.as_ref().unwrap().has(place));
                assert_eq!(having.count(), 1);
            }
        }
        assert_eq!(Part::one(4, 9).to_string(), "5/9");
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in [
            "",
            "1",
            "0/4",
            "5/4",
            "1/0",
            "a/b",
            "1/4/2",
            "-1/4",
            "1/99999999999",
        ] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
    }
}
