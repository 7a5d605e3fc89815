//! What can go wrong between a process and its launcher.

use hostwire_transport::SystemError;

use super::wire::LineError;

/// Errors between this process and its launcher.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PmiError {
    /// A launcher's variable is missing or not what it should be.
    #[error("{name} is {seen} in the environment; expected {expected}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value in quotes, or `missing`.
        seen: String,
        /// What would have been right.
        expected: &'static str,
    },
    /// The variables name a launcher that cannot be reached.
    #[error("cannot reach the launcher at {place}: {source}")]
    Unreachable {
        /// `PMI_FD=5` or `PMI_PORT=host:port`.
        place: String,
        /// Why.
        source: SystemError,
    },
    /// The connection broke. The launcher has ended, or ends this process.
    #[error("lost the launcher while asking it for {asked}: {reason}")]
    Lost {
        /// The command that was under way.
        asked: &'static str,
        /// `it closed the connection`, or the system's error.
        reason: String,
    },
    /// The launcher does not answer in time.
    #[error("{}", crate::deadline::silence(asked, *waited_s))]
    Silent {
        /// The command that was under way.
        asked: &'static str,
        /// The time limit.
        waited_s: u64,
    },
    /// The launcher sent bytes that are not PMI-1.
    #[error("the launcher answered {asked} with {source}")]
    Malformed {
        /// The command that was under way.
        asked: &'static str,
        /// What it sent.
        source: LineError,
    },
    /// The launcher sent a line of PMI-1 that does not belong here.
    #[error("the launcher answered {asked} with {seen:?}; expected {expected}")]
    Unexpected {
        /// The command that was under way.
        asked: &'static str,
        /// The line it sent.
        seen: String,
        /// What would have been right.
        expected: &'static str,
    },
    /// The launcher understood and refused.
    #[error("the launcher refused {asked}: {reason} (rc={rc})")]
    Refused {
        /// The command.
        asked: &'static str,
        /// The launcher's code.
        rc: String,
        /// The launcher's reason.
        reason: String,
    },
    /// The launcher does not have this version of PMI.
    #[error("the launcher speaks PMI version {seen}, not 1")]
    Version {
        /// The version that it offers.
        seen: String,
    },
    /// A key or a value that PMI cannot carry: the caller's fault.
    #[error("{what} of {got_bytes} bytes, {problem}")]
    BadWord {
        /// `a key` or `a value`.
        what: &'static str,
        /// Its length.
        got_bytes: usize,
        /// What is wrong with it.
        problem: String,
    },
}
