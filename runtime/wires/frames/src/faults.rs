//! Faults of frames. The links repair them.

use hostwire_transport::PeId;
use hostwire_transport::faults::{Dice, Faults};

/// Applies [`Faults`] to frames.
#[derive(Debug)]
pub(crate) struct FaultyFrames {
    dice: Dice,
    held: Option<(PeId, Vec<u8>)>,
    /// Faults that frames have met.
    pub(crate) met: u64,
}

impl FaultyFrames {
    /// The faults of frames that PE `pe` sends.
    pub(crate) fn new(faults: Faults, pe: PeId) -> Self {
        Self {
            dice: Dice::new(faults, pe),
            held: None,
            met: 0,
        }
    }

    /// Applies faults to a frame for PE `pe`, and gives the result to `send`.
    pub(crate) fn pass(&mut self, pe: PeId, frame: &[u8], send: &mut dyn FnMut(PeId, &[u8])) {
        let fate = self.dice.roll();
        if fate.drop {
            self.met += 1;
            return;
        }
        self.met += u64::from(fate.dup) + u64::from(fate.flip);
        let mut damaged = Vec::new();
        if fate.flip {
            damaged.extend_from_slice(frame);
            fate.change_a_bit(&mut damaged);
        }
        let frame = if fate.flip { &damaged[..] } else { frame };
        if fate.reorder && self.held.is_none() {
            self.held = Some((pe, frame.to_vec()));
            self.met += 1;
            return;
        }
        send(pe, frame);
        if fate.dup {
            send(pe, frame);
        }
        if let Some((pe, frame)) = self.held.take() {
            send(pe, &frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fate(faults: &str, frames: u16) -> (Vec<Vec<u8>>, u64) {
        let mut faulty = FaultyFrames::new(faults.parse().unwrap(), 3);
        let mut sent = Vec::new();
        for number in 0..frames {
            let frame = number.to_be_bytes();
            faulty.pass(1, &frame, &mut |pe, frame| {
                assert_eq!(pe, 1);
                sent.push(frame.to_vec());
            });
        }
        (sent, faulty.met)
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
        // Every second one is held back until the next one has left.
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
}
