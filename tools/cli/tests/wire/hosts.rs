//! Jobs on hosts of this machine, and what is done to those hosts.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use hostwire_testing::{is_installed, left_out, need};
use rustix::process::{Pid, Signal, kill_process};

use crate::job::{Ended, Job, hostwire};
use crate::programs::{all_fine, fault_probe, is_root, run};

/// Whether hosts can be made of this machine. Says so if not. The guard lets two jobs run at a time: each takes all cores, but half
/// of the tests wait for a host that is silent.
pub fn may_make_hosts() -> Option<MutexGuard<'static, ()>> {
    static REFUSAL: LazyLock<Option<String>> = LazyLock::new(refusal);
    static TURNS: [Mutex<()>; 2] = [const { Mutex::new(()) }; 2];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    if !is_root() || !is_installed("nsenter", &need::UTIL_LINUX) || !is_installed("ip", &need::IP) {
        return None;
    }
    if let Some(why) = &*REFUSAL {
        left_out(&need::NAMESPACES, why);
        return None;
    }
    let turn = &TURNS[NEXT.fetch_add(1, Ordering::Relaxed) % TURNS.len()];
    Some(turn.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Why a job gets no hosts, if so.
fn refusal() -> Option<String> {
    let tried = run(
        env!("CARGO_BIN_EXE_hostwire"),
        &["run", "-n", "2", "--wire", "ether", "true"],
    );
    (tried.status != 0).then(|| format!("no hosts of this machine: {}", tried.stderr.trim()))
}

/// A job with traffic that goes on until it is ended.
pub struct Steady {
    job: Job,
    /// Process numbers, by PE.
    pub pids: Vec<Pid>,
}

impl Steady {
    /// `hostwire run -n PES --wire ether OPTIONS... fault_probe steady 20000`, under way.
    pub fn start(pes: u32, options: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_command(
            pes,
            options,
            variables,
            &[&fault_probe(), "steady", "20000"],
        )
    }

    /// As [`start`](Self::start), with another command that leads to the same program.
    pub fn start_command(
        pes: u32,
        options: &[&str],
        variables: &[(&str, &str)],
        program: &[&str],
    ) -> Self {
        Self::start_over("ether", pes, options, variables, program)
    }

    /// As [`start_command`](Self::start_command), over another wire.
    pub fn start_over(
        wire: &str,
        pes: u32,
        options: &[&str],
        variables: &[(&str, &str)],
        program: &[&str],
    ) -> Self {
        let count = pes.to_string();
        let run = ["run", "-n", &count, "--wire", wire];
        let mut command = hostwire(&[&run, options, program].concat());
        command
            .envs(variables.iter().copied())
            .stdin(Stdio::piped());
        let mut job = Job::start(command);
        let mut pids: Vec<(u32, i32)> = (0..pes)
            .map(|_| {
                let line = job.line();
                let words: Vec<&str> = line.split(' ').collect();
                let ["PE", pe, "is", "process", pid] = words[..] else {
                    panic!("{line}");
                };
                (pe.parse().unwrap(), pid.parse().unwrap())
            })
            .collect();
        pids.sort_unstable();
        let pid = |(_, pid): (u32, i32)| Pid::from_raw(pid).unwrap();
        let pids = pids.into_iter().map(pid).collect();
        Self { job, pids }
    }

    /// As [`start`](Self::start), over another wire.
    pub fn start_program_over(
        wire: &str,
        pes: u32,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let program = [&fault_probe()[..], "steady", "20000"];
        Self::start_over(wire, pes, options, variables, &program)
    }

    /// The next line that a PE prints.
    pub fn line(&mut self) -> String {
        self.job.line()
    }

    pub fn signal_launcher(&self, signal: Signal) {
        self.job.signal(signal);
    }

    pub fn launcher(&self) -> Pid {
        self.job.pid()
    }

    pub fn signal(&self, pe: usize, signal: Signal) {
        kill_process(self.pids[pe], signal).unwrap();
    }

    /// Runs a command on the host of a PE.
    pub fn on_host_of(&self, pe: usize, command: &[&str]) -> Ended {
        let pid = self.pids[pe].as_raw_pid().to_string();
        let ended = run("nsenter", &[&["-t", &pid, "-n"], command].concat());
        assert_eq!(ended.status, 0, "{command:?}: {ended:#?}");
        ended
    }

    /// Ends the input of PE 0, and waits for the end.
    pub fn end(self) -> Ended {
        self.job.close_stdin_and_end()
    }

    /// Waits for an end that comes by itself.
    pub fn end_by_itself(self) -> Ended {
        self.job.end()
    }

    /// As [`end`](Self::end); all PEs have to have seen the right bytes only.
    pub fn end_well(self) -> Ended {
        let pes = self.pids.len() as u32;
        let ended = self.end();
        assert_eq!(ended.status, 0, "{ended:#?}");
        assert_eq!(ended.sorted_lines(), all_fine(pes), "{ended:#?}");
        ended
    }
}
