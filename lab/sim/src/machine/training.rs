//! Resets, and what links become after them.
//!
//! Source: HyperTransport low-level initialisation; paper, IV.B: two Opterons
//! identify themselves as coherent unless the debug register says otherwise,
//! and settings take effect at a warm reset.

use crate::engine::Ps;
use crate::models::ht::LinkMode;
use crate::models::ht::opteron::registers::{
    END_OF_CHAIN, FORCE_NONCOHERENT, FREQUENCY_MHZ, INIT_COMPLETE, LINK_CONNECTED, LINK_CONTROL,
    LINK_FAIL, LINK_FREQUENCY, LINK_FREQUENCY_EXT, LINK_NONCOHERENT, LINK_READY, LINK_RETRY,
    LINK_TYPE, LINKS, Registers,
};

use super::{Machine, WireEnd};

/// Time for buffers to be announced after initialisation. The first NOPs need
/// a few hundred nanoseconds at 200 MHz and 8 bits.
const SETTLE: Ps = Ps::from_us(1);

/// Kinds of reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// Power up: all registers start over, links at 200 MHz and 8 bits.
    Cold,
    /// RESET# alone: link settings take effect.
    Warm,
}

/// Why a link did not initialise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainingFailure {
    /// Only one end was in reset.
    #[error("only one end was reset; both must be reset together")]
    NotTogether,
    /// The ends disagree about the clock.
    #[error("the ends are set to {a} MHz and {b} MHz")]
    Frequency {
        /// Clock of end A.
        a: u32,
        /// Clock of end B.
        b: u32,
    },
    /// The ends disagree about a width.
    #[error("one end sends {out} bits, the other takes {into}")]
    Width {
        /// Width of the sender.
        out: u8,
        /// Width of the receiver.
        into: u8,
    },
    /// The medium does not carry the clock.
    #[error("{mhz} MHz is too fast for a medium of at most {max} MHz")]
    TooFast {
        /// Clock asked for.
        mhz: u32,
        /// Clock of the medium.
        max: u32,
    },
    /// One end forces the link non-coherent, the other does not.
    #[error("one end is forced non-coherent, the other is not")]
    Identity,
    /// A clock of 1,200 MHz and more needs retry at both ends.
    #[error("{mhz} MHz without retry enabled at both ends")]
    NoRetry {
        /// Clock asked for.
        mhz: u32,
    },
}

#[derive(Clone, Copy)]
struct Wish {
    mhz: u32,
    width_in_bits: u8,
    width_out_bits: u8,
    noncoherent: bool,
    retry: bool,
}

impl Machine {
    /// Resets the given systems at the same time and trains their links.
    /// Returns the links that failed, by wire.
    pub fn reset(&mut self, kind: Reset, systems: &[usize]) -> Vec<(usize, TrainingFailure)> {
        for socket in 0..self.sockets.len() {
            if !systems.contains(&self.sockets[socket].system) {
                continue;
            }
            let bootstrap = self.sockets[socket].bootstrap;
            let opteron = self.socket_mut(socket);
            opteron.reset();
            match kind {
                Reset::Cold => opteron.registers = Registers::cold(bootstrap),
                Reset::Warm => opteron.registers.warm(bootstrap),
            }
            for link in 0..LINKS {
                if self.across(socket, link).is_none() {
                    let registers = &mut self.socket_mut(socket).registers;
                    let control = registers.read_link(link, LINK_CONTROL);
                    registers.write_link(link, LINK_CONTROL, control | LINK_FAIL | END_OF_CHAIN);
                }
            }
        }
        let mut failures = Vec::new();
        for wire in 0..self.wires.len() {
            let reset = match self.wires[wire].ends.map(|end| self.is_reset(end, systems)) {
                // A device is reset with its processor.
                [Some(reset), None] | [None, Some(reset)] => [reset; 2],
                [a, b] => [a == Some(true), b == Some(true)],
            };
            let outcome = match reset {
                [true, true] => self.agree(wire),
                [false, false] => continue,
                _ => Err(TrainingFailure::NotTogether),
            };
            self.settle(wire, outcome);
            failures.extend(outcome.err().map(|failure| (wire, failure)));
        }
        self.pass(SETTLE);
        failures
    }

    fn is_reset(&self, end: WireEnd, systems: &[usize]) -> Option<bool> {
        match end {
            WireEnd::Socket { socket, .. } => Some(systems.contains(&self.sockets[socket].system)),
            WireEnd::Southbridge { .. } | WireEnd::Adapter { .. } => None,
        }
    }

    /// The mode that both ends want, if they agree.
    fn agree(&self, wire: usize) -> Result<LinkMode, TrainingFailure> {
        let wire = &self.wires[wire];
        let (a, b) = match wire.ends.map(|end| self.wish(end)) {
            [Some(a), Some(b)] => (a, b),
            // A device follows its host.
            [Some(a), None] | [None, Some(a)] => {
                let b = Wish {
                    width_in_bits: a.width_out_bits,
                    width_out_bits: a.width_in_bits,
                    ..a
                };
                (
                    Wish {
                        noncoherent: true,
                        ..a
                    },
                    Wish {
                        noncoherent: true,
                        ..b
                    },
                )
            }
            [None, None] => return Err(TrainingFailure::Identity),
        };
        if a.mhz != b.mhz {
            return Err(TrainingFailure::Frequency { a: a.mhz, b: b.mhz });
        }
        for (out, into) in [
            (a.width_out_bits, b.width_in_bits),
            (b.width_out_bits, a.width_in_bits),
        ] {
            if out != into {
                return Err(TrainingFailure::Width { out, into });
            }
        }
        if a.mhz > wire.mhz_max {
            return Err(TrainingFailure::TooFast {
                mhz: a.mhz,
                max: wire.mhz_max,
            });
        }
        if a.noncoherent != b.noncoherent {
            return Err(TrainingFailure::Identity);
        }
        if a.mhz >= 1_200 && !(a.retry && b.retry) {
            return Err(TrainingFailure::NoRetry { mhz: a.mhz });
        }
        Ok(LinkMode {
            width_ab_bits: a.width_out_bits,
            width_ba_bits: b.width_out_bits,
            mhz: a.mhz,
            retry: a.mhz >= 1_200,
            noncoherent: a.noncoherent,
        })
    }

    fn wish(&self, end: WireEnd) -> Option<Wish> {
        let WireEnd::Socket { socket, link } = end else {
            return None;
        };
        let registers = &self.socket(socket).registers;
        let control = registers.read_link(link, LINK_CONTROL);
        let code = registers.read_link(link, LINK_FREQUENCY) >> 8 & 0xf
            | (registers.read_link(link, LINK_FREQUENCY_EXT) & 1) << 4;
        Some(Wish {
            mhz: FREQUENCY_MHZ.get(code as usize).copied().unwrap_or(0),
            width_in_bits: width_bits(control >> 24 & 0x7),
            width_out_bits: width_bits(control >> 28 & 0x7),
            noncoherent: registers.read(0, FORCE_NONCOHERENT) >> link & 1 == 1,
            retry: registers.read(0, LINK_RETRY + 4 * u16::from(link)) & 1 == 1,
        })
    }

    /// Tells link and registers what came of the training.
    fn settle(&mut self, wire: usize, outcome: Result<LinkMode, TrainingFailure>) {
        let now = self.sim.now();
        let component = self.wires[wire].link;
        match outcome {
            Ok(mode) => {
                let (after, ready) = self.link_mut(wire).train(now, mode);
                // `now + after` is not in the past and the component exists.
                let _ = self.sim.inject(now + after, component, ready);
            }
            Err(failure) => self.link_mut(wire).take_down(failure.to_string()),
        }
        for end in self.wires[wire].ends {
            let WireEnd::Socket { socket, link } = end else {
                continue;
            };
            let registers = &mut self.socket_mut(socket).registers;
            let control = registers.read_link(link, LINK_CONTROL) & !(LINK_FAIL | INIT_COMPLETE);
            let (control, link_type) = match outcome {
                Ok(mode) => {
                    let noncoherent = if mode.noncoherent {
                        LINK_NONCOHERENT
                    } else {
                        0
                    };
                    (
                        control | INIT_COMPLETE,
                        LINK_CONNECTED | LINK_READY | noncoherent,
                    )
                }
                Err(_) => (control | LINK_FAIL, LINK_CONNECTED),
            };
            registers.write_link(link, LINK_CONTROL, control);
            registers.write_link(link, LINK_TYPE, link_type);
        }
    }
}

/// Width codes. Source: HyperTransport link configuration register.
fn width_bits(code: u32) -> u8 {
    match code {
        0b001 => 16,
        0b011 => 32,
        0b100 => 2,
        0b101 => 4,
        _ => 8,
    }
}
