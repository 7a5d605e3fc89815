//! Starts a program under the launcher.

use std::process::{Command, Output};

use hostwire_testing::built;

/// How a job ended.
#[derive(Debug)]
pub struct Ended {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Fails the test unless the job ended well.
    #[track_caller]
    pub fn well(self) -> Self {
        assert_eq!(self.status, Some(0), "{self:?}");
        self
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self {
            status: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// Runs `program` with `arguments` as a job of `pes` PEs. The limit of time is for a hang.
pub fn run<S: AsRef<std::ffi::OsStr>>(pes: u32, program: &str, arguments: &[S]) -> Ended {
    let mut command = Command::new(built::launcher());
    command.args(["run", "-n", &pes.to_string(), "--timeout", "120s", "--"]);
    command.arg(program).args(arguments);
    command.output().unwrap().into()
}
