//! `hostwire run`: starts the PEs of a job, here or on other hosts, and looks after them.
//!
//! | file | |
//! |---|---|
//! | [`args`], [`given`], [`names`], [`parse`] | the command line, and variables that stand for it |
//! | [`plan`], [`start_error`] | what would be started, checked before anything is |
//! | [`front`] | what is put before the program: a command, a debugger |
//! | [`crew`], [`spawn`], [`pes`], [`pipe`] | one process per PE |
//! | [`hosts`], [`starter`], [`copies`] | both ends of the connections to other hosts; what is copied over them |
//! | [`job`] | the loop: signals, sockets, output, deadlines |
//! | [`pmi_server`] | PMI-1, bytes in and bytes out |
//! | [`virtual_time`] | what runs on modelled hardware: its options, its clocks, its simulator |
//! | [`output`] | lines of many PEs into one stream |
//! | [`strays`], [`warden`], [`mark`] | nothing stays, however the launcher ends |
//! | [`suspects`], [`dying`] | which of several failures led to the others |
//! | [`outcome`], [`core_file`] | how it ended, in words and as an exit status; where a crash is to be seen |

mod args;
mod bind;
mod board;
mod copies;
mod core_file;
mod counters;
mod crew;
mod dying;
mod front;
mod given;
mod hosts;
mod job;
mod limits;
mod mark;
mod names;
mod outcome;
mod output;
mod parse;
mod pes;
mod pipe;
mod plan;
mod pmi_server;
mod program;
mod signals;
mod spawn;
mod ssh;
mod start_error;
pub mod starter;
mod stdin;
pub mod strays;
mod suspects;
pub mod virtual_time;
pub mod warden;

use std::process::ExitCode;

/// What other commands that start a job need.
pub mod job_parts {
    pub use super::mark::Mark;
    pub use super::pmi_server::{Effect, Server};
    pub use super::warden::Warden;
}

pub use args::Args;
pub use given::wire_parser;
use hostwire::settings::{INSECURE_WIRE, INSECURE_WIRE_WARNING, WireName, misspelt};
pub use names::{HostNames, parse_on, read_hostfile};
pub use parse::{duration as parse_duration, pes_of_host as parse_pes_of_host, size as parse_size};
pub use program::OWN as OWN_PROGRAM;
pub use signals::is_ignored_here;
pub use start_error::StartError;
use virtual_time::Models;

use crate::{USAGE_STATUS, laboratory, report};

/// Runs the job that `args` describe, to its end. On modelled hardware, the program of the laboratory does it.
pub fn main(args: &Args) -> ExitCode {
    match args.model.cluster {
        Some(_) => laboratory::start("run --cluster"),
        None => run(args, None),
    }
}

/// [`main`] of the program that has the models.
pub fn main_with(args: &Args, models: &dyn Models) -> ExitCode {
    run(args, Some(models))
}

fn run(args: &Args, models: Option<&dyn Models>) -> ExitCode {
    for sentence in misspelt() {
        report::line(&format!("warning: {sentence}"));
    }
    let started = plan::Plan::new(args, models).and_then(|plan| {
        if let Some(reason) = insecure_by(args, &plan) {
            report::line(&format!("warning: {reason}: {INSECURE_WIRE_WARNING}"));
        }
        if let Some(library) = program::open_mpi(&plan.program).filter(|_| plan.pes > 1) {
            report::line(&format!(
                "warning: {} is built with Open MPI ({library}), which does not find this job: each PE \
                 will be a job of one; start it with mpirun -n {}, or build it with MPICH",
                plan.name(),
                plan.pes
            ));
        }
        if plan.virtual_time.is_some() && !virtual_time::is_dynamic(&plan.program) {
            report::line(&format!(
                "warning: {} is linked statically: its clocks show real time, and its sleeps take \
                 real time; link it with the C library as a shared one",
                plan.name()
            ));
        }
        job::Job::start(plan)
    });
    match started {
        Ok(job) => job.run(),
        Err(error) => {
            report::line(&error.to_string());
            ExitCode::from(USAGE_STATUS)
        }
    }
}

/// The reason why frames of this job are not encrypted, if they are not.
fn insecure_by(args: &Args, plan: &plan::Plan) -> Option<String> {
    let settings = &plan.settings;
    let named = settings.wire.named();
    let has_hosts = plan.has_hosts() || named.is_some_and(WireName::is_network);
    let is_insecure = settings.insecure_wire && has_hosts;
    let by = args.settings.name_of(&INSECURE_WIRE);
    is_insecure.then(|| match args.settings.has(&INSECURE_WIRE) {
        true => by,
        false => format!("{by}=1"),
    })
}
