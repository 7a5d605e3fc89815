//! How this PE reaches the memory of another.

use crate::window::Window;

/// The way to the segment of a PE, found when the wire was connected. It stays what it is for as
/// long as the wire.
#[derive(Debug, Clone)]
pub enum Route {
    /// CPU instructions reach it, through this window. The window says what its contract is,
    /// whether it may be loaded from, whether CPU atomics work there, and how its owner is told
    /// of a store.
    Mapped(Window),
    /// The wire carries stores there. Gets and atomics are asked of the agent of the PE.
    Carried,
}

impl Route {
    /// The window, if there is one.
    pub fn window(&self) -> Option<&Window> {
        match self {
            Self::Mapped(window) => Some(window),
            Self::Carried => None,
        }
    }

    /// Whether gets or atomics have to be asked of the agent of the PE.
    pub fn needs_agent(&self) -> bool {
        !self
            .window()
            .is_some_and(|window| window.allows_loads() && window.allows_atomics())
    }
}
