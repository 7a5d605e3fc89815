//! Why a machine cannot be built.

use hostwire_plan::{Fabric, PortId};

/// Why a plan cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The plan is for other hardware.
    #[error("the plan is for {got:?}; Opteron models need a TCCluster plan")]
    Fabric {
        /// The kind of machine of the plan.
        got: Fabric,
    },
    /// An adapter cannot be as the plan wants it.
    #[error("the adapter at {port}: {cause}")]
    Adapter {
        /// Where it is plugged in.
        port: PortId,
        /// Why.
        cause: String,
    },
    /// A link names a processor that the plan does not have.
    #[error("the plan has no processor at the other end of {port}")]
    Peer {
        /// The end that exists.
        port: PortId,
    },
}
