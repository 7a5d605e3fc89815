//! The Wireshark dissector on frames of running jobs, as tshark captures them.

use hostwire_testing::{is_installed, need};

use crate::hosts::{Steady, may_make_hosts};

const FRAMES: &str = "200";

/// What tshark says of some frames of a job: a line each of these fields.
fn captured(options: &[&str], fields: &[&str]) -> String {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tools/wireshark/hostwire.lua"
    );
    let script = format!("lua_script:{script}");
    let steady = Steady::start(2, options, &[]);
    let capture = [
        "tshark", "-X", &script, "-i", "wire", "-c", FRAMES, "-T", "fields",
    ];
    let fields: Vec<&str> = fields.iter().flat_map(|field| ["-e", *field]).collect();
    let ended = steady.on_host_of(0, &[&capture[..], &fields].concat());
    steady.end_well();
    assert!(!ended.stderr.contains("Lua Error"), "{ended:#?}");
    ended.stdout
}

#[test]
fn frames_of_a_running_job_are_decoded() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    if !is_installed("tshark", &need::TSHARK) {
        return;
    }
    let fields = [
        "htoe.type",
        "hypertransport.name",
        "_ws.expert",
        "_ws.malformed",
        "htoe.burst.lines",
    ];
    let text = captured(&["--insecure-wire"], &fields);
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(
        lines.iter().any(|line| line[1].contains("Posted write")),
        "{text}"
    );
    assert!(lines.iter().any(|line| line[1].contains("NOP")), "{text}");
    // Several, where a frame has several bursts.
    let lines_of = |burst: &str| burst.parse::<u32>().is_ok_and(|lines| lines > 1);
    assert!(
        lines.iter().any(|line| line[4].split(',').any(lines_of)),
        "{text}"
    );
    for line in lines.iter().filter(|line| !line[0].is_empty()) {
        assert_eq!((line[2], line[3]), ("", ""), "{line:?}");
    }

    let fields = ["htoe.sealed.number", "hypertransport.name", "_ws.col.Info"];
    let text = captured(&[], &fields);
    let sealed = text.lines().filter(|line| !line.starts_with('\t'));
    let sealed: Vec<&str> = sealed.collect();
    // Beside what the system sends by itself on a new interface.
    assert!(sealed.len() > 100, "{text}");
    for line in sealed {
        assert!(
            line.to_lowercase().contains("encrypted") && !line.contains("write"),
            "{line}"
        );
    }
}
