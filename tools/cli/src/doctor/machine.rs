//! CPUs, and what a container leaves of them.

use std::fs;

use rustix::process::{Resource, getrlimit};
use rustix::thread::sched_getaffinity;

use super::Finding;

const TOPIC: &str = "machine";
/// Descriptors that a launcher needs for each PE, and some.
const FILES_FEW: u64 = 256;

pub fn findings() -> Vec<Finding> {
    let mut findings = vec![cpus(), quota(), files(), kernel()];
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    findings.extend(jumps(&cpuinfo));
    findings
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

/// On processors with the erratum, the time of a short loop of puts depends on luck, unless no jump
/// lies at the end of 32 bytes of code. See the README of the crate `hostwire`.
fn jumps(cpuinfo: &str) -> Option<Finding> {
    let name = has_jump_erratum(cpuinfo)?;
    Some(Finding::note(
        TOPIC,
        "jumps",
        format!("{name} is slow where they cross 32 bytes of code"),
        "for programs in Rust, in .cargo/config.toml: rustflags = [\"-C\", \
         \"llvm-args=--x86-branches-within-32B-boundaries\"]; in C: -Wa,-mbranches-within-32B-boundaries",
    ))
}

/// The processor's name, if it is one of those of Intel's document 341810 (Skylake to Cascade Lake
/// and related ones).
fn has_jump_erratum(cpuinfo: &str) -> Option<&str> {
    let value = |key: &str| {
        let mut lines = cpuinfo.lines();
        lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then_some(value.trim())
        })
    };
    let number = |key| value(key)?.parse::<u32>().ok();
    let is_intel = value("vendor_id")? == "GenuineIntel" && number("cpu family")? == 6;
    let affected = match number("model")? {
        // From stepping 10 on it is Cooper Lake.
        0x55 => number("stepping")? < 10,
        0x4e | 0x5e | 0x8e | 0x9e | 0xa6 | 0xae => true,
        _ => false,
    };
    (is_intel && affected).then(|| value("model name").unwrap_or("this processor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_that_are_slow_at_jumps_are_known() {
        let info = |vendor: &str, model: u32, stepping: u32| {
            format!(
                "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: 6\nmodel\t\t: {model}\n\
                 model name\t: A processor\nstepping\t: {stepping}\n\nprocessor\t: 1\n"
            )
        };
        for (vendor, model, stepping, known) in [
            ("GenuineIntel", 0x55, 7, Some("A processor")),
            ("GenuineIntel", 0x9e, 13, Some("A processor")),
            ("GenuineIntel", 0x55, 11, None),
            ("GenuineIntel", 0x8f, 8, None),
            ("AuthenticAMD", 0x55, 7, None),
        ] {
            let info = info(vendor, model, stepping);
            assert_eq!(has_jump_erratum(&info), known, "{info}");
        }
        assert!(jumps(&info("GenuineIntel", 85, 7)).is_some());
        for nothing in ["", "vendor_id\t: GenuineIntel\n", "model name : Cortex\n"] {
            assert_eq!(has_jump_erratum(nothing), None);
        }
    }

    #[test]
    fn quotas_are_read() {
        assert_eq!(read_quota("150000 100000\n"), Some(1.5));
        for none in ["max 100000\n", "", "1 0", "x y"] {
            assert_eq!(read_quota(none), None, "{none}");
        }
    }
}
