//! Runs: one PE at a time, each a coroutine, all decided by the seed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::door;
use super::machine::Machine;
use super::setting::Setting;
use super::wire::ModelWire;
use crate::conformance::Program;
use crate::coroutine::{self, Body, Coroutines, Resumed};
use crate::visibility::Visibility;
use crate::wire::Wire;

/// Enough for the PEs of any suite.
const STACK_BYTES: usize = 1 << 20;
/// On memory where doorbells need not wake a PE, sleepers wake by themselves once in so
/// many turns.
const TURNS_PER_LOOK: usize = 50;

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// How many accesses there were.
    pub steps: u64,
    /// How often all PEs slept and none had been rung.
    pub overslept: u64,
}

/// Ends the run of this thread, whatever happens.
struct InPlay;

impl Drop for InPlay {
    fn drop(&mut self) {
        door::set(None);
    }
}

/// Runs `program` once on each of `pes` PEs with segments of `segment_bytes` zeroed bytes.
///
/// # Panics
/// If the program panics on a PE, loads where it must not, or does not end: with the first
/// message. The seed and the last steps are printed.
pub fn run(setting: Setting, pes: u32, segment_bytes: usize, program: &Program<'_>) -> Outcome {
    let machine = Machine::new(setting, pes as usize, segment_bytes);
    assert!(door::set(Some(machine)).is_none(), "a run within a run");
    let in_play = InPlay;
    let wires: Vec<ModelWire> = (0..pes)
        .map(|pe| ModelWire::new(pe, pes, segment_bytes, setting.visibility))
        .collect::<Result<_, _>>()
        .expect("the windows of a run");
    let bodies: Vec<Body<'_>> = wires
        .into_iter()
        .map(|wire| {
            Box::new(move || {
                let number = wire.pe() as usize;
                program(Arc::new(wire));
                door::with(|machine| machine.pes[number].ended = true);
            }) as Body<'_>
        })
        .collect();
    let played = catch_unwind(AssertUnwindSafe(|| {
        coroutine::scope(STACK_BYTES, bodies, |mut all| {
            let drive = catch_unwind(AssertUnwindSafe(|| play(&mut all, pes as usize)));
            // Before the other PEs are unwound, because that adds steps.
            drive.unwrap_or_else(|cause| {
                tell(&setting);
                resume_unwind(cause)
            });
        })
        .expect("the stacks of a run");
    }));
    let outcome = door::with(|machine| Outcome {
        steps: machine.steps.count,
        overslept: machine.overslept,
    });
    drop(in_play);
    match (played, outcome) {
        (Ok(()), Some(outcome)) => outcome,
        (Err(cause), _) => resume_unwind(cause),
        (Ok(()), None) => unreachable!("the machine of a run is there until it ends"),
    }
}

/// Lets the PEs take turns until all have ended.
fn play(all: &mut Coroutines<'_>, pes: usize) {
    let mut running: Vec<usize> = (0..pes).collect();
    while !running.is_empty() {
        let next = door::with(|machine| next(machine, &running)).flatten();
        let Some(pe) = next else { continue };
        door::run(pe);
        if all.resume(pe) == Resumed::Ended {
            running.retain(|other| *other != pe);
        }
    }
}

/// The PE whose turn it is, of those that have not ended. `None` if time had to pass
/// first.
fn next(machine: &mut Machine, running: &[usize]) -> Option<usize> {
    let awake = |machine: &Machine| -> Vec<usize> {
        let awake = running
            .iter()
            .filter(|pe| machine.pes[**pe].asleep.is_none());
        awake.copied().collect()
    };
    let able = awake(machine);
    if able.is_empty() {
        machine.steps.count += 1;
        // First all stores under way arrive. Then the sleeps time out.
        if !machine.settle() {
            machine.overslept += 1;
            let over = machine.overslept > machine.setting.steps_max / 100;
            assert!(!over, "all PEs sleep for ever");
            for pe in running {
                machine.pes[*pe].asleep = None;
            }
        }
        return None;
    }
    if !machine.one_host() && machine.dice.one_in(TURNS_PER_LOOK) {
        let sleeper = machine.dice.pick(running);
        machine.pes[sleeper].asleep = None;
        return Some(sleeper);
    }
    Some(machine.dice.pick(&able))
}

/// Prints how to repeat the failure.
#[expect(clippy::print_stderr, reason = "the report of a test that fails")]
fn tell(setting: &Setting) {
    let test = std::thread::current().name().unwrap_or("?").to_owned();
    door::with(|machine| {
        eprintln!(
            "{test}: {:?}, seed {}: {:?}, {}; the last of {} steps:\n{}\
             Again: HOSTWIRE_MODEL_SEED={} scripts/model.sh {test}",
            setting.visibility,
            setting.seed,
            setting.processor(),
            machine.temper.name,
            machine.steps.count,
            machine.steps,
            setting.seed,
        );
    });
}

/// Runs `program` for the first `seeds` seeds, for as many as `HOSTWIRE_MODEL_SEEDS` says,
/// or for the one that `HOSTWIRE_MODEL_SEED` names. Returns the results.
///
/// # Panics
/// As [`run`].
pub fn explore(
    visibility: Visibility,
    seeds: u64,
    pes: u32,
    segment_bytes: usize,
    program: &Program<'_>,
) -> Vec<Outcome> {
    chosen(seeds)
        .map(|seed| {
            let setting = Setting::new(visibility, seed);
            run(setting, pes, segment_bytes, program)
        })
        .collect()
}

/// The seeds of a test that wants `seeds` of them.
pub fn chosen(seeds: u64) -> core::ops::Range<u64> {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse().expect("a number of a seed, or of seeds"))
    };
    match number("HOSTWIRE_MODEL_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("HOSTWIRE_MODEL_SEEDS").unwrap_or(seeds),
    }
}
