//! PEs on other hosts: what starters say.

use std::time::{Duration, Instant};

use super::super::crew::Crew;
use super::super::hosts::{Event, Hosts, Loss, Side};
use super::super::outcome::{Cause, Ending, Failure};
use super::super::pipe::Which;
use super::super::plan::Plan;
use super::super::start_error::StartError;
use super::Job;

/// Connects to the hosts of a plan.
pub(super) fn open(plan: &mut Plan, crew: &mut Crew) -> Result<Hosts, StartError> {
    let far = std::mem::take(&mut plan.far);
    let settings = &plan.settings;
    let limits = [settings.lost_after_s, settings.attach_timeout_s].map(Duration::from_secs);
    let ways = (&*settings.ssh, settings.fan_out as usize);
    Hosts::open(ways, far, &plan.copies, crew, limits.into())
}

impl Job {
    pub(super) fn hear_host(&mut self, host: usize, side: Side) {
        if let Some(hosts) = &mut self.hosts {
            let events = hosts.handle(host, side, &self.crew);
            self.take_events(events);
        }
    }

    pub(super) fn tick_hosts(&mut self) {
        if let Some(hosts) = &mut self.hosts {
            let events = hosts.tick();
            self.take_events(events);
        }
    }

    fn take_events(&mut self, events: Vec<Event>) {
        let mut not_started = Vec::new();
        for event in events {
            match event {
                Event::Pmi(pe) => self.serve(pe),
                Event::Output(pe, which) if !self.sink(which).is_full() => {
                    self.pass_output(pe, which);
                }
                // It is taken when there is room.
                Event::Output(..) => {}
                Event::Ended => self.notice_ends(),
                Event::Lost(loss) if loss.has_run => self.suspect_host(loss),
                Event::Lost(Loss { host, why, .. }) => not_started.push(format!("{host}: {why}")),
            }
        }
        let last = not_started.pop().filter(|_| self.ending.is_none());
        if let Some(last) = last {
            for line in not_started {
                self.stderr.merger.note(&line);
            }
            self.end(Ending::NotStarted(last));
        }
    }

    /// A host that is lost is the failure of all its PEs, told once.
    fn suspect_host(&mut self, loss: Loss) {
        let Loss {
            host,
            first,
            pes,
            why,
            ..
        } = loss;
        let failure = Failure {
            pe: first,
            cause: Cause::HostLost { host, pes, why },
            last: None,
            core: None,
        };
        self.suspects.add(failure, None, Instant::now());
    }

    /// Takes what had to wait because an output was full or a PE did not read. Whether there was some.
    pub(super) fn take_held(&mut self) -> bool {
        let mut has_taken = false;
        if self.hosts.is_none() {
            return false;
        }
        for index in 0..self.pes.len() {
            let Some(pe) = self.pes.get(index) else {
                continue;
            };
            let has_requests = pe.has_requests() && !pe.is_deaf();
            let held = [Which::Stdout, Which::Stderr].map(|which| pe.holds_output(which));
            if has_requests {
                self.serve(index);
            }
            for (which, is_held) in [Which::Stdout, Which::Stderr].into_iter().zip(held) {
                if is_held && !self.sink(which).is_full() {
                    has_taken |= self.pass_output(index, which);
                }
            }
        }
        has_taken
    }

    /// Whether it is known what the PEs are doing.
    pub(super) fn has_looked(&mut self) -> bool {
        self.hosts.as_mut().is_none_or(Hosts::looked)
    }

    /// If the job is ended before its PEs are started, none is.
    pub(super) fn stop_connecting(&mut self) {
        let Some(hosts) = self.hosts.as_mut().filter(|hosts| hosts.are_connecting()) else {
            return;
        };
        let unready = hosts.unready().join(", ");
        if !unready.is_empty() {
            let note = format!("no PE was started: not ready yet: {unready}");
            self.stderr.merger.note(&note);
        }
        hosts.abandon();
        self.notice_ends();
    }
}
