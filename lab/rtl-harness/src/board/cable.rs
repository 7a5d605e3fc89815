//! A cable: 18 bits each clock in one direction, with what can happen to frames on the way.

use std::collections::VecDeque;

use crate::ht::pins::{CORE_CLOCK, Edges};
use crate::model::{Error, In, Model};
use crate::random::Random;

/// Bits of a phit.
const PHIT_BITS: usize = 18;

/// What happens to frames, in percent of them each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Nothing of it arrives.
    pub lost: u64,
    /// Some bits are flipped, also of the two that say what a phit is.
    pub damaged: u64,
    /// It arrives twice.
    pub doubled: u64,
}

/// What was done to frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that were put on the cable.
    pub frames: u64,
    /// As [`Faults::lost`].
    pub lost: u64,
    /// As [`Faults::damaged`].
    pub damaged: u64,
    /// As [`Faults::doubled`].
    pub doubled: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Sound,
    Lost,
    /// The phits with these indices are changed.
    Damaged([(u64, u32); 2]),
    Doubled,
}

/// One direction of a cable.
#[derive(Debug)]
pub struct Cable {
    random: Random,
    /// What happens.
    pub faults: Faults,
    /// What happened.
    pub counts: Counts,
    fate: Fate,
    /// Phits of the frame under way so far.
    index: u64,
    frame: Vec<u32>,
    queue: VecDeque<u32>,
}

impl Cable {
    /// Without faults.
    pub fn new(random: Random) -> Self {
        Self {
            random,
            faults: Faults::default(),
            counts: Counts::default(),
            fate: Fate::Sound,
            index: 0,
            frame: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    fn decide(&mut self) -> Fate {
        let draw = self.random.below(100);
        let Faults {
            lost,
            damaged,
            doubled,
        } = self.faults;
        if draw < lost {
            self.counts.lost += 1;
            return Fate::Lost;
        }
        if draw < lost + damaged {
            self.counts.damaged += 1;
            let random = &mut self.random;
            // Any bits of one or two phits.
            let mut flip = || {
                (
                    random.below(12),
                    1 + random.below((1 << PHIT_BITS) - 1) as u32,
                )
            };
            let first = flip();
            let second = if flip().0 < 6 { flip() } else { first };
            // Nothing may cancel out.
            let second = if second.0 == first.0 {
                (u64::MAX, 0)
            } else {
                second
            };
            return Fate::Damaged([first, second]);
        }
        if draw < lost + damaged + doubled {
            self.counts.doubled += 1;
            return Fate::Doubled;
        }
        Fate::Sound
    }

    /// Puts a phit on the cable.
    pub fn push(&mut self, phit: u32) {
        let kind = phit >> 16;
        if kind == 0 {
            // Where a frame was doubled, nothing makes room for it.
            if self.queue.is_empty() {
                self.queue.push_back(0);
            }
            return;
        }
        if kind == 1 {
            self.counts.frames += 1;
            self.fate = self.decide();
            self.index = 0;
            self.frame.clear();
        }
        self.frame.push(phit);
        match self.fate {
            Fate::Lost => {}
            Fate::Damaged(flips) => {
                let flip = flips.iter().find(|(index, _)| *index == self.index);
                self.queue
                    .push_back(phit ^ flip.map_or(0, |(_, bits)| *bits));
            }
            Fate::Sound | Fate::Doubled => self.queue.push_back(phit),
        }
        self.index += 1;
        if kind == 3 && self.fate == Fate::Doubled {
            self.queue.push_back(0);
            self.queue.extend(&self.frame);
        }
    }

    /// What the other end gets next.
    pub fn pop(&mut self) -> u32 {
        self.queue.pop_front().unwrap_or(0)
    }
}

/// The end of a cable at a model: phits, and the clock that comes with them.
#[derive(Debug)]
pub struct CableEnd {
    clock: In,
    /// Bit of the clock in its port, and of the phit in its.
    clock_bit: usize,
    data: In,
    next: u64,
    level: bool,
    /// Moves of the clock, in percent of its edges; how far it is away.
    wander: u64,
    offset: i64,
    random: Random,
    /// Phits that are about to arrive.
    pub coming: VecDeque<u32>,
    /// When the first and the last phit of a frame were sampled last.
    pub first_at: u64,
    /// As `first_at`.
    pub last_at: u64,
}

impl CableEnd {
    /// Finds the pins of cable `port` of a model. `phase` is how much later than the clock of the core the one of the
    /// cable is, in eighths of a link clock.
    ///
    /// # Errors
    /// As [`Model::input`].
    pub fn new(
        model: &Model,
        port: usize,
        phase: u64,
        wander: u64,
        random: Random,
    ) -> Result<Self, Error> {
        Ok(Self {
            clock: model.input("cable_clk_i")?,
            clock_bit: port,
            data: model.input("cable_rx_i")?,
            next: phase % CORE_CLOCK,
            level: false,
            wander,
            offset: 0,
            random,
            coming: VecDeque::new(),
            first_at: 0,
            last_at: 0,
        })
    }
}

impl Edges for CableEnd {
    fn next(&self) -> u64 {
        self.next
    }

    fn edge(&mut self, model: &mut Model) {
        self.level = !self.level;
        if self.level {
            let phit = self.coming.pop_front().unwrap_or(0);
            match phit >> 16 {
                1 => self.first_at = self.next,
                3 => self.last_at = self.next,
                _ => {}
            }
            model.set_field(
                self.data,
                PHIT_BITS * self.clock_bit,
                PHIT_BITS,
                phit.into(),
            );
        }
        model.set_field(self.clock, self.clock_bit, 1, self.level.into());
        let mut shift = 0;
        if self.wander > 0 && self.random.chance(self.wander) {
            shift = if self.random.chance(50) { 1 } else { -1 };
            // As far as one clock.
            if (self.offset + shift).unsigned_abs() > CORE_CLOCK {
                shift = 0;
            }
            self.offset += shift;
        }
        self.next = (self.next + CORE_CLOCK / 2).saturating_add_signed(shift);
    }
}
