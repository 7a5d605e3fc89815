//! The chaining DMA controller.
//!
//! It reads the descriptor table from the host's memory, ahead of the present descriptor, and
//! runs the descriptors in order. A DMA write takes data from the chip's memory, a DMA read
//! brings data there; the pipelined controller reads and writes at the same time. When the
//! last TLP has left the chip it writes EPLAST into the table and interrupts the host: that
//! is local completion, as for every posted write.

use std::collections::VecDeque;

use hostwire_packet::pcie::{CompletionStatus, HeaderRepr, RoutingId};

use crate::engine::Ps;
use crate::models::pcie::peach2::sparse::Sparse;
use crate::models::pcie::{Tlp, parts};

use super::config::ChipConfig;
use super::descriptor::{DESCRIPTOR_BYTES, DESCRIPTORS_MAX, Descriptor, EPLAST};
use super::registers::{DmaKind, REGISTER_BYTES, Registers, TableHeader, Way};

/// Control bit of a table header: interrupt at the end.
pub const CONTROL_INTERRUPT: u16 = 1;
/// Control bit of a table header: write EPLAST at the end.
pub const CONTROL_EPLAST: u16 = 2;
/// Where an interrupt is written on the host's bus.
pub const INTERRUPT_ADDRESS: u64 = 0xfee0_0000;

/// The first tag of reads of data; smaller ones are reads of the table.
const DATA_TAGS: u8 = 32;

/// How the last table ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum DmaStatus {
    /// No chain has run.
    #[default]
    Idle = 0,
    /// A table is at work.
    Busy = 1,
    /// All descriptors were done.
    Done = 2,
    /// The header asks for no descriptors, or for more than a table has.
    BadTable = 3,
    /// A descriptor of length 0, or outside of the chip's memory.
    BadDescriptor = 4,
    /// A descriptor reads another node: only writes cross between nodes.
    RemoteRead = 5,
    /// The host does not serve a read.
    ReadFailed = 6,
    /// No port leads to a destination.
    NoRoute = 7,
    /// A table was started while one was at work.
    Collision = 8,
}

/// The actions of the chip for the controller.
pub(super) enum Command {
    /// Send to port north as it is.
    North(Tlp),
    /// Send where its address leads.
    Put(Tlp),
    /// Store into the chip's memory.
    Keep(u64, Vec<u8>),
    /// Ask again at that time.
    Wake(Ps),
    /// The table has ended; the registers get this.
    Ended(DmaStatus),
}

/// The chip, as far as the controller sees it.
pub(super) struct Env<'c> {
    pub(super) now: Ps,
    pub(super) config: &'c ChipConfig,
    pub(super) registers: &'c Registers,
    pub(super) memory: &'c Sparse,
    pub(super) id: RoutingId,
}

#[derive(Default)]
pub(super) struct Dma {
    run: Option<Run>,
    /// TLPs on their way to a port.
    unsent: usize,
    next_issue: Ps,
    wake_at: Option<Ps>,
}

/// A read that is open.
struct Slot {
    tag: u8,
    destination: u64,
    len: usize,
    got: Vec<u8>,
}

/// A descriptor at work.
struct Cursor {
    source: u64,
    destination: u64,
    bytes: u64,
    done: u64,
}

struct Run {
    kind: DmaKind,
    header: TableHeader,
    fetch_at: u64,
    fetch_end: u64,
    fetching: VecDeque<Slot>,
    descriptors: VecDeque<Descriptor>,
    left: u16,
    cursor: Option<Cursor>,
    reads: VecDeque<Slot>,
    /// Data that waits to be written.
    ready: VecDeque<Tlp>,
    ready_bytes: u64,
    failed: Option<DmaStatus>,
}

impl Dma {
    /// A table header was written.
    pub(super) fn start(&mut self, kind: DmaKind, env: &Env<'_>) -> Vec<Command> {
        if let Some(run) = &mut self.run {
            run.failed.get_or_insert(DmaStatus::Collision);
            return self.advance(env);
        }
        let header = env.registers.header(kind);
        let count = header.last.saturating_add(1);
        let fits = usize::from(count) <= DESCRIPTORS_MAX && header.last < header.count;
        let fits = fits && header.table.is_multiple_of(super::descriptor::TABLE_BYTES);
        self.run = Some(Run {
            kind,
            header,
            fetch_at: header.table.saturating_add(DESCRIPTOR_BYTES),
            fetch_end: header
                .table
                .saturating_add(DESCRIPTOR_BYTES * (u64::from(count) + 1)),
            fetching: VecDeque::new(),
            descriptors: VecDeque::new(),
            left: count,
            cursor: None,
            reads: VecDeque::new(),
            ready: VecDeque::new(),
            ready_bytes: 0,
            failed: (!fits).then_some(DmaStatus::BadTable),
        });
        let mut commands = vec![Command::Ended(DmaStatus::Busy)];
        commands.extend(self.advance(env));
        commands
    }

    /// A TLP of the controller has begun to leave the chip.
    pub(super) fn sent(&mut self, env: &Env<'_>) -> Vec<Command> {
        self.unsent = self.unsent.saturating_sub(1);
        self.advance(env)
    }

    /// No port leads to the destination of a TLP: the table ends.
    pub(super) fn refused(&mut self, env: &Env<'_>) -> Vec<Command> {
        if let Some(run) = &mut self.run {
            run.failed.get_or_insert(DmaStatus::NoRoute);
        }
        self.sent(env)
    }

    /// The time that it asked for has come.
    pub(super) fn wake(&mut self, env: &Env<'_>) -> Vec<Command> {
        self.wake_at = None;
        self.advance(env)
    }

    /// A completion has come in.
    pub(super) fn complete(&mut self, tlp: &Tlp, env: &Env<'_>) -> Vec<Command> {
        let (Some(run), HeaderRepr::Completion(header)) = (&mut self.run, &tlp.header) else {
            return Vec::new();
        };
        let mut open = run.fetching.iter_mut().chain(&mut run.reads);
        let Some(slot) = open.find(|slot| slot.tag == header.tag && slot.got.len() < slot.len)
        else {
            return Vec::new();
        };
        if header.status == CompletionStatus::Success {
            slot.got.extend_from_slice(&tlp.data);
        } else {
            run.failed.get_or_insert(DmaStatus::ReadFailed);
        }
        self.advance(env)
    }

    /// Does what can be done now.
    fn advance(&mut self, env: &Env<'_>) -> Vec<Command> {
        let mut commands = Vec::new();
        let Some(run) = &mut self.run else {
            return commands;
        };
        if run.failed.is_none() {
            run.take_fetched();
            run.fetch(env, &mut commands);
            run.take_read(env, &mut commands);
            run.fill(env, &mut commands);
        }
        if run.failed.is_some() {
            run.ready.clear();
        }
        while self.unsent < env.config.dma_places {
            let Some(tlp) = run.ready.front() else { break };
            if self.next_issue > env.now {
                if self.wake_at.is_none() {
                    self.wake_at = Some(self.next_issue);
                    commands.push(Command::Wake(self.next_issue));
                }
                break;
            }
            let inside_mhz = env.config.clock_mhz.saturating_mul(env.config.bus_bytes);
            let wire = Ps::from_cycles(tlp.wire_bytes(), inside_mhz);
            self.next_issue = env.now + wire + env.config.dma_gap;
            self.unsent += 1;
            run.ready_bytes = run.ready_bytes.saturating_sub(tlp.data.len() as u64);
            commands.extend(run.ready.pop_front().map(Command::Put));
            run.fill(env, &mut commands);
        }
        if self.unsent == 0 && run.is_over() {
            let status = run.failed.unwrap_or(DmaStatus::Done);
            run.finish(env, &mut commands);
            commands.push(Command::Ended(status));
            self.run = None;
        }
        commands
    }
}

impl Run {
    fn is_over(&self) -> bool {
        let done = self.left == 0
            && self.descriptors.is_empty()
            && self.cursor.is_none()
            && self.reads.is_empty()
            && self.ready.is_empty();
        done || self.failed.is_some()
    }

    /// Descriptors out of pieces of the table that are complete, in order.
    fn take_fetched(&mut self) {
        while let Some(slot) = self.fetching.front() {
            if slot.got.len() < slot.len {
                break;
            }
            let pipelined = self.kind == DmaKind::Pipelined;
            for bytes in slot.got.chunks(DESCRIPTOR_BYTES as usize) {
                if let Some(bytes) = bytes.first_chunk() {
                    self.descriptors
                        .push_back(Descriptor::decode(bytes, pipelined));
                }
            }
            self.fetching.pop_front();
        }
    }

    fn fetch(&mut self, env: &Env<'_>, commands: &mut Vec<Command>) {
        while self.fetch_at < self.fetch_end
            && self.fetching.len() < env.config.table_reads
            && self.descriptors.len() < env.config.descriptors_ahead
        {
            let left = self.fetch_end - self.fetch_at;
            let piece = env.config.table_read_bytes.max(DESCRIPTOR_BYTES);
            let len = left.min(piece - self.fetch_at % piece);
            let tag = free_tag(&self.fetching, 0);
            let Ok(tlp) = Tlp::read(env.id, tag, self.fetch_at, len as usize) else {
                self.failed = Some(DmaStatus::BadTable);
                return;
            };
            commands.push(Command::North(tlp));
            self.fetching.push_back(Slot {
                tag,
                destination: 0,
                len: len as usize,
                got: Vec::new(),
            });
            self.fetch_at += len;
        }
    }

    /// Works until there is no descriptor, no room, or no tag.
    fn fill(&mut self, env: &Env<'_>, commands: &mut Vec<Command>) {
        loop {
            self.next_descriptor(env);
            if self.failed.is_some() || !self.work(env, commands) {
                break;
            }
        }
        if self.failed.is_none() {
            self.fetch(env, commands);
        }
    }

    fn next_descriptor(&mut self, env: &Env<'_>) {
        if self.cursor.is_some() {
            return;
        }
        let Some(descriptor) = self.descriptors.pop_front() else {
            return;
        };
        self.left = self.left.saturating_sub(1);
        let bytes = descriptor.bytes();
        let end = descriptor.local.saturating_add(bytes);
        let memory_end = REGISTER_BYTES.saturating_add(env.config.memory_bytes);
        let inside = descriptor.local >= REGISTER_BYTES && end <= memory_end;
        if bytes == 0 || self.kind != DmaKind::Pipelined && !inside {
            self.failed = Some(DmaStatus::BadDescriptor);
            return;
        }
        let (source, destination) = match self.kind {
            DmaKind::Write => (descriptor.local, descriptor.address),
            DmaKind::Read => (descriptor.address, descriptor.local),
            DmaKind::Pipelined => (
                env.registers.source_base().wrapping_add(descriptor.local),
                descriptor.address,
            ),
        };
        self.cursor = Some(Cursor {
            source,
            destination,
            bytes,
            done: 0,
        });
    }

    /// Takes the next step of the present descriptor; false if there is no step to take
    /// now.
    fn work(&mut self, env: &Env<'_>, commands: &mut Vec<Command>) -> bool {
        let Some(cursor) = &self.cursor else {
            return false;
        };
        let way = match self.kind {
            DmaKind::Write => Way::Internal(cursor.source + cursor.done),
            _ => env
                .registers
                .source(cursor.source.wrapping_add(cursor.done)),
        };
        match way {
            Way::Internal(offset) => self.take_own(offset, env, commands),
            Way::Host(_, bus) => self.ask(bus, env, commands),
            Way::Port(_) | Way::Fault(_) => {
                self.failed = Some(DmaStatus::RemoteRead);
                false
            }
        }
    }

    /// Data of the chip's own memory: one TLP, or all of it on the way to the same memory.
    fn take_own(&mut self, offset: u64, env: &Env<'_>, commands: &mut Vec<Command>) -> bool {
        if self.ready.len() >= env.config.dma_places {
            return false;
        }
        let Some(cursor) = &mut self.cursor else {
            return false;
        };
        let destination = cursor.destination.wrapping_add(cursor.done);
        let step = env.config.payload_bytes;
        let part = (step - destination % step).min(cursor.bytes - cursor.done);
        let bytes = env.memory.bytes(offset, part);
        cursor.done += part;
        if cursor.done == cursor.bytes {
            self.cursor = None;
        }
        if self.kind == DmaKind::Read {
            commands.push(Command::Keep(destination, bytes));
            return true;
        }
        self.put(destination, &bytes, env);
        true
    }

    /// Reads from the host's bus, as far as tags and buffer go.
    fn ask(&mut self, bus: u64, env: &Env<'_>, commands: &mut Vec<Command>) -> bool {
        let open: u64 = self.reads.iter().map(|slot| slot.len as u64).sum();
        let Some(cursor) = &mut self.cursor else {
            return false;
        };
        let step = env.config.read_bytes;
        let part = (step - bus % step).min(cursor.bytes - cursor.done);
        let room = self.ready_bytes + open + part <= env.config.dma_buffer_bytes.max(step);
        if self.reads.len() >= env.config.read_tags || !room {
            return false;
        }
        let tag = free_tag(&self.reads, DATA_TAGS);
        let Ok(tlp) = Tlp::read(env.id, tag, bus, part as usize) else {
            self.failed = Some(DmaStatus::BadDescriptor);
            return false;
        };
        commands.push(Command::North(tlp));
        self.reads.push_back(Slot {
            tag,
            destination: cursor.destination.wrapping_add(cursor.done),
            len: part as usize,
            got: Vec::new(),
        });
        cursor.done += part;
        if cursor.done == cursor.bytes {
            self.cursor = None;
        }
        true
    }

    /// Data whose reads are complete, in order.
    fn take_read(&mut self, env: &Env<'_>, commands: &mut Vec<Command>) {
        while self
            .reads
            .front()
            .is_some_and(|slot| slot.got.len() >= slot.len)
        {
            let Some(slot) = self.reads.pop_front() else {
                return;
            };
            if self.kind == DmaKind::Read {
                commands.push(Command::Keep(slot.destination, slot.got));
            } else {
                self.put(slot.destination, &slot.got, env);
            }
        }
    }

    /// Makes writes of at most a payload.
    fn put(&mut self, address: u64, bytes: &[u8], env: &Env<'_>) {
        for (offset, len) in parts(address, bytes.len() as u64, env.config.payload_bytes) {
            let data = bytes.get(offset as usize..(offset + len) as usize);
            let at = address.wrapping_add(offset);
            match Tlp::write(env.id, at, data.unwrap_or_default()) {
                Ok(tlp) => {
                    self.ready_bytes += tlp.data.len() as u64;
                    self.ready.push_back(tlp);
                }
                Err(_) => self.failed = Some(DmaStatus::BadDescriptor),
            }
        }
    }

    fn finish(&self, env: &Env<'_>, commands: &mut Vec<Command>) {
        let last = u32::from(self.header.last).to_le_bytes();
        let eplast = self.header.table.saturating_add(EPLAST);
        let writes = [
            (CONTROL_EPLAST, eplast, last),
            (
                CONTROL_INTERRUPT,
                INTERRUPT_ADDRESS,
                (self.kind as u32).to_le_bytes(),
            ),
        ];
        for (bit, address, value) in writes {
            if self.header.control & bit != 0 {
                let tlp = Tlp::write(env.id, address, &value);
                commands.extend(tlp.ok().map(Command::North));
            }
        }
    }
}

/// A tag from `first` on that no slot has.
fn free_tag(slots: &VecDeque<Slot>, first: u8) -> u8 {
    let taken = |tag: &u8| slots.iter().any(|slot| slot.tag == *tag);
    (first..=u8::MAX).find(|tag| !taken(tag)).unwrap_or(first)
}
