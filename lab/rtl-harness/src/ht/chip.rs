//! A design with an HT-Core behind its pins: power, reset, clocks, the link. Time is in eighths of a link clock.

use crate::model::{Error, Files, In, Model, Out};

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

/// The design.
pub struct Chip {
    pub(crate) model: Model,
    /// Time of the next edge of the transmit clock, and with it of the core's.
    tx_next: u64,
    rx_next: u64,
    rx_level: bool,
    inputs: Inputs,
    outputs: Outputs,
    cable: Option<Cable>,
}

/// The port of a board towards another one.
struct Cable {
    clk: In,
    rx: In,
    tx: Out,
    error: Out,
}

struct Inputs {
    core_clk: In,
    tx_clk: In,
    rx_clk: In,
    pwrok: In,
    reset: In,
    rx_ctl: In,
    rx_cad: In,
}

struct Outputs {
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
}

impl Chip {
    /// A chip in reset, without power. `phase` is how much later than its clocks the partner's are, in eighths.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn new(design: &str, phase: u64, files: Files) -> Result<Self, Error> {
        let model = Model::new(design, files)?;
        let inputs = Inputs {
            core_clk: model.input("core_clk_i")?,
            tx_clk: model.input("tx_clk_i")?,
            rx_clk: model.input("rx_clk_i")?,
            pwrok: model.input("pwrok_i")?,
            reset: model.input("reset_ni")?,
            rx_ctl: model.input("rx_ctl_i")?,
            rx_cad: model.input("rx_cad_i")?,
        };
        let outputs = Outputs {
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
        };
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
            model,
            cable,
            tx_next: 0,
            rx_next: phase % (2 * BIT_TIME),
            rx_level: false,
            inputs,
            outputs,
        };
        chip.reset(false, false);
        Ok(chip)
    }

    /// Time of the next rising edge of the core's clock.
    pub const fn time(&self) -> u64 {
        self.tx_next.next_multiple_of(CORE_CLOCK)
    }

    /// Time of the next edge of any clock.
    pub fn next_edge(&self) -> u64 {
        self.tx_next.min(self.rx_next)
    }

    /// Time of the next edge that samples the partner's pins.
    pub const fn next_sample(&self) -> u64 {
        self.rx_next
    }

    /// Sets PWROK and RESET#.
    pub fn reset(&mut self, pwrok: bool, reset: bool) {
        self.model.set(self.inputs.pwrok, pwrok.into());
        self.model.set(self.inputs.reset, reset.into());
    }

    /// Lets one clock of the core pass: its rising edge, and all edges before the next one.
    pub fn clock(&mut self, link: &mut impl Link) {
        let end = self.time() + CORE_CLOCK;
        while self.next_edge() < end {
            self.edge(link);
        }
    }

    /// Lets the next edge happen, of all clocks that have one then.
    pub fn edge(&mut self, link: &mut impl Link) {
        let now = self.next_edge();
        if now == self.rx_next {
            let (pins, shift) = link.drive(now);
            self.model.set(self.inputs.rx_cad, pins.cad.into());
            self.model.set(self.inputs.rx_ctl, pins.ctl.into());
            self.rx_level = !self.rx_level;
            self.model.set(self.inputs.rx_clk, self.rx_level.into());
            self.rx_next = (now + BIT_TIME).saturating_add_signed(shift).max(now + 1);
        }
        let tx = now == self.tx_next;
        if tx {
            let half = now % CORE_CLOCK / BIT_TIME;
            let tx_level = half.is_multiple_of(2);
            self.model.set(self.inputs.tx_clk, tx_level.into());
            self.model.set(self.inputs.core_clk, u64::from(half < 2));
            self.tx_next += BIT_TIME;
        }
        self.model.eval(now);
        if tx {
            let pins = Pins {
                cad: self.model.get(self.outputs.tx_cad) as u16,
                ctl: self.model.get(self.outputs.tx_ctl) != 0,
            };
            link.sample(pins, now);
        }
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

    /// Both directions are initialised.
    pub fn is_up(&self) -> bool {
        self.model.get(self.outputs.link_up) != 0
    }

    /// Sync is sent.
    pub fn is_broken(&self) -> bool {
        self.model.get(self.outputs.broken) != 0
    }

    /// What the core reports in this clock: lanes with a CRC error, a protocol error, an overflow.
    pub fn errors(&self) -> (u64, bool, bool) {
        (
            self.model.get(self.outputs.crc_error),
            self.model.get(self.outputs.protocol_error) != 0,
            self.model.get(self.outputs.overflow_error) != 0,
        )
    }

    /// A posted packet for nobody is dropped in this clock.
    pub fn drops(&self) -> bool {
        self.model.get(self.outputs.dropped) != 0
    }

    /// UnitID, whether requests may be sent, and the number of the frequency.
    pub fn settings(&self) -> (u64, bool, u64) {
        (
            self.model.get(self.outputs.unit),
            self.model.get(self.outputs.master) != 0,
            self.model.get(self.outputs.frequency),
        )
    }
}
