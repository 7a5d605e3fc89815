//! Files: clusters, experiments, claims, traces; and the sweep of a command line.

use hostwire_plan::Cluster;
use hostwire_plan::diagnostic::{Diagnostic, Severity};
use hostwire_sim::engine::{TRACE_MAGIC, TRACE_RECORD_BYTES, TraceError, TraceReader};
use hostwire_sim::experiments::Claims;
use hostwire_sim::experiments::file::{SweepRange, read, read_hardware};
use hostwire_sim::models::memory::trace::{Event, Format, Reader};
use hostwire_transport::fuzzing::kit::{blames, mark, named, shown, texts};

use crate::Target;

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "claims_file",
        check: claims,
        seeds: || {
            texts(&[
                (
                    "shipped",
                    include_str!("../../../experiments/htoe/claims.toml"),
                ),
                ("no_table", "paper = \"p\"\nclaim = 3\n"),
                (
                    "unknown_class",
                    "paper = \"p\"\n[[claim]]\nid = \"X\"\nclass = \"sure\"\n",
                ),
                ("open", "paper = \"p\n"),
                ("control", "paper = \"p\"\n\u{1b}[2J = 1\n"),
                (
                    "control_in_name",
                    "paper = \"\\u001b[2J\"\ntitle = \"t\"\nauthors = []\nyear = 1\n\
                     claim = []\n",
                ),
            ])
        },
        cost: 4,
    },
    Target {
        name: "cluster_file",
        check: cluster,
        seeds: || {
            texts(&[
                (
                    "boards",
                    include_str!("../../../examples/clusters/two-boards.toml"),
                ),
                (
                    "one",
                    include_str!("../../../examples/clusters/one-board.toml"),
                ),
                (
                    "rings",
                    include_str!("../../../examples/clusters/peach2-double-ring.toml"),
                ),
                (
                    "supernodes",
                    include_str!("../../../examples/clusters/four-supernodes.toml"),
                ),
                (
                    "addresses",
                    include_str!("../../../examples/clusters/torus-48bit.toml"),
                ),
                (
                    "adapters",
                    include_str!("../../../examples/clusters/two-islands.toml"),
                ),
                (
                    "islands",
                    include_str!("../../../examples/clusters/ring-islands.toml"),
                ),
                (
                    "routes",
                    include_str!("../../../examples/clusters/own-routes.toml"),
                ),
                (
                    "htx",
                    include_str!("../../../examples/clusters/htx-switch.toml"),
                ),
                (
                    "sockets",
                    include_str!("../../../examples/clusters/torus-two-sockets.toml"),
                ),
            ])
        },
        cost: 4,
    },
    Target {
        name: "event_trace",
        check: event_trace,
        seeds: || {
            let trace = |names: &[&str], more: &[u8]| {
                let mut trace = TRACE_MAGIC.to_vec();
                for names in [names, &["submit", "free"]] {
                    trace.extend((names.len() as u32).to_le_bytes());
                    for name in names {
                        trace.extend((name.len() as u32).to_le_bytes());
                        trace.extend(name.bytes());
                    }
                }
                [&trace[..], more].concat()
            };
            let record = |time: u8| {
                let mut record = [0; TRACE_RECORD_BYTES];
                (record[0], record[8], record[11]) = (time, 1, 1);
                record
            };
            let records =
                |times: &[u8]| -> Vec<u8> { times.iter().flat_map(|time| record(*time)).collect() };
            let end = |records: u64| [&[0xff; 16][..], &records.to_le_bytes()].concat();
            let many = [&TRACE_MAGIC[..], &[0xff; 8]].concat();
            let cut = [&records(&[5])[..], &[7; 6]].concat();
            named(vec![
                (
                    "two",
                    trace(&["a", "bc"], &[records(&[5, 6]), end(2)].concat()),
                ),
                ("no_end", trace(&["a", "bc"], &records(&[5, 6]))),
                ("other_end", trace(&["a"], &end(1))),
                ("behind", trace(&["a"], &[end(0), vec![0]].concat())),
                ("cut", trace(&["a", "bc"], &cut)),
                ("backwards", trace(&["a", "bc"], &records(&[6, 5]))),
                ("unknown", trace(&["a"], &records(&[5]))),
                ("other", b"HWTRACE1\0\0\0\0".to_vec()),
                ("many_names", many),
            ])
        },
        cost: 1,
    },
    Target {
        name: "experiment_file",
        check: experiment,
        seeds: || {
            texts(&[
                (
                    "message",
                    include_str!("../../../experiments/htx-board/message.toml"),
                ),
                (
                    "hops",
                    include_str!("../../../experiments/tccluster/latency-over-hops.toml"),
                ),
                (
                    "dma",
                    include_str!("../../../experiments/tca-peach2/dma-over-hops.toml"),
                ),
                (
                    "losses",
                    include_str!("../../../experiments/htoe/losses.toml"),
                ),
                (
                    "damage",
                    include_str!("../../../experiments/beyond/damaged-links.toml"),
                ),
                (
                    "scenarios",
                    include_str!("../../../experiments/pgas-cluster/scenarios.toml"),
                ),
                (
                    "memory",
                    "[workload]\nkind = \"memory-stream\"\nelements = 1_000\nin_flight = 2\n\
                     [[workload.region]]\nkind = \"swap\"\nsize = \"1MiB\"\nresident = \"64KiB\"\n\
                     [parameters]\nline = \"64B\"\ncache = \"4KiB\"\npage = \"4KiB\"\n",
                ),
                (
                    "sweep",
                    "[workload]\nkind = \"break-even\"\nmemory = \"64KiB\"\n\
                     working_set = \"128KiB\"\n[sweep]\nkey = \"workload.memory\"\n\
                     values = [\"64KiB\", \"1MiB\"]\n[limits]\nevents = 20_000\n",
                ),
            ])
        },
        cost: 4,
    },
    Target {
        name: "hardware_file",
        check: hardware,
        seeds: || {
            texts(&[
                (
                    "parameters",
                    "title = \"t\"\ncluster = \"c\"\n[parameters]\nsend_work = \"1ns\"\n",
                ),
                (
                    "table",
                    "[cluster]\nfabric = \"peach2\"\n[cluster.topology]\nkind = \"ring\"\n\
                     nodes = 4\n[cluster.topology.node]\nmemory = \"8GiB\"\n[parameters]\n\
                     put_engine = \"two-phase\"\ndma_from = \"4KiB\"\n",
                ),
                (
                    "htx",
                    "[cluster]\nfabric = \"htx\"\n[[cluster.node]]\nname = \"a\"\nmemory = \"2GiB\"\n\
                     [[cluster.node]]\nname = \"b\"\nmemory = \"2GiB\"\n[[cluster.cable]]\n\
                     from = \"a.p0\"\nto = \"b.p0\"\n[parameters]\ncompleter_cycles = 6\n",
                ),
                ("none", "cluster = \"none\"\n"),
                ("wrong", "cluster = 3\nworkload = 1\n[parameters]\nx = 1\n"),
                (
                    "cluster",
                    include_str!("../../../examples/clusters/two-boards.toml"),
                ),
            ])
        },
        cost: 4,
    },
    Target {
        name: "memory_trace",
        check: memory_trace,
        seeds: || {
            texts(&[
                (
                    "simple",
                    "# a trace\nload 0x1000 8\nstore 4096 8\nmodify 0x10 4\nwork 12\n",
                ),
                (
                    "lackey",
                    "==1== Lackey\nI  04000000,3\n L 1000,8\n S 1000,8\n M 1008,4\n",
                ),
                (
                    "last_address",
                    "load 0xffffffffffffffff 1\nload 0xffffffffffffffff 2\n",
                ),
                ("no_end", " L 1000,"),
            ])
        },
        cost: 1,
    },
    Target {
        name: "sweep_range",
        check: sweep,
        seeds: || {
            texts(&[
                ("list", "workload.size=8B,64B,4KiB"),
                ("steps", "parameters.sfence=1ns..10ns:1ns"),
                ("doubled", "workload.size=8B..4KiB"),
                ("factor", "workload.messages=1..1000:x10"),
                ("no_step", "parameters.sfence=1ns..10ns"),
                ("backwards", "workload.size=4KiB..8B"),
                ("many", "workload.messages=1..18446744073709551615"),
                ("control", "\u{1b}[2J"),
                ("nothing", "="),
            ])
        },
        cost: 1,
    },
];

/// The name of the files, which errors have to repeat.
const NAME: &str = "fuzz.toml";
/// Most lines of an error text about a file: twenty findings with their places.
const LINES_MAX: usize = 400;
/// Values of a sweep.
const VALUES_MAX: usize = 1000;

/// An error text of several lines: each is fit for a terminal, and the text names `place`.
fn page(text: &str, place: &str) {
    assert!(text.contains(place), "{place:?} is not in {text:?}");
    mark(text.lines().next().unwrap_or_default());
    let control = text.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(control, None, "a control character in {text:?}");
    assert!(text.lines().count() <= LINES_MAX, "{text}");
}

fn cluster(bytes: &[u8]) {
    match hostwire_plan::cluster(NAME, bytes) {
        Ok(Cluster::Htx(plan)) => {
            mark("planned boards");
            assert!(!plan.hosts().is_empty());
        }
        Ok(Cluster::AddressMap(plan)) => {
            mark("planned");
            let file = String::from_utf8_lossy(bytes);
            assert!(
                std::str::from_utf8(bytes).is_ok() && !plan.nodes().is_empty(),
                "{file}"
            );
        }
        Err(rejected) => {
            let findings = &rejected.diagnostics;
            let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
            assert!(findings.iter().any(is_error), "rejected without an error");
            let planner = findings.iter().find(|finding| finding.code == "delivery");
            assert!(planner.is_none(), "wrong registers: {rejected}");
            for finding in findings {
                mark(finding.code);
            }
            page(&rejected.to_string(), NAME);
        }
    }
}

/// Every other file that an experiment names exists.
fn experiment(bytes: &[u8]) {
    let other = include_bytes!("../../../examples/clusters/two-boards.toml");
    let load = |name: &str| match name.ends_with("none") {
        true => Err("there is no such file".to_owned()),
        false => Ok(other.to_vec()),
    };
    match read(NAME, bytes, &load) {
        Ok(experiment) => {
            mark("read");
            assert!((1..=VALUES_MAX).contains(&experiment.points()));
        }
        Err(bad) => page(&bad.to_string(), "--> "),
    }
}

fn hardware(bytes: &[u8]) {
    let other = include_bytes!("../../../examples/clusters/two-boards.toml");
    let load = |name: &str| match name.ends_with("none") {
        true => Err("there is no such file".to_owned()),
        false => Ok(other.to_vec()),
    };
    match read_hardware(NAME, bytes, &load) {
        Ok(_) => mark("read"),
        Err(bad) => page(&bad.to_string(), "--> "),
    }
}

fn claims(bytes: &[u8]) {
    match Claims::parse(&String::from_utf8_lossy(bytes)) {
        Ok(claims) => {
            mark("read");
            let rows = claims.judge(&[]);
            assert_eq!(rows.len(), claims.claim.len());
        }
        Err(error) => page(&error.to_string(), "claims of "),
    }
}

fn sweep(bytes: &[u8]) {
    match String::from_utf8_lossy(bytes).parse::<SweepRange>() {
        Ok(range) => {
            mark("range");
            assert!((1..=VALUES_MAX).contains(&range.values().len()));
            assert!(!range.key().is_empty());
            // The same, as a list.
            let list = format!("{}={}", range.key(), range.values().join(","));
            let again = list.parse::<SweepRange>();
            assert!(
                again.is_ok_and(|again| again.values() == range.values()),
                "{list}"
            );
        }
        Err(error) => blames(error, &["`"]),
    }
}

fn event_trace(bytes: &[u8]) {
    let mut reader = match TraceReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return blames(error, &["trace"]),
    };
    mark("names");
    let names = reader.names().iter().chain(reader.kinds());
    let names: usize = names.map(|name| 4 + name.len()).sum();
    let header = TRACE_MAGIC.len() + 4 + 4 + names;
    let mut records = 0;
    let mut last = 0;
    let error = loop {
        match reader.next_record() {
            Ok(Some(record)) => {
                mark("record");
                assert!((record.target as usize) < reader.names().len());
                assert!(usize::from(record.kind) < reader.kinds().len());
                assert!(record.time.0 >= last);
                last = record.time.0;
                records += 1;
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let at = header + records * TRACE_RECORD_BYTES;
    let end = [&[0xff; 16][..], &(records as u64).to_le_bytes()].concat();
    match error {
        None => {
            mark("end");
            assert_eq!(bytes.get(at..), Some(&end[..]));
            assert!(matches!(reader.next_record(), Ok(None)));
        }
        Some(error) => {
            let rest = bytes.get(at..).unwrap_or_default();
            assert_ne!(rest, end);
            assert_eq!(
                matches!(error, TraceError::NoEnd { .. }),
                rest.len() < TRACE_RECORD_BYTES,
            );
            // The line has to say where.
            let at = match rest.starts_with(&end) {
                true => at + end.len(),
                false => at,
            };
            blames(&error, &["trace"]);
            blames(error, &[&format!("at byte {at}")]);
        }
    }
}

fn memory_trace(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    for format in [Format::Simple, Format::Lackey] {
        let (mut events, mut errors) = (0, 0);
        for event in Reader::new(bytes, format) {
            assert_eq!(errors, 0, "an event after the error");
            match event {
                Ok(Event::Instructions(_)) => events += 1,
                Ok(Event::Access(access)) => {
                    assert!(access.bytes > 0);
                    assert!(access.address.checked_add(access.bytes - 1).is_some());
                    events += 1;
                }
                Err(error) => {
                    errors += 1;
                    let line = |number: usize| format!("line {number}: ");
                    let text = error.to_string();
                    assert!(
                        (1..=lines).any(|number| text.starts_with(&line(number))),
                        "{text}"
                    );
                    shown(text);
                }
            }
        }
        assert!(events <= 2 * lines);
    }
}
