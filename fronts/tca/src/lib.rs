//! `libhostwire_tca.so`: the functions of `include/hostwire_tca.h`.
//!
//! | file | |
//! |---|---|
//! | `state.rs` | the job of the process, and what it has allocated |
//! | `status.rs` | what functions return, and the text of the last failure |
//! | `job.rs` | joining, leaving, memory |
//! | `copies.rs` | streams and copies |
//! | `chain.rs` | chains |

mod chain;
mod copies;
mod job;
mod state;
mod status;
