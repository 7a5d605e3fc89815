//! The points of an experiment one by one, for callers that run them in other
//! processes.

use std::io::Read;

use super::configuration::{FNV_BASIS, fnv1a};
use super::{Configuration, Experiment, Open};

impl Experiment {
    /// The same with only the points for which `keep` says so, given their places.
    pub fn only(&self, keep: impl Fn(usize) -> bool) -> Experiment {
        let points = self.points.iter().enumerate();
        let kept = points.filter(|(place, _)| keep(*place));
        Experiment {
            points: kept.map(|(_, point)| point.clone()).collect(),
            ..self.clone()
        }
    }

    /// The swept value of each point, as written; none without a sweep.
    pub fn labels(&self) -> impl Iterator<Item = Option<&str>> {
        self.points.iter().map(|point| point.label.as_deref())
    }

    /// The configuration of the first point, before any trace is read.
    pub fn first_configuration(&self) -> Option<&Configuration> {
        self.points.first().map(|point| &point.configuration)
    }

    /// The configuration in the result of each point, with the hash of its trace, which
    /// `open` opens.
    ///
    /// # Errors
    /// If a trace cannot be read.
    pub fn configurations(&self, open: Open<'_>) -> std::io::Result<Vec<Configuration>> {
        let mut known: Option<(&str, String)> = None;
        let mut configurations = Vec::new();
        for point in &self.points {
            let mut configuration = point.configuration.clone();
            if let Some(path) = point.workload.trace() {
                let hash = match known.take() {
                    Some((of, hash)) if of == path => hash,
                    _ => hash_of_all(open(path)?)?,
                };
                known = Some((path, hash.clone()));
                configuration.workload.set_trace_hash(Some(hash));
            }
            configurations.push(configuration);
        }
        Ok(configurations)
    }
}

fn hash_of_all(mut input: impl Read) -> std::io::Result<String> {
    let mut hash = FNV_BASIS;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match input.read(&mut buffer)? {
            0 => return Ok(format!("{hash:016x}")),
            length => hash = fnv1a(hash, buffer.get(..length).unwrap_or_default()),
        }
    }
}
