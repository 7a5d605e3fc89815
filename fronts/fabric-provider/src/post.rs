//! Sends and receives, and the reports of their ends.

use core::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use hostwire::station::{Buffer, Finished, Glance, Label, Lane, Wanted};
use hostwire::{Envelope, Error, PeId, Source};
use hostwire_fabric_abi::{
    FI_ADDR_UNSPEC, FI_ATOMIC, FI_CLAIM, FI_DELIVERY_COMPLETE, FI_DISCARD, FI_ETRUNC, FI_INJECT,
    FI_MSG, FI_MULTI_RECV, FI_PEEK, FI_READ, FI_RECV, FI_REMOTE_CQ_DATA, FI_RMA, FI_SEND,
    FI_TAGGED, FI_WRITE,
};

use crate::buffer::{Bytes, Loan, MultiReceive, Note, OperationBytes, bytes_of, gather};
use crate::cq::Entry;
use crate::ep::{Books, Bound, Endpoint, tells};
use crate::info::{INJECT_BYTES_MAX, IOV_MAX, SENDS_MAX};
use crate::wait::Waitable;

/// The number of an error, negative.
pub(crate) type Code = c_int;

/// Completions that are reported at a time, so that a flood of them does not keep a reader.
const BATCH: usize = 64;
/// An endpoint that is closed goes on for so long, if sends have not ended: the receiver may never
/// want them.
const LINGER: Duration = Duration::from_secs(2);

/// A send, as the calls of libfabric have it.
pub(crate) struct Send<'a> {
    pub(crate) loans: &'a [Loan],
    pub(crate) to: u64,
    pub(crate) label: Label,
    pub(crate) context: *mut c_void,
    pub(crate) flags: u64,
    /// Its success is never reported.
    pub(crate) is_silent: bool,
}

/// A receive, as the calls of libfabric have it.
pub(crate) struct Receive<'a> {
    pub(crate) loans: &'a [Loan],
    pub(crate) from: u64,
    pub(crate) lane: Lane,
    pub(crate) tag: hostwire::Tag,
    pub(crate) context: *mut c_void,
    pub(crate) flags: u64,
}

impl Receive<'_> {
    /// What is reported when it ends.
    #[inline(always)]
    fn note(&self, bound: &Bound) -> Note {
        Note {
            context: self.context,
            flags: FI_RECV | of_lane(self.lane),
            tells: tells(bound, self.flags),
            is_silent: false,
        }
    }
}

fn of_lane(lane: Lane) -> u64 {
    match lane {
        Lane::Tagged => FI_TAGGED,
        Lane::Plain => FI_MSG,
    }
}

impl Endpoint {
    #[inline(always)]
    pub(crate) fn send(&self, send: &Send<'_>) -> Result<(), Code> {
        match self.send_at_once(send) {
            true => Ok(()),
            false => self.start_send(send),
        }
    }

    /// The short way of a send that ends as it begins.
    #[inline(always)]
    fn send_at_once(&self, send: &Send<'_>) -> bool {
        let (Some(bound), [loan]) = (self.tx.get(), send.loans) else {
            return false;
        };
        let must_wait = send.flags & (FI_DELIVERY_COMPLETE | FI_INJECT) != 0;
        let is_full = bound.queue.is_full() || self.sending.load(Relaxed) >= SENDS_MAX;
        if must_wait || is_full || loan.len() > INJECT_BYTES_MAX {
            return false;
        }
        let Ok(to) = self.number(send.to) else {
            return false;
        };
        if !self.station.send_short(to, send.label, bytes_of(loan)) {
            return false;
        }
        if !send.is_silent && tells(bound, send.flags) {
            let flags = FI_SEND | of_lane(send.label.lane);
            bound.queue.push_done(self, send.context, flags, |_| {});
        }
        self.counters.count(self, FI_SEND, true);
        true
    }

    #[inline(never)]
    fn start_send(&self, send: &Send<'_>) -> Result<(), Code> {
        let bound = self.tx.get().ok_or(-libc::EINVAL)?;
        if send.loans.len() > IOV_MAX {
            return Err(-libc::EINVAL);
        }
        let is_copied = send.is_silent || send.flags & FI_INJECT != 0;
        let len = send.loans.iter().map(Loan::len).sum();
        self.check_start(bound, is_copied.then_some(len))?;
        let to = self.number(send.to)?;
        let note = Note {
            context: send.context,
            flags: FI_SEND | of_lane(send.label.lane),
            tells: !send.is_silent && tells(bound, send.flags),
            is_silent: send.is_silent,
        };
        let failed = |error: Error| crate::code(&error);
        let gathered;
        let bytes = match send.loans {
            [one] => bytes_of(one),
            several => {
                gathered = gather(several);
                &gathered
            }
        };
        // Nobody waits for the end of a send that is not reported.
        let is_confirmed = !send.is_silent && send.flags & FI_DELIVERY_COMPLETE != 0;
        if !is_confirmed {
            let sent = match self.station.send_at_once(to, send.label, bytes) {
                Ok(sent) => sent,
                Err(error) => return Err(failed(error)),
            };
            if sent {
                if note.tells {
                    let (context, flags) = (note.context, note.flags);
                    bound.queue.push_done(self, context, flags, |_| {});
                }
                self.counters.count(self, FI_SEND, true);
                return Ok(());
            }
        }
        let place = match send.loans {
            [one] if !is_copied => OperationBytes::Lent(*one),
            _ => OperationBytes::Kept(bytes.to_vec(), Vec::new()),
        };
        let bytes = Bytes {
            place,
            note,
            shared: None,
        };
        self.sending.fetch_add(1, Relaxed);
        let bytes = self.books().spare.boxed(bytes);
        let begun = match is_confirmed {
            true => self.station.send_confirmed(to, send.label, bytes),
            false => self.station.send(to, send.label, bytes),
        };
        begun.map(drop).map_err(|error| {
            self.sending.fetch_sub(1, Relaxed);
            failed(error)
        })
    }

    /// A send, or an operation on memory of another, has ended.
    fn tell_sender(&self, bound: &Bound, entry: Entry, tells: bool) {
        let is_done = entry.error == 0;
        if tells {
            bound.queue.push(self, entry);
        }
        // What it is counted as.
        let of = |kind: &u64| entry.entry.flags & kind != 0;
        let kind = [FI_READ, FI_WRITE].into_iter().find(of);
        self.counters.count(self, kind.unwrap_or(FI_SEND), is_done);
    }

    /// Whether there is room for one more under way, of which so many bytes are to be copied now.
    pub(crate) fn check_start(&self, bound: &Bound, copied: Option<usize>) -> Result<(), Code> {
        if copied.is_some_and(|len| len > INJECT_BYTES_MAX) {
            return Err(-libc::EMSGSIZE);
        }
        if bound.queue.is_full() {
            return Err(-libc::EAGAIN);
        }
        if self.sending.load(Relaxed) >= SENDS_MAX {
            self.progress().map_err(|error| crate::code(&error))?;
            return Err(-libc::EAGAIN);
        }
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn receive(&self, receive: &Receive<'_>) -> Result<(), Code> {
        match self.receive_at_once(receive) {
            true => Ok(()),
            false => self.start_receive(receive),
        }
    }

    /// The short way of a receive whose message is there, or whose sender has sent nothing.
    #[inline(always)]
    fn receive_at_once(&self, receive: &Receive<'_>) -> bool {
        let (Some(bound), [loan]) = (self.rx.get(), receive.loans) else {
            return false;
        };
        let is_special = receive.flags & (FI_PEEK | FI_CLAIM | FI_DISCARD | FI_MULTI_RECV) != 0;
        if is_special || bound.queue.is_full() {
            return false;
        }
        let Ok(from) = self.source(receive.from) else {
            return false;
        };
        let wanted = Wanted {
            lane: receive.lane,
            from,
            tag: receive.tag,
        };
        let mut room = *loan;
        let Some(envelope) = self.station.receive_short(wanted, room.bytes_mut()) else {
            return self.post_at_once(wanted, *loan, receive, bound);
        };
        self.counters.count(self, FI_RECV, true);
        if tells(bound, receive.flags) {
            let flags = FI_RECV | of_lane(receive.lane);
            bound
                .queue
                .push_done(self, receive.context, flags, |entry| {
                    describe(entry, &envelope);
                    entry.entry.buf = loan.address();
                    entry.from = receive.from;
                });
        }
        true
    }

    #[inline(always)]
    fn post_at_once(
        &self,
        wanted: Wanted,
        loan: Loan,
        receive: &Receive<'_>,
        bound: &Bound,
    ) -> bool {
        let bytes = self.books().spare.boxed(Bytes {
            place: OperationBytes::Lent(loan),
            note: receive.note(bound),
            shared: None,
        });
        let Err(room) = self.station.post_short(wanted, bytes) else {
            return true;
        };
        if let Ok(bytes) = room.into_any().downcast::<Bytes>() {
            self.books().spare.give(bytes);
        }
        false
    }

    #[inline(never)]
    fn start_receive(&self, receive: &Receive<'_>) -> Result<(), Code> {
        let bound = self.rx.get().ok_or(-libc::EINVAL)?;
        if receive.loans.len() > IOV_MAX {
            return Err(-libc::EINVAL);
        }
        if bound.queue.is_full() {
            return Err(-libc::EAGAIN);
        }
        let wanted = Wanted {
            lane: receive.lane,
            from: self.source(receive.from)?,
            tag: receive.tag,
        };
        let note = receive.note(bound);
        if receive.flags & FI_PEEK != 0 {
            return self.peek(wanted, note, receive.flags);
        }
        let is_shared = receive.flags & FI_MULTI_RECV != 0 && receive.lane == Lane::Plain;
        let place = match receive.loans {
            [one] => OperationBytes::Lent(*one),
            several if !is_shared => {
                let room = several.iter().map(Loan::len).sum();
                OperationBytes::Kept(vec![0; room], several.to_vec())
            }
            _ => return Err(-libc::EINVAL),
        };
        let bytes = Bytes {
            place,
            note,
            shared: is_shared.then(|| MultiReceive::new(&self.min_multi_recv)),
        };
        if receive.flags & FI_CLAIM != 0 {
            return self.receive_claimed(bytes, receive.flags);
        }
        self.post(wanted, bytes)
    }

    fn post(&self, wanted: Wanted, bytes: Bytes) -> Result<(), Code> {
        let bytes = self.books().spare.boxed(bytes);
        let posted = self.station.receive(wanted, bytes);
        posted.map(drop).map_err(|error| crate::code(&error))
    }

    /// Reports a message that is there, or that there is none.
    fn peek(&self, wanted: Wanted, note: Note, flags: u64) -> Result<(), Code> {
        let failed = |error: Error| crate::code(&error);
        let found = match flags & (FI_CLAIM | FI_DISCARD) {
            0 => self.station.peek(wanted).map_err(failed)?,
            _ => match self.station.claim(wanted).map_err(failed)? {
                None => None,
                Some((claim, envelope)) if flags & FI_DISCARD != 0 => {
                    // Its sender may have ended: then the message is gone, too.
                    let _ = self.station.receive_claimed(claim, None).map_err(failed)?;
                    Some(envelope)
                }
                Some((claim, envelope)) => {
                    let context = note.context as usize;
                    self.books().claims.insert(context, (claim, envelope));
                    Some(envelope)
                }
            },
        };
        let mut entry = Entry::new(note.context, note.flags);
        match found {
            Some(envelope) => self.describe(&mut entry, &envelope),
            None => entry.error = libc::ENOMSG,
        }
        self.tell_receiver(entry);
        Ok(())
    }

    fn receive_claimed(&self, bytes: Bytes, flags: u64) -> Result<(), Code> {
        let note = bytes.note;
        let claim = self.books().claims.remove(&(note.context as usize));
        let (claim, envelope) = claim.ok_or(-libc::EINVAL)?;
        let is_dropped = flags & FI_DISCARD != 0;
        let room: Option<Box<dyn hostwire::station::Buffer>> = match is_dropped {
            true => None,
            false => Some(self.books().spare.boxed(bytes)),
        };
        let begun = self.station.receive_claimed(claim, room);
        let mut entry = Entry::new(note.context, note.flags);
        match begun.map_err(|error| crate::code(&error))? {
            None => {
                entry.error = libc::ECONNRESET;
                self.tell_receiver(entry);
            }
            Some(_) if is_dropped && note.tells => {
                self.describe(&mut entry, &envelope);
                self.tell_receiver(entry);
            }
            Some(_) => {}
        }
        Ok(())
    }

    #[inline(always)]
    fn tell_receiver(&self, entry: Entry) {
        if let Some(bound) = self.rx.get() {
            bound.queue.push(self, entry);
        }
    }

    /// What is known of a message, for the program.
    #[inline(always)]
    fn describe(&self, entry: &mut Entry, envelope: &Envelope) {
        describe(entry, envelope);
        entry.from = self.address(envelope.from).unwrap_or(FI_ADDR_UNSPEC);
    }

    /// Makes progress, and reports what has ended. Returns whether anything has.
    #[inline(always)]
    pub(crate) fn progress(&self) -> Result<bool, Error> {
        let mut any = false;
        for _ in 0..BATCH {
            match self.station.glance() {
                Glance::Nothing => return Ok(any),
                Glance::More => break,
                Glance::Received(received) => {
                    self.tell_at_once(&received.envelope, received.buffer);
                    if !received.has_more {
                        return Ok(true);
                    }
                    any = true;
                }
            }
        }
        Ok(self.take_turn()? || any)
    }

    /// A receive has ended: as [`tell`](Self::tell) for one of one piece that takes one message.
    #[inline(always)]
    fn tell_at_once(&self, envelope: &Envelope, buffer: Box<dyn Buffer>) {
        // Without bytes nobody waits for it.
        let Ok(mut bytes) = buffer.into_any().downcast::<Bytes>() else {
            return;
        };
        match (&bytes.place, &bytes.shared, self.rx.get()) {
            (OperationBytes::Lent(loan), None, Some(bound)) => {
                self.counters.count(self, FI_RECV, true);
                if bytes.note.tells {
                    let from = self.address(envelope.from).unwrap_or(FI_ADDR_UNSPEC);
                    let Note { context, flags, .. } = bytes.note;
                    bound.queue.push_done(self, context, flags, |entry| {
                        describe(entry, envelope);
                        entry.entry.buf = loan.address();
                        entry.from = from;
                    });
                }
            }
            _ => self.tell_received(&mut bytes, Ok(*envelope)),
        }
        self.books().spare.give(bytes);
    }

    #[inline(never)]
    fn take_turn(&self) -> Result<bool, Error> {
        let turn = self.station.turn()?;
        let any = turn.has_finished && self.tell_all(None);
        Ok(turn.has_notes && self.tell_uses() || any)
    }

    /// As [`progress`](Self::progress), but waits until something has ended, `enough` holds, or the limit is over.
    pub(crate) fn progress_unless(
        &self,
        limit: Duration,
        enough: &dyn Fn() -> bool,
    ) -> Result<bool, Error> {
        // Events for which the queue has no room are no reason to look again at once.
        self.tell_uses();
        let left = self.station.events();
        let first = self.station.wait_unless(limit, left, enough)?;
        let any = self.tell_all(first);
        Ok(self.tell_uses() || any)
    }

    /// Reports that and what else has ended. Returns whether anything has.
    fn tell_all(&self, first: Option<Finished>) -> bool {
        let mut any = first.is_some();
        if let Some(this) = first {
            self.tell(this);
        }
        for _ in 0..BATCH {
            let Some(this) = self.station.finished() else {
                break;
            };
            any = true;
            self.tell(this);
        }
        any
    }

    /// The last progress: sent messages have to arrive if anybody wants them, and peers that have used memory here have
    /// to learn that this is done.
    pub(crate) fn finish(&self) {
        if !self.is_here() {
            return;
        }
        // Peers may have sent requests after messages that were taken. They are answered, even if the program reads no
        // more.
        if self.progress().is_err() {
            return;
        }
        let begin = Instant::now();
        while (self.sending.load(Relaxed) > 0 || self.station.owes()) && begin.elapsed() < LINGER {
            let turn = Duration::from_millis(1);
            if self.progress_unless(turn, &|| false).is_err() {
                return;
            }
        }
    }

    /// No queue makes progress for it any more.
    pub(crate) fn leave(self: &Arc<Self>) {
        for bound in [self.tx.get(), self.rx.get()].into_iter().flatten() {
            bound.queue.waits().endpoints.remove(self);
        }
        self.counters.leave(self);
        self.members.leave(self);
    }

    /// Whether this is the process that opened it.
    pub(crate) fn is_here(&self) -> bool {
        self.station.is_here()
    }

    fn tell(&self, done: Finished) {
        let Finished {
            is_receive,
            result,
            buffer,
            ..
        } = done;
        if !is_receive {
            self.sending.fetch_sub(1, Relaxed);
        }
        // Without bytes nobody waits for it.
        let bytes = buffer.and_then(|buffer| buffer.into_any().downcast::<Bytes>().ok());
        let Some(mut bytes) = bytes else {
            return;
        };
        match is_receive {
            true => self.tell_received(&mut bytes, result),
            false => self.tell_sent(&mut bytes, result),
        }
        self.books().spare.give(bytes);
    }

    fn tell_sent(&self, bytes: &mut Bytes, result: Result<Envelope, Error>) {
        let note = bytes.note;
        if let Ok(envelope) = &result {
            // What came from memory of the peer.
            bytes.settle(envelope.len_bytes);
        }
        let mut entry = Entry::new(note.context, note.flags);
        let tells = match result {
            Ok(_) => note.tells,
            Err(error) => {
                entry.error = match note.flags & (FI_RMA | FI_ATOMIC) != 0 {
                    true => -crate::memory_code(&error),
                    false => -crate::code(&error),
                };
                // The next call for that peer reports it.
                !note.is_silent
            }
        };
        if let Some(bound) = self.tx.get() {
            self.tell_sender(bound, entry, tells);
        }
    }

    fn tell_received(&self, bytes: &mut Bytes, result: Result<Envelope, Error>) {
        let note = bytes.note;
        let mut entry = Entry::new(note.context, note.flags);
        match &result {
            Ok(envelope) => {
                self.describe(&mut entry, envelope);
                let fitted = bytes.settle(envelope.len_bytes);
                entry.entry.len = fitted;
                entry.rest = envelope.len_bytes - fitted;
                if entry.rest > 0 {
                    entry.error = FI_ETRUNC;
                }
            }
            Err(error) => entry.error = -crate::code(error),
        }
        self.counters.count(self, FI_RECV, entry.error == 0);
        if let OperationBytes::Lent(loan) = &bytes.place {
            entry.entry.buf = loan.address();
        }
        if let Some(shared) = &bytes.shared {
            return shared.end_part(|is_last| {
                if is_last {
                    entry.entry.flags |= FI_MULTI_RECV;
                }
                self.tell_receiver(entry);
            });
        }
        if note.tells || entry.error != 0 {
            self.tell_receiver(entry);
        }
    }

    /// From whom a receive from this address takes messages.
    #[inline(always)]
    fn source(&self, from: u64) -> Result<Source, Code> {
        match self.is_directed && from != FI_ADDR_UNSPEC {
            true => self.number(from).map(Source::Pe),
            false => Ok(Source::Any),
        }
    }

    /// The number of the station with this address.
    #[inline(always)]
    pub(crate) fn number(&self, address: u64) -> Result<PeId, Code> {
        let known = |books: &Books| {
            let number = *books.numbers.get(usize::try_from(address).ok()?)?;
            let addresses = self.addresses.get()?;
            number.filter(|_| books.version == addresses.version())
        };
        let number = known(&self.books());
        match number {
            Some(number) => Ok(number),
            None => self.find_number(address),
        }
    }

    #[cold]
    fn find_number(&self, address: u64) -> Result<PeId, Code> {
        let addresses = self.addresses.get().ok_or(-libc::EINVAL)?;
        let place = usize::try_from(address).map_err(|_| -libc::EINVAL)?;
        let mut books = self.books();
        forget_old(&mut books, addresses.version());
        if let Some(Some(number)) = books.numbers.get(place) {
            return Ok(*number);
        }
        let name = addresses.name(address).ok_or(-libc::EINVAL)?;
        let number = self.station.number(&name);
        let number = number.map_err(|error| crate::code(&error))?;
        if books.numbers.len() <= place {
            books.numbers.resize(place + 1, None);
        }
        books.numbers[place] = Some(number);
        Ok(number)
    }

    /// The address of the station with this number, if the program has one for it.
    #[inline(always)]
    pub(crate) fn address(&self, number: PeId) -> Option<u64> {
        let known = |books: &Books| {
            let address = *books.sources.get(number as usize)?;
            let addresses = self.addresses.get()?;
            address.filter(|_| books.version == addresses.version())
        };
        let address = known(&self.books());
        address.or_else(|| self.find_address(number))
    }

    #[cold]
    fn find_address(&self, number: PeId) -> Option<u64> {
        let addresses = self.addresses.get()?;
        let place = number as usize;
        let mut books = self.books();
        forget_old(&mut books, addresses.version());
        if let Some(Some(address)) = books.sources.get(place) {
            return Some(*address);
        }
        let address = addresses.address(&self.station.name_of(number)?)?;
        if books.sources.len() <= place {
            books.sources.resize(place + 1, None);
        }
        books.sources[place] = Some(address);
        Some(address)
    }
}

/// What an envelope says, except the address.
#[inline(always)]
fn describe(entry: &mut Entry, envelope: &Envelope) {
    entry.entry.len = envelope.len_bytes;
    entry.entry.tag = envelope.tag;
    entry.entry.data = envelope.data;
    if envelope.has_data {
        entry.entry.flags |= FI_REMOTE_CQ_DATA;
    }
}

/// Addresses have changed.
fn forget_old(books: &mut Books, version: u64) {
    if books.version != version {
        books.version = version;
        books.numbers.clear();
        books.sources.clear();
    }
}
