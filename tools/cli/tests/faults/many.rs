//! Many PEs, and many jobs, of which nothing is left.

use std::collections::BTreeSet;

use crate::job::eventually;
use crate::programs::{fault_probe, run_probe};

#[test]
fn sixty_four_pes_meet_and_end() {
    let ended = run_probe(64, &[], &["meet"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout.lines().count(), 64);
}

/// A job of twice as many PEs takes twice as much, not four times as much: the kernel's work to
/// start and end a PE does not grow with the number of PEs.
#[test]
fn what_a_pe_takes_to_start_and_end_does_not_grow_with_their_number() {
    let (few, many) = (80, 160);
    let [[maps, files, faults], [more_maps, more_files, more_faults]] = [few, many].map(|pes| {
        let ended = run_probe(pes, &["--heap", "4M"], &["footprint"]);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
        let pes_of = |column: usize| -> u64 {
            let mut all: Vec<u64> = ended
                .stdout
                .lines()
                .map(|line| line.split(' ').nth(column).unwrap().parse().unwrap())
                .collect();
            assert_eq!(all.len(), pes as usize);
            all.sort_unstable();
            all[all.len() / 2]
        };
        [pes_of(0), pes_of(1), pes_of(2)]
    });
    assert_eq!((maps, files), (more_maps, more_files));
    // Half a fault more for each additional PE is too many.
    let most = faults + u64::from(many - few) / 2;
    assert!(
        more_faults < most,
        "{faults} page faults, then {more_faults}"
    );
}

/// The memory that the library takes for a PE, without its heap and its rings.
#[test]
fn a_pe_takes_less_than_256_kibibytes() {
    for pes in [1, 2, 4, 8] {
        let ended = run_probe(pes, &[], &["memory"]);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
        let kib: Vec<u64> = ended.stdout.lines().map(|l| l.parse().unwrap()).collect();
        assert_eq!(kib.len(), pes as usize);
        // The own rings, and those in the segments of the others to which it sends.
        let rings_kib = u64::from(2 * pes * 5);
        let most = kib.iter().max().unwrap();
        assert!(*most < 256 + rings_kib, "{pes} PEs: {kib:?} KiB");
    }
}

/// A PE that hears from all others keeps memory for few of them: 8 eager buffers of 80 KiB.
#[test]
fn a_pe_that_hears_from_sixty_three_has_memory_for_eight() {
    let ended = run_probe(64, &["--heap", "4M"], &["hear"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let kib: Vec<u64> = ended
        .stdout
        .split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect();
    let [before, most] = kib[..] else {
        panic!("{kib:?}");
    };
    assert!(
        (before + 4 * 72..before + 9 * 72).contains(&most),
        "{before} KiB, then {most}"
    );
}

#[test]
fn nothing_is_left_where_a_pe_is_killed_in_its_eager_messages() {
    let files_before = files();
    for _ in 0..3 {
        let ended = run_probe(16, &["--heap", "4M"], &["hear", "die"]);
        assert_eq!(ended.status, 137, "{ended:#?}");
    }
    assert_eq!(own(&files_before), [""; 0]);
    eventually("all processes of the jobs end", || orphans().is_empty());
}

#[test]
fn two_hundred_jobs_leave_no_file_process_or_memory() {
    let files_before = files();
    let shared_before = shared_memory_kib();
    for number in 0..200 {
        // Some end as they should, some are killed.
        let (pes, arguments): (u32, &[&str]) = match number % 10 {
            9 => (3, &["die", "barrier"]),
            _ => (2, &["meet"]),
        };
        let ended = run_probe(pes, &["--heap", "4M"], arguments);
        let expected = if arguments[0] == "die" { 137 } else { 0 };
        assert_eq!(ended.status, expected, "job {number}: {ended:#?}");
    }
    assert_eq!(own(&files_before), [""; 0]);
    // Jobs of other tests may be running: only what stays for ever counts.
    eventually("all processes of the jobs end", || orphans().is_empty());
    // 200 jobs have touched more than 100 MiB.
    eventually("the memory of the jobs is given back", || {
        shared_memory_kib() < shared_before + (64 << 10)
    });
}

/// Files of jobs that were not there before.
fn own(before: &BTreeSet<String>) -> Vec<String> {
    let mut files = files();
    files.retain(|name| name.contains("hostwire") && !before.contains(name));
    files.into_iter().collect()
}

/// Where a job could leave files.
fn files() -> BTreeSet<String> {
    ["/dev/shm", "/tmp", "/var/tmp", "/run"]
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path().to_string_lossy().into_owned())
        .collect()
}

/// Processes of `fault_probe` whose launcher is gone.
fn orphans() -> Vec<String> {
    let probe = fault_probe();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|process| {
            let exe = std::fs::read_link(process.path().join("exe"));
            exe.is_ok_and(|exe| exe.to_string_lossy() == probe)
        })
        .filter(|process| {
            let status = std::fs::read_to_string(process.path().join("status"));
            status.is_ok_and(|status| status.lines().any(|line| line == "PPid:\t1"))
        })
        .map(|process| process.file_name().to_string_lossy().into_owned())
        .collect()
}

fn shared_memory_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("Shmem:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.unwrap_or(0)
}
