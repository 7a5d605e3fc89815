//! The model of a board: pins of the link, and those of a cable if it has one.

use super::cable::CableEnd;
use crate::ht::pins::{Link, LinkPins};
use crate::model::{Error, Files, Model, Out};
use crate::random::Random;

/// A board.
pub struct Board {
    model: Model,
    pins: LinkPins,
    /// Where the cable ends; none for a board without.
    pub cable: Vec<CableEnd>,
    cable_out: Option<(Out, Out)>,
}

impl Board {
    /// A board of `lab/rtl/designs` in reset, without power. Phases are random, and clocks from outside wander in `wander`
    /// percent of their edges.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn new(
        design: &str,
        random: &mut Random,
        wander: u64,
        files: Files,
    ) -> Result<Self, Error> {
        let model = Model::new(design, files)?;
        let pins = LinkPins::new(&model, random.below(8))?;
        let mut board = Self {
            pins,
            cable: Vec::new(),
            cable_out: None,
            model,
        };
        if let Ok(out) = board.model.output("cable_tx_o") {
            board.cable_out = Some((out, board.model.output("cable_error_o")?));
            let end = CableEnd::new(
                &board.model,
                0,
                random.below(16),
                wander,
                Random::new(random.next()),
            )?;
            board.cable.push(end);
        }
        board.reset(false, false);
        Ok(board)
    }

    /// Time of the next rising edge of the core's clock.
    pub const fn time(&self) -> u64 {
        self.pins.time()
    }

    /// Sets PWROK and RESET#.
    pub fn reset(&mut self, pwrok: bool, reset: bool) {
        self.pins.reset(&mut self.model, pwrok, reset);
    }

    /// Lets one clock of the core pass.
    pub fn clock(&mut self, link: &mut impl Link) {
        self.pins.clock(&mut self.model, link, &mut self.cable);
    }

    /// The phit that the board has put on its cable in the last clock.
    pub fn phit(&self) -> u32 {
        self.cable_out
            .map_or(0, |(out, _)| self.model.get(out) as u32)
    }

    /// Whether the link port has heard nothing for long.
    pub fn cable_error(&self) -> bool {
        self.cable_out
            .is_some_and(|(_, error)| self.model.get(error) != 0)
    }

    /// The link of the host.
    pub fn is_up(&self) -> bool {
        self.pins.is_up(&self.model)
    }

    /// As [`LinkPins::errors`].
    pub fn errors(&self) -> (u64, bool, bool) {
        self.pins.errors(&self.model)
    }

    /// As [`LinkPins::settings`].
    pub fn settings(&self) -> (u64, bool, u64) {
        self.pins.settings(&self.model)
    }
}
