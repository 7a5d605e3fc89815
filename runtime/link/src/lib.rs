#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod config;
mod congestion;
mod counters;
mod credits;
mod early;
mod endpoint;
mod error;
mod event;
mod flight;
mod link;
mod names;
mod pace;
pub mod packing;
mod pool;
pub mod put;
mod queue;
mod requests;
mod rtt;
pub mod seal;
mod seq;
pub mod silence;
mod time;
mod timers;

pub use config::{ADDED_BYTES_MAX, Config, FRAME_LEN_MIN, FRAMES_IN_FLIGHT_MAX};
#[doc(hidden)]
pub use counters::Count;
pub use counters::{Counters, DropCause};
pub use credits::Buffers;
pub use endpoint::{
    Credits, Delivery, Departure, Endpoint, Filled, Identity, Progress, Ticket, Transmit,
};
pub use error::{
    CloseReason, ConfigError, Misbehaviour, Misuse, OpenError, ReleaseError, SendError,
};
pub use event::Event;
pub use link::frames_per_question;
pub use names::{Called, LinkId, Node};
pub use requests::{Answer, OUTSTANDING_MAX, RequestError, Requests, respond_data, respond_done};
pub use time::Ns;
