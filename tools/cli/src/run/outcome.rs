//! How a PE or a job ended, in words and as an exit status.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hostwire::board::{Activity, Record};
use hostwire_transport::printable;
use rustix::io::Errno;
use rustix::process::Signal;
use signal_hook::consts::{SIGABRT, SIGPIPE};

use super::bind::ranges;

/// The exit status when `--timeout` passed, as that of timeout(1).
const TIMEOUT_STATUS: u8 = 124;
/// The exit status when PEs in virtual time wait for ever, or have no more time.
const MODEL_STATUS: u8 = 1;
/// The exit status when what the PEs print, or a file that was asked for, is lost, as that of cat(1).
pub const OUTPUT_STATUS: u8 = 1;

/// Why a PE counts as failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It exited with a status that is not 0.
    Exited(i32),
    /// A signal ended it.
    Signal(i32),
    /// It joined the job and exited with 0 without leaving the job.
    NotFinalized,
    /// It sent the launcher bytes that are not PMI-1.
    Violation(String),
    /// It ended the job by an abort.
    Abort { code: i32, message: String },
    /// Its host was lost, with all PEs on it.
    HostLost {
        host: String,
        pes: String,
        why: String,
    },
}

/// The failure of one PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub pe: u32,
    pub cause: Cause,
    /// The last entry of the PE on the board.
    pub last: Option<Record>,
    /// What is known of the memory of a PE that crashed.
    pub core: Option<String>,
}

impl Failure {
    /// The exit status that it makes for the job.
    pub fn status(&self) -> u8 {
        match &self.cause {
            Cause::Exited(code) => u8::try_from(*code).unwrap_or(1).max(1),
            Cause::Signal(signal) => signal_status(*signal),
            Cause::NotFinalized | Cause::Violation(_) | Cause::HostLost { .. } => 1,
            // The program asked for it: it may end its job early without a failure.
            Cause::Abort { code: 0, .. } => 0,
            Cause::Abort { code, .. } => match (code & 0xff) as u8 {
                0 => 1,
                status => status,
            },
        }
    }

    /// The rank of a failure: of several failures that are noticed together, the one with the lowest rank is the cause
    /// of the others. The loss of a peer kills no PE, but a PE may exit or abort because of it.
    pub fn rank(&self) -> u32 {
        match self.cause {
            Cause::Violation(_) | Cause::HostLost { .. } => 0,
            Cause::Signal(signal) if signal != SIGABRT => 1,
            Cause::NotFinalized => 2,
            Cause::Signal(_) | Cause::Exited(_) | Cause::Abort { .. } => 3,
        }
    }

    /// Whether no failure of another PE can have led to this one.
    pub fn is_cause(&self) -> bool {
        self.rank() <= 1
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pe = self.pe;
        match &self.cause {
            Cause::Exited(code) => write!(f, "PE {pe} exited with status {code}")?,
            Cause::Signal(signal) => {
                write!(f, "PE {pe} was killed by {}", signal_name(*signal))?;
                let hints = [hint(*signal), self.core.as_deref()];
                let hints: Vec<&str> = hints.into_iter().flatten().collect();
                if !hints.is_empty() {
                    write!(f, " ({})", hints.join("; "))?;
                }
            }
            Cause::NotFinalized => {
                write!(
                    f,
                    "PE {pe} exited with status 0 without finalizing: it left the job"
                )?;
            }
            Cause::Violation(reason) => {
                write!(
                    f,
                    "PE {pe} broke the PMI-1 protocol with its launcher: {reason}"
                )?;
            }
            Cause::HostLost { host, pes, why } => write!(f, "lost {host} with {pes}: {why}")?,
            Cause::Abort { code, message } if message.is_empty() => {
                write!(f, "PE {pe} aborted the job with code {code}")?;
            }
            Cause::Abort { code, message } => {
                write!(
                    f,
                    "PE {pe} aborted the job with code {code}: {}",
                    printable(message)
                )?;
            }
        }
        match self.last {
            // It failed after it had done its part in the job.
            Some(last) if last.activity == Activity::Finished => write!(f, "; it had left the job"),
            Some(last) => write!(f, "; it was last {last}"),
            None => Ok(()),
        }
    }
}

/// Why a whole job is ended before its PEs end by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A PE failed.
    Failed(Failure),
    /// A host cannot start its PEs: which, and why.
    NotStarted(String),
    /// The launcher got a signal.
    Interrupted(i32),
    /// `--timeout` passed.
    TimedOut {
        after: Duration,
        /// The PEs that had not ended, with what each was doing.
        running: Vec<(u32, Option<Record>)>,
    },
    /// The run of the modelled hardware cannot go on.
    Model {
        /// Why.
        cause: String,
        /// The PEs that had not ended, with what each was doing.
        running: Vec<(u32, Option<Record>)>,
    },
    /// The reader of the launcher's standard output is gone.
    OutputClosed,
    /// The launcher's standard output cannot be written.
    OutputFailed(Errno),
}

impl Ending {
    /// The exit status of the launcher.
    pub fn status(&self) -> u8 {
        match self {
            Ending::Failed(failure) => failure.status(),
            Ending::NotStarted(_) => crate::USAGE_STATUS,
            Ending::Interrupted(signal) => signal_status(*signal),
            Ending::TimedOut { .. } => TIMEOUT_STATUS,
            Ending::Model { .. } => MODEL_STATUS,
            Ending::OutputClosed => signal_status(SIGPIPE),
            Ending::OutputFailed(_) => OUTPUT_STATUS,
        }
    }

    /// The line for the user, if there is one, when `others` PEs were still
    /// running.
    pub fn line(&self, others: usize) -> Option<String> {
        let pes = |n: usize| match n {
            1 => "1 PE".to_owned(),
            n => format!("{n} PEs"),
        };
        match self {
            Ending::Failed(failure) if others == 0 => Some(failure.to_string()),
            Ending::Failed(failure) if others == 1 => {
                Some(format!("{failure}; ended the other PE"))
            }
            Ending::Failed(failure) => Some(format!("{failure}; ended the other {}", pes(others))),
            Ending::NotStarted(line) => Some(line.clone()),
            Ending::Interrupted(signal) => Some(format!(
                "interrupted by {}; ended {}",
                signal_name(*signal),
                pes(others)
            )),
            Ending::TimedOut { after, running } => Some(format!(
                "timed out after {after:?}; still running: {}",
                grouped(running)
            )),
            Ending::Model { cause, running } if running.is_empty() => {
                Some(format!("virtual time: {cause}"))
            }
            Ending::Model { cause, running } => Some(format!(
                "virtual time: {cause}; ended {}: {}",
                pes(others),
                grouped(running)
            )),
            Ending::OutputClosed => None,
            Ending::OutputFailed(errno) => {
                let error = std::io::Error::from(*errno);
                Some(format!("cannot write standard output: {error}"))
            }
        }
    }
}

/// `PE 0-2 (in a barrier), PE 3 (computing)`, lowest PE first.
fn grouped(running: &[(u32, Option<Record>)]) -> String {
    let mut groups: BTreeMap<Option<Record>, Vec<usize>> = BTreeMap::new();
    for (pe, record) in running {
        groups.entry(*record).or_default().push(*pe as usize);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, pes)| pes.first().copied());
    let texts: Vec<String> = groups
        .iter()
        .map(|(record, pes)| match record {
            Some(record) => format!("PE {} ({record})", ranges(pes)),
            None => format!("PE {}", ranges(pes)),
        })
        .collect();
    texts.join(", ")
}

fn signal_status(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Explanations for signals of the system.
const HINTS: [(Signal, &str); 5] = [
    (
        Signal::XFSZ,
        "a file grew beyond the limit of its size; see ulimit -f",
    ),
    (Signal::XCPU, "its processor time is used up; see ulimit -t"),
    (
        Signal::SYS,
        "it made a system call that is forbidden here, as in some containers",
    ),
    (
        Signal::BUS,
        "memory that it has mapped is not there: the memory of this machine or container is full, \
         or a mapped file was cut off",
    ),
    (
        Signal::ILL,
        "an instruction that this processor does not have",
    ),
];

fn hint(signal: i32) -> Option<&'static str> {
    let mut hints = HINTS.iter();
    let (_, hint) = hints.find(|(named, _)| named.as_raw() == signal)?;
    Some(hint)
}

fn signal_name(signal: i32) -> String {
    match signal_hook::low_level::signal_name(signal) {
        Some(name) => name.to_owned(),
        None => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(cause: Cause) -> Failure {
        Failure {
            pe: 3,
            cause,
            last: None,
            core: None,
        }
    }

    #[test]
    fn failures_in_words_and_numbers() {
        let barrier = Record {
            activity: Activity::Barrier,
            peer: None,
        };
        let killed = Failure {
            pe: 3,
            cause: Cause::Signal(9),
            last: Some(barrier),
            core: None,
        };
        assert_eq!(killed.status(), 137);
        assert_eq!(
            Ending::Failed(killed).line(3).unwrap(),
            "PE 3 was killed by SIGKILL; it was last in a barrier; ended the other 3 PEs"
        );
        let behind = Failure {
            last: Some(Record {
                activity: Activity::Finished,
                peer: None,
            }),
            ..failure(Cause::Exited(1))
        };
        assert_eq!(
            behind.to_string(),
            "PE 3 exited with status 1; it had left the job"
        );
        for (cause, status, text) in [
            (Cause::Exited(7), 7, "PE 3 exited with status 7"),
            (
                Cause::NotFinalized,
                1,
                "PE 3 exited with status 0 without finalizing: it left the job",
            ),
            (Cause::Signal(40), 168, "PE 3 was killed by signal 40"),
            (
                Cause::Signal(25),
                153,
                "PE 3 was killed by SIGXFSZ (a file grew beyond the limit of its size; see ulimit -f)",
            ),
            (
                Cause::Signal(7),
                135,
                "PE 3 was killed by SIGBUS (memory that it has mapped is not there: the memory of \
                 this machine or container is full, or a mapped file was cut off)",
            ),
            (
                Cause::Abort {
                    code: 256,
                    message: "a\nb".into(),
                },
                1,
                "PE 3 aborted the job with code 256: a b",
            ),
            (
                Cause::Abort {
                    code: 5,
                    message: String::new(),
                },
                5,
                "PE 3 aborted the job with code 5",
            ),
            (
                Cause::Violation("x".into()),
                1,
                "PE 3 broke the PMI-1 protocol with its launcher: x",
            ),
        ] {
            let ending = Ending::Failed(failure(cause));
            assert_eq!(ending.status(), status);
            assert_eq!(ending.line(0).unwrap(), text);
        }
        assert_eq!(Ending::Interrupted(2).status(), 130);
        assert_eq!(
            Ending::Interrupted(2).line(1).unwrap(),
            "interrupted by SIGINT; ended 1 PE"
        );
    }

    #[test]
    fn a_crash_says_where_its_memory_is() {
        let crashed = Failure {
            core: Some("core file: /tmp/core".to_owned()),
            ..failure(Cause::Signal(4))
        };
        assert_eq!(
            crashed.to_string(),
            "PE 3 was killed by SIGILL (an instruction that this processor does not have; core file: /tmp/core)"
        );
    }

    #[test]
    fn the_death_of_a_peer_comes_before_what_it_led_to() {
        let killed = failure(Cause::Signal(9)).rank();
        assert!(killed < failure(Cause::Exited(1)).rank());
        assert!(killed < failure(Cause::Signal(SIGABRT)).rank());
        assert!(
            killed
                < failure(Cause::Abort {
                    code: 1,
                    message: String::new()
                })
                .rank()
        );
    }

    #[test]
    fn a_timeout_names_everybody() {
        let barrier = Some(Record {
            activity: Activity::Barrier,
            peer: None,
        });
        let receiving = Some(Record {
            activity: Activity::Receiving,
            peer: Some(3),
        });
        let running = vec![
            (0, barrier),
            (1, barrier),
            (2, barrier),
            (3, None),
            (5, receiving),
            (7, None),
        ];
        let ending = Ending::TimedOut {
            after: Duration::from_secs(30),
            running,
        };
        assert_eq!(ending.status(), 124);
        assert_eq!(
            ending.line(6).unwrap(),
            "timed out after 30s; still running: PE 0-2 (in a barrier), PE 3,7, \
             PE 5 (receiving from PE 3)"
        );
    }
}
