//! Names for the fences, flushes and invalidations that keep a contract of
//! [`crate::visibility`] or of the processor. Each name is used once.
//! `scripts/mutate-fences.sh` leaves out one at a time on modelled memory, and a test has to
//! fail for each.

/// `$work`. On modelled memory the place may be left out.
#[cfg(not(memory_model))]
#[macro_export]
#[doc(hidden)]
macro_rules! site {
    ($name:literal, $work:expr) => {
        $work
    };
}

/// `$work`, unless the place is left out.
#[cfg(memory_model)]
#[macro_export]
#[doc(hidden)]
macro_rules! site {
    ($name:literal, $work:expr) => {
        if $crate::model::left_out($name) {
            Default::default()
        } else {
            $work
        }
    };
}

/// `$order`. On modelled memory the place may be relaxed.
#[cfg(not(memory_model))]
#[macro_export]
#[doc(hidden)]
macro_rules! order {
    ($name:literal, $order:expr) => {
        $order
    };
}

/// `$order`, unless the place is left out.
#[cfg(memory_model)]
#[macro_export]
#[doc(hidden)]
macro_rules! order {
    ($name:literal, $order:expr) => {
        if $crate::model::left_out($name) {
            $crate::sync::Ordering::Relaxed
        } else {
            $order
        }
    };
}
