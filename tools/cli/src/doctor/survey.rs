//! What hosts find out about each other: the part of `hostwire doctor --on` that runs on each of them, as a PE.

use std::process::ExitCode;
use std::time::Duration;

use hostwire_bootstrap::{Bootstrap, Deadline, JoinError, all_gather, unclear};
use hostwire_frames::join::trial::{self, Clock, Heard, Trial};
use hostwire_frames::settings::Settings;
use hostwire_frames::{FrameWire, Interface};
use hostwire_transport::printable;
use rustix::system::uname;
use serde::{Deserialize, Serialize};

use crate::report;

/// The name of the hidden command that [`main`] is behind.
pub const COMMAND: &str = "__doctor-pe";
/// How long hosts wait for each other, and how long frames of one wire are sent.
const MEET: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_millis(1500);

/// A host, as it sees itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Its kernel.
    pub kernel: String,
    /// Name and MTU of each interface that a job would use, or why there is none.
    pub interfaces: Result<Vec<(String, usize)>, String>,
}

/// The way to a host from another one over a wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// The longest frame that arrived, and the longest that was sent.
    pub longest_bytes: usize,
    pub full_bytes: usize,
    /// By how many nanoseconds the other clock is ahead, and the error of that.
    pub clock: Option<(i64, u64)>,
}

/// All that was found out about a wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfWire {
    pub wire: String,
    /// By host: why it cannot use it.
    pub refused: Vec<Option<String>>,
    /// By host, then by the other one that it has heard.
    pub ways: Vec<Vec<Way>>,
}

/// All that was found out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survey {
    pub hosts: Vec<Facts>,
    pub wires: Vec<OfWire>,
}

/// Takes part in a survey. PE 0 prints it.
pub fn main() -> ExitCode {
    match survey() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::line(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn survey() -> Result<(), JoinError> {
    let settings = Settings::from_env()?;
    let launcher = hostwire_bootstrap::connect(true, Deadline::after(MEET))?;
    let Some(mut launcher) = launcher else {
        return Ok(());
    };
    let names = settings.interfaces.as_deref().unwrap_or_default();
    let interfaces = Interface::choose_all(names);
    let hosts = all_facts(
        &mut *launcher,
        &interfaces.as_deref().map_err(ToString::to_string),
    )?;
    let mut wires = Vec::new();
    // One after another: frames of one kind may come to the socket of another.
    let mut order = FrameWire::fastest_first();
    let by_name = FrameWire::ALL
        .into_iter()
        .filter(|wire| !order.contains(wire));
    order.extend(by_name.collect::<Vec<_>>());
    for wire in order {
        let (found, ether_type) = (interfaces.as_deref(), settings.ether_type);
        let trial = trial::attempt(&mut *launcher, wire, found, ether_type, LIMIT)?;
        wires.push(OfWire::new(wire, trial));
    }
    if launcher.rank() == 0 {
        match serde_json::to_string(&Survey { hosts, wires }) {
            Ok(text) => report::out(&text),
            Err(error) => report::line(&error.to_string()),
        }
    }
    Ok(launcher.finalize()?)
}

fn all_facts(
    launcher: &mut dyn Bootstrap,
    interfaces: &Result<&[Interface], String>,
) -> Result<Vec<Facts>, JoinError> {
    let names = |found: &&[Interface]| {
        let found = found.iter();
        found.map(|one| (one.name.clone(), one.mtu_bytes)).collect()
    };
    let system = uname();
    let own = Facts {
        kernel: system.release().to_string_lossy().into_owned(),
        interfaces: interfaces.as_ref().map(names).map_err(Clone::clone),
    };
    let own = serde_json::to_string(&own).unwrap_or_default();
    let all = all_gather(launcher, "facts", own.as_bytes())?;
    let read = (0..).zip(&all).map(|(pe, text)| {
        let facts = serde_json::from_slice(text);
        facts.map_err(|_| unclear(pe, &printable(&String::from_utf8_lossy(text))).into())
    });
    read.collect()
}

impl OfWire {
    fn new(wire: FrameWire, trial: Trial) -> Self {
        let way = |heard: Heard| Way {
            longest_bytes: heard.longest_bytes,
            full_bytes: heard.full_bytes,
            clock: heard
                .clock
                .map(|Clock { ahead_ns, error_ns }| (ahead_ns, error_ns)),
        };
        let ways = trial.heard.into_iter();
        Self {
            wire: wire.to_string(),
            refused: trial.offers.into_iter().map(Result::err).collect(),
            ways: ways.map(|of| of.into_iter().map(way).collect()).collect(),
        }
    }

    /// The way from one host to another, if both can use the wire.
    pub fn way(&self, from: usize, to: usize) -> Option<Way> {
        let can = |host: usize| self.refused.get(host).is_some_and(Option::is_none);
        let way = self.ways.get(to)?.get(from)?;
        (from != to && can(from) && can(to)).then_some(*way)
    }
}

impl Way {
    /// Whether frames of full length arrive.
    pub fn is_open(self) -> bool {
        self.full_bytes > 0 && self.longest_bytes >= self.full_bytes
    }
}
