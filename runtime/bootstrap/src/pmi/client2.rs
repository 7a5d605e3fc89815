//! The process's side of PMI-2.

use hostwire_transport::printable;

use super::connection::Connection;
use super::wire::{self, Line};
use super::wire2::{Message, MessageBuffer};
use super::{PmiError, variables};
use crate::deadline::Deadline;

/// Values are shorter than this many bytes, as Slurm's and MPICH's headers say.
const VALUE_BYTES_MAX: usize = 1024;

/// A connection to a launcher that speaks PMI-2. As [`Client`](super::Client), which is
/// tried first: Slurm's `--mpi=pmi2` and MPICH speak both.
///
/// # Source
/// The wire protocol of PMI-2 as Slurm's plugin `mpi/pmi2` and MPICH's Hydra implement
/// it.
#[derive(Debug)]
pub struct Client2 {
    connection: Connection,
    received: MessageBuffer,
    rank: u32,
    size: u32,
    job: String,
}

impl Client2 {
    /// Connects to the launcher that `PMI_FD` names; `Ok(None)` when it is not set.
    ///
    /// # Errors
    /// [`PmiError`]: variables that make no sense, a launcher that is gone or does not
    /// speak PMI-2.
    pub fn from_env(deadline: Deadline) -> Result<Option<Self>, PmiError> {
        let lookup =
            |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Self::from_lookup(lookup, deadline)
    }

    pub(crate) fn from_lookup(
        lookup: impl Fn(&str) -> Option<String>,
        deadline: Deadline,
    ) -> Result<Option<Self>, PmiError> {
        let lookup = |name: &str| lookup(name).filter(|value| !value.is_empty());
        if lookup("PMI_FD").is_none() {
            return Ok(None);
        }
        let (fd, rank, size) = variables::fd_rank_size(lookup)?;
        let job = lookup("PMI_JOBID").unwrap_or_default();
        Self::start(Connection::inherited(fd, deadline)?, rank, size, &job).map(Some)
    }

    /// Starts a conversation: one line as in PMI-1, then messages.
    fn start(connection: Connection, rank: u32, size: u32, job: &str) -> Result<Self, PmiError> {
        let mut client = Self {
            connection,
            received: MessageBuffer::default(),
            rank,
            size,
            job: job.to_owned(),
        };
        let asked = "init";
        let line = Line::new(asked)
            .with("pmi_version", 2)
            .with("pmi_subversion", 0);
        client.connection.write(asked, &line.emit())?;
        let malformed = |source| PmiError::Malformed { asked, source };
        let reply = loop {
            if let Some(line) = client.received.next_line().map_err(malformed)? {
                break Line::parse(&line).map_err(malformed)?;
            }
            let Self {
                connection,
                received,
                ..
            } = &mut client;
            connection.read(asked, |bytes| received.extend(bytes))?;
        };
        if reply.command() != "response_to_init" || reply.value("pmi_version") != Some("2") {
            return Err(PmiError::Unexpected {
                asked,
                seen: printable(&reply.to_string()),
                expected: "response_to_init with pmi_version=2",
            });
        }
        let full = Message::new("fullinit")
            .with("pmijobid", job)
            .with("pmirank", rank)
            .with("threaded", "FALSE");
        let reply = client.ask("fullinit", &full)?;
        let told = |name| reply.value(name).and_then(|value| value.parse().ok());
        match (told("rank"), told("size")) {
            (Some(rank), Some(size)) if rank < size => (client.rank, client.size) = (rank, size),
            _ => {
                return Err(PmiError::Unexpected {
                    asked: "fullinit",
                    seen: printable(&reply.to_string()),
                    expected: "a rank below a size",
                });
            }
        }
        Ok(client)
    }

    /// The number of this process, `0 .. size`.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The number of processes of the job.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Values are shorter than this many bytes.
    pub fn value_bytes_max(&self) -> usize {
        VALUE_BYTES_MAX
    }

    /// Publishes `value` under `key`; others may [`get`](Self::get) it after the next
    /// [`fence`](Self::fence).
    ///
    /// # Errors
    /// [`PmiError::BadWord`], with nothing sent; otherwise errors of the launcher.
    pub fn put(&mut self, key: &str, value: &str) -> Result<(), PmiError> {
        super::check_key(key, wire::KEY_BYTES_MAX)?;
        super::check_word("a value", value, VALUE_BYTES_MAX)?;
        let put = Message::new("kvs-put")
            .with("key", key)
            .with("value", value);
        self.ask("kvs-put", &put).map(|_| ())
    }

    /// Waits until every process of the job has called it.
    ///
    /// # Errors
    /// As the launcher answers.
    pub fn fence(&mut self) -> Result<(), PmiError> {
        self.ask("kvs-fence", &Message::new("kvs-fence"))
            .map(|_| ())
    }

    /// The value that some process published under `key`.
    ///
    /// # Errors
    /// [`PmiError::Refused`] if no process has.
    pub fn get(&mut self, key: &str) -> Result<String, PmiError> {
        let asked = "kvs-get";
        super::check_key(key, wire::KEY_BYTES_MAX)?;
        let get = Message::new(asked)
            .with("jobid", &self.job)
            .with("srcid", -1)
            .with("key", key);
        let reply = self.ask(asked, &get)?;
        let found = reply
            .value("found")
            .is_some_and(|found| found.eq_ignore_ascii_case("true"));
        match reply.value("value").filter(|_| found) {
            Some(value) => Ok(value.to_owned()),
            None => Err(PmiError::Refused {
                asked,
                rc: "0".to_owned(),
                reason: format!("nothing is there, key {key:?}"),
            }),
        }
    }

    /// Asks the launcher to end the whole job. PMI-2 carries no exit status. There is no
    /// answer.
    ///
    /// # Errors
    /// [`PmiError::Lost`] when the launcher is gone already.
    pub fn abort(&mut self, message: &str) -> Result<(), PmiError> {
        let cut: String = message.chars().take(256).collect();
        let abort = Message::new("abort")
            .with("isworld", "TRUE")
            .with("msg", cut);
        self.connection.renew();
        self.connection.write("abort", &abort.emit())
    }

    /// Leaves the job.
    ///
    /// # Errors
    /// As the launcher answers.
    pub fn finalize(&mut self) -> Result<(), PmiError> {
        self.connection.renew();
        self.ask("finalize", &Message::new("finalize")).map(|_| ())
    }

    /// Sends a request and takes its answer, whose name is derived from the request.
    fn ask(&mut self, asked: &'static str, request: &Message) -> Result<Message, PmiError> {
        self.connection.write(asked, &request.emit())?;
        let malformed = |source| PmiError::Malformed { asked, source };
        let reply = loop {
            if let Some(body) = self.received.next_message().map_err(malformed)? {
                break Message::parse(&body).map_err(malformed)?;
            }
            let received = &mut self.received;
            self.connection
                .read(asked, |bytes| received.extend(bytes))?;
        };
        if reply.command().strip_suffix("-response") != Some(asked) {
            return Err(PmiError::Unexpected {
                asked,
                seen: printable(&reply.to_string()),
                expected: "the answer to it",
            });
        }
        match reply.value("rc") {
            None | Some("0") => Ok(reply),
            Some(rc) => Err(PmiError::Refused {
                asked,
                rc: printable(rc),
                reason: printable(reply.value("errmsg").unwrap_or("no reason given")),
            }),
        }
    }
}

#[cfg(test)]
#[path = "client2_tests.rs"]
mod tests;
