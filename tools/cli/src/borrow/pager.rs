//! The process that moves pages: PE 0 of the job. It starts the program, and ends with it.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hostwire::AgentMode;
use hostwire::attachment::{Attachment, Watch};
use hostwire::board::BOARD_FD_VARIABLE;
use hostwire::counters::{self, COUNTERS_FD_VARIABLE, Record};
use hostwire::settings::HEAP;
use hostwire_borrow::message::{ABOVE_VARIABLE, SOCKET_VARIABLE};
use hostwire_borrow::paging::Limits;
use hostwire_borrow::server::{Pages, ServeError, Server};
use hostwire_borrow::uffd::{Uffd, Unusable};
use hostwire_transport::os::process::die_with_parent;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::progress::Progress;
use super::store::{Lenders, NotMapped, check_mapped};
use super::{Choice, PAGES, report};
use crate::lend::pe::READY;
use crate::run::is_ignored_here;
use crate::{USAGE_STATUS, report as say};

/// The name of the hidden command that [`main`] is behind.
pub const COMMAND: &str = "__borrow";
/// Exit status after memory was lost.
pub const LOST_STATUS: u8 = 1;
/// How long nothing may happen before signals are looked for.
const LOOK: Duration = Duration::from_millis(200);

/// How often counters are shown.
const SHOW: Duration = Duration::from_millis(250);

/// From the launcher.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(long)]
    pub memory: u64,
    #[arg(long)]
    pub cache_pages: usize,
    #[arg(long)]
    pub share: u64,
    #[arg(long)]
    pub copies: u32,
    /// `None`: map them where that is possible.
    #[arg(long)]
    pub pages: Option<Choice>,
    #[arg(long)]
    pub above: u64,
    #[arg(long)]
    pub library: Option<PathBuf>,
    #[arg(long)]
    pub stats: bool,
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

/// Why it ends before the program does, or without one.
#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error(transparent)]
    Job(#[from] hostwire::Error),
    #[error("--pages map: {0}")]
    NotMapped(#[from] NotMapped),
    #[error(transparent)]
    NotMoved(#[from] Unusable),
    #[error("cannot run '{name}': {error}")]
    Program { name: String, error: io::Error },
    #[error("cannot {what}: {error}")]
    System {
        what: &'static str,
        error: io::Error,
    },
}

/// Runs the program to its end.
pub fn main(args: &Args) -> ExitCode {
    match serve(args) {
        Ok(status) => ExitCode::from(status),
        Err(stopped) => {
            say::line(&stopped.to_string());
            ExitCode::from(USAGE_STATUS)
        }
    }
}

fn serve(args: &Args) -> Result<u8, Stopped> {
    let system = |what| move |error| Stopped::System { what, error };
    let signals = Signals::new().map_err(system("handle signals"))?;
    let attachment = Attachment::join(|sizes, _| Ok(sizes))?;
    attachment.start(AgentMode::Thread)?;
    wait_for_lenders(&attachment, args.share)?;
    let pages = choose(args, &attachment)?;
    let is_mapped = pages == Pages::Mapped;
    let lenders = Lenders::new(attachment, args.share, args.copies, is_mapped);
    let server = Server::open(args.memory as usize, pages, lenders);
    let mut server = server.map_err(|error| Stopped::System {
        what: "begin",
        error: io::Error::other(error),
    })?;
    let started = Instant::now();
    let mut child = start(args, server.name())?;
    let mut shown = Shown::new();
    let status = match follow(&mut server, &mut child, &signals, &mut shown) {
        Ok(status) => status,
        Err(error) => return Ok(give_up(&mut server, &mut child, &error)),
    };
    if args.stats {
        let done = report::Done {
            is_mapped,
            stats: server.stats(),
            used_pages: server.used_pages().1.into(),
            refused_bytes: server.refused_bytes(),
            took: started.elapsed(),
        };
        // It is no error if nobody reads it.
        let _ = io::Write::write_all(&mut io::stderr(), report::text(&done).as_bytes());
    }
    Ok(status)
}

/// How the program has the memory.
fn choose(args: &Args, attachment: &Attachment) -> Result<Pages, Stopped> {
    let moved = || {
        Uffd::new()?;
        Ok(Pages::Moved(Limits::for_cache(args.cache_pages)))
    };
    match (args.pages, check_mapped(attachment, args.copies)) {
        (Some(Choice::Move), _) | (None, Err(_)) => moved(),
        (_, Ok(())) => Ok(Pages::Mapped),
        (Some(Choice::Map), Err(why)) => Err(why.into()),
    }
}

/// Waits until each lender has said that its memory is there.
fn wait_for_lenders(attachment: &Attachment, share_bytes: u64) -> Result<(), Stopped> {
    let heap = attachment.layout().heap();
    let lenders = 1..attachment.pes();
    let mut progress = Progress::new(lenders.len(), share_bytes);
    for pe in lenders.clone() {
        let watch = Watch::Next {
            members: &[],
            next: pe,
        };
        attachment.wait(watch, || {
            let mut words = vec![0; lenders.len()];
            for (word, pe) in words.iter_mut().zip(lenders.clone()) {
                let mut bytes = [0; 8];
                attachment
                    .segment()
                    .get(heap + 8 * pe as usize, &mut bytes)?;
                *word = u64::from_le_bytes(bytes);
            }
            if let Some(line) = progress.line(&words, Instant::now()) {
                say::line(&line);
            }
            let is_ready = words.get(pe as usize - 1) == Some(&READY);
            Ok(is_ready.then_some(()))
        })?;
    }
    Ok(())
}

/// Starts the program. It is killed when this thread ends.
fn start(args: &Args, socket: &str) -> Result<Child, Stopped> {
    let name = args.command.first().cloned().unwrap_or_default();
    let mut command = Command::new(&name);
    command.args(args.command.iter().skip(1));
    // They belong to the job, and the program is no PE of it.
    let of_job = [
        "PMI_FD",
        "PMI_RANK",
        "PMI_SIZE",
        BOARD_FD_VARIABLE,
        COUNTERS_FD_VARIABLE,
    ];
    for variable in of_job.into_iter().chain([HEAP.variable]) {
        command.env_remove(variable);
    }
    command.env(SOCKET_VARIABLE, socket);
    if let Some(library) = &args.library {
        let mut preload = OsString::from(library);
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            preload.push(":");
            preload.push(others);
        }
        command.env("LD_PRELOAD", preload);
        command.env(ABOVE_VARIABLE, args.above.to_string());
    }
    die_with_parent(&mut command);
    command.spawn().map_err(|error| Stopped::Program {
        name: name.to_string_lossy().into_owned(),
        error,
    })
}

/// Moves pages until the program has ended. Its exit status.
fn follow(
    server: &mut Server<Lenders>,
    child: &mut Child,
    signals: &Signals,
    shown: &mut Shown,
) -> Result<u8, ServeError<super::store::LostMemory>> {
    let pid = Pid::from_child(child);
    let ended = pidfd_open(pid, PidfdFlags::empty());
    let ended = ended.map_err(|errno| ServeError::System {
        what: "watch the program",
        errno,
    })?;
    loop {
        let others = server.turn(&[ended.as_fd()], LOOK)?;
        shown.show(server);
        if let Some(signal) = signals.to_pass_on() {
            // It may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
        if others.first() == Some(&true)
            && let Ok(Some(status)) = child.try_wait()
        {
            return Ok(status_of(status));
        }
    }
}

/// The memory is lost. The program is killed first: it must not go on.
fn give_up(
    server: &mut Server<Lenders>,
    child: &mut Child,
    error: &ServeError<super::store::LostMemory>,
) -> u8 {
    // A process that has ended needs no signal.
    let _ = child.kill();
    let why = error.to_string();
    let told = server.store().attachment().abort(LOST_STATUS.into(), &why);
    if !matches!(told, Ok(true)) {
        say::line(&why);
    }
    // The launcher ends this process.
    std::thread::sleep(Duration::from_secs(5));
    LOST_STATUS
}

/// What `hostwire stats` finds.
struct Shown {
    /// Without it nothing is shown; the run does not depend on it.
    file: Option<std::os::fd::OwnedFd>,
    at: Instant,
}

impl Shown {
    fn new() -> Self {
        Self {
            file: counters::create(1).ok(),
            at: Instant::now(),
        }
    }

    /// Shows what was counted, four times a second.
    fn show(&mut self, server: &mut Server<Lenders>) {
        let Some(file) = self.file.as_ref().filter(|_| self.at.elapsed() > SHOW) else {
            return;
        };
        self.at = Instant::now();
        let record = Record {
            pe: 0,
            pes: server.store().attachment().pes(),
            wire: PAGES.to_owned(),
            values: report::values(server.stats()),
        };
        // As above.
        let _ = rustix::io::pwrite(file, &record.to_bytes(), 0);
    }
}

/// As a shell says it.
pub fn status_of(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| Some(128 + status.signal()?))
        .unwrap_or(1);
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Heeds a signal. One that is ignored stays so, also in the program (nohup).
fn register(signal: i32, flag: Arc<AtomicBool>) -> io::Result<()> {
    match is_ignored_here(signal) {
        true => Ok(()),
        false => signal_hook::flag::register(signal, flag).map(drop),
    }
}

/// Signals that do not end this process: the program decides.
struct Signals {
    terminate: Arc<AtomicBool>,
    hang_up: Arc<AtomicBool>,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let signals = Self {
            terminate: Arc::default(),
            hang_up: Arc::default(),
        };
        // The terminal sends these to the program as well.
        for signal in [SIGINT, SIGQUIT] {
            register(signal, Arc::default())?;
        }
        register(SIGTERM, Arc::clone(&signals.terminate))?;
        register(SIGHUP, Arc::clone(&signals.hang_up))?;
        Ok(signals)
    }

    fn to_pass_on(&self) -> Option<Signal> {
        if self.terminate.swap(false, Ordering::Relaxed) {
            return Some(Signal::TERM);
        }
        self.hang_up
            .swap(false, Ordering::Relaxed)
            .then_some(Signal::HUP)
    }
}
