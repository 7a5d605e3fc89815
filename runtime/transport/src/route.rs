//! How this PE reaches a segment of another.

use crate::window::Window;

/// The way to a segment of a PE: to those that lie side by side, found when the wire was connected,
/// or to registered memory. It stays what it is for as long as the wire.
#[derive(Debug, Clone)]
pub enum Route {
    /// CPU instructions reach it, through this window. The window says what its contract is,
    /// whether it may be loaded from, whether CPU atomics work there, and how its owner is told
    /// of a store.
    Mapped(Window),
    /// The wire carries stores there. Gets and atomics are asked of the agent of the PE.
    Carried,
    /// The wire carries stores there, and does gets itself
    /// ([`Wire::offload`](crate::wire::Capabilities::offload)). Atomics and shorter gets are asked of the agent
    /// of the PE.
    Read {
        /// The shortest get that the wire does.
        from_bytes: usize,
    },
    /// The wire carries stores there, and does gets and atomics itself
    /// ([`Wire::offload`](crate::wire::Capabilities::offload)). Those are atomic among each other, and
    /// not with instructions of the CPUs of the PE.
    Offloaded,
}

impl Route {
    /// The window, if there is one.
    pub fn window(&self) -> Option<&Window> {
        match self {
            Self::Mapped(window) => Some(window),
            Self::Carried | Self::Read { .. } | Self::Offloaded => None,
        }
    }

    /// Whether gets or atomics have to be asked of the agent of the PE.
    pub fn needs_agent(&self) -> bool {
        match self {
            Self::Mapped(window) => !window.allows_loads() || !window.allows_atomics(),
            Self::Carried | Self::Read { .. } => true,
            Self::Offloaded => false,
        }
    }
}
