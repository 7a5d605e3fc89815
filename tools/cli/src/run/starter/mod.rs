//! The starter: the launcher's process on a host of `hostwire run --on`. ssh starts it. It reads from its standard input
//! what to start, and says on its standard output what becomes of it (`hostwire_bootstrap::starter`).
//!
//! It starts PEs as the launcher does on its own host. They end with it, and it ends as soon as the launcher is gone: at
//! the end of its input, or after a silence.

mod behind;
mod channel;
mod program;
mod serve;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use hostwire_bootstrap::starter::{Description, Order, Report};
use hostwire_transport::os::process::inherited_fd;

use self::behind::Behind;
use self::channel::Channel;
use self::program::Program;
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
pub const COMMAND: &str = super::ssh::STARTER;

/// The name of a copy, which has none of its own.
const NAME: &std::ffi::CStr = c"hostwire";

/// Started by run itself, on each host of a job; not for users.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// It was copied to this host by the launcher.
    #[arg(long)]
    copied: bool,
}

/// Serves the launcher to the end of the job.
pub fn main(args: &Args) -> ExitCode {
    if args.copied {
        let _ = rustix::thread::set_name(NAME);
        // PEs do not get it.
        let _ = inherited_fd(super::ssh::COPY_FD);
    }
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

/// The kind of this machine, as far as PEs of one job need the same.
fn machine() -> String {
    let order = match cfg!(target_endian = "big") {
        true => "big-endian ",
        false => "",
    };
    let (arch, page_bytes) = (std::env::consts::ARCH, rustix::param::page_size());
    format!("{order}{arch} with pages of {page_bytes} bytes")
}

fn serve() -> Result<(), Gone> {
    let mut channel = Channel::open().map_err(Gone::System)?;
    channel.say(&Report::Hello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine().into_bytes(),
    });
    let mut signals = Signals::new().map_err(Gone::System)?;
    let mut program: Option<Program> = None;
    let description = loop {
        let added = match Behind::default().next_order(&mut channel, &mut signals)? {
            Order::Describe(description) => break description,
            Order::Program(bytes) => Program::add(&mut program, &bytes),
            _ => {
                let what = "something else than a description".to_owned();
                return Err(Gone::Garbage(what));
            }
        };
        if let Err(error) = added {
            return Err(refuse(channel, error));
        }
    };
    channel.set_lost_after(description.lost_after_s);
    let plan = match plan(&description, program.as_ref()) {
        Ok(plan) => plan,
        Err(error) => return Err(refuse(channel, error)),
    };
    channel.say(&Report::Ready);
    let mut behind = Behind::new(program.as_ref().map(Program::path));
    let Order::Go = behind.next_order(&mut channel, &mut signals)? else {
        return Err(Gone::Garbage(
            "an order before the PEs are started".to_owned(),
        ));
    };
    match start(&plan, &description) {
        Ok((mut crew, pes, pump)) => {
            behind.pids().for_each(|pid| crew.warden.watch(pid));
            channel.say(&Report::Started);
            Serving::new(
                (channel, signals, behind),
                description.first,
                pes,
                crew,
                pump,
            )
            .run()
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
fn plan(description: &Description, program: Option<&Program>) -> Result<Plan, StartError> {
    let folder = OsStr::from_bytes(&description.folder);
    match std::env::set_current_dir(folder) {
        Err(error) if !description.may_be_elsewhere => {
            return Err(StartError::Folder {
                folder: folder.to_string_lossy().into_owned(),
                reason: error.to_string(),
            });
        }
        // This one is that of a login.
        Ok(()) | Err(_) => {}
    }
    strays::adopt().map_err(|errno| StartError::System {
        what: "adopt what PEs leave behind",
        errno,
    })?;
    Plan::of_host(description, program.map(Program::path))
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
