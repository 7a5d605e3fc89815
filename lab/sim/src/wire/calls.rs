//! What calls cost beside what the hardware takes.

use serde::Serialize;

/// Time of the processor for each call of a program to its wire, for the work of program and library between two calls.
/// Zero by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallCosts {
    /// A store, a word, or a line of a message.
    pub store_ps: u64,
    /// A fence or a quiet.
    pub fence_ps: u64,
    /// A look at the own memory, and what comes before a sleep.
    pub look_ps: u64,
}

impl CallCosts {
    /// Whether calls cost nothing of their own.
    pub fn is_none(&self) -> bool {
        *self == CallCosts::default()
    }
}
