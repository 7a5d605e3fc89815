//! `hostwire run`: starts the PEs of a job on this host and looks after them.
//!
//! | file | |
//! |---|---|
//! | [`args`], [`parse`] | the command line |
//! | [`plan`] | what would be started, checked before anything is |
//! | [`spawn`], [`pes`] | one process per PE |
//! | [`job`] | the loop: signals, sockets, output, deadlines |
//! | [`pmi_server`] | PMI-1, bytes in and bytes out |
//! | [`output`] | lines of many PEs into one stream |
//! | [`strays`], [`warden`] | nothing stays, however the launcher ends |
//! | [`outcome`] | how it ended, in words and as an exit status |

mod args;
mod bind;
mod board;
mod counters;
mod job;
mod limits;
mod outcome;
mod output;
mod parse;
mod pes;
mod plan;
mod pmi_server;
mod program;
mod signals;
mod spawn;
mod stdin;
mod strays;
pub mod warden;

use std::process::ExitCode;

pub use args::{Args, Wire};
pub use parse::duration as parse_duration;

use crate::{USAGE_STATUS, report};

/// Runs the job that `args` describe, to its end.
pub fn main(args: &Args) -> ExitCode {
    if args.insecure_wire {
        report::line(
            "warning: --insecure-wire: whoever is on the network between the hosts can read and \
             change the memory of this job",
        );
    }
    let started = plan::Plan::new(args).and_then(job::Job::start);
    match started {
        Ok(job) => job.run(),
        Err(error) => {
            report::line(&error.to_string());
            ExitCode::from(USAGE_STATUS)
        }
    }
}
