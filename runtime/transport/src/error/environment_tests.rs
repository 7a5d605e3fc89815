use super::*;
use crate::error::TransportError;

#[test]
fn each_fault_says_what_is_there_and_what_to_do() {
    use EnvironmentFault::*;
    let up = || vec!["a".to_owned(), "b".to_owned()].into();
    for (fault, text) in [
        (
            NotPermitted {
                rights: "CAP_X",
                advice: "run as root",
            },
            "not allowed without CAP_X; run as root",
        ),
        (InUse { rule: "one can" }, "in use: one can"),
        (NoRoom { cause: None }, "more than the address space"),
        (
            Limit {
                limit: super::Limit::OpenFiles,
                detail: "expected 2 descriptors, got 1".into(),
            },
            "expected 2 descriptors, got 1; raise the limit of open files (ulimit -n)",
        ),
        (
            Limit {
                limit: super::Limit::FileBytes,
                detail: "files may have at most 5 bytes".into(),
            },
            "files may have at most 5 bytes; raise the limit of files (ulimit -f), or take a smaller \
             HOSTWIRE_HEAP or SHMEM_SYMMETRIC_SIZE",
        ),
        (
            Absent { pes: [1, 2].into() },
            "PE 1, 2 did not come in time",
        ),
        (
            NoAnswer {
                pe: 1,
                address: "udp=10.9.0.1:4000".into(),
                silence: Silence::Unknown,
            },
            "it does not answer (does the network carry udp=10.9.0.1:4000 from here?)",
        ),
        (
            Number { pe: 4, pes: 4 },
            "PE 4 is not one of the 4 PEs of the job",
        ),
        (
            Number { pe: 1, pes: 4 },
            "two processes say that they are PE 1",
        ),
        (
            NoInterface {
                named: Some("x".into()),
                up: up(),
            },
            "there is no \"x\" (HOSTWIRE_IFACE); the Ethernet interfaces that are up: a, b",
        ),
        (
            NoInterface {
                named: None,
                up: [].into(),
            },
            "no default route shows which; set HOSTWIRE_IFACE; no Ethernet interface is up",
        ),
        (
            EnvironmentFault::unexpected("4 bytes", 8),
            "expected 4 bytes, got 8",
        ),
    ] {
        let error = TransportError::environment("doing it", fault);
        assert_eq!(error.to_string(), format!("doing it: {text}"));
    }
}

#[test]
fn a_disagreement_names_both_pes_and_what_to_set() {
    let disagreement = |about| EnvironmentFault::Disagreement {
        pe: 1,
        with: 0,
        about,
    };
    let sizes = "all PEs need the same program and the same sizes (HOSTWIRE_HEAP, HOSTWIRE_RING, \
                 SHMEM_SYMMETRIC_SIZE)";
    for (fault, text) in [
        (
            disagreement(Disagreement::Pes { theirs: 2, ours: 3 }),
            "PE 1 says that the job has 2 PEs, PE 0 says 3",
        ),
        (
            disagreement(Disagreement::SegmentBytes { theirs: 8, ours: 4 }),
            &format!("PE 1 has a segment of 8 bytes, PE 0 of 4: {sizes}"),
        ),
        (
            disagreement(Disagreement::Size {
                what: "message rings",
                theirs: 8,
                ours: 4,
            }),
            &format!("PE 1 has message rings of 8 bytes, PE 0 of 4: {sizes}"),
        ),
        (
            disagreement(Disagreement::Version { theirs: 8, ours: 4 }),
            "PE 1 lays memory out by version 8, PE 0 by version 4: all PEs need the same version of \
             hostwire",
        ),
        (
            disagreement(Disagreement::Setting {
                setting: "HOSTWIRE_RECORD",
                theirs: true,
            }),
            "PE 1 has HOSTWIRE_RECORD and PE 0 has not: it has to be set for all PEs, or for none",
        ),
        (
            disagreement(Disagreement::Setting {
                setting: "HOSTWIRE_FAULTS",
                theirs: false,
            }),
            "PE 0 has HOSTWIRE_FAULTS and PE 1 has not: it has to be set for all PEs, or for none",
        ),
        (
            disagreement(Disagreement::Wire {
                theirs: "ether=02:02:02:02:02:02".into(),
                ours: "UDP",
            }),
            "PE 1 is at ether=02:02:02:02:02:02, and PE 0 speaks UDP (do all run with the same \
             HOSTWIRE_WIRE?)",
        ),
        (
            disagreement(Disagreement::Interfaces { theirs: 2, ours: 3 }),
            "PE 1 uses 2 interfaces, PE 0 uses 3: HOSTWIRE_IFACE has to name as many for all PEs",
        ),
        (
            disagreement(Disagreement::Encryption { theirs: false }),
            "PE 1 runs without encryption and PE 0 with: HOSTWIRE_INSECURE_WIRE has to be the same \
             for all PEs",
        ),
    ] {
        assert_eq!(fault.to_string(), text);
    }
}

#[test]
fn errors_of_the_system_are_kept_and_compared() {
    let refused = |number| TransportError::environment("x", io::Error::from_raw_os_error(number));
    assert_eq!(refused(2), refused(2));
    assert_ne!(refused(2), refused(13));
    let TransportError::Environment { what, fault } = refused(13) else {
        panic!("another variant");
    };
    let EnvironmentFault::System(cause) = fault else {
        panic!("{fault:?}");
    };
    assert_eq!((&*what, cause.get().raw_os_error()), ("x", Some(13)));
    assert_eq!(cause.get().kind(), io::ErrorKind::PermissionDenied);
    for number in [libc::EMFILE, libc::ENFILE] {
        let fault = EnvironmentFault::from(io::Error::from_raw_os_error(number));
        let EnvironmentFault::Limit { limit, .. } = fault else {
            panic!("{fault:?}");
        };
        assert_eq!(limit, Limit::OpenFiles);
    }
}

#[test]
fn words_from_outside_reach_no_terminal() {
    let odd = io::Error::other("a\u{1b}[2Jb");
    assert_eq!(
        TransportError::environment("x", odd).to_string(),
        "x: a [2Jb"
    );
    let fault = EnvironmentFault::unexpected("a\u{7}", "b");
    assert_eq!(fault.to_string(), "expected a , got b");
}
