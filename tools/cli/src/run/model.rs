//! `--cluster`: the hardware of the job is a model, and its time is that of the model.
//!
//! A thread of the launcher is the simulator. It has a desk for each PE, over which it speaks with
//! the PE, and reports to the launcher's loop over a pipe.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use hostwire_sim::engine::{Ps, Summary};
use hostwire_sim::experiments::file::{self, Built, ProgramRan, RunFigures, SweepRange};
use hostwire_sim::experiments::link_use::LinkUse;
use hostwire_sim::record::Recording;
use hostwire_sim::wire::{Settings, Takes, Watch, WireError, run_processes};
use hostwire_transport::modelled::{Begun, Seat, VARIABLE};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::beside;
use crate::recorded::{EventOptions, Recorded};

use super::mark::Mark;
use super::parse;
use super::plan::StartError;

mod taps;

use taps::{Taps, Text};

/// While so many bytes of output wait for the launcher, the model waits too.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// How often it looks whether they still do.
const KEEPS_UP_CHECK: Duration = Duration::from_millis(1);
/// After this time without a call of the library, a PE is named.
const SPINS_AFTER: Duration = Duration::from_secs(1);

/// The options of modelled hardware.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Virtual time")]
pub struct Options {
    /// Run the PEs on the modelled hardware of this cluster file, in virtual time.
    ///
    /// A file may also name a cluster file and say [parameters] of its models, as those of
    /// experiments do.
    ///
    /// The program is an ordinary one and need not know. It uses hostwire, OpenSHMEM, or an MPICH that
    /// is built for libfabric, which is told to use hostwire unless the environment says otherwise. Its
    /// stores become those of modelled processors, its time is that of the model, and one PE runs at a
    /// time. What the program computes takes no time. The same command gives the same result each time.
    #[arg(long, value_name = "FILE")]
    pub cluster: Option<PathBuf>,

    /// Which processor each PE runs on, by number or name, as in left,right.
    ///
    /// PE i gets the processor at place i, from the start again when the list is shorter than
    /// the job. By default PE i gets processor i, from 0 again when there are more PEs. PEs of one
    /// processor have a core each, or share cores. Hosts with PEACH2 chips count as processors.
    #[arg(long, value_name = "LIST", requires = "cluster", value_delimiter = ',')]
    pub place: Vec<String>,

    /// How long computing takes: zero, measured, or measured=3 for three times what it takes here.
    ///
    /// Measured is the processor time of the thread that uses the job. Such a run is not
    /// repeatable.
    #[arg(long, value_name = "HOW", requires = "cluster", default_value = "zero", value_parser = parse::compute)]
    pub compute: Compute,

    /// End the job when this time has passed in the model: 500ns, 10us, 3ms, 1s.
    #[arg(long, value_name = "TIME", requires = "cluster", value_parser = parse::virtual_time)]
    pub until: Option<Ps>,

    /// Begin each line of output with the virtual time at which it was written.
    #[arg(long, requires = "cluster")]
    pub stamp: bool,

    /// Write what crosses the modelled links, and what PEs do, as a Perfetto trace.
    ///
    /// A picosecond is shown as a nanosecond, as in hostwire sim.
    #[arg(long, value_name = "OUT.pftrace", requires = "cluster")]
    pub trace: Option<PathBuf>,

    /// Write what crosses the modelled links as a packet capture.
    ///
    /// Wireshark shows it with the dissector in tools/wireshark.
    #[arg(long, value_name = "OUT.pcapng", requires = "cluster")]
    pub pcap: Option<PathBuf>,

    /// Write every event of the model as an event trace.
    ///
    /// `hostwire events FILE` shows it. Times count from the begin of the job. It has 24 bytes for
    /// each event, so a second of the model may be gigabytes: see --events-of, --events-kind and
    /// --events-in.
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub events: Option<PathBuf>,

    #[command(flatten)]
    which: EventOptions,

    /// The file is an experiment, and the hardware that of this point. For hostwire sim.
    #[arg(long, hide = true, requires = "cluster")]
    pub point: Option<usize>,

    /// The sweep of that experiment, if it is not the file's.
    #[arg(long, hide = true, requires = "point")]
    pub swept: Option<SweepRange>,

    /// Where the use of links and the cost of the run go, as JSON. For hostwire sim.
    #[arg(long, hide = true, requires = "point")]
    pub figures: Option<PathBuf>,
}

/// How long computing takes in the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compute {
    /// No time.
    #[default]
    Zero,
    /// So many ns for a second of processor time.
    Measured {
        /// That many.
        ns_per_s: u64,
    },
}

/// Hardware that a job can run on.
#[derive(Debug, Clone)]
pub struct Hardware {
    models: file::Hardware,
    settings: Settings,
    recorded: Recorded,
    figures: Option<PathBuf>,
    /// The heap of each PE, if the launcher has been told of it.
    pub heap_bytes: Option<usize>,
    /// How long computing takes.
    pub compute: Compute,
    /// Whether lines of output begin with their time.
    pub stamps: bool,
}

impl Hardware {
    /// What the options say for `pes` PEs.
    ///
    /// # Errors
    /// [`StartError::Cluster`] or [`StartError::Place`].
    pub fn new(options: &Options, pes: u32) -> Result<Option<Self>, StartError> {
        let Some(file) = &options.cluster else {
            return Ok(None);
        };
        let models = read(options, file)?;
        let failed = |cause: &dyn std::fmt::Display| StartError::Cluster(cause.to_string());
        let names = models.places().map_err(|cause| failed(&cause))?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let chosen = options.place.iter().map(|text| socket(text, &names));
        let chosen = chosen.collect::<Result<Vec<usize>, _>>()?;
        let places = match chosen.is_empty() {
            true => (0..names.len()).collect(),
            false => chosen,
        };
        if places.is_empty() {
            return Err(failed(&format_args!(
                "{} has no processors",
                file.display()
            )));
        }
        // Segments are as long as the PEs say.
        let mut settings = Settings::new(0, 0);
        settings.sockets = places.into_iter().cycle().take(pes as usize).collect();
        settings.until = options.until;
        let recorded = Recorded {
            trace: options.trace.clone(),
            pcap: options.pcap.clone(),
            events: options.events.clone(),
            which: options.which.clone(),
        };
        recorded
            .check_events(&models)
            .and_then(|()| recorded.check())
            .map_err(StartError::Cluster)?;
        Ok(Some(Self {
            models,
            settings,
            recorded,
            figures: options.figures.clone(),
            heap_bytes: None,
            stamps: options.stamp,
            compute: options.compute,
        }))
    }
}

fn read(options: &Options, file: &Path) -> Result<file::Hardware, StartError> {
    let name = file.display().to_string();
    let failed = |why: String| StartError::Cluster(why);
    let bytes = crate::plan::read(file);
    let bytes = bytes.map_err(|cause| failed(format!("cannot read {name}: {cause}")))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let load =
        |path: &str| crate::plan::read(&folder.join(path)).map_err(|cause| cause.to_string());
    let Some(point) = options.point else {
        let read = file::read_hardware(&name, &bytes, &load);
        return read.map_err(|bad| failed(bad.to_string()));
    };
    // An experiment: the hardware of one of its points that runs a program.
    let experiment = file::read_swept(&name, &bytes, options.swept.as_ref(), &load);
    let experiment = experiment.map_err(|bad| failed(bad.to_string()))?;
    let hardware = experiment.hardware(point);
    hardware.ok_or_else(|| failed(format!("{name} has no program at point {point}")))
}

/// The processor that is meant.
fn socket(text: &str, names: &[&str]) -> Result<usize, StartError> {
    let by_number = text.parse().ok().filter(|index| *index < names.len());
    let by_name = || names.iter().position(|name| *name == text);
    by_number.or_else(by_name).ok_or_else(|| StartError::Place {
        got: text.to_owned(),
        names: names.join(", "),
    })
}

/// What is loaded into programs before the C library.
const CLOCKS: &str = "libhostwire_clock.so";
const PRELOAD: &str = "LD_PRELOAD";

/// How programs get the clocks of the model: a value for [`PRELOAD`].
pub struct Clocks(OsString);

impl Clocks {
    /// The library before those that the user has loaded anyway.
    ///
    /// # Errors
    /// [`StartError::Cluster`] if it is not there.
    pub fn find() -> Result<Self, StartError> {
        let library = beside::library(CLOCKS).map_err(StartError::Cluster)?;
        let mut value = library.into_os_string();
        if let Some(before) = std::env::var_os(PRELOAD).filter(|value| !value.is_empty()) {
            value.push(":");
            value.push(before);
        }
        Ok(Self(value))
    }

    /// The variable that a program gets.
    pub fn variable(&self) -> (&'static str, &OsStr) {
        (PRELOAD, &self.0)
    }
}

/// Whether the system loads this program with libraries. A script counts as one that it does.
pub fn is_dynamic(program: &Path) -> bool {
    let Ok(mut file) = std::fs::File::open(program) else {
        return true;
    };
    let mut head = [0; 4096];
    let len = file.read(&mut head).unwrap_or(0);
    elf_is_dynamic(head.get(..len).unwrap_or_default())
}

/// Whether one of the program headers of a 64-bit ELF file names an interpreter.
fn elf_is_dynamic(head: &[u8]) -> bool {
    const INTERPRETER: u32 = 3;
    let half = |at: usize| Some(u16::from_le_bytes(*head.get(at..)?.first_chunk()?));
    let is_elf = head.starts_with(b"\x7fELF\x02\x01");
    let (Some(entry_bytes), Some(entries)) = (half(54), half(56)) else {
        return true;
    };
    let offset = head.get(32..).and_then(<[u8]>::first_chunk);
    let offset = offset.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let kinds = (0..usize::from(entries)).filter_map(|index| {
        let at = usize::try_from(offset).ok()?;
        let at = at.checked_add(index.checked_mul(entry_bytes.into())?)?;
        head.get(at..)?
            .first_chunk()
            .copied()
            .map(u32::from_le_bytes)
    });
    !is_elf || kinds.into_iter().any(|kind| kind == INTERPRETER)
}

/// What leads from a PE to the simulator.
pub struct Line {
    /// The PE's ends, to be inherited.
    pub there: [Arc<OwnedFd>; 2],
    seat: Seat,
}

impl Line {
    /// One for a PE that is about to be started: its number, of how many, and the mark of their job.
    pub fn new(compute: Compute, pe: (u32, u32), mark: &Mark) -> Result<Self, StartError> {
        let (seat, there) = Seat::new().map_err(|cause| StartError::Cluster(cause.to_string()))?;
        seat.assign(pe, mark.number());
        if let Compute::Measured { ns_per_s } = compute {
            seat.measure_computing(ns_per_s);
        }
        let there = there.map(Arc::new);
        Ok(Self { there, seat })
    }

    /// The variable that names the PE's ends.
    pub fn variable(&self) -> (&'static str, String) {
        let [desk, socket] = &self.there;
        (
            VARIABLE,
            format!("{},{}", desk.as_raw_fd(), socket.as_raw_fd()),
        )
    }
}

/// What the simulator reports.
#[derive(Debug)]
pub enum Report {
    /// A PE has not called the library for long, so that virtual time stands still.
    Spins(u32),
    /// A PE has written something.
    Wrote(Text),
    /// Why a file that was asked for could not be written.
    Unwritten(String),
    /// The run has come to its end. Nothing follows.
    Ended(Box<Result<Simulated, String>>),
}

/// What a run did.
#[derive(Debug)]
pub struct Simulated {
    /// Its cost.
    pub summary: Summary,
    /// The directions of links that were used.
    pub links: Vec<LinkUse>,
}

/// What the simulator and the launcher share.
struct Shared {
    stop: AtomicBool,
    talk: Mutex<Talk>,
}

/// What the simulator says, and where it listens.
struct Talk {
    reports: Vec<Report>,
    /// Bytes of output in the reports.
    waiting_bytes: usize,
    /// Outputs are read, and reported, under this lock: so nobody reads before an earlier reader has
    /// passed on what it has.
    taps: Taps,
}

/// A simulator at work.
pub struct Model {
    shared: Arc<Shared>,
    /// Readable when there is a report.
    bell: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Model {
    /// Starts the simulator of PEs that have been started.
    ///
    /// # Errors
    /// [`StartError::System`].
    pub fn start(
        hardware: Hardware,
        lines: Vec<Line>,
        outputs: Vec<[OwnedFd; 2]>,
    ) -> Result<Self, StartError> {
        let failed = |errno| StartError::System {
            what: "start the simulator",
            errno,
        };
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (bell, ringer) = pipe_with(flags).map_err(failed)?;
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            talk: Mutex::new(Talk {
                reports: Vec::new(),
                waiting_bytes: 0,
                taps: Taps::new(outputs),
            }),
        });
        let simulator = Simulator {
            shared: Arc::clone(&shared),
            ringer,
        };
        let seats: Vec<Seat> = lines.into_iter().map(|line| line.seat).collect();
        let thread = std::thread::Builder::new()
            .name("simulator".to_owned())
            .spawn(move || {
                let ran = simulator.run(&hardware, seats);
                simulator.report(Report::Ended(Box::new(ran)));
            })
            .map_err(|cause: io::Error| {
                failed(Errno::from_io_error(&cause).unwrap_or(Errno::AGAIN))
            })?;
        Ok(Self {
            shared,
            bell,
            thread: Some(thread),
        })
    }

    /// Readable when there is a report.
    pub fn bell(&self) -> &OwnedFd {
        &self.bell
    }

    /// Tells the simulator to end soon. It writes its files all the same.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the simulator says nothing more.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The reports since the last call.
    pub fn reports(&self) -> Vec<Report> {
        let mut drained = [0; 64];
        while rustix::io::read(&self.bell, &mut drained).is_ok_and(|got| got > 0) {}
        self.shared.lock().take()
    }

    /// Whether the simulator reads the outputs of this PE.
    pub fn reads(&self, pe: u32) -> bool {
        self.shared.lock().taps.is_open(pe)
    }

    /// Makes it read them no longer; the reports since the last call.
    pub fn leave_outputs(&self, pe: u32) -> Vec<Report> {
        let mut talk = self.shared.lock();
        talk.taps.close(pe);
        talk.take()
    }
}

/// The simulator ends soon after it is told to.
impl Drop for Model {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // It reports by itself what went wrong.
            let _ = thread.join();
        }
    }
}

impl Talk {
    fn take(&mut self) -> Vec<Report> {
        self.waiting_bytes = 0;
        std::mem::take(&mut self.reports)
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Talk> {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

struct Simulator {
    shared: Arc<Shared>,
    ringer: OwnedFd,
}

impl Simulator {
    fn report(&self, report: Report) {
        self.shared.lock().reports.push(report);
        self.ring();
    }

    fn ring(&self) {
        // A full pipe rings already.
        let _ = rustix::io::write(&self.ringer, &[0]);
    }

    /// Passes on what a PE has written by now, while the launcher keeps up.
    fn pass_output(&self, pe: u32, at: Ps, takes: Takes) {
        let mut talk = self.shared.lock();
        let texts = talk.taps.read(pe, at);
        let is_news = !texts.is_empty() || takes == Takes::Leave;
        talk.waiting_bytes += texts.iter().map(|text| text.bytes.len()).sum::<usize>();
        talk.reports.extend(texts.into_iter().map(Report::Wrote));
        if takes == Takes::Leave {
            talk.taps.close(pe);
        }
        drop(talk);
        if is_news {
            self.ring();
        }
        while !self.shared.stops() && self.shared.lock().waiting_bytes > WAITING_BYTES_MAX {
            std::thread::sleep(KEEPS_UP_CHECK);
        }
    }

    fn run(&self, hardware: &Hardware, seats: Vec<Seat>) -> Result<Simulated, String> {
        let said = |cause: &dyn std::fmt::Display| cause.to_string();
        let mut built = hardware.models.build().map_err(|cause| said(&cause))?;
        let pes = seats.len() as u32;
        let mut begun = Vec::new();
        for (pe, seat) in (0..pes).zip(seats) {
            let stops = || self.shared.stops();
            let end = seat.wait_for((pe, pes), &stops);
            match end.map_err(|cause| said(&cause))? {
                Some(end) => begun.push(end),
                // It has ended without using the library; who waits for it will say so.
                None => {
                    if hardware.recorded.is_wanted() {
                        let why = format!("nothing is recorded: PE {pe} has not joined the job");
                        self.say_unwritten(Err(why));
                    }
                    return Ok(Simulated {
                        summary: built.summary(),
                        links: Vec::new(),
                    });
                }
            }
        }
        let recording = hardware.recorded.begin();
        if let Some(recording) = &recording {
            built.record(recording).map_err(|cause| said(&cause))?;
        }
        let links = built.watch_links();
        self.shared.lock().taps.open();
        let ran = self.run_on(&mut built, hardware, begun, recording.as_ref());
        // A recording is most useful if the run failed.
        let written = recording.map_or(Ok(()), |all| hardware.recorded.write(&all));
        self.say_unwritten(written);
        let summary = ran?;
        let simulated = Simulated {
            links: built.links(&links, summary.virtual_time),
            summary,
        };
        if let Some(path) = &hardware.figures {
            let figures = ProgramRan {
                metrics: Vec::new(),
                links: simulated.links.clone(),
                run: RunFigures::of(&[summary]),
            };
            let json = serde_json::to_vec(&figures).map_err(|error| error.to_string())?;
            self.say_unwritten(crate::file::write_whole(path, &json));
        }
        Ok(simulated)
    }

    fn say_unwritten(&self, written: Result<(), String>) {
        if let Err(why) = written {
            self.report(Report::Unwritten(why));
        }
    }

    fn run_on(
        &self,
        built: &mut Built,
        hardware: &Hardware,
        begun: Vec<Begun>,
        recording: Option<&Recording>,
    ) -> Result<Summary, String> {
        let named = Mutex::new(Vec::new());
        let until_stopped = || match self.shared.stops() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let turn = |pe, now, idle: Duration| {
            self.pass_output(pe, now, Takes::Part);
            let mut named = named.lock().unwrap_or_else(PoisonError::into_inner);
            if idle >= SPINS_AFTER && !named.contains(&pe) {
                named.push(pe);
                self.report(Report::Spins(pe));
            }
            until_stopped()
        };
        let watch = Watch {
            run: &|_| until_stopped(),
            turn: &turn,
            handed_over: &|pe, now, takes| self.pass_output(pe, now, takes),
            recording,
        };
        match run_processes(
            built.platform(),
            &hardware.settings,
            (begun, hardware.models.calls()),
            &watch,
        ) {
            Err(WireError::NoMemory {
                segment_bytes,
                memory_bytes,
                fits_bytes,
                ..
            }) => Err(too_large(
                (segment_bytes as u64, memory_bytes, fits_bytes),
                hardware.heap_bytes.map(|bytes| bytes as u64),
            )),
            ran => ran.map_err(|cause| cause.to_string()),
        }
    }
}

const LARGE_PAGE_BYTES: u64 = 2 << 20;

/// What is said of segments that are too large for the memory of a processor, which segments of
/// `fits_bytes` fit.
fn too_large(
    (segment_bytes, memory_bytes, fits_bytes): (u64, u64, u64),
    heap_bytes: Option<u64>,
) -> String {
    // The heap is most of a segment. The heap of an OpenSHMEM program that nobody gave one is a power
    // of two.
    let heap_bytes = heap_bytes
        .filter(|heap| (segment_bytes / 2..=segment_bytes).contains(heap))
        .unwrap_or(1 << segment_bytes.max(1).ilog2());
    let beside_bytes = segment_bytes - heap_bytes.min(segment_bytes);
    // Segments are whole large pages.
    let room_bytes = fits_bytes - fits_bytes % LARGE_PAGE_BYTES;
    let fits_mib = room_bytes.saturating_sub(beside_bytes) >> 20;
    let what = match fits_mib {
        0 => {
            "no heap fits: take fewer PEs for each processor, or a cluster with more memory".into()
        }
        _ => format!(
            "a heap of {fits_mib}M fits: say --heap {fits_mib}M, or SHMEM_SYMMETRIC_SIZE={fits_mib}M \
             where OpenSHMEM's own variable is set"
        ),
    };
    format!(
        "each PE has a segment of {segment_bytes} bytes, which is its heap for the most part, and the \
         {memory_bytes} bytes of memory of a processor are too few for all PEs that it has; {what}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_that_fits_is_named() {
        let (mib, gib) = (1u64 << 20, 1u64 << 30);
        let said = |segment, fits, heap| too_large((segment, 2 * gib, fits), heap);
        let says = |said: String, words: &str| assert!(said.contains(words), "{said}");
        says(said(4 * gib + 3 * mib, 2047 * mib, None), "--heap 2043M");
        says(
            said(3 * gib + 3 * mib, 682 * mib, Some(3 * gib)),
            "--heap 679M",
        );
        // The program's own variable says another size than the option.
        says(
            said(4 * gib + 3 * mib, 2047 * mib, Some(64 * mib)),
            "=2043M",
        );
        says(said(4 * gib + 3 * mib, 4 * mib - 1, None), "no heap fits");
        says(said(0, 0, None), "no heap fits");
    }

    #[test]
    fn programs_without_an_interpreter_are_static() {
        let program = |kind: u32| {
            let mut head = vec![0; 64 + 56];
            head[..6].copy_from_slice(b"\x7fELF\x02\x01");
            head[32] = 64;
            head[54] = 56;
            head[56] = 1;
            head[64..68].copy_from_slice(&kind.to_le_bytes());
            head
        };
        assert!(elf_is_dynamic(&program(3)));
        assert!(!elf_is_dynamic(&program(1)));
        assert!(elf_is_dynamic(b"#!/bin/sh\n"));
        assert!(is_dynamic(&std::env::current_exe().unwrap()));
        assert!(!elf_is_dynamic(&program(1)[..66]));
    }

    #[test]
    fn processors_have_numbers_and_names() {
        let names = ["a.p0", "b.p0"];
        assert_eq!(socket("1", &names), Ok(1));
        assert_eq!(socket("b.p0", &names), Ok(1));
        for wrong in ["2", "c", ""] {
            let error = socket(wrong, &names).unwrap_err().to_string();
            assert!(error.contains("a.p0, b.p0"), "{error}");
        }
    }
}
