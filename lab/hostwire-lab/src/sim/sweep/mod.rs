//! Sweeps: points in processes of their own, whose results are kept.
//!
//! | file | |
//! |---|---|
//! | [`results`] | a folder with a file per point, by the hash of its configuration |
//! | [`workers`] | processes that run points |

mod results;
mod workers;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hostwire_sim::experiments::file::{
    Configuration, Experiment, Monitor, Outcome, RunResult, Surroundings,
};

use crate::recorded::Recorded;

use super::launch;
use super::part::Part;
use super::{Args, BAD_INPUT, BAD_OUTPUT, Failure, INTERRUPTED, Watch, failure, open_beside};
use results::{Found, Kept, Results};
use workers::Ran;

/// Runs all points without a result, and returns the results of all points.
pub fn run(args: &Args, experiment: &Experiment) -> Result<Outcome, Failure> {
    if experiment.sweep().is_none() {
        let why = "--jobs, --results and --part are for sweeps: add --sweep KEY=FROM..TO";
        return Err(failure(BAD_INPUT, why));
    }
    if args.file == Path::new("-") {
        let why =
            "a sweep starts processes that read the file again: give it as a path, not as `-`";
        return Err(failure(BAD_INPUT, why));
    }
    let whole = Part::default();
    let part = args.part.unwrap_or(whole);
    let places: Vec<usize> = (0..experiment.points())
        .filter(|place| part.has(*place))
        .collect();
    let configurations = experiment
        .configurations(&open_beside(&args.file))
        .map_err(|error| failure(BAD_INPUT, &format!("cannot read the trace: {error}")))?;
    let folder = args.results.clone().unwrap_or_else(|| folder(&args.file));
    let results = Results::open(&folder).map_err(|why| failure(BAD_OUTPUT, &why))?;
    let sweep = Sweep {
        args,
        experiment,
        configurations,
        results,
    };
    if args.worker {
        sweep.run_here(&places)?;
    } else {
        sweep.run_in_workers(&places)?;
    }
    sweep.outcome(&places)
}

/// The default folder of the results, in the current folder.
fn folder(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or(file.as_os_str());
    let mut name = stem.to_os_string();
    name.push(".sweep");
    PathBuf::from(name)
}

struct Sweep<'a> {
    args: &'a Args,
    experiment: &'a Experiment,
    configurations: Vec<Configuration>,
    results: Results,
}

impl Sweep<'_> {
    fn hash(&self, place: usize) -> String {
        let configuration = self.configurations.get(place);
        configuration.map(Configuration::hash).unwrap_or_default()
    }

    /// The places without a result, each configuration once.
    fn missing(&self, places: &[usize]) -> Result<Vec<usize>, Failure> {
        let mut hashes = Vec::new();
        let mut missing = Vec::new();
        for place in places {
            let hash = self.hash(*place);
            if hashes.contains(&hash) {
                continue;
            }
            match self.results.find(&hash) {
                Ok(Found::Result(_)) => {}
                Ok(Found::OtherVersion | Found::Nothing) => missing.push(*place),
                Err(why) => return Err(failure(BAD_INPUT, &why)),
            }
            hashes.push(hash);
        }
        Ok(missing)
    }

    /// A worker: one process, which ends when its starter ends.
    fn run_here(&self, places: &[usize]) -> Result<(), Failure> {
        let monitor = Arc::new(Monitor::default());
        let of_thread = Arc::clone(&monitor);
        std::thread::spawn(move || {
            // Nothing is ever written there: this read ends when the starter ends.
            let _ = std::io::stdin().read(&mut [0]);
            of_thread.cancel();
        });
        let watch = Watch::new(Arc::clone(&monitor));
        let surroundings = Surroundings {
            open: &open_beside(&self.args.file),
            launch: &|place, program| {
                let nothing = Recorded::default();
                launch::launch(self.args, &nothing, &monitor, (place, program))
            },
        };
        for place in self.missing(places)? {
            let point = self.experiment.only(|other| other == place);
            let outcome = point
                .run_with(&monitor, None, surroundings)
                .map_err(|error| super::did_not_end(&self.args.file, &error))?;
            self.results
                .keep(&self.hash(place), &outcome)
                .map_err(|why| failure(BAD_OUTPUT, &why))?;
        }
        drop(watch);
        Ok(())
    }

    fn run_in_workers(&self, places: &[usize]) -> Result<(), Failure> {
        let missing = self.missing(places)?;
        if missing.is_empty() {
            return Ok(());
        }
        let interrupted = Watch::signals();
        let jobs = self
            .args
            .jobs
            .map_or_else(cores, |jobs| usize::from(jobs.get()));
        let kept = places.len() - missing.len();
        let start = |place| workers::command(self.args, &self.results, self.part_of(place));
        let ran = workers::run(start, &missing, jobs, kept, &interrupted)
            .map_err(|why| failure(BAD_OUTPUT, &why))?;
        self.judge(places, ran, &interrupted)
    }

    /// The part that is one place.
    fn part_of(&self, place: usize) -> Part {
        Part::one(place, self.experiment.points())
    }

    fn judge(
        &self,
        places: &[usize],
        ran: Vec<(usize, Ran)>,
        interrupted: &AtomicBool,
    ) -> Result<(), Failure> {
        let failed = |ran: &Ran| !ran.status.success();
        if interrupted.load(Ordering::Relaxed) {
            let left = self.missing(places)?.len();
            let why = format!(
                "interrupted: {} of {} points are kept in {}; the same command goes on from there",
                places.len().saturating_sub(left),
                places.len(),
                self.results.folder().display()
            );
            return Err(failure(INTERRUPTED, &why));
        }
        let labels: Vec<_> = self.experiment.labels().collect();
        let mut count = 0;
        let mut status = 0;
        for (place, ran) in ran.iter().filter(|(_, ran)| failed(ran)) {
            let label = labels.get(*place).copied().flatten().unwrap_or_default();
            let said = ran.said.trim_end();
            let said = if said.is_empty() {
                format!("hostwire sim: the process ended with {}", ran.status)
            } else {
                said.to_owned()
            };
            // If standard error is closed, the message is lost.
            let _ = writeln!(std::io::stderr(), "at {label}: {said}");
            count += 1;
            let own = ran.status.code().and_then(|code| u8::try_from(code).ok());
            status = status.max(own.unwrap_or(BAD_INPUT));
        }
        if count == 0 {
            return Ok(());
        }
        let why = format!(
            "{count} of {} points failed; the others are kept in {}",
            places.len(),
            self.results.folder().display()
        );
        Err(failure(status, &why))
    }

    fn outcome(&self, places: &[usize]) -> Result<Outcome, Failure> {
        let labels: Vec<_> = self.experiment.labels().collect();
        let mut results = Vec::new();
        for place in places {
            let hash = self.hash(*place);
            let (Ok(Found::Result(kept)), Some(configuration)) =
                (self.results.find(&hash), self.configurations.get(*place))
            else {
                let why = format!(
                    "there is no result {hash} in {}: did a file change meanwhile?",
                    self.results.folder().display()
                );
                return Err(failure(BAD_INPUT, &why));
            };
            let Kept {
                metrics,
                links,
                regions,
                bottlenecks,
                hints,
                flows,
                histogram,
                run,
                ..
            } = *kept;
            results.push(RunResult {
                value: labels.get(*place).copied().flatten().map(str::to_owned),
                configuration_hash: hash,
                seed: configuration.seed(),
                configuration: configuration.clone(),
                metrics,
                links,
                regions,
                bottlenecks,
                hints,
                flows,
                histogram,
                run,
            });
        }
        Ok(Outcome {
            version: env!("CARGO_PKG_VERSION"),
            title: self.experiment.title().to_owned(),
            sweep: self.experiment.sweep().map(str::to_owned),
            results,
            // Each point was a process of its own.
            peak_memory_bytes: None,
        })
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
