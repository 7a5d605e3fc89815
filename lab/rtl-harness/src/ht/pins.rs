//! Pins and clocks of a model with an HT-Core: `ht_core` itself, or a board with one. Time is in eighths of a link clock.

use crate::model::{Error, In, Model, Out};

/// Eighths of a link clock in one clock of the core.
pub const CORE_CLOCK: u64 = 16;

/// Eighths of a link clock in one bit-time.
pub const BIT_TIME: u64 = 4;

/// What is on the pins of one direction for one bit-time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// CAD; 8 bits are in the low byte.
    pub cad: u16,
    /// CTL.
    pub ctl: bool,
}

/// The other end of the link.
pub trait Link {
    /// What it drives in the next bit-time, which the core samples at `time`. Moves the edge of the clock after it by
    /// some eighths, if the clock wanders.
    fn drive(&mut self, time: u64) -> (Pins, i64);
    /// What the core drives in the bit-time that begins at `time`.
    fn sample(&mut self, pins: Pins, time: u64);
}

/// Inputs with a clock of their own, beside those of the link.
pub trait Edges {
    /// When the next edge is.
    fn next(&self) -> u64;
    /// Sets the inputs for this edge.
    fn edge(&mut self, model: &mut Model);
}

/// The link, the clocks of the core, and what it says of its state.
#[derive(Debug)]
pub struct LinkPins {
    core_clk: In,
    tx_clk: In,
    rx_clk: In,
    pwrok: In,
    reset: In,
    rx_ctl: In,
    rx_cad: In,
    tx_ctl: Out,
    tx_cad: Out,
    link_up: Out,
    broken: Out,
    crc_error: Out,
    protocol_error: Out,
    overflow_error: Out,
    dropped: Out,
    unit: Out,
    master: Out,
    frequency: Out,
    /// Time of the next edge of the transmit clock, and with it of the core's.
    tx_next: u64,
    rx_next: u64,
    rx_level: bool,
}

impl LinkPins {
    /// Finds the pins. `phase` is how much later than the core's clocks the partner's are, in eighths.
    ///
    /// # Errors
    /// As [`Model::input`].
    pub fn new(model: &Model, phase: u64) -> Result<Self, Error> {
        Ok(Self {
            core_clk: model.input("core_clk_i")?,
            tx_clk: model.input("tx_clk_i")?,
            rx_clk: model.input("rx_clk_i")?,
            pwrok: model.input("pwrok_i")?,
            reset: model.input("reset_ni")?,
            rx_ctl: model.input("rx_ctl_i")?,
            rx_cad: model.input("rx_cad_i")?,
            tx_ctl: model.output("tx_ctl_o")?,
            tx_cad: model.output("tx_cad_o")?,
            link_up: model.output("link_up_o")?,
            broken: model.output("broken_o")?,
            crc_error: model.output("crc_error_o")?,
            protocol_error: model.output("protocol_error_o")?,
            overflow_error: model.output("overflow_error_o")?,
            dropped: model.output("dropped_o")?,
            unit: model.output("unit_o")?,
            master: model.output("master_o")?,
            frequency: model.output("frequency_o")?,
            tx_next: 0,
            rx_next: phase % (2 * BIT_TIME),
            rx_level: false,
        })
    }

    /// Time of the next rising edge of the core's clock.
    pub const fn time(&self) -> u64 {
        self.tx_next.next_multiple_of(CORE_CLOCK)
    }

    /// Time of the next edge of a clock of the link.
    pub fn next_edge(&self) -> u64 {
        self.tx_next.min(self.rx_next)
    }

    /// Time of the next edge that samples the partner's pins.
    pub const fn next_sample(&self) -> u64 {
        self.rx_next
    }

    /// Sets PWROK and RESET#.
    pub fn reset(&self, model: &mut Model, pwrok: bool, reset: bool) {
        model.set(self.pwrok, pwrok.into());
        model.set(self.reset, reset.into());
    }

    /// Lets one clock of the core pass: its rising edge, and all edges before the next one.
    pub fn clock(&mut self, model: &mut Model, link: &mut impl Link, others: &mut [impl Edges]) {
        let end = self.time() + CORE_CLOCK;
        loop {
            let other = others.iter().map(Edges::next).min().unwrap_or(u64::MAX);
            let now = self.next_edge().min(other);
            if now >= end {
                return;
            }
            for other in others.iter_mut().filter(|other| other.next() == now) {
                other.edge(model);
            }
            if now == self.next_edge() {
                self.edge(model, link);
            } else {
                model.eval(now);
            }
        }
    }

    /// Lets the next edge happen, of all clocks of the link that have one then.
    pub fn edge(&mut self, model: &mut Model, link: &mut impl Link) {
        let now = self.next_edge();
        if now == self.rx_next {
            let (pins, shift) = link.drive(now);
            model.set(self.rx_cad, pins.cad.into());
            model.set(self.rx_ctl, pins.ctl.into());
            self.rx_level = !self.rx_level;
            model.set(self.rx_clk, self.rx_level.into());
            self.rx_next = (now + BIT_TIME).saturating_add_signed(shift).max(now + 1);
        }
        let tx = now == self.tx_next;
        if tx {
            let half = now % CORE_CLOCK / BIT_TIME;
            model.set(self.tx_clk, u64::from(half.is_multiple_of(2)));
            model.set(self.core_clk, u64::from(half < 2));
            self.tx_next += BIT_TIME;
        }
        model.eval(now);
        if tx {
            let pins = Pins {
                cad: model.get(self.tx_cad) as u16,
                ctl: model.get(self.tx_ctl) != 0,
            };
            link.sample(pins, now);
        }
    }

    /// Both directions are initialised.
    pub fn is_up(&self, model: &Model) -> bool {
        model.get(self.link_up) != 0
    }

    /// Sync is sent.
    pub fn is_broken(&self, model: &Model) -> bool {
        model.get(self.broken) != 0
    }

    /// What the core reports in this clock: lanes with a CRC error, a protocol error, an overflow.
    pub fn errors(&self, model: &Model) -> (u64, bool, bool) {
        (
            model.get(self.crc_error),
            model.get(self.protocol_error) != 0,
            model.get(self.overflow_error) != 0,
        )
    }

    /// A posted packet for nobody is dropped in this clock.
    pub fn drops(&self, model: &Model) -> bool {
        model.get(self.dropped) != 0
    }

    /// UnitID, whether requests may be sent, and the number of the frequency.
    pub fn settings(&self, model: &Model) -> (u64, bool, u64) {
        (
            model.get(self.unit),
            model.get(self.master) != 0,
            model.get(self.frequency),
        )
    }
}

/// None.
pub enum NoEdges {}

impl Edges for NoEdges {
    fn next(&self) -> u64 {
        match *self {}
    }

    fn edge(&mut self, _: &mut Model) {
        match *self {}
    }
}
