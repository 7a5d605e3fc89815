//! Named fences and flushes of the crate. `scripts/mutate-fences.sh` leaves out one at a
//! time and checks that a test fails.

use std::sync::LazyLock;

/// The name of the place that is left out.
static WITHOUT: LazyLock<Option<String>> =
    LazyLock::new(|| std::env::var("HOSTWIRE_MODEL_WITHOUT").ok());

/// Whether the place of this name is left out.
pub fn left_out(name: &str) -> bool {
    WITHOUT.as_deref() == Some(name)
}
