//! The wire of a process whose hardware is a model in another process, the *simulator*.
//!
//! The PEs of such a job are ordinary processes that share memory, as on the wire
//! [`shm`](hostwire_transport::shm). But no PE stores into the memory of another one: each store, fence, look
//! and sleep is a [`Request`] to the simulator, which carries it out on modelled hardware and stores what
//! arrives. Time is that of the model. One PE runs at a time: a request hands the turn to the simulator, and
//! the answer gives it back. So a run depends only on the program and the model.
//!
//! | file | what it is |
//! |---|---|
//! | `desk.rs` | the memory through which a PE and the simulator communicate |
//! | `request.rs` | what a PE asks for |
//! | `clock.rs`, `computing.rs` | the time of the model, and what computing takes of it |
//! | `pe.rs` | the PE's end: a [`Wire`](hostwire_transport::Wire) |
//! | `model.rs` | the simulator's end |
//! | `hello.rs` | how a PE begins |
//!
//! A PE gets the descriptors of the desk and of a socket from the launcher, in the environment variable
//! [`VARIABLE`].

#![forbid(unsafe_code)]

use std::os::fd::{OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use hostwire_transport::error::{EnvironmentFault, TransportError};
use hostwire_transport::os::process::inherited_fd;

mod clock;
mod computing;
mod desk;
mod hello;
mod model;
mod pe;
mod request;
#[cfg(test)]
mod tests;

pub use clock::{Clock, EPOCH_S, Who};
pub use model::{Begun, ModelEnd, Next, Seat};
pub use pe::Modelled;
pub use request::{Arming, Request};

/// Two numbers with a comma between them: the descriptors of the desk and of the socket.
pub const VARIABLE: &str = "HOSTWIRE_MODEL_FDS";

/// Whether code in this process takes part, or did.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether the hardware of this process is a model, as its environment says.
pub fn is_inherited() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Bytes that the modelled hardware has for the segment of this process, if it is a PE there and its launcher says so.
///
/// # Errors
/// As [`inherited`], but a process may ask at any time.
pub fn room_bytes() -> Result<Option<u64>, TransportError> {
    Ok(Clock::inherited()?.and_then(|clock| clock.room_bytes()))
}

/// The two descriptors from the environment of a PE whose hardware is a model.
///
/// # Errors
/// [`TransportError::Environment`] if the variable does not hold two descriptors, or if they were
/// given out before: a process takes part once.
pub fn inherited() -> Result<Option<(OwnedFd, OwnedFd)>, TransportError> {
    let Some((desk, socket)) = numbers()? else {
        return Ok(None);
    };
    match (inherited_fd(desk), inherited_fd(socket)) {
        (Ok(_), Ok(_)) if IS_TAKEN.swap(true, Ordering::AcqRel) => {
            Err(TransportError::environment(
                "joining a job in virtual time",
                EnvironmentFault::InUse {
                    rule: "a process is one PE there, by one job or one endpoint, once in its life",
                },
            ))
        }
        (Ok(desk), Ok(socket)) => Ok(Some((desk, socket))),
        _ => Err(unusable("two numbers of which one is not open")),
    }
}

/// Their numbers.
fn numbers() -> Result<Option<(RawFd, RawFd)>, TransportError> {
    let Ok(text) = std::env::var(VARIABLE) else {
        return Ok(None);
    };
    let numbers = text.split_once(',').and_then(|(desk, socket)| {
        let number = |text: &str| text.parse().ok();
        Some((number(desk)?, number(socket)?))
    });
    match numbers {
        Some(numbers) => Ok(Some(numbers)),
        None => Err(unusable(&text)),
    }
}

fn unusable(got: &str) -> TransportError {
    TransportError::environment(
        format!("reading {VARIABLE}, which the launcher sets"),
        EnvironmentFault::unexpected(
            "two open descriptors with a comma between them",
            hostwire_transport::quoted(got),
        ),
    )
}
