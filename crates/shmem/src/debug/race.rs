//! A detector of races between PEs.
//!
//! Two accesses to the same bytes race if they come from different PEs, one of them
//! writes, not both are atomic, and nothing orders them. What orders is what the
//! specification says: a fence or quiet before a word that the other PE waits for, a
//! signal, atomics on one word, barriers and other collective operations, and locks. Each
//! PE has a *vector clock*: how far it knows every other PE to have come. A PE's own
//! entry goes up with each fence; an access carries it, and a later access of another PE
//! races with it if that PE does not know of so late a clock.
//!
//! In each segment there are, behind the static objects:
//!
//! | part | size | |
//! |---|---|---|
//! | clocks | 8 B per PE | what the owner of the segment has made known of each |
//! | places | 128 B each | texts: where the owner has called routines |
//! | shadow | 16 B per 8 B of symmetric memory | the last write and the last read of them |
//!
//! Accesses of the program itself, by plain loads and stores, are not seen. Clocks are
//! joined generously, and only the last read is kept; so a race may be missed, but what
//! is reported is one.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hostwire::PeId;

use super::{Access, location};
use crate::fail::say;
use crate::remote::resolve;
use crate::runtime::Runtime;

/// PEs that the six bits of an entry can name.
const PES_MAX: usize = 64;
/// Places in the program that its sixteen bits can name.
const PLACES: usize = 4096;
const PLACE_BYTES: usize = 128;
const GRANULE: usize = 8;
const ENTRY: usize = 16;
/// After so many, further ones say nothing new.
const REPORTS_MAX: usize = 50;

pub(crate) fn area_bytes(_pes: u32, bytes: usize) -> usize {
    let shadow = bytes.saturating_add(1 << 20) / GRANULE * ENTRY;
    PES_MAX * 8 + PLACES * PLACE_BYTES + shadow
}

/// See the [module text](self).
#[derive(Debug)]
pub(crate) struct Race {
    /// Where in a segment its memory is.
    area: usize,
    own: Mutex<Own>,
}

/// What this PE knows.
#[derive(Debug)]
struct Own {
    clocks: [u64; PES_MAX],
    /// Numbers of the places that are written down, by address.
    places: HashMap<usize, usize>,
    reported: HashSet<(u64, u64)>,
}

/// One access, in a word: 0 is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    clock: u32,
    pe: usize,
    /// Which bytes of the granule.
    mask: u8,
    atomic: bool,
    place: usize,
}

impl Entry {
    fn to_word(self) -> u64 {
        u64::from(self.clock)
            | (self.pe as u64) << 32
            | u64::from(self.mask) << 38
            | u64::from(self.atomic) << 46
            | (self.place as u64 & 0xffff) << 48
    }

    fn from_word(word: u64) -> Option<Self> {
        (word != 0).then_some(Self {
            clock: word as u32,
            pe: (word >> 32) as usize & 0x3f,
            mask: (word >> 38) as u8,
            atomic: word >> 46 & 1 == 1,
            place: (word >> 48) as usize,
        })
    }
}

impl Race {
    pub(crate) fn new(area: usize) -> Self {
        Self {
            area,
            own: Mutex::new(Own {
                clocks: [0; PES_MAX],
                places: HashMap::new(),
                reported: HashSet::new(),
            }),
        }
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why it cannot look at this job, if so.
    pub(crate) fn refusal(&self, runtime: &Runtime) -> Option<String> {
        let pes = runtime.attachment.pes() as usize;
        let why = if runtime.mapped.is_none() {
            "the memory of all PEs is not mapped here: they are on several hosts, or \
             HOSTWIRE_WIRE hides it"
                .to_string()
        } else if pes > PES_MAX {
            format!("the job has {pes} PEs, and it can tell {PES_MAX} apart")
        } else {
            return None;
        };
        Some(format!(
            "SHMEM_DEBUG=race cannot find races in this job, since {why}; \
             SHMEM_DEBUG=checks,bounds works"
        ))
    }

    /// Only where everybody's memory is mapped, and the numbers fit.
    fn works(&self, runtime: &Runtime) -> bool {
        runtime.mapped.is_some() && runtime.attachment.pes() as usize <= PES_MAX
    }

    fn word<'a>(&self, runtime: &'a Runtime, pe: PeId, offset: usize) -> Option<&'a AtomicU64> {
        let at = resolve(runtime, pe, offset)?;
        // SAFETY: an aligned word of this module's own memory in a mapped segment, only
        // ever an atomic.
        Some(unsafe { &*at.cast() })
    }

    /// What `pe` has made known of `of`.
    fn known<'a>(&self, runtime: &'a Runtime, pe: PeId, of: usize) -> Option<&'a AtomicU64> {
        self.word(runtime, pe, self.area + of * 8)
    }

    /// The entries of the granule that has the byte at `offset` of `pe`: write and read.
    fn shadow<'a>(
        &self,
        runtime: &'a Runtime,
        pe: PeId,
        offset: usize,
    ) -> Option<[&'a AtomicU64; 2]> {
        // Statics and heap lie on both sides of this memory: fold them together.
        let statics = runtime.statics;
        let index = match offset.checked_sub(runtime.heap_region.offset) {
            Some(in_heap) => statics.len_bytes.next_multiple_of(GRANULE) + in_heap,
            None => offset.checked_sub(statics.offset)?,
        } / GRANULE;
        let at = self.area + PES_MAX * 8 + PLACES * PLACE_BYTES + index * ENTRY;
        Some([self.word(runtime, pe, at)?, self.word(runtime, pe, at + 8)?])
    }

    /// The number of the place in the program that called this routine.
    fn place(&self, runtime: &Runtime, own: &mut Own) -> usize {
        let address = location::caller();
        if let Some(number) = own.places.get(&address) {
            return *number;
        }
        let number = (own.places.len() + 1).min(PLACES - 1);
        own.places.insert(address, number);
        let mut text = location::describe(address);
        while text.len() >= PLACE_BYTES {
            // The end says more than the beginning of a path.
            text.remove(0);
        }
        let at = runtime.own_at(self.area + PES_MAX * 8 + number * PLACE_BYTES);
        // SAFETY: the own slot for the text, which ends with a zero.
        unsafe { at.write_bytes(0, PLACE_BYTES) };
        // SAFETY: as above; shorter than the slot.
        unsafe { at.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        number
    }

    fn place_text(&self, runtime: &Runtime, entry: Entry) -> String {
        let offset = self.area + PES_MAX * 8 + entry.place.min(PLACES - 1) * PLACE_BYTES;
        let Some(at) = resolve(runtime, entry.pe as PeId, offset) else {
            return String::new();
        };
        let mut bytes = [0; PLACE_BYTES];
        // SAFETY: the slot of a text in a mapped segment.
        unsafe { at.copy_to_nonoverlapping(bytes.as_mut_ptr(), PLACE_BYTES) };
        let len = bytes
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(PLACE_BYTES);
        String::from_utf8_lossy(&bytes[..len]).into_owned()
    }

    pub(crate) fn access(
        &self,
        runtime: &Runtime,
        what: &'static str,
        pe: PeId,
        offset: usize,
        len: usize,
        access: Access,
    ) {
        if access == Access::Collective || !self.works(runtime) || len == 0 {
            return;
        }
        let mut own = self.own();
        let me = runtime.attachment.pe() as usize;
        let atomic = matches!(access, Access::Atomic | Access::AtomicRead);
        let writes = matches!(access, Access::Write | Access::Atomic);
        if atomic {
            self.join_writer(runtime, &mut own, pe, offset);
        }
        let place = self.place(runtime, &mut own);
        let end = offset + len;
        for granule in (offset / GRANULE * GRANULE..end).step_by(GRANULE) {
            let first = offset.max(granule) - granule;
            let last = end.min(granule + GRANULE) - granule;
            let entry = Entry {
                clock: own.clocks[me] as u32 + 1,
                pe: me,
                mask: (((1u16 << last) - 1) & !((1u16 << first) - 1)) as u8,
                atomic,
                place,
            };
            let Some([write, read]) = self.shadow(runtime, pe, granule) else {
                return;
            };
            let (before, other) = match writes {
                true => (
                    write.swap(entry.to_word(), Ordering::AcqRel),
                    read.load(Ordering::Acquire),
                ),
                false => {
                    read.store(entry.to_word(), Ordering::Release);
                    (write.load(Ordering::Acquire), 0)
                }
            };
            for (before, wrote) in [(before, true), (other, false)] {
                let Some(before) = Entry::from_word(before) else {
                    continue;
                };
                let ordered = before.pe == me
                    || u64::from(before.clock) <= own.clocks[before.pe]
                    || before.mask & entry.mask == 0
                    || (before.atomic && atomic);
                if !ordered {
                    let target = (pe, granule);
                    self.report(
                        runtime,
                        &mut own,
                        what,
                        target,
                        (entry, writes),
                        (before, wrote),
                    );
                }
            }
        }
    }

    #[cold]
    fn report(
        &self,
        runtime: &Runtime,
        own: &mut Own,
        what: &str,
        (pe, offset): (PeId, usize),
        (entry, writes): (Entry, bool),
        (before, wrote): (Entry, bool),
    ) {
        let pair = (
            entry.place as u64,
            (before.place as u64) << 8 | before.pe as u64,
        );
        if own.reported.len() >= REPORTS_MAX || !own.reported.insert(pair) {
            return;
        }
        let does = |writes| if writes { "writes" } else { "reads" };
        let object = match offset.checked_sub(runtime.heap_region.offset) {
            Some(in_heap) => format!("byte {in_heap} of the symmetric heap"),
            None => format!(
                "byte {} of the static objects",
                offset.saturating_sub(runtime.statics.offset)
            ),
        };
        say(&format!(
            "race on {object} of PE {pe}:\n  PE {} {} it in {what}, called at {}\n  PE {} {} it, \
             called at {}\n  and nothing orders the two",
            entry.pe,
            does(writes),
            self.place_text(runtime, entry),
            before.pe,
            if wrote { "wrote" } else { "read" },
            self.place_text(runtime, before),
        ));
    }

    /// What came before is ordered before what comes after, for whoever hears of it.
    pub(crate) fn fence(&self, runtime: &Runtime) {
        if !self.works(runtime) {
            return;
        }
        let me = runtime.attachment.pe();
        let mut own = self.own();
        own.clocks[me as usize] += 1;
        if let Some(known) = self.known(runtime, me, me as usize) {
            known.store(own.clocks[me as usize], Ordering::Release);
        }
    }

    /// This PE knows of `pe` that it has come as far as `clock`, and of the others what
    /// `pe` has made known.
    fn learn(&self, runtime: &Runtime, own: &mut Own, pe: usize, clock: u64) {
        let me = runtime.attachment.pe() as usize;
        for of in (0..runtime.attachment.pes() as usize).filter(|of| *of != me) {
            let heard = match of == pe {
                true => clock,
                false => self
                    .known(runtime, pe as PeId, of)
                    .map_or(0, |known| known.load(Ordering::Acquire)),
            };
            if heard > own.clocks[of] {
                own.clocks[of] = heard;
                if let Some(known) = self.known(runtime, me as PeId, of) {
                    known.store(heard, Ordering::Release);
                }
            }
        }
    }

    /// Learns from whoever wrote the word at `offset` of `pe` last.
    fn join_writer(&self, runtime: &Runtime, own: &mut Own, pe: PeId, offset: usize) {
        let Some([write, _]) = self.shadow(runtime, pe, offset) else {
            return;
        };
        if let Some(writer) = Entry::from_word(write.load(Ordering::Acquire))
            && writer.pe != runtime.attachment.pe() as usize
            && writer.pe < runtime.attachment.pes() as usize
        {
            // What it had not fenced before the word may still be on its way.
            self.learn(
                runtime,
                own,
                writer.pe,
                u64::from(writer.clock).saturating_sub(1),
            );
        }
    }

    /// A wait for the word at `offset` of `pe` is over, or a lock is taken. The word
    /// itself may be used again.
    pub(crate) fn acquire(&self, runtime: &Runtime, pe: PeId, offset: usize) {
        if !self.works(runtime) {
            return;
        }
        self.join_writer(runtime, &mut self.own(), pe, offset);
        if let Some([write, read]) = self.shadow(runtime, pe, offset) {
            write.store(0, Ordering::Release);
            read.store(0, Ordering::Release);
        }
    }

    /// Who takes the lock at `offset` of `pe` next learns what this PE has done.
    pub(crate) fn release(&self, runtime: &Runtime, pe: PeId, offset: usize) {
        if !self.works(runtime) {
            return;
        }
        let me = runtime.attachment.pe() as usize;
        let entry = Entry {
            clock: self.own().clocks[me] as u32 + 1,
            pe: me,
            mask: 0xff,
            atomic: true,
            place: 0,
        };
        if let Some([write, _]) = self.shadow(runtime, pe, offset) {
            write.store(entry.to_word(), Ordering::Release);
        }
    }

    /// These PEs have met: each knows what all had fenced before.
    pub(crate) fn join(&self, runtime: &Runtime, members: &[PeId]) {
        if !self.works(runtime) {
            return;
        }
        let mut own = self.own();
        for &pe in members {
            let known = self.known(runtime, pe, pe as usize);
            let clock = known.map_or(0, |known| known.load(Ordering::Acquire));
            self.learn(runtime, &mut own, pe as usize, clock);
        }
    }

    /// These bytes, of the own segment, are new.
    pub(crate) fn forget(&self, runtime: &Runtime, offset: usize, len: usize) {
        if !self.works(runtime) {
            return;
        }
        for granule in (offset..offset + len).step_by(GRANULE) {
            if let Some([write, read]) = self.shadow(runtime, runtime.attachment.pe(), granule)
                && (write.load(Ordering::Relaxed) | read.load(Ordering::Relaxed)) != 0
            {
                write.store(0, Ordering::Release);
                read.store(0, Ordering::Release);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_word_and_back() {
        for entry in [
            Entry {
                clock: 1,
                pe: 0,
                mask: 0xff,
                atomic: false,
                place: 1,
            },
            Entry {
                clock: u32::MAX,
                pe: 63,
                mask: 0x81,
                atomic: true,
                place: PLACES - 1,
            },
        ] {
            assert_eq!(Entry::from_word(entry.to_word()), Some(entry));
        }
        assert_eq!(Entry::from_word(0), None);
    }
}
