//! Events of boards that are RTL.

/// Of a board to itself, or from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtlEvent {
    /// The next edge of one of its clocks.
    Edge,
    /// A clock of its cable, with what is on it from now on.
    Cable {
        /// 16 bits of data, 2 of kind.
        phit: u32,
    },
}

impl RtlEvent {
    pub(in crate::models) fn digest(self) -> u64 {
        match self {
            RtlEvent::Edge => 1,
            RtlEvent::Cable { phit } => 2 | u64::from(phit) << 8,
        }
    }
}
