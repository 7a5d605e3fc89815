//! `hostwire run --cluster`: the simulator of a job's hardware.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hostwire::Nodes;
use hostwire_cli::file::write_whole;
use hostwire_cli::run::StartError;
use hostwire_cli::run::virtual_time::{self, Launcher, Options, Seat};
use hostwire_sim::engine::{Ps, Summary};
use hostwire_sim::experiments::file::{self, Built, ProgramRan, RunFigures};
use hostwire_sim::record::Recording;
use hostwire_sim::wire::{Settings, Takes, Watch, WireError, run_processes};
use hostwire_virtual::Begun;

use crate::links;
use crate::recorded::Recorded;

/// After this time without a call of the library, a PE is named.
const SPINS_AFTER: Duration = Duration::from_secs(1);

/// All models of the simulator.
pub struct Models;

impl virtual_time::Models for Models {
    fn hardware(
        &self,
        cluster: &Path,
        options: &Options,
        pes: u32,
        heap_bytes: Option<usize>,
    ) -> Result<Box<dyn virtual_time::Hardware>, StartError> {
        let hardware = Hardware::new(cluster, options, pes, heap_bytes)?;
        Ok(Box::new(hardware))
    }
}

/// Hardware that a job can run on.
#[derive(Debug)]
pub struct Hardware {
    pub models: file::Hardware,
    pub settings: Settings,
    pub recorded: Recorded,
    figures: Option<PathBuf>,
    /// The heap of each PE, if the launcher knows it.
    heap_bytes: Option<usize>,
    /// See [`room_bytes`](virtual_time::Hardware::room_bytes).
    room_bytes: u64,
    /// Which PEs share a node.
    pub hosts: Nodes,
}

impl Hardware {
    /// What the file and the options say for `pes` PEs.
    ///
    /// # Errors
    /// [`StartError::Cluster`] or [`StartError::Place`].
    pub fn new(
        file: &Path,
        options: &Options,
        pes: u32,
        heap_bytes: Option<usize>,
    ) -> Result<Self, StartError> {
        let models = read(options, file)?;
        let failed = |cause: &dyn std::fmt::Display| StartError::Cluster(cause.to_string());
        let all = models.places().map_err(|cause| failed(&cause))?;
        let names: Vec<&str> = all.iter().map(|place| place.name.as_str()).collect();
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
        settings.until = options.until.map(Ps);
        let memories: Vec<u64> = all.iter().map(|place| place.memory_bytes).collect();
        let room_bytes = settings.room_bytes(&memories);
        let hosts = hosts(&settings, &names);
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
        Ok(Self {
            models,
            settings,
            recorded,
            figures: options.figures.clone(),
            heap_bytes,
            room_bytes,
            hosts,
        })
    }

    fn run_on(
        &self,
        launcher: &Launcher,
        built: &mut Built,
        begun: Vec<Begun>,
        recording: Option<&Recording>,
    ) -> Result<Summary, String> {
        let named = Mutex::new(Vec::new());
        let until_stopped = || match launcher.stops() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let turn = |pe, now: Ps, idle: Duration| {
            launcher.pass_output(pe, now.0, false);
            let mut named = named.lock().unwrap_or_else(PoisonError::into_inner);
            if idle >= SPINS_AFTER && !named.contains(&pe) {
                named.push(pe);
                launcher.say_that_it_spins(pe);
            }
            until_stopped()
        };
        let watch = Watch {
            run: &|_| until_stopped(),
            turn: &turn,
            handed_over: &|pe, now: Ps, takes| {
                launcher.pass_output(pe, now.0, takes == Takes::Leave)
            },
            recording,
        };
        match run_processes(
            built.platform(),
            &self.settings,
            (begun, self.models.calls()),
            &watch,
        ) {
            Err(WireError::NoMemory {
                segment_bytes,
                memory_bytes,
                fits_bytes,
                ..
            }) => Err(too_large(
                (segment_bytes as u64, memory_bytes, fits_bytes),
                self.heap_bytes.map(|bytes| bytes as u64),
            )),
            ran => ran.map_err(|cause| cause.to_string()),
        }
    }
}

impl virtual_time::Hardware for Hardware {
    fn room_bytes(&self) -> u64 {
        self.room_bytes
    }

    fn run(&mut self, seats: Vec<Seat>, launcher: &Launcher) -> Result<Vec<String>, String> {
        let said = |cause: &dyn std::fmt::Display| cause.to_string();
        let mut built = self.models.build().map_err(|cause| said(&cause))?;
        let pes = seats.len() as u32;
        let mut begun = Vec::new();
        for (pe, seat) in (0..pes).zip(seats) {
            let stops = || launcher.stops();
            let end = seat.wait_for((pe, pes), &stops);
            match end.map_err(|cause| said(&cause))? {
                Some(end) => begun.push(end),
                // It has ended without using the library. PEs that wait for it will report that.
                None => {
                    if self.recorded.is_wanted() {
                        let why = format!("nothing is recorded: PE {pe} has not joined the job");
                        launcher.say_unwritten(Err(why));
                    }
                    return Ok(vec![said_of(&built.summary())]);
                }
            }
        }
        let recording = self.recorded.begin();
        if let Some(recording) = &recording {
            built.record(recording).map_err(|cause| said(&cause))?;
        }
        let links = built.watch_links();
        launcher.open_outputs();
        let ran = self.run_on(launcher, &mut built, begun, recording.as_ref());
        // A recording is most useful if the run failed.
        let written = recording.map_or(Ok(()), |all| self.recorded.write(&all));
        launcher.say_unwritten(written);
        let summary = ran?;
        let links = built.links(&links, summary.virtual_time);
        let mut lines = vec![said_of(&summary)];
        lines.extend(links::lines(&links));
        if let Some(path) = &self.figures {
            let figures = ProgramRan {
                metrics: Vec::new(),
                links,
                run: RunFigures::of(&[summary]),
            };
            let json = serde_json::to_vec(&figures).map_err(|error| error.to_string())?;
            launcher.say_unwritten(write_whole(path, &json));
        }
        Ok(lines)
    }
}

/// The cost of a run, for `--stats`.
pub fn said_of(summary: &Summary) -> String {
    format!("virtual time: {summary}")
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
    let swept = options.swept.as_deref().map(str::parse).transpose();
    let swept = swept.map_err(|why| failed(format!("--swept: {why}")))?;
    let experiment = file::read_swept(&name, &bytes, swept.as_ref(), &load);
    let experiment = experiment.map_err(|bad| failed(bad.to_string()))?;
    let hardware = experiment.hardware(point);
    hardware.ok_or_else(|| failed(format!("{name} has no program at point {point}")))
}

/// Which PEs share a node: processors of a node have its name before a dot.
fn hosts(settings: &Settings, names: &[&str]) -> Nodes {
    let mut numbers = BTreeMap::new();
    let numbers: Vec<u32> = names
        .iter()
        .map(|name| {
            let next = numbers.len() as u32;
            let node = name.split('.').next().unwrap_or_default();
            *numbers.entry(node).or_insert(next)
        })
        .collect();
    let of = |socket: &usize| numbers.get(*socket).copied().unwrap_or(0);
    Nodes::numbered(settings.sockets.iter().map(of))
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

const LARGE_PAGE_BYTES: u64 = 2 << 20;

/// The error text for segments that are too large for the memory of a processor. Segments of `fits_bytes` would fit.
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

    /// A file takes the same values as an option, with the same meaning.
    #[test]
    fn files_have_sizes_as_options_do() {
        let option = |text: &str| hostwire::settings::parse_bytes(text).ok();
        let file = |text: &str| hostwire_plan::file::SIZE.parse(text).ok();
        for suffix in "K k KiB M m MiB G g GiB T t TiB B".split(' ') {
            let text = format!("3{suffix}");
            let bytes = option(&text).map(|bytes| bytes as u64);
            assert!(bytes.is_some() && bytes == file(&text), "{text}");
        }
        for text in ["3KB", "3MB", "3Mi", "3MIB", "M", "3x", "-3M"] {
            assert_eq!((option(text), file(text)), (None, None), "{text}");
        }
    }

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
