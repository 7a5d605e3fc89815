//! The suites on modelled memory.

use super::run::{chosen, run};
use super::setting::Setting;
use crate::conformance::{Program, Testbed};
use crate::visibility::Visibility;

/// PEs are coroutines and the wire is modelled: every program is run with several seeds.
#[derive(Debug, Clone, Copy)]
pub struct Modelled {
    /// The contract.
    pub visibility: Visibility,
    /// How many seeds, unless the environment says so: see [`explore`](super::explore).
    pub seeds: u64,
    /// Steps after which a run counts as endless.
    pub steps_max: u64,
}

impl Testbed for Modelled {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        for seed in chosen(self.seeds) {
            let setting = Setting {
                steps_max: self.steps_max,
                ..Setting::new(self.visibility, seed)
            };
            run(setting, pes, segment_bytes, program);
        }
    }
}
