//! How a segment is divided. All segments have the same layout, so an offset means the same at every
//! PE.
//!
//! | part | size | who writes it |
//! |---|---|---|
//! | doorbell | the last word of the first page | the owner; any peer wakes it |
//! | mail lines | 64 B per PE | that PE: credits and the like |
//! | request lines | 8 of 64 B per PE | that PE, to ask the agent |
//! | reply lines | 8 of 64 B per PE | that PE's agent |
//! | talk words | 8 B per PE and some more, in a job of more than 64: see [`Newcomers`] | that PE: it uses its ring |
//! | ask words | the same | that PE: it asks the agent |
//! | end words | 16 B per PE, in such a job | that PE: it leaves; PEs of its host: it is lost |
//! | message rings | ring size per PE | that PE |
//! | count lines | 5 lines per PE, of which 2 are used | the owner, to begin a long message; then that PE |
//! | staging | 256 KiB | the sender of the long message at hand |
//! | landing | 256 KiB | the agent that answers a get; the owner, for a put to registered memory |
//! | teams | per team slot, see `layout/slot.rs` | the members of the team |
//! | tools | [`Sizes::tool_bytes`] | what a front keeps for itself, such as a race detector |
//! | statics | [`Sizes::static_bytes`] | the program: its static objects |
//! | heap | [`Sizes::heap_bytes`] | the program |
//! | eager buffers | one per PE, see [`Sizes::eager_bytes`] | that PE: bytes of its longer messages |
//! | long stages | of the first team slots, see `layout/slot.rs` | the members of the team |
//!
//! The parts up to the tools, the eager buffers and the long stages are the *control* segment of the PE; statics and heap are segments of
//! their own ([`SegmentKind`]). All are adjacent, so that one window maps them. Registered memory lies
//! elsewhere.
//!
//! Where hosts write back whole lines ([`Visibility::Flushed`](hostwire_transport::Visibility)), a line
//! must have one writing host at a time. This holds for all parts except the talk words, the ask words and the end words,
//! which are adjacent because a PE reads many of them. On such memory each PE uses words of its mail line
//! instead, and a PE looks at those and at the request lines of all others.

mod slot;

use hostwire_transport::newcomers::Newcomers;
use hostwire_transport::ring::{EagerBytes, EagerPlace, Slots};
use hostwire_transport::window::FIRST_FREE_OFFSET_BYTES;
use hostwire_transport::{PeId, Visibility};
pub(crate) use slot::{ACROSS, BACK, ENTRIES, GATHER, STAGE_BYTES, Slot};

use crate::error::{Error, Result};
use crate::settings::{SettingError, check_ring};
pub use crate::sizes::{PES_MAX, Sizes};

/// The version of this layout, of the address map (`hostwire-address`) and of the words that PEs store
/// to each other. Every change of them raises it: PEs of two versions cannot be in one job.
pub const VERSION: u64 = 10;

const WORD: usize = 8;
const LINE: usize = 64;
const PAGE: usize = 4096;

/// The gap between two rings. Two PEs that talk are at about the same slot of both rings. Without the
/// gap the addresses of these slots agree in the low 12 bits, and a load from one has to wait for the
/// store to the other (see [`hostwire_transport::window::DOORBELL_OFFSET_BYTES`]). An odd number of
/// lines, so that all PEs differ. Its first two lines are the count lines of the PE.
const RING_GAP: usize = 5 * LINE;

/// Most teams at a time, the world included.
pub const TEAMS_MAX: usize = SLOTS - 2;
/// Places for teams in a segment: two are for teams that only the library uses.
pub(crate) const SLOTS: usize = 256;
/// Up to this many PEs, each looks at the rings and request lines of all others while it waits. With more PEs,
/// each looks only at those whose PEs have stored that they use them.
pub(crate) const RINGS_LOOKED_AT_MAX: u32 = 64;

/// Bytes of a piece of a long message on its way through staging memory. Fitted: half of
/// a level-two cache of 512 KiB holds all of them.
pub(crate) const CHUNK_BYTES: usize = 16 << 10;
/// Requests that a PE may have under way to the agent of another. A power of two.
pub(crate) const REQUEST_LINES: u32 = 8;

/// Bytes of the landing place: most of what an agent gives back at a time.
pub(crate) const LANDING_BYTES: usize = 256 << 10;
/// Pieces in staging at a time.
pub(crate) const CHUNKS: u64 = 16;

/// What a PE exposes to the others in its part of the address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentKind {
    /// What the runtime needs: flags, rings, mail.
    Control,
    /// Static objects of the program.
    Static,
    /// The symmetric heap.
    Heap,
}

/// Words of a mail line, from the PE of the line to the owner of the segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mail {
    /// Lines it has freed of the ring we send it messages through.
    Credit = 0,
    /// That it uses its ring, where there are no talk words: see [`Layout::talks`].
    Talks = 1,
    /// Lines that it has taken out of each area of the eager buffer we send it messages through.
    EagerCredit = 2,
    /// How many bytes of which message it has stored in our eager buffer.
    EagerSaid = 3,
    /// How far it is on its way out of the job: a `Departure`. See [`Layout::end`].
    Departure = 5,
    /// That it has ended without leaving: [`LOST`]. Other PEs of its host store it, because they notice
    /// first. See [`Layout::end`].
    Lost = 6,
    /// Lines that it has stored in its ring. It stores this only when one of its waits has
    /// become long.
    Sent = 7,
}

/// Words that count pieces of a long message, from the PE of the line to the owner of the segment.
/// The owner sets one to 0 before that PE can know of the message; so each has a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// Pieces of our long message that it has taken out of staging.
    Freed = 0,
    /// Pieces of its long message to us that it has delivered.
    Delivered = 1,
}

/// The value of an awaited word in the own segment before the answer arrives. It is not 0,
/// because 0 is left if a peer has wiped out the answer. The number of the awaited answer is
/// beside it.
pub(crate) const NOT_YET: u64 = 1 << 63;

/// The value of [`Mail::Lost`].
pub(crate) const LOST: u64 = 0x6c6f_7374;

/// Offsets of the parts. See the [module text](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    slots: Slots,
    ring_bytes: usize,
    pes: u32,
    mails: usize,
    requests: usize,
    replies: usize,
    /// Only in a job of more than [`RINGS_LOOKED_AT_MAX`].
    talks: Option<Newcomers>,
    asks: Option<Newcomers>,
    ends: Option<usize>,
    rings: usize,
    staging: usize,
    landing: usize,
    teams: usize,
    tools: usize,
    statics: usize,
    static_bytes: usize,
    heap: usize,
    heap_bytes: usize,
    eager: usize,
    eager_bytes: EagerBytes,
    eager_rooms: u32,
}

/// Whole pages, whatever their size.
const PAGES: usize = 64 << 10;

/// Most bytes of all parts together: a quarter of what a register can address.
const SEGMENT_BYTES_MAX: usize = isize::MAX as usize / 2;

/// Bytes of the larger areas of all eager buffers of a PE together, if nothing else is said; and of one, at least and at most.
const EAGER_BYTES_ALL: usize = 4 << 20;
const EAGER_BYTES_MIN: usize = 4 << 10;
const EAGER_BYTES_MAX: usize = 64 << 10;
/// Bytes of the eager buffers that have memory at a time, if nothing else is said.
const EAGER_MEMORY_BYTES: usize = 8 << 20;

/// Where the parts of a front and of the program begin.
struct Program {
    statics: usize,
    heap: usize,
    heap_bytes: usize,
    eager: usize,
}

impl Program {
    /// With so many bytes behind the heap. `None` if they are too large, or the heap cannot be aligned so.
    fn behind(tools: usize, sizes: Sizes, behind_bytes: usize) -> Option<Self> {
        let align = sizes.heap_align_bytes;
        if !align.is_power_of_two() || align < PAGE {
            return None;
        }
        let tools_end = tools.checked_add(sizes.tool_bytes)?;
        let statics = match sizes.static_bytes {
            0 => tools_end,
            _ => tools_end.checked_next_multiple_of(PAGES)?,
        };
        let heap = statics.checked_add(sizes.static_bytes)?;
        let heap = heap.checked_next_multiple_of(align)?;
        let heap_bytes = sizes.heap_bytes.checked_next_multiple_of(PAGE)?;
        let eager = heap.checked_add(heap_bytes)?;
        let end = eager.checked_add(behind_bytes)?;
        (end <= SEGMENT_BYTES_MAX).then_some(Self {
            statics,
            heap,
            heap_bytes,
            eager,
        })
    }
}

impl Layout {
    /// The layout for a job of `pes` PEs.
    ///
    /// # Errors
    /// [`Error::Setting`] if a size is impossible, [`Error::NoSuchPe`] if there are
    /// more than [`PES_MAX`] PEs.
    pub fn new(pes: u32, sizes: Sizes) -> Result<Self> {
        if pes == 0 || pes > PES_MAX {
            return Err(Error::NoSuchPe {
                what: "PE",
                pe: pes.saturating_sub(1),
                pes: PES_MAX,
            });
        }
        let slots = check_ring(sizes.ring_bytes)?;
        let all = pes as usize;
        let mails = FIRST_FREE_OFFSET_BYTES;
        let requests = mails + all * LINE;
        let replies = requests + all * REQUEST_LINES as usize * LINE;
        let replies_end = replies + all * REQUEST_LINES as usize * LINE;
        let is_large = pes > RINGS_LOOKED_AT_MAX;
        let [asks, ends] = [1, 2].map(|parts| replies_end + parts * Newcomers::bytes(pes));
        let words_end = match is_large {
            true => ends + all * 2 * WORD,
            false => replies_end,
        };
        let words = |at| is_large.then(|| Newcomers::new(at, pes));
        let (talks, asks) = (words(replies_end), words(asks));
        let ends = is_large.then_some(ends);
        let rings = words_end.next_multiple_of(PAGE);
        let staging = (rings + all * (sizes.ring_bytes + RING_GAP)).next_multiple_of(PAGE);
        let landing = staging + CHUNKS as usize * CHUNK_BYTES;
        let teams = landing + LANDING_BYTES;
        let tools = (teams + SLOTS * Slot::bytes(pes)).next_multiple_of(PAGE);
        let eager_bytes = eager_bytes(pes, sizes.eager_bytes)?;
        let eager_memory_bytes = match sizes.eager_memory_bytes {
            0 => EAGER_MEMORY_BYTES,
            bytes => bytes,
        };
        let eager_rooms = (eager_memory_bytes / eager_stride(eager_bytes)).clamp(1, all) as u32;
        let all_eager = all * eager_stride(eager_bytes);
        let behind = all_eager + Slot::all_long_bytes(pes);
        let program = Program::behind(tools, sizes, behind).ok_or_else(|| SettingError {
            variable: crate::settings::HEAP.variable,
            value: sizes.heap_bytes.to_string(),
            problem: format!("expected at most {SEGMENT_BYTES_MAX} bytes for all segments of a PE"),
        })?;
        Ok(Self {
            slots,
            ring_bytes: sizes.ring_bytes,
            pes,
            mails,
            requests,
            replies,
            talks,
            asks,
            ends,
            rings,
            staging,
            landing,
            teams,
            tools,
            statics: program.statics,
            static_bytes: sizes.static_bytes,
            heap: program.heap,
            heap_bytes: program.heap_bytes,
            eager: program.eager,
            eager_bytes,
            eager_rooms,
        })
    }

    /// Bytes of all parts together.
    pub fn segment_bytes(&self) -> usize {
        self.long_stages() + Slot::all_long_bytes(self.pes)
    }

    fn long_stages(&self) -> usize {
        self.eager + self.pes as usize * eager_stride(self.eager_bytes)
    }

    pub(crate) fn slots(&self) -> Slots {
        self.slots
    }

    /// Where the members of a team meet.
    pub(crate) fn slot(&self, number: usize) -> Slot {
        Slot::new((self.teams, self.long_stages()), self.pes, number)
    }

    pub(crate) fn mail(&self, from: PeId, word: Mail) -> usize {
        self.mails + from as usize * LINE + word as usize * 8
    }

    /// The line of the request of `from` with this number. The first lines of all PEs are adjacent,
    /// then the second ones, and so on: PEs that ask seldom touch few pages.
    pub(crate) fn request(&self, from: PeId, number: u32) -> usize {
        self.requests + self.line(from, number)
    }

    /// The line in which the agent of `from` replies to the request with this number.
    pub(crate) fn reply(&self, from: PeId, number: u32) -> usize {
        self.replies + self.line(from, number)
    }

    fn line(&self, pe: PeId, number: u32) -> usize {
        let all = (self.replies - self.requests) / REQUEST_LINES as usize;
        (number % REQUEST_LINES) as usize * all + pe as usize * LINE
    }

    /// Whether PEs store that they use their rings: see [`RINGS_LOOKED_AT_MAX`].
    pub(crate) fn has_talks(&self) -> bool {
        self.talks.is_some()
    }

    /// Where PEs store that they use their rings, if this is needed, in a segment that others reach by this
    /// contract. Without it, they use [`Mail::Talks`].
    pub(crate) fn talks(&self, contract: Visibility) -> Option<Newcomers> {
        self.talks.filter(|_| contract != Visibility::Flushed)
    }

    /// Where PEs store that they ask the agent; as [`talks`](Self::talks). Without it, the agent looks at the
    /// lines of all.
    pub(crate) fn asks(&self, contract: Visibility) -> Option<Newcomers> {
        self.asks.filter(|_| contract != Visibility::Flushed)
    }

    /// Where is said that `pe` leaves, or that it is lost: one of these two words.
    pub(crate) fn end(&self, pe: PeId, word: Mail, contract: Visibility) -> usize {
        match self.ends.filter(|_| contract != Visibility::Flushed) {
            Some(ends) => {
                let at = 2 * pe as usize + usize::from(word == Mail::Lost);
                ends + at * WORD
            }
            None => self.mail(pe, word),
        }
    }

    pub(crate) fn ring(&self, from: PeId) -> usize {
        self.rings + from as usize * (self.ring_bytes + RING_GAP)
    }

    /// Where `from` puts the bytes of its longer messages, and says how far it is.
    pub(crate) fn eager(&self, from: PeId) -> EagerPlace {
        EagerPlace {
            offset_bytes: self.eager + from as usize * eager_stride(self.eager_bytes),
            bytes: self.eager_bytes,
            own_bytes: eager_stride(self.eager_bytes),
            said_offset_bytes: self.mail(from, Mail::EagerSaid),
        }
    }

    /// How many eager buffers of a PE may have memory at a time, where it can be given back.
    pub(crate) fn eager_rooms(&self) -> u32 {
        self.eager_rooms
    }

    /// Where `from` counts pieces of a long message.
    pub(crate) fn count(&self, from: PeId, count: Count) -> usize {
        self.ring(from) + self.ring_bytes + count as usize * LINE
    }

    pub(crate) fn staging(&self) -> usize {
        self.staging
    }

    /// Where the data from a peer's agent lands: [`LANDING_BYTES`].
    pub(crate) fn landing(&self) -> usize {
        self.landing
    }

    /// Where the memory that a front keeps for itself begins.
    pub fn tools(&self) -> usize {
        self.tools
    }

    /// Where the static objects begin: a multiple of 64 KiB.
    pub fn statics(&self) -> usize {
        self.statics
    }

    /// The segment that all of `len_bytes` bytes at `at` lie in.
    pub fn segment_of(&self, at: usize, len_bytes: usize) -> Option<SegmentKind> {
        let lies_in = |start: usize, end: usize| start <= at && at <= end && len_bytes <= end - at;
        let statics_end = self.statics + self.static_bytes;
        if lies_in(self.heap, self.heap + self.heap_bytes) {
            Some(SegmentKind::Heap)
        } else if lies_in(self.statics, statics_end) {
            Some(SegmentKind::Static)
        } else if lies_in(0, self.statics) || lies_in(self.eager, self.segment_bytes()) {
            Some(SegmentKind::Control)
        } else {
            None
        }
    }

    /// Whether all of `len_bytes` bytes at `at` belong to the program, so that it may let the agent of
    /// their PE read and change them.
    pub(crate) fn is_the_programs(&self, at: usize, len_bytes: usize) -> bool {
        match self.segment_of(at, len_bytes) {
            Some(SegmentKind::Heap | SegmentKind::Static) => true,
            Some(SegmentKind::Control) => at >= self.tools && at < self.heap,
            None => false,
        }
    }

    /// Where the heap begins.
    pub fn heap(&self) -> usize {
        self.heap
    }

    /// Bytes of the heap.
    pub fn heap_bytes(&self) -> usize {
        self.heap_bytes
    }
}

/// Whole pages, so that the memory of one buffer is that of no other.
fn eager_stride(bytes: EagerBytes) -> usize {
    bytes.bytes().next_multiple_of(PAGE)
}

/// The eager buffer of each pair.
fn eager_bytes(pes: u32, wanted: usize) -> Result<EagerBytes> {
    let bytes = match wanted {
        0 => {
            let share = (EAGER_BYTES_ALL / pes as usize).max(EAGER_BYTES_MIN);
            (1 << share.ilog2()).min(EAGER_BYTES_MAX)
        }
        wanted => wanted,
    };
    let bytes = Some(bytes).filter(|bytes| *bytes >= EAGER_BYTES_MIN);
    bytes.and_then(EagerBytes::new).ok_or(Error::Length {
        what: "bytes of an eager buffer",
        expected: EAGER_BYTES_MAX,
        got: wanted,
    })
}

#[cfg(test)]
mod tests {
    use hostwire_transport::ring::RING_BYTES_DEFAULT;

    use super::*;

    #[test]
    fn parts_follow_each_other_and_are_aligned() {
        for pes in [1, 2, 3, 64, 65, PES_MAX] {
            let layout = Layout::new(pes, Sizes::default()).unwrap();
            let last = pes - 1;
            let ends = [
                layout.mail(0, Mail::Credit),
                layout.mail(last, Mail::Credit) + LINE,
                layout.request(0, 0),
                layout.request(last, 8) + LINE,
                layout.request(0, u32::MAX),
                layout.request(last, 7) + LINE,
                layout.reply(0, 16),
                layout.reply(last, 16) + LINE,
                layout.reply(0, 1),
                layout.reply(last, 7) + LINE,
                layout.ring(0),
                layout.ring(last) + RING_BYTES_DEFAULT,
                layout.count(last, Count::Freed),
                layout.count(last, Count::Delivered),
                layout.staging(),
                layout.landing(),
                layout.slot(0).flag(0),
                layout.slot(SLOTS).flag(0),
                layout.tools(),
                layout.statics(),
                layout.heap(),
                layout.eager(0).offset_bytes,
                layout.eager(last).offset_bytes + layout.eager(last).bytes.bytes(),
                layout.segment_bytes(),
            ];
            assert!(ends.is_sorted(), "{ends:?}");
            assert!(ends.iter().all(|end| end % 8 == 0));
            assert!(
                [layout.ring(0), layout.ring(last), layout.staging()].map(|at| at % LINE) == [0; 3]
            );
            assert_eq!(layout.heap() % PAGE, 0);
        }
    }

    #[test]
    fn each_byte_belongs_to_one_segment() {
        let sizes = Sizes {
            heap_align_bytes: 1 << 20,
            static_bytes: 3 * PAGE,
            tool_bytes: 100,
            ..Sizes::default()
        };
        let layout = Layout::new(2, sizes).unwrap();
        let (statics, heap) = (layout.statics(), layout.heap());
        assert_eq!((statics % PAGES, heap % (1 << 20)), (0, 0));
        let of = |at, len| layout.segment_of(at, len);
        assert_eq!(of(0, 8), Some(SegmentKind::Control));
        assert_eq!(of(statics - 8, 8), Some(SegmentKind::Control));
        assert_eq!(of(statics, 3 * PAGE), Some(SegmentKind::Static));
        assert_eq!(of(heap, 256 << 20), Some(SegmentKind::Heap));
        let eager = layout.eager(0).offset_bytes;
        assert_eq!(of(eager, 80 << 10), Some(SegmentKind::Control));
        assert!(!layout.is_the_programs(eager, 8));
        assert_eq!(of(statics, 3 * PAGE + 1), None);
        assert_eq!(of(heap - 1, 2), None);
        assert_eq!(of(layout.segment_bytes(), 1), None);
        assert_eq!(of(usize::MAX, 2), None);
        assert!(layout.is_the_programs(layout.tools(), 100));
        assert!(!layout.is_the_programs(layout.tools() - 8, 8));
        assert!(!layout.is_the_programs(heap, usize::MAX));
    }

    /// The program's pages are mapped there, and those of one part must not be those of another.
    #[test]
    fn statics_begin_at_a_page_of_any_size() {
        for page in [4 << 10, 16 << 10, 64 << 10] {
            for (pes, tool_bytes) in [(1, 0), (3, 100), (70, 8)] {
                let sizes = Sizes {
                    static_bytes: 3 * page,
                    tool_bytes,
                    ..Sizes::default()
                };
                let layout = Layout::new(pes, sizes).unwrap();
                let (begin, end) = (layout.statics(), layout.statics() + 3 * page);
                assert_eq!((begin % page, layout.heap() % page), (0, 0), "{page} {pes}");
                assert!(begin >= layout.tools() + tool_bytes && end <= layout.heap());
            }
        }
    }

    /// What one of a pair has in its memory for what the other one sends, and the addresses of all parts.
    #[test]
    fn a_pair_takes_little_and_all_parts_fit_the_addresses_of_a_host() {
        for (pes, most) in [
            (64, 85 << 10),
            (65, 80 << 10),
            (1024, 80 << 10),
            (PES_MAX, 80 << 10),
        ] {
            let layout = Layout::new(pes, Sizes::default()).unwrap();
            let ring = layout.ring(1) - layout.ring(0);
            let pair = ring + layout.eager(0).own_bytes + LINE;
            assert!(pair <= most, "{pes} PEs: {pair}");
            // 64 PEs of a host, in half of what a process can map.
            assert!(64 * layout.segment_bytes() < 1 << 46, "{pes} PEs");
        }
    }

    #[test]
    fn eager_buffers_are_smaller_where_there_are_many() {
        let bytes = |pes, eager_bytes| {
            let sizes = Sizes {
                eager_bytes,
                ..Sizes::default()
            };
            Layout::new(pes, sizes).map(|layout| layout.eager(0).bytes.bytes())
        };
        for (pes, expected) in [
            (2, 80 << 10),
            (64, 80 << 10),
            (65, 40 << 10),
            (PES_MAX, 5120),
        ] {
            assert_eq!(bytes(pes, 0), Ok(expected), "{pes}");
        }
        assert_eq!(bytes(1024, 1 << 16), Ok(80 << 10));
        let rooms = |pes, eager_memory_bytes| {
            let sizes = Sizes {
                eager_memory_bytes,
                ..Sizes::default()
            };
            Layout::new(pes, sizes).unwrap().eager_rooms()
        };
        assert_eq!(
            [2, 64, 1024, PES_MAX].map(|pes| rooms(pes, 0)),
            [2, 64, 1024, 1024]
        );
        assert_eq!([1, 330 << 10].map(|bytes| rooms(64, bytes)), [1, 4]);
        assert!(bytes(2, 5000).is_err() && bytes(2, 2048).is_err());
    }

    #[test]
    fn impossible_sizes_name_the_setting() {
        let with = |ring_bytes, heap_bytes| {
            Layout::new(
                2,
                Sizes {
                    ring_bytes,
                    heap_bytes,
                    ..Sizes::default()
                },
            )
        };
        let names = |refused, expected| match refused {
            Err(Error::Setting(error)) => assert_eq!(error.variable, expected),
            other => panic!("{other:?}"),
        };
        names(with(1000, 4096), "HOSTWIRE_RING");
        names(with(4096, usize::MAX), "HOSTWIRE_HEAP");
        assert!(Layout::new(0, Sizes::default()).is_err());
        assert!(Layout::new(PES_MAX + 1, Sizes::default()).is_err());
    }
}
