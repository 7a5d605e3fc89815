//! The model of a switch.

use super::cable::CableEnd;
use crate::ht::pins::{CORE_CLOCK, Edges};
use crate::model::{Error, Files, In, Model, Out};
use crate::random::Random;

/// Ports of the switch in `lab/rtl/designs`.
pub const PORTS: usize = 4;

/// Frames that were sent again, came damaged, had no room; packets that had no output.
pub type Events = [u64; 4];

/// A switch.
pub struct Switch {
    model: Model,
    clock: In,
    reset: In,
    cable_out: Out,
    event_outputs: [Out; 4],
    time: u64,
    /// Where the cables end.
    pub cables: Vec<CableEnd>,
    /// What it has reported, over all ports.
    pub events: Events,
}

impl Switch {
    /// A switch in reset.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn new(random: &mut Random, wander: u64) -> Result<Self, Error> {
        let model = Model::new("switch4", Files::default())?;
        let mut cables = Vec::new();
        for port in 0..PORTS {
            let other = Random::new(random.next());
            cables.push(CableEnd::new(
                &model,
                port,
                random.below(16),
                wander,
                other,
            )?);
        }
        Ok(Self {
            clock: model.input("clk_i")?,
            reset: model.input("rst_ni")?,
            cable_out: model.output("cable_tx_o")?,
            event_outputs: [
                model.output("repeated_o")?,
                model.output("damaged_o")?,
                model.output("no_room_o")?,
                model.output("unroutable_o")?,
            ],
            model,
            time: 0,
            cables,
            events: [0; 4],
        })
    }

    /// Begins or ends the reset.
    pub fn reset(&mut self, is_on: bool) {
        self.model.set(self.reset, (!is_on).into());
    }

    /// Time of the next rising edge of its clock.
    pub const fn time(&self) -> u64 {
        self.time
    }

    /// One clock.
    pub fn clock(&mut self) {
        let end = self.time + CORE_CLOCK;
        let mut own = [self.time, self.time + CORE_CLOCK / 2]
            .into_iter()
            .peekable();
        loop {
            let cable = self
                .cables
                .iter()
                .map(Edges::next)
                .min()
                .unwrap_or(u64::MAX);
            let now = cable.min(own.peek().copied().unwrap_or(u64::MAX));
            if now >= end {
                break;
            }
            for cable in self.cables.iter_mut().filter(|cable| cable.next() == now) {
                cable.edge(&mut self.model);
            }
            if own.next_if_eq(&now).is_some() {
                self.model.set(self.clock, u64::from(now == self.time));
            }
            self.model.eval(now);
        }
        self.time = end;
        for (events, output) in self.events.iter_mut().zip(self.event_outputs) {
            *events += u64::from(self.model.get(output).count_ones());
        }
    }

    /// The phit that a port has put on its cable in the last clock.
    pub fn phit(&self, port: usize) -> u32 {
        self.model.get_field(self.cable_out, 18 * port, 18) as u32
    }
}
