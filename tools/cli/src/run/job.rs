//! A running job: one loop that waits for signals, sockets, output and deadlines, and
//! for nothing else.

mod debugger;
mod far;
mod modelled;
mod start;

use std::os::fd::BorrowedFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hostwire::board::Record;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGCHLD, SIGTSTP};

use super::crew::Crew;
use super::front::terminal::Loan;
use super::hosts::{Hosts, Side};
use super::outcome::{Cause, Ending, Failure, OUTPUT_STATUS};
use super::output::Sink;
use super::pes::{End, Pe};
use super::pipe::Which;
use super::plan::Plan;
use super::pmi_server::{Effect, Server};
use super::signals::{PASSED_ON, Signals};
use super::stdin::Pump;
use super::strays;
use super::suspects::Suspects;
use super::virtual_time::Simulator;

/// How long a silent output is waited for after every PE has ended. Only a process that escaped from its PE's process
/// group can hold it open.
const SILENCE: Duration = Duration::from_millis(200);
/// How often a launcher in the background checks whether it is now in the foreground,
/// where it may read the terminal.
const FOREGROUND_CHECK: Duration = Duration::from_millis(500);

/// The PEs of a job and all that the launcher knows about them.
pub struct Job {
    plan: Plan,
    server: Server,
    pes: Vec<Box<dyn Pe>>,
    /// The hosts of the PEs, if these are behind starters.
    hosts: Option<Hosts>,
    signals: Signals,
    stdout: Sink,
    stderr: Sink,
    stdin: Option<Pump>,
    /// The terminal, if a debugger has it.
    terminal: Option<Loan>,
    /// The simulator of the hardware, if that is a model.
    model: Option<Simulator>,
    /// Whether the simulator has sent its last report, or there is none.
    model_is_done: bool,
    /// What the simulator has said of the run.
    simulated: Vec<String>,
    /// Whether a file that was asked for could not be written.
    unwritten: bool,
    /// Virtual time of each PE in picoseconds, as far as it is known: that of its last output.
    times: Vec<u64>,
    deadline: Option<Instant>,
    /// Set once the job is being ended.
    ending: Option<Ending>,
    kill_at: Option<Instant>,
    /// Failures among which the cause of the others is still to be found.
    suspects: Suspects,
    /// Whether the PEs that wait for an ended PE have been informed.
    ends_told: bool,
    /// With `--keep-going`: the exit status of the PE that failed first.
    failed_status: Option<u8>,
    /// Whether the processes that the PEs left behind have been killed.
    swept: bool,
    /// When something happened last.
    heard: Instant,
    /// Its board and counters are those of all hosts. Its warden is dropped after the PEs.
    crew: Crew,
}

/// The kind of a polled descriptor.
#[derive(Clone, Copy)]
enum Source {
    Signals,
    Pmi(usize),
    Output(usize, Which),
    Sink,
    Terminal,
    Stdin,
    Model,
    Host(usize, Side),
    FarInput,
}

impl Job {
    /// Looks after the PEs until all have ended and all they wrote is written, as are the files of
    /// the model.
    pub fn run(mut self) -> ExitCode {
        // A PE may have ended before its end could have been signalled to us.
        self.notice_ends();
        self.judge();
        while !self.is_over() {
            let ready = self.wait();
            self.pass_deadlines();
            if ready.is_empty() {
                self.give_up_on_silent_outputs();
            } else {
                self.heard = Instant::now();
            }
            for source in ready {
                self.handle(source);
            }
            self.tick_hosts();
            self.judge();
            self.sweep();
            self.flush();
            while self.take_held() {
                self.flush();
            }
        }
        let status = self
            .ending
            .as_ref()
            .map(Ending::status)
            .or(self.failed_status);
        if self.plan.stats {
            self.print_simulated();
            self.crew.counters.print(self.plan.settings.wire);
        }
        let status = match status {
            Some(0) | None if self.unwritten => OUTPUT_STATUS,
            status => status.unwrap_or(0),
        };
        // Reaps the PEs.
        drop(self);
        strays::end();
        ExitCode::from(status)
    }

    /// Not while it is about to end for another reason, nor for output alone: that may be blocked.
    fn may_time_out(&self) -> bool {
        self.ending.is_none() && self.suspects.is_empty() && !self.all_ended()
    }

    fn all_ended(&self) -> bool {
        self.pes.iter().all(|pe| pe.end().is_some())
    }

    fn is_over(&self) -> bool {
        let hosts_are_over = self.hosts.as_ref().is_none_or(Hosts::are_over);
        self.has_written() && !self.has_open_outputs() && self.model_is_done && hosts_are_over
    }

    /// Whether all PEs have ended, and nothing of what they wrote waits here.
    fn has_written(&self) -> bool {
        self.all_ended() && !self.stdout.is_pending() && !self.stderr.is_pending()
    }

    fn has_open_outputs(&self) -> bool {
        let mut pes = self.pes.iter();
        pes.any(|pe| pe.is_open(Which::Stdout) || pe.is_open(Which::Stderr))
    }

    /// Waits until something is ready or a deadline passes.
    fn wait(&mut self) -> Vec<Source> {
        let watched = self.watched();
        let mut fds: Vec<PollFd<'_>> = watched
            .iter()
            .map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags))
            .collect();
        let timeout = self.poll_timeout().map(|timeout| Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            // The signal is in the pipe by now.
            Err(Errno::INTR) => return vec![Source::Signals],
            // Out of memory is the only other way this fails; try again soon.
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
        watched
            .iter()
            .zip(&fds)
            .filter(|(_, fd)| !fd.revents().is_empty())
            .map(|((source, ..), _)| *source)
            .collect()
    }

    fn watched(&self) -> Vec<(Source, BorrowedFd<'_>, PollFlags)> {
        use std::os::fd::AsFd;
        let mut watched = vec![(Source::Signals, self.signals.fd(), PollFlags::IN)];
        let is_full = self.stdout.is_full() || self.stderr.is_full();
        // After the last report the bell would always be readable.
        if let Some(model) = self
            .model
            .as_ref()
            .filter(|_| !is_full && !self.model_is_done)
        {
            watched.push((Source::Model, model.bell().as_fd(), PollFlags::IN));
        }
        for (index, pe) in self.pes.iter().enumerate() {
            if let Some(fd) = pe.pmi() {
                let mut flags = PollFlags::empty();
                flags.set(PollFlags::IN, !pe.is_deaf());
                flags.set(PollFlags::OUT, pe.has_replies());
                watched.push((Source::Pmi(index), fd.as_fd(), flags));
            }
            if self.model_reads(index) {
                continue;
            }
            for which in [Which::Stdout, Which::Stderr] {
                // An output is not polled while its sink is full: a closed output is always ready.
                if let Some(fd) = pe.output(which).filter(|_| !self.sink(which).is_full()) {
                    watched.push((Source::Output(index, which), fd.as_fd(), PollFlags::IN));
                }
            }
        }
        for sink in [&self.stdout, &self.stderr] {
            if sink.is_pending() {
                watched.push((Source::Sink, sink.fd(), PollFlags::OUT));
            }
        }
        if let Some(hosts) = &self.hosts {
            let far = hosts.watched().into_iter();
            watched
                .extend(far.map(|(host, side, fd, flags)| (Source::Host(host, side), fd, flags)));
            let input = hosts.watched_input();
            watched.extend(input.map(|fd| (Source::FarInput, fd, PollFlags::IN)));
        }
        if let Some(stdin) = &self.stdin {
            if let Some(fd) = stdin.blocked_on() {
                watched.push((Source::Stdin, fd, PollFlags::OUT));
            } else if Pump::is_in_foreground() {
                watched.push((Source::Terminal, rustix::stdio::stdin(), PollFlags::IN));
            }
        }
        watched
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let now = Instant::now();
        let until = |at: Instant| at.saturating_duration_since(now);
        let is_looking = self.hosts.as_ref().is_some_and(Hosts::is_looking);
        let deadline = self.deadline.filter(|_| self.may_time_out() && !is_looking);
        let deadline = deadline.map(until);
        let hosts = self.hosts.as_ref().and_then(Hosts::deadline).map(until);
        let judgement = self.suspects.deadline().map(until);
        let kill = self.kill_at.filter(|_| !self.all_ended()).map(until);
        let silence = self
            .waits_for_silence()
            .then(|| until(self.heard + SILENCE));
        let far_input = self
            .hosts
            .as_ref()
            .is_some_and(Hosts::is_input_in_background);
        let background = far_input || (self.stdin.is_some() && !Pump::is_in_foreground());
        let background = background.then_some(FOREGROUND_CHECK);
        [deadline, hosts, judgement, kill, silence, background]
            .into_iter()
            .flatten()
            .min()
    }

    fn handle(&mut self, source: Source) {
        match source {
            Source::Signals => self.handle_signals(),
            Source::Pmi(index) => self.serve(index),
            Source::Model => self.hear_model(),
            Source::Host(host, side) => self.hear_host(host, side),
            Source::FarInput => {
                if let Some(hosts) = &mut self.hosts {
                    hosts.read_input();
                }
            }
            Source::Output(index, which) => {
                self.pass_output(index, which);
            }
            // Flushed last.
            Source::Sink => {}
            Source::Terminal => {
                if self.stdin.as_mut().is_some_and(|stdin| !stdin.read()) {
                    self.stdin = None;
                }
            }
            Source::Stdin => {
                if self.stdin.as_mut().is_some_and(|stdin| !stdin.write()) {
                    self.stdin = None;
                }
            }
        }
    }

    fn handle_signals(&mut self) {
        for signal in self.signals.pending() {
            match signal {
                SIGCHLD => {
                    self.notice_ends();
                    self.look_after_terminal();
                }
                SIGTSTP => self.pause(),
                signal if PASSED_ON.contains(&signal) => self.pass_on(signal),
                // Only output is left, and the user does not want to wait for it.
                signal if self.all_ended() => {
                    self.ending.get_or_insert(Ending::Interrupted(signal));
                    self.abandon_outputs();
                }
                signal if self.ending.is_none() => self.end(Ending::Interrupted(signal)),
                // The second signal: no more grace.
                _ => self.kill_at = Some(Instant::now()),
            }
        }
    }

    /// Passes a signal on to the program. Not while the PEs are being ended: a PE without a handler would die of it.
    fn pass_on(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal).filter(|_| self.ending.is_none()) {
            self.signal_running(signal);
        }
    }

    /// Ctrl-Z: the PEs are not in the terminal's process group, so they are
    /// stopped and continued along with the launcher.
    fn pause(&mut self) {
        self.signal_running(Signal::STOP);
        if let Some(hosts) = &mut self.hosts {
            hosts.pause();
        }
        if let Some(terminal) = &self.terminal {
            terminal.take();
        }
        let _ = kill_process(getpid(), Signal::STOP);
        self.signal_running(Signal::CONT);
        if let Some(terminal) = &self.terminal {
            terminal.give();
        }
    }

    /// Reads and answers all requests of a PE.
    fn serve(&mut self, index: usize) {
        loop {
            let Some(pe) = self.pes.get_mut(index) else {
                return;
            };
            pe.send_replies();
            if pe.is_deaf() {
                return;
            }
            let bytes = pe.receive();
            if bytes.is_empty() {
                return;
            }
            let effects = self.server.receive(index as u32, &bytes);
            self.apply(effects);
        }
    }

    fn apply(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Reply { pe, bytes } => {
                    if let Some(pe) = self.pes.get_mut(pe as usize) {
                        pe.send(&bytes);
                    }
                }
                Effect::Abort { pe, code, message } => {
                    self.suspect(pe, Cause::Abort { code, message });
                }
                Effect::Violation { pe, reason } => {
                    let cause = Cause::Violation(reason);
                    let failure = Failure {
                        pe,
                        cause,
                        last: self.crew.board.last(pe),
                        core: None,
                    };
                    if let Some(pe) = self.pes.get(pe as usize) {
                        pe.signal(Signal::KILL);
                    }
                    self.fail(failure);
                }
            }
        }
    }

    /// Passes the bytes of one read on. `false` if there were none.
    fn pass_output(&mut self, index: usize, which: Which) -> bool {
        if self.model_reads(index) {
            return false;
        }
        self.take_over_output(index);
        let Some(pe) = self.pes.get_mut(index) else {
            return false;
        };
        let bytes = pe.read_output(which);
        let is_open = pe.is_open(which);
        let at = self.times.get(index).copied().unwrap_or_default();
        let merger = &mut self.sink_mut(which).merger;
        merger.write(index as u32, &bytes, at);
        if !is_open {
            merger.end(index as u32, at);
        }
        !bytes.is_empty()
    }

    /// Finds the PEs that have ended.
    fn notice_ends(&mut self) {
        for index in 0..self.pes.len() {
            let Some(end) = self.pes.get_mut(index).and_then(|pe| pe.notice_end()) else {
                continue;
            };
            let pe = index as u32;
            self.ends_told = false;
            // Its output before the end comes first.
            self.serve(index);
            self.take_over_output(index);
            for which in [Which::Stdout, Which::Stderr] {
                while !self.sink(which).is_full() && self.pass_output(index, which) {}
            }
            let has_joined = self.server.has_joined(pe);
            let cause = match end {
                End::Exited(0) if has_joined => Some(Cause::NotFinalized),
                End::Exited(0) => None,
                End::Exited(code) => Some(Cause::Exited(code)),
                End::Signal(signal) => Some(Cause::Signal(signal)),
                // It is not the failure of a PE.
                End::Unknown => None,
            };
            if has_joined {
                self.note_end(pe);
            }
            if let Some(cause) = cause {
                self.suspect(pe, cause);
            }
            if pe == 0 {
                self.stdin = None;
                if let Some(hosts) = &mut self.hosts {
                    hosts.close_input();
                }
            }
        }
    }

    /// Tells all PEs that the process of `pe` has ended without leaving the job.
    fn note_end(&self, pe: u32) {
        self.crew.board.note_end(pe);
        if let Some(hosts) = &self.hosts {
            hosts.note_end(pe);
        }
    }

    fn suspect(&mut self, pe: u32, cause: Cause) {
        let last = self.crew.board.last(pe);
        let core = self.pes.get(pe as usize).and_then(|pe| pe.core());
        let failure = Failure {
            pe,
            cause,
            last,
            core,
        };
        self.suspects
            .add(failure, self.crew.board.lost(pe), Instant::now());
    }

    /// Decides what becomes of the failures, once it is known which led to the others.
    fn judge(&mut self) {
        let pes = &self.pes;
        let is_running = |pe: u32| pes.get(pe as usize).is_some_and(|pe| pe.end().is_none());
        let hosts = &mut self.hosts;
        let somebody_dies = || {
            // Not known yet of other hosts: perhaps.
            !hosts.as_mut().is_none_or(Hosts::looked) || pes.iter().any(|pe| pe.is_dying())
        };
        let judged = self
            .suspects
            .judge(Instant::now(), is_running, somebody_dies);
        for failure in judged {
            self.fail(failure);
        }
        if self.ends_told || !self.suspects.is_empty() {
            return;
        }
        self.ends_told = true;
        // First decide whether the PEs that wait for an ended PE in a PMI barrier are
        // ended too; only then inform them.
        if self.ending.is_none() {
            for index in 0..self.pes.len() {
                if self.pes.get(index).is_some_and(|pe| pe.end().is_some()) {
                    let effects = self.server.gone(index as u32);
                    self.apply(effects);
                }
            }
        }
    }

    fn fail(&mut self, failure: Failure) {
        if self.ending.is_some() {
            return;
        }
        let asked_for = matches!(failure.cause, Cause::Abort { .. });
        if self.plan.keep_going && !asked_for {
            self.failed_status.get_or_insert(failure.status());
            self.stderr.merger.note(&failure.to_string());
        } else {
            self.end(Ending::Failed(failure));
        }
    }

    /// Ends all PEs that still run. Says why, once.
    fn end(&mut self, ending: Ending) {
        if self.ending.is_some() {
            return;
        }
        let others = self.pes.iter().filter(|pe| pe.end().is_none()).count();
        let culprit = match &ending {
            Ending::Failed(failure) => self.pes.get(failure.pe as usize),
            _ => None,
        };
        let culprit_runs = culprit.is_some_and(|pe| pe.end().is_none());
        if let Some(line) = ending.line(others - usize::from(culprit_runs)) {
            self.stderr.merger.note(&line);
        }
        self.ending = Some(ending);
        self.kill_at = Instant::now().checked_add(self.plan.grace);
        self.signal_running(Signal::TERM);
        // A stopped process gets no signal but these two.
        self.signal_running(Signal::CONT);
        self.stop_connecting();
    }

    fn signal_running(&self, signal: Signal) {
        for pe in self.pes.iter().filter(|pe| pe.end().is_none()) {
            pe.signal(signal);
        }
    }

    fn pass_deadlines(&mut self) {
        let now = Instant::now();
        if self.may_time_out() && self.deadline.is_some_and(|deadline| deadline <= now) {
            // One that ended in this very moment is not running.
            self.notice_ends();
            self.judge();
            if self.may_time_out() && self.has_looked() {
                let running = self.running();
                let after = self.plan.timeout.unwrap_or_default();
                self.end(Ending::TimedOut { after, running });
            }
        }
        if self.kill_at.is_some_and(|kill_at| kill_at <= now) {
            self.kill_at = None;
            self.signal_running(Signal::KILL);
        }
    }

    /// The PEs that have not ended, with what each is doing.
    fn running(&self) -> Vec<(u32, Option<Record>)> {
        let pes = (0u32..).zip(&self.pes);
        let running = pes.filter(|(_, pe)| pe.end().is_none());
        running
            .map(|(index, _)| (index, self.crew.board.last(index)))
            .collect()
    }

    /// When every PE has ended, kills what they started and did not wait for. The model of a job
    /// that is being ended ends, too.
    fn sweep(&mut self) {
        if !self.all_ended() {
            return;
        }
        if let Some(model) = self.model.as_ref().filter(|_| self.ending.is_some()) {
            model.stop();
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.finish();
        } else if !self.swept {
            self.swept = true;
            for pe in &self.pes {
                pe.signal(Signal::KILL);
            }
        }
    }

    /// Whether nothing is left but outputs that somebody holds open.
    fn waits_for_silence(&self) -> bool {
        // Starters look after that on other hosts.
        self.hosts.is_none() && self.has_written() && self.has_open_outputs()
    }

    fn give_up_on_silent_outputs(&mut self) {
        // The wait may have ended for another reason.
        if self.waits_for_silence() && self.heard.elapsed() >= SILENCE {
            self.close_outputs();
        }
    }

    /// Drops output that was not written.
    fn abandon_outputs(&mut self) {
        if let Some(hosts) = &mut self.hosts {
            hosts.abandon();
        }
        self.close_outputs();
        self.stdout.abandon();
        self.stderr.abandon();
    }

    fn close_outputs(&mut self) {
        for index in 0..self.pes.len() {
            for which in [Which::Stdout, Which::Stderr] {
                if let Some(pe) = self.pes.get_mut(index) {
                    pe.close_output(which);
                }
                self.pass_output(index, which);
            }
        }
    }

    fn flush(&mut self) {
        self.stdout.flush();
        match self.stdout.broken() {
            // The reader has closed its end: it has read everything that it wanted.
            Some(Errno::PIPE) if self.all_ended() => {}
            Some(Errno::PIPE) => self.end(Ending::OutputClosed),
            Some(errno) => self.end(Ending::OutputFailed(errno)),
            None => {}
        }
        self.stderr.flush();
    }

    fn sink_mut(&mut self, which: Which) -> &mut Sink {
        match which {
            Which::Stdout => &mut self.stdout,
            Which::Stderr => &mut self.stderr,
        }
    }

    fn sink(&self, which: Which) -> &Sink {
        match which {
            Which::Stdout => &self.stdout,
            Which::Stderr => &self.stderr,
        }
    }
}
