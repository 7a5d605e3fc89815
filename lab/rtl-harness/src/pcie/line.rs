//! One direction of a link: symbols that arrive later, and not all of them whole.

use std::collections::VecDeque;

use crate::random::Random;

/// The symbols of up to eight lanes in one cycle. Bit 8 marks K symbols. Lanes that are not there are 0.
pub type Beat = [u16; 8];

/// Cycles that a symbol is on its way.
const DELAY: usize = 12;

/// One direction of a link.
#[derive(Debug)]
pub struct Line {
    lanes: usize,
    /// A symbol in so many is damaged; 0 for none.
    damage: u64,
    /// Bit 8 can be damaged, too.
    has_k: bool,
    on_the_way: VecDeque<Option<Beat>>,
    random: Random,
    /// Symbols that were damaged.
    pub damaged: u64,
}

impl Line {
    /// A line of so many lanes that damages one in `damage` symbols, none if it is 0.
    pub fn new(lanes: usize, damage: u64, has_k: bool, random: Random) -> Self {
        let mut line = Self {
            lanes,
            damage,
            has_k,
            on_the_way: VecDeque::new(),
            random,
            damaged: 0,
        };
        line.clear();
        line
    }

    /// Loses what is on its way.
    pub fn clear(&mut self) {
        self.on_the_way.clear();
        self.on_the_way.resize(DELAY, None);
    }

    /// Puts in the symbols of a cycle, if there are any, and returns those that arrive.
    pub fn carry(&mut self, beat: Option<Beat>) -> Option<Beat> {
        let beat = beat.map(|beat| self.damage(beat));
        self.on_the_way.push_back(beat);
        self.on_the_way.pop_front().flatten()
    }

    fn damage(&mut self, mut beat: Beat) -> Beat {
        if self.damage == 0 || self.random.below(self.damage) >= self.lanes as u64 {
            return beat;
        }
        let lane = self.random.below(self.lanes as u64) as usize;
        let bit = self.random.below(if self.has_k { 9 } else { 8 });
        if let Some(symbol) = beat.get_mut(lane) {
            *symbol ^= 1 << bit;
            // A burst, now and then.
            if self.random.chance(20) {
                *symbol ^= self.random.below(256) as u16;
            }
            self.damaged += 1;
        }
        beat
    }
}
