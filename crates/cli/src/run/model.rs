//! `--cluster`: the hardware of the job is a model, and its time is that of the model.
//!
//! A thread of the launcher is the simulator. It has a desk for each PE, over which it speaks with
//! the PE, and reports to the launcher's loop over a pipe.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use hostwire_plan::Plan;
use hostwire_sim::devices::opteron::OpteronConfig;
use hostwire_sim::engine::{Ps, Summary};
use hostwire_sim::firmware;
use hostwire_sim::machine::Machine;
use hostwire_sim::wire::{Settings, Watch, WireError, run_processes};
use hostwire_transport::TransportError;
use hostwire_transport::modelled::{Desk, ModelEnd, VARIABLE};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};

use super::parse;
use super::plan::StartError;

/// After this time without a call of the library, a PE is named.
const SPINS_AFTER: Duration = Duration::from_secs(1);

/// The options of modelled hardware.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Virtual time")]
pub struct Options {
    /// Run the PEs on the modelled hardware of this cluster file, in virtual time.
    ///
    /// The program is an ordinary one and need not know. Its stores become those of modelled
    /// processors, its time is that of the model, and one PE runs at a time. What the program
    /// computes takes no time. The same command gives the same result each time.
    #[arg(long, value_name = "FILE")]
    pub cluster: Option<PathBuf>,

    /// Which processor each PE runs on, by number or name: 0,2 or board1.p0,board0.p0.
    ///
    /// PE i gets the processor at place i, from the start again when the list is shorter than
    /// the job. By default PE i gets processor i, from 0 again when there are more PEs. PEs of one
    /// processor have a core each, or share cores.
    #[arg(long, value_name = "LIST", requires = "cluster", value_delimiter = ',')]
    pub place: Vec<String>,

    /// End the job when this time has passed in the model: 500ns, 10us, 3ms, 1s.
    #[arg(long, value_name = "TIME", requires = "cluster", value_parser = parse::virtual_time)]
    pub until: Option<Ps>,
}

/// Hardware that a job can run on.
#[derive(Debug, Clone)]
pub struct Hardware {
    plan: Plan,
    settings: Settings,
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
        let plan = read(file)?;
        let failed = |cause: &dyn std::fmt::Display| StartError::Cluster(cause.to_string());
        let machine = Machine::new(plan.clone(), &OpteronConfig::shanghai());
        let machine = machine.map_err(|cause| failed(&cause))?;
        let names: Vec<&str> = machine.sockets().iter().map(|at| at.name.as_str()).collect();
        let chosen = options.place.iter().map(|text| socket(text, &names));
        let chosen = chosen.collect::<Result<Vec<usize>, _>>()?;
        let places = match chosen.is_empty() {
            true => (0..names.len()).collect(),
            false => chosen,
        };
        if places.is_empty() {
            return Err(failed(&format_args!("{} has no processors", file.display())));
        }
        // Segments are as long as the PEs say.
        let mut settings = Settings::new(0, 0);
        settings.sockets = places.into_iter().cycle().take(pes as usize).collect();
        settings.until = options.until;
        Ok(Some(Self { plan, settings }))
    }
}

fn read(file: &Path) -> Result<Plan, StartError> {
    let name = file.display().to_string();
    let bytes = crate::plan::read(file)
        .map_err(|cause| StartError::Cluster(format!("cannot read {name}: {cause}")))?;
    hostwire_plan::plan(&name, &bytes)
        .map_err(|rejected| StartError::Cluster(rejected.to_string()))
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

/// What a PE finds in its environment, and the simulator's ends of that.
pub struct Seat {
    /// The PE's ends.
    pub there: [Arc<OwnedFd>; 2],
    desk: Desk,
    socket: OwnedFd,
}

impl Seat {
    /// A desk and a socket.
    pub fn new() -> Result<Self, StartError> {
        let (here, there) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|errno| StartError::System {
            what: "connect a PE with the simulator",
            errno,
        })?;
        let failed = |cause: TransportError| StartError::Cluster(cause.to_string());
        let file = Desk::create().map_err(failed)?;
        Ok(Self {
            desk: Desk::map(&file).map_err(failed)?,
            socket: here,
            there: [Arc::new(file), Arc::new(there)],
        })
    }

    /// The variable that names the PE's ends.
    pub fn variable(&self) -> (&'static str, String) {
        let [desk, socket] = &self.there;
        (VARIABLE, format!("{},{}", desk.as_raw_fd(), socket.as_raw_fd()))
    }
}

/// What the simulator reports.
#[derive(Debug)]
pub enum Report {
    /// A PE has not called the library for long, so that virtual time stands still.
    Spins(u32),
    /// The run has come to its end.
    Ended(Box<Result<Summary, String>>),
}

/// What the simulator and the launcher share.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    reports: Mutex<Vec<Report>>,
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
    pub fn start(hardware: Hardware, seats: Vec<Seat>) -> Result<Self, StartError> {
        let failed = |errno| StartError::System {
            what: "start the simulator",
            errno,
        };
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (bell, ringer) = pipe_with(flags).map_err(failed)?;
        let shared = Arc::new(Shared::default());
        let simulator = Simulator {
            shared: Arc::clone(&shared),
            ringer,
        };
        let ends = seats.into_iter().map(|seat| (seat.desk, seat.socket));
        let ends: Vec<(Desk, OwnedFd)> = ends.collect();
        let thread = std::thread::Builder::new()
            .name("simulator".to_owned())
            .spawn(move || {
                let ran = simulator.run(&hardware, ends);
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

    /// When all PEs have ended: the reports since the last call, to the last one.
    pub fn finish(mut self) -> Vec<Report> {
        // With no PE left the run comes to its end.
        self.join();
        self.reports()
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // It reports by itself what went wrong.
            let _ = thread.join();
        }
    }

    /// The reports since the last call.
    pub fn reports(&self) -> Vec<Report> {
        let mut drained = [0; 64];
        while rustix::io::read(&self.bell, &mut drained).is_ok_and(|got| got > 0) {}
        std::mem::take(&mut self.shared.lock())
    }
}

/// The simulator ends soon after it is told to.
impl Drop for Model {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.join();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Report>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.shared.lock().push(report);
        // A full pipe rings already.
        let _ = rustix::io::write(&self.ringer, &[0]);
    }

    fn run(&self, hardware: &Hardware, ends: Vec<(Desk, OwnedFd)>) -> Result<Summary, String> {
        let said = |cause: &dyn std::fmt::Display| cause.to_string();
        let mut machine = Machine::new(hardware.plan.clone(), &OpteronConfig::shanghai())
            .map_err(|cause| said(&cause))?;
        firmware::boot_all(&mut machine).map_err(|cause| said(&cause))?;
        let pes = ends.len() as u32;
        let mut begun = Vec::new();
        for (pe, (desk, socket)) in (0..pes).zip(ends) {
            let stops = || self.shared.stops();
            let end = ModelEnd::wait_for(pe, pes, desk, socket, &stops);
            match end.map_err(|cause| said(&cause))? {
                Some(end) => begun.push(end),
                // It has ended without using the library; who waits for it will say so.
                None => return Ok(machine.sim.summary()),
            }
        }
        let named = Mutex::new(Vec::new());
        let until_stopped = || match self.shared.stops() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let turn = |pe, idle: Duration| {
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
        };
        match run_processes(&mut machine, &hardware.settings, begun, &watch) {
            Err(WireError::NoMemory { segment_bytes, memory_bytes, .. }) => Err(format!(
                "each PE has a segment of {segment_bytes} bytes, and the {memory_bytes} bytes of \
                 memory of a processor are too few; say less with --heap"
            )),
            ran => ran.map_err(|cause| said(&cause)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
