//! Names of settings that errors mention. The settings belong to the crate `hostwire`.

/// The wire that carries stores from PE to PE.
pub const WIRE: &str = "HOSTWIRE_WIRE";
/// Frames between hosts are sent as they are, without encryption.
pub const INSECURE_WIRE: &str = "HOSTWIRE_INSECURE_WIRE";
/// Seconds that PEs wait for each other when a job starts.
pub const ATTACH_TIMEOUT: &str = "HOSTWIRE_ATTACH_TIMEOUT";
/// A warning for users who set [`INSECURE_WIRE`].
pub const INSECURE_WIRE_WARNING: &str =
    "anybody on the network between the hosts can read and change the memory of this job";
