/// A time: nanoseconds since a moment that the caller chooses, the same for all calls
/// to one endpoint. It never runs backwards, but may stand still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ns(pub u64);

impl Ns {
    /// Never.
    pub const MAX: Self = Self(u64::MAX);

    /// The moment `ns` nanoseconds later.
    #[must_use]
    pub const fn after(self, ns: u64) -> Self {
        Self(self.0.saturating_add(ns))
    }

    /// Nanoseconds since `earlier`; 0 if that lies ahead.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
