//! The wire that a job on two hosts takes if none is named.

use hostwire_testing::{is_installed, need};

use crate::assert_fine;
use crate::hosts::on_two_hosts;
use crate::programs::fault_probe;

/// What PE 0 says about the wire of a job with `pes_per_host` PEs on each of two hosts under
/// `mpirun`. `line` is the shell command that starts a PE (`$0` is the program,
/// `$OMPI_COMM_WORLD_RANK` the PE). `None` where that cannot be.
fn choice(pes_per_host: u32, line: &str) -> Option<String> {
    if !is_installed("mpirun.openmpi", &need::OPEN_MPI) {
        return None;
    }
    let pes = (2 * pes_per_host).to_string();
    let hosts = format!("fa:{pes_per_host},fb:{pes_per_host}");
    let probe = fault_probe();
    let ended = on_two_hosts(&[
        "env",
        "-u",
        "HOSTWIRE_WIRE",
        "HOSTWIRE_STATS=1",
        "mpirun.openmpi",
        "-x",
        "HOSTWIRE_STATS",
        "-H",
        &hosts,
        "-np",
        &pes,
        "sh",
        "-c",
        line,
        &probe,
    ])?;
    assert_fine(&ended, 2 * pes_per_host);
    let said: Vec<&str> = ended
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("hostwire: the wire between hosts is "))
        .collect();
    let [said] = said[..] else {
        panic!("{ended:#?}");
    };
    Some(said.to_owned())
}

/// With any number of PEs on a host: one endpoint serves all of them.
#[test]
fn a_job_takes_the_wire_past_the_network_stack() {
    for pes_per_host in [1, 2] {
        let Some(said) = choice(pes_per_host, "exec \"$0\" everything") else {
            return;
        };
        // A kernel without AF_XDP says so.
        let is_right = said == "xdp: the fastest" || said.starts_with("ether: not xdp (PE ");
        assert!(is_right, "{said}");
    }
}

/// The job takes no wire that one of its PEs may not use.
#[test]
fn without_a_right_of_one_pe_datagrams_are_taken() {
    if !is_installed("setpriv", &need::UTIL_LINUX) {
        return;
    }
    let line = "[ $OMPI_COMM_WORLD_RANK = 0 ] && exec \"$0\" everything; \
                exec setpriv --bounding-set=-net_raw --inh-caps=-net_raw \"$0\" everything";
    let Some(said) = choice(1, line) else {
        return;
    };
    assert!(said.starts_with("udp: not xdp (PE "), "{said}");
    let why = ": it may not: ether needs CAP_NET_RAW)";
    assert!(
        said.contains("not ether (PE 1 on ") && said.ends_with(why),
        "{said}"
    );
}

/// Frames of another EtherType do not arrive, as in a network that has only IP.
#[test]
fn a_wire_over_which_pes_do_not_hear_each_other_gives_way() {
    let line = "[ $OMPI_COMM_WORLD_RANK = 0 ] && export HOSTWIRE_ETHERTYPE=0x88b6; \
                exec \"$0\" everything";
    let Some(said) = choice(1, line) else {
        return;
    };
    assert!(said.starts_with("udp: not xdp (PE"), "{said}");
    let why = "not ether (PEs do not hear each other over it)";
    assert!(said.ends_with(why), "{said}");
}
