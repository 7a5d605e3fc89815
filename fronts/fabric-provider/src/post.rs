//! Sends and receives by their [ways](crate::ways), and the reports of their ends.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use hostwire::station::{Buffer, Finished, Glance, Lane, Wanted};
use hostwire::{Envelope, Error, PeId, Source};
use hostwire_fabric_abi::{
    FI_ADDR_UNSPEC, FI_ATOMIC, FI_CLAIM, FI_DISCARD, FI_ETRUNC, FI_MULTI_RECV, FI_PEEK, FI_READ,
    FI_RECV, FI_REMOTE_CQ_DATA, FI_RMA, FI_SEND, FI_WRITE,
};

use crate::buffer::{Bytes, Loan, MultiReceive, Note, OperationBytes, gather};
use crate::cq::{Entry, Reader};
use crate::ep::{Books, Bound, Endpoint, tells};
use crate::info::SENDS_MAX;
use crate::object::Code;
use crate::wait::Waitable;
use crate::ways::{INJECT_BYTES_MAX, Receive, Send, Way};

/// Completions that are reported at a time, so that a flood of them does not keep a reader.
const BATCH: usize = 64;
/// An endpoint that is closed goes on for so long, if sends have not ended: the receiver may never
/// want them.
const LINGER: Duration = Duration::from_secs(2);

impl Endpoint {
    /// By value, so that what a call says stays in registers.
    #[inline(always)]
    pub(crate) fn send(&self, send: Send<'_>) -> Result<(), Code> {
        let bound = self.tx.get().ok_or(-libc::EINVAL)?;
        if bound.queue.is_full() {
            return Err(-libc::EAGAIN);
        }
        let to = self.number(send.to)?;
        let Way::AtOnce(loan) = send.way() else {
            return self.start_send(bound, to, &{ send });
        };
        match self.station.send_at_once(to, send.label, loan.bytes()) {
            Ok(true) => {
                let note = send.note(tells(bound, send.flags));
                if note.tells {
                    bound.queue.push(self, Entry::new(note.context, note.flags));
                }
                self.counters.count(self, FI_SEND, true);
                Ok(())
            }
            Ok(false) => self.start_send(bound, to, &{ send }),
            Err(error) => Err(crate::code(&error)),
        }
    }

    #[cold]
    #[inline(never)]
    fn start_send(&self, bound: &Bound, to: PeId, send: &Send<'_>) -> Result<(), Code> {
        let loans = send.loans.as_slice();
        let len = loans.iter().map(Loan::len).sum();
        self.check_start(bound, send.is_copied().then_some(len))?;
        let place = match loans {
            [one] if !send.is_copied() => OperationBytes::Lent(*one),
            several => OperationBytes::Kept(gather(several), Vec::new()),
        };
        let (note, shared) = (send.note(tells(bound, send.flags)), None);
        let bytes = Bytes {
            place,
            note,
            shared,
        };
        self.sending.fetch_add(1, Relaxed);
        let bytes = self.books().spare.boxed(bytes);
        let begun = match send.is_confirmed() {
            true => self.station.send_confirmed(to, send.label, bytes),
            false => self.station.send(to, send.label, bytes),
        };
        begun.map(drop).map_err(|error| {
            self.sending.fetch_sub(1, Relaxed);
            crate::code(&error)
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
            self.progress(None).map_err(|error| crate::code(&error))?;
            return Err(-libc::EAGAIN);
        }
        Ok(())
    }

    /// As [`send`](Self::send).
    #[inline(always)]
    pub(crate) fn receive(&self, receive: Receive<'_>) -> Result<(), Code> {
        let bound = self.rx.get().ok_or(-libc::EINVAL)?;
        if bound.queue.is_full() {
            return Err(-libc::EAGAIN);
        }
        let wanted = Wanted {
            lane: receive.lane,
            from: self.source(receive.from)?,
            tag: receive.tag,
        };
        let Way::AtOnce(mut room) = receive.way() else {
            return self.start_receive(bound, wanted, &{ receive });
        };
        let note = receive.note(tells(bound, receive.flags));
        match self.station.receive_at_once(wanted, room.bytes_mut()) {
            Some(envelope) => {
                self.counters.count(self, FI_RECV, true);
                if note.tells {
                    let entry = taken(&note, &envelope, &room, receive.from);
                    bound.queue.push(self, entry);
                }
            }
            None => {
                let bytes = self.books().spare.lent(room, note);
                self.post(wanted, bytes)?;
            }
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn start_receive(
        &self,
        bound: &Bound,
        wanted: Wanted,
        receive: &Receive<'_>,
    ) -> Result<(), Code> {
        let note = receive.note(tells(bound, receive.flags));
        if receive.flags & FI_PEEK != 0 {
            return self.peek(wanted, note, receive.flags);
        }
        let is_shared = receive.flags & FI_MULTI_RECV != 0 && receive.lane == Lane::Plain;
        let place = match receive.loans.as_slice() {
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
        let bytes = self.books().spare.boxed(bytes);
        self.post(wanted, bytes)
    }

    #[inline(always)]
    fn post(&self, wanted: Wanted, bytes: Box<Bytes>) -> Result<(), Code> {
        match self.station.receive(wanted, bytes) {
            Ok(_) => Ok(()),
            Err(error) => Err(crate::code(&error)),
        }
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

    /// Makes progress, and reports what has ended, the first completion to `reader`. Returns whether anything has.
    #[inline(always)]
    pub(crate) fn progress(&self, mut reader: Option<&mut Reader<'_>>) -> Result<bool, Error> {
        let mut any = false;
        for _ in 0..BATCH {
            match self.station.glance() {
                Glance::Nothing => return Ok(any),
                Glance::More => break,
                Glance::Received(received) => {
                    let (envelope, buffer) = (&received.envelope, received.buffer);
                    self.tell_at_once(envelope, buffer, reader.as_deref_mut());
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
    fn tell_at_once(
        &self,
        envelope: &Envelope,
        buffer: Box<dyn Buffer>,
        reader: Option<&mut Reader<'_>>,
    ) {
        // Without bytes nobody waits for it.
        let Ok(mut bytes) = buffer.into_any().downcast::<Bytes>() else {
            return;
        };
        let (OperationBytes::Lent(loan), None, Some(bound)) =
            (&bytes.place, &bytes.shared, self.rx.get())
        else {
            self.tell_received(&mut bytes, Ok(*envelope));
            return self.books().spare.give(bytes);
        };
        let (loan, note) = (*loan, bytes.note);
        self.books().spare.give(bytes);
        self.counters.count(self, FI_RECV, true);
        if !note.tells {
            return;
        }
        match reader.filter(|reader| reader.takes(&bound.queue)) {
            Some(reader) => {
                let from = match reader.asks_from() {
                    true => self.address(envelope.from),
                    false => None,
                };
                let from = from.unwrap_or(FI_ADDR_UNSPEC);
                reader.give(&taken(&note, envelope, &loan, from));
            }
            None => {
                let from = self.address(envelope.from).unwrap_or(FI_ADDR_UNSPEC);
                let entry = taken(&note, envelope, &loan, from);
                bound.queue.push(self, entry);
            }
        }
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
        if self.progress(None).is_err() {
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
        let place = usize::try_from(address).unwrap_or(usize::MAX);
        if let Some(addresses) = self.addresses.get()
            && let Some(books) = self.books.try_lock_owned()
            && let Some(Some(number)) = books.numbers.get(place)
            && books.version == addresses.version()
        {
            return Ok(*number);
        }
        self.find_number(address)
    }

    #[cold]
    #[inline(never)]
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
    pub(crate) fn address(&self, number: PeId) -> Option<u64> {
        let known = self.known_address(&self.books(), number);
        known.or_else(|| self.find_address(number))
    }

    #[inline(always)]
    fn known_address(&self, books: &Books, number: PeId) -> Option<u64> {
        let address = *books.sources.get(number as usize)?;
        let addresses = self.addresses.get()?;
        address.filter(|_| books.version == addresses.version())
    }

    #[cold]
    #[inline(never)]
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

/// That a message is in that memory, from that address.
#[inline(always)]
fn taken(note: &Note, envelope: &Envelope, room: &Loan, from: u64) -> Entry {
    let mut entry = Entry::new(note.context, note.flags);
    describe(&mut entry, envelope);
    (entry.entry.buf, entry.from) = (room.address(), from);
    entry
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
