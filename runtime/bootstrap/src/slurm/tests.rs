use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use hostwire_testing::{left_out, need};

use super::*;

/// A step that no other test has.
fn step() -> u32 {
    static STEPS: AtomicU32 = AtomicU32::new(0);
    STEPS.fetch_add(1, Ordering::Relaxed)
}

fn task(step: u32, rank: u32, size: u32, patience_s: u64) -> Result<Step, SlurmError> {
    let job = std::process::id();
    Step::from_lookup(
        |name| {
            Some(match name {
                "SLURM_PROCID" => rank.to_string(),
                "SLURM_STEP_NUM_TASKS" => size.to_string(),
                "SLURM_STEP_NUM_NODES" => "1".into(),
                "SLURM_JOB_ID" => job.to_string(),
                "SLURM_STEP_ID" => step.to_string(),
                "SLURM_CLUSTER_NAME" => "te/st".into(),
                _ => return None,
            })
        },
        Deadline::after(Duration::from_secs(patience_s)),
    )
}

/// The beginning of the name of a step's socket.
fn place(step: u32) -> String {
    let uid = rustix::process::geteuid().as_raw();
    format!("hostwire-slurm-{uid}-test-{}.{step}-", std::process::id())
}

/// Listens at names of a step as another user, until the test is over.
fn take_names_as_nobody(step: u32, names: &[String]) -> Option<Vec<UnixListener>> {
    let nobody = rustix::process::Uid::from_raw(65534);
    if !rustix::process::geteuid().is_root() {
        left_out(&need::ROOT, "only root can be another user");
        return None;
    }
    let beginning = place(step);
    let listen = move |ending: &String| {
        let name = format!("{beginning}{ending}");
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap()
    };
    thread::scope(|scope| {
        let taker = scope.spawn(move || {
            // Of this thread alone.
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            names.iter().map(listen).collect()
        });
        Some(taker.join().unwrap())
    })
}

#[test]
fn another_user_who_takes_names_first_is_not_in_the_way() {
    let step = step();
    // The bare beginning as a name that can be guessed, and many that might be the right one.
    let guesses = (0..300).map(|n| format!("-{n:016x}"));
    let names: Vec<String> = [String::new()].into_iter().chain(guesses).collect();
    let Some(taken) = take_names_as_nobody(step, &names) else {
        return;
    };
    let tasks = [0, 1, 2].map(|rank| {
        thread::spawn(move || {
            let mut task = task(step, rank, 3, 60).unwrap();
            task.put("k", &[rank as u8]).unwrap();
            task.fence().unwrap();
            [0, 1, 2].map(|peer| task.get(peer, "k").unwrap())
        })
    });
    for task in tasks {
        assert_eq!(task.join().unwrap(), [[0], [1], [2]]);
    }
    drop(taken);
}

#[test]
fn tasks_meet_in_any_order_and_have_what_all_have_put() {
    for size in [1, 2, 5] {
        let step = step();
        let tasks = (0..size).rev().map(|rank| {
            thread::spawn(move || {
                let mut task = task(step, rank, size, 60).unwrap();
                for round in ["a", "b"] {
                    let mine = format!("{round}{rank}").repeat(10_000 * rank as usize);
                    task.put(round, mine.as_bytes()).unwrap();
                    task.fence().unwrap();
                    for peer in 0..size {
                        let theirs = format!("{round}{peer}").repeat(10_000 * peer as usize);
                        assert_eq!(task.get(peer, round).unwrap(), theirs.as_bytes());
                    }
                }
                let error = task.get(0, "c").unwrap_err().to_string();
                assert_eq!(error, "task 0 of the step has put nothing under \"c\"");
                task.finalize().unwrap();
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.join().unwrap();
        }
    }
}

fn absent(tasks: &[u32], waited_s: u64) -> LaunchError {
    let tasks = tasks.to_vec();
    SlurmError::Absent { tasks, waited_s }.into()
}

#[test]
fn tasks_that_do_not_come_are_named_to_all() {
    let step = step();
    let mut hub = task(step, 0, 4, 1).unwrap();
    let other = thread::spawn(move || task(step, 2, 4, 60).unwrap().fence());
    let error = hub.fence().unwrap_err();
    assert_eq!(error, absent(&[1, 3], 1));
    assert!(matches!(
        other.join().unwrap(),
        Err(LaunchError::Slurm(SlurmError::Refused { .. }))
    ));
}

#[test]
fn a_task_0_that_does_not_come_is_named() {
    let error = task(step(), 1, 2, 0).unwrap().fence().unwrap_err();
    assert_eq!(error, absent(&[0], 0));
}

#[test]
fn the_text_of_who_is_absent_names_the_variable() {
    assert_eq!(
        absent(&[1, 3], 2).to_string(),
        "waited 2 s for task 1, 3 of the step; HOSTWIRE_ATTACH_TIMEOUT sets how many seconds to wait"
    );
}

#[test]
fn a_task_that_ends_between_fences_is_named_to_all() {
    let step = step();
    let tasks = [1, 2].map(|rank| {
        thread::spawn(move || {
            let mut task = task(step, rank, 3, 60).unwrap();
            task.fence().unwrap();
            match rank {
                1 => Ok(()),
                _ => task.fence(),
            }
        })
    });
    let mut hub = task(step, 0, 3, 60).unwrap();
    hub.fence().unwrap();
    let error = hub.fence().unwrap_err().to_string();
    assert_eq!(error, "task 1 of the step has ended");
    let [first, second] = tasks.map(|task| task.join().unwrap());
    first.unwrap();
    let error = second.unwrap_err().to_string();
    assert_eq!(error, "task 0 says: task 1 of the step has ended");
}

#[test]
fn strangers_are_not_let_in_and_do_no_harm() {
    let step = step();
    let mut hub = task(step, 0, 2, 60).unwrap();
    let strangers = [
        &b"cmd=init\n"[..],
        b"\xff\xff\xff\xff",
        b"\x05\0\0\0hws\x01",
        b"",
    ];
    let strangers = strangers.map(|bytes| {
        let mut stream = door::enter(&place(step)).unwrap().unwrap();
        stream.write_all(bytes).unwrap();
        stream
    });
    let other = thread::spawn(move || {
        let mut task = task(step, 1, 2, 60).unwrap();
        task.put("k", b"v").unwrap();
        task.fence().unwrap();
    });
    hub.fence().unwrap();
    assert_eq!(hub.get(1, "k").unwrap(), b"v");
    other.join().unwrap();
    drop(strangers);
}

#[test]
fn a_task_of_another_step_is_told_so() {
    let step = step();
    let mut hub = task(step, 0, 2, 60).unwrap();
    let other = thread::spawn(move || task(step, 2, 3, 60).unwrap().fence());
    assert!(hub.fence().is_err());
    let reason = "there is no place for a task 2 of 3 in this step of 2".to_owned();
    assert_eq!(
        other.join().unwrap(),
        Err(SlurmError::Refused { reason }.into())
    );
    // And only one task can have the name of the socket.
    let Some(SlurmError::Socket { source, .. }) = task(step, 0, 2, 60).err() else {
        panic!("it was opened twice");
    };
    assert_eq!(source.get().kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn what_is_put_has_limits() {
    let mut hub = task(step(), 0, 1, 60).unwrap();
    assert!(hub.put("", b"").is_err());
    assert!(hub.put(&"k".repeat(256), b"").is_err());
    hub.put(&"k".repeat(255), b"").unwrap();
}

#[test]
fn variables_that_make_no_sense_are_named() {
    let error = |changed: &str, value: Option<&str>| {
        let lookup = |name: &str| match name == changed {
            true => value.map(str::to_owned),
            false => Some("1".to_owned()),
        };
        let step = Step::from_lookup(lookup, Deadline::after(Duration::ZERO));
        step.err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert_eq!(
        error("SLURM_JOB_ID", None),
        "SLURM_JOB_ID is missing in the environment; expected the number of the job"
    );
    assert_eq!(
        error("SLURM_PROCID", Some("-1")),
        "SLURM_PROCID is \"-1\" in the environment; expected the number of this task"
    );
    assert_eq!(
        error("SLURM_PROCID", Some("7")),
        "SLURM_PROCID is 7 of SLURM_STEP_NUM_TASKS 1 in the environment; expected a number \
         below that of the tasks"
    );
    assert_eq!(
        error("SLURM_STEP_NUM_NODES", Some("2")),
        SlurmError::SeveralNodes { nodes: 2 }.to_string()
    );
}
