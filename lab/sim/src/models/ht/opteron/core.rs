//! A core: runs a program's operations against store path and memory.

use std::collections::{BTreeMap, VecDeque};

use crate::engine::Ps;
use crate::models::ht::{Command, Packet};

use super::config::OpteronConfig;
use super::mapping::Mapping;
use super::memory::Memory;
use super::program::{Arrival, Local, Op, Outcome, Program};
use super::registers::{MemoryType, Registers};
use super::route::{Origin, Target, route};
use super::write_combining::{LINE_BYTES, WriteCombiner};

/// The next action of a core.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Go on after this time.
    After(Ps),
    /// Go on when what the core waits for has come.
    Blocked,
    /// Send this read; its response brings the core back.
    Read(Packet, Ps),
    /// Begin this read, then go on.
    Ahead { read: Packet, is_local: bool },
    /// Watch local memory.
    Watch { address: u64, not: Vec<u8> },
    /// Send this broadcast, then go on.
    Broadcast(Packet),
    /// Wait for a wake-up.
    Suspended,
    /// The program is over.
    Halted,
}

/// The reason why a core waits, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    Nothing,
    Posting,
    Response {
        address: u64,
        line_fill: bool,
    },
    Change {
        address: u64,
        cached: bool,
    },
    /// Loads ahead.
    Loads,
    /// A source tag.
    Tag,
    Wake,
}

pub(super) struct Core {
    program: Box<dyn Program>,
    op: Op,
    mapping: Option<Mapping>,
    /// Bytes of the current operation that are done.
    done: usize,
    loaded: Vec<u8>,
    combiner: WriteCombiner,
    /// Posted stores that wait for the northbridge.
    pub(super) posted: VecDeque<Packet>,
    /// Where the first of them goes, by the registers of a version.
    head_target: Option<(Target, u64)>,
    posted_bytes: usize,
    posted_bytes_max: usize,
    /// Lines cached because their memory type says so.
    cache: BTreeMap<u64, [u8; LINE_BYTES as usize]>,
    pub(super) waiting: Waiting,
    /// Loads ahead that are under way.
    pub(super) ahead: usize,
    /// Those that are over, and that the program does not know of.
    pub(super) arrived: Vec<Arrival>,
    outcome: Outcome,
}

impl Core {
    pub(super) fn new(program: Box<dyn Program>, config: &OpteronConfig) -> Core {
        Core {
            program,
            op: Op::Compute(Ps::ZERO),
            mapping: None,
            done: 0,
            loaded: Vec::new(),
            combiner: WriteCombiner::new(config.wc_buffers),
            posted: VecDeque::new(),
            head_target: None,
            posted_bytes: 0,
            posted_bytes_max: config.posting_bytes,
            cache: BTreeMap::new(),
            waiting: Waiting::Nothing,
            ahead: 0,
            arrived: Vec::new(),
            outcome: Outcome::Start,
        }
    }

    /// Finishes the current operation and asks the program for the next one.
    pub(super) fn advance(&mut self, now: Ps, memory: &mut Memory) {
        let outcome = std::mem::replace(&mut self.outcome, Outcome::Done);
        self.op = self.program.resume(Local { now, memory }, outcome);
        self.done = 0;
        self.loaded.clear();
    }

    /// Finds the mapping of the current operation; its address if there is none.
    pub(super) fn find_mapping(&mut self, mappings: &[Mapping]) -> Option<u64> {
        let (address, bytes) = match &self.op {
            Op::Store { address, data } => (*address, data.len()),
            Op::Load { address, bytes } | Op::LoadAhead { address, bytes } => (*address, *bytes),
            Op::Poll { address, not } => (*address, not.len()),
            _ => return None,
        };
        self.mapping = mappings
            .iter()
            .find(|mapping| mapping.holds(address, bytes))
            .copied();
        self.mapping.is_none().then_some(address)
    }

    fn memory_type(&self, registers: &Registers, address: u64) -> MemoryType {
        self.mapping.map_or(MemoryType::Uncached, |mapping| {
            mapping.memory_type(registers, address)
        })
    }

    /// Goes on with the current operation. `None` if it is done.
    pub(super) fn proceed(
        &mut self,
        config: &OpteronConfig,
        registers: &Registers,
        memory: &mut Memory,
        is_local: impl Fn(u64) -> bool,
    ) -> Option<Next> {
        self.waiting = Waiting::Nothing;
        match &self.op {
            Op::Store { .. } => self.store(config, registers, memory, is_local),
            Op::Fence => self.fence(config),
            Op::Load { address, bytes } => {
                let (address, bytes) = (*address, *bytes);
                self.load(address, bytes, config, registers, memory, is_local)
            }
            Op::LoadAhead { address, bytes } => {
                let (address, bytes) = (*address, *bytes);
                self.load_ahead(address, bytes, is_local)
            }
            Op::AwaitLoads { in_flight } if self.ahead > *in_flight => {
                self.waiting = Waiting::Loads;
                Some(Next::Blocked)
            }
            Op::AwaitLoads { .. } => {
                self.outcome = Outcome::Arrived(std::mem::take(&mut self.arrived));
                None
            }
            Op::Poll { address, not } => {
                let (address, not) = (*address, not.clone());
                Some(self.poll(address, not, registers, memory))
            }
            Op::Compute(time) => match std::mem::replace(&mut self.done, 1) {
                0 => Some(Next::After(*time)),
                _ => None,
            },
            Op::Suspend => match std::mem::replace(&mut self.done, 1) {
                0 => {
                    self.waiting = Waiting::Wake;
                    Some(Next::Suspended)
                }
                _ => None,
            },
            Op::Broadcast { vector } => match std::mem::replace(&mut self.done, 1) {
                0 => Some(Next::Broadcast(Packet::new(
                    Command::Broadcast { vector: *vector },
                    0,
                ))),
                _ => None,
            },
            Op::Halt => {
                // Nothing is lost when a program ends with open buffers.
                self.combiner.close_all();
                self.drain();
                Some(Next::Halted)
            }
        }
    }

    fn store(
        &mut self,
        config: &OpteronConfig,
        registers: &Registers,
        memory: &mut Memory,
        is_local: impl Fn(u64) -> bool,
    ) -> Option<Next> {
        let Op::Store { address, data } = &self.op else {
            return None;
        };
        if self.done >= data.len() {
            return None;
        }
        // A processor retires in order: no store is seen before an earlier load is over.
        if self.ahead > 0 {
            self.waiting = Waiting::Loads;
            return Some(Next::Blocked);
        }
        let address = address.wrapping_add(self.done as u64);
        let in_line = (LINE_BYTES - address % LINE_BYTES) as usize;
        let memory_type = self.memory_type(registers, address);
        let piece = match memory_type {
            // An uncached store goes out by itself, at most eight bytes.
            MemoryType::Uncached => in_line.min(8 - (address % 8) as usize),
            _ => in_line,
        };
        let bytes = data[self.done..data.len().min(self.done + piece)].to_vec();
        match memory_type {
            MemoryType::WriteCombining => {
                let mut stored = self.combiner.store(address, &bytes);
                self.drain();
                if !stored && !self.combiner.is_full() {
                    stored = self.combiner.store(address, &bytes);
                    self.drain();
                }
                if !stored {
                    self.waiting = Waiting::Posting;
                    return Some(Next::Blocked);
                }
            }
            MemoryType::Uncached => {
                self.combiner.close_all();
                if !self.drain() || !self.has_room() {
                    self.waiting = Waiting::Posting;
                    return Some(Next::Blocked);
                }
                let mut single = WriteCombiner::new(1);
                single.store(address, &bytes);
                single.close_all();
                for packet in single.drain().unwrap_or_default() {
                    self.post(packet);
                }
            }
            MemoryType::WriteBack | MemoryType::WriteThrough | MemoryType::WriteProtect => {
                if !is_local(address) {
                    // A store to cacheable memory first fetches the line.
                    self.waiting = Waiting::Response {
                        address,
                        line_fill: true,
                    };
                    let line = address & !(LINE_BYTES - 1);
                    return Some(Next::Read(
                        Packet::new(Command::Read { dwords: 16 }, line),
                        Ps::ZERO,
                    ));
                }
                memory.write(address, &bytes);
                if let Some(line) = self.cache.get_mut(&(address & !(LINE_BYTES - 1))) {
                    let at = (address % LINE_BYTES) as usize;
                    line[at..at + bytes.len()].copy_from_slice(&bytes);
                }
            }
        }
        self.done += bytes.len();
        let share = config.store_line.0 * (bytes.len() as u64).div_ceil(8) / 8;
        Some(Next::After(Ps(share)))
    }

    fn fence(&mut self, config: &OpteronConfig) -> Option<Next> {
        if self.done == 1 {
            return None;
        }
        self.combiner.close_all();
        if !self.drain() || !self.posted.is_empty() {
            self.waiting = Waiting::Posting;
            return Some(Next::Blocked);
        }
        self.done = 1;
        Some(Next::After(config.sfence))
    }

    fn load(
        &mut self,
        address: u64,
        bytes: usize,
        config: &OpteronConfig,
        registers: &Registers,
        memory: &mut Memory,
        is_local: impl Fn(u64) -> bool,
    ) -> Option<Next> {
        if self.done >= bytes {
            self.outcome = Outcome::Loaded(std::mem::take(&mut self.loaded));
            return None;
        }
        let at = address.wrapping_add(self.done as u64);
        let cached = !matches!(
            self.memory_type(registers, at),
            MemoryType::Uncached | MemoryType::WriteCombining
        );
        if is_local(at) {
            let mut data = vec![0; bytes];
            if cached {
                self.read_cached(address, &mut data, memory);
            } else {
                memory.read(address, &mut data);
            }
            self.loaded = data;
            self.done = bytes;
            return Some(Next::After(if cached {
                Ps::ZERO
            } else {
                config.memory_read
            }));
        }
        // Uncached I/O loads go out one dword at a time, behind all stores.
        self.combiner.close_all();
        if !self.drain() || !self.posted.is_empty() {
            self.waiting = Waiting::Posting;
            return Some(Next::Blocked);
        }
        self.waiting = Waiting::Response {
            address: at,
            line_fill: false,
        };
        let delay = if self.done == 0 {
            config.io_read_first
        } else {
            Ps::ZERO
        };
        Some(Next::Read(
            Packet::new(Command::Read { dwords: 1 }, at & !3),
            delay,
        ))
    }

    /// Unlike [`load`](Self::load) it asks for all dwords by one packet.
    fn load_ahead(
        &mut self,
        address: u64,
        bytes: usize,
        is_local: impl Fn(u64) -> bool,
    ) -> Option<Next> {
        if self.done == 1 {
            return None;
        }
        let is_local = is_local(address);
        if !is_local {
            self.combiner.close_all();
            if !self.drain() || !self.posted.is_empty() {
                self.waiting = Waiting::Posting;
                return Some(Next::Blocked);
            }
        }
        let skip = (address % 4) as usize;
        let dwords = skip.saturating_add(bytes).div_ceil(4).clamp(1, 16) as u8;
        Some(Next::Ahead {
            read: Packet::new(Command::Read { dwords }, address & !3),
            is_local,
        })
    }

    /// The load ahead of the current operation is under way, or over.
    pub(super) fn goes_on(&mut self) {
        self.done = 1;
    }

    fn poll(&mut self, address: u64, not: Vec<u8>, registers: &Registers, memory: &Memory) -> Next {
        let cached = !matches!(
            self.memory_type(registers, address),
            MemoryType::Uncached | MemoryType::WriteCombining
        );
        self.waiting = Waiting::Change { address, cached };
        if cached {
            let mut data = vec![0; not.len()];
            self.read_cached(address, &mut data, memory);
            if data != not {
                self.outcome = Outcome::Loaded(data);
                self.op = Op::Compute(Ps::ZERO);
                self.done = 0;
                self.waiting = Waiting::Nothing;
                return Next::After(Ps::ZERO);
            }
            // The line is in the cache. Only an invalidation changes what the
            // loop sees.
            return Next::Suspended;
        }
        Next::Watch { address, not }
    }

    fn read_cached(&mut self, address: u64, out: &mut [u8], memory: &Memory) {
        for (offset, byte) in out.iter_mut().enumerate() {
            let at = address.wrapping_add(offset as u64);
            let line = self
                .cache
                .entry(at & !(LINE_BYTES - 1))
                .or_insert_with_key(|&base| {
                    let mut line = [0; LINE_BYTES as usize];
                    memory.read(base, &mut line);
                    line
                });
            *byte = line[(at % LINE_BYTES) as usize];
        }
    }

    /// Drops a cached line. Says whether the core's poll should look again.
    pub(super) fn invalidate(&mut self, address: u64, bytes: u64) -> bool {
        let first = address & !(LINE_BYTES - 1);
        let last = address.saturating_add(bytes);
        let lines: Vec<u64> = self
            .cache
            .range(first..last)
            .map(|(&line, _)| line)
            .collect();
        for line in &lines {
            self.cache.remove(line);
        }
        !lines.is_empty() && matches!(self.waiting, Waiting::Change { cached: true, .. })
    }

    /// Takes the data of a read.
    pub(super) fn response(&mut self, data: &[u8]) {
        let Op::Load { address, bytes } = self.op else {
            return;
        };
        let skip = (address.wrapping_add(self.done as u64) % 4) as usize;
        let want = (bytes - self.done.min(bytes)).min(4 - skip);
        self.loaded.extend(data.iter().skip(skip).take(want));
        self.done += want;
    }

    /// Takes the data that ended a poll.
    pub(super) fn polled(&mut self, data: Vec<u8>) {
        self.outcome = Outcome::Loaded(data);
        self.finish();
    }

    /// Ends the operation: no device has its address.
    pub(super) fn abort(&mut self) {
        self.outcome = Outcome::Aborted;
        self.finish();
    }

    fn finish(&mut self) {
        self.op = Op::Compute(Ps::ZERO);
        self.done = 1;
        self.waiting = Waiting::Nothing;
    }

    /// Where the next posted store goes, if there is one.
    pub(super) fn head_target(
        &mut self,
        registers: &Registers,
        memory_bytes: u64,
    ) -> Option<Target> {
        let head = self.posted.front()?;
        let version = registers.version();
        let (target, _) = match self.head_target.filter(|(_, known)| *known == version) {
            Some(known) => known,
            None => {
                let target = route(registers, Origin::Core, head.address, memory_bytes);
                *self.head_target.insert((target, version))
            }
        };
        Some(target)
    }

    /// Takes the next posted store.
    pub(super) fn take_posted(&mut self) -> Option<Packet> {
        let packet = self.posted.pop_front()?;
        self.head_target = None;
        self.posted_bytes -= packet.data.len();
        self.drain();
        Some(packet)
    }

    fn has_room(&self) -> bool {
        self.posted_bytes < self.posted_bytes_max
    }

    fn post(&mut self, packet: Packet) {
        self.posted_bytes += packet.data.len();
        self.posted.push_back(packet);
    }

    /// Moves closed lines to the posted stores. `true` if none is left.
    fn drain(&mut self) -> bool {
        while self.combiner.has_closed() && self.has_room() {
            for packet in self.combiner.drain().unwrap_or_default() {
                self.post(packet);
            }
        }
        !self.combiner.has_closed()
    }
}
