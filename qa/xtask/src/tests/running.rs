//! One program of tests: started, watched and ended.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, io};

use super::programs::Program;
use super::progress::{Progress, Test};
use super::stop::Stop;

/// How often a program is looked at: the precision of the times of tests.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Tests of a program that run at a time, as cargo would have it on two cores.
const THREADS: usize = 2;

/// A program that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) program: String,
    pub(super) tests: Vec<Test>,
    pub(super) took: Duration,
    /// What is wrong with it, if something is.
    pub(super) failure: Option<String>,
    /// All that it printed.
    pub(super) said: String,
}

/// Runs all tests of a program. Its output goes to a file, so that processes which it leaves behind do not hide its
/// end.
pub(super) fn run(program: &Program, own: &[String], silence_max: Duration, stop: &Stop) -> Ended {
    let begin = Instant::now();
    let output = program.output();
    let watched = begin_it(program, own, &output, stop).and_then(|(child, progress)| {
        Watched::new(child, progress, &output)?.until_end(silence_max, stop)
    });
    let (tests, failure) = match watched {
        Ok((tests, failure)) => (tests, failure),
        Err(error) => (Vec::new(), Some(format!("cannot be run: {error}"))),
    };
    Ended {
        program: program.name.clone(),
        tests,
        took: begin.elapsed(),
        failure,
        said: fs::read(&output)
            .map(|said| String::from_utf8_lossy(&said).into_owned())
            .unwrap_or_default(),
    }
}

/// Starts a program.
fn begin_it(
    program: &Program,
    own: &[String],
    output: &Path,
    stop: &Stop,
) -> io::Result<(Child, Progress)> {
    let mut list = program.command();
    list.args(own).args(["--list", "--format", "terse"]);
    let (_, listed) = self::output(list.stderr(Stdio::null()), stop)?;
    let tests = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .map(str::to_owned)
        .collect();

    if let Some(folder) = output.parent() {
        fs::create_dir_all(folder)?;
    }
    let file = File::create(output)?;
    let mut command: Command = program.command();
    command
        .arg(format!("--test-threads={THREADS}"))
        .args(own)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    Ok((command.spawn()?, Progress::new(tests, THREADS)))
}

/// What a command prints and how it ends. A signal to this process ends it, and what it has started.
pub(super) fn output(command: &mut Command, stop: &Stop) -> io::Result<(ExitStatus, String)> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let printed = child.stdout.take();
    let reader = thread::spawn(move || printed.map_or(Ok(String::new()), io::read_to_string));
    loop {
        if let Some(status) = child.try_wait()? {
            let said = reader.join().unwrap_or(Ok(String::new()))?;
            return Ok((status, said));
        }
        if stop.is_asked() {
            // The reader stays open: a process that has left the group may still hold the other end.
            end(&mut child)?;
            return Ok((child.wait()?, String::new()));
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Ends a program and what it has started, as far as /proc tells. Each is stopped before its children
/// are looked for, so that it has no more of them than were seen.
fn end(child: &mut Child) -> io::Result<()> {
    let mut all = vec![child.id()];
    let mut looked_at = 0;
    while let Some(process) = all.get(looked_at) {
        stop(*process)?;
        let threads = fs::read_dir(format!("/proc/{process}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            let started = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            all.extend(
                started
                    .split_whitespace()
                    .filter_map(|id| id.parse::<u32>().ok()),
            );
        }
        looked_at += 1;
    }
    signal("-KILL", &all)?;
    child.wait().map(drop)
}

/// Stops a process, and waits until it has stopped or ended.
fn stop(process: u32) -> io::Result<()> {
    signal("-STOP", &[process])?;
    // The state stands behind the name, which is in parentheses.
    let runs = |stat: String| {
        let state = stat
            .rsplit_once(") ")
            .map(|(_, rest)| rest.as_bytes().first().copied());
        matches!(state, Some(Some(b'R' | b'S' | b'D')))
    };
    while fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(runs) {
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn signal(signal: &str, processes: &[u32]) -> io::Result<()> {
    let ids = processes.iter().map(u32::to_string);
    let mut kill = Command::new("kill");
    kill.arg(signal).args(ids).stderr(Stdio::null());
    kill.status().map(drop)
}

/// A program that runs.
struct Watched {
    child: Child,
    output: File,
    /// The start of a line that has not ended.
    line: Vec<u8>,
    progress: Progress,
    begin: Instant,
    /// When it last printed something.
    heard: Instant,
}

impl Watched {
    fn new(child: Child, progress: Progress, output: &PathBuf) -> io::Result<Self> {
        let now = Instant::now();
        Ok(Self {
            child,
            output: File::open(output)?,
            line: Vec::new(),
            progress,
            begin: now,
            heard: now,
        })
    }

    /// Its tests, and what is wrong.
    fn until_end(
        mut self,
        silence_max: Duration,
        stop: &Stop,
    ) -> io::Result<(Vec<Test>, Option<String>)> {
        loop {
            let ended = self.child.try_wait()?;
            self.read()?;
            if let Some(status) = ended {
                let failure = self.failure(status);
                return Ok((self.progress.into_ended(), failure));
            }
            let why = if stop.is_asked() {
                Some("was ended, because a signal ends all this".to_owned())
            } else if self.heard.elapsed() > silence_max {
                let seconds = silence_max.as_secs();
                Some(format!("printed nothing for {seconds} s and was ended"))
            } else {
                None
            };
            if let Some(why) = why {
                end(&mut self.child)?;
                let failure = format!("{why}; {} ran", self.running());
                return Ok((self.progress.into_ended(), Some(failure)));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// What it has printed since the last look.
    fn read(&mut self) -> io::Result<()> {
        let mut new = Vec::new();
        if self.output.read_to_end(&mut new)? == 0 {
            return Ok(());
        }
        self.heard = Instant::now();
        let now = self.begin.elapsed();
        self.line.extend(new);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            self.progress
                .line(String::from_utf8_lossy(&line).trim_end(), now);
        }
        Ok(())
    }

    fn failure(&self, status: ExitStatus) -> Option<String> {
        if status.success() {
            return None;
        }
        Some(match &*self.running() {
            "" => format!("{status}"),
            running => format!("{status} while {running} ran"),
        })
    }

    /// The tests that run, as words of a sentence; empty for none.
    fn running(&self) -> String {
        let all: Vec<&str> = self.progress.running().collect();
        all.join(" and ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_has_started_ends_with_it() {
        // The signal comes at different moments while it starts something.
        for _ in 0..20 {
            let mut child = Command::new("sh")
                .args(["-c", "sh -c 'echo $$; sleep 600; :'; :"])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut line = String::new();
            let mut said = io::BufReader::new(child.stdout.take().unwrap());
            io::BufRead::read_line(&mut said, &mut line).unwrap();
            end(&mut child).unwrap();
            // Nobody has the other end any more.
            said.read_to_string(&mut line).unwrap();
            assert!(line.trim().parse::<u32>().is_ok(), "{line}");
        }
    }
}
