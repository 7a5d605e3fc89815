//! HyperTransport over Ethernet adapters (HTEA): many senders, one accelerator, in virtual
//! time and frame by frame.
//!
//! Each sender has one virtual link to the accelerator's node. Packets have credits, frames
//! carry several packets or several NOPs, and every stage of an adapter takes the time of the
//! paper's Table I. `docs/sim/htea.md` says what is modelled and where each number comes from.
//!
//! ```
//! use hostwire_sim::models::htea::fast::{Config, run};
//! let one_packet = Config { nodes: 2, packets: 1, ..Config::default() };
//! let report = run(one_packet)?;
//! assert_eq!(report.latency.as_ns(), 1478.0);
//! # Ok::<(), hostwire_sim::models::htea::fast::HteaError>(())
//! ```
//!
//! | file | |
//! |---|---|
//! | `config` | parameters, and what makes them impossible |
//! | `event` | what components tell each other |
//! | `egress` | encapsulation stage and outgoing MAC |
//! | `sender` | HyperTransport side, queuing, credits, packing |
//! | `ingress` | port of the switch, incoming MAC, de-encapsulation stage |
//! | `receiver` | HyperTransport side of the accelerator's node, bulk NOPs |
//! | `run` | a whole run and its report |

mod config;
mod egress;
mod event;
mod ingress;
mod multiplexer;
mod receiver;
mod run;
mod sender;

pub use config::{Config, ConfigError, PAYLOAD_BYTES, Timing};
pub use run::{
    Counts, CreditsLeft, HteaError, Losses, Model, PortUse, Report, port_data_share, run,
};
