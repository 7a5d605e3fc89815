//! The adapter's loop: packs stores of the PEs into frames, and answers the PEs.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hostwire_address::JobMap;
use hostwire_link::{LinkId, Progress, SendError, Ticket};
use hostwire_transport::error::{Loss, PeId, TransportError};
use hostwire_transport::shm::LivenessWatch;
use hostwire_transport::wait::{Backoff, WaitLimits, WaitStep};
use hostwire_transport::window::Window;
use hostwire_transport::wire::Lifetime;

use super::announce::Announcements;
use super::memory::{AdapterMemory, Closed};
use super::queue::{First, PIECE_BYTES, Reader, Record};
use crate::core::{FramesCore, clock_ns};
use crate::ended_pes::End;
use crate::{Ether, HostPath, tally_values};

/// Bytes that are taken from one PE before the next one has its turn.
const TURN_BYTES: usize = 4 * PIECE_BYTES;
/// Most questions of one PE that wait for an answer. The queue of a PE with so many is not read
/// meanwhile.
const QUESTIONS_MAX: usize = 64;
/// How often it checks which PEs have ended.
const LOOK_AROUND: Duration = Duration::from_millis(20);
/// Turns between two readings of the clock for that.
const TURNS_PER_CLOCK: u32 = 64;
/// Longest sleep while a PE waits for an answer from the network. Fitted: short against a round
/// trip of a slow network, long against a system call.
const ATTENDING_SLEEP_MAX: Duration = Duration::from_micros(100);

/// Longest sleep where others want its core. A PE that writes ends it.
const AMONG_OTHERS_SLEEP_MAX: Duration = Duration::from_millis(10);

/// See the [module text](self).
pub(super) struct Server {
    ether: Ether,
    adapter_memory: AdapterMemory,
    watch: LivenessWatch,
    map: JobMap,
    guests: Vec<Hosted>,
    announcements: Announcements,
    /// By host: whether the PEs know that it is closed.
    is_closed: Vec<bool>,
    /// By when PEs have to join.
    deadline: Instant,
    looked_around: Instant,
    room: Box<[u8; PIECE_BYTES]>,
    /// Links with stores in this turn.
    stored: Vec<LinkId>,
}

/// A PE of this host.
struct Hosted {
    pe: PeId,
    local: u32,
    segment: Window,
    queue: Reader,
    /// In the order of asking.
    questions: VecDeque<Question>,
    life: Life,
}

/// A question of a PE, for whose answer it waits.
struct Question {
    number: u64,
    pending: Vec<(LinkId, Ticket)>,
}

/// The state of a PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    /// It may write more.
    Lives,
    /// Its process has ended. Its earlier stores are still sent.
    Died,
    /// It has said farewell.
    Finished,
    /// All hosts have been told.
    Announced,
}

/// The result of a turn.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    /// It did something.
    has_moved: bool,
    /// Something waits for the network.
    waits: bool,
}

impl Server {
    pub(super) fn new(
        ether: Ether,
        adapter_memory: AdapterMemory,
        segments: Vec<Window>,
        watch: LivenessWatch,
        deadline: Instant,
    ) -> Result<Self, TransportError> {
        let members = ether.neighbours(ether.pe);
        let guests = (0..).zip(members).zip(segments);
        let guests = guests.map(|((local, pe), segment)| {
            Ok(Hosted {
                pe,
                local,
                segment,
                queue: adapter_memory.reader(local)?,
                questions: VecDeque::new(),
                life: Life::Lives,
            })
        });
        Ok(Self {
            guests: guests.collect::<Result<_, TransportError>>()?,
            announcements: Announcements::default(),
            is_closed: vec![false; adapter_memory.hosts() as usize],
            map: *ether.addresses.map(),
            deadline,
            looked_around: Instant::now(),
            room: Box::new([0; PIECE_BYTES]),
            stored: Vec::new(),
            watch,
            adapter_memory,
            ether,
        })
    }

    /// Serves until all PEs of this host have ended.
    pub(super) fn run(mut self) {
        let limits = WaitLimits::for_pes(self.adapter_memory.here() + 1);
        let mut backoff = Backoff::new(limits);
        let mut turns = 0_u32;
        while !self.is_over() {
            let turn = self.turn();
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(TURNS_PER_CLOCK) {
                self.look_around_in_time();
            }
            if turn.has_moved {
                backoff.came();
                continue;
            }
            match backoff.step() {
                WaitStep::Spin | WaitStep::Look | WaitStep::Work => {}
                WaitStep::Pause => std::hint::spin_loop(),
                WaitStep::Yield => self.give_core(turn.waits),
                WaitStep::Nap(time) => std::thread::sleep(time),
                WaitStep::Sleep(limit) => self.sleep(limit, turn.waits),
            }
        }
        self.ether.finish();
    }

    fn is_over(&self) -> bool {
        let all = self
            .guests
            .iter()
            .all(|guest| guest.life == Life::Announced);
        all && self.announcements.is_empty()
    }

    /// Gives the core away. If others want it, it sleeps instead: see [`patience`](crate::patience).
    fn give_core(&mut self, waits: bool) {
        let before_ns = clock_ns();
        if self.ether.cores.are_shared(before_ns) {
            self.sleep(AMONG_OTHERS_SLEEP_MAX, waits);
            return;
        }
        std::thread::yield_now();
        self.ether.cores.between(before_ns, clock_ns());
    }

    /// Sleeps until a PE writes. The agent serves the socket meanwhile. If a PE waits for the
    /// network, the sleep is short.
    fn sleep(&mut self, limit: Duration, waits: bool) {
        self.look_around_in_time();
        let limit = match waits {
            true => limit.min(ATTENDING_SLEEP_MAX),
            false => limit,
        };
        let doorbell = self.adapter_memory.window().doorbell();
        let limit = doorbell.arm(limit);
        if self
            .guests
            .iter()
            .all(|guest| guest.queue.is_empty() || guest.life == Life::Announced)
            || waits
        {
            doorbell.sleep(limit);
        }
    }

    /// Takes records of PEs, receives, sends and answers.
    fn turn(&mut self) -> Turn {
        let mut turn = Turn::default();
        let has_news = self.guests.iter().any(Hosted::has_news);
        if has_news || !self.announcements.is_empty() {
            let shared = std::sync::Arc::clone(&self.ether.shared);
            let mut core = shared.lock();
            for at in 0..self.guests.len() {
                turn = turn.and(self.serve(at, &mut core));
            }
            self.announcements.send(&mut core);
            if turn.waits || core.socket.has_come() {
                core.attend();
                turn.has_moved |= core.drive();
            }
            for link in self.stored.drain(..) {
                core.transmit_stored(link);
            }
            let answered = self.answer(&core);
            turn.has_moved |= answered;
            shared.release(core);
        }
        turn.has_moved |= self.ether.shared.look();
        turn
    }

    /// Takes records of one PE, up to a bound.
    fn serve(&mut self, at: usize, core: &mut FramesCore) -> Turn {
        let mut turn = Turn::default();
        let mut bytes = 0;
        while bytes < TURN_BYTES {
            let Some(guest) = self.guests.get_mut(at) else {
                break;
            };
            turn.waits |= !guest.questions.is_empty();
            if guest.life == Life::Announced || guest.questions.len() >= QUESTIONS_MAX {
                break;
            }
            let record = match guest.queue.first() {
                First::Record(record) => record,
                First::Nothing if guest.life == Life::Lives => break,
                First::Nothing => {
                    self.announce(at);
                    turn.has_moved = true;
                    break;
                }
                First::Nonsense => {
                    // Treated as dead: what it wants cannot be known.
                    guest.life = Life::Died;
                    self.adapter_memory.say_unreadable(guest.local);
                    guest.segment.notify();
                    self.announce(at);
                    break;
                }
            };
            match record {
                Record::Store { pe, address, len } => {
                    if !self.store(at, core, (pe, address, len)) {
                        turn.waits = true;
                        break;
                    }
                    bytes += len;
                }
                Record::Quiet { pe, question } => self.note(at, core, pe, question),
                Record::Count { question } => {
                    self.adapter_memory.write_counters(tally_values(core));
                    self.note(at, core, Some(self.ether.pe), question);
                }
                Record::Finish { question } => {
                    self.note(at, core, None, question);
                    if let Some(guest) = self.guests.get_mut(at) {
                        guest.life = Life::Finished;
                    }
                }
            }
            turn.has_moved = true;
            if let Some(guest) = self.guests.get_mut(at) {
                guest.queue.pass(record);
            }
        }
        if let Some(guest) = self.guests.get_mut(at)
            && guest.queue.say()
        {
            // The PE may wait for room.
            guest.segment.notify();
        }
        turn
    }

    /// Gives a store to its link. Returns whether all of it was taken, or the target has ended.
    fn store(
        &mut self,
        at: usize,
        core: &mut FramesCore,
        (pe, address, len): (PeId, u64, usize),
    ) -> bool {
        let Some(guest) = self.guests.get_mut(at) else {
            return true;
        };
        // Another host cuts this host off for a store outside of memory, and all PEs here would
        // suffer.
        let end = address.checked_add(len as u64);
        let is_there = self.map.near(pe).is_some_and(|near| {
            address >= near.start.0 && end.is_some_and(|end| end <= near.start.0 + near.bytes)
        });
        let Some(link) = self.ether.link_to(pe).filter(|_| is_there) else {
            return true;
        };
        let (rest, done) = guest.queue.rest(len, &mut self.room);
        if rest.is_empty() {
            return true;
        }
        match core.offer(link, address + done as u64, rest) {
            Ok(accepted) => {
                guest.queue.did(accepted);
                if self.stored.last() != Some(&link) {
                    self.stored.push(link);
                }
                accepted == rest.len()
            }
            Err(SendError::Full { .. }) => false,
            // `look_around` will tell the PEs.
            Err(_) => true,
        }
    }

    /// Notes a PE's question when its stores so far have arrived.
    fn note(&mut self, at: usize, core: &mut FramesCore, pe: Option<PeId>, number: u64) {
        core.let_go();
        let now = core.now();
        let links = self.ether.hosts.iter().filter_map(HostPath::link);
        let only = pe.map(|pe| self.ether.link_to(pe));
        let asked = links.filter(|link| only.is_none_or(|only| only == Some(*link)));
        let mut pending = Vec::new();
        for link in asked {
            if let Some(ticket) = core.pending(link) {
                pending.push((link, ticket));
            }
        }
        core.transmit(now);
        if let Some(guest) = self.guests.get_mut(at) {
            guest.questions.push_back(Question { number, pending });
        }
    }

    /// Answers the questions whose answer is known. Returns whether there were any.
    fn answer(&mut self, core: &FramesCore) -> bool {
        let mut has_answered = false;
        let mut closed = false;
        for guest in &mut self.guests {
            let mut answered = None;
            while let Some(question) = guest.questions.front_mut() {
                question.pending.retain(|(link, ticket)| {
                    let progress = core.endpoint.progress(*link, *ticket);
                    closed |= matches!(progress, Progress::Lost(_));
                    progress == Progress::Pending
                });
                if !question.pending.is_empty() {
                    break;
                }
                answered = Some(question.number);
                guest.questions.pop_front();
            }
            if let Some(number) = answered {
                if closed {
                    // A PE that gets an answer must find the loss.
                    publish_closed(&self.ether, core, &self.adapter_memory, &mut self.is_closed);
                }
                self.adapter_memory.set_answered(guest.local, number);
                guest.segment.notify();
                has_answered = true;
            }
        }
        has_answered
    }

    /// A PE has ended, and its stores have been given to the links.
    fn announce(&mut self, at: usize) {
        let Some(guest) = self.guests.get_mut(at) else {
            return;
        };
        let end = match guest.life {
            Life::Finished => End::Finished,
            _ => End::Died,
        };
        guest.life = Life::Announced;
        let links = self.ether.hosts.iter().filter_map(HostPath::link);
        self.announcements.add(&self.map, links, guest.pe, end);
    }

    fn look_around_in_time(&mut self) {
        if self.looked_around.elapsed() >= LOOK_AROUND {
            self.look_around();
            self.looked_around = Instant::now();
        }
    }

    /// Checks which PEs have ended, here and on other hosts.
    fn look_around(&mut self) {
        for guest in &mut self.guests {
            let has_joined = self.adapter_memory.has_joined(guest.local);
            if guest.life == Life::Lives
                && (has_joined || Instant::now() > self.deadline)
                && self.watch.is_alive(guest.local) == Ok(false)
            {
                guest.life = Life::Died;
            }
        }
        let shared = std::sync::Arc::clone(&self.ether.shared);
        for (host, path) in (0..).zip(&self.ether.hosts) {
            let Some(link) = path.link().filter(|_| self.ether.has_gone(path.first)) else {
                continue;
            };
            let mut core = shared.lock();
            // Its last frames, also its farewell, may have come and not been received yet.
            core.drive();
            if core.closed(link).is_none() {
                close(
                    &self.adapter_memory,
                    &mut self.is_closed,
                    host,
                    &Closed::Lost(Loss::Ended),
                );
                let now = core.now();
                core.endpoint.give_up(now, link);
            }
            shared.release(core);
        }
        let core = shared.lock();
        publish_closed(
            &self.ether,
            &core,
            &self.adapter_memory,
            &mut self.is_closed,
        );
        shared.release(core);
    }
}

impl Hosted {
    /// Whether there is work for it.
    fn has_news(&self) -> bool {
        !self.questions.is_empty()
            || match self.life {
                Life::Announced => false,
                Life::Lives => !self.queue.is_empty(),
                Life::Died | Life::Finished => true,
            }
    }
}

impl Turn {
    const fn and(self, other: Self) -> Self {
        Self {
            has_moved: self.has_moved || other.has_moved,
            waits: self.waits || other.waits,
        }
    }
}

/// Tells the PEs which hosts cannot be reached any more.
fn publish_closed(
    ether: &Ether,
    core: &FramesCore,
    adapter_memory: &AdapterMemory,
    is_closed: &mut [bool],
) {
    for (host, path) in (0..).zip(&ether.hosts) {
        let Some(reason) = path.link().and_then(|link| core.closed(link)) else {
            continue;
        };
        let why = match ether.ended(path.first, reason) {
            Ok(()) => Closed::Finished,
            Err(TransportError::PeerLost { loss, .. }) => Closed::Lost(loss),
            Err(error) => Closed::Failed(error.to_string()),
        };
        close(adapter_memory, is_closed, host, &why);
    }
}

/// The first reason stays.
fn close(adapter_memory: &AdapterMemory, is_closed: &mut [bool], host: u32, why: &Closed) {
    if let Some(known) = is_closed.get_mut(host as usize)
        && !*known
    {
        *known = true;
        adapter_memory.close_host(host, why);
    }
}
