//! The start of a job.

use std::time::Instant;

use rustix::process::getpid;

use super::super::crew::{Crew, input_output};
use super::super::front::terminal::Loan;
use super::super::output::{Merger, Sink};
use super::super::pes::{Near, Pe};
use super::super::plan::Plan;
use super::super::pmi_server::Server;
use super::super::signals::Signals;
use super::super::spawn::Input;
use super::super::start_error::StartError;
use super::super::stdin::Pump;
use super::super::strays;
use super::super::suspects::Suspects;
use super::super::virtual_time::{Line, Simulator};
use super::Job;

impl Job {
    /// Starts all PEs of `plan`.
    ///
    /// # Errors
    /// No process is left then.
    pub fn start(mut plan: Plan) -> Result<Job, StartError> {
        let signals = Signals::new().map_err(input_output("handle signals"))?;
        strays::adopt().map_err(|errno| StartError::System {
            what: "adopt what PEs leave behind",
            errno,
        })?;
        let mut crew = Crew::new(plan.pes)?;
        if !plan.far.is_empty() {
            let hosts = super::far::open(&mut plan, &mut crew)?;
            let mut job = Job::new(plan, signals, crew, hosts.pes(), false);
            job.server = Server::of_hosts(&kvsname(), &hosts.counts());
            job.hosts = Some(hosts);
            return Ok(job);
        }
        let mut pes = Vec::with_capacity(plan.pes as usize);
        let (mut stdin, mut terminal) = (None, None);
        let mut seats = Vec::new();
        for pe in 0..plan.pes {
            let asking = plan.front.asking_pe();
            let input = match pe {
                pe if asking == Some(pe) => Input::Terminal,
                _ if asking.is_some() => Input::Null,
                0 if Pump::is_needed() => Input::Pipe,
                0 => Input::Inherit,
                _ => Input::Null,
            };
            plan.binding.enter(pe)?;
            let time = plan.virtual_time.as_ref();
            let line = time.map(|time| Line::new(time, (pe, plan.pes), &crew.mark));
            let line = line.transpose()?;
            let (started, pipe) = crew.start(&plan, pe, line.as_ref(), input)?;
            // The descriptors of the PE's ends are closed here: there are not enough for those of thousands.
            seats.extend(line.map(|line| line.seat));
            stdin = stdin.or(pipe.map(Pump::new));
            if input == Input::Terminal {
                terminal = Some(Loan::to(started.pid()));
            }
            pes.push(started);
        }
        // On the CPU of the PEs, with which it takes turns.
        let stamps = plan.virtual_time.as_ref().is_some_and(|time| time.stamps);
        let model = match plan.virtual_time.take() {
            Some(time) => {
                let outputs = pes.iter().map(Near::outputs).collect();
                Some(Simulator::start(time.hardware, seats, outputs)?)
            }
            None => None,
        };
        plan.binding.leave();

        let pes = pes.into_iter().map(|pe| Box::new(pe) as Box<dyn Pe>);
        let pes = pes.collect();
        let mut job = Job::new(plan, signals, crew, pes, stamps);
        job.stdin = stdin;
        job.terminal = terminal;
        job.model_is_done = model.is_none();
        job.model = model;
        Ok(job)
    }

    /// A job with these PEs.
    fn new(plan: Plan, signals: Signals, crew: Crew, pes: Vec<Box<dyn Pe>>, stamps: bool) -> Job {
        let merger = || Merger::new(plan.pes, plan.label, stamps);
        Job {
            times: vec![0; plan.pes as usize],
            server: Server::new(&kvsname(), plan.pes),
            stdout: Sink::new(rustix::stdio::stdout(), merger()),
            stderr: Sink::new(rustix::stdio::stderr(), merger()),
            // A deadline too far to be named never passes.
            deadline: plan
                .timeout
                .and_then(|timeout| Instant::now().checked_add(timeout)),
            ending: None,
            kill_at: None,
            suspects: Suspects::default(),
            ends_told: true,
            failed_status: None,
            swept: false,
            heard: Instant::now(),
            plan,
            crew,
            pes,
            hosts: None,
            signals,
            stdin: None,
            terminal: None,
            model_is_done: true,
            model: None,
            simulated: Vec::new(),
            unwritten: false,
        }
    }
}

/// The name of the job for PMI.
fn kvsname() -> String {
    format!("kvs_{}_0", getpid().as_raw_pid())
}
