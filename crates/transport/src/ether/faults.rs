//! Faults on purpose: what a bad cable does to the frames that a PE sends.
//!
//! For tests and measurements. Everything is decided by one seed and the number of the PE,
//! frame by frame, so the same frames meet the same fate.

use core::str::FromStr;

/// How often frames that a PE sends meet with what. Each is a probability, 0 to 1.
///
/// From a text: `drop=0.01,dup=0.01,reorder=0.01,flip=0.001,seed=7`, in any order, each
/// at most once; what is not named is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Faults {
    /// The frame is lost.
    pub drop: f64,
    /// It is sent twice.
    pub dup: f64,
    /// It is held back until the next frame has left.
    pub reorder: f64,
    /// One bit of it is changed.
    pub flip: f64,
    /// Decides all of it, together with the number of the PE.
    pub seed: u64,
}

/// A text that says no [`Faults`]. Caller's fault.
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

/// Does to frames what [`Faults`] says.
#[derive(Debug)]
pub(super) struct Injector {
    faults: Faults,
    random: u64,
    held: Option<(u32, Vec<u8>)>,
}

impl Injector {
    pub(super) fn new(faults: Faults, pe: u32) -> Self {
        let mut injector = Self {
            faults,
            random: faults.seed ^ u64::from(pe).wrapping_mul(0xd6e8_feb8_6659_fd93),
            held: None,
        };
        injector.random = injector.next();
        injector
    }

    /// Gives `send` what is left of a frame for PE `pe`. Returns how many faults it met.
    pub(super) fn pass(&mut self, pe: u32, frame: &[u8], send: &mut dyn FnMut(u32, &[u8])) -> u64 {
        // Always five numbers, so that one probability does not change what others do.
        let [drop, dup, reorder, flip] = [
            self.faults.drop,
            self.faults.dup,
            self.faults.reorder,
            self.faults.flip,
        ]
        .map(|probability| self.happens(probability));
        let bit = self.next();
        if drop {
            return 1;
        }
        let met = u64::from(dup) + u64::from(flip);
        let mut damaged = Vec::new();
        if flip {
            damaged.extend_from_slice(frame);
            let place = (bit >> 3) % (frame.len().max(1) as u64);
            if let Some(byte) = damaged.get_mut(place as usize) {
                *byte ^= 1 << (bit & 7);
            }
        }
        let frame = if flip { &damaged[..] } else { frame };
        if reorder && self.held.is_none() {
            self.held = Some((pe, frame.to_vec()));
            return met + 1;
        }
        send(pe, frame);
        if dup {
            send(pe, frame);
        }
        if let Some((pe, frame)) = self.held.take() {
            send(pe, &frame);
        }
        met
    }

    fn happens(&mut self, probability: f64) -> bool {
        // 53 bits, as many as a double tells apart.
        let drawn = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        drawn < probability
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fate(faults: &str, frames: u16) -> (Vec<Vec<u8>>, u64) {
        let mut injector = Injector::new(faults.parse().unwrap(), 3);
        let mut sent = Vec::new();
        let mut met = 0;
        for number in 0..frames {
            let frame = number.to_be_bytes();
            met += injector.pass(1, &frame, &mut |pe, frame| {
                assert_eq!(pe, 1);
                sent.push(frame.to_vec());
            });
        }
        (sent, met)
    }

    #[test]
    fn nothing_happens_by_default() {
        let all: Vec<Vec<u8>> = (0..100_u16).map(|n| n.to_be_bytes().to_vec()).collect();
        assert_eq!(fate("seed=1", 100), (all, 0));
    }

    #[test]
    fn each_fault_does_what_it_says() {
        let bits = |sent: &[Vec<u8>]| -> u32 {
            let pairs = sent.iter().zip(0_u16..);
            pairs
                .map(|(sent, number)| {
                    (u16::from_be_bytes([sent[0], sent[1]]) ^ number).count_ones()
                })
                .sum()
        };
        let (sent, met) = fate("drop=0.25,seed=5", 4000);
        assert_eq!(sent.len() as u64, 4000 - met);
        assert!((800..1200).contains(&met), "{met}");
        let (sent, met) = fate("dup=1", 10);
        assert_eq!((sent.len(), met), (20, 10));
        let (sent, met) = fate("flip=1", 100);
        assert_eq!((sent.len(), met, bits(&sent)), (100, 100, 100));
        // Every second one is held back until the one behind it has left.
        let (sent, met) = fate("reorder=1", 6);
        let order: Vec<u8> = sent.iter().map(|frame| frame[1]).collect();
        assert_eq!((&order[..], met), (&[1, 0, 3, 2, 5, 4][..], 3));
    }

    #[test]
    fn one_seed_decides() {
        let text = "drop=0.1,dup=0.1,reorder=0.1,flip=0.1,seed=";
        let with = |seed: u64| fate(&format!("{text}{seed}"), 500);
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
    }

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
