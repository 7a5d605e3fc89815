//! The hosts that a job makes end with the job. A program on an interface ends with its process.
//! Both hold for every end.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};

use hostwire_transport::os::process::die_with_parent;
use rustix::process::{Pid, Signal};

use crate::hosts::{Steady, may_make_hosts};
use crate::job::{Job, eventually, hostwire, is_running};
use crate::programs::run;

/// Processes of a job and the network namespaces that it has made.
#[derive(Debug)]
struct Traces {
    pids: Vec<String>,
    namespaces: BTreeSet<String>,
}

impl Traces {
    /// Of a launcher and all that it has started until now.
    fn of(launcher: Pid) -> Self {
        let pids = descendants(launcher.as_raw_pid().to_string());
        let own = namespaces_of("self");
        let seen = pids.iter().flat_map(|pid| namespaces_of(pid));
        let namespaces: BTreeSet<String> = seen.filter(|seen| !own.contains(seen)).collect();
        Self { pids, namespaces }
    }

    /// Checks that nothing of it is left, a moment later at the latest.
    fn vanish(&self) {
        eventually("all processes of the job end", || {
            !self.pids.iter().any(|pid| is_running(pid))
        });
        eventually("nobody holds a network namespace of the job", || {
            processes().all(|pid| namespaces_of(&pid).is_disjoint(&self.namespaces))
        });
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        for namespace in &self.namespaces {
            assert!(!mounts.contains(namespace), "{namespace}: {mounts}");
        }
        let links = run("ip", &["-o", "link"]).stdout;
        assert!(
            !links.contains(" wire") && !links.contains(" port"),
            "{links}"
        );
    }
}

/// This process and its children, theirs, and so on.
fn descendants(pid: String) -> Vec<String> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let below = children.split_whitespace().map(str::to_owned);
    let below: Vec<String> = below.flat_map(descendants).collect();
    [vec![pid], below].concat()
}

fn processes() -> impl Iterator<Item = String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The network namespaces that a process is in or has a descriptor of.
fn namespaces_of(pid: &str) -> BTreeSet<String> {
    let links = [format!("/proc/{pid}/fd"), format!("/proc/{pid}/task")].map(fs::read_dir);
    let [files, tasks] = links.map(|entries| entries.into_iter().flatten().flatten());
    let places = files
        .map(|file| file.path())
        .chain(tasks.map(|task| task.path().join("ns/net")));
    places
        .filter_map(|place| {
            fs::read_link(place)
                .ok()?
                .into_os_string()
                .into_string()
                .ok()
        })
        .filter(|target| target.starts_with("net:["))
        .collect()
}

/// The interrupt of Ctrl-C, and a launcher that was killed.
const ENDS: [(Signal, i32); 2] = [(Signal::INT, 130), (Signal::KILL, -9)];

#[test]
fn hosts_go_with_the_job() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    // Two hosts have a cable between them, three a switch in a namespace of its own.
    for (hosts, namespaces) in [("2", 2), ("3", 4)] {
        for (signal, status) in ENDS {
            let steady = Steady::start(4, &["--hosts", hosts], &[]);
            let traces = Traces::of(steady.launcher());
            assert_eq!(traces.namespaces.len(), namespaces, "{traces:?}");
            // Launcher, warden, PEs.
            assert!(traces.pids.len() >= 6, "{traces:?}");
            steady.signal_launcher(signal);
            let ended = steady.end_by_itself();
            assert_eq!(ended.status, status, "{ended:#?}");
            traces.vanish();
        }
    }
}

#[test]
fn hosts_go_with_the_benchmark() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for (signal, status) in ENDS {
        let command = hostwire(&["bench", "put", "--wire", "ether", "--repeats", "1000"]);
        let job = Job::start(command);
        let pes = || {
            let all = descendants(job.pid().as_raw_pid().to_string());
            let network = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
            let opened = |pid: &String| {
                let sockets = fs::read_to_string(format!("/proc/{pid}/net/packet"));
                network(pid) != network("self")
                    && sockets.is_ok_and(|text| text.lines().count() > 1)
            };
            all.into_iter().filter(opened).count()
        };
        eventually("both PEs open their sockets", || pes() >= 2);
        let traces = Traces::of(job.pid());
        assert_eq!(traces.namespaces.len(), 2, "{traces:?}");
        job.signal(signal);
        let ended = job.end();
        assert_eq!(ended.status, status, "{ended:#?}");
        traces.vanish();
    }
}

/// A process that stays on a host after the job has ended, to look at its interface.
struct Witness(Child);

impl Witness {
    fn on_host_of(steady: &Steady, pe: usize) -> Self {
        // Reports that it has entered, then waits for a request. The kernel takes a program
        // off an interface soon after the last descriptor is closed.
        let script = "echo here; read ask; \
                      for _ in $(seq 600); do \
                      ip link show wire | grep -q xdp || exit 0; sleep 0.1; done; exit 1";
        let pid = steady.pids[pe].as_raw_pid().to_string();
        let mut command = Command::new("nsenter");
        command
            .args(["-t", &pid, "-n", "sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        die_with_parent(&mut command);
        let mut child = command.spawn().unwrap();
        let mut said = [0; 5];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        Self(child)
    }

    /// Whether the interface is free of programs, now or soon.
    fn sees_none(mut self) -> bool {
        drop(self.0.stdin.take());
        self.0.wait().unwrap().success()
    }
}

#[test]
fn no_program_stays_at_an_interface() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for kills_launcher in [false, true] {
        let steady = Steady::start_program_over("xdp", 2, &["--keep-going"], &[]);
        for pe in 0..2 {
            let shown = steady.on_host_of(pe, &["ip", "link", "show", "wire"]);
            assert!(shown.stdout.contains("xdp"), "{shown:#?}");
        }
        let witnesses = [0, 1].map(|pe| Witness::on_host_of(&steady, pe));
        let status = if kills_launcher {
            steady.signal_launcher(Signal::KILL);
            -9
        } else {
            for pe in 0..2 {
                steady.signal(pe, Signal::KILL);
            }
            137
        };
        let ended = steady.end_by_itself();
        assert_eq!(ended.status, status, "{ended:#?}");
        for witness in witnesses {
            assert!(witness.sees_none());
        }
    }
}
