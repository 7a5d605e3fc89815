//! An agent: its station, the memory that others may use, and the others that it knows.

use core::ptr::NonNull;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hostwire::station::{
    Deed, Finished, Label, Lane, MakesProgress, MemoryRegion, MemoryRegions, Name, RegionRange,
    Rights, Station, Wanted,
};
use hostwire::{Error, PeId, Source, Tag};
use hostwire_transport::Memory;
use hostwire_transport::memory::Backing;

use crate::bytes::{Bytes, Loan, Place};
use crate::inbox::Inbox;
use crate::notice::Notice;
use crate::status::Status;
use crate::transfer::{Last, Transfer};

/// What ends at one look, at most, so that a call of NIXL comes back.
const BATCH: usize = 64;
/// How long the release of a transfer waits for its end: until then the other agent may use the memory.
const RELEASE_WITHIN: Duration = Duration::from_secs(10);
/// How long the end of an agent waits for others to hear that what they asked for is done.
const LINGER: Duration = Duration::from_millis(200);
/// For so long the thread leaves looking to a program that does so, and is not woken by each store.
const REST: Duration = Duration::from_micros(200);

const NOTICES: Label = Label {
    lane: Lane::Plain,
    tag: 0,
    data: None,
};

/// The number of this agent for itself.
const OWN: PeId = 0;

/// A piece of a transfer: memory here, and as much of another agent's.
pub(crate) struct Piece {
    pub(crate) here: Loan,
    /// The address there.
    pub(crate) there: u64,
    pub(crate) key: u64,
}

/// Reads or writes of one agent.
pub(crate) struct Order {
    pub(crate) is_read: bool,
    pub(crate) with: PeId,
    pub(crate) pieces: Vec<Piece>,
    /// To be told when they are done.
    pub(crate) message: Option<Vec<u8>>,
}

/// See the [module text](self). Any thread may use it.
pub struct Engine {
    pub(crate) station: Station,
    regions: Arc<MemoryRegions>,
    agent: Vec<u8>,
    agents: Mutex<Agents>,
    inbox: Mutex<InboxState>,
    /// The last transfer that got a number. Who holds it sends: the puts of a transfer and what notifies of them are
    /// next to each other.
    posting: Mutex<u64>,
    /// The program has looked by itself since its thread last asked.
    has_looked: AtomicBool,
}

impl MakesProgress for Engine {
    fn station(&self) -> &Station {
        &self.station
    }

    fn turn(&self) -> bool {
        self.progress().unwrap_or(false)
    }

    fn rests(&self) -> Option<Duration> {
        let has_looked = self.has_looked.swap(false, Ordering::Relaxed);
        has_looked.then_some(REST)
    }
}

/// The others that NIXL has told of.
#[derive(Default)]
struct Agents {
    numbers: HashMap<Vec<u8>, PeId>,
    names: HashMap<PeId, Vec<u8>>,
}

struct InboxState {
    inbox: Inbox,
    /// Room for the next notification, unless a receive has it.
    room: Option<Box<Bytes>>,
}

/// NIXL has lent it until it is deregistered.
struct Lent;

impl Backing for Lent {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// The engine of an agent of this name, which others can reach from now on.
    ///
    /// # Errors
    /// A setting that is wrong; no memory, no descriptors, no thread.
    pub(crate) fn open(agent: &[u8]) -> Result<Self, Error> {
        let regions = Arc::<MemoryRegions>::default();
        let station = Station::with(Arc::clone(&regions))?;
        let numbers = [(agent.to_vec(), OWN)].into();
        let names = [(OWN, agent.to_vec())].into();
        let room = Box::new(Bytes {
            place: Place::Kept(vec![0; Notice::BYTES_MAX]),
            transfer: None,
        });
        let mut state = InboxState {
            inbox: Inbox::default(),
            room: Some(room),
        };
        receive_next(&station, &mut state)?;
        Ok(Self {
            station,
            regions,
            agent: agent.to_vec(),
            agents: Mutex::new(Agents { numbers, names }),
            inbox: Mutex::new(state),
            posting: Mutex::new(0),
            has_looked: AtomicBool::new(false),
        })
    }

    /// The last progress: others hear that what they asked for is done.
    pub(crate) fn finish(&self) {
        let begin = Instant::now();
        while self.progress().is_ok() && self.station.owes() && begin.elapsed() < LINGER {
            std::thread::yield_now();
        }
    }

    /// Lets others use memory, by the key that this gives.
    ///
    /// # Safety
    /// Until [`deregister`](Self::deregister), `len` bytes at `first` are there, can be written to, and are used as NIXL demands.
    pub(crate) unsafe fn register(&self, first: *mut u8, len: usize) -> Result<u64, Status> {
        let base = NonNull::new(first).ok_or(Status::INVALID)?;
        isize::try_from(len).map_err(|_| Status::INVALID)?;
        // SAFETY: as this function demands. No reference leads there but those of transfers, which are on memory that nobody
        // else uses meanwhile.
        let memory = unsafe { Memory::new(base, len, Arc::new(Lent)) };
        let region = MemoryRegion {
            memory,
            first: first.addr() as u64,
            rights: Rights {
                read: true,
                write: true,
            },
            witness: None,
        };
        self.regions.add(None, region).ok_or(Status::BACKEND)
    }

    pub(crate) fn deregister(&self, key: u64) -> Result<(), Status> {
        self.regions
            .remove(key)
            .then_some(())
            .ok_or(Status::NOT_FOUND)
    }

    /// Learns where an agent is.
    ///
    /// # Errors
    /// [`Status::INVALID`] if these bytes are no name of a station that can be reached from here.
    pub(crate) fn load(&self, agent: &[u8], name: &[u8]) -> Result<(), Status> {
        let name = Name::from_bytes(name).ok_or(Status::INVALID)?;
        let number = self.station.number(&name);
        let number = number.map_err(|error| Status::from(&error))?;
        let agents = &mut *lock(&self.agents);
        let is_known = agents
            .names
            .get(&number)
            .is_some_and(|known| known != agent);
        if is_known || (agent == self.agent) != (number == OWN) {
            return Err(Status::INVALID);
        }
        let before = agents.numbers.insert(agent.to_vec(), number);
        if let Some(before) = before.filter(|before| *before != number) {
            agents.names.remove(&before);
        }
        agents.names.insert(number, agent.to_vec());
        Ok(())
    }

    pub(crate) fn unload(&self, agent: &[u8]) -> Result<(), Status> {
        let agents = &mut *lock(&self.agents);
        if agent == self.agent {
            return Ok(());
        }
        let number = agents.numbers.remove(agent).ok_or(Status::NOT_FOUND)?;
        agents.names.remove(&number);
        Ok(())
    }

    pub(crate) fn number(&self, agent: &[u8]) -> Result<PeId, Status> {
        let agents = lock(&self.agents);
        agents.numbers.get(agent).copied().ok_or(Status::NOT_FOUND)
    }

    /// Starts a transfer. The notification of a write follows its puts, which the other agent does in their order; that of a read
    /// is sent when all has come.
    pub(crate) fn post(&self, transfer: &Arc<Transfer>, order: Order) -> Status {
        let Order {
            is_read,
            with,
            pieces,
            message,
        } = order;
        let posting = &mut *lock(&self.posting);
        *posting += 1;
        let number = *posting;
        let puts = if is_read { 0 } else { pieces.len() };
        let notice = match message.map(|message| self.notice(number, puts, &message)) {
            None => None,
            Some(Ok(bytes)) => Some(Last { to: with, bytes }),
            Some(Err(status)) => return status,
        };
        let (then, last) = match is_read {
            true => (None, notice),
            false => (notice, None),
        };
        let deed = match is_read {
            true => Deed::Get,
            false => Deed::Put {
                data: then.as_ref().map(|_| number),
            },
        };
        if let Err(status) = transfer.start(last) {
            return status;
        }
        let mut all = Ok(());
        for piece in pieces {
            all = self.ask(transfer, with, deed.clone(), &piece);
            if all.is_err() {
                break;
            }
        }
        if let Some(then) = then.filter(|_| all.is_ok()) {
            transfer.add_one();
            self.send(transfer, then);
        }
        self.end_one(transfer, all);
        transfer.status()
    }

    fn ask(
        &self,
        transfer: &Arc<Transfer>,
        with: PeId,
        deed: Deed,
        piece: &Piece,
    ) -> Result<(), Status> {
        let place = RegionRange {
            key: piece.key,
            at: piece.there,
            len: piece.here.len() as u64,
        };
        let bytes = Box::new(Bytes {
            place: Place::Lent(piece.here),
            transfer: Some(Arc::clone(transfer)),
        });
        transfer.add_one();
        let asked = self.station.ask(with, deed, vec![place], bytes);
        asked.map(drop).map_err(|error| {
            let status = Status::from(&error);
            self.end_one(transfer, Err(status));
            status
        })
    }

    /// A part of a transfer has ended: what follows it is sent.
    fn end_one(&self, transfer: &Arc<Transfer>, result: Result<(), Status>) {
        if let Some(last) = transfer.end_one(result) {
            self.send(transfer, last);
        }
    }

    /// Sends a notification, which is a part of that transfer.
    fn send(&self, transfer: &Arc<Transfer>, last: Last) {
        let sent = self.send_bytes(last.to, last.bytes, Some(transfer));
        match sent {
            // The station tells the end.
            Ok(false) => {}
            Ok(true) => self.end_one(transfer, Ok(())),
            Err(status) => self.end_one(transfer, Err(status)),
        }
    }

    /// Whether that has ended already.
    fn send_bytes(
        &self,
        to: PeId,
        bytes: Vec<u8>,
        transfer: Option<&Arc<Transfer>>,
    ) -> Result<bool, Status> {
        let sent = self.station.send_at_once(to, NOTICES, &bytes);
        if sent.map_err(|error| Status::from(&error))? {
            return Ok(true);
        }
        let bytes = Box::new(Bytes {
            place: Place::Kept(bytes),
            transfer: transfer.cloned(),
        });
        let sent = self.station.send(to, NOTICES, bytes);
        sent.map(|_| false).map_err(|error| Status::from(&error))
    }

    fn notice(&self, transfer: u64, puts: usize, message: &[u8]) -> Result<Vec<u8>, Status> {
        let notice = Notice {
            transfer,
            puts: u32::try_from(puts).map_err(|_| Status::INVALID)?,
            agent: &self.agent,
            message,
        };
        notice.to_bytes().ok_or(Status::INVALID)
    }

    /// Notifies an agent of what is no transfer.
    pub(crate) fn notify(&self, agent: &[u8], message: &[u8]) -> Result<(), Status> {
        let to = self.number(agent)?;
        let bytes = self.notice(0, 0, message)?;
        self.send_bytes(to, bytes, None).map(drop)
    }

    /// How a transfer has ended, or that it has not. Makes progress.
    pub(crate) fn check(&self, transfer: &Transfer) -> Status {
        match transfer.status() {
            Status::IN_PROGRESS => {}
            ended => return ended,
        }
        match self.look() {
            Ok(_) => transfer.status(),
            Err(error) => Status::from(&error),
        }
    }

    /// Waits for the end of a transfer, after which nobody uses its memory.
    ///
    /// # Errors
    /// [`Status::ACTIVE`] if it does not end.
    pub(crate) fn release(&self, transfer: &Transfer) -> Result<(), Status> {
        let begin = Instant::now();
        while transfer.status() == Status::IN_PROGRESS {
            if begin.elapsed() >= RELEASE_WITHIN {
                return Err(Status::ACTIVE);
            }
            self.look().map_err(|error| Status::from(&error))?;
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Gives each notification that has come: its sender, and what it says. Makes progress.
    pub(crate) fn take(&self, mut give: impl FnMut(&[u8], &[u8])) -> Result<(), Status> {
        self.look().map_err(|error| Status::from(&error))?;
        let state = &mut *lock(&self.inbox);
        for (agent, message) in state.inbox.take() {
            give(&agent, &message);
        }
        receive_next(&self.station, state).map_err(|error| Status::from(&error))
    }

    /// Progress by a call of the program.
    fn look(&self) -> Result<bool, Error> {
        self.has_looked.store(true, Ordering::Relaxed);
        self.progress()
    }

    /// Makes progress. Whether anything has come of it.
    fn progress(&self) -> Result<bool, Error> {
        let seen = self.station.turn()?;
        if seen.has_finished {
            let finished = core::iter::from_fn(|| self.station.finished());
            for finished in finished.take(BATCH) {
                self.end(finished)?;
            }
        }
        if seen.has_notes {
            self.take_notes(&mut lock(&self.inbox));
        }
        Ok(seen.has_finished || seen.has_notes)
    }

    /// An operation of the station has ended.
    fn end(&self, finished: Finished) -> Result<(), Error> {
        let bytes = finished.buffer.map(|buffer| buffer.into_any().downcast());
        let Some(Ok(bytes)) = bytes else {
            return Ok(());
        };
        let bytes: Box<Bytes> = bytes;
        if !finished.is_receive {
            if let Some(transfer) = &bytes.transfer {
                let result = finished.result.map(drop);
                self.end_one(transfer, result.map_err(|error| Status::from(&error)));
            }
            return Ok(());
        }
        let state = &mut *lock(&self.inbox);
        // What was done before it came.
        self.take_notes(state);
        if let (Ok(envelope), Place::Kept(room)) = (finished.result, &bytes.place)
            && let Some(bytes) = room.get(..envelope.len_bytes)
            && let Some(notice) = Notice::from_bytes(bytes)
            && self.may_be_of(envelope.from, notice.agent)
        {
            state.inbox.add(envelope.from, &notice);
        }
        state.room = Some(bytes);
        receive_next(&self.station, state)
    }

    /// Nobody speaks for an agent that is known here as another one.
    fn may_be_of(&self, from: PeId, agent: &[u8]) -> bool {
        let agents = lock(&self.agents);
        let number = agents.numbers.get(agent);
        let name = agents.names.get(&from);
        number.is_none_or(|number| *number == from) && name.is_none_or(|name| name == agent)
    }

    /// What others have done to memory here.
    fn take_notes(&self, state: &mut InboxState) {
        while self.station.take_use().is_some() {}
        while let Some(event) = self.station.take_event() {
            state.inbox.count_put(event.from, event.data);
        }
    }
}

/// Lets the next notification come, if there is room for it.
fn receive_next(station: &Station, state: &mut InboxState) -> Result<(), Error> {
    if state.inbox.is_full() {
        return Ok(());
    }
    let Some(room) = state.room.take() else {
        return Ok(());
    };
    let wanted = Wanted {
        lane: Lane::Plain,
        from: Source::Any,
        tag: Tag::ANY,
    };
    station.receive(wanted, room).map(drop)
}
