//! `hostwire doctor`: which wires this machine can use, and why not.
//!
//! | file | |
//! |---|---|
//! | [`memory`] | the wire shm: memory files, barriers, limits |
//! | [`network`] | the wires between hosts, hosts made of this machine, RDMA |
//! | [`devices`] | GPUs |
//! | [`launchers`] | who could start jobs here |
//! | [`machine`] | CPUs and what a container leaves of them |
//! | [`mpi`] | with `--mpi`, instead of these: whether an `mpirun` starts programs that use hostwire |
//! | [`other`] | what other programs say of themselves |
//! | [`between`], [`survey`] | with `--on`: from each host to each, at the launcher and on the hosts |

mod between;
mod devices;
mod launchers;
mod machine;
mod memory;
mod mpi;
mod network;
mod other;
pub mod survey;

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use hostwire::settings::WireName;
use serde::Serialize;

use crate::run::{HostNames, parse_on, read_hostfile};
use crate::text::{columns, fit};
use crate::{USAGE_STATUS, report};

/// Exit status if not even shared memory works, or if MPI programs do not use it.
const NO_WIRE: u8 = 1;

/// Say which wires this machine can use, and what to do about the others.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
WHAT THE MARKS MEAN
    ok    it can be used
    note  it can be used, but not as well as it could
    no    it cannot be used; the line below says what to do

    Nothing is changed. Without --on nothing is sent to any network.

SEVERAL MACHINES
    With --on or --hostfile hostwire goes to each host by ssh, as hostwire run does. There each host \
sends short and full frames to each other one over each wire that both can use, for up to two seconds a wire, and \
compares its clock. The table names the wires over which full frames arrive.

EXIT STATUS
    0 if shared memory works at least, else 1. With --mpi 0 if programs that MPIRUN starts use
    hostwire, else 1. With --on 1 if a host cannot be used, or if no wire works between two hosts.")]
pub struct Args {
    /// Print JSON, one object per line: topic, name, state, found, advice.
    #[arg(long)]
    pub json: bool,
    /// Say instead whether MPI programs that MPIRUN starts use hostwire, and why not
    #[arg(long, value_name = "MPIRUN", num_args = 0..=1, default_missing_value = "mpirun")]
    pub mpi: Option<PathBuf>,
    /// Say instead which wires work from each of these hosts to each, and what is in the way
    #[arg(long, value_name = "HOSTS", value_parser = parse_on, group = "far", conflicts_with = "mpi")]
    pub on: Option<HostNames>,
    /// The same, with a host in each line of a file
    #[arg(long, value_name = "FILE", group = "far", conflicts_with = "mpi")]
    pub hostfile: Option<PathBuf>,
    /// Copy hostwire to those hosts first
    #[arg(long, requires = "far")]
    pub copy: bool,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// Not as it should be, but usable.
    Note,
    /// Not usable.
    No,
}

/// What a part of the report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    Wire(WireName),
    Other(&'static str),
}

impl From<WireName> for Topic {
    fn from(wire: WireName) -> Self {
        Self::Wire(wire)
    }
}

impl From<&'static str> for Topic {
    fn from(name: &'static str) -> Self {
        Self::Other(name)
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wire(wire) => write!(f, "wire {wire}"),
            Self::Other(name) => f.write_str(name),
        }
    }
}

impl Serialize for Topic {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    topic: Topic,
    name: &'static str,
    state: Verdict,
    /// What was found.
    found: String,
    /// Advice, if there is any.
    advice: Option<String>,
}

impl Finding {
    fn ok(topic: impl Into<Topic>, name: &'static str, found: impl Into<String>) -> Self {
        Self {
            topic: topic.into(),
            name,
            state: Verdict::Ok,
            found: found.into(),
            advice: None,
        }
    }

    fn note(
        topic: impl Into<Topic>,
        name: &'static str,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            state: Verdict::Note,
            advice: Some(advice.into()),
            ..Self::ok(topic, name, found)
        }
    }

    fn no(
        topic: impl Into<Topic>,
        name: &'static str,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            state: Verdict::No,
            ..Self::note(topic, name, found, advice)
        }
    }
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let names = match (&args.on, &args.hostfile) {
        (Some(on), _) => Some(on.clone()),
        (None, Some(file)) => match read_hostfile(file) {
            Ok(names) => Some(names),
            Err(error) => {
                report::line(&error.to_string());
                return ExitCode::from(USAGE_STATUS);
            }
        },
        (None, None) => None,
    };
    if let Some(names) = names {
        return of_hosts(&names, args);
    }
    let (findings, is_broken) = match &args.mpi {
        Some(mpirun) => {
            let findings = mpi::findings(mpirun);
            let is_broken = mpi::is_broken(&findings);
            (findings, is_broken)
        }
        None => {
            let findings = of_machine();
            let is_broken = findings.iter().any(is_broken);
            (findings, is_broken)
        }
    };
    match args.json {
        true => print_json(&findings),
        false => report::out(fit(&text(&findings), columns()).trim_end()),
    }
    status(is_broken)
}

fn status(is_broken: bool) -> ExitCode {
    match is_broken {
        true => ExitCode::from(NO_WIRE),
        false => ExitCode::SUCCESS,
    }
}

fn print_json(findings: &[Finding]) {
    for finding in findings {
        match serde_json::to_string(finding) {
            Ok(text) => report::out(&text),
            Err(error) => report::line(&error.to_string()),
        }
    }
}

/// The command with `--on`.
fn of_hosts(names: &HostNames, args: &Args) -> ExitCode {
    let found = between::report(names, args.copy);
    if args.json {
        print_json(&found.findings);
        print_json(&found.ways);
    } else {
        let table = found.table.as_ref().map(|table| table.text("", columns()));
        let text = fit(&text(&found.findings), columns());
        report::out(format!("{}\n{text}", table.unwrap_or_default()).trim());
    }
    status(found.is_broken())
}

fn of_machine() -> Vec<Finding> {
    [
        memory::findings(),
        network::findings(),
        devices::findings(),
        launchers::findings(),
        machine::findings(),
    ]
    .concat()
}

/// Whether this means that no wire works.
fn is_broken(finding: &Finding) -> bool {
    finding.topic == memory::TOPIC.into() && finding.state == Verdict::No
}

fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for topic in findings.chunk_by(|a, b| a.topic == b.topic) {
        if let Some(first) = topic.first() {
            text += &format!("{}\n", first.topic);
        }
        for finding in topic {
            let mark = match finding.state {
                Verdict::Ok => "ok",
                Verdict::Note => "note",
                Verdict::No => "no",
            };
            text += &format!("  {mark:<5} {:<14} {}\n", finding.name, finding.found);
            if let Some(advice) = &finding.advice {
                text += &format!("  {:<20} -> {advice}\n", "");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_read_well() {
        let findings = [
            Finding::ok(WireName::Shm, "memory files", "sealed"),
            Finding::no(WireName::Ether, "raw sockets", "not allowed", "run as root"),
            Finding::note(WireName::Ether, "buffers", "small", "raise it"),
        ];
        let expected = "wire shm\n  ok    memory files   sealed\n\
                        wire ether\n  no    raw sockets    not allowed\n\
                        \u{20}                      -> run as root\n\
                        \u{20} note  buffers        small\n\
                        \u{20}                      -> raise it\n";
        assert_eq!(text(&findings), expected);
        assert!(!findings.iter().any(is_broken));
        let broken = Finding::no(memory::TOPIC, "memory files", "", "");
        assert!(is_broken(&broken));
    }

    #[test]
    fn json_has_the_documented_keys() {
        let finding = Finding::ok("a", "b", "c");
        let text = serde_json::to_string(&finding).unwrap();
        assert_eq!(
            text,
            r#"{"topic":"a","name":"b","state":"ok","found":"c","advice":null}"#
        );
    }
}
