//! A running job: one loop that waits for signals, sockets, output and deadlines, and
//! for nothing else.

mod modelled;

use std::os::fd::BorrowedFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hostwire::board::Record;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGCHLD, SIGTSTP};

use super::board::Board;
use super::counters::Counters;
use super::mark::Mark;
use super::outcome::{Cause, Ending, Failure, OUTPUT_STATUS};
use super::output::{Merger, Sink};
use super::pes::{End, Pe};
use super::pipe::Which;
use super::plan::Plan;
use super::pmi_server::{Effect, Server};
use super::signals::{PASSED_ON, Signals};
use super::spawn::{Input, spawn};
use super::start_error::StartError;
use super::stdin::Pump;
use super::strays;
use super::suspects::Suspects;
use super::virtual_time::{Line, Simulator};
use super::warden::Warden;

/// How long a silent output is waited for after every PE has ended. Only a process that escaped from its PE's process
/// group can hold it open.
const SILENCE: Duration = Duration::from_millis(200);
/// How often a launcher in the background checks whether it is now in the foreground,
/// where it may read the terminal.
const FOREGROUND_CHECK: Duration = Duration::from_millis(500);

/// The PEs of a job and all that the launcher knows about them.
pub struct Job {
    plan: Plan,
    board: Board,
    counters: Counters,
    server: Server,
    pes: Vec<Pe>,
    signals: Signals,
    stdout: Sink,
    stderr: Sink,
    stdin: Option<Pump>,
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
    /// Dropped after the PEs.
    _warden: Warden,
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
}

impl Job {
    /// Starts all PEs of `plan`.
    ///
    /// # Errors
    /// No process is left then.
    pub fn start(mut plan: Plan) -> Result<Job, StartError> {
        let system = |what| move |errno| StartError::System { what, errno };
        let input_output = |what| {
            move |error: std::io::Error| StartError::System {
                what,
                errno: Errno::from_io_error(&error).unwrap_or(Errno::IO),
            }
        };
        let signals = Signals::new().map_err(input_output("handle signals"))?;
        strays::adopt().map_err(system("adopt what PEs leave behind"))?;
        let mark = Mark::draw().map_err(system("draw the mark of the job"))?;
        let mut warden = Warden::start(&mark).map_err(input_output("start a warden"))?;
        let board = Board::new(plan.pes).map_err(system("make the board of the job"))?;

        let counters = Counters::new(plan.pes).map_err(system("make the counters of the job"))?;

        let mut pes = Vec::with_capacity(plan.pes as usize);
        let mut stdin = None;
        let mut lines = Vec::new();
        for pe in 0..plan.pes {
            let input = match pe {
                0 if Pump::is_needed() => Input::Pipe,
                0 => Input::Inherit,
                _ => Input::Null,
            };
            plan.binding.enter(pe)?;
            if let Some(time) = &plan.virtual_time {
                lines.push(Line::new(time.compute, (pe, plan.pes), &mark)?);
            }
            let line = lines.last();
            let mut spawned = spawn(&plan, &board, &counters, line, &mark, pe, input)?;
            stdin = stdin.or(spawned.stdin.take().map(Pump::new));
            let started = Pe::new(spawned);
            warden.watch(started.pid());
            pes.push(started);
        }
        // On the CPU of the PEs, with which it takes turns.
        let stamps = plan.virtual_time.as_ref().is_some_and(|time| time.stamps);
        let model = match plan.virtual_time.take() {
            Some(time) => {
                let outputs = pes.iter().map(Pe::second_outputs);
                let outputs = outputs.collect::<std::io::Result<Vec<_>>>();
                let outputs = outputs.map_err(input_output("listen to the PEs"))?;
                Some(Simulator::start(time.hardware, lines, outputs)?)
            }
            None => None,
        };
        plan.binding.leave();

        let merger = || Merger::new(plan.pes, plan.label, stamps);
        let kvsname = format!("kvs_{}_0", getpid().as_raw_pid());
        Ok(Job {
            times: vec![0; plan.pes as usize],
            server: Server::new(&kvsname, plan.pes),
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
            board,
            counters,
            pes,
            signals,
            stdin,
            model_is_done: model.is_none(),
            model,
            simulated: Vec::new(),
            unwritten: false,
            _warden: warden,
        })
    }

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
            self.judge();
            self.sweep();
            self.flush();
        }
        let status = self
            .ending
            .as_ref()
            .map(Ending::status)
            .or(self.failed_status);
        if self.plan.stats {
            self.print_simulated();
            self.counters.print(self.plan.settings.wire);
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
        self.has_written() && !self.has_open_outputs() && self.model_is_done
    }

    /// Whether all PEs have ended, and nothing of what they wrote waits here.
    fn has_written(&self) -> bool {
        self.all_ended() && !self.stdout.is_pending() && !self.stderr.is_pending()
    }

    fn has_open_outputs(&self) -> bool {
        let open =
            |pe: &Pe| pe.output(Which::Stdout).is_some() || pe.output(Which::Stderr).is_some();
        self.pes.iter().any(open)
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
        let deadline = self.deadline.filter(|_| self.may_time_out()).map(until);
        let judgement = self.suspects.deadline().map(until);
        let kill = self.kill_at.filter(|_| !self.all_ended()).map(until);
        let silence = self
            .waits_for_silence()
            .then(|| until(self.heard + SILENCE));
        let background = self.stdin.is_some() && !Pump::is_in_foreground();
        let background = background.then_some(FOREGROUND_CHECK);
        [deadline, judgement, kill, silence, background]
            .into_iter()
            .flatten()
            .min()
    }

    fn handle(&mut self, source: Source) {
        match source {
            Source::Signals => self.handle_signals(),
            Source::Pmi(index) => self.serve(index),
            Source::Model => self.hear_model(),
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
                SIGCHLD => self.notice_ends(),
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
        let _ = kill_process(getpid(), Signal::STOP);
        self.signal_running(Signal::CONT);
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
                        last: self.board.last(pe),
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
        let is_open = pe.output(which).is_some();
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
            let Some(end) = self.pes.get_mut(index).and_then(Pe::notice_end) else {
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
            let cause = match end {
                End::Exited(0) if self.server.has_joined(pe) => Some(Cause::NotFinalized),
                End::Exited(0) => None,
                End::Exited(code) => Some(Cause::Exited(code)),
                End::Signal(signal) => Some(Cause::Signal(signal)),
            };
            if let Some(cause) = cause {
                if self.server.has_joined(pe) {
                    self.board.note_end(pe);
                }
                self.suspect(pe, cause);
            }
            if pe == 0 {
                self.stdin = None;
            }
        }
    }

    fn suspect(&mut self, pe: u32, cause: Cause) {
        let last = self.board.last(pe);
        let failure = Failure { pe, cause, last };
        self.suspects
            .add(failure, self.board.lost(pe), Instant::now());
    }

    /// Decides what becomes of the failures, once it is known which led to the others.
    fn judge(&mut self) {
        let pes = &self.pes;
        let is_running = |pe: u32| pes.get(pe as usize).is_some_and(|pe| pe.end().is_none());
        let somebody_dies = || pes.iter().any(Pe::is_dying);
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
            if self.may_time_out() {
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
            .map(|(index, _)| (index, self.board.last(index)))
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
        if !self.swept {
            self.swept = true;
            for pe in &self.pes {
                pe.signal(Signal::KILL);
            }
        }
    }

    /// Whether nothing is left but outputs that somebody holds open.
    fn waits_for_silence(&self) -> bool {
        self.has_written() && self.has_open_outputs()
    }

    fn give_up_on_silent_outputs(&mut self) {
        // The wait may have ended for another reason.
        if self.waits_for_silence() && self.heard.elapsed() >= SILENCE {
            self.close_outputs();
        }
    }

    /// Drops output that was not written.
    fn abandon_outputs(&mut self) {
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
