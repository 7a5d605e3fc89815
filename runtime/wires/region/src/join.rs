//! How the PEs of a job meet in a region.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hostwire_transport::error::{Loss, PeId, RegionFault, TransportError};
use hostwire_transport::memory::Memory;
use hostwire_transport::shm::{
    Bells, Host, LivenessWatch, Lives, Plot, STRIDE_ALIGN_BYTES, Sharing, Shm,
};
use hostwire_transport::visibility::Visibility;
use hostwire_transport::window::Window;

use super::bell::{Listener, OwnBell};
use super::file::{Kind, Piece, epoch};
use super::format::{PeLine, SlotState, Span};
use super::heartbeat::{Heartbeat, Pulse};
use super::lines::Lines;
use super::table::{JobSlot, Slot, contract_name};
use super::{Region, Result, Ticket};

/// What a job needs of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// How many PEs it has.
    pub pes: u32,
    /// Bytes of the segment of each.
    pub segment_bytes: u64,
}

impl Needs {
    /// The needs of `pes` PEs with segments of at least so many bytes.
    pub fn new(pes: u32, segment_bytes: u64) -> Self {
        let whole = segment_bytes.checked_next_multiple_of(super::ALIGN_BYTES);
        Self {
            pes,
            // The table refuses sizes that do not fit.
            segment_bytes: whole.unwrap_or(segment_bytes),
        }
    }
}

/// How long a store may take until a PE of another host sees it, before the contract is doubted.
const SEEN_WITHIN: Duration = Duration::from_secs(2);
/// Bytes that are zeroed at a time.
const ZEROS_BYTES: usize = 64 << 10;

/// A PE that has joined, and waits for the others.
#[derive(Debug)]
pub struct Joining {
    pe: PeId,
    region: Region,
    place: JobSlot,
    plot: Plot,
    memory: Memory,
    lines: Lines,
    /// The locks of this process.
    locks: LivenessWatch,
    bell: Option<OwnBell>,
}

impl Joining {
    /// Takes the place of `pe` in the job of the ticket, and shows it to others.
    ///
    /// # Errors
    /// [`RegionFault`]: it is not the job, or not the region.
    pub fn new(region: Region, ticket: &Ticket, pe: PeId, needs: &Needs) -> Result<Self> {
        Self::with_locks(region, ticket, pe, needs, None)
    }

    /// As [`new`](Self::new). If PEs are threads, `flags` say which of them live.
    pub(super) fn with_locks(
        region: Region,
        ticket: &Ticket,
        pe: PeId,
        needs: &Needs,
        flags: Option<LivenessWatch>,
    ) -> Result<Self> {
        let slot = region.check_slot(ticket.slot)?;
        let found = region.table.find(slot, ticket.incarnation, ticket.key);
        let place = found.map_err(|error| match ticket.is_far() {
            // PE 0 has just stored the entry that is not found.
            true => region.unseen(0),
            false => super::of_file(&region.file, error),
        })?;
        let Needs { pes, segment_bytes } = *needs;
        if (place.entry.pes, place.entry.segment_bytes) != (pes, segment_bytes) || pe >= pes {
            return Err(region.file.fault(RegionFault::Held));
        }
        let segment_bytes = usize::try_from(segment_bytes).unwrap_or(usize::MAX);
        let plot = Plot::new(pes, segment_bytes)?;
        let memory = map(&region, &place, &plot)?;
        let front = memory.part(plot.offset_bytes(pes), Span::front_bytes(pes))?;
        let lines = Lines::new(&front, pes, region.head().contract)?;
        // If memory that is declared coherent is not, these copies are stale from now on, and the
        // check in `finish` fails.
        for other in 0..pes {
            lines.read(other)?;
        }
        if !ticket.is_zeroed {
            zero(&plot.segment(&memory, pe)?, region.head().contract)?;
        }
        let bell = region.bell.as_ref();
        let bell = bell.map(|path| OwnBell::open(path, |fault| region.file.fault(fault)));
        let bell = bell.transpose()?;
        let locks = flags.unwrap_or_else(|| region.locks(&place));
        locks.enter(pe)?;
        let segment_offset_bytes = region.at(&place) - region.offset_bytes
            + Span::front_bytes(pes) as u64
            + u64::from(pe) * needs.segment_bytes;
        let line = PeLine {
            mark: place.mark(SlotState::JOINED),
            beat: 0,
            epoch: epoch(),
            segment_offset_bytes,
            process: std::process::id(),
            bell: bell.as_ref().map_or(0, OwnBell::number),
        };
        lines.write(pe, &line)?;
        Ok(Self {
            pe,
            region,
            place,
            plot,
            memory,
            lines,
            locks,
            bell,
        })
    }

    /// Makes the wire, after all PEs have joined, as the launcher says. A PE of another kernel is lost
    /// when it has been silent for `lost_after`.
    ///
    /// # Errors
    /// [`RegionFault::Unseen`] if stores of others are not visible here; [`RegionFault::NoContract`].
    pub fn finish(self, lost_after: Duration) -> Result<Shm> {
        self.finish_with(lost_after, None)
    }

    /// As [`finish`](Self::finish), with bells other than those of a device.
    pub(super) fn finish_with(
        self,
        lost_after: Duration,
        bells: Option<(Bells, Option<Listener>)>,
    ) -> Result<Shm> {
        let pes = self.place.entry.pes;
        let seen = (0..pes).map(|pe| self.see(pe));
        let seen = seen.collect::<Result<Vec<PeLine>>>()?;
        let numbers = self.bells_of(&seen)?;
        let epochs: Vec<u64> = seen.iter().map(|line| line.epoch).collect();
        let here = epoch();
        let is_near = |epoch: &u64| *epoch == here && here != 0;
        let has_far = !epochs.iter().all(is_near);
        let head = *self.region.head();
        // The system knows only its own pages, and not whether another system maps the same ones.
        let is_file = self.region.file.kind == Kind::File;
        if has_far && is_file && self.region.contract.is_none() {
            return Err(self.region.file.fault(RegionFault::NoContract));
        }
        let silent = |epoch: &u64| (!is_near(epoch)).then(|| AtomicU64::new(0));
        let pulse = Arc::new(Pulse {
            lines: self.lines.clone(),
            table: self.region.table.clone(),
            place: self.place,
            pe: self.pe,
            silent_ms: epochs.iter().map(silent).collect(),
            is_taken_away: AtomicBool::new(false),
        });
        // Other kernels cannot open a region without a name.
        let heart = (!self.region.is_nameless).then(|| Heartbeat::start(Arc::clone(&pulse)));
        let near = epochs.iter().filter(|epoch| is_near(epoch)).count() as u32;
        let sharing = Sharing {
            visibility: head.contract,
            is_rung: is_file && !has_far,
            sharers: near.max(1),
        };
        let (host, plot, memory) = (Host::only(self.pe, pes)?, self.plot, self.memory.clone());
        let bells = match &self.bell {
            Some(bell) => Some(bell.start(self.pe, &numbers)?),
            None => bells,
        };
        let (bells, listener) = bells.unzip();
        let member = Member {
            heart: heart.transpose()?,
            listener: listener.flatten(),
            pulse,
            lost_after,
            joining: self,
        };
        Shm::over_region(host, plot, memory, Box::new(member), sharing, bells)
    }

    /// The numbers of all PEs at the doorbell; empty without one.
    fn bells_of(&self, lines: &[PeLine]) -> Result<Vec<u32>> {
        let is = |has_bell| if has_bell { "with" } else { "without" };
        let has_bell = self.bell.is_some();
        let other = (0..)
            .zip(lines)
            .find(|(_, line)| (line.bell != 0) != has_bell);
        match other {
            Some((pe, line)) => Err(self.region.file.fault(RegionFault::OtherBell {
                pe,
                theirs: is(line.bell != 0),
                ours: is(has_bell),
            })),
            None => Ok(lines.iter().map(|line| line.bell).collect()),
        }
    }

    /// The line of `pe`, which it has stored before this is called.
    fn see(&self, pe: PeId) -> Result<PeLine> {
        let begin = Instant::now();
        loop {
            let line = self.lines.read(pe)?;
            if line.mark == self.place.mark(SlotState::JOINED) {
                return Ok(line);
            }
            if begin.elapsed() > SEEN_WITHIN {
                return Err(self.region.unseen(pe));
            }
            std::thread::yield_now();
        }
    }
}

impl Region {
    /// The error that a store of `pe` is not visible here.
    fn unseen(&self, pe: PeId) -> TransportError {
        let contract = contract_name(self.head().contract);
        self.file.fault(match self.file.kind {
            Kind::File => RegionFault::OwnPages { pe },
            Kind::Device | Kind::Bar { .. } => RegionFault::Unseen { pe, contract },
        })
    }
}

/// The memory of a job, with the layout of any job of one host. The part that lies before the segments
/// in the region is mapped after them.
fn map(region: &Region, place: &JobSlot, plot: &Plot) -> Result<Memory> {
    let (pes, front_bytes) = (place.entry.pes, Span::front_bytes(place.entry.pes));
    let begin = region.at(place);
    let segment = |pe: u32| Piece {
        at_bytes: plot.offset_bytes(pe),
        offset_bytes: begin + front_bytes as u64 + u64::from(pe) * plot.segment_bytes as u64,
        len_bytes: plot.segment_bytes,
    };
    let front = Piece {
        at_bytes: plot.offset_bytes(pes),
        offset_bytes: begin,
        len_bytes: front_bytes,
    };
    let pieces = (0..pes).map(segment).chain([front]).collect();
    let len_bytes = plot.offset_bytes(pes).saturating_add(front_bytes);
    region.file.map(len_bytes, STRIDE_ALIGN_BYTES, pieces)
}

fn zero(segment: &Memory, contract: Visibility) -> Result<()> {
    let window = Window::silent(segment.clone(), contract);
    let zeros = vec![0; ZEROS_BYTES];
    for at in (0..segment.len_bytes()).step_by(ZEROS_BYTES) {
        let len = ZEROS_BYTES.min(segment.len_bytes() - at);
        window.put(at, zeros.get(..len).unwrap_or_default())?;
    }
    contract.quiet();
    Ok(())
}

/// A PE that is in the job. Dropping it leaves the job, and the last PE frees the job's units.
#[derive(Debug)]
struct Member {
    heart: Option<Heartbeat>,
    listener: Option<Listener>,
    pulse: Arc<Pulse>,
    lost_after: Duration,
    joining: Joining,
}

impl Member {
    /// Whether no PE needs the memory of the job any more.
    fn is_last(&self) -> Result<bool> {
        let Joining {
            place,
            lines,
            locks,
            ..
        } = &self.joining;
        for pe in 0..place.entry.pes {
            let has_left = lines.read(pe)?.mark == place.mark(SlotState::LEFT);
            let is_far = self.pulse.silent_ms(pe).is_some();
            let is_dead = || Ok::<_, TransportError>(!is_far && !locks.is_alive(pe)?);
            if pe != self.joining.pe && !has_left && !is_dead()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn leave(&self) -> Result<()> {
        let Joining {
            pe,
            region,
            place,
            lines,
            locks,
            ..
        } = &self.joining;
        // If the job has lost its place, the line may belong to another job.
        if self.pulse.is_taken_away.load(Ordering::Relaxed) || !region.table.holds(place)? {
            return Ok(());
        }
        let line = PeLine {
            mark: place.mark(SlotState::LEFT),
            ..lines.read(*pe)?
        };
        lines.write(*pe, &line)?;
        locks.leave(*pe);
        if !region.is_nameless && self.is_last()? {
            let found = Slot {
                mark: place.mark(SlotState::Running),
                entry: Some(Ok(place.entry)),
            };
            region.release(place.slot, &found)?;
        }
        Ok(())
    }
}

impl Lives for Member {
    fn is_alive(&self, pe: PeId) -> Result<bool> {
        if self.pulse.is_taken_away.load(Ordering::Relaxed) {
            return Err(self.joining.region.file.fault(RegionFault::TakenAway));
        }
        let Some(silent_ms) = self.pulse.silent_ms(pe) else {
            return self.joining.locks.is_alive(pe);
        };
        let has_left =
            self.joining.lines.read(pe)?.mark != self.joining.place.mark(SlotState::JOINED);
        Ok(!has_left && Duration::from_millis(silent_ms) < self.lost_after)
    }

    fn loss(&self, pe: PeId) -> Loss {
        match self.pulse.silent_ms(pe) {
            Some(silent_ms) if Duration::from_millis(silent_ms) >= self.lost_after => {
                Loss::Silent {
                    silent_ms,
                    may_have_ended: true,
                }
            }
            _ => Loss::Ended,
        }
    }

    fn watch(&self) -> LivenessWatch {
        self.joining.locks.clone()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.heart = None;
        self.listener = None;
        // If the region is damaged, no PE can be told.
        let _ = self.leave();
    }
}
