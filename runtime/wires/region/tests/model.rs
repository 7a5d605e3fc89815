//! The tables of a region on modelled memory: see `hostwire_transport::model`. Run by `scripts/model.sh`;
//! in other builds there is nothing here. Not with write-combining windows: the tables need loads, which
//! modelled memory does not allow there.

#![cfg(memory_model)]

use std::sync::Arc;

use hostwire_region::model;
use hostwire_transport::model::explore;
use hostwire_transport::{Visibility, Wire};

/// Seeds of each test, unless `HOSTWIRE_MODEL_SEEDS` says so.
const SEEDS: u64 = 240;

fn on_each(program: impl Fn(&dyn Wire) + Sync) {
    for contract in [Visibility::Coherent, Visibility::Flushed] {
        let program = |wire: Arc<dyn Wire>| program(&*wire);
        explore(contract, SEEDS, 2, model::SEGMENT_BYTES, &program);
    }
}

#[test]
fn jobs_come_and_go() {
    on_each(model::jobs_come_and_go);
}

#[test]
fn two_kernels_that_ask_at_once_get_two_numbers() {
    on_each(model::kernels_ask_at_once);
}

#[test]
fn two_jobs_that_begin_at_once_have_nothing_in_common() {
    on_each(|wire| model::jobs_begin_at_once(wire, 2));
}

#[test]
fn of_two_jobs_that_want_the_last_units_one_begins() {
    on_each(|wire| model::jobs_begin_at_once(wire, 1));
}

#[test]
fn a_place_is_seen_as_that_of_one_job_while_it_changes() {
    on_each(model::places_change_while_they_are_read);
}
