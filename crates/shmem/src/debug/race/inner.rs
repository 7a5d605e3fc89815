//! The detector of one PE: its own operations, those together with other PEs ([`together`]), and
//! the messages of other PEs ([`heard`]).

mod heard;
mod together;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hostwire::PeId;

use super::access::{Access, Footprint, Kind};
use super::clock::{CREATED, Clock, Epoch, STORES};
use super::mail::Mail;
use super::message::{Change, Message, Touch};
use super::owner::Owner;
use super::private::Buffers;
use super::report::Finding;
use super::{AtomicUse, Gives, Transfer, program};
use crate::runtime::Runtime;

/// Bytes of messages to one PE that may wait before the program does.
const BACKLOG_MAX: usize = 1 << 20;

#[derive(Debug, Clone, Copy, Default)]
struct Context {
    is_free: bool,
    /// Its quiets do not complete the program's own stores.
    is_without_stores: bool,
    /// The operations that a fence has ordered.
    fenced: Epoch,
}

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct Inner {
    me: u32,
    pes: u32,
    /// The knowledge of this PE; about itself: its complete operations.
    clock: Clock,
    /// The same, as it was given to others.
    shared: Option<Arc<Clock>>,
    /// Counts its changes.
    version: u64,
    /// Which of them each PE has heard of.
    told: Box<[u64]>,
    epoch: Epoch,
    contexts: Vec<Context>,
    private: Buffers,
    /// Buffers of non-blocking operations in own symmetric memory: context, PE at the other
    /// end, and where.
    open: Vec<(u16, u32, Footprint)>,
    /// What non-blocking atomics will have told when they are complete: context, PE at the other end.
    fetched: Vec<(u16, PeId, Clock)>,
    /// A word that the program looked at itself, perhaps to wait for it.
    looked_at: Option<(usize, u8)>,
    /// How many collective operations each team has had.
    numbers: HashMap<u64, u64>,
    mail: Mail,
    questions: u64,
    answers: HashMap<u64, (u64, Clock)>,
    owner: Owner,
    /// Pairs of places that were reported.
    pairs: HashSet<u64>,
    has_reported: bool,
}

impl Inner {
    pub(super) fn new(area: usize, me: u32, pes: u32) -> Self {
        Self {
            me,
            pes,
            clock: Clock::new(pes),
            shared: None,
            version: 1,
            told: vec![0; pes as usize].into(),
            epoch: 1,
            contexts: vec![Context::default(); usize::from(CREATED)],
            private: Buffers::default(),
            open: Vec::new(),
            fetched: Vec::new(),
            looked_at: None,
            numbers: HashMap::new(),
            mail: Mail::new(area, me, pes),
            questions: 0,
            answers: HashMap::new(),
            owner: Owner::new(me, pes),
            pairs: HashSet::new(),
            has_reported: false,
        }
    }

    pub(super) fn has_reported(&self) -> bool {
        self.has_reported
    }

    pub(super) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// An epoch that one operation has for itself.
    pub(super) fn own_epoch(&mut self) -> Epoch {
        self.epoch += 2;
        self.epoch - 1
    }

    fn changed(&mut self, is_changed: bool) {
        if is_changed {
            self.version += 1;
            self.shared = None;
        }
    }

    fn learn(&mut self, known: &Clock) {
        let news = self.clock.join(known);
        self.changed(news);
    }

    fn shared(&mut self) -> Arc<Clock> {
        let clock = self
            .shared
            .get_or_insert_with(|| Arc::new(self.clock.clone()));
        Arc::clone(clock)
    }

    fn access(&self, kind: Kind, slot: u16, is_open: bool, epoch: Epoch, place: u64) -> Access {
        let context = self.contexts.get(usize::from(slot));
        Access {
            pe: self.me,
            epoch,
            fenced: context.map_or(0, |context| context.fenced),
            place,
            kind,
            slot,
            is_open,
            name: 0,
        }
    }

    fn tell(&mut self, runtime: &Runtime, pe: PeId, message: &Message<'_>) {
        if self.told[pe as usize] != self.version {
            self.told[pe as usize] = self.version;
            let clock = Message::Clock(self.clock.clone()).write();
            self.mail.send(runtime, pe, &clock);
        }
        self.mail.send(runtime, pe, &message.write());
        // A PE whose messages find no room receives messages while it waits.
        while self.mail.backlog(pe) > BACKLOG_MAX {
            self.listen(runtime);
            std::thread::yield_now();
        }
    }

    /// An access to memory of `pe`, which may be this one.
    fn touch(&mut self, runtime: &Runtime, pe: PeId, touch: Touch<'_>) {
        if pe != self.me {
            return self.tell(runtime, pe, &Message::Touch(touch));
        }
        let found = self.owner.touch(runtime, &touch, &self.clock);
        self.report(runtime, &found.unwrap_or_default(), false);
    }

    // Operations of the program.

    /// The local side of an operation. That of a non-blocking one belongs to it until the
    /// context is quiet: then `slot` has the PE at the other end.
    pub(super) fn local(
        &mut self,
        runtime: &Runtime,
        what: &str,
        buffer: Footprint,
        kind: Kind,
        (slot, target): (u16, Option<PeId>),
        place: u64,
    ) {
        if buffer.block_bytes == 0 || buffer.blocks == 0 {
            return;
        }
        let mut access = self.access(kind, slot, target.is_some(), self.epoch, place);
        if let Some(offset) = runtime.locate(buffer.start, buffer.block_bytes) {
            let footprint = buffer.at(offset);
            if let Some(target) = target {
                self.open.push((slot, target, footprint));
            }
            let touch = Touch {
                access,
                name: what,
                footprint,
            };
            return self.touch(runtime, self.me, touch);
        }
        access.name = self.owner.names.number(what);
        for (start, len) in buffer.runs() {
            self.check_private(runtime, start, len, &access);
            if let Some(target) = target {
                self.private.open(start, len, target, access);
            }
        }
        program::set_open(self.private.count());
    }

    fn check_private(&mut self, runtime: &Runtime, start: usize, len: usize, access: &Access) {
        if self.private.count() == 0 {
            return;
        }
        let found = self.private.conflicts(start, len, access);
        let finding = |(offset, before)| Finding {
            offset,
            before,
            is_begun_before: true,
            access: *access,
        };
        let found: Vec<Finding> = found.into_iter().map(finding).collect();
        self.report(runtime, &found, true);
    }

    /// The program's own access, by its address in this process. `slot` is `None` for a
    /// wait or test.
    pub(super) fn program_access(
        &mut self,
        runtime: &Runtime,
        (address, len): (usize, usize),
        place: impl Fn() -> u64,
        kind: Kind,
    ) -> bool {
        let is_store = kind == Kind::Store;
        let Some((pe, offset)) = program::symmetric(runtime, address, len) else {
            if self.private.count() > 0 {
                let access = self.access(kind, STORES, is_store, self.epoch, place());
                self.check_private(runtime, address, len, &access);
            }
            return false;
        };
        let tells = is_store && pe != self.me && matches!(len, 4 | 8) && offset.is_multiple_of(len);
        let epoch = match tells {
            true => self.own_epoch(),
            false => self.epoch,
        };
        let touch = Touch {
            access: self.access(kind, STORES, is_store, epoch, place()),
            name: "",
            footprint: Footprint::run(offset, len),
        };
        match tells {
            false => self.touch(runtime, pe, touch),
            true => {
                let word = Message::Word {
                    touch,
                    change: None,
                    data: None,
                    question: None,
                };
                self.tell(runtime, pe, &word);
            }
        }
        tells
    }

    /// The program looks at a word in a way in which it may wait for it.
    pub(super) fn look_at(&mut self, runtime: &Runtime, address: usize, len: usize) {
        if let Some((pe, offset)) = program::symmetric(runtime, address, len)
            && pe == self.me
        {
            self.looked_at = Some((offset, len as u8));
        }
    }

    /// The operations behind the value that it saw have happened.
    pub(super) fn settle(&mut self, _runtime: &Runtime) {
        if let Some((offset, _)) = self.looked_at.take() {
            let mut known = Clock::new(self.pes);
            self.owner.words.present(offset, &mut known, self.me);
            self.learn(&known);
        }
    }

    pub(super) fn put_source(&mut self, runtime: &Runtime, transfer: &Transfer, place: u64) {
        let (kind, target) = match transfer.is_nbi {
            true => (Kind::NbiSource, Some(transfer.pe)),
            false => (Kind::Source, None),
        };
        let context = (transfer.slot, target);
        self.local(runtime, transfer.what, transfer.local, kind, context, place);
    }

    pub(super) fn put_data(
        &mut self,
        runtime: &Runtime,
        transfer: &Transfer,
        place: u64,
        epoch: Epoch,
    ) {
        if transfer.remote.block_bytes == 0 {
            return;
        }
        let touch = Touch {
            access: self.access(Kind::Put, transfer.slot, true, epoch, place),
            name: transfer.what,
            footprint: transfer.remote,
        };
        self.touch(runtime, transfer.pe, touch);
    }

    pub(super) fn get(&mut self, runtime: &Runtime, transfer: &Transfer, place: u64) {
        let (kind, target) = match transfer.is_nbi {
            true => (Kind::NbiDestination, Some(transfer.pe)),
            false => (Kind::Destination, None),
        };
        let context = (transfer.slot, target);
        self.local(runtime, transfer.what, transfer.local, kind, context, place);
        let touch = Touch {
            access: self.access(Kind::Get, transfer.slot, transfer.is_nbi, self.epoch, place),
            name: transfer.what,
            footprint: transfer.remote,
        };
        self.touch(runtime, transfer.pe, touch);
    }

    /// Has a word changed by its owner. Returns the question to wait for the answer of.
    pub(super) fn word(
        &mut self,
        runtime: &Runtime,
        pe: PeId,
        footprint: Footprint,
        of: &AtomicUse,
        place: u64,
    ) -> Option<u64> {
        let epoch = self.own_epoch();
        let touch = Touch {
            access: self.access(of.kind, of.slot, of.gives != Gives::AtReturn, epoch, place),
            name: of.what,
            footprint,
        };
        let change = Change {
            operation: of.operation as u8,
            operand: of.operand,
            compare: of.compare,
        };
        let is_fetching = of.gives != Gives::Nothing;
        let question = is_fetching.then(|| self.question());
        if pe != self.me {
            let word = Message::Word {
                touch,
                change: Some(change),
                data: of.data,
                question,
            };
            self.tell(runtime, pe, &word);
            return question;
        }
        let clock = self.shared();
        let how = (Some(change), of.data);
        let done = self.owner.word(runtime, &touch, &clock, how, is_fetching);
        if let Some((found, old, known)) = done {
            self.report(runtime, &found, false);
            if let Some(question) = question {
                self.answers.insert(question, (old, known));
            }
        }
        question
    }

    fn question(&mut self) -> u64 {
        self.questions += 1;
        self.questions
    }

    /// The answer with the old value, if it has arrived; the knowledge that came with it
    /// is added, or `later`: when this context is quiet to this PE.
    pub(super) fn take_answer(&mut self, question: u64, later: Option<(u16, PeId)>) -> Option<u64> {
        let (old, known) = self.answers.remove(&question)?;
        match later {
            Some((slot, pe)) => self.fetched.push((slot, pe, known)),
            None => self.learn(&known),
        }
        Some(old)
    }

    /// The program may look at the values of non-blocking atomics of this context at these PEs.
    fn learn_of_fetched(&mut self, slot: u16, is_target: impl Fn(PeId) -> bool) {
        let is_over = |(of, pe, _): &mut (u16, PeId, Clock)| *of == slot && is_target(*pe);
        let over: Vec<_> = self.fetched.extract_if(.., is_over).collect();
        for (.., known) in over {
            self.learn(&known);
        }
    }

    pub(super) fn fence(&mut self, slot: u16) {
        self.contexts[usize::from(slot)].fenced = self.epoch;
        self.epoch += 1;
    }

    pub(super) fn quiet(&mut self, slot: u16) {
        let is_changed = self.clock.quiet(self.me, slot, self.epoch);
        self.changed(is_changed);
        if !self.contexts[usize::from(slot)].is_without_stores {
            let is_changed = self.clock.quiet(self.me, STORES, self.epoch);
            self.changed(is_changed);
        }
        self.epoch += 1;
        self.learn_of_fetched(slot, |_| true);
        if slot != STORES {
            self.open.retain(|(of, ..)| *of != slot);
            self.private.close(slot, |_| true);
            program::set_open(self.private.count());
        }
    }

    pub(super) fn pe_quiet(&mut self, runtime: &Runtime, slot: u16, pes: &[PeId]) {
        for &pe in pes {
            let epochs = (1, self.epoch);
            let mut is_changed = self.clock.deliver(self.me, (slot, pe), epochs);
            if !self.contexts[usize::from(slot)].is_without_stores {
                is_changed |= self.clock.deliver(self.me, (STORES, pe), epochs);
            }
            self.changed(is_changed);
        }
        let epoch = self.epoch;
        self.epoch += 1;
        self.learn_of_fetched(slot, |pe| pes.contains(&pe));
        let owner = &mut self.owner;
        self.open.retain(|(of, target, buffer)| {
            let is_over = *of == slot && pes.contains(target);
            if is_over {
                owner.close(runtime, *buffer, (slot, epoch));
            }
            !is_over
        });
        self.private.close(slot, |target| pes.contains(&target));
        program::set_open(self.private.count());
    }

    pub(super) fn seen(&mut self, word: (usize, u8), ends_it: &dyn Fn(u64) -> bool) {
        let mut known = self.clock.clone();
        self.owner.words.seen(word, &mut known, self.me, ends_it);
        self.learn(&known);
    }

    pub(super) fn context_made(&mut self, is_without_stores: bool) -> u16 {
        let made = Context {
            is_free: false,
            is_without_stores,
            fenced: 0,
        };
        let free = self.contexts.iter().position(|context| context.is_free);
        match free {
            Some(slot) => {
                self.contexts[slot] = made;
                slot as u16
            }
            None => {
                self.contexts.push(made);
                // Further contexts count as one; then some orders are not seen.
                u16::try_from(self.contexts.len() - 1).unwrap_or(u16::MAX)
            }
        }
    }

    pub(super) fn context_gone(&mut self, slot: u16) {
        self.contexts[usize::from(slot)].is_free = true;
    }
}
