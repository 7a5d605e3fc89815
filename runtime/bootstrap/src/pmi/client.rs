//! The process's side of PMI-1.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use hostwire_transport::printable;

use super::connection::Connection;
use super::error::PmiError;
use super::variables;
use super::wire::{self, Line, LineBuffer};
use crate::deadline::Deadline;

/// The longest line that every launcher takes: Slurm reads 1024 bytes.
const PUT_LINE_BYTES_MAX: usize = 1000;

/// A connection to the launcher of this process.
///
/// Every call blocks until the launcher has answered, or the deadline has passed. Dropping the
/// client without [`Client::finalize`] is treated by the launcher as a failure, which ends the job.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    received: LineBuffer,
    rank: u32,
    size: u32,
    kvsname: String,
    key_bytes_max: usize,
    value_bytes_max: usize,
}

impl Client {
    /// Connects to the launcher that the environment names.
    ///
    /// `Ok(None)` if neither `PMI_FD` nor `PMI_PORT` is set.
    /// [`launch_environment`](crate::launch_environment) then says whether this is a job of
    /// one or a launcher of another kind.
    ///
    /// # Errors
    /// [`PmiError`]: variables that make no sense, a launcher that is gone or
    /// does not speak PMI-1.
    pub fn from_env(deadline: Deadline) -> Result<Option<Client>, PmiError> {
        let lookup =
            |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Client::from_lookup(lookup, deadline)
    }

    /// [`Client::from_env`], with `lookup` in place of the environment.
    ///
    /// # Errors
    /// As [`Client::from_env`].
    pub fn from_lookup(
        lookup: impl Fn(&str) -> Option<String>,
        deadline: Deadline,
    ) -> Result<Option<Client>, PmiError> {
        let lookup = |name: &str| lookup(name).filter(|value| !value.is_empty());
        if lookup("PMI_FD").is_some() {
            let (fd, rank, size) = variables::fd_rank_size(lookup)?;
            let connection = Connection::inherited(fd, deadline)?;
            return Client::unnamed(connection, rank, size)
                .initialised()
                .map(Some);
        }
        if let Some(address) = lookup("PMI_PORT") {
            let id = variables::number(lookup, "PMI_ID", "the number of this process")?;
            let place = format!("PMI_PORT={address}");
            let stream = reach(&address, deadline)
                .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
                .map_err(|e| PmiError::Unreachable {
                    place,
                    source: e.into(),
                })?;
            return Client::start_from_port(stream.into(), id, deadline).map(Some);
        }
        Ok(None)
    }

    /// Starts a conversation on `socket`, which leads to a PMI-1 server that
    /// knows this process as `rank` of `size`.
    ///
    /// # Errors
    /// As [`Client::from_env`].
    pub fn start(
        socket: OwnedFd,
        rank: u32,
        size: u32,
        deadline: Deadline,
    ) -> Result<Client, PmiError> {
        Client::unnamed(Connection { socket, deadline }, rank, size).initialised()
    }

    /// Starts a conversation over a port, where the server tells rank and size:
    /// `initack`, then three lines `cmd=set` with size, rank and debug.
    pub(crate) fn start_from_port(
        socket: OwnedFd,
        id: u32,
        deadline: Deadline,
    ) -> Result<Client, PmiError> {
        let mut client = Client::unnamed(Connection { socket, deadline }, 0, 1);
        let asked = "initack";
        let reply = client.ask(asked, &Line::new(asked).with("pmiid", id), "initack")?;
        accepted(asked, &reply)?;
        let mut told = |name: &'static str| -> Result<u32, PmiError> {
            let line = client.read(asked)?;
            match line.value(name).and_then(|value| value.parse().ok()) {
                Some(value) if line.command() == "set" => Ok(value),
                _ => Err(PmiError::Unexpected {
                    asked,
                    seen: printable(&line.to_string()),
                    expected: "cmd=set with size, rank and debug in turn",
                }),
            }
        };
        let (size, rank) = (told("size")?, told("rank")?);
        told("debug")?;
        variables::check_rank(rank, size)?;
        (client.rank, client.size) = (rank, size);
        client.initialised()
    }

    fn unnamed(connection: Connection, rank: u32, size: u32) -> Client {
        Client {
            connection,
            received: LineBuffer::default(),
            rank,
            size,
            kvsname: String::new(),
            key_bytes_max: wire::KEY_BYTES_MAX,
            value_bytes_max: wire::VALUE_BYTES_MAX,
        }
    }

    fn initialised(mut self) -> Result<Client, PmiError> {
        let line = Line::new("init")
            .with("pmi_version", 1)
            .with("pmi_subversion", 1);
        let reply = self.ask("init", &line, "response_to_init")?;
        if let Some(version) = reply.value("pmi_version").filter(|seen| *seen != "1") {
            return Err(PmiError::Version {
                seen: printable(version),
            });
        }
        accepted("init", &reply)?;
        if reply.value("pmi_version").is_none() {
            return Err(unexpected("init", &reply, "pmi_version=1"));
        }

        let reply = self.ask("get_maxes", &Line::new("get_maxes"), "maxes")?;
        accepted("get_maxes", &reply)?;
        let maximum = |name| {
            reply
                .value(name)
                .and_then(|value| value.parse::<usize>().ok())
        };
        let (Some(key_bytes_max), Some(value_bytes_max)) =
            (maximum("keylen_max"), maximum("vallen_max"))
        else {
            return Err(unexpected("get_maxes", &reply, "keylen_max and vallen_max"));
        };
        self.key_bytes_max = key_bytes_max.min(wire::LINE_BYTES_MAX / 4);
        self.value_bytes_max = value_bytes_max.min(wire::LINE_BYTES_MAX / 2);

        let reply = self.ask("get_my_kvsname", &Line::new("get_my_kvsname"), "my_kvsname")?;
        accepted("get_my_kvsname", &reply)?;
        match reply.value("kvsname") {
            Some(name) if wire::is_word(name) => self.kvsname = name.to_owned(),
            _ => return Err(unexpected("get_my_kvsname", &reply, "kvsname")),
        }
        // Slurm announces values of 1023 bytes, but ends a job whose line is longer than its
        // buffer.
        let around = "cmd=put kvsname= key= value=\n".len() + self.kvsname.len();
        let fits = PUT_LINE_BYTES_MAX.saturating_sub(around + self.key_bytes_max);
        self.value_bytes_max = self.value_bytes_max.min(fits);
        Ok(self)
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
        self.value_bytes_max
    }

    /// Publishes `value` under `key`; others may [`get`](Client::get) it after
    /// the next [`barrier`](Client::barrier).
    ///
    /// # Errors
    /// [`PmiError::BadWord`] when either is empty, too long or holds white space
    /// or control characters; nothing is sent then. Otherwise errors of the launcher.
    pub fn put(&mut self, key: &str, value: &str) -> Result<(), PmiError> {
        check_key(key, self.key_bytes_max)?;
        check_word("a value", value, self.value_bytes_max)?;
        let line = Line::new("put")
            .with("kvsname", &self.kvsname)
            .with("key", key)
            .with("value", value);
        let reply = self.ask("put", &line, "put_result")?;
        accepted("put", &reply)
    }

    /// The value that some process published under `key`.
    ///
    /// # Errors
    /// [`PmiError::Refused`] if no process has.
    pub fn get(&mut self, key: &str) -> Result<String, PmiError> {
        check_word("a key", key, self.key_bytes_max)?;
        let line = Line::new("get")
            .with("kvsname", &self.kvsname)
            .with("key", key);
        let reply = self.ask("get", &line, "get_result")?;
        if reply.value("rc").is_some_and(|rc| rc != "0") {
            let error = accepted("get", &reply).err();
            return Err(match error {
                Some(PmiError::Refused { asked, rc, reason }) => PmiError::Refused {
                    asked,
                    rc,
                    reason: format!("{reason}, key {key:?}"),
                },
                Some(error) => error,
                None => unexpected("get", &reply, "value"),
            });
        }
        match reply.value("value") {
            Some(value) => Ok(value.to_owned()),
            None => Err(unexpected("get", &reply, "value")),
        }
    }

    /// Waits until every process of the job has called it.
    ///
    /// # Errors
    /// [`PmiError::Refused`] if `hostwire run` knows that a process will never come,
    /// [`PmiError::Lost`] if the launcher has ended.
    pub fn barrier(&mut self) -> Result<(), PmiError> {
        let reply = self.ask("barrier", &Line::new("barrier_in"), "barrier_out")?;
        accepted("barrier", &reply)
    }

    /// Asks the launcher to end the whole job with exit status `code`.
    ///
    /// There is no answer, because the launcher also ends this process; the caller
    /// should exit.
    ///
    /// # Errors
    /// [`PmiError::Lost`] when the launcher is gone already.
    pub fn abort(&mut self, code: i32, message: &str) -> Result<(), PmiError> {
        let mut line = Line::new("abort").with("exitcode", code);
        let cut: String = message.chars().take(256).collect();
        if !cut.is_empty() {
            line = line.with("message", wire::escape(&cut));
        }
        self.connection.renew();
        self.write("abort", &line)
    }

    /// Leaves the job. Afterwards the launcher counts an end of this process with exit status
    /// 0 as a success.
    ///
    /// # Errors
    /// Errors of the launcher.
    pub fn finalize(&mut self) -> Result<(), PmiError> {
        self.connection.renew();
        let reply = self.ask("finalize", &Line::new("finalize"), "finalize_ack")?;
        accepted("finalize", &reply)
    }

    fn ask(
        &mut self,
        asked: &'static str,
        line: &Line,
        expected: &'static str,
    ) -> Result<Line, PmiError> {
        self.write(asked, line)?;
        let reply = self.read(asked)?;
        if reply.command() == expected {
            Ok(reply)
        } else {
            Err(PmiError::Unexpected {
                asked,
                seen: printable(&reply.to_string()),
                expected,
            })
        }
    }

    fn write(&mut self, asked: &'static str, line: &Line) -> Result<(), PmiError> {
        self.connection.write(asked, &line.emit())
    }

    fn read(&mut self, asked: &'static str) -> Result<Line, PmiError> {
        let malformed = |source| PmiError::Malformed { asked, source };
        loop {
            if let Some(line) = self.received.next_line().map_err(malformed)? {
                return Line::parse(&line).map_err(malformed);
            }
            let received = &mut self.received;
            self.connection
                .read(asked, |bytes| received.extend(bytes))?;
        }
    }
}

/// The socket, to be polled for the end of the launcher (`POLLHUP`). Reading
/// from it would take the client's answers away.
impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connection.socket.as_fd()
    }
}

/// A connection to one of the addresses that `address` names.
fn reach(address: &str, deadline: Deadline) -> io::Result<TcpStream> {
    let mut refused = None;
    for place in address.to_socket_addrs()? {
        // A time of zero is refused as an argument.
        let left = deadline.left().max(Duration::from_millis(1));
        match TcpStream::connect_timeout(&place, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into()))
}

pub(super) fn check_key(key: &str, bytes_max: usize) -> Result<(), PmiError> {
    check_word("a key", key, bytes_max)?;
    if key.contains(['=', ';']) {
        return Err(PmiError::BadWord {
            what: "a key",
            got_bytes: key.len(),
            problem: "which holds \"=\" or \";\"".to_owned(),
        });
    }
    Ok(())
}

pub(super) fn check_word(what: &'static str, word: &str, bytes_max: usize) -> Result<(), PmiError> {
    let problem = if word.is_empty() {
        "which is empty".to_owned()
    } else if word.len() >= bytes_max {
        format!("of which the launcher takes less than {bytes_max}")
    } else if !wire::is_word(word) {
        "which holds white space or control characters".to_owned()
    } else {
        return Ok(());
    };
    Err(PmiError::BadWord {
        what,
        got_bytes: word.len(),
        problem,
    })
}

/// Checks the `rc` of a reply. A reply without one means success: older servers send
/// none where no error is possible.
fn accepted(asked: &'static str, reply: &Line) -> Result<(), PmiError> {
    match reply.value("rc") {
        None | Some("0") => Ok(()),
        Some(rc) => {
            let reason = reply.value("msg").or_else(|| reply.value("reason"));
            let reason = wire::unescape(reason.unwrap_or("no reason given"));
            Err(PmiError::Refused {
                asked,
                rc: printable(rc),
                reason: printable(&reason),
            })
        }
    }
}

fn unexpected(asked: &'static str, reply: &Line, expected: &'static str) -> PmiError {
    PmiError::Unexpected {
        asked,
        seen: printable(&reply.to_string()),
        expected,
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
