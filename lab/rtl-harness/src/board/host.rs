//! A host with a board in its slot: writes, reads, and takes what the board sends.

use std::collections::VecDeque;

use super::cable::CableEnd;
use crate::ht::bench::{UNIT, habits};
use crate::ht::bring_up::{BringUp, Failure, Settings};
use crate::ht::packets::Packet;
use crate::ht::partner::Partner;
use crate::ht::{Chip, Width};
use crate::model::{Error, Files};
use crate::random::Random;

/// A host and its board.
pub struct Host {
    /// The board.
    pub chip: Chip,
    /// Where its cable ends; none for a board without.
    pub cable: Vec<CableEnd>,
    /// The host's end of the link.
    pub partner: Partner,
    random: Random,
    /// How fast it takes packets of the board, in percent of clocks.
    pub take: u64,
    buffered: VecDeque<Packet>,
    wander: u64,
    /// Base addresses of the board.
    pub bars: [u64; 2],
}

impl Host {
    /// A host whose link is up, on 8 bits or on 16, with a design of `lab/rtl/designs` in its slot, whose name is without the
    /// width. Phases are random, and clocks from outside wander in `wander` percent of their edges; without, addresses are
    /// short and buffers many, for measurements.
    ///
    /// # Errors
    /// As [`Chip::new`]; inside, what goes wrong while the link comes up.
    pub fn new(
        design: &str,
        width: Width,
        random: &mut Random,
        wander: u64,
    ) -> Result<Result<Self, Failure>, Error> {
        let design = format!("{design}{}", width.bits());
        let chip = Chip::new(&design, random.below(8), Files::default())?;
        let mut cable = Vec::new();
        if chip.phit().is_some() {
            let (phase, own) = (random.below(16), Random::new(random.next()));
            cable.push(CableEnd::new(&chip.model, 0, phase, wander, own)?);
        }
        let mut random = Random::new(random.next());
        let partner = Partner::new(Random::new(0), habits(&mut random, (false, false), 0));
        let bars = bars(&mut random, wander == 0);
        let mut host = Self {
            chip,
            cable,
            partner,
            random,
            take: 100,
            buffered: VecDeque::new(),
            wander,
            bars,
        };
        let wide = width == Width::Sixteen;
        let up = host.boot((wide, wide));
        host.partner.sent.clear();
        Ok(up.map(|()| host))
    }

    /// One clock of the board's core. Packets of the board are returned when they arrive; their buffers are free later.
    ///
    /// # Errors
    /// As [`BringUp::clock`].
    pub fn step(&mut self) -> Result<Vec<(Packet, u64)>, Failure> {
        self.clock()?;
        let arrived: Vec<_> = self.partner.inbox.drain(..).collect();
        self.buffered
            .extend(arrived.iter().map(|(packet, _)| packet.clone()));
        if self.random.chance(self.take)
            && let Some(packet) = self.buffered.pop_front()
        {
            self.partner.free(&packet);
        }
        Ok(arrived)
    }
}

impl BringUp for Host {
    fn parts(&mut self) -> (&mut Chip, &mut Partner) {
        (&mut self.chip, &mut self.partner)
    }

    fn clock(&mut self) -> Result<(), Failure> {
        self.chip.clock_beside(&mut self.partner, &mut self.cable);
        if let Some(wrong) = self.partner.wrong.first() {
            return Err(format!("at the host: {wrong}"));
        }
        match self.chip.errors() {
            (0, false, false) => Ok(()),
            errors => Err(format!("the core reports {errors:?}")),
        }
    }

    fn partner(&mut self, wide: (bool, bool)) -> Partner {
        let mut habits = habits(&mut self.random, wide, self.wander);
        if self.wander == 0 {
            habits.buffers = [[16; 2]; 3];
        }
        self.buffered.clear();
        Partner::new(Random::new(self.random.next()), habits)
    }

    fn settings(&self) -> Settings {
        Settings {
            bars: self.bars,
            unit: UNIT,
        }
    }
}

/// Base addresses anywhere, and not in each other: not where the configuration space is, and below 40 bits if they have to
/// be short.
fn bars(random: &mut Random, short: bool) -> [u64; 2] {
    loop {
        let bits = if short || random.chance(50) { 38 } else { 64 };
        let mut base = |align: u64| (random.next() >> (64 - bits)) & !(align - 1);
        let (bar0, bar1) = (base(1 << 19), base(1 << 12));
        let special = [bar0, bar1]
            .iter()
            .any(|base| base >> 32 == 0xfd || *base == 0);
        if !special && bar0 >> 19 != bar1 >> 19 {
            return [bar0, bar1];
        }
    }
}
