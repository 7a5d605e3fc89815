//! The last steps of a run, to find out why it failed.

use core::fmt;
use std::collections::VecDeque;

/// How many steps are kept.
const KEPT: usize = 60;

/// What a PE did to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Load,
    Store,
    Change,
    Flush,
    Sleep,
    Wake,
}

/// One access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) pe: usize,
    pub(super) what: What,
    pub(super) segment: usize,
    pub(super) offset_bytes: usize,
    pub(super) value: u64,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pe,
            what,
            segment,
            offset_bytes,
            value,
        } = self;
        write!(
            f,
            "PE {pe}: {what:?} at {offset_bytes:#x} of PE {segment}: {value:#x}"
        )
    }
}

/// The last steps of a run.
#[derive(Debug, Default)]
pub(super) struct Steps {
    last: VecDeque<Step>,
    pub(super) count: u64,
}

impl Steps {
    pub(super) fn note(&mut self, step: Step) {
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(step);
        self.count += 1;
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.last {
            writeln!(f, "  {step}")?;
        }
        Ok(())
    }
}
