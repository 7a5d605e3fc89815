//! Damaged experiment files: an experiment or diagnostics, never a panic.

use hostwire_sim::experiments::file::{Monitor, read};
use proptest::prelude::*;

use crate::{PING_PONG, repository};

const TOKENS: [&str; 27] = [
    "0",
    "-1",
    "1",
    "9999999999999999999",
    "1e300",
    "nan",
    "true",
    "\"\"",
    "\"0B\"",
    "\"8B\"",
    "\"16777215TiB\"",
    "\"0ns\"",
    "\"1ps\"",
    "\"999999999ms\"",
    "\"0MHz\"",
    "\"l7\"",
    "\"left\"",
    "\"\u{1F980}\"",
    "[]",
    "[1, 2]",
    "{}",
    "1979-05-27",
    "\"all-to-all\"",
    "\"strict\"",
    "\"16P\"",
    "\"memory-trace\"",
    "\"htx-message\"",
];

/// Inline clusters only, and a budget small enough to run what is sound.
fn seeds() -> Vec<String> {
    let mut seeds = vec![
        PING_PONG.to_owned(),
        format!("{PING_PONG}\n[parameters]\nsfence = \"5ns\"\nposted_data_credits = 3\n"),
        format!("{PING_PONG}\n[sweep]\nkey = \"workload.size\"\nvalues = [\"8B\", \"64B\"]\n"),
    ];
    for (kind, keys) in [
        ("\"put\"", "order = \"fenced\"\n"),
        ("\"stream\"", "order = \"strict\"\nmessages = 3\n"),
    ] {
        seeds.push(PING_PONG.replace("\"ping-pong\"", kind) + keys);
    }
    seeds.push(
        "[workload]\nkind = \"memory-stream\"\nelements = 1_000\nin_flight = 2\n\
         [[workload.region]]\nkind = \"swap\"\nsize = \"1MiB\"\nresident = \"64KiB\"\n\
         [parameters]\nline = \"64B\"\ncache = \"4KiB\"\npage = \"4KiB\"\n"
            .to_owned(),
    );
    seeds.push(
        "[workload]\nkind = \"break-even\"\npattern = \"skewed\"\nmemory = \"64KiB\"\n\
         working_set = \"128KiB\"\n[parameters]\npage_in = \"1us\"\n"
            .to_owned(),
    );
    seeds.push(
        "[workload]\nkind = \"htea\"\nnodes = 4\ndata = \"64KiB\"\npackets_per_frame = 7\n\
         nops_per_frame = 10\nincoming_stages = 2\noutgoing_stages = 2\ntransfer = \"q21\"\n\
         [parameters]\nbuffers_in = \"64KiB\"\nbuffers_out = \"8KiB\"\nincoming_frames = 4\n\
         retry_frames = 8\nretry_timeout = \"20us\"\ndeencapsulation_packet = \"65.4ns\"\n"
            .to_owned(),
    );
    seeds.push(
        "[cluster]\nfabric = \"peach2\"\n[cluster.topology]\nkind = \"ring\"\nnodes = 4\n\
         [cluster.topology.node]\nmemory = \"8GiB\"\ngpus = 1\ngpu_memory = \"5GiB\"\n\
         [workload]\nkind = \"tca-dma\"\nfrom = \"n0\"\nsource = \"host\"\nto = \"n2\"\n\
         target = \"gpu0\"\nsize = \"256B\"\ndescriptors = 4\nengine = \"pipelined\"\n\
         [parameters]\nheader_credits = 4\ndata_credits = 32\n"
            .to_owned(),
    );
    for path in ["htx-board/message.toml", "tccluster/latency-over-hops.toml"] {
        seeds.push(std::fs::read_to_string(repository("experiments").join(path)).unwrap());
    }
    seeds
}

fn try_file(bytes: &[u8]) {
    match read("fuzz.toml", bytes, &|_| Err("no files here".to_owned())) {
        Ok(experiment) => {
            // Many runs of a swept experiment would take long.
            if experiment.points() <= 3 && bytes.len() < 4_000 {
                let monitor = Monitor::default();
                let _ = experiment.run(&monitor, None);
            }
        }
        Err(bad) => assert!(!bad.to_string().is_empty(), "rejected without a word"),
    }
}

fn limited(text: &str) -> String {
    format!("{text}\n[limits]\nevents = 20_000\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn bytes_changed(
        seed in 0..11usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = limited(&seeds()[seed]).into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        try_file(&bytes);
    }

    #[test]
    fn values_changed(
        seed in 0..11usize,
        line in any::<prop::sample::Index>(),
        token in 0..TOKENS.len(),
    ) {
        let text = limited(&seeds()[seed]);
        let lines: Vec<&str> = text.lines().collect();
        let line = line.index(lines.len());
        let changed: Vec<String> = lines.iter().enumerate().map(|(number, content)| {
            match content.split_once('=') {
                Some((key, _)) if number == line => format!("{key}= {}", TOKENS[token]),
                _ => (*content).to_owned(),
            }
        }).collect();
        try_file(changed.join("\n").as_bytes());
    }

    #[test]
    fn lines_moved(
        seed in 0..11usize,
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
    ) {
        let text = limited(&seeds()[seed]);
        let mut lines: Vec<&str> = text.lines().collect();
        let line = lines.remove(from.index(lines.len()));
        lines.insert(to.index(lines.len() + 1), line);
        try_file(lines.join("\n").as_bytes());
    }
}
