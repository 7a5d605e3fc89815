//! The files that a recorded run on modelled hardware leaves.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hostwire_cli::events::EventOptions;
#[cfg(target_os = "linux")]
use hostwire_cli::events::TimeWindow;
use hostwire_cli::file::{self, Wanted};
use hostwire_sim::engine::Ps;
use hostwire_sim::experiments::file::Hardware;
use hostwire_sim::record::{Events, Recording, TimeUnit};

/// The events that an event trace is to have.
fn wanted(which: &EventOptions) -> Events {
    let window = which.events_in;
    Events {
        components: which.events_of.clone(),
        kinds: which.events_kind.clone(),
        from: Ps(window.map_or(0, |window| window.from_ps)),
        until: window.and_then(|window| window.until_ps).map(Ps),
    }
}

/// Where a recording goes.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// A Perfetto trace.
    pub trace: Option<PathBuf>,
    /// A packet capture.
    pub pcap: Option<PathBuf>,
    /// An event trace.
    pub events: Option<PathBuf>,
    /// What the event trace has.
    pub which: EventOptions,
}

impl Recorded {
    /// Whether what crosses links is to be recorded.
    pub fn wants_links(&self) -> bool {
        self.trace.is_some() || self.pcap.is_some()
    }

    /// Whether anything is to be recorded.
    pub fn is_wanted(&self) -> bool {
        self.wants_links() || self.events.is_some()
    }

    /// Checks that the files can be made, so that an error comes before a long run.
    ///
    /// # Errors
    /// A text that names the file.
    pub fn check(&self) -> Result<(), String> {
        for path in self.trace.iter().chain(&self.pcap).chain(&self.events) {
            file::check(path)?;
        }
        Ok(())
    }

    /// Checks that the wanted events, if there are any, are events of what is in `hardware`.
    ///
    /// # Errors
    /// A text that names what is not.
    pub fn check_events(&self, hardware: &Hardware) -> Result<(), String> {
        let events = wanted(&self.which);
        if self.events.is_none() || (events.components.is_empty() && events.kinds.is_empty()) {
            return Ok(());
        }
        let checked = hardware.check_events(&events);
        checked.map_err(|error| error.to_string())
    }

    /// The recording, if anything is to be recorded. An event trace is written while the run goes
    /// on, since it may be much longer than the memory.
    pub fn begin(&self) -> Option<Recording> {
        if !self.is_wanted() {
            return None;
        }
        let recording = match self.wants_links() {
            true => Recording::new(),
            false => Recording::of_events(),
        };
        if let Some(path) = self.events.clone() {
            recording.trace_events(wanted(&self.which), move || match File::create(&path) {
                Ok(file) => Ok(Box::new(EventFile { file, path }) as Box<dyn Write>),
                Err(error) => Err(named(&path, error)),
            });
        }
        Some(recording)
    }

    /// Writes the files, and goes on after one that cannot be written.
    ///
    /// # Errors
    /// A text that names the first file that could not be written.
    pub fn write(&self, recording: &Recording) -> Result<(), String> {
        let events = self.events.as_deref().map_or(Ok(()), |_| {
            let ended = recording.end_events();
            // The file has named itself.
            ended.map_err(|error| error.to_string())
        });
        events.and(self.write_links(recording))
    }

    fn write_links(&self, recording: &Recording) -> Result<(), String> {
        let capture = self.pcap.as_ref().map_or(Ok(()), |path| {
            write(path, |out| recording.write_pcapng(out))
        });
        let trace = self.trace.as_ref().map_or(Ok(()), |path| {
            write(path, |out| {
                recording.write_perfetto(out, TimeUnit::Picoseconds)
            })
        });
        capture.and(trace)
    }

    /// The options of `hostwire run` that record the same.
    #[cfg(target_os = "linux")]
    pub fn arguments(&self) -> Vec<std::ffi::OsString> {
        let mut arguments = Vec::new();
        let files = [
            ("--trace", &self.trace),
            ("--pcap", &self.pcap),
            ("--events", &self.events),
        ];
        for (option, path) in files {
            if let Some(path) = path {
                arguments.extend([option.into(), path.into()]);
            }
        }
        let which = &self.which;
        for (option, names) in [
            ("--events-of", &which.events_of),
            ("--events-kind", &which.events_kind),
        ] {
            if !names.is_empty() {
                arguments.push(format!("{option}={}", names.join(",")).into());
            }
        }
        if let Some(TimeWindow { from_ps, until_ps }) = which.events_in {
            let until = until_ps.map_or(String::new(), |until_ps| format!("{until_ps}ps"));
            arguments.push(format!("--events-in={from_ps}ps..{until}").into());
        }
        arguments
    }
}

/// The file of an event trace, whose errors say its name. It is written in place: what is there when a run is
/// killed can be read.
struct EventFile {
    file: File,
    path: PathBuf,
}

impl Write for EventFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        written.map_err(|error| named(&self.path, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// It stays the same error.
fn named(path: &Path, error: io::Error) -> io::Error {
    match error.kind() {
        // To be tried again.
        io::ErrorKind::Interrupted => error,
        kind => io::Error::new(kind, format!("cannot write {}: {error}", path.display())),
    }
}

fn write(path: &Path, what: impl FnOnce(&mut Wanted) -> io::Result<()>) -> Result<(), String> {
    let mut file = Wanted::new(path)?;
    what(&mut file).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    file.finish()
}
