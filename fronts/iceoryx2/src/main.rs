//! The program `hostwire-iceoryx2`: see `hostwire-iceoryx2 --help` and docs/iceoryx2.md.

mod arguments;
mod description;
mod message;
mod names;
mod peers;
mod ports;
mod tunnel;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser as _;
use hostwire::station::Station;
use iceoryx2::config::Config;
use iceoryx2::prelude::{
    FilePath, LogLevel, NodeBuilder, NodeName, SemanticString as _, SignalHandlingMode,
    set_log_level_from_env_or,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use arguments::Arguments;
use tunnel::{Notice, Tunnel};

/// For so long after the last thing was carried it looks again without a rest.
const AWAKE_FOR: Duration = Duration::from_micros(300);
/// Files of peers are read this often.
const PEERS_EVERY: Duration = Duration::from_millis(500);
/// A peer that does not answer is called again after this time.
const AGAIN_AFTER: Duration = Duration::from_secs(5);
/// Dead processes are cleaned up after this often.
const CLEAN_UP_EVERY: Duration = Duration::from_secs(2);
/// The same line is not said again before this time.
const SAY_AGAIN_AFTER: Duration = Duration::from_secs(10);

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    set_log_level_from_env_or(LogLevel::Fatal);
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error);
            ExitCode::FAILURE
        }
    }
}

/// In one piece: other tunnels may have the same terminal.
fn say(what: &dyn core::fmt::Display) {
    let line = format!("hostwire-iceoryx2: {what}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&is_over))?;
    }
    let config = match &arguments.config {
        Some(path) => read_config(path)?,
        None => Config::global_config().clone(),
    };
    let node = NodeBuilder::new()
        .name(&NodeName::new("hostwire-iceoryx2").map_err(|why| format!("a node: {why:?}"))?)
        .signal_handling_mode(SignalHandlingMode::Disabled)
        .config(&config)
        .create()
        .map_err(|why| format!("iceoryx2 creates no node: {why:?}"))?;
    let station = Station::open()?;
    let name = names::Written::new(&arguments.name, &station.name());
    let _name = name.map_err(|why| format!("cannot write {}: {why}", arguments.name.display()))?;
    let patterns = arguments.service.clone();
    let carries = move |name: &str| {
        patterns.is_empty() || patterns.iter().any(|it| arguments::fits(it, name))
    };
    let mut tunnel = Tunnel::new(station, node, carries);
    let mut voice = Voice::new(arguments.quiet);
    let mut calls = Calls::new(&arguments.peer);
    let mut look = Every::new(Duration::from_millis(arguments.look));
    let mut clean_up = Every::new(CLEAN_UP_EVERY);
    let mut busy = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        if look.is_due() {
            tunnel.look_around();
        }
        if clean_up.is_due() {
            tunnel.clean_up();
        }
        calls.make(&mut tunnel, &mut voice);
        if tunnel.step()? {
            busy = Instant::now();
        } else {
            rest(
                &mut tunnel,
                busy.elapsed(),
                Duration::from_micros(arguments.rest),
            )?;
        }
        for notice in tunnel.notices() {
            voice.tell(&notice);
        }
    }
    Ok(())
}

/// The longer nothing was carried, the longer is the rest.
fn rest(tunnel: &mut Tunnel, idle: Duration, longest: Duration) -> Result<(), hostwire::Error> {
    if longest.is_zero() || idle < AWAKE_FOR {
        std::thread::yield_now();
        return Ok(());
    }
    tunnel.rest((idle / 8).min(longest))
}

fn read_config(path: &Path) -> Result<Config, Failure> {
    let wrong = |why: &dyn core::fmt::Debug| format!("cannot read {}: {why:?}", path.display());
    let file = FilePath::new(path.as_os_str().as_encoded_bytes()).map_err(|why| wrong(&why))?;
    Ok(Config::from_file(&file).map_err(|why| wrong(&why))?)
}

/// Something that is done every so often.
struct Every {
    period: Duration,
    last: Option<Instant>,
}

impl Every {
    fn new(period: Duration) -> Self {
        Self { period, last: None }
    }

    fn is_due(&mut self) -> bool {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= self.period);
        if is_due {
            self.last = Some(Instant::now());
        }
        is_due
    }
}

/// Calls to the peers of the command line.
struct Calls<'a> {
    look: Every,
    peers: Vec<(&'a PathBuf, Called)>,
}

/// The last call to a peer.
enum Called {
    Never,
    /// Its id has answered, or has ended.
    Done(u128),
    /// It has not answered.
    At(Instant),
}

impl<'a> Calls<'a> {
    fn new(files: &'a [PathBuf]) -> Self {
        Self {
            look: Every::new(PEERS_EVERY),
            peers: files.iter().map(|file| (file, Called::Never)).collect(),
        }
    }

    fn make(&mut self, tunnel: &mut Tunnel, voice: &mut Voice) {
        if !self.look.is_due() {
            return;
        }
        for (file, called) in &mut self.peers {
            let Some(name) = names::read(file) else {
                continue;
            };
            let waits = match called {
                Called::Never => false,
                Called::Done(id) => *id == name.id(),
                Called::At(when) => when.elapsed() < AGAIN_AFTER,
            };
            if waits {
                continue;
            }
            *called = match tunnel.meet(&name) {
                Ok(()) => Called::Done(name.id()),
                Err(why) => {
                    voice.warn(format!("the tunnel of {}: {why}", file.display()));
                    match why {
                        hostwire::Error::PeerLost { .. } => Called::Done(name.id()),
                        _ => Called::At(Instant::now()),
                    }
                }
            };
        }
    }
}

/// What it says, each line once in a while.
struct Voice {
    is_quiet: bool,
    said: BTreeMap<String, Instant>,
}

impl Voice {
    fn new(is_quiet: bool) -> Self {
        let said = BTreeMap::new();
        Self { is_quiet, said }
    }

    fn tell(&mut self, notice: &Notice) {
        match notice {
            Notice::Met(pe) => self.inform(format!("peer {pe} is there")),
            Notice::Carries(what) => {
                let pattern = what.pattern.name();
                self.inform(format!("carries {} ({pattern})", what.name));
            }
            Notice::Leaves(what) => {
                let pattern = what.pattern.name();
                self.inform(format!("leaves {} ({pattern})", what.name));
            }
            Notice::Lost(pe, why) => self.warn(format!("peer {pe}: {why}")),
            Notice::Fails(what, why) => self.warn(format!("{what}: {why}")),
            Notice::Unclear(pe, what) => self.warn(format!("peer {pe} {what}")),
        }
    }

    fn inform(&mut self, line: String) {
        if !self.is_quiet {
            say(&line);
        }
    }

    fn warn(&mut self, line: String) {
        let now = Instant::now();
        self.said
            .retain(|_, at| now.duration_since(*at) < SAY_AGAIN_AFTER);
        if let Entry::Vacant(place) = self.said.entry(line) {
            say(place.key());
            place.insert(now);
        }
    }
}
