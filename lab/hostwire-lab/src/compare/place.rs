//! What a program can run on: wires of this machine, and models.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::str::FromStr;

use hostwire::settings::WireName;
use tempfile::TempDir;

/// The places that are compared by default.
pub const USUAL: &str = "shm,udp,tccluster,htx,peach2,htea";

/// Models that need no file.
const MODELS: [(&str, &str); 4] = [
    ("tccluster", include_str!("../../clusters/four-boards.toml")),
    ("htx", include_str!("../../clusters/htx-switch.toml")),
    ("peach2", include_str!("../../clusters/peach2-ring.toml")),
    ("htea", include_str!("../../clusters/htea-eight.toml")),
];

/// Something that a program can run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Platform {
    /// A wire of this machine.
    Wire(WireName),
    /// A model that needs no file.
    Model {
        /// Its name.
        name: &'static str,
        /// The cluster file.
        text: &'static str,
    },
    /// A cluster file.
    File(PathBuf, String),
}

impl FromStr for Platform {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((name, text)) = MODELS.into_iter().find(|(name, _)| *name == text) {
            return Ok(Platform::Model { name, text });
        }
        let path = PathBuf::from(text);
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            return Ok(Platform::File(path, text.to_owned()));
        }
        let wire = WireName::ALL.into_iter().find(|wire| wire.name() == text);
        let models = MODELS.map(|(name, _)| name).join(", ");
        wire.map(Platform::Wire)
            .ok_or_else(|| format!("expected a wire such as shm or udp, {models}, or a file.toml"))
    }
}

impl Platform {
    /// As on the command line.
    pub fn name(&self) -> &str {
        match self {
            Platform::Wire(wire) => wire.name(),
            Platform::Model { name, .. } => name,
            Platform::File(_, text) => text,
        }
    }

    /// Whether its time is that of a model.
    pub fn is_model(&self) -> bool {
        !matches!(self, Platform::Wire(_))
    }

    /// Gives `hostwire run` the options for it. The returned folder is needed until the job ends.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn options(&self, command: &mut Command, compute: &str) -> Result<Option<TempDir>, String> {
        let mut on_cluster = |file: &PathBuf| {
            command.arg("--cluster").arg(file);
            command.arg(format!("--compute={compute}"));
        };
        match self {
            Platform::Wire(wire) => {
                command.arg(format!("--wire={}", wire.name()));
            }
            Platform::File(path, _) => on_cluster(path),
            Platform::Model { name, text } => {
                let failed = |error| format!("cannot write a cluster file: {error}");
                let folder = tempfile::tempdir().map_err(failed)?;
                let file = folder.path().join(format!("{name}.toml"));
                fs::write(&file, text).map_err(failed)?;
                on_cluster(&file);
                return Ok(Some(folder));
            }
        }
        Ok(None)
    }
}
