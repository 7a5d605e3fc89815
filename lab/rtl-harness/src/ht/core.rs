//! The model of `ht_core`: its pins and clocks ([`Chip`]), and its queues.

use crate::model::{Error, Files, In, Out};

use super::chip::Chip;
use super::pins::Link;

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

/// The core.
pub struct Core {
    /// Pins and clocks.
    pub chip: Chip,
    width: Width,
    inputs: Inputs,
    outputs: Outputs,
}

struct Inputs {
    rx_cmd_ready: In,
    rx_data_ready: In,
    tx_cmd_valid: In,
    tx_cmd: In,
    tx_data_valid: In,
    tx_data: In,
}

struct Outputs {
    rx_cmd_valid: Out,
    rx_cmd: Out,
    rx_data_valid: Out,
    rx_data: Out,
    rx_data_last: Out,
    tx_cmd_ready: Out,
    tx_data_ready: Out,
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
    /// As [`Chip::new`].
    pub fn new(width: Width, design: &str, phase: u64, files: Files) -> Result<Self, Error> {
        let chip = Chip::new(design, phase, files)?;
        let model = &chip.model;
        let inputs = Inputs {
            rx_cmd_ready: model.input("rx_cmd_ready_i")?,
            rx_data_ready: model.input("rx_data_ready_i")?,
            tx_cmd_valid: model.input("tx_cmd_valid_i")?,
            tx_cmd: model.input("tx_cmd_i")?,
            tx_data_valid: model.input("tx_data_valid_i")?,
            tx_data: model.input("tx_data_i")?,
        };
        let outputs = Outputs {
            rx_cmd_valid: model.output("rx_cmd_valid_o")?,
            rx_cmd: model.output("rx_cmd_o")?,
            rx_data_valid: model.output("rx_data_valid_o")?,
            rx_data: model.output("rx_data_o")?,
            rx_data_last: model.output("rx_data_last_o")?,
            tx_cmd_ready: model.output("tx_cmd_ready_o")?,
            tx_data_ready: model.output("tx_data_ready_o")?,
        };
        Ok(Self {
            chip,
            width,
            inputs,
            outputs,
        })
    }

    /// Which one was built.
    pub const fn width(&self) -> Width {
        self.width
    }

    /// Time of the next rising edge of the core's clock.
    pub const fn time(&self) -> u64 {
        self.chip.time()
    }

    /// Lets one clock of the core pass: its rising edge, and all edges before the next one.
    pub fn clock(&mut self, link: &mut impl Link) {
        self.chip.clock(link);
    }

    /// Channels with a received command, as bits.
    pub fn cmd_valid(&self) -> u64 {
        self.chip.model.get(self.outputs.rx_cmd_valid)
    }

    /// The received command of a channel.
    pub fn cmd(&self, channel: usize) -> Command {
        Command {
            dwords: self.chip.model.get_bits(self.outputs.rx_cmd, 96 * channel),
            rest: self
                .chip
                .model
                .get_bits(self.outputs.rx_cmd, 96 * channel + 64) as u32,
        }
    }

    /// Channels with received data, as bits.
    pub fn data_valid(&self) -> u64 {
        self.chip.model.get(self.outputs.rx_data_valid)
    }

    /// The received data of a channel, and whether it is the last of its packet.
    pub fn data(&self, channel: usize) -> (u64, bool) {
        let last = self.chip.model.get(self.outputs.rx_data_last) >> channel & 1 == 1;
        (
            self.chip.model.get_bits(self.outputs.rx_data, 64 * channel),
            last,
        )
    }

    /// Channels whose command and data are taken at the next edge.
    pub fn take(&mut self, cmd: u64, data: u64) {
        self.chip.model.set(self.inputs.rx_cmd_ready, cmd);
        self.chip.model.set(self.inputs.rx_data_ready, data);
    }

    /// Channels that have room for a command, and for a word of data.
    pub fn room(&self) -> (u64, u64) {
        (
            self.chip.model.get(self.outputs.tx_cmd_ready),
            self.chip.model.get(self.outputs.tx_data_ready),
        )
    }

    /// Channels in which the next edge finds a command and data.
    pub fn give(&mut self, cmd: u64, data: u64) {
        self.chip.model.set(self.inputs.tx_cmd_valid, cmd);
        self.chip.model.set(self.inputs.tx_data_valid, data);
    }

    /// The command that a channel is to send.
    pub fn set_cmd(&mut self, channel: usize, command: Command) {
        let at = 96 * channel;
        self.chip
            .model
            .set_bits(self.inputs.tx_cmd, at, 64, command.dwords);
        self.chip
            .model
            .set_bits(self.inputs.tx_cmd, at + 64, 32, command.rest.into());
    }

    /// The word that a channel is to send.
    pub fn set_data(&mut self, channel: usize, word: u64) {
        self.chip
            .model
            .set_bits(self.inputs.tx_data, 64 * channel, 64, word);
    }
}
