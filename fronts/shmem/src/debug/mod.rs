//! `SHMEM_DEBUG`: looking for mistakes of the program, without building it again.
//!
//! | word | what is looked for |
//! |---|---|
//! | `checks` (or 1) | collective operations with different arguments, or different operations, on different PEs; sessions and symmetric memory that are not given back |
//! | `bounds` | accesses beyond the end of a block of the symmetric heap, or to one that was freed |
//! | `race` | conflicting accesses to symmetric memory with nothing between that orders them: [`race`] |
//!
//! While any of it is on, nothing is in reach of the short way ([`crate::fast`]), so every
//! access passes through here. While all checks are off, none does.

mod bounds;
mod location;
mod memory;
pub(crate) mod race;

use hostwire::PeId;
use hostwire::core::{Kind, Tag};

use crate::constants::SAME_TYPES;
use crate::fail::{fatal, say};
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::team::{self, TeamState};
use bounds::Bounds;
pub(crate) use memory::must_be_memory;
use race::Race;

/// Where the program is, as a part of a sentence.
pub(crate) fn here() -> String {
    location::here()
}

/// See the [module text](self).
#[derive(Debug)]
pub(crate) struct Debug {
    checks: bool,
    bounds: Option<Bounds>,
    race: Option<Race>,
}

impl Debug {
    /// Bytes that the detector of races needs in each segment.
    pub(crate) fn area_bytes(settings: &Settings, pes: u32) -> usize {
        match settings.debug.race {
            true => race::area_bytes(pes),
            false => 0,
        }
    }

    /// `area` is where in a segment the detector of races has its memory.
    pub(crate) fn new(settings: &Settings, area: usize, pe: PeId, pes: u32) -> Self {
        let race = || Race::new(area, pe, pes, settings.delays);
        Self {
            checks: settings.debug.checks,
            bounds: settings.debug.bounds.then(Bounds::default),
            race: settings.debug.race.then(race),
        }
    }

    /// The requested checks that are not possible in this job, if there are any.
    pub(crate) fn refusal(&self, runtime: &Runtime) -> Option<String> {
        self.race.as_ref().and_then(|race| race.refusal(runtime))
    }

    /// What is not looked at although it could be, if there is any such thing.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        self.race.as_ref().and_then(Race::hint)
    }

    /// The detector of races, if it is on.
    #[inline]
    pub(crate) fn race(&self) -> Option<&Race> {
        self.race.as_ref()
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.checks
    }

    /// `len` bytes at a symmetric address, here, are about to be used.
    #[inline]
    pub(crate) fn check_bounds(
        &self,
        runtime: &Runtime,
        what: &str,
        role: &str,
        address: usize,
        len: usize,
    ) {
        if let Some(bounds) = &self.bounds {
            let offset = address.wrapping_sub(runtime.heap_region.address);
            if offset < runtime.heap_region.len_bytes
                && let Err(why) = bounds.check(offset, len)
            {
                fatal(
                    what,
                    format_args!("{role} {address:#x}: {why}, {}", location::here()),
                );
            }
        }
    }

    /// A block of `size` bytes was allocated at `offset` of the heap, or changed its size.
    pub(crate) fn allocated(&self, runtime: &Runtime, offset: usize, size: usize) {
        if let Some(bounds) = &self.bounds {
            bounds.allocated(offset, size);
        }
        if let Some(race) = &self.race {
            race.allocated(runtime, offset, size);
        }
    }

    pub(crate) fn freed(&self, runtime: &Runtime, offset: usize) {
        if let Some(bounds) = &self.bounds {
            bounds.freed(offset);
        }
        if let Some(race) = &self.race {
            race.freed(runtime, offset);
        }
    }

    /// The members of `team` are about to meet.
    #[inline]
    pub(crate) fn before_barrier(&self, runtime: &Runtime, what: &'static str, team: &TeamState) {
        if self.checks {
            self.compare(runtime, what, team, [0; 3]);
        }
    }

    /// Compares the operations of the members of `team`: the operation, its destination
    /// (an offset in the segment), its length, and the other arguments that have to be the
    /// same.
    #[inline]
    pub(crate) fn compare_arguments(
        &self,
        runtime: &Runtime,
        what: &'static str,
        team: &TeamState,
        arguments: [usize; 3],
    ) {
        if self.checks {
            self.compare(
                runtime,
                what,
                team,
                arguments.map(|argument| argument as u64),
            );
        }
    }

    #[cold]
    fn compare(
        &self,
        runtime: &Runtime,
        what: &'static str,
        team: &TeamState,
        arguments: [u64; 3],
    ) {
        let ours = signature(what, arguments);
        let tag = Tag::new(Kind::Agree, 0);
        team::exchange(runtime, what, team, tag, &ours, |rank, theirs| {
            must_agree(what, team.members()[rank], theirs, &ours);
        });
    }

    /// Reports a mistake for which the specification has a value to return.
    pub(crate) fn say(&self, what: &str, why: impl FnOnce() -> String) {
        if self.checks {
            say(&format!("{what}: {}; {}", why(), location::here()));
        }
    }

    /// Reports what the program has not given back at its end.
    pub(crate) fn report_leaks(&self, runtime: &Runtime) {
        if !self.checks {
            return;
        }
        let (blocks, bytes) = runtime
            .heap
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .live();
        if blocks > 0 && runtime.attachment.pe() == 0 {
            say(&format!(
                "shmem_finalize: {blocks} blocks of the symmetric heap ({bytes} bytes) were not freed"
            ));
        }
    }
}

/// The description of a collective operation, which has to be the same at all members: its name
/// and arguments.
pub(crate) type Signature = [u64; 6];

/// `arguments` are its destination (an offset in the segment), its length, and the other arguments
/// that have to be the same.
pub(crate) fn signature(what: &str, arguments: [u64; 3]) -> Signature {
    let mut words = [0; 6];
    words[..3].copy_from_slice(&name_to_words(what));
    words[3..].copy_from_slice(&arguments);
    words
}

/// Ends the job if `pe` is in another operation than this PE, or in the same with other arguments.
pub(crate) fn must_agree(what: &str, pe: PeId, theirs: &Signature, ours: &Signature) {
    if theirs[3..] == ours[3..] && same_type(&name(theirs)) == same_type(&name(ours)) {
        return;
    }
    let says = |words: &Signature| {
        format!(
            "{} (destination {:#x}, {}, {})",
            name(words),
            words[3],
            words[4],
            words[5]
        )
    };
    fatal(
        what,
        format_args!(
            "the PEs disagree: PE {pe} calls {}, this PE {}; the destination is given as its \
             offset in a segment, then come bytes or elements, and a root, strides or the bytes of \
             an element; {}",
            says(theirs),
            says(ours),
            location::here()
        ),
    );
}

/// The name of a function, with the one name of a type that has several: `int32_t` is `int`.
fn same_type(name: &str) -> String {
    let name = name.trim_start_matches("shmem_");
    let (of, rest) = name.split_once('_').unwrap_or((name, ""));
    let same = SAME_TYPES.iter().find(|(other, _)| *other == of);
    format!("{}_{rest}", same.map_or(of, |(_, same)| same))
}

/// The name of a routine without its `shmem_`, as far as it fits.
fn name_to_words(what: &str) -> [u64; 3] {
    let mut bytes = [0; 24];
    let name = what.strip_prefix("shmem_").unwrap_or(what).as_bytes();
    let len = name.len().min(bytes.len());
    bytes[..len].copy_from_slice(&name[..len]);
    let (words, _) = bytes.as_chunks::<8>();
    [0, 1, 2].map(|word| u64::from_le_bytes(words[word]))
}

fn name(words: &Signature) -> String {
    let bytes: Vec<u8> = words[..3]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|byte| *byte != 0)
        .collect();
    format!("shmem_{}", String::from_utf8_lossy(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_type_agree_and_operations_do_not() {
        assert_eq!(
            same_type("shmem_int32_sum_reduce"),
            same_type("shmem_int_sum_reduce")
        );
        assert_eq!(
            same_type("shmem_size_collect"),
            same_type("shmem_uint64_collect")
        );
        for (one, other) in [
            ("shmem_int_sum_reduce", "shmem_int_max_reduce"),
            ("shmem_int_sum_reduce", "shmem_uint_sum_reduce"),
            ("shmem_broadcast32", "shmem_broadcast64"),
            ("shmem_barrier_all", "shmem_sync_all"),
        ] {
            assert_ne!(same_type(one), same_type(other));
        }
    }

    #[test]
    fn the_longest_name_comes_back_whole() {
        let what = "shmem_longdouble_prod_to_all";
        assert_eq!(name(&signature(what, [1, 2, 3])), what);
    }
}
