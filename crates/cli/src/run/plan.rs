//! What is to be started, checked as far as it can be before anything is.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use hostwire_transport::TransportError;
use hostwire_transport::os::hosts::{HostPlace, Hosts};
use rustix::io::Errno;

use super::args::{Args, Wire};
use super::bind::Binding;
use super::limits::{self, NofileLimit};
use super::program;

/// Why a job was not started. Exit status 2.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    /// The program cannot be run.
    #[error("cannot run '{name}': {problem}")]
    Program { name: String, problem: &'static str },
    /// The kernel would not run it.
    #[error("cannot start PE {pe} ('{name}'): {reason}")]
    Spawn {
        pe: u32,
        name: String,
        reason: String,
    },
    /// `--bind` names a CPU that is not there.
    #[error("--bind: CPU {cpu} does not exist here or may not be used; this process has {usable}")]
    NoSuchCpu { cpu: usize, usable: String },
    /// Heaps or rings beyond this machine's memory.
    #[error(
        "--{what}: {} for each of {pes} PEs is more than the {} of memory of this machine",
        human_size(*bytes_per_pe), human_size(*machine_bytes)
    )]
    Memory {
        what: &'static str,
        bytes_per_pe: u64,
        pes: u32,
        machine_bytes: u64,
    },
    /// Too few descriptors.
    #[error(
        "{pes} PEs need {needed} open files in the launcher, and the limit is {limit}; raise it \
         with 'ulimit -Hn {needed}' as root or in /etc/security/limits.conf"
    )]
    Descriptors { pes: u32, needed: u64, limit: u64 },
    /// Too few processes.
    #[error("{pes} PEs are more than the {limit} processes this user may have ('ulimit -u')")]
    Processes { pes: u32, limit: u64 },
    /// Hosts and no wire between them.
    #[error("--hosts: the wire {wire} joins PEs of one host; say --wire ether or --wire udp")]
    WireOfOneHost { wire: &'static str },
    /// Some hosts would have no PE.
    #[error("--hosts: {pes} PEs cannot be on {hosts} hosts")]
    TooManyHosts { pes: u32, hosts: u32 },
    /// The hosts cannot be made.
    #[error("--wire {wire}: {cause}")]
    Hosts {
        wire: &'static str,
        cause: TransportError,
    },
    /// The kernel refused something else.
    #[error("cannot {what}: {}", std::io::Error::from(*errno))]
    System { what: &'static str, errno: Errno },
}

/// A job that can be started.
pub struct Plan {
    pub pes: u32,
    pub wire: Wire,
    /// Where the PEs are started, if not on this host.
    hosts: Option<Hosts>,
    pub program: PathBuf,
    /// The name of the program as it was given, then its arguments.
    pub command: Vec<OsString>,
    pub heap_bytes: Option<u64>,
    pub ring_bytes: Option<u64>,
    pub binding: Binding,
    /// The limit of open files that the PEs start with.
    pub nofile: NofileLimit,
    pub timeout: Option<Duration>,
    pub grace: Duration,
    pub insecure_wire: bool,
    pub label: bool,
    pub keep_going: bool,
    pub stats: bool,
}

impl Plan {
    /// Checks `args` against this machine.
    pub fn new(args: &Args) -> Result<Plan, StartError> {
        let name = args.command.first().cloned().unwrap_or_default();
        let program = program::find(&name, std::env::var_os("PATH").as_deref())?;
        limits::check_memory("heap", args.heap, args.pes)?;
        // Every PE has a ring for each of the others.
        let rings = args
            .ring
            .map(|bytes| bytes.saturating_mul(u64::from(args.pes)));
        limits::check_memory("ring", rings, args.pes)?;
        limits::check_processes(args.pes)?;
        let binding = Binding::new(&args.bind, args.pes)?;
        let hosts = hosts(args)?;
        let nofile = limits::make_room_for_descriptors(args.pes)?;
        Ok(Plan {
            pes: args.pes,
            wire: args.wire,
            hosts,
            program,
            command: args.command.clone(),
            heap_bytes: args.heap,
            ring_bytes: args.ring,
            binding,
            nofile,
            timeout: args.timeout,
            grace: args.grace,
            insecure_wire: args.insecure_wire,
            label: args.label,
            keep_going: args.keep_going,
            stats: args.stats,
        })
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

/// The MTU of plain Ethernet.
const MTU_BYTES: u32 = 1500;

/// The hosts that `args` ask for.
fn hosts(args: &Args) -> Result<Option<Hosts>, StartError> {
    let (pes, wire) = (args.pes, args.wire.name());
    let hosts = match args.hosts {
        Some(hosts) if hosts > 1 && !args.wire.spans_hosts() => {
            return Err(StartError::WireOfOneHost { wire });
        }
        Some(hosts) if hosts > pes => return Err(StartError::TooManyHosts { pes, hosts }),
        Some(hosts) => hosts,
        None if args.wire.spans_hosts() => pes.min(2),
        None => 1,
    };
    let made = (hosts > 1)
        .then(|| Hosts::new(hosts, MTU_BYTES))
        .transpose();
    made.map_err(|cause| StartError::Hosts { wire, cause })
}

/// A size as a person would say it: `1.5 GiB`.
fn human_size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] = [
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
    ];
    for (unit, unit_bytes) in UNITS {
        if bytes >= unit_bytes {
            let tenths = u128::from(bytes) * 10 / u128::from(unit_bytes);
            return match tenths % 10 {
                0 => format!("{} {unit}", tenths / 10),
                tenth => format!("{}.{tenth} {unit}", tenths / 10),
            };
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        assert_eq!(human_size(64), "64 bytes");
        assert_eq!(human_size(4096), "4 KiB");
        assert_eq!(human_size(3 << 29), "1.5 GiB");
        assert_eq!(human_size(u64::MAX), "16777215.9 TiB");
    }
}
