//! Names of components, and the order that a sender gives its events.

/// Names a component of one simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(pub(super) u32);

impl ComponentId {
    /// Bits of a number, so that the order of events fits an integer.
    pub(super) const BITS: u32 = 18;
    /// The source of injected events. It is no component and sorts last.
    pub const EXTERNAL: ComponentId = ComponentId((1 << Self::BITS) - 1);

    /// The component that was added as number `index`, from 0, if a simulation has so many.
    pub(super) fn at(index: usize) -> ComponentId {
        ComponentId(index as u32)
    }

    /// Position in the order in which components were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Order among events of the same picosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Priority {
    /// Before everything else: resets, changes of configuration.
    First = 0,
    /// The usual case.
    #[default]
    Normal = 1,
    /// After everything else: probes and measurements.
    Last = 2,
}
