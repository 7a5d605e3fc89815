//! The places that keep a contract of [`crate::visibility`] or of the processor: a fence, a
//! flush, an invalidation. Each has a name that is written once, so that
//! `scripts/mutate-fences.sh` can leave out one after the other on modelled memory and see a
//! test fail for each.

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
