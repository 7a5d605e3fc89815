//! Lenders, borrowers and programs.

use std::io::{BufRead, BufReader, Lines, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hostwire_borrow::uffd::Uffd;
use hostwire_testing::{built, is_installed, left_out, need};

pub const HOSTWIRE: &str = env!("CARGO_BIN_EXE_hostwire");
/// For a hang; nothing takes this long.
const LIMIT: Duration = Duration::from_secs(120);

/// Whether memory can be borrowed here. Says so if not.
pub fn can_borrow() -> bool {
    match Uffd::new() {
        Ok(_) => is_installed("cc", &need::C),
        Err(why) => {
            left_out(&need::USERFAULTFD, why);
            false
        }
    }
}

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

/// The folder with the library for programs.
pub fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let library = built::library("libhostwire_remote.so");
        library.parent().unwrap().to_owned()
    })
}

/// A program of this folder, compiled once per test.
pub fn program(name: &str, libraries: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/borrow");
    let made = tempfile::tempdir().unwrap();
    let path = made.path().join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-Werror", "-o"]).arg(&path);
    compiler.arg("-I").arg(source.join("../../../../include"));
    compiler.arg(source.join(name).with_extension("c"));
    compiler.args(libraries);
    succeeds(&mut compiler);
    (made, path)
}

/// A name that no other lender has.
pub fn new_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("test-{}-{number}", std::process::id())
}

/// A lender, until it is dropped.
pub struct Lender {
    child: Child,
    pub place: String,
}

impl Lender {
    /// On this machine.
    pub fn start(memory: &str) -> Self {
        let name = new_name();
        let mut command = Command::new(HOSTWIRE);
        command.args(["lend", "--memory", memory, "--name", &name]);
        Self::of(command, format!("local:{name}"))
    }

    /// Started by a command that leads to a lender. Whether it listens shows when somebody borrows.
    pub fn of(mut command: Command, place: String) -> Self {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().unwrap();
        Self { child, place }
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `hostwire borrow` with these options and this program.
pub fn borrow(from: &[&Lender], options: &[&str], program: &Path, arguments: &[&str]) -> Command {
    library_folder();
    let places: Vec<&str> = from.iter().map(|lender| lender.place.as_str()).collect();
    let mut command = Command::new(HOSTWIRE);
    command
        .args(["borrow", "--from", &places.join(",")])
        .args(options);
    command.arg("--").arg(program).args(arguments);
    command.stdin(Stdio::null());
    command
}

/// Runs to the end. Repeated as long as lenders do not listen yet.
pub fn finish(mut command: Command) -> Output {
    let started = Instant::now();
    loop {
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let is_early = errors.contains("nobody lends") || errors.contains("Connection refused");
        if !is_early || started.elapsed() > LIMIT {
            return output;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// What a run printed, with its status in front.
pub fn text(output: &Output) -> String {
    let status = output.status.code().unwrap_or(-1);
    let parts =
        [&output.stdout, &output.stderr].map(|part| String::from_utf8_lossy(part).into_owned());
    format!("status {status}\n{}{}", parts[0], parts[1])
}

/// A run under way.
pub struct Running {
    pub child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    errors: BufReader<ChildStderr>,
}

impl Running {
    /// Waits until the lenders listen, first.
    pub fn start(mut command: Command, lenders: &[&Lender]) -> Self {
        for lender in lenders {
            let probe = borrow(
                &[lender],
                &["--memory", "1M", "--explicit"],
                Path::new("true"),
                &[],
            );
            let output = finish(probe);
            assert!(output.status.success(), "{}", text(&output));
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self {
            child,
            lines,
            errors,
        }
    }

    /// The rest of the first line that begins like this.
    pub fn line(&mut self, begin: &str) -> String {
        for line in self.lines.by_ref() {
            if let Some(rest) = line.unwrap().strip_prefix(begin) {
                return rest.to_owned();
            }
        }
        panic!("no line begins with {begin}");
    }

    /// The next line of its errors.
    pub fn error_line(&mut self) -> String {
        let mut line = String::new();
        self.errors.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The status, and what it printed from here on.
    pub fn end(mut self) -> (i32, Vec<String>, String) {
        let lines = self.lines.map(|line| line.unwrap()).collect();
        let mut errors = String::new();
        self.errors.read_to_string(&mut errors).unwrap();
        (
            self.child.wait().unwrap().code().unwrap_or(-1),
            lines,
            errors,
        )
    }
}

/// Waits until a process is gone.
pub fn gone(pid: &str) {
    let started = Instant::now();
    while Path::new("/proc").join(pid).exists() {
        assert!(started.elapsed() < LIMIT, "process {pid} stays");
        thread::sleep(Duration::from_millis(10));
    }
}
