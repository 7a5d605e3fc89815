//! Injected faults: the effects of a bad cable on frames and stores of a PE.
//!
//! For tests and measurements. The seed and the number of the PE decide everything, so a PE
//! that sends the same data gets the same faults.

mod dice;
mod stores;

use core::str::FromStr;

pub use self::dice::Dice;
pub use self::stores::{Faulty, FaultyStores};

/// Name and meaning of the counter of all faults.
pub const COUNTER: [(&str, &str); 1] = [("faults injected", "Faults on purpose, for tests.")];

/// How often each fault happens. Each is a probability, 0 to 1.
///
/// Parsed from a text: `drop=0.01,dup=0.01,reorder=0.01,flip=0.001,seed=7`, in any order,
/// each at most once. The default is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Faults {
    /// It is lost.
    pub drop: f64,
    /// It is sent twice.
    pub dup: f64,
    /// It is held back until the next one has left.
    pub reorder: f64,
    /// One bit of it is changed.
    pub flip: f64,
    /// Decides all of it, together with the number of the PE.
    pub seed: u64,
}

/// A text that is no [`Faults`]. Caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected faults, such as drop=0.01,dup=0,reorder=0.1,flip=0,seed=7, got {got:?}")]
pub struct FaultsError {
    /// The part that is not understood.
    pub got: String,
}

impl FromStr for Faults {
    type Err = FaultsError;

    fn from_str(text: &str) -> Result<Self, FaultsError> {
        let mut faults = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for part in text.split(',') {
            let refused = || FaultsError {
                got: part.chars().take(80).collect(),
            };
            let (name, value) = part.split_once('=').ok_or_else(refused)?;
            if seen.contains(&name) {
                return Err(refused());
            }
            seen.push(name);
            let place = match name {
                "drop" => &mut faults.drop,
                "dup" => &mut faults.dup,
                "reorder" => &mut faults.reorder,
                "flip" => &mut faults.flip,
                "seed" => {
                    faults.seed = value.parse().map_err(|_| refused())?;
                    continue;
                }
                _ => return Err(refused()),
            };
            *place = value.parse().map_err(|_| refused())?;
            if !(0.0..=1.0).contains(place) {
                return Err(refused());
            }
        }
        Ok(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_texts_are_named() {
        for (text, part) in [
            ("", ""),
            ("drop", "drop"),
            ("drop=2", "drop=2"),
            ("drop=NaN", "drop=NaN"),
            ("drop=0.1,drop=0.2", "drop=0.2"),
            ("flip=0,loss=1", "loss=1"),
            ("seed=-1", "seed=-1"),
        ] {
            let error = text.parse::<Faults>().unwrap_err();
            assert_eq!(error.got, part);
        }
    }
}
