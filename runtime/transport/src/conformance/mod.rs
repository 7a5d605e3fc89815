//! The tests that every transport must pass.
//!
//! They are functions over a [`Testbed`], which makes connected transports and runs a
//! program on each PE: on a thread ([`Threads`]), or on the coroutines of a simulated
//! wire. The suite of the crate `hostwire` runs over the same fabrics.
//!
//! ```no_run
//! use hostwire_transport::conformance::{CASES, Threads};
//!
//! for case in CASES {
//!     (case.run)(&Threads::default(), 4);
//! }
//! ```
//!
//! [`crate::transport_cases`] makes a `#[test]` of each.

#[cfg(target_os = "linux")]
pub mod copies;
mod fabric;
mod mapped;
mod order;
mod pe;
mod random;
mod refused;
mod registered;
mod stores;
mod waiting;

#[cfg(target_os = "linux")]
pub use fabric::Threads;
pub use fabric::{Program, Testbed, Wrap, Wrapping, run_on_threads};
pub use mapped::*;
pub use order::*;
pub use random::Random;
pub use refused::*;
pub use registered::*;
pub use stores::*;
pub use waiting::*;

use pe::run;

/// One test of the suite.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// What it shows.
    pub name: &'static str,
    /// Runs it with this many PEs. Panics if it does not hold.
    pub run: fn(&dyn Testbed, u32),
}

/// Calls the macro `$then` with the names of all cases: `$then!($args; name, name, ...)`.
#[macro_export]
macro_rules! transport_cases {
    ($then:ident!($($args:tt)*)) => {
        $then! { $($args)*;
            segments_begin_zeroed,
            stores_arrive_unchanged,
            stores_to_oneself_arrive,
            lines_arrive_unchanged,
            lines_stored_together_arrive,
            writers_do_not_disturb_each_other,
            words_come_in_one_piece,
            words_come_after_earlier_stores,
            headers_come_after_their_payload,
            stores_behind_a_fence_come_later,
            lines_come_after_the_bytes_before_them,
            what_is_quiet_is_visible,
            bad_arguments_store_nothing,
            every_kind_of_store_wakes_a_sleeper,
            who_has_ended_is_not_alive,
            routes_are_as_declared,
            cpu_atomics_exclude_each_other,
            what_is_within_reach_is_mapped,
            registered_memory_is_stored_to,
            offloaded_operations_are_done,
        }
    };
}

macro_rules! table {
    (; $($name:ident,)*) => {
        /// All tests of the suite.
        pub const CASES: &[Case] = &[$(Case { name: stringify!($name), run: $name },)*];
    };
}
transport_cases!(table!());
