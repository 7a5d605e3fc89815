//! What is said while lenders get their memory: nothing where it is soon there.

use std::time::{Duration, Instant};

use crate::lend::pe::READY;

/// The first line comes after this, and each other one.
const EVERY: Duration = Duration::from_secs(3);
/// As much is soon there.
const LITTLE_BYTES: u64 = 256 << 20;

/// What was said.
pub struct Progress {
    /// What each lender has to have.
    all_bytes: Vec<u64>,
    said: Instant,
}

impl Progress {
    pub fn new(lenders: usize, each_bytes: u64) -> Self {
        let (all_bytes, said) = (vec![each_bytes; lenders], Instant::now());
        Self { all_bytes, said }
    }

    /// The next line, if it is time for one. `words` are those of the lenders.
    pub fn line(&mut self, words: &[u64], now: Instant) -> Option<String> {
        let all: u64 = self.all_bytes.iter().sum();
        if all < LITTLE_BYTES || now.saturating_duration_since(self.said) < EVERY {
            return None;
        }
        self.said = now;
        let here = words
            .iter()
            .zip(&self.all_bytes)
            .map(|(word, all)| match *word {
                READY => *all,
                bytes => bytes.min(*all),
            });
        let (here, all) = (here.sum::<u64>() >> 20, all >> 20);
        Some(format!("the lenders get the memory: {here} of {all} MiB"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_now_and_then_how_much_is_there() {
        let start = Instant::now();
        let mut progress = Progress::new(2, 1 << 30);
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(progress.line(&[0, 0], start), None);
        let line = progress.line(&[64 << 20, READY], after(5));
        let text = "the lenders get the memory: 1088 of 2048 MiB";
        assert_eq!(line.as_deref(), Some(text));
        assert_eq!(progress.line(&[READY, READY], after(6)), None);
        let mut little = Progress::new(1, 1 << 20);
        assert_eq!(little.line(&[0], after(100)), None);
    }
}
