//! A workload that is a program of somebody else: it runs as processes on the modelled cluster.
//!
//! This crate starts no processes. The caller starts the program, with the hardware of the point.

use hostwire_plan::Diagnostic;
use hostwire_plan::file::{Findings, SIZE, Section, span_of};
use serde::{Deserialize, Serialize};
use toml::de::DeValue;

use crate::experiments::ExperimentError;
use crate::experiments::link_use::LinkUse;

use super::Launch;
use super::outcome::{Metric, RunFigures};
use super::run::{Measured, metric};
use super::workload::Workload;

const PES_MAX: u64 = 4_096;

/// A program to be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// The program and its arguments.
    pub program: Vec<String>,
    /// How many PEs.
    pub pes: u32,
    /// Heap of each, if not the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_bytes: Option<u64>,
    /// The processor of each PE; empty: as `hostwire run` chooses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub place: Vec<String>,
    /// How long computing takes, as `hostwire run` has it.
    pub compute: String,
}

/// What a program did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramRan {
    /// What it printed of itself: lines `NAME: VALUE UNIT`.
    pub metrics: Vec<Metric>,
    /// The directions of links that it used.
    pub links: Vec<LinkUse>,
    /// The cost of the run.
    pub run: RunFigures,
}

/// Reads `program`.
pub(super) fn read(section: &mut Section<'_>, out: &mut Findings) -> Option<Workload> {
    for (key, example) in [("program", "[\"./hello\"]"), ("pes", "2")] {
        if !section.has(key) {
            section.missing(key, example, out);
        }
    }
    let program = texts(
        section,
        "program",
        "[\"./gups\", \"--log2-words\", \"16\"]",
        out,
    );
    let pes = section.count("pes", 1, PES_MAX, out);
    let heap = section.quantity("heap", &SIZE, out);
    let place = texts(section, "place", "[\"left\", \"right\"]", out);
    let compute = section.text("compute", "\"zero\"", out);
    let program = program.filter(|program| !program.is_empty())?;
    Some(Workload::Program(Program {
        program,
        pes: pes?.value as u32,
        heap_bytes: heap.map(|heap| heap.value),
        place: place.unwrap_or_default(),
        compute: compute.map_or("zero", |compute| compute.value).to_owned(),
    }))
}

/// A list of strings.
fn texts(
    section: &mut Section<'_>,
    key: &'static str,
    example: &str,
    out: &mut Findings,
) -> Option<Vec<String>> {
    let value = section.value(key)?;
    let list = value.get_ref().as_array();
    let texts = list.and_then(|list| {
        let texts = list.iter().map(|item| match item.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            _ => None,
        });
        texts.collect::<Option<Vec<String>>>()
    });
    if texts.is_none() {
        out.push(
            Diagnostic::error("type", format!("`{key}` is not a list of strings"))
                .label(span_of(value), format!("expected {example}"))
                .help(format!("write `{key} = {example}`")),
        );
    }
    texts
}

/// Has it run as the point at `place`.
pub(super) fn run(
    program: &Program,
    place: usize,
    launch: Launch<'_>,
) -> Result<(Measured, RunFigures), ExperimentError> {
    let ran = launch(place, program).map_err(ExperimentError::Started)?;
    let mut metrics = vec![metric("time", ran.run.virtual_time_ns, "ns")];
    metrics.extend(ran.metrics);
    let measured = Measured {
        metrics,
        links: ran.links,
        ..Measured::default()
    };
    Ok((measured, ran.run))
}
