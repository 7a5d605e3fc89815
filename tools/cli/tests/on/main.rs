//! `hostwire run --on`: jobs on hosts that ssh reaches. The hosts are network namespaces with an sshd each (hosts.sh).
#![allow(clippy::print_stderr)]

mod copy;
mod death;
mod doctor;
#[path = "../run/job.rs"]
#[allow(dead_code)]
mod job;
mod jobs;
mod mistakes;
#[path = "../faults/programs.rs"]
#[allow(dead_code)]
mod programs;
#[path = "../launchers/slurm.rs"]
#[allow(dead_code)]
mod slurm;
mod tree;

use std::process::{Command, Stdio};

use hostwire_testing::{is_installed, need};
use hostwire_transport::os::process::die_with_parent;
use job::{Ended, Job};
use slurm::may_make_namespaces;

/// What the scripts have: `left` ends the script if something of a job is left on any host, after some patience.
const PRELUDE: &str = r#"
set -u
left() {
    local names='sleep|hostwire|hw-warden|hw-adapter|ssh|fault_probe'
    for ((i = 0; i < 600; i++)); do
        ps -eo comm= | grep -Exq "$names" || return 0
        read -rt 0.05 <> <(:) || :
    done
    echo "left behind: $(ps -eo pid=,args= | tr '\n' ';')"
    exit 9
}
# Runs a command with the folders and files of a host.
there() { nsenter --mount --target "$(cat "/run/ssh/sshd.$1")" "${@:2}"; }
until_there() { until pgrep -x "$1" | wc -l | grep -qx "$2"; do read -rt 0.02 <> <(:) || :; done; }
said() { printf '%s\n' "$*"; }
"#;

/// Runs a script of bash on the first of so many hosts, with `$HOSTWIRE` and `$PROBE` to start. `None` where that cannot be.
fn on_hosts(count: u32, script: &str) -> Option<Ended> {
    // Daemons are where only root looks.
    if !may_make_namespaces()
        || !is_installed("ip", &need::IP)
        || !is_installed("/usr/sbin/sshd", &need::SSHD)
    {
        return None;
    }
    let hosts = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/on/hosts.sh");
    let mut command = Command::new("bash");
    command
        .arg(hosts)
        .arg(count.to_string())
        .args(["bash", "-c", &format!("{PRELUDE}\n{script}")])
        .env("HOSTWIRE", env!("CARGO_BIN_EXE_hostwire"))
        .env("PROBE", programs::fault_probe())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    die_with_parent(&mut command);
    Some(Job::start(command).end())
}

/// The line of standard error that contains `text`.
#[track_caller]
fn line<'e>(ended: &'e Ended, text: &str) -> &'e str {
    let found: Vec<&str> = ended
        .stderr
        .lines()
        .filter(|line| line.contains(text))
        .collect();
    match found[..] {
        [only] => only,
        _ => panic!("{} lines with {text:?}: {ended:#?}", found.len()),
    }
}
