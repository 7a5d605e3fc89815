//! Too little of something: descriptors, address space, memory, /dev/shm.

use hostwire_testing::{is_installed, left_out, need};

use crate::programs::{all_fine, fault_probe, is_root, run, run_probe, run_script};

#[test]
fn too_few_descriptors_for_the_launcher_are_told_before_anything_starts() {
    let ended = run_script("ulimit -n 40; exec $HOSTWIRE run -n 30 $PROBE everything");
    assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{ended:#?}");
    assert!(ended.stderr.contains("open files"), "{ended:#?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
}

#[test]
fn too_few_descriptors_for_the_pes_are_told() {
    // PE 0 runs out of them with a connection or with a segment.
    for files in [20, 21] {
        let ended = run_script(&format!(
            "exec $HOSTWIRE run -n 30 --keep-going sh -c \
             'ulimit -n {files}; exec \"$0\" everything' $PROBE"
        ));
        assert_ne!(ended.status, 0, "{ended:#?}");
        assert!(ended.stderr.contains("ulimit -n"), "{ended:#?}");
        assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
    }
}

#[test]
fn a_heap_beyond_the_memory_is_refused_by_the_launcher() {
    let ended = run_probe(2, &["--heap", "100T"], &["everything"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{ended:#?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
}

#[test]
fn a_heap_beyond_the_address_space_is_refused_by_the_library() {
    for heap in ["200T", "4000000T", "9223372036854775807"] {
        let ended = run(
            "env",
            &[
                &format!("HOSTWIRE_HEAP={heap}"),
                &fault_probe(),
                "everything",
            ],
        );
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{ended:#?}");
        assert!(ended.stderr.starts_with("fault_probe: "), "{ended:#?}");
        assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
    }
    if is_installed("mpiexec.hydra", &need::MPICH) {
        let arguments = [
            "-n",
            "3",
            "-env",
            "HOSTWIRE_HEAP",
            "60T",
            &fault_probe(),
            "everything",
        ];
        let ended = run("mpiexec.hydra", &arguments);
        assert_ne!(ended.status, 0, "{ended:#?}");
        let told = ended.stdout.clone() + &ended.stderr;
        assert!(told.contains("addresses for 3 segments"), "{ended:#?}");
    }
}

#[test]
fn different_heaps_or_rings_are_told() {
    // Also sizes that fill the same number of pages.
    for setting in [
        "HOSTWIRE_HEAP=$((PMI_RANK + 1))M",
        "HOSTWIRE_HEAP=$((PMI_RANK * 8 + 64))K",
        "HOSTWIRE_RING=$(((PMI_RANK + 1) * 1024))",
    ] {
        let script =
            format!("exec $HOSTWIRE run -n 2 sh -c '{setting} exec \"$0\" everything' $PROBE");
        let ended = run_script(&script);
        assert_ne!(ended.status, 0, "{setting}: {ended:#?}");
        let told = "all PEs need the same program and the same sizes";
        assert!(ended.stderr.contains(told), "{setting}: {ended:#?}");
    }
}

/// Runs a job that uses 160 MB of shared memory behind folders mounted so.
fn behind(mount: &str) {
    let in_new_namespace = |script: &str| {
        run_script(&format!(
            "exec unshare -m sh -ec '{script}' \"$HOSTWIRE\" \"$PROBE\""
        ))
    };
    if !is_root() {
        return;
    }
    let possible = in_new_namespace(mount);
    if possible.status != 0 {
        let why = format!("cannot mount here: {}", possible.stderr.trim());
        return left_out(&need::NAMESPACES, why);
    }
    let job = "exec \"$0\" run -n 4 --heap 64M \"$1\" fill 40000000";
    let ended = in_new_namespace(&format!("{mount}; {job}"));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{mount}");
    assert_eq!(ended.sorted_lines(), all_fine(4));
}

#[test]
fn a_small_dev_shm_does_not_matter() {
    behind("mount -t tmpfs -o size=64M none /dev/shm");
}

#[test]
fn a_missing_dev_shm_does_not_matter() {
    behind("mount -t tmpfs -o ro,size=4k none /dev/shm");
    // Also in a /dev that has only the minimum.
    behind("mount -t tmpfs none /dev; mknod -m 666 /dev/null c 1 3");
}

#[test]
fn temporary_folders_without_room_do_not_matter() {
    behind("mount -t tmpfs -o ro,size=4k none /mnt; export TMPDIR=/mnt");
    behind("mount -t tmpfs -o size=4M none /dev/shm; export TMPDIR=/nowhere");
}
