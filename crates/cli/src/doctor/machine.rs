//! CPUs, and what a container leaves of them.

use std::fs;

use rustix::process::{Resource, getrlimit};
use rustix::thread::sched_getaffinity;

use super::Finding;

const TOPIC: &str = "machine";
/// Descriptors that a launcher needs for each PE, and some.
const FILES_FEW: u64 = 256;

pub fn findings() -> Vec<Finding> {
    vec![cpus(), quota(), files(), kernel()]
}

fn cpus() -> Finding {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let online = online.trim();
    match sched_getaffinity(None) {
        Ok(set) if set.count() >= 2 => Finding::ok(
            TOPIC,
            "CPUs",
            format!("{} for this process, online: {online}", set.count()),
        ),
        Ok(set) => Finding::note(
            TOPIC,
            "CPUs",
            format!("{} for this process, online: {online}", set.count()),
            "PEs that share a CPU wait for each other's turns: see taskset -p, or the container",
        ),
        Err(error) => Finding::note(
            TOPIC,
            "CPUs",
            format!("not known ({error}), online: {online}"),
            "PEs are not bound to CPUs: --bind none",
        ),
    }
}

/// cpu.max: microseconds that may be used, and of how many.
fn quota() -> Finding {
    let text = fs::read_to_string("/sys/fs/cgroup/cpu.max").unwrap_or_default();
    match read_quota(&text) {
        None => Finding::ok(TOPIC, "CPU quota", "none"),
        Some(cpus) => Finding::note(
            TOPIC,
            "CPU quota",
            format!("{cpus:.1} CPUs for this container"),
            "PEs that spin use it up and are stopped for a while; give the container more, or \
             start no more PEs than that",
        ),
    }
}

fn read_quota(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let quota: f64 = words.next()?.parse().ok()?;
    let period: f64 = words.next()?.parse().ok()?;
    (period > 0.0).then(|| quota / period)
}

fn files() -> Finding {
    let limit = getrlimit(Resource::Nofile);
    match limit.maximum {
        Some(maximum) if maximum < FILES_FEW => Finding::note(
            TOPIC,
            "open files",
            format!("at most {maximum} per process"),
            "for more than a few dozen PEs: ulimit -Hn 4096, as root",
        ),
        Some(maximum) => Finding::ok(TOPIC, "open files", format!("up to {maximum}")),
        None => Finding::ok(TOPIC, "open files", "no limit"),
    }
}

fn kernel() -> Finding {
    let name = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let found = format!("{} on {}", text(name.release()), text(name.machine()));
    Finding::ok(TOPIC, "kernel", found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_read() {
        assert_eq!(read_quota("150000 100000\n"), Some(1.5));
        for none in ["max 100000\n", "", "1 0", "x y"] {
            assert_eq!(read_quota(none), None, "{none}");
        }
    }
}
