//! A folder of results: a file per configuration, named by its hash, in the form of
//! `--json`. Files appear whole or not at all, so that several processes and hosts may
//! share the folder, and an interrupted sweep can go on.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hostwire_cli::file;
use hostwire_sim::experiments::file::{Bucket, FlowUse, Metric, Outcome, RegionUse, RunFigures};
use hostwire_sim::experiments::htoe::Bottleneck;
use hostwire_sim::experiments::link_use::LinkUse;
use serde::Deserialize;

/// A result of a cluster with many links is some hundred KiB.
const BYTES_MAX: u64 = 256 << 20;

pub struct Results {
    folder: PathBuf,
}

/// The state of a configuration's result.
pub enum Found {
    Result(Box<Kept>),
    /// A result of another version of hostwire.
    OtherVersion,
    Nothing,
}

/// The result.
#[derive(Debug, Deserialize)]
pub struct Kept {
    pub configuration_hash: String,
    pub metrics: Vec<Metric>,
    #[serde(default)]
    pub links: Vec<LinkUse>,
    #[serde(default)]
    pub regions: Vec<RegionUse>,
    #[serde(default)]
    pub bottlenecks: Vec<Bottleneck>,
    #[serde(default)]
    pub hints: Vec<String>,
    #[serde(default)]
    pub flows: Vec<FlowUse>,
    #[serde(default)]
    pub histogram: Vec<Bucket>,
    pub run: RunFigures,
}

#[derive(Deserialize)]
struct KeptOutcome<R> {
    version: String,
    results: Vec<R>,
}

impl Results {
    /// The folder, which is created if it does not exist.
    pub fn open(folder: &Path) -> Result<Results, String> {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(Results {
            folder: folder.to_owned(),
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The result of a configuration, if there is one.
    pub fn find(&self, hash: &str) -> Result<Found, String> {
        let path = self.path(hash);
        let mut bytes = Vec::new();
        let read =
            fs::File::open(&path).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes));
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
            Ok(_) => {}
        }
        let none = |why: &str| {
            let path = path.display();
            format!("{path} is no result of this configuration ({why}); remove it to run it again")
        };
        // Of another version, the measurements may have another form.
        let any: KeptOutcome<serde::de::IgnoredAny> =
            serde_json::from_slice(&bytes).map_err(|error| none(&error.to_string()))?;
        if any.version != env!("CARGO_PKG_VERSION") {
            return Ok(Found::OtherVersion);
        }
        let outcome: KeptOutcome<Kept> =
            serde_json::from_slice(&bytes).map_err(|error| none(&error.to_string()))?;
        match <[Kept; 1]>::try_from(outcome.results) {
            Ok([kept]) if kept.configuration_hash == hash => Ok(Found::Result(Box::new(kept))),
            Ok([kept]) => Err(none(&format!("it is of {}", kept.configuration_hash))),
            Err(others) => Err(none(&format!("it has {} results", others.len()))),
        }
    }

    /// Keeps the outcome of one point.
    pub fn keep(&self, hash: &str, outcome: &Outcome) -> Result<(), String> {
        let path = self.path(hash);
        let json = serde_json::to_vec_pretty(outcome)
            .map_err(|error| format!("cannot form JSON: {error}"))?;
        file::write_whole(&path, &json)
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.folder.join(format!("{hash}.json"))
    }
}
