//! Programs of experiments: `hostwire run --cluster` runs them, as a process of its own.

use std::process::Command;

use hostwire_sim::experiments::file::{Monitor, Program, ProgramRan};

use crate::metrics;
use crate::recorded::Recorded;

use super::Args;

/// Runs `program` on the hardware of the point at `place`, until `monitor` is cancelled, and records
/// it there.
///
/// # Errors
/// A sentence that says what went wrong, with what the program said.
pub fn launch(
    args: &Args,
    recorded: &Recorded,
    monitor: &Monitor,
    (place, program): (usize, &Program),
) -> Result<ProgramRan, String> {
    let name = program.program.join(" ");
    let failed = |why: &dyn std::fmt::Display| format!("cannot run {name}: {why}");
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let figures = folder.path().join("figures.json");
    let mut command = Command::new(std::env::current_exe().map_err(|error| failed(&error))?);
    command.arg("run").arg("--cluster").arg(&args.file);
    command.arg(format!("--point={place}"));
    if let Some(sweep) = &args.sweep {
        command.arg(format!("--swept={sweep}"));
    }
    command.arg("--figures").arg(&figures);
    command.arg(format!("-n{}", program.pes));
    command.arg(format!("--compute={}", program.compute));
    if let Some(heap_bytes) = program.heap_bytes {
        command.arg(format!("--heap={heap_bytes}"));
    }
    if !program.place.is_empty() {
        command.arg(format!("--place={}", program.place.join(",")));
    }
    command.args(recorded.arguments());
    command.arg("--").args(&program.program);
    let printed = metrics::printed(&mut command, &|| monitor.is_cancelled());
    let printed = printed.map_err(|why| format!("{name}: {why}"))?;
    let json = std::fs::read(&figures).map_err(|error| failed(&error))?;
    let mut ran: ProgramRan = serde_json::from_slice(&json).map_err(|error| failed(&error))?;
    ran.metrics = metrics::of(&printed);
    Ok(ran)
}
