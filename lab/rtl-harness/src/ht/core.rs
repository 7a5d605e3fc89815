//! The model of `ht_core` with its clocks. Time is in eighths of a link clock.

use crate::model::{Error, Files, In, Model, Out};

/// Eighths of a link clock in one clock of the core.
pub const CORE_CLOCK: u64 = 16;

/// Eighths of a link clock in one bit-time.
const BIT_TIME: u64 = 4;

/// Lanes of the core that was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bits.
    Eight,
    /// 16 bits; it starts with 8.
    Sixteen,
}

impl Width {
    /// Name in `lab/rtl/designs`.
    pub const fn design(self) -> &'static str {
        match self {
            Width::Eight => "ht8",
            Width::Sixteen => "ht16",
        }
    }

    /// In bits.
    pub const fn bits(self) -> u32 {
        match self {
            Width::Eight => 8,
            Width::Sixteen => 16,
        }
    }
}

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

/// The core.
pub struct Core {
    model: Model,
    width: Width,
    /// Time of the next rising edge of the core's clock.
    time: u64,
    rx_next: u64,
    rx_level: bool,
    inputs: Inputs,
    outputs: Outputs,
}

struct Inputs {
    core_clk: In,
    tx_clk: In,
    rx_clk: In,
    pwrok: In,
    reset: In,
    rx_ctl: In,
    rx_cad: In,
    rx_cmd_ready: In,
    rx_data_ready: In,
    tx_cmd_valid: In,
    tx_cmd: In,
    tx_data_valid: In,
    tx_data: In,
}

struct Outputs {
    tx_ctl: Out,
    tx_cad: Out,
    rx_cmd_valid: Out,
    rx_cmd: Out,
    rx_data_valid: Out,
    rx_data: Out,
    rx_data_last: Out,
    tx_cmd_ready: Out,
    tx_data_ready: Out,
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

/// A command of a queue: 96 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// First dword, and the second above it.
    pub dwords: u64,
    /// Bits 95:64: address extension, whether there is one, number of the base address register.
    pub rest: u32,
}

impl Core {
    /// A core in reset, without power. `phase` is how much later than its clocks the partner's are, in eighths.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn new(width: Width, design: &str, phase: u64, files: Files) -> Result<Self, Error> {
        let model = Model::new(design, files)?;
        let inputs = Inputs {
            core_clk: model.input("core_clk_i")?,
            tx_clk: model.input("tx_clk_i")?,
            rx_clk: model.input("rx_clk_i")?,
            pwrok: model.input("pwrok_i")?,
            reset: model.input("reset_ni")?,
            rx_ctl: model.input("rx_ctl_i")?,
            rx_cad: model.input("rx_cad_i")?,
            rx_cmd_ready: model.input("rx_cmd_ready_i")?,
            rx_data_ready: model.input("rx_data_ready_i")?,
            tx_cmd_valid: model.input("tx_cmd_valid_i")?,
            tx_cmd: model.input("tx_cmd_i")?,
            tx_data_valid: model.input("tx_data_valid_i")?,
            tx_data: model.input("tx_data_i")?,
        };
        let outputs = Outputs {
            tx_ctl: model.output("tx_ctl_o")?,
            tx_cad: model.output("tx_cad_o")?,
            rx_cmd_valid: model.output("rx_cmd_valid_o")?,
            rx_cmd: model.output("rx_cmd_o")?,
            rx_data_valid: model.output("rx_data_valid_o")?,
            rx_data: model.output("rx_data_o")?,
            rx_data_last: model.output("rx_data_last_o")?,
            tx_cmd_ready: model.output("tx_cmd_ready_o")?,
            tx_data_ready: model.output("tx_data_ready_o")?,
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
        let mut core = Self {
            model,
            width,
            time: 0,
            rx_next: phase % (2 * BIT_TIME),
            rx_level: false,
            inputs,
            outputs,
        };
        core.reset(false, false);
        Ok(core)
    }

    /// Which one was built.
    pub const fn width(&self) -> Width {
        self.width
    }

    /// Time of the next rising edge of the core's clock.
    pub const fn time(&self) -> u64 {
        self.time
    }

    /// Sets PWROK and RESET#.
    pub fn reset(&mut self, pwrok: bool, reset: bool) {
        self.model.set(self.inputs.pwrok, pwrok.into());
        self.model.set(self.inputs.reset, reset.into());
    }

    /// Lets one clock of the core pass: its rising edge, and all edges before the next one.
    pub fn clock(&mut self, link: &mut impl Link) {
        let end = self.time + CORE_CLOCK;
        let mut tx_next = self.time;
        while tx_next < end || self.rx_next < end {
            let now = tx_next.min(self.rx_next);
            if now == self.rx_next {
                let (pins, shift) = link.drive(now);
                self.model.set(self.inputs.rx_cad, pins.cad.into());
                self.model.set(self.inputs.rx_ctl, pins.ctl.into());
                self.rx_level = !self.rx_level;
                self.model.set(self.inputs.rx_clk, self.rx_level.into());
                self.rx_next = (now + BIT_TIME).saturating_add_signed(shift).max(now + 1);
            }
            let tx = now == tx_next;
            if tx {
                let half = (now - self.time) / BIT_TIME;
                self.model
                    .set(self.inputs.tx_clk, u64::from(half.is_multiple_of(2)));
                self.model.set(self.inputs.core_clk, u64::from(half < 2));
                tx_next += BIT_TIME;
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
        self.time = end;
    }

    /// Channels with a received command, as bits.
    pub fn cmd_valid(&self) -> u64 {
        self.model.get(self.outputs.rx_cmd_valid)
    }

    /// The received command of a channel.
    pub fn cmd(&self, channel: usize) -> Command {
        Command {
            dwords: self.model.get_bits(self.outputs.rx_cmd, 96 * channel),
            rest: self.model.get_bits(self.outputs.rx_cmd, 96 * channel + 64) as u32,
        }
    }

    /// Channels with received data, as bits.
    pub fn data_valid(&self) -> u64 {
        self.model.get(self.outputs.rx_data_valid)
    }

    /// The received data of a channel, and whether it is the last of its packet.
    pub fn data(&self, channel: usize) -> (u64, bool) {
        let last = self.model.get(self.outputs.rx_data_last) >> channel & 1 == 1;
        (
            self.model.get_bits(self.outputs.rx_data, 64 * channel),
            last,
        )
    }

    /// Channels whose command and data are taken at the next edge.
    pub fn take(&mut self, cmd: u64, data: u64) {
        self.model.set(self.inputs.rx_cmd_ready, cmd);
        self.model.set(self.inputs.rx_data_ready, data);
    }

    /// Channels that have room for a command, and for a word of data.
    pub fn room(&self) -> (u64, u64) {
        (
            self.model.get(self.outputs.tx_cmd_ready),
            self.model.get(self.outputs.tx_data_ready),
        )
    }

    /// Channels in which the next edge finds a command and data.
    pub fn give(&mut self, cmd: u64, data: u64) {
        self.model.set(self.inputs.tx_cmd_valid, cmd);
        self.model.set(self.inputs.tx_data_valid, data);
    }

    /// The command that a channel is to send.
    pub fn set_cmd(&mut self, channel: usize, command: Command) {
        let at = 96 * channel;
        self.model
            .set_bits(self.inputs.tx_cmd, at, 64, command.dwords);
        self.model
            .set_bits(self.inputs.tx_cmd, at + 64, 32, command.rest.into());
    }

    /// The word that a channel is to send.
    pub fn set_data(&mut self, channel: usize, word: u64) {
        self.model
            .set_bits(self.inputs.tx_data, 64 * channel, 64, word);
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
