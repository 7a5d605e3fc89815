//! The tasks of one step exchange values: all send theirs to task 0, which sends everything to all.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use hostwire_transport::os::strangers::Strangers;
use rustix::event::{PollFd, PollFlags};

use super::door;
use super::frame::{Entry, Frame, FrameBuffer};
use super::{Deadline, SlurmError};

/// How often a task tries to reach task 0, which may not have started yet.
const RETRY: Duration = Duration::from_millis(10);

/// Most connections that have not said yet which task they are, beyond one for each task.
const STRANGERS_MAX: usize = 64;

/// The place of the meeting.
#[derive(Debug, Clone)]
pub(crate) struct Rendezvous {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    /// The beginning of the name of task 0's socket.
    pub(crate) place: String,
}

/// This task's side.
pub(crate) struct Exchange {
    me: Rendezvous,
    deadline: Deadline,
    /// Values put here since the last fence.
    fresh: Vec<Entry>,
    /// Values of all tasks, as of the last fence.
    values: BTreeMap<(u32, String), Vec<u8>>,
    side: Side,
}

enum Side {
    /// Task 0: its listening socket, and by number the tasks that have come.
    Hub(UnixListener, Vec<Option<Peer>>),
    /// Another task: its connection to task 0, from the first fence on.
    Leaf(Option<Peer>),
}

/// The other end of a connection.
struct Peer {
    stream: UnixStream,
    received: FrameBuffer,
}

/// What happened to a connection whose task was not known.
enum Admitted {
    /// Dropped.
    Not,
    /// It has not said which task it is.
    Silent(Peer),
    /// One of the tasks, and its values.
    As(u32, Vec<Entry>),
}

impl Exchange {
    pub(crate) fn open(me: Rendezvous, deadline: Deadline) -> Result<Self, SlurmError> {
        let side = if me.rank == 0 {
            let listener = door::open(&me.place).map_err(|source| me.failed(source))?;
            Side::Hub(listener, (0..me.size).map(|_| None).collect())
        } else {
            Side::Leaf(None)
        };
        Ok(Self {
            me,
            deadline,
            fresh: Vec::new(),
            values: BTreeMap::new(),
            side,
        })
    }

    pub(crate) fn rank(&self) -> u32 {
        self.me.rank
    }

    pub(crate) fn size(&self) -> u32 {
        self.me.size
    }

    pub(crate) fn put(&mut self, key: &str, value: &[u8]) -> Result<(), SlurmError> {
        if !Frame::fits(key, value) {
            let problem = format!(
                "a key of {} and a value of {} bytes",
                key.len(),
                value.len()
            );
            return Err(self
                .me
                .failed(io::Error::new(ErrorKind::InvalidInput, problem)));
        }
        self.fresh.push(Entry {
            rank: self.me.rank,
            key: key.to_owned(),
            value: value.to_vec(),
        });
        Ok(())
    }

    pub(crate) fn get(&self, rank: u32, key: &str) -> Result<Vec<u8>, SlurmError> {
        let value = self.values.get(&(rank, key.to_owned()));
        value.cloned().ok_or_else(|| SlurmError::NoValue {
            rank,
            key: key.to_owned(),
        })
    }

    pub(crate) fn fence(&mut self) -> Result<(), SlurmError> {
        let deadline = self.deadline;
        let own = std::mem::take(&mut self.fresh);
        let all = match &mut self.side {
            Side::Leaf(hub) => self.me.ask(hub, own, deadline),
            Side::Hub(listener, peers) => self.me.serve(listener, peers, own, deadline),
        };
        let all = all.map_err(|error| match error {
            SlurmError::Absent { tasks, .. } => SlurmError::Absent {
                tasks,
                waited_s: deadline.patience_s(),
            },
            other => other,
        })?;
        for Entry { rank, key, value } in all {
            self.values.insert((rank, key), value);
        }
        Ok(())
    }
}

impl Rendezvous {
    fn failed(&self, source: io::Error) -> SlurmError {
        SlurmError::Socket {
            rank: self.rank,
            place: self.place.clone(),
            source: source.into(),
        }
    }

    fn values(&self, entries: Vec<Entry>) -> Frame {
        Frame::Values {
            from: self.rank,
            tasks: self.size,
            entries,
        }
    }

    /// The fence of a task other than 0: sends its own values and gets those of all.
    fn ask(
        &self,
        hub: &mut Option<Peer>,
        own: Vec<Entry>,
        deadline: Deadline,
    ) -> Result<Vec<Entry>, SlurmError> {
        let peer = match hub {
            Some(peer) => peer,
            None => hub.insert(self.reach(deadline)?),
        };
        let ended = SlurmError::Ended { task: 0 };
        // Task 0 may have refused and ended: its message has to be read in any case.
        let sent = peer.send(&self.values(own), deadline);
        loop {
            match peer.next_frame() {
                Ok(Some(Frame::Values {
                    from: 0, entries, ..
                })) => return Ok(entries),
                Ok(Some(Frame::Refusal(reason))) => return Err(SlurmError::Refused { reason }),
                Ok(Some(Frame::Values { from, .. })) => {
                    let source = io::Error::other(format!("task {from} answers for task 0"));
                    return Err(self.failed(source));
                }
                Ok(None) if sent.is_err() => return Err(ended),
                Ok(None) => {}
                Err(Problem::Ended) => return Err(ended),
                Err(problem) => return Err(self.blame(0, problem)),
            }
            if !deadline
                .wait(&peer.stream, PollFlags::IN)
                .map_err(|source| self.failed(source))?
            {
                return Err(absent(vec![0]));
            }
        }
    }

    /// A connection to task 0, as soon as it listens.
    fn reach(&self, deadline: Deadline) -> Result<Peer, SlurmError> {
        loop {
            let entered = door::enter(&self.place).map_err(|source| self.failed(source))?;
            if let Some(stream) = entered {
                return Peer::new(stream).map_err(|source| self.failed(source));
            }
            if deadline.left().is_zero() {
                return Err(absent(vec![0]));
            }
            std::thread::sleep(RETRY);
        }
    }

    /// Task 0's fence: waits for all others and sends them all values.
    fn serve(
        &self,
        listener: &UnixListener,
        peers: &mut [Option<Peer>],
        own: Vec<Entry>,
        deadline: Deadline,
    ) -> Result<Vec<Entry>, SlurmError> {
        let gathered = self.gather(listener, peers, own, deadline);
        let answer = match &gathered {
            Ok(all) => self.values(all.clone()),
            // Their own errors would only name the end of task 0.
            Err(error) => Frame::Refusal(error.to_string()),
        };
        for (task, peer) in (0..).zip(peers) {
            let Some(peer) = peer else { continue };
            let sent = peer.send(&answer, deadline);
            if gathered.is_ok() {
                sent.map_err(|_| SlurmError::Ended { task })?;
            }
        }
        gathered
    }

    fn no_place(&self, from: u32, tasks: u32) -> String {
        format!(
            "there is no place for a task {from} of {tasks} in this step of {}",
            self.size
        )
    }

    /// Waits for a new connection or for data; `false` when the time is over.
    fn wait_for_any<'a>(
        &self,
        listener: &UnixListener,
        peers: impl Iterator<Item = &'a Peer>,
        deadline: Deadline,
    ) -> Result<bool, SlurmError> {
        let mut fds = vec![PollFd::new(listener, PollFlags::IN)];
        fds.extend(peers.map(|peer| PollFd::new(&peer.stream, PollFlags::IN)));
        deadline
            .wait_for_any(&mut fds)
            .map_err(|source| self.failed(source))
    }

    fn gather(
        &self,
        listener: &UnixListener,
        peers: &mut [Option<Peer>],
        own: Vec<Entry>,
        deadline: Deadline,
    ) -> Result<Vec<Entry>, SlurmError> {
        let mut all = own;
        let mut here: Vec<bool> = peers.iter().map(|_| false).collect();
        if let Some(me) = here.first_mut() {
            *me = true;
        }
        let mut strangers: Strangers<Peer> = Strangers::new(peers.len() + STRANGERS_MAX);
        loop {
            for come in self.accept(listener, peers.len() + STRANGERS_MAX)? {
                strangers.come(come);
            }
            for stranger in strangers.take() {
                match self.admit(stranger, peers, deadline)? {
                    Admitted::Not => {}
                    Admitted::Silent(stranger) => {
                        strangers.come(stranger);
                    }
                    Admitted::As(from, entries) => {
                        mark(&mut here, from);
                        all.extend(entries.into_iter().filter(|entry| entry.rank == from));
                    }
                }
            }
            for (task, peer) in (0..).zip(peers.iter_mut()) {
                let missing = here.get(task as usize) == Some(&false);
                let Some(peer) = peer.as_mut().filter(|_| missing) else {
                    continue;
                };
                match peer.next_frame() {
                    Ok(None) => {}
                    Ok(Some(Frame::Values { from, entries, .. })) if from == task => {
                        mark(&mut here, task);
                        all.extend(entries.into_iter().filter(|entry| entry.rank == task));
                    }
                    Ok(Some(_)) => {
                        let source = io::Error::other(format!("task {task} answers for another"));
                        return Err(self.failed(source));
                    }
                    Err(Problem::Ended) => return Err(SlurmError::Ended { task }),
                    Err(problem) => return Err(self.blame(task, problem)),
                }
            }
            let missing: Vec<u32> = (0..self.size)
                .filter(|task| here.get(*task as usize) == Some(&false))
                .collect();
            if missing.is_empty() {
                return Ok(all);
            }
            let expected = (0..)
                .zip(peers.iter())
                .filter(|(task, _)| missing.contains(task))
                .filter_map(|(_, peer)| peer.as_ref());
            let has_more =
                self.wait_for_any(listener, strangers.iter().chain(expected), deadline)?;
            // Bounded, because strangers may keep coming.
            if !has_more || deadline.left().is_zero() {
                return Err(absent(missing));
            }
        }
    }

    /// Reads from a connection whose task is not known yet.
    fn admit(
        &self,
        mut stranger: Peer,
        peers: &mut [Option<Peer>],
        deadline: Deadline,
    ) -> Result<Admitted, SlurmError> {
        match stranger.next_frame() {
            Ok(None) => Ok(Admitted::Silent(stranger)),
            // Not of this step, or already closed: dropped without an answer.
            Err(_) | Ok(Some(Frame::Refusal(_))) => Ok(Admitted::Not),
            Ok(Some(Frame::Values {
                from,
                tasks,
                entries,
            })) => {
                let free = peers.get_mut(from as usize).filter(|peer| peer.is_none());
                match free {
                    Some(slot) if from != 0 && tasks == self.size => {
                        *slot = Some(stranger);
                        Ok(Admitted::As(from, entries))
                    }
                    _ => {
                        let reason = self.no_place(from, tasks);
                        let _ = stranger.send(&Frame::Refusal(reason.clone()), deadline);
                        Err(self.failed(io::Error::other(reason)))
                    }
                }
            }
        }
    }

    /// The next connections, `most` at a time, of those that belong to this user.
    fn accept(&self, listener: &UnixListener, most: usize) -> Result<Vec<Peer>, SlurmError> {
        let mut come = Vec::new();
        for _ in 0..most {
            match listener.accept() {
                Ok((stream, _)) => {
                    if door::is_ours(&stream) {
                        come.push(Peer::new(stream).map_err(|source| self.failed(source))?);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(come),
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::Interrupted | ErrorKind::ConnectionAborted
                    ) => {}
                Err(source) => return Err(self.failed(source)),
            }
        }
        Ok(come)
    }

    fn blame(&self, task: u32, problem: Problem) -> SlurmError {
        match problem {
            Problem::Ended => SlurmError::Ended { task },
            Problem::Malformed(source) => SlurmError::Malformed { task, source },
            Problem::System(source) => self.failed(source),
        }
    }
}

/// Why there is no next message.
enum Problem {
    Ended,
    Malformed(super::FrameError),
    System(io::Error),
}

impl Peer {
    fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            received: FrameBuffer::default(),
        })
    }

    /// Reads the available bytes; returns the next message if it is complete.
    fn next_frame(&mut self) -> Result<Option<Frame>, Problem> {
        let mut ended = false;
        let mut bytes = [0; 16 << 10];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => ended = true,
                Ok(n) => {
                    self.received.extend(bytes.get(..n).unwrap_or_default());
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => ended = true,
                Err(error) => return Err(Problem::System(error)),
            }
            break;
        }
        match self.received.next_frame() {
            Err(error) => Err(Problem::Malformed(error)),
            Ok(None) if ended => Err(Problem::Ended),
            Ok(frame) => Ok(frame),
        }
    }

    fn send(&mut self, frame: &Frame, deadline: Deadline) -> io::Result<()> {
        let bytes = frame.emit();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            // A closed connection must be an error here, not a SIGPIPE.
            match rustix::net::send(&self.stream, rest, rustix::net::SendFlags::NOSIGNAL) {
                Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => {
                    if !deadline.wait(&self.stream, PollFlags::OUT)? {
                        return Err(ErrorKind::TimedOut.into());
                    }
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }
}

fn mark(here: &mut [bool], task: u32) {
    if let Some(here) = here.get_mut(task as usize) {
        *here = true;
    }
}

fn absent(tasks: Vec<u32>) -> SlurmError {
    SlurmError::Absent { tasks, waited_s: 0 }
}
