//! The tests of this API, over any wire.
//!
//! Each case is a function of a [`Setup`]: a [`Testbed`] that brings the wire and runs
//! the PEs, how many of them, and who runs their agents. A wire over which all cases
//! pass may be used by every program.
//!
//! ```no_run
//! use hostwire::AgentMode;
//! use hostwire::conformance::{CASES, Setup};
//! use hostwire_transport::conformance::Threads;
//!
//! let fabric = Threads::default();
//! for case in CASES {
//!     (case.run)(&Setup::new(&fabric, 4, AgentMode::Thread));
//! }
//! ```
//!
//! [`crate::conformance_cases`] makes a `#[test]` of each.

mod atomic;
mod collective;
mod lock;
mod matching;
mod memory;
mod message;
mod message_order;
mod message_refused;
mod put_get;
mod queue;
mod registered;
mod rooted;
mod signal;
mod tca;
mod team;
mod traffic;
mod until;

use hostwire_transport::Visibility;
pub use hostwire_transport::conformance::{Random, Testbed};
use hostwire_transport::visibility::LINE_BYTES;

use crate::agent::AgentMode;
use crate::job::Job;
use crate::layout::{Layout, Sizes};
use crate::{Element, PeId};

/// One test of the suite.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// What it shows.
    pub name: &'static str,
    /// Panics if it does not hold.
    pub run: fn(&Setup<'_>),
}

/// Calls the macro `$then` with the names of all cases: `$then!($args; name, name, ...)`.
#[macro_export]
macro_rules! conformance_cases {
    ($then:ident!($($args:tt)*)) => {
        $then! { $($args)*;
            puts_and_gets_of_all_sizes,
            elements_of_every_width,
            strided_copies,
            bad_places_store_nothing,
            parts_of_arrays,
            gets_that_do_not_wait,
            stores_behind_a_fence_are_seen_in_order,
            quiet_is_visible_to_third_parties,
            own_memory,
            signals_come_after_their_data,
            signals_of_all_pes_add_up,
            atomics_do_what_the_integers_do,
            atomic_floats_keep_their_bits,
            atomics_of_all_pes_exclude_each_other,
            halves_of_a_word_are_independent,
            locks_let_one_in_at_a_time,
            every_comparison,
            waits_may_have_a_limit,
            waiting_for_any_all_and_some,
            polling_makes_progress,
            messages_of_all_lengths,
            messages_between_all_kinds_of_memory,
            messages_to_oneself,
            exchange_with_everybody,
            trying_to_receive,
            tags_in_any_order,
            credits_run_out_and_come_back,
            eager_buffers_run_full_and_empty,
            both_send_before_they_receive,
            order_is_kept_per_pair,
            strict_messages_follow_puts_and_weak_ones_end_with_a_fence,
            a_refused_message_stays,
            nobody_there,
            many_messages_in_the_background,
            the_background_goes_on_in_other_waits,
            long_tags_and_data,
            any_tag_keeps_the_order_of_sending,
            receives_are_cancelled_or_not,
            matching_follows_the_model,
            barriers_separate,
            broadcasts,
            gathers,
            reductions_in_the_order_of_ranks,
            scans,
            rooted_collectives,
            reductions_in_pieces,
            pieces_of_different_lengths,
            collectives_over_the_smallest_ring,
            disagreement_is_told,
            different_calls_are_told,
            teams_split_and_translate,
            teams_nest_and_overlap,
            team_slots_run_out_and_come_back,
            memory_is_zeroed_and_reused,
            dropped_memory_comes_back,
            memory_runs_out_for_all_alike,
            different_sizes_are_told,
            registered_memory_is_reached,
            what_is_not_registered_is_refused,
            copies_follow_the_model,
            impossible_copies_are_refused,
            a_word_starts_a_stream,
            random_traffic,
        }
    };
}

macro_rules! table {
    (; $($name:ident,)*) => {
        /// All tests of the suite.
        pub const CASES: &[Case] = &[$(Case { name: stringify!($name), run: $name },)*];
    };
}
conformance_cases!(table!());

pub use atomic::*;
pub use collective::*;
pub use lock::*;
pub use matching::*;
pub use memory::*;
pub use message::*;
pub use message_order::*;
pub use message_refused::*;
pub use put_get::*;
pub use queue::*;
pub use registered::*;
pub use rooted::*;
pub use signal::*;
pub use tca::*;
pub use team::*;
pub use traffic::*;
pub use until::*;

/// Where a case runs.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    fabric: &'a dyn Testbed,
    pes: u32,
    mode: AgentMode,
    sizes: Sizes,
}

/// Enough for the largest case, at up to 8 PEs; pages are allocated on first touch.
const HEAP_BYTES: usize = 64 << 20;

impl<'a> Setup<'a> {
    /// Jobs of `pes` PEs over `fabric`.
    pub fn new(fabric: &'a dyn Testbed, pes: u32, mode: AgentMode) -> Self {
        let sizes = Sizes {
            heap_bytes: HEAP_BYTES,
            ..Sizes::default()
        };
        Self {
            fabric,
            pes,
            mode,
            sizes,
        }
    }

    fn with_ring(self, ring_bytes: usize) -> Self {
        let sizes = Sizes {
            ring_bytes,
            ..self.sizes
        };
        Self { sizes, ..self }
    }

    fn with_heap(self, heap_bytes: usize) -> Self {
        let sizes = Sizes {
            heap_bytes,
            ..self.sizes
        };
        Self { sizes, ..self }
    }

    /// The longest message that goes through a ring.
    fn eager_bytes(&self) -> usize {
        let layout = Layout::new(self.pes, self.sizes).expect("sizes");
        layout.slots().message_bytes_max()
    }

    /// The longest message that goes through an eager buffer.
    fn buffered_bytes(&self) -> usize {
        let layout = Layout::new(self.pes, self.sizes).expect("sizes");
        layout.eager(0).bytes.message_bytes_max()
    }

    /// Runs `program` on every PE of a job, which must end in good order.
    fn job(&self, program: impl Fn(&Job) + Sync) {
        let layout = Layout::new(self.pes, self.sizes).expect("sizes");
        self.fabric.run(self.pes, layout.segment_bytes(), &|wire| {
            let job = Job::over(wire, self.sizes, self.mode).expect("making a job");
            program(&job);
            job.finalize().expect("finalize");
        });
    }
}

/// The PE after this one, around the job.
fn right(job: &Job) -> PeId {
    (job.pe() + 1) % job.pes()
}

/// The PE before this one.
fn left(job: &Job) -> PeId {
    (job.pe() + job.pes() - 1) % job.pes()
}

/// The distance between parts of `len` elements to which different PEs store without any order.
/// Parts are adjacent, except on flushed memory. There hosts write back whole lines, so a program
/// must give each line to one PE at a time (`docs/memory-model.md`). All cases do so by this
/// function.
fn apart(job: &Job, len: usize) -> usize {
    match job.inner.segment().visibility() {
        Visibility::Coherent | Visibility::WriteCombining => len,
        // Whole lines, whatever the size of an element.
        Visibility::Flushed => len.next_multiple_of(LINE_BYTES),
    }
}

/// `len` values that show which PE made them and for which test.
fn values<T: Element>(maker: PeId, purpose: usize, len: usize) -> Vec<T> {
    let seed = u64::from(maker) << 32 | purpose as u64;
    let bytes = Random::new(seed).bytes(len * size_of::<T>());
    let mut values = vec![T::new_zeroed(); len];
    zerocopy::IntoBytes::as_mut_bytes(values.as_mut_slice()).copy_from_slice(&bytes);
    values
}
