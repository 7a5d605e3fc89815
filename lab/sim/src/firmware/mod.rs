//! The firmware of TCCluster, as code against registers.
//!
//! Each system runs the same code on its bootstrap processor. All register
//! access goes through the fabric: to reach a processor the access follows the
//! routing rows that the firmware has written, over links that are up. The
//! sequence is that of the paper's section V:
//!
//! cold reset, coherent enumeration without TCCluster links, force
//! non-coherent, frequency, warm reset, coherent enumeration again,
//! northbridge, memory types, memory, leave cache-as-RAM, I/O enumeration
//! without TCCluster links, hand-over to the operating system, remote mapping.
//!
//! [`Measure`] names what TCCluster adds to or changes in that sequence. A
//! measure can be left out, and then the fault that the paper describes happens.

mod access;
mod coherent;
mod io;
mod links;
mod log;
mod northbridge;
mod os;

pub use log::{BootLog, LogLine};

use std::collections::BTreeSet;

use crate::engine::Ps;
use crate::machine::{Machine, Reset, TrainingFailure};

/// A step of the boot sequence, or a part of one, that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Both systems come out of cold reset; links initialise.
    ColdReset,
    /// The processors of a system are found and numbered.
    CoherentEnumeration,
    /// Coherent enumeration ignores TCCluster links.
    IgnoreInCoherentEnumeration,
    /// The debug register of both ends is set.
    ForceNoncoherent,
    /// Width and frequency are raised.
    LinkSpeed,
    /// All systems issue a warm reset.
    WarmReset,
    /// They do so at the same time.
    WarmResetTogether,
    /// NodeID, address ranges and routing rows.
    NorthbridgeInit,
    /// Memory types.
    MsrInit,
    /// Memory controllers.
    MemoryInit,
    /// Firmware leaves cache-as-RAM.
    ExitCar,
    /// Devices on non-coherent links are found.
    IoEnumeration,
    /// That enumeration ignores TCCluster links.
    IgnoreInIoEnumeration,
    /// The kernel sends no system management calls.
    CustomKernel,
    /// The driver maps remote memory into the program.
    RemoteMapping,
}

/// How to boot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootOptions {
    /// The measures that are left out.
    pub omit: BTreeSet<Measure>,
    /// How long things take.
    pub times: BootTimes,
}

/// What takes time while a system boots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootTimes {
    /// A register access by code that runs from ROM with the cache as RAM.
    pub rom_access: Ps,
    /// A register access by code that runs from memory.
    pub memory_access: Ps,
    /// Training a memory controller.
    pub memory_init: Ps,
}

impl Default for BootTimes {
    /// Assumed: a ROM fetch of a few instructions over the southbridge against a cached one; training
    /// takes milliseconds, and what matters here is only that it is long against register accesses.
    fn default() -> Self {
        BootTimes {
            rom_access: Ps::from_us(2),
            memory_access: Ps::from_ns(200),
            memory_init: Ps::from_us(5_000),
        }
    }
}

impl BootOptions {
    /// Everything but one measure.
    pub fn without(measure: Measure) -> BootOptions {
        BootOptions {
            omit: [measure].into(),
            ..BootOptions::default()
        }
    }

    fn does(&self, measure: Measure) -> bool {
        !self.omit.contains(&measure)
    }
}

/// Why a system did not boot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BootFailure {
    /// No configuration access gets to a processor.
    #[error("no configuration access reaches node {node}: {why}")]
    Unreachable {
        /// NodeID.
        node: u8,
        /// Where it ended.
        why: String,
    },
    /// Enumeration found processors of other systems, or too few.
    #[error("coherent enumeration found {found} processors, the system has {expected}: {extra}")]
    Topology {
        /// Number found.
        found: usize,
        /// Number in the plan.
        expected: usize,
        /// What is wrong with them.
        extra: String,
    },
    /// A configuration read was sent over a link and never answered.
    #[error(
        "the configuration read over link {link} of {socket} is never answered: a processor is at its other end"
    )]
    NoAnswer {
        /// Socket with the link.
        socket: String,
        /// The link.
        link: u8,
    },
    /// The operating system cannot start.
    #[error("the operating system cannot start: {why}")]
    HandOver {
        /// Why.
        why: &'static str,
    },
    /// The bootstrap processor has no code to run.
    #[error("{socket} fetches no code: the link to its southbridge is not initialised")]
    NoCode {
        /// The bootstrap processor.
        socket: String,
    },
    /// A system has no processor with a southbridge.
    #[error("system {system} has no southbridge, so nobody boots it")]
    NoBootstrap {
        /// The system.
        system: usize,
    },
}

/// A failed boot with what was logged before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("system {system}: {failure}\n{log}")]
pub struct BootError {
    /// The system that failed first.
    pub system: usize,
    /// Why.
    pub failure: BootFailure,
    /// The log so far.
    pub log: BootLog,
}

/// Boots all systems of a machine.
///
/// # Errors
/// [`BootError`] if one system does not get to its operating system.
pub fn boot(machine: &mut Machine, options: &BootOptions) -> Result<BootLog, Box<BootError>> {
    let mut boot = Boot::new(machine, options);
    match boot.run() {
        Ok(()) => Ok(boot.log),
        Err((system, failure)) => Err(Box::new(BootError {
            system,
            failure,
            log: boot.log,
        })),
    }
}

/// Boots by the whole sequence.
///
/// # Errors
/// As [`boot`].
pub fn boot_all(machine: &mut Machine) -> Result<BootLog, Box<BootError>> {
    boot(machine, &BootOptions::default())
}

type Outcome = Result<(), (usize, BootFailure)>;

struct Boot<'a> {
    machine: &'a mut Machine,
    options: &'a BootOptions,
    log: BootLog,
    /// By system: its bootstrap socket.
    bootstrap: Vec<Option<usize>>,
    /// By system: sockets in the order in which they were found, that is, by
    /// the NodeID of the enumeration.
    found: Vec<Vec<usize>>,
    /// By system: code and stack are in cache and ROM, not in memory.
    car: Vec<bool>,
}

impl<'a> Boot<'a> {
    fn new(machine: &'a mut Machine, options: &'a BootOptions) -> Boot<'a> {
        let systems = machine.systems();
        let mut bootstrap = vec![None; systems];
        for (index, socket) in machine.sockets().iter().enumerate() {
            if socket.bootstrap && bootstrap[socket.system].is_none() {
                bootstrap[socket.system] = Some(index);
            }
        }
        Boot {
            machine,
            options,
            log: BootLog::default(),
            bootstrap,
            found: vec![Vec::new(); systems],
            car: vec![true; systems],
        }
    }

    fn run(&mut self) -> Outcome {
        self.reset(Reset::Cold, Measure::ColdReset);
        self.each(|boot, system| boot.enumerate_coherent(system))?;
        self.each(|boot, system| boot.configure_links(system))?;
        self.reset(Reset::Warm, Measure::WarmReset);
        self.each(|boot, system| boot.enumerate_coherent(system))?;
        self.each(|boot, system| boot.init_northbridges(system))?;
        self.each(|boot, system| boot.init_msrs(system))?;
        self.each(|boot, system| boot.init_memory(system))?;
        self.each(|boot, system| boot.exit_car(system))?;
        self.each(|boot, system| boot.enumerate_io(system))?;
        self.each(|boot, system| boot.hand_over(system))?;
        self.each(|boot, system| boot.map_remote(system))
    }

    /// Systems boot side by side; the model runs one after the other and lets
    /// the time of both pass.
    fn each(&mut self, step: impl Fn(&mut Self, usize) -> Result<(), BootFailure>) -> Outcome {
        for system in 0..self.machine.systems() {
            step(self, system).map_err(|failure| (system, failure))?;
        }
        Ok(())
    }

    fn reset(&mut self, kind: Reset, measure: Measure) {
        let name = if kind == Reset::Cold {
            "cold reset"
        } else {
            "warm reset"
        };
        if !self.options.does(measure) {
            self.note(0, format!("{name}: left out"));
            return;
        }
        let all: Vec<usize> = (0..self.machine.systems()).collect();
        let together = kind == Reset::Cold || self.options.does(Measure::WarmResetTogether);
        let failures = match together {
            true => self.machine.reset(kind, &all),
            false => all
                .iter()
                .flat_map(|&system| self.machine.reset(kind, &[system]))
                .collect(),
        };
        self.note(
            0,
            format!(
                "{name} of {} systems{}",
                all.len(),
                if together {
                    ""
                } else {
                    ", one after the other"
                }
            ),
        );
        self.log_links(&failures);
    }

    fn log_links(&mut self, failures: &[(usize, TrainingFailure)]) {
        for wire in 0..self.machine.wires().len() {
            let name = self
                .machine
                .sim
                .name(self.machine.wires()[wire].link)
                .unwrap_or_default()
                .to_string();
            let failure = failures.iter().find(|(failed, _)| *failed == wire);
            let text = match (self.machine.link(wire).mode(), failure) {
                (Some(mode), _) => format!(
                    "link {name}: {} bit, {} MHz, {}",
                    mode.width_ab_bits,
                    mode.mhz,
                    if mode.noncoherent {
                        "non-coherent"
                    } else {
                        "coherent"
                    }
                ),
                (None, Some((_, failure))) => format!("link {name}: failed: {failure}"),
                (None, None) => format!("link {name}: down"),
            };
            self.note(0, text);
        }
    }

    fn note(&mut self, system: usize, text: impl Into<String>) {
        self.log.push(self.machine.sim.now(), system, text.into());
    }

    /// One register access takes its time.
    fn tick(&mut self, system: usize) {
        let cost = if self.car[system] {
            self.options.times.rom_access
        } else {
            self.options.times.memory_access
        };
        self.machine.pass(cost);
    }
}
