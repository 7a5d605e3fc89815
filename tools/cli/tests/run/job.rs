//! Starts the binary and waits for it, with a limit.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// For a hang; nothing takes this long.
pub const LIMIT: Duration = Duration::from_secs(600);

/// How a job ended.
#[derive(Debug)]
pub struct Ended {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Lines of standard output in alphabetical order.
    pub fn sorted_lines(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.stdout.lines().collect();
        lines.sort_unstable();
        lines
    }
}

/// A running `hostwire`.
pub struct Job {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

/// The program of the package whose tests these are: `hostwire`, or `hostwire-lab`.
pub const PROGRAM: &str = match option_env!("CARGO_BIN_EXE_hostwire") {
    Some(hostwire) => hostwire,
    None => match option_env!("CARGO_BIN_EXE_hostwire-lab") {
        Some(laboratory) => laboratory,
        None => "",
    },
};

/// That program with these arguments, all of its streams piped.
pub fn hostwire(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs `hostwire` with these arguments to its end.
pub fn run(arguments: &[&str]) -> Ended {
    Job::start(hostwire(arguments)).end()
}

/// Runs `hostwire` with `input` on its standard input.
pub fn run_with_input(arguments: &[&str], input: &str) -> Ended {
    let mut command = hostwire(arguments);
    command.stdin(Stdio::piped());
    Job::start(command).end_with_input(input)
}

/// The program that speaks PMI-1.
pub fn probe() -> String {
    let hostwire = PathBuf::from(PROGRAM);
    let probe = hostwire.with_file_name("examples").join("pmi_probe");
    assert!(
        probe.exists(),
        "build it first: cargo build --package hostwire-cli --examples"
    );
    probe.into_os_string().into_string().unwrap()
}

impl Job {
    pub fn start(mut command: Command) -> Job {
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Job { child, stdout }
    }

    /// The next line that the job prints. Blocks until there is one.
    pub fn line(&mut self) -> String {
        let line = self.line_or_end();
        assert!(line.ends_with('\n'), "the job ended early: {line:?}");
        line.trim_end().to_owned()
    }

    /// The next line with its end, or nothing if the job prints none any more.
    pub fn line_or_end(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Seconds of processor time that the launcher has taken.
    pub fn processor_s(&self) -> f64 {
        let stat = format!("/proc/{}/stat", self.pid().as_raw_pid());
        let stat = std::fs::read_to_string(stat).unwrap();
        // Behind the name, which may have spaces: the 12th and the 13th field, in hundredths.
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        let ticks = fields.skip(11).take(2);
        ticks
            .map(|field| field.parse::<f64>().unwrap())
            .sum::<f64>()
            / 100.0
    }

    /// Sends `signal` until the job ends, and returns its status.
    pub fn signal_until_end(mut self, signal: Signal) -> Option<i32> {
        let mut status = None;
        eventually("the job ends", || {
            self.signal(signal);
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.and_then(|status| status.code())
    }

    /// Stops reading what the job prints.
    pub fn close_stdout(self) -> Closed {
        Closed { child: self.child }
    }

    /// Ends what the job reads, and waits for its end.
    pub fn close_stdin_and_end(mut self) -> Ended {
        drop(self.child.stdin.take());
        self.end()
    }

    /// Writes what the job reads, and waits for its end.
    pub fn end_with_input(mut self, input: &str) -> Ended {
        let mut stdin = self.child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        self.end()
    }

    /// Waits for the end.
    pub fn end(mut self) -> Ended {
        let stderr = collect(self.child.stderr.take().unwrap());
        let stdout = collect(self.stdout);
        let status = wait(&mut self.child);
        let text = |bytes: mpsc::Receiver<String>| {
            bytes
                .recv_timeout(LIMIT)
                .expect("something holds an output of the job open")
        };
        Ended {
            status,
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }
}

/// A job whose output nobody reads.
pub struct Closed {
    child: Child,
}

impl Closed {
    pub fn end(mut self) -> Ended {
        let stderr = collect(self.child.stderr.take().unwrap());
        let status = wait(&mut self.child);
        Ended {
            status,
            stdout: String::new(),
            stderr: stderr.recv_timeout(LIMIT).unwrap(),
        }
    }
}

fn collect(mut from: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        sender.send(String::from_utf8_lossy(&bytes).into_owned())
    });
    receiver
}

/// The exit status, or minus the signal.
fn wait(child: &mut Child) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status
                .code()
                .unwrap_or_else(|| -status.signal().unwrap_or(0));
        }
        if begin.elapsed() > LIMIT {
            let _ = child.kill();
            panic!("hostwire hangs");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until `condition` holds.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < LIMIT, "not after {LIMIT:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether process `pid` runs. One that is dead and waits to be reaped, which
/// may take for ever in a container, does not.
pub fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let threads = fields.get(17).and_then(|threads| threads.parse().ok());
    match fields.first() {
        None => false,
        // Its first thread may have ended before the others, which have its files open.
        Some(&("Z" | "X")) => threads.is_some_and(|threads: u32| threads > 1),
        Some(_) => true,
    }
}
