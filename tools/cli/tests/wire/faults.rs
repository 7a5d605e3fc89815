//! Faults of a network. All bytes still have to be right.

use std::time::Duration;

use rustix::process::Signal;

use crate::hosts::{Steady, may_make_hosts};
use crate::programs::fault_probe;

/// Two PEs on two hosts, for some rounds.
fn survives(faults: &str) {
    let program = [&fault_probe()[..], "steady", "20000", "20"];
    let variables = [("HOSTWIRE_FAULTS", faults)];
    for options in [&["--stats"][..], &["--stats", "--insecure-wire"]] {
        let steady = Steady::start_command(2, options, &variables, &program);
        let ended = steady.end_well();
        // Checks that faults have really happened.
        assert!(
            ended.stderr.contains("faults injected"),
            "{faults}: {ended:#?}"
        );
    }
}

#[test]
fn loss_duplicates_reordering_and_flipped_bits() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for faults in [
        "drop=0.01,seed=1",
        "drop=0.05,seed=2",
        "drop=0.1,seed=11",
        "dup=0.1,seed=3",
        "reorder=0.1,seed=4",
        "flip=0.02,seed=5",
        "drop=0.02,dup=0.05,reorder=0.05,flip=0.02,seed=6",
    ] {
        survives(faults);
    }
}

#[test]
fn every_fifth_frame_is_lost() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    survives("drop=0.2,seed=7");
}

/// Rare loss shows in a long job only.
#[test]
#[ignore = "some ten thousand frames; see make test-long"]
fn one_frame_in_a_thousand_is_lost() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for (faults, pes) in [("drop=0.001,seed=8", 2), ("drop=0.1,reorder=0.1,seed=9", 6)] {
        let variables = [("HOSTWIRE_FAULTS", faults)];
        let steady = Steady::start(pes, &["--stats", "--hosts", "2"], &variables);
        std::thread::sleep(Duration::from_secs(10));
        let ended = steady.end_well();
        assert!(ended.stderr.contains("faults injected"), "{ended:#?}");
    }
}

#[test]
fn a_cable_that_is_out_for_two_seconds() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let steady = Steady::start(2, &["--stats"], &[]);
    steady.on_host_of(0, &["ip", "link", "set", "wire", "down"]);
    std::thread::sleep(Duration::from_secs(2));
    steady.on_host_of(0, &["ip", "link", "set", "wire", "up"]);
    let ended = steady.end_well();
    assert!(ended.stderr.contains("frames sent again"), "{ended:#?}");
}

#[test]
fn a_pe_that_is_stopped_for_three_seconds() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let steady = Steady::start(4, &[], &[]);
    steady.signal(3, Signal::STOP);
    std::thread::sleep(Duration::from_secs(3));
    steady.signal(3, Signal::CONT);
    steady.end_well();
}

/// One end of the cable accepts shorter frames than the other one assumes. Each of the shorter
/// sizes that are tried (docs/link.md) has room for all that is added to a frame, to the byte.
#[test]
fn a_path_that_takes_smaller_frames_than_the_interface() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for (wire, mtu) in [
        ("ether", 1400),
        ("ether", 1280),
        ("ether", 576),
        ("ether", 300),
        ("udp", 1280),
        ("udp", 576),
        ("tcp", 576),
    ] {
        for option in ["--stats", "--insecure-wire"] {
            let script = format!(
                "[ $(hostname) = host0 ] || ip link set wire mtu {mtu}; exec {} steady 20000",
                fault_probe()
            );
            let steady = Steady::start_over(wire, 2, &[option], &[], &["sh", "-c", &script]);
            steady.end_well();
        }
    }
}

/// Frames are as long as both ends accept: on a cable for jumbo frames, and where only one end is
/// set up for them.
#[test]
fn interfaces_that_take_jumbo_frames() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for wire in ["ether", "udp", "tcp"] {
        for only in ["true", "[ $(hostname) = host0 ]", "[ $(hostname) = host1 ]"] {
            for option in ["--stats", "--insecure-wire"] {
                let script = format!(
                    "if {only}; then ip link set wire mtu 9000; fi; exec {} steady 20000",
                    fault_probe()
                );
                let steady = Steady::start_over(wire, 2, &[option], &[], &["sh", "-c", &script]);
                steady.end_well();
            }
        }
    }
}

/// A port of the switch accepts shorter frames, and no interface of any host shows that.
#[test]
fn a_switch_that_takes_smaller_frames_than_all_interfaces() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    // The launcher holds the namespace of the switch.
    let script = format!(
        "for fd in /proc/$PPID/fd/*; do case $(readlink $fd) in net:*) \
         nsenter --net=$fd ip link set port1 mtu 700 2>/dev/null;; esac; done; \
         ip link show wire | grep -q 'mtu 1500' || exit 7; exec {} steady 20000",
        fault_probe()
    );
    let options = ["--hosts", "3", "--stats"];
    Steady::start_command(3, &options, &[], &["sh", "-c", &script]).end_well();
}

/// Four hosts behind a switch, and faults between all of them.
#[test]
fn four_hosts_and_a_switch() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let faults = [("HOSTWIRE_FAULTS", "drop=0.01,dup=0.01,reorder=0.02,seed=10")];
    Steady::start(5, &["--hosts", "4"], &faults).end_well();
}
