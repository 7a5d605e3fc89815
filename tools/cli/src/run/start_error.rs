//! Why a job was not started.

use hostwire::settings::{WireChoice, WireName};
use hostwire_transport::TransportError;
use rustix::io::Errno;

/// Why a job was not started. Exit status 2.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    /// The program cannot be run.
    #[error("cannot run '{name}': {problem}")]
    Program { name: String, problem: &'static str },
    /// The command of `--wrap` cannot be run.
    #[error("--wrap: {cause}")]
    Wrap { cause: Box<StartError> },
    /// There is no debugger.
    #[error("--gdb, --backtrace: gdb is not installed, or not in PATH (Debian: apt install gdb)")]
    NoGdb,
    /// `--gdb` names a PE that is not there.
    #[error("--gdb {pe}: the job has the PEs 0 to {}", pes.saturating_sub(1))]
    NoSuchPe { pe: u32, pes: u32 },
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
        "{what}: {} for each of {pes} PEs is more than the {} of memory of this machine",
        human_size(*bytes_per_pe), human_size(*machine_bytes)
    )]
    Memory {
        what: String,
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
    /// A variable of the library has a value that makes no sense.
    #[error(transparent)]
    Setting(#[from] hostwire::settings::SettingError),
    /// An option that needs hosts, without a wire between hosts.
    #[error(
        "--{what}: the wire {wire} joins PEs of one host; say --wire {}",
        WireName::listed(WireName::spans_hosts, "or")
    )]
    WireOfOneHost { what: &'static str, wire: WireName },
    /// An option for frames, with a wire that sends none.
    #[error("--{what}: the wire {wire} sends no frames")]
    NoFrames { what: &'static str, wire: WireName },
    /// Some hosts would have no PE.
    #[error("--hosts: {pes} PEs cannot be on {hosts} hosts")]
    TooManyHosts { pes: u32, hosts: u32 },
    /// The hosts cannot be made.
    #[error("--wire {wire}: {cause}")]
    Hosts {
        wire: WireChoice,
        cause: TransportError,
    },
    /// Nothing can be recorded.
    #[error("{by}: {cause}")]
    Record { by: String, cause: TransportError },
    /// The cluster file of `--cluster` cannot be used.
    #[error("--cluster: {0}")]
    Cluster(String),
    /// `--place` names a processor that does not exist.
    #[error("--place: there is no processor {got:?}; the cluster has {names}")]
    Place { got: String, names: String },
    /// Modelled hardware, and an option for real hardware.
    #[error("--cluster: the hardware is modelled; leave out {what}")]
    NotModelled { what: String },
    /// `--hostfile` names a file that does not name hosts.
    #[error("--hostfile {path}: {problem}")]
    Hostfile { path: String, problem: String },
    /// The PEs of `-n` and those of the hosts do not agree.
    #[error("-n {pes}: {}", shares(*given, *open))]
    Shares { pes: u64, given: u64, open: u64 },
    /// More PEs on all hosts together than a job can have.
    #[error("{pes} PEs; a job has at most {}", hostwire_bootstrap::PES_MAX)]
    TooManyPes { pes: u64 },
    /// More PEs than one host can have.
    #[error("{pes} PEs on one host; a host has at most {max} PEs")]
    HostTooLarge { pes: u32, max: u32 },
    /// An option for this host, with other hosts.
    #[error("--on, --hostfile: leave out {what}, which is for PEs of this host")]
    NotOnHosts { what: &'static str },
    /// `--env` names a variable that is not there.
    #[error("--env {name}: it is not set here; say --env {name}=VALUE")]
    NoSuchVariable { name: String },
    /// The folder of the launcher is not on another host.
    #[error(
        "cannot start PEs in {folder}: {reason}; start the job from a folder that all hosts have"
    )]
    Folder { folder: String, reason: String },
    /// A file that is to be copied to other hosts cannot be read.
    #[error("--copy: cannot read {path}: {reason}")]
    Copy { path: String, reason: String },
    /// The command that reaches other hosts cannot be started.
    #[error("{host}: {reason}")]
    Ssh { host: String, reason: String },
    /// Another error of the kernel.
    #[error("cannot {what}: {}{}", std::io::Error::from(*errno), remedy(*errno))]
    System { what: &'static str, errno: Errno },
}

/// Why numbers of PEs of hosts are not those of the job.
fn shares(given: u64, open: u64) -> String {
    match open {
        0 => format!("the hosts have {given} PEs; give them as many, or leave out -n"),
        _ => format!(
            "the hosts with a number have {given} PEs, and {open} without a number need at least one each"
        ),
    }
}

/// Advice about an error of the kernel, if it is known.
fn remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::FBIG => "; memory files count: raise the limit with 'ulimit -f'",
        Errno::MFILE => "; raise the limit with 'ulimit -n'",
        _ => "",
    }
}

/// A size in a readable form: `1.5 GiB`.
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
