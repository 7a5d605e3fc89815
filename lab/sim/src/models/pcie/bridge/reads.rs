//! Reads of devices below a bridge, of the memory of its socket.
//!
//! A memory read request becomes HyperTransport reads that end at lines. Each takes a source tag, and room
//! for its data in the bridge, so that answers always find a place. Completions leave in order of their
//! addresses, as soon as all data of one are there.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use hostwire_packet::pcie::{CompletionStatus, CreditCost, MemoryRepr, RoutingId};
use hostwire_plan::BridgePlan;

use crate::models::ht::{Command, PAYLOAD_BYTES_MAX, Packet};
use crate::models::pcie::{Tlp, parts};

use super::DWORD_BYTES;

/// The bridge's UnitID on its HyperTransport link; 0 is the host.
const UNIT_ID: u8 = 1;

/// The bridge's next step for the first read that is not all asked for.
pub(super) enum Next {
    /// This packet asks for a part. If it is the last one, the receive buffer of the request is free.
    Ask(Packet, Option<CreditCost>),
    /// Nothing more is asked for: a part of it has failed. Its receive buffer is free.
    Drop(CreditCost),
}

/// A request that came by PCI Express and is not all asked for.
struct Asking {
    number: u64,
    tlp: Rc<Tlp>,
    /// Posted writes that came before: they leave before it.
    after: u64,
    asked: u64,
}

/// A request that has not been answered in full.
struct Open {
    read: MemoryRepr,
    data: Vec<u8>,
    /// Answers that no completion has taken: offset, and length or what went wrong.
    answers: BTreeMap<u64, (u64, Option<CompletionStatus>)>,
    /// Where the next completion begins.
    done: u64,
    /// Parts that are asked for and not answered.
    outstanding: usize,
    /// It has failed: no more completions are sent.
    is_over: bool,
}

/// The part of a request behind a tag: the request, and offset and length of the part.
type Part = (u64, u64, u64);

/// See the [module text](self).
pub(super) struct Reads {
    tags: u8,
    completion_bytes: u64,
    /// Room for data that is free.
    room: u64,
    requests: u64,
    asking: VecDeque<Asking>,
    open: BTreeMap<u64, Open>,
    tagged: BTreeMap<u8, Part>,
    /// The room that each completion gives back when it begins to leave.
    leaving: VecDeque<u64>,
}

impl Reads {
    pub(super) fn new(plan: &BridgePlan) -> Reads {
        Reads {
            tags: plan.read_tags,
            completion_bytes: plan.completion_bytes,
            room: plan.read_buffer_bytes,
            requests: 0,
            asking: VecDeque::new(),
            open: BTreeMap::new(),
            tagged: BTreeMap::new(),
            leaving: VecDeque::new(),
        }
    }

    /// Requests that have not been answered in full.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// Takes a request. `after`: posted writes that came before it.
    pub(super) fn begin(&mut self, tlp: Rc<Tlp>, after: u64) {
        let Some(read) = tlp.memory().copied() else {
            return;
        };
        let number = self.requests;
        self.requests += 1;
        let open = Open {
            read,
            data: vec![0; read.dwords.len_bytes()],
            answers: BTreeMap::new(),
            done: 0,
            outstanding: 0,
            is_over: false,
        };
        self.open.insert(number, open);
        self.asking.push_back(Asking {
            number,
            tlp,
            after,
            asked: 0,
        });
    }

    /// The next step of the first request, if there is a tag, room for the data, and all writes before it
    /// are among the `gone` ones that have left.
    pub(super) fn next(&mut self, gone: u64) -> Option<Next> {
        let asking = self.asking.front_mut()?;
        let open = self.open.get_mut(&asking.number);
        let Some(open) = open.filter(|open| !open.is_over) else {
            let cost = asking.tlp.cost();
            self.asking.pop_front();
            return Some(Next::Drop(cost));
        };
        let (address, offset) = (open.read.address.wrapping_add(asking.asked), asking.asked);
        let left = open.data.len() as u64 - offset;
        let (_, len) = parts(address, left, PAYLOAD_BYTES_MAX as u64).next()?;
        let tag = (0..self.tags).find(|tag| !self.tagged.contains_key(tag))?;
        if asking.after > gone || len > self.room {
            return None;
        }
        let dwords = (len / DWORD_BYTES) as u8;
        let packet = Packet {
            unit_id: UNIT_ID,
            tag,
            ..Packet::new(Command::Read { dwords }, address)
        };
        self.tagged.insert(tag, (asking.number, offset, len));
        self.room -= len;
        open.outstanding += 1;
        asking.asked += len;
        let last = (len == left).then(|| asking.tlp.cost());
        if last.is_some() {
            self.asking.pop_front();
        }
        Some(Next::Ask(packet, last))
    }

    /// Takes an answer; the completions that can leave. `None` if nobody has asked.
    pub(super) fn answer(&mut self, id: RoutingId, packet: &Packet) -> Option<Vec<Tlp>> {
        let (number, offset, len) = self.tagged.remove(&packet.tag)?;
        let open = self.open.get_mut(&number)?;
        open.outstanding -= 1;
        let failure = match packet.command {
            Command::MasterAbort => Some(CompletionStatus::UnsupportedRequest),
            _ if packet.data.len() as u64 != len => Some(CompletionStatus::CompleterAbort),
            _ => None,
        };
        let place = open.data.iter_mut().skip(offset as usize);
        place
            .zip(&packet.data)
            .for_each(|(place, byte)| *place = *byte);
        open.answers.insert(offset, (len, failure));
        let mut completions = Vec::new();
        while let Some((tlp, taken)) = open.complete(id, self.completion_bytes) {
            completions.push(tlp);
            self.leaving.push_back(taken);
        }
        if open.is_over {
            // Answers that come now are for nobody.
            let late = std::mem::take(&mut open.answers);
            self.room += late.values().map(|(len, _)| len).sum::<u64>();
        }
        let all = open.is_over || open.done == open.data.len() as u64;
        if all && open.outstanding == 0 {
            self.open.remove(&number);
        }
        Some(completions)
    }

    /// A completion has begun to leave.
    pub(super) fn sent(&mut self) {
        self.room += self.leaving.pop_front().unwrap_or(0);
    }
}

impl Open {
    /// The next completion, if its data are there, and the room that they took.
    fn complete(&mut self, id: RoutingId, completion_bytes: u64) -> Option<(Tlp, u64)> {
        let left = self.data.len() as u64 - self.done;
        if self.is_over || left == 0 {
            return None;
        }
        let begin = self.read.address.wrapping_add(self.done);
        let (_, len) = parts(begin, left, completion_bytes).next()?;
        let end = self.done + len;
        let mut at = self.done;
        let mut failure = None;
        while at < end {
            let (len, status) = self.answers.get(&at)?;
            failure = failure.or(*status);
            at += len;
        }
        self.answers.retain(|offset, _| *offset >= end);
        let offset = self.done as usize;
        self.done = end;
        if let Some(status) = failure {
            self.is_over = true;
            return Some((Tlp::refused(id, &self.read, status), len));
        }
        let data = self.data.get(offset..end as usize)?;
        Some((Tlp::completion(id, &self.read, offset, data)?, len))
    }
}
