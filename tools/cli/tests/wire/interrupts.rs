//! A signal to the launcher while a job starts: it ends, on every wire, and no process is
//! left.
//!
//! A long test. `INTERRUPTS=N` is how many starts there are (200 by default), `SEED=S` which
//! moments they meet.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::hosts::may_make_hosts;
use crate::job::hostwire;
use crate::programs::fault_probe;

/// The programs that are started, and their wires.
const WIRES: [&str; 6] = ["shm", "stores", "udp", "tcp", "ether", "xdp"];
/// The signals come within so long of the start.
const START: Duration = Duration::from_millis(200);
/// How long the end may take: PEs have a grace of 5 s, and this machine other things to do.
const END: Duration = Duration::from_secs(20);
/// The mark of the processes of one start.
const MARK: &str = "HOSTWIRE_TEST_START";

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// As in the background of a shell script: programs that are started here see no interrupt until
/// they handle it.
fn is_interrupt_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) >> (Signal::INT.as_raw() - 1) & 1 == 1
}

fn start(wire: &str, mark: &str) -> Child {
    let probe = fault_probe();
    let mut arguments = vec!["run", "-n", "2"];
    let variables = match wire {
        "stores" => vec![("HOSTWIRE_WIRE", "stores")],
        wire => {
            arguments.extend(["--wire", wire]);
            vec![]
        }
    };
    arguments.extend([&probe, "steady", "20000"]);
    let mut command: Command = hostwire(&arguments);
    command
        .envs(variables)
        .env(MARK, mark)
        // Held open: the job goes on until it is ended.
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// The running processes with this mark, with their state in the kernel.
fn marked(mark: &str) -> Vec<String> {
    let mark = format!("{MARK}={mark}\0");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let bears = |pid: &String| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&mark)
    };
    let describe = |pid: String| {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}"));
        let read = |name: &str| read(name).unwrap_or_default();
        let status = read("status");
        let of_note = |line: &&str| {
            let names = [
                "Name:", "State:", "PPid:", "SigPnd:", "ShdPnd:", "SigBlk:", "SigIgn:",
            ];
            names.iter().any(|name| line.starts_with(name))
        };
        let lines: Vec<&str> = status.lines().filter(of_note).collect();
        format!(
            "{pid}: {} {}",
            lines.join(" "),
            read("stack").replace('\n', " < ")
        )
    };
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(bears)
        .map(describe)
        .collect()
}

#[test]
#[ignore = "takes minutes"]
fn a_signal_at_any_moment_of_the_start_ends_a_job() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let seed = number("SEED", u64::from(std::process::id()));
    let starts = number("INTERRUPTS", 200);
    eprintln!("SEED={seed} INTERRUPTS={starts}");
    let may_interrupt = !is_interrupt_ignored();
    let mut state = seed;
    let mut slowest = [Duration::ZERO; WIRES.len()];
    let mut failures = Vec::new();
    for number in 0..starts {
        let which = (number % WIRES.len() as u64) as usize;
        let wire = WIRES[which];
        let signal = match next(&mut state) % 2 {
            1 if may_interrupt => Signal::INT,
            _ => Signal::TERM,
        };
        let after = Duration::from_micros(next(&mut state) % START.as_micros() as u64);
        let mark = format!("{}-{number}", std::process::id());
        let mut launcher = start(wire, &mark);
        std::thread::sleep(after);
        let _ = kill_process(Pid::from_child(&launcher), signal);
        let begin = Instant::now();
        let mut is_late = false;
        loop {
            let ended = launcher.try_wait().unwrap().is_some();
            if ended && marked(&mark).is_empty() {
                break;
            }
            if begin.elapsed() > END {
                let left = marked(&mark).join("\n  ");
                failures.push(format!(
                    "start {number} on {wire}, {signal:?} after {after:?}: not ended (launcher \
                     ended: {ended})\n  {left}"
                ));
                is_late = true;
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        slowest[which] = slowest[which].max(begin.elapsed());
        if is_late {
            let _ = launcher.kill();
            let _ = launcher.wait();
        }
    }
    eprintln!(
        "slowest ends: {:?}",
        WIRES.iter().zip(slowest).collect::<Vec<_>>()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
