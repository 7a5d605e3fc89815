//! The places of the crate that keep a contract, each with a name, so that one can be left
//! out to see whether a test fails. See `scripts/mutate-fences.sh`.

use std::sync::LazyLock;

/// The one that is left out.
static WITHOUT: LazyLock<Option<String>> =
    LazyLock::new(|| std::env::var("HOSTWIRE_MODEL_WITHOUT").ok());

/// Whether the place of this name is left out.
pub fn left_out(name: &str) -> bool {
    WITHOUT.as_deref() == Some(name)
}
