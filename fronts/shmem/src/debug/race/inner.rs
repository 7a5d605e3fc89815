//! The detector of one PE: its own operations, those together with other PEs ([`together`]), the
//! messages of other PEs ([`heard`]), and its threads ([`threads`]).

mod heard;
mod threads;
mod together;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hostwire::PeId;

use super::access::{Access, Footprint, Kind};
use super::clock::{CREATED, Clock, Epoch, STORES, Who};
use super::finding::Finding;
use super::mail::Mail;
use super::message::{Change, Message, Touch};
use super::owner::Owner;
use super::private::Buffers;
use super::view;
use super::{AtomicUse, Gives, Transfer};
use crate::runtime::Runtime;
pub(super) use threads::Atomic;
use threads::{Syncs, Thread};

/// Bytes of messages to one PE that may wait before the program does.
const BACKLOG_MAX: usize = 1 << 20;

#[derive(Debug, Clone, Copy, Default)]
struct Context {
    is_free: bool,
    /// Its quiets do not complete the program's own stores.
    is_without_stores: bool,
}

/// A buffer that a non-blocking operation uses.
#[derive(Debug)]
struct Open {
    slot: u16,
    /// The PE at the other end.
    pe: PeId,
    who: Who,
    epoch: Epoch,
    footprint: Footprint,
}

/// The knowledge that a non-blocking atomic brings when it is complete.
#[derive(Debug)]
struct Fetched {
    slot: u16,
    /// The PE at the other end.
    pe: PeId,
    who: Who,
    epoch: Epoch,
    known: Clock,
}

/// Whether what `who` did in `epoch` is among what comes before.
fn is_among(before: &[(Who, Epoch)], who: Who, epoch: Epoch) -> bool {
    before.iter().any(|(of, last)| *of == who && epoch <= *last)
}

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct Inner {
    me: u32,
    pes: u32,
    threads: Vec<Thread>,
    /// The one that calls.
    now: usize,
    syncs: Syncs,
    /// That of all threads.
    epoch: Epoch,
    contexts: Vec<Context>,
    private: Buffers,
    /// Buffers of non-blocking operations in own symmetric memory.
    open: Vec<Open>,
    fetched: Vec<Fetched>,
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
            threads: vec![Thread::new(Clock::new(pes))],
            now: 0,
            syncs: Syncs::default(),
            epoch: 1,
            contexts: vec![Context::default(); usize::from(CREATED)],
            private: Buffers::default(),
            open: Vec::new(),
            fetched: Vec::new(),
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

    fn learn(&mut self, known: &Clock) {
        self.thread().learn(known);
    }

    fn shared(&mut self) -> Arc<Clock> {
        self.thread().shared()
    }

    fn access(&mut self, kind: Kind, slot: u16, is_open: bool, epoch: Epoch, place: u64) -> Access {
        let who = self.who();
        let thread = self.thread();
        thread.used = thread.used.max(epoch);
        Access {
            pe: who.pe,
            thread: who.thread,
            epoch,
            fenced: thread.clock.fenced(slot),
            place,
            kind,
            slot,
            is_open,
            name: 0,
        }
    }

    fn tell(&mut self, runtime: &Runtime, pe: PeId, message: &Message<'_>) {
        let number = self.who().thread;
        let thread = self.thread();
        if let Some(clock) = thread.news_for(pe) {
            let clock = Message::Clock {
                thread: number,
                clock,
            };
            self.mail.send(runtime, pe, &clock.write());
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
        let clock = &self.threads[self.now].clock;
        let found = self.owner.touch(runtime, &touch, clock);
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
                self.open.push(Open {
                    slot,
                    pe: target,
                    who: access.who(),
                    epoch: access.epoch,
                    footprint,
                });
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
        view::set_open(self.private.count());
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
        let is_store = kind.is_store();
        let Some((pe, offset)) = view::symmetric(runtime, address, len) else {
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
        if let Some((pe, offset)) = view::symmetric(runtime, address, len)
            && pe == self.me
        {
            self.thread().looked_at = Some(offset);
        }
    }

    /// The operations behind the value that the thread saw have happened.
    pub(super) fn settle(&mut self, _runtime: &Runtime) {
        if let Some(offset) = self.thread().looked_at.take() {
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

    /// Asks the owner to change a word. Returns the number of the question, whose answer has to be
    /// waited for.
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
            Some((slot, pe)) => self.fetched.push(Fetched {
                slot,
                pe,
                who: self.who(),
                epoch: self.epoch,
                known,
            }),
            None => self.learn(&known),
        }
        Some(old)
    }

    /// The program may look at the values of non-blocking atomics of this context at these PEs.
    fn learn_of_fetched(
        &mut self,
        slot: u16,
        before: &[(Who, Epoch)],
        is_target: impl Fn(PeId) -> bool,
    ) {
        let is_over = |of: &mut Fetched| {
            of.slot == slot && is_target(of.pe) && is_among(before, of.who, of.epoch)
        };
        let over: Vec<_> = self.fetched.extract_if(.., is_over).collect();
        for of in over {
            self.learn(&of.known);
        }
    }

    pub(super) fn fence(&mut self, slot: u16) {
        let epoch = self.epoch;
        self.thread().clock.fence(slot, epoch);
        self.epoch += 1;
    }

    /// The contexts whose operations a quiet of this one completes.
    fn completes(&self, slot: u16) -> impl Iterator<Item = u16> + use<> {
        let is_without_stores = self.contexts[usize::from(slot)].is_without_stores;
        let stores = (!is_without_stores && slot != STORES).then_some(STORES);
        core::iter::once(slot).chain(stores)
    }

    /// Operations that this thread knows to have begun before are complete, and no others.
    pub(super) fn quiet(&mut self, slot: u16) {
        let before: Vec<_> = self.before().collect();
        for slot in self.completes(slot) {
            for (who, epoch) in &before {
                self.thread()
                    .change(|clock| clock.quiet(*who, slot, *epoch));
            }
        }
        self.epoch += 1;
        self.learn_of_fetched(slot, &before, |_| true);
        if slot != STORES {
            (self.open).retain(|of| of.slot != slot || !is_among(&before, of.who, of.epoch));
            self.private.close(slot, |access, _| {
                is_among(&before, access.who(), access.epoch)
            });
            view::set_open(self.private.count());
        }
    }

    /// The threads of this PE, and up to where the one that calls knows them.
    fn before(&self) -> impl Iterator<Item = (Who, Epoch)> {
        self.threads[self.now].clock.before(self.who(), self.epoch)
    }

    pub(super) fn pe_quiet(&mut self, runtime: &Runtime, slot: u16, pes: &[PeId]) {
        let before: Vec<_> = self.before().collect();
        for slot in self.completes(slot) {
            for (&pe, &(who, epoch)) in pes
                .iter()
                .flat_map(|pe| before.iter().map(move |of| (pe, of)))
            {
                let epochs = (1, epoch);
                self.thread()
                    .change(|clock| clock.deliver(who, (slot, pe), epochs));
            }
        }
        let epoch = self.epoch;
        self.epoch += 1;
        self.learn_of_fetched(slot, &before, |pe| pes.contains(&pe));
        let (who, owner) = (self.who(), &mut self.owner);
        let clock = &self.threads[self.now].clock;
        self.open.retain(|of| {
            let is_over =
                of.slot == slot && pes.contains(&of.pe) && is_among(&before, of.who, of.epoch);
            if is_over {
                owner.close(runtime, of.footprint, slot, (who, epoch, clock));
            }
            !is_over
        });
        self.private.close(slot, |access, target| {
            pes.contains(&target) && is_among(&before, access.who(), access.epoch)
        });
        view::set_open(self.private.count());
    }

    pub(super) fn seen(&mut self, word: (usize, u8), ends_it: &dyn Fn(u64) -> bool) {
        let mut known = self.thread().clock.clone();
        self.owner.words.seen(word, &mut known, self.who(), ends_it);
        self.learn(&known);
    }

    pub(super) fn context_made(&mut self, is_without_stores: bool) -> u16 {
        let made = Context {
            is_free: false,
            is_without_stores,
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
