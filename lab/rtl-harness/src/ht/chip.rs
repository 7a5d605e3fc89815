//! A design with an HT-Core behind its pins: power, reset, clocks, the link, and a cable if it has one.

use super::pins::{Edges, Link, LinkPins, NoEdges};
use crate::model::{Error, Files, In, Model, Out};

/// The design.
pub struct Chip {
    pub(crate) model: Model,
    pins: LinkPins,
    cable: Option<Cable>,
}

/// The port of a board towards another one.
struct Cable {
    clk: In,
    rx: In,
    tx: Out,
    error: Out,
}

impl Chip {
    /// A chip in reset, without power. `phase` is how much later than its clocks the partner's are, in eighths.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn new(design: &str, phase: u64, files: Files) -> Result<Self, Error> {
        let model = Model::new(design, files)?;
        let cable = match model.input("cable_clk_i") {
            Ok(clk) => Some(Cable {
                clk,
                rx: model.input("cable_rx_i")?,
                tx: model.output("cable_tx_o")?,
                error: model.output("cable_error_o")?,
            }),
            Err(_) => None,
        };
        let mut chip = Self {
            pins: LinkPins::new(&model, phase)?,
            model,
            cable,
        };
        chip.reset(false, false);
        Ok(chip)
    }

    /// Time of the next rising edge of the core's clock.
    pub const fn time(&self) -> u64 {
        self.pins.time()
    }

    /// As [`LinkPins::next_edge`].
    pub fn next_edge(&self) -> u64 {
        self.pins.next_edge()
    }

    /// As [`LinkPins::next_sample`].
    pub const fn next_sample(&self) -> u64 {
        self.pins.next_sample()
    }

    /// Sets PWROK and RESET#.
    pub fn reset(&mut self, pwrok: bool, reset: bool) {
        self.pins.reset(&mut self.model, pwrok, reset);
    }

    /// As [`LinkPins::clock`].
    pub fn clock(&mut self, link: &mut impl Link) {
        let none: &mut [NoEdges] = &mut [];
        self.clock_beside(link, none);
    }

    /// As [`LinkPins::clock`], with clocks from elsewhere.
    pub fn clock_beside(&mut self, link: &mut impl Link, others: &mut [impl Edges]) {
        self.pins.clock(&mut self.model, link, others);
    }

    /// As [`LinkPins::edge`].
    pub fn edge(&mut self, link: &mut impl Link) {
        self.pins.edge(&mut self.model, link);
    }

    /// What it drives into its cable, from the last edge of the core's clock to the next one; `None` without a cable.
    pub fn phit(&self) -> Option<u32> {
        let cable = self.cable.as_ref()?;
        Some(self.model.get(cable.tx) as u32)
    }

    /// A clock of the cable at `time`: what was on it is sampled, and then `phit` is.
    pub fn cable_clock(&mut self, phit: u32, time: u64) {
        let Some(Cable { clk, rx, .. }) = self.cable else {
            return;
        };
        self.model.set(clk, 1);
        self.model.eval(time);
        self.model.set(rx, phit.into());
        self.model.set(clk, 0);
        self.model.eval(time);
    }

    /// The other end of the cable does not answer.
    pub fn cable_error(&self) -> bool {
        let cable = self.cable.as_ref();
        cable.is_some_and(|cable| self.model.get(cable.error) != 0)
    }

    /// As [`LinkPins::is_up`].
    pub fn is_up(&self) -> bool {
        self.pins.is_up(&self.model)
    }

    /// As [`LinkPins::is_broken`].
    pub fn is_broken(&self) -> bool {
        self.pins.is_broken(&self.model)
    }

    /// As [`LinkPins::errors`].
    pub fn errors(&self) -> (u64, bool, bool) {
        self.pins.errors(&self.model)
    }

    /// As [`LinkPins::drops`].
    pub fn drops(&self) -> bool {
        self.pins.drops(&self.model)
    }

    /// As [`LinkPins::settings`].
    pub fn settings(&self) -> (u64, bool, u64) {
        self.pins.settings(&self.model)
    }
}
