//! A Slurm of its own for this test program, in namespaces that end with it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;

use hostwire_testing::{Need, is_installed, left_out, need};
use hostwire_transport::os::process::die_with_parent;

use crate::job::{Ended, LIMIT};
use crate::programs::{is_root, run};

const NAMESPACES: [&str; 6] = [
    "--mount",
    "--uts",
    "--net",
    "--pid",
    "--fork",
    "--mount-proc",
];

/// What has to be there.
const NEEDED: [(&str, Need); 7] = [
    ("srun", need::SLURM),
    ("slurmctld", need::SLURM),
    ("slurmd", need::SLURM),
    ("munged", need::SLURM),
    ("unshare", need::UTIL_LINUX),
    ("nsenter", need::UTIL_LINUX),
    ("ip", need::IP),
];

/// A running Slurm: nodes n1 and n2, up to 16 tasks each.
pub struct Slurm {
    /// The process that ends all of it when it ends.
    pub keeper: u32,
    /// The first process in the namespaces.
    pub first: u32,
}

/// The Slurm that all tests of this program share. `None` where there can be none, and a
/// line says why.
pub fn slurm() -> Option<&'static Slurm> {
    static SLURM: OnceLock<Option<Slurm>> = OnceLock::new();
    SLURM.get_or_init(Slurm::start).as_ref()
}

/// Whether this is a root that may make namespaces. Says so if it is not.
pub fn may_make_namespaces() -> bool {
    if !is_root() || !is_installed("unshare", &need::UTIL_LINUX) {
        return false;
    }
    let may = run("unshare", &[&NAMESPACES[..], &["true"]].concat()).status == 0;
    if !may {
        left_out(&need::NAMESPACES, "this root may not make namespaces");
    }
    may
}

/// Whether all of it is installed. Says what is not.
pub fn is_here() -> bool {
    let installed = |(program, need): &(&str, Need)| is_installed(program, need);
    NEEDED.iter().all(installed)
}

impl Slurm {
    /// Starts a Slurm. It ends with this process, however this process ends.
    ///
    /// # Panics
    /// When all that is needed is there, and it does not start.
    pub fn start() -> Option<Slurm> {
        if !may_make_namespaces() || !is_here() {
            return None;
        }
        let (sender, receiver) = mpsc::channel();
        // The keeper dies with the thread that starts it, which lasts as long as the process.
        thread::spawn(move || {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launchers/slurm.sh");
            let mut command = Command::new("unshare");
            command
                .args(NAMESPACES)
                .args(["--kill-child", "bash", script])
                .stdin(Stdio::null())
                .stdout(Stdio::piped());
            die_with_parent(&mut command);
            let mut keeper = command.spawn().unwrap();
            let mut output = BufReader::new(keeper.stdout.take().unwrap());
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            if line != "ready\n" {
                output.read_to_string(&mut line).unwrap();
                let _ = sender.send(Err(line));
            } else {
                let children = format!("/proc/{0}/task/{0}/children", keeper.id());
                let first = fs::read_to_string(children).unwrap();
                let _ = sender.send(Ok(Slurm {
                    keeper: keeper.id(),
                    first: first.trim().parse().unwrap(),
                }));
            }
            keeper.wait().unwrap();
            loop {
                thread::park();
            }
        });
        let started = receiver.recv_timeout(LIMIT).expect("Slurm does not start");
        Some(started.unwrap_or_else(|error| panic!("{error}")))
    }

    /// Runs a command inside to its end, one at a time: slurmd 22.05 has been seen to crash
    /// in its own memory while it started several steps at once.
    pub fn run(&self, command: &[&str]) -> Ended {
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let first = self.first.to_string();
        let enter = ["-t", &first, "-m", "-u", "-n", "-p"];
        let environment = ["env", "SLURM_CONF=/run/slurm.conf"];
        run("nsenter", &[&enter[..], &environment, command].concat())
    }

    /// `srun OPTIONS... COMMAND...`, without its words about a step that has to wait for
    /// that of another test.
    pub fn srun(&self, options: &[&str], command: &[&str]) -> Ended {
        self.run(&[&["srun", "--quiet"], options, command].concat())
    }

    /// The processes inside, by number.
    pub fn processes(&self) -> Vec<u32> {
        let namespace = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let Some(inside) = namespace(self.first) else {
            return Vec::new();
        };
        fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|pid| namespace(*pid).as_ref() == Some(&inside))
            .collect()
    }
}
