//! How this PE reaches a segment of another.

use crate::window::Window;

/// The way to memory of a PE: to its adjacent segments, found when the wire was connected, or to registered
/// memory. It does not change while the wire exists.
#[derive(Debug, Clone)]
pub enum Route {
    /// CPU instructions reach it, through this window. The window knows its contract, whether loads and CPU
    /// atomics work there, and how its owner is told of a store.
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
    /// ([`Wire::offload`](crate::wire::Capabilities::offload)). Its atomics are atomic with respect to each
    /// other, but not to instructions of the PE's CPUs.
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
