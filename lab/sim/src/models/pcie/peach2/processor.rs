//! The processor of a host, as far as stores of programs go.

use crate::engine::Ps;

use super::rate;

/// Parameters of a core. Sources of the values are in `docs/sim/tca.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessorConfig {
    /// Write-combining buffers of a core. A line holds one until its TLP begins to leave at the
    /// root port.
    pub write_buffers: usize,
    /// Issue of a store of eight bytes.
    pub store_issue: Ps,
    /// `sfence`, once the buffers are empty.
    pub fence: Ps,
    /// A store to memory of the own host, beside the time of its bytes. **Assumed.**
    pub local_store: Ps,
    /// Stores to memory of the own host: time of a KiB. **Assumed.**
    pub local_kib: Ps,
}

impl Default for ProcessorConfig {
    fn default() -> Self {
        ProcessorConfig {
            write_buffers: 10,
            store_issue: Ps(385),
            fence: Ps(2_310),
            local_store: Ps::from_ns(20),
            local_kib: rate::kib_at(10_000_000_000),
        }
    }
}

impl ProcessorConfig {
    /// Issue of stores of so many bytes in all.
    pub fn issue(&self, bytes: u64) -> Ps {
        Ps(self.store_issue.0.saturating_mul(bytes.div_ceil(8)))
    }

    /// Stores of so many bytes to memory of the own host.
    pub fn local(&self, bytes: u64) -> Ps {
        self.local_store + rate::per_kib(self.local_kib, bytes)
    }
}
