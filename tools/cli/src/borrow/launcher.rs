//! The process that the user starts: gets the loans, starts the pager, serves PMI to all of them, and
//! sees to it that nothing stays.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender as Queue};
use std::thread;
use std::time::{Duration, Instant};

use hostwire::settings::{HEAP, RECORD, TABLE};
use hostwire_region::Region;
use hostwire_region::settings as region;
use hostwire_transport::os::process::ChildSetup;
use hostwire_transport::os::signals::unblock;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::Args;
use super::pager::{self, LOST_STATUS, status_of};
use crate::lend::channel::{self, End, Frame, Receiver, Sender};
use crate::lend::pe::FRONT_BYTES;
use crate::lend::terms::{self, LenderAddress, Request};
use crate::report as say;
use crate::run::job_parts::{Effect, Mark, Server, Warden};
use crate::run::{is_ignored_here, strays};

/// How long the program has between SIGTERM and SIGKILL. After memory was lost, also how long lenders have to take back
/// the rest.
const GRACE: Duration = Duration::from_secs(2);
/// How long lenders have to take back what they have lent, so that the next borrower finds it.
const RETURN: Duration = Duration::from_secs(30);
/// How long a lender has to end when nothing is heard of it.
const LOOK: Duration = Duration::from_millis(500);

/// Something that happened.
enum Event {
    /// From the pager.
    Pager(Vec<u8>),
    /// From lender `pe`.
    Lender(u32, Frame),
    /// The connection to lender `pe` has ended.
    LenderGone(u32),
    Ended(std::io::Result<ExitStatus>),
    Signal(i32),
}

/// A lender.
struct Loan {
    place: LenderAddress,
    /// Until it is lost.
    sender: Option<Sender>,
}

/// Runs the program to its end.
///
/// # Errors
/// One line, for what goes wrong before the pager is started.
pub fn run(args: &Args, library: Option<&Path>) -> Result<ExitCode, String> {
    let system =
        |what: &'static str| move |error: std::io::Error| format!("cannot {what}: {error}");
    let (queue, events) = mpsc::channel();
    let mut loans = Vec::new();
    for (pe, place) in (1..).zip(&args.from) {
        let (sender, receiver) = ask(args, place, pe)?;
        listen(queue.clone(), pe, receiver).map_err(system("start a thread"))?;
        loans.push(Loan {
            place: place.clone(),
            sender: Some(sender),
        });
    }
    strays::adopt().map_err(|errno| system("adopt what programs leave behind")(errno.into()))?;
    let mark = Mark::draw().map_err(|errno| system("draw the mark of the job")(errno.into()))?;
    let warden = Warden::start(&mark).map_err(system("start a warden"))?;
    watch_signals(queue.clone()).map_err(system("handle signals"))?;
    let (here, there) = UnixStream::pair().map_err(system("make a socket"))?;
    let mut child = start(args, library, &mark, there).map_err(system("start the pager"))?;
    let pid = Pid::from_child(&child);
    read_pager(
        queue.clone(),
        here.try_clone().map_err(system("make a socket"))?,
    );
    thread::spawn(move || {
        // Nobody listens any more after the end.
        let _ = queue.send(Event::Ended(child.wait()));
    });
    let pes = loans.len() as u32 + 1;
    let kvsname = format!("kvs_borrow_{}", std::process::id());
    let mut launcher = Launcher {
        server: Server::new(&kvsname, pes),
        program: args
            .command
            .first()
            .map(|it| it.to_string_lossy().into_owned()),
        copies: args.copies,
        loans,
        lost: BTreeSet::new(),
        to_pager: here,
        pager: pid,
        kill_at: None,
        lost_memory: false,
    };
    let status = launcher.follow(&events);
    // Nobody may map memory any more that goes to the next job.
    mark.kill_all();
    launcher.give_back(&events);
    clear_window();
    drop(warden);
    strays::end();
    Ok(ExitCode::from(status))
}

/// Takes the loans out of the region that they were in, if it has a path. A lender is killed, so it does not do
/// that itself.
fn clear_window() {
    let settings = region::Settings::from_env().ok();
    if let Some(spec) = settings.as_ref().and_then(region::Settings::path)
        && let Ok(region) = Region::open(spec)
    {
        // The parts of other hosts stay until the next job, or `hostwire window clear`.
        let _ = region.take_back(None);
    }
}

/// Gets a loan.
fn ask(args: &Args, place: &LenderAddress, pe: u32) -> Result<(Sender, Receiver), String> {
    let failed = |error: std::io::Error| match (place, error.kind()) {
        (LenderAddress::Here(_), std::io::ErrorKind::ConnectionRefused) => {
            format!("nobody lends memory at {place}: start hostwire lend, or say --from HOST:PORT")
        }
        _ => format!("the lender {place}: {error}"),
    };
    let secret = match place {
        LenderAddress::There(_) => args.key.as_deref().map(terms::read_key).transpose()?,
        LenderAddress::Here(_) => None,
    };
    let is_here = matches!(place, LenderAddress::Here(_));
    if !is_here && is_set(RECORD.variable) {
        return Err(format!(
            "{RECORD} is set, which all PEs of a job need: the lender {place}, on another host, makes no files for a \
             borrower"
        ));
    }
    let socket = terms::connect(place).map_err(failed)?;
    let (mut sender, mut receiver) =
        channel::open(socket, End::Borrower, secret.as_ref()).map_err(failed)?;
    let of_job = TABLE
        .iter()
        .filter(|setting| terms::is_passed_on(setting, is_here));
    let variables = of_job.filter_map(|setting| {
        let value = std::env::var(setting.variable).ok()?;
        (!value.is_empty()).then(|| (setting.variable.to_owned(), value))
    });
    let request = Request {
        bytes: args.share_bytes(),
        pe,
        pes: args.from.len() as u32 + 1,
        variables: variables.collect(),
    };
    sender
        .send(&Frame::Ask(request.to_text().into_bytes()))
        .map_err(failed)?;
    match receiver.receive() {
        Ok(Some(Frame::Granted)) => {
            receiver.be_patient().map_err(failed)?;
            Ok((sender, receiver))
        }
        Ok(Some(Frame::Over(why))) => Err(format!("the lender {place} refuses: {why}")),
        Ok(None) => Err(format!(
            "the lender {place} closes the connection: it has another key, or none"
        )),
        Ok(Some(_)) => Err(format!("the lender {place} does not answer as one")),
        Err(error) => Err(failed(error)),
    }
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Reads what a lender says.
fn listen(queue: Queue<Event>, pe: u32, mut receiver: Receiver) -> std::io::Result<()> {
    let name = format!("lender {pe}");
    thread::Builder::new().name(name).spawn(move || {
        while let Ok(Some(frame)) = receiver.receive() {
            if queue.send(Event::Lender(pe, frame)).is_err() {
                return;
            }
        }
        let _ = queue.send(Event::LenderGone(pe));
    })?;
    Ok(())
}

fn read_pager(queue: Queue<Event>, mut socket: UnixStream) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(len) = socket.read(&mut bytes) {
            let some = bytes.get(..len).unwrap_or_default();
            if some.is_empty() || queue.send(Event::Pager(some.to_vec())).is_err() {
                return;
            }
        }
    });
}

fn watch_signals(queue: Queue<Event>) -> std::io::Result<()> {
    // Ctrl-C and Ctrl-\ reach the program from the terminal, and it decides.
    let ends = [SIGINT, SIGQUIT, SIGTERM, SIGHUP];
    // Ignored signals stay ignored, also in the program (nohup).
    let ends: Vec<i32> = ends
        .into_iter()
        .filter(|it| !is_ignored_here(*it))
        .collect();
    let mut signals = signal_hook::iterator::Signals::new(&ends)?;
    // Where SIGCHLD is ignored, the exit status of a child is lost.
    signal_hook::flag::register(SIGCHLD, Arc::default())?;
    unblock(&ends);
    thread::spawn(move || {
        for signal in signals.forever() {
            if queue.send(Event::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Starts the pager, with the standard streams of this process.
fn start(
    args: &Args,
    library: Option<&Path>,
    mark: &Mark,
    pmi: UnixStream,
) -> std::io::Result<Child> {
    let pmi = Arc::new(OwnedFd::from(pmi));
    let share = args.share_bytes();
    let mut command = Command::new("/proc/self/exe");
    command.arg(pager::COMMAND);
    command.arg("--memory").arg(args.memory.to_string());
    command
        .arg("--cache-pages")
        .arg(args.cache_pages().to_string());
    command.arg("--share").arg(share.to_string());
    command.arg("--copies").arg(args.copies.to_string());
    command.arg("--above").arg(args.above.to_string());
    if let Some(pages) = args.pages {
        command.arg("--pages").arg(pages.name());
    }
    if let Some(library) = library {
        command.arg("--library").arg(library);
    }
    if args.stats {
        command.arg("--stats");
    }
    command
        .arg("--")
        .args(&args.command)
        .envs([mark.variable()])
        .env(HEAP.variable, (share + FRONT_BYTES as u64).to_string())
        .env("PMI_FD", pmi.as_raw_fd().to_string())
        .env("PMI_RANK", "0")
        .env("PMI_SIZE", (args.from.len() + 1).to_string());
    for name in ["PMI_PORT", "PMI_ID", "PMI_SPAWNED", "PMI_KVSNAME"] {
        command.env_remove(name);
    }
    ChildSetup {
        inherit: vec![pmi],
        ..ChildSetup::default()
    }
    .apply(&mut command);
    command.spawn()
}

/// The loop that follows a run.
struct Launcher {
    server: Server,
    program: Option<String>,
    copies: u32,
    loans: Vec<Loan>,
    lost: BTreeSet<u32>,
    to_pager: UnixStream,
    pager: Pid,
    kill_at: Option<Instant>,
    /// The program was ended because its memory is gone.
    lost_memory: bool,
}

impl Launcher {
    /// Until the pager has ended. The exit status.
    fn follow(&mut self, events: &mpsc::Receiver<Event>) -> u8 {
        loop {
            match events.recv_timeout(LOOK) {
                Ok(Event::Ended(_)) if self.lost_memory => return LOST_STATUS,
                Ok(Event::Ended(Ok(status))) => return self.status(status),
                Ok(Event::Ended(Err(_))) | Err(RecvTimeoutError::Disconnected) => {
                    return LOST_STATUS;
                }
                Ok(event) => self.handle(event),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.kill_at.is_some_and(|at| at <= Instant::now()) {
                self.kill();
            }
        }
    }

    /// Ends the loans, and waits until the lenders have the memory back.
    fn give_back(&mut self, events: &mpsc::Receiver<Event>) {
        let senders = self.loans.iter().filter_map(|loan| loan.sender.as_ref());
        senders.for_each(Sender::finish);
        let mut open: BTreeSet<u32> = (1..=self.loans.len() as u32).collect();
        open.retain(|pe| !self.lost.contains(pe));
        // After memory was lost, a lender may not answer any more, and the run has already waited for it.
        let patience = if self.lost_memory { GRACE } else { RETURN };
        let give_up = Instant::now() + patience;
        while !open.is_empty() {
            let left = give_up.saturating_duration_since(Instant::now());
            match events.recv_timeout(left) {
                Ok(Event::LenderGone(pe)) => {
                    open.remove(&pe);
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// The pager ends with the status of the program. Says so if somebody killed the pager.
    fn status(&self, status: ExitStatus) -> u8 {
        if status.code().is_none() && self.kill_at.is_none() {
            say::line(&format!("the pager of {} was ended: {status}", self.name()));
        }
        status_of(status)
    }

    fn name(&self) -> &str {
        self.program.as_deref().unwrap_or("the program")
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Pager(bytes) => {
                let effects = self.server.receive(0, &bytes);
                self.apply(effects);
            }
            Event::Lender(pe, Frame::Pmi(bytes)) => {
                let effects = self.server.receive(pe, &bytes);
                self.apply(effects);
            }
            Event::Lender(pe, Frame::Over(why)) => self.lose(pe, &why),
            Event::Lender(pe, _) => self.lose(pe, "it does not speak as a lender"),
            Event::LenderGone(pe) => self.lose(pe, "the connection to it has ended"),
            Event::Signal(SIGTERM | SIGHUP) => {
                // It may have ended meanwhile.
                let _ = kill_process(self.pager, Signal::TERM);
                self.kill_at.get_or_insert(Instant::now() + GRACE);
            }
            Event::Signal(_) | Event::Ended(_) => {}
        }
    }

    fn apply(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Reply { pe: 0, bytes } => {
                    // A pager that has ended needs no answer.
                    let _ = self.to_pager.write_all(&bytes);
                }
                Effect::Reply { pe, bytes } => {
                    let loan = self.loans.get_mut(pe as usize - 1);
                    let sender = loan.and_then(|loan| loan.sender.as_mut());
                    // [`Event::LenderGone`] reports that a lender is gone.
                    let _ = sender.map(|sender| sender.send(&Frame::Pmi(bytes)));
                }
                Effect::Abort { pe: 0, message, .. } => self.end(&message),
                Effect::Abort { pe, message, .. }
                | Effect::Violation {
                    pe,
                    reason: message,
                } => {
                    self.lose(pe, &message);
                }
            }
        }
    }

    /// A lender is lost, and with it what only it had.
    fn lose(&mut self, pe: u32, why: &str) {
        if !self.lost.insert(pe) {
            return;
        }
        let effects = self.server.gone(pe);
        self.apply(effects);
        let Some(loan) = self.loans.get_mut((pe as usize).saturating_sub(1)) else {
            return;
        };
        let place = loan.place.to_string();
        if let Some(sender) = loan.sender.take() {
            sender.close();
        }
        let text = format!("the lender {place} is lost ({why})");
        // A second copy lies on the next lender.
        match self.copies > 1 && !self.has_lost_both() {
            true => say::line(&format!(
                "{text}; {} goes on with the other copies",
                self.name()
            )),
            false => self.end(&text),
        }
    }

    /// Whether two lenders that had the two copies of something are lost.
    fn has_lost_both(&self) -> bool {
        let count = self.loans.len() as u32;
        let next = |pe: u32| pe % count.max(1) + 1;
        self.lost.iter().any(|pe| self.lost.contains(&next(*pe)))
    }

    /// Memory is lost: the program must not go on.
    fn end(&mut self, why: &str) {
        if !self.lost_memory {
            self.lost_memory = true;
            say::line(&format!("{} is ended: {why}", self.name()));
        }
        self.kill();
    }

    /// Kills the pager, and by that the program.
    fn kill(&mut self) {
        self.kill_at = None;
        // It may have ended meanwhile.
        let _ = kill_process(self.pager, Signal::KILL);
    }
}
