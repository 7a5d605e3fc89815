//! Operations of several PEs: collective operations, locks, and blocks of the heap.

use hostwire::PeId;

use super::super::Members;
use super::super::access::{Footprint, Kind};
use super::super::clock::{self, COLLECTIVES, Epoch, STORES};
use super::super::meetings::{Entry, Flow, Key};
use super::super::message::{Message, Touch};
use super::super::owner::Block;
use super::Inner;
use crate::runtime::Runtime;

impl Inner {
    /// The accesses of this PE in a collective operation. Returns the epoch of its stores
    /// at others, if there are any.
    pub(in crate::debug::race) fn contribute(
        &mut self,
        runtime: &Runtime,
        what: &str,
        members: Members<'_>,
        place: u64,
        source: Option<Footprint>,
        destinations: impl IntoIterator<Item = (usize, Footprint)>,
    ) -> Option<Epoch> {
        // By arriving it makes known only the operations before this one.
        self.epoch += 1;
        let team = members.team as u32;
        let is_empty = |bytes: &Footprint| bytes.block_bytes == 0 || bytes.blocks == 0;
        if let Some(footprint) = source.filter(|bytes| !is_empty(bytes)) {
            let kind = Kind::CollectiveRead(team);
            let touch = Touch {
                access: self.access(kind, clock::DEFAULT, false, self.epoch, place),
                name: what,
                footprint,
            };
            self.touch(runtime, self.me, touch);
        }
        let epoch = self.own_epoch();
        let mut stores = None;
        for (rank, footprint) in destinations {
            if is_empty(&footprint) {
                continue;
            }
            let is_own = rank == members.rank;
            let kind = Kind::CollectiveWrite(team);
            let touch = Touch {
                access: self.access(kind, COLLECTIVES, !is_own, epoch, place),
                name: what,
                footprint,
            };
            self.touch(runtime, members.members[rank], touch);
            stores = Some(epoch);
        }
        stores
    }

    /// Comes to an operation of a team. Returns the number of the question, whose answer has to be
    /// waited for.
    pub(in crate::debug::race) fn come(
        &mut self,
        runtime: &Runtime,
        members: Members<'_>,
        flow: Flow,
        (stores, gives): (Option<Epoch>, bool),
    ) -> u64 {
        let number = self.numbers.entry(members.team).or_default();
        *number += 1;
        let key = Key {
            team: members.team,
            number: *number,
        };
        // The stores of a collective operation are not part of what the operation makes
        // known.
        let passed = match stores {
            Some(epoch) => epoch.saturating_sub(2),
            None => self.epoch,
        };
        self.epoch += 1;
        let question = self.question();
        let (rank, size) = (members.rank, members.members.len());
        let first = members.members[0];
        if first == self.me {
            let entry = Entry {
                who: self.who(),
                passed,
                clock: self.shared(),
                stores,
                gives,
                question,
            };
            self.meet(runtime, key, (rank, size), flow, entry);
        } else {
            let come = Message::Come {
                key,
                rank,
                size,
                flow,
                thread: self.who().thread,
                passed,
                stores,
                gives,
                question,
            };
            self.tell(runtime, first, &come);
        }
        question
    }

    pub(in crate::debug::race) fn take_lock(
        &mut self,
        runtime: &Runtime,
        what: &str,
        (home, offset): (PeId, usize),
        place: u64,
    ) -> u64 {
        let touch = Touch {
            access: self.access(Kind::Lock, clock::DEFAULT, false, self.epoch, place),
            name: what,
            footprint: Footprint::run(offset, 8),
        };
        // The queue for the lock is in the same word of all.
        self.touch(runtime, self.me, touch);
        let question = self.question();
        if home == self.me {
            let known = self.owner.lock(offset, self.pes);
            self.answers.insert(question, (0, known));
        } else {
            self.tell(runtime, home, &Message::Lock { touch, question });
        }
        question
    }

    pub(in crate::debug::race) fn give_lock(
        &mut self,
        runtime: &Runtime,
        home: PeId,
        offset: usize,
    ) {
        let passed = self.epoch;
        self.epoch += 1;
        if home == self.me {
            let clock = self.thread().clock.clone();
            self.owner.unlock(offset, clock, self.who(), passed);
        } else {
            let unlock = Message::Unlock {
                thread: self.who().thread,
                offset,
                passed,
            };
            self.tell(runtime, home, &unlock);
        }
    }

    pub(in crate::debug::race) fn allocated(
        &mut self,
        runtime: &Runtime,
        offset: usize,
        len_bytes: usize,
        place: u64,
    ) {
        let block = Block { len_bytes, place };
        let offset = runtime.heap_region.offset + offset;
        self.owner.allocated(runtime, offset, block);
    }

    pub(in crate::debug::race) fn freed(&mut self, runtime: &Runtime, offset: usize, place: u64) {
        let offset = runtime.heap_region.offset + offset;
        let access = self.access(Kind::Free, STORES, false, self.epoch, place);
        let clock = &self.threads[self.now].clock;
        let found = self.owner.freed(runtime, offset, &access, clock);
        self.report(runtime, &found, false);
        self.owner.blocks.remove(&offset);
    }
}
