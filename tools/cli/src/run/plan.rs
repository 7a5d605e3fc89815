//! The processes to start, checked as far as possible before any is started.

mod far;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hostwire::settings::{
    ATTACH_TIMEOUT, HEAP, INSECURE_WIRE, RECORD, RING, Settings, WIRE, WireChoice, WireName,
};
use hostwire_transport::os::hosts::{HostPlace, Hosts};
use hostwire_transport::record;

pub use far::HostPlan;

use super::args::Args;
use super::bind::{Bind, Binding};
use super::copies::Copies;
use super::front::Front;
use super::given::Given;
use super::limits::{self, NofileLimit};
use super::program;
use super::start_error::StartError;
use super::virtual_time::{Clocks, Models, VirtualTime};

/// How long PEs wait for each other at the start of a job that somebody debugs: a day.
const DEBUGGED_TIMEOUT_S: &str = "86400";

/// A job that can be started.
pub struct Plan {
    pub pes: u32,
    pub settings: Settings,
    /// Settings, as PEs are to find them, and other variables that they get.
    pub environment: Vec<(OsString, OsString)>,
    /// What is started on other hosts; then no PE is started by this process.
    pub far: Vec<HostPlan>,
    /// What is copied to those hosts first.
    pub copies: Copies,
    /// The model of the hardware, if there is one, until the simulator takes it.
    pub virtual_time: Option<VirtualTime>,
    /// The clocks of the model.
    pub clocks: Option<Clocks>,
    /// Where the PEs are started, if not on this host.
    hosts: Option<Hosts>,
    pub program: PathBuf,
    /// What is put before the program.
    pub front: Front,
    /// The name of the program as it was given, then its arguments.
    pub command: Vec<OsString>,
    pub binding: Binding,
    /// The limit of open files that the PEs start with.
    pub nofile: NofileLimit,
    pub timeout: Option<Duration>,
    pub grace: Duration,
    pub label: bool,
    pub keep_going: bool,
    pub stats: bool,
}

impl Plan {
    /// Checks `args` against this machine. Modelled hardware is one of `models`.
    pub fn new(args: &Args, models: Option<&dyn Models>) -> Result<Plan, StartError> {
        let given = &args.settings;
        let settings = given.settings()?;
        let wire = settings.wire;
        if let Some(names) = far::names(args)? {
            return far::plan(args, settings, &names);
        }
        let pes = args.pes_of_host()?;
        let name = args.command.first().cloned().unwrap_or_default();
        let program = program::find(&name, std::env::var_os("PATH").as_deref())?;
        args.front.check(pes)?;
        let front = Front::new(&args.front)?;
        check_memory(given, &settings, pes, pes)?;
        limits::check_processes(pes)?;
        let virtual_time = virtual_time(args, &settings, models)?;
        let clocks = virtual_time.as_ref().map(|_| Clocks::find()).transpose()?;
        let binding = match virtual_time {
            // One runs at a time: changing between CPUs costs more than it gains.
            Some(_) if args.bind == Bind::Auto => Binding::to_one_cpu()?,
            _ => Binding::new(&args.bind, pes)?,
        };
        prepare_record(given, &settings)?;
        let hosts = hosts(args, wire)?;
        let nofile = limits::make_room_for_descriptors(pes)?;
        let patience = patience(&front, given);
        Ok(Plan {
            pes,
            environment: [patience, owned(given.environment(wire)), far::chosen(args)?].concat(),
            far: Vec::new(),
            copies: Copies::default(),
            settings,
            virtual_time,
            clocks,
            hosts,
            program,
            front,
            command: args.command.clone(),
            binding,
            nofile,
            timeout: args.timeout,
            grace: args.grace,
            label: args.label,
            keep_going: args.keep_going,
            stats: args.stats,
        })
    }

    /// Whether the PEs are started on several hosts.
    pub fn has_hosts(&self) -> bool {
        self.hosts.is_some() || self.far.len() > 1
    }

    /// The host of a PE: the first PEs are on the first one.
    pub fn host_of(&self, pe: u32) -> Option<HostPlace> {
        let hosts = self.hosts.as_ref()?;
        let host = u64::from(pe) * u64::from(hosts.count()) / u64::from(self.pes.max(1));
        hosts.place(host as u32)
    }

    /// The name of the program as it was given.
    pub fn name(&self) -> String {
        self.command
            .first()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}

/// Who looks at a PE with a debugger keeps the others waiting.
fn patience(front: &Front, given: &Given) -> Vec<(OsString, OsString)> {
    let is_set = given.has(&ATTACH_TIMEOUT) || std::env::var_os(ATTACH_TIMEOUT.variable).is_some();
    match front.asking_pe().is_some() && !is_set {
        true => vec![(ATTACH_TIMEOUT.variable.into(), DEBUGGED_TIMEOUT_S.into())],
        false => Vec::new(),
    }
}

/// Variables of the library, as variables of a process.
fn owned(variables: Vec<(&'static str, String)>) -> Vec<(OsString, OsString)> {
    let owned = |(name, value): (&str, String)| (name.into(), value.into());
    variables.into_iter().map(owned).collect()
}

/// Checks that the memory that is asked for each of `pes` PEs is there.
fn check_memory(
    given: &Given,
    settings: &Settings,
    job_pes: u32,
    pes: u32,
) -> Result<(), StartError> {
    let heap = settings.heap_bytes.map(|bytes| bytes as u64);
    limits::check_memory(given.name_of(&HEAP), heap, pes)?;
    // Every PE has a ring for each of the others.
    let rings = settings.ring_bytes.map(|bytes| bytes as u64);
    let rings = rings.map(|bytes| bytes.saturating_mul(u64::from(job_pes)));
    limits::check_memory(given.name_of(&RING), rings, pes)
}

/// Makes the folder of `--record`.
fn prepare_record(given: &Given, settings: &Settings) -> Result<(), StartError> {
    let Some(folder) = &settings.record else {
        return Ok(());
    };
    record::prepare(Path::new(folder)).map_err(|cause| StartError::Record {
        by: given.name_of(&RECORD),
        cause,
    })
}

/// The modelled hardware in `args`, checked against what else they say.
fn virtual_time(
    args: &Args,
    settings: &Settings,
    models: Option<&dyn Models>,
) -> Result<Option<VirtualTime>, StartError> {
    let (Some(models), Some(cluster)) = (models, &args.model.cluster) else {
        return Ok(None);
    };
    let wrong = match () {
        () if settings.wire != WireChoice::Auto => Some(args.settings.name_of(&WIRE)),
        () if args.hosts.is_some() => Some("--hosts".to_owned()),
        () => args.front.given().map(str::to_owned),
    };
    let hardware = models.hardware(
        cluster,
        &args.model,
        args.pes.unwrap_or(1),
        settings.heap_bytes,
    )?;
    match wrong {
        Some(what) => Err(StartError::NotModelled { what }),
        None => Ok(Some(VirtualTime {
            hardware,
            compute: args.model.compute,
            stamps: args.model.stamp,
        })),
    }
}

/// The MTU of plain Ethernet.
const MTU_BYTES: u32 = 1500;

/// The hosts in `args`.
fn hosts(args: &Args, wire: WireChoice) -> Result<Option<Hosts>, StartError> {
    let count = count_hosts(args, wire)?;
    let made = (count > 1).then(|| Hosts::new(count, MTU_BYTES));
    made.transpose()
        .map_err(|cause| StartError::Hosts { wire, cause })
}

/// How many hosts those are; 1 is this one.
fn count_hosts(args: &Args, choice: WireChoice) -> Result<u32, StartError> {
    let pes = args.pes.unwrap_or(1);
    // This host has no other wire than shared memory.
    let wire = choice.named().unwrap_or(WireName::Shm);
    let asked = args.hosts.is_some_and(|hosts| hosts > 1);
    let spans_hosts = wire.spans_hosts() || (choice == WireChoice::Auto && asked);
    if !spans_hosts {
        return match (asked, args.settings.has(&INSECURE_WIRE)) {
            (true, _) => Err(StartError::WireOfOneHost {
                what: "hosts",
                wire,
            }),
            (_, true) => Err(StartError::WireOfOneHost {
                what: "insecure-wire",
                wire,
            }),
            (false, false) => Ok(1),
        };
    }
    if wire == WireName::Window && args.settings.has(&INSECURE_WIRE) {
        return Err(StartError::NoFrames {
            what: "insecure-wire",
            wire,
        });
    }
    // A network needs several hosts to be one.
    let usual = if wire.is_network() { pes.min(2) } else { 1 };
    let hosts = args.hosts.unwrap_or(usual);
    if hosts > pes {
        return Err(StartError::TooManyHosts { pes, hosts });
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_fit_the_wire() {
        let count = |pes, wire, hosts| {
            let args = Args {
                hosts,
                ..Args::quiet(pes, wire, Vec::new())
            };
            count_hosts(&args, WireChoice::Named(wire))
        };
        let chosen = |hosts| {
            let args = Args {
                hosts,
                ..Args::quiet(4, WireName::Shm, Vec::new())
            };
            count_hosts(&args, WireChoice::Auto)
        };
        assert_eq!([None, Some(1), Some(3)].map(chosen), [1, 1, 3].map(Ok));
        let several = StartError::WireOfOneHost {
            what: "hosts",
            wire: WireName::Shm,
        };
        assert_eq!(count(4, WireName::Shm, Some(2)), Err(several));
        assert_eq!(count(4, WireName::Shm, None), Ok(1));
        assert_eq!(count(4, WireName::Shm, Some(1)), Ok(1));
        assert_eq!(count(4, WireName::Ether, None), Ok(2));
        assert_eq!(count(1, WireName::Udp, None), Ok(1));
        assert_eq!(count(4, WireName::Udp, Some(1)), Ok(1));
        assert_eq!(count(5, WireName::Xdp, None), Ok(2));
        assert_eq!(count(65, WireName::Xdp, Some(2)), Ok(2));
        let (pes, hosts) = (2, 3);
        let empty = Err(StartError::TooManyHosts { pes, hosts });
        assert_eq!(count(2, WireName::Ether, Some(3)), empty);
    }
}
