//! The simulator of a job's hardware: a thread of the launcher, which reports to its loop over a pipe.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::super::start_error::StartError;
use super::taps::{Taps, Text};
use super::{Hardware, Seat};

/// While so many bytes of output wait for the launcher, the model waits too.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// How often the model checks whether they still wait.
const KEEPS_UP_CHECK: Duration = Duration::from_millis(1);

/// What the simulator reports.
#[derive(Debug)]
pub enum Report {
    /// A PE has not called the library for long, so that virtual time stands still.
    Spins(u32),
    /// A PE has written something.
    Wrote(Text),
    /// Why a file that was asked for could not be written.
    Unwritten(String),
    /// The run has come to its end: what there is to say of it, or why it could not go on. Nothing follows.
    Ended(Result<Vec<String>, String>),
}

/// What the simulator and the launcher share.
struct SimulatorShared {
    stop: AtomicBool,
    talk: Mutex<Talk>,
}

/// What the simulator says, and where it listens.
struct Talk {
    reports: Vec<Report>,
    /// Bytes of output in the reports.
    waiting_bytes: usize,
    /// Outputs are read and reported under this lock, so nobody reads before an earlier reader has reported its bytes.
    taps: Taps,
}

/// A simulator at work.
pub struct Simulator {
    shared: Arc<SimulatorShared>,
    /// Readable when there is a report.
    bell: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Simulator {
    /// Starts the simulator of PEs that have been started.
    ///
    /// # Errors
    /// [`StartError::System`].
    pub fn start(
        mut hardware: Box<dyn Hardware>,
        seats: Vec<Seat>,
        outputs: Vec<[Option<Arc<OwnedFd>>; 2]>,
    ) -> Result<Self, StartError> {
        let failed = |errno| StartError::System {
            what: "start the simulator",
            errno,
        };
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (bell, ringer) = pipe_with(flags).map_err(failed)?;
        let shared = Arc::new(SimulatorShared {
            stop: AtomicBool::new(false),
            talk: Mutex::new(Talk {
                reports: Vec::new(),
                waiting_bytes: 0,
                taps: Taps::new(outputs),
            }),
        });
        let launcher = Launcher {
            shared: Arc::clone(&shared),
            ringer,
        };
        let thread = std::thread::Builder::new()
            .name("simulator".to_owned())
            .spawn(move || {
                let ran = hardware.run(seats, &launcher);
                launcher.report(Report::Ended(ran));
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

    /// Tells the simulator to end soon. It still writes its files.
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

    /// Makes it stop reading them. Returns the reports since the last call.
    pub fn leave_outputs(&self, pe: u32) -> Vec<Report> {
        let mut talk = self.shared.lock();
        talk.taps.close(pe);
        talk.take()
    }
}

/// The simulator ends soon after it is told to.
impl Drop for Simulator {
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

impl SimulatorShared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Talk> {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The launcher, as the simulator sees it.
pub struct Launcher {
    shared: Arc<SimulatorShared>,
    ringer: OwnedFd,
}

impl Launcher {
    /// Whether the run is to end soon.
    pub fn stops(&self) -> bool {
        self.shared.stops()
    }

    /// All PEs have joined the job: from now on their outputs are read with
    /// [`pass_output`](Self::pass_output) only.
    pub fn open_outputs(&self) {
        self.shared.lock().taps.open();
    }

    /// Reports what a PE has written by now, at this time of the model, and waits while the launcher cannot keep up.
    /// With `leaves`, the launcher reads its outputs from now on.
    pub fn pass_output(&self, pe: u32, at_ps: u64, leaves: bool) {
        let mut talk = self.shared.lock();
        let texts = talk.taps.read(pe, at_ps);
        let is_news = !texts.is_empty() || leaves;
        talk.waiting_bytes += texts.iter().map(|text| text.bytes.len()).sum::<usize>();
        talk.reports.extend(texts.into_iter().map(Report::Wrote));
        if leaves {
            talk.taps.close(pe);
        }
        drop(talk);
        if is_news {
            self.ring();
        }
        while !self.stops() && self.shared.lock().waiting_bytes > WAITING_BYTES_MAX {
            std::thread::sleep(KEEPS_UP_CHECK);
        }
    }

    /// A PE has not called the library for long.
    pub fn say_that_it_spins(&self, pe: u32) {
        self.report(Report::Spins(pe));
    }

    /// Tells the user of a file that was asked for and could not be `written`.
    pub fn say_unwritten(&self, written: Result<(), String>) {
        if let Err(why) = written {
            self.report(Report::Unwritten(why));
        }
    }

    fn report(&self, report: Report) {
        self.shared.lock().reports.push(report);
        self.ring();
    }

    fn ring(&self) {
        // A full pipe rings already.
        let _ = rustix::io::write(&self.ringer, &[0]);
    }
}
