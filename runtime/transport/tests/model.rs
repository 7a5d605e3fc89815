//! The protocols on modelled memory: see `hostwire_transport::model`. Run by
//! `scripts/model.sh`; in other builds there is nothing here.

#![cfg(memory_model)]

#[path = "model/conformance.rs"]
mod conformance;
#[path = "model/flags.rs"]
mod flags;
#[path = "model/memory.rs"]
mod memory;
#[path = "model/rings.rs"]
mod rings;
#[path = "model/sleep.rs"]
mod sleep;

use std::sync::Arc;

use hostwire_transport::model::{Outcome, explore};
use hostwire_transport::window::FIRST_FREE_OFFSET_BYTES;
use hostwire_transport::{Visibility, Window, Wire};

/// Seeds of each test, unless `HOSTWIRE_MODEL_SEEDS` says so.
const SEEDS: u64 = 240;
const SEGMENT_BYTES: usize = FIRST_FREE_OFFSET_BYTES + 4096;
/// What the tests may use.
const AREA: usize = FIRST_FREE_OFFSET_BYTES;

/// Both PEs run the program over windows of one contract, for all seeds.
fn two(visibility: Visibility, program: impl Fn(Arc<dyn Wire>) + Sync) -> Vec<Outcome> {
    explore(visibility, SEEDS, 2, SEGMENT_BYTES, &program)
}

/// The window of a PE onto the segment of another.
fn window(wire: &dyn Wire, pe: u32) -> Window {
    wire.route(pe).unwrap().window().unwrap().clone()
}

/// Waits until the own word is at least `least`.
fn until(wire: &dyn Wire, offset_bytes: usize, least: u64) -> u64 {
    loop {
        let seen = wire.segment().load_word(offset_bytes).unwrap();
        if seen >= least {
            return seen;
        }
    }
}

/// A test of each contract.
macro_rules! on_every_contract {
    ($($test:ident,)*) => {
        mod coherent {
            $(#[test]
            fn $test() {
                super::$test(hostwire_transport::Visibility::Coherent);
            })*
        }
        mod write_combining {
            $(#[test]
            fn $test() {
                super::$test(hostwire_transport::Visibility::WriteCombining);
            })*
        }
        mod flushed {
            $(#[test]
            fn $test() {
                super::$test(hostwire_transport::Visibility::Flushed);
            })*
        }
    };
}
use on_every_contract;
