//! Starts the process of one PE.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::Arc;

use hostwire::board::BOARD_FD_VARIABLE;
use hostwire::counters::COUNTERS_FD_VARIABLE;
use hostwire_frames::settings::IFACE;
use hostwire_transport::os::hosts::INTERFACE;
use hostwire_transport::os::process::ChildSetup;
use hostwire_virtual::VARIABLE;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::board::Board;
use super::counters::Counters;
use super::front::Start;
use super::mark::Mark;
use super::plan::Plan;
use super::start_error::StartError;
use super::virtual_time::{Clocks, Line};

/// A started process and the launcher's ends of its connections, all of them non-blocking.
pub struct Spawned {
    pub child: Child,
    pub pmi: OwnedFd,
    /// Not with [`Input::Terminal`].
    pub stdout: Option<OwnedFd>,
    /// As `stdout`.
    pub stderr: Option<OwnedFd>,
    /// Only with [`Input::Pipe`].
    pub stdin: Option<OwnedFd>,
    /// Whether a status above 128 stands for the signal that ended the program.
    pub tells_signals: bool,
}

/// The standard input of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Nothing.
    Null,
    /// The standard input of the launcher.
    Inherit,
    /// A pipe that the launcher fills.
    Pipe,
    /// The terminal of the launcher, which is its output, too.
    Terminal,
}

/// Variables of an outer launcher. Our PEs are not its clients.
const FOREIGN: [&str; 4] = ["PMI_PORT", "PMI_ID", "PMI_SPAWNED", "PMI_KVSNAME"];

/// Starts PE `pe` of `plan`. Has to be called on the main thread: the child is killed when the
/// thread that started it ends.
pub fn spawn(
    plan: &Plan,
    board: &Board,
    counters: &Counters,
    line: Option<&Line>,
    mark: &Mark,
    pe: u32,
    input: Input,
) -> Result<Spawned, StartError> {
    let failed = |error: io::Error| StartError::Spawn {
        pe,
        name: plan.name(),
        reason: reason(&error),
    };

    let (here, there) = socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|errno| failed(errno.into()))?;
    let there = Arc::new(there);
    let start = plan
        .front
        .start(&plan.program, &plan.command, (pe, plan.pes));
    let mut start = start.map_err(|errno| failed(errno.into()))?;
    set_up(&mut start, plan, board, counters, line, mark, pe, &there);
    let command = &mut start.command;
    command.stdin(match input {
        Input::Null => Stdio::null(),
        Input::Inherit | Input::Terminal => Stdio::inherit(),
        Input::Pipe => Stdio::piped(),
    });
    if input != Input::Terminal {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let mut child = command.spawn().map_err(failed)?;
    let spawned = Spawned {
        stdin: child.stdin.take().map(OwnedFd::from),
        stdout: child.stdout.take().map(OwnedFd::from),
        stderr: child.stderr.take().map(OwnedFd::from),
        child,
        pmi: here,
        tells_signals: start.tells_signals,
    };
    let own = [&spawned.stdin, &spawned.stdout, &spawned.stderr];
    let own = own.into_iter().filter_map(Option::as_ref);
    for fd in own.chain([&spawned.pmi]) {
        set_nonblocking(fd).map_err(|errno| StartError::System {
            what: "set up a pipe",
            errno,
        })?;
    }
    Ok(spawned)
}

/// Why no process could be started, and what to do where that is known.
fn reason(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE) => "too many open files; raise the limit with 'ulimit -n'".to_owned(),
        Some(Errno::NFILE) => "this machine has too many open files".to_owned(),
        Some(Errno::AGAIN) => {
            "no room for another process; 'ulimit -u' or a limit of this container".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Sets up the command of PE `pe`, without its streams. `there` is its end of PMI.
#[allow(clippy::too_many_arguments, reason = "a part of `spawn`")]
fn set_up(
    start: &mut Start,
    plan: &Plan,
    board: &Board,
    counters: &Counters,
    line: Option<&Line>,
    mark: &Mark,
    pe: u32,
    there: &Arc<OwnedFd>,
) {
    let command = &mut start.command;
    command
        .envs([mark.variable()])
        .env("PMI_FD", there.as_raw_fd().to_string())
        .env("PMI_RANK", pe.to_string())
        .env("PMI_SIZE", plan.pes.to_string())
        .envs(plan.environment.iter().map(|(name, value)| (name, value)))
        .env(BOARD_FD_VARIABLE, board.fd().as_raw_fd().to_string())
        .env(COUNTERS_FD_VARIABLE, counters.fd().as_raw_fd().to_string())
        .process_group(0);
    for name in FOREIGN {
        command.env_remove(name);
    }
    let host = plan.host_of(pe);
    if host.is_some() {
        command.env(IFACE.variable, INTERFACE);
    }
    let mut inherit = std::mem::take(&mut start.inherit);
    inherit.extend([there, board.fd(), counters.fd()].map(Arc::clone));
    command.env_remove(VARIABLE);
    if let Some(line) = line {
        command.envs([line.variable()]);
        command.envs(plan.clocks.iter().map(Clocks::variable));
        command.envs(crate::env::for_mpi());
        inherit.extend(line.there.iter().map(Arc::clone));
    }
    ChildSetup {
        inherit,
        nofile: Some(plan.nofile),
        host,
    }
    .apply(command);
}

/// Calls on `fd` never wait from now on.
pub fn set_nonblocking(fd: impl AsFd) -> Result<(), Errno> {
    let flags = fcntl_getfl(&fd)?;
    fcntl_setfl(&fd, flags | OFlags::NONBLOCK)
}
