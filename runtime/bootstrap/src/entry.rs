//! What a wire exports: its entry in the table of wires.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire_transport::faults::Faults;
use hostwire_transport::terms::Terms;
use hostwire_transport::{PeId, TransportError, Wire};

use crate::settings::{Setting, SettingError};
use crate::{Bootstrap, LaunchError, Nodes};

/// An entry of the table of wires.
#[derive(Debug)]
pub struct Entry {
    /// Its name in the setting `HOSTWIRE_WIRE`.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// What a process has to have or be allowed to use it.
    pub needs: &'static str,
    /// How its PEs meet.
    pub meeting: Meets,
    /// Whether it goes through network interfaces.
    pub is_network: bool,
    /// Whether it sends without encryption, so that the settings have to allow it.
    pub wants_insecure: bool,
    /// For the choice by speed: a wire with a larger number is faster. A wire with 0 is used only by name.
    pub speed: u32,
    /// The setting that names it, if all PEs of a job have to name it, or none.
    pub named_by_all: Option<&'static str>,
    /// Whether it is for tests of the library alone.
    pub is_for_tests: bool,
    /// Its settings. Wires of one crate have the same.
    pub settings: &'static [&'static Setting],
    /// The name and the meaning of its counters. Wires of one crate have the same.
    pub counters: fn() -> Counters,
}

/// The name and the meaning of counters.
pub type Counters = Vec<(&'static str, &'static str)>;

/// Makes a wire around shared memory.
pub type Around = fn(Arc<dyn Wire>) -> Result<Arc<dyn Wire>, TransportError>;

/// How the PEs of a job meet over a wire.
#[derive(Clone, Copy, Debug)]
pub enum Meets {
    /// All are on one host, and share memory. The wire is a wrapper around it.
    OnHost(Around),
    /// By this function, wherever they are.
    Anywhere(fn(Joining<'_>) -> Result<Joined, JoinError>),
    /// By shared memory if all are on one host, else by this function.
    BetweenHosts(fn(Joining<'_>) -> Result<Joined, JoinError>),
}

impl Entry {
    /// An entry with defaults.
    pub const fn new(name: &'static str, summary: &'static str, meeting: Meets) -> Self {
        Self {
            name,
            summary,
            needs: "nothing",
            meeting,
            is_network: false,
            wants_insecure: false,
            speed: 0,
            named_by_all: None,
            is_for_tests: false,
            settings: &[],
            counters: Vec::new,
        }
    }

    /// Whether it goes from host to host.
    pub const fn spans_hosts(&self) -> bool {
        !matches!(self.meeting, Meets::OnHost(_))
    }
}

/// The input of a PE that joins the others over a wire.
pub struct Joining<'a> {
    /// The launcher.
    pub launcher: &'a mut dyn Bootstrap,
    /// Where the PEs are.
    pub nodes: &'a Nodes,
    /// The terms of the job, and until when PEs wait for each other.
    pub segment: &'a Segment,
    /// The name of the wire; `None`: the fastest.
    pub wire: Option<&'static str>,
    /// How long a PE may be silent before it is lost.
    pub lost_after: Duration,
    /// Faults on purpose.
    pub faults: Option<Faults>,
    /// Nothing is encrypted.
    pub is_insecure: bool,
    /// Whether PE 0 says which wire it takes, and why.
    pub says_choice: bool,
    /// The value of a variable of the environment: for the settings of the wire.
    pub lookup: &'a dyn Fn(&str) -> Option<String>,
}

/// The result of joining.
pub struct Joined {
    /// The wire to all others.
    pub wire: Arc<dyn Wire>,
    /// Its name.
    pub name: &'static str,
}

/// The terms of the job, and the deadline for joining.
pub struct Segment {
    /// The terms, which are the same at all PEs.
    pub terms: Terms,
    /// Until when they wait for each other.
    pub deadline: Instant,
}

/// The error if a value of PE `pe` about itself makes no sense. `seen` is the value without its secrets.
pub fn unclear(pe: PeId, seen: &str) -> LaunchError {
    let seen = seen.chars().take(80).collect();
    LaunchError::Card { pe, seen }
}

/// Why a PE cannot join the others over a wire.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JoinError {
    /// The launcher, or a value of another PE about itself.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The machine, the network or a peer.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A setting of the wire.
    #[error(transparent)]
    Setting(#[from] SettingError),
}
