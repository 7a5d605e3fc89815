//! The starter: the launcher's process on a host of `hostwire run --on`. ssh starts it. It reads from its standard input
//! what to start, and says on its standard output what becomes of it (`hostwire_bootstrap::starter`).
//!
//! It starts PEs as the launcher does on its own host. They end with it, and it ends as soon as the launcher is gone: at
//! the end of its input, or after a silence.

mod channel;
mod serve;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use hostwire_bootstrap::starter::{Description, Order, Report};

use self::channel::Channel;
use self::serve::Serving;
use super::crew::{Crew, input_output};
use super::pes::Near;
use super::plan::Plan;
use super::signals::Signals;
use super::spawn::Input;
use super::start_error::StartError;
use super::stdin::Pump;
use super::strays;

/// The name of the hidden command that [`main`] is behind.
pub const COMMAND: &str = "__starter";

/// Serves the launcher to the end of the job.
pub fn main() -> ExitCode {
    let status = match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // The launcher shows it, if it is still there.
            crate::report::line(&why.to_string());
            ExitCode::FAILURE
        }
    };
    strays::end();
    status
}

/// Why a starter ends before its job does.
#[derive(Debug, thiserror::Error)]
enum Gone {
    #[error("the launcher has closed the connection")]
    Closed,
    #[error("nothing was heard of the launcher for {0} s")]
    Silent(u64),
    #[error("the starter was ended by {0}")]
    Signal(String),
    #[error("the launcher sent {0}")]
    Garbage(String),
    /// The launcher has been told why.
    #[error("{0}")]
    Refused(StartError),
    #[error("the connection: {0}")]
    System(io::Error),
}

fn serve() -> Result<(), Gone> {
    let mut channel = Channel::open().map_err(Gone::System)?;
    channel.say(&Report::Hello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    let mut signals = Signals::new().map_err(Gone::System)?;
    let Order::Describe(description) = channel.wait(&mut signals)? else {
        return Err(Gone::Garbage(
            "something else than a description".to_owned(),
        ));
    };
    channel.set_lost_after(description.lost_after_s);
    let plan = match plan(&description) {
        Ok(plan) => plan,
        Err(error) => return Err(refuse(channel, error)),
    };
    channel.say(&Report::Ready);
    let Order::Go = channel.wait(&mut signals)? else {
        return Err(Gone::Garbage(
            "an order before the PEs are started".to_owned(),
        ));
    };
    match start(&plan, &description) {
        Ok((crew, pes, pump)) => {
            channel.say(&Report::Started);
            Serving::new(channel, signals, description.first, pes, crew, pump).run()
        }
        Err(error) => Err(refuse(channel, error)),
    }
}

/// Tells the launcher why nothing is started.
fn refuse(mut channel: Channel, error: StartError) -> Gone {
    channel.say(&Report::Refused(error.to_string()));
    channel.send_all();
    Gone::Refused(error)
}

/// What is to be started, checked against this host.
fn plan(description: &Description) -> Result<Plan, StartError> {
    let folder = OsStr::from_bytes(&description.folder);
    std::env::set_current_dir(folder).map_err(|error| StartError::Folder {
        folder: folder.to_string_lossy().into_owned(),
        reason: error.to_string(),
    })?;
    strays::adopt().map_err(|errno| StartError::System {
        what: "adopt what PEs leave behind",
        errno,
    })?;
    Plan::of_host(description)
}

/// Starts the PEs of this host.
fn start(
    plan: &Plan,
    description: &Description,
) -> Result<(Crew, Vec<Near>, Option<Pump>), StartError> {
    let mut crew = Crew::new(plan.pes)?;
    let mut pes = Vec::new();
    let mut pump = None;
    for place in 0..description.count {
        let pe = description.first + place;
        let input = match pe {
            0 => Input::Pipe,
            _ => Input::Null,
        };
        plan.binding.enter(place)?;
        let (started, stdin) = crew.start(plan, pe, None, input)?;
        pump = pump.or(stdin.map(Pump::new));
        pes.push(started);
    }
    plan.binding.leave();
    if pump.is_none() && description.first == 0 {
        return Err(input_output("make the input of PE 0")(
            io::ErrorKind::Other.into(),
        ));
    }
    Ok((crew, pes, pump))
}
