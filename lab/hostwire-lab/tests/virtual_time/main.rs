//! `hostwire run --cluster`: ordinary processes on modelled hardware.

mod heap;
#[allow(dead_code, reason = "shared with the tests of `hostwire run`")]
#[path = "../../../../tools/cli/tests/run/job.rs"]
mod job;
mod many;
mod mpi;
mod recordings;
mod rtl;
mod stations;

use std::path::{Path, PathBuf};

use hostwire_testing::built;
use job::{Ended, Job, eventually, hostwire, is_running};
use rustix::process::Signal;

/// The library that `hostwire run --cluster` loads into programs.
const CLOCKS: &str = "libhostwire_clock.so";

/// The folder of what has been built.
fn folder() -> PathBuf {
    let command = Path::new(env!("CARGO_BIN_EXE_hostwire-lab"));
    command.parent().unwrap().to_owned()
}

fn cluster(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/clusters");
    folder.join(name).display().to_string()
}

fn probe() -> String {
    built::library(CLOCKS);
    let probe = folder().join("examples").join("fault_probe");
    assert!(
        probe.exists(),
        "build it first: cargo build --package hostwire-cli --examples"
    );
    probe.display().to_string()
}

/// The arguments of a job on a cluster.
fn arguments<'a>(cluster: &'a str, pes: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let all = ["run", "--heap", "4M", "--cluster", cluster, "-n", pes];
    [&all, more].concat()
}

fn on(name: &str, pes: &str, more: &[&str]) -> Ended {
    job::run(&arguments(&cluster(name), pes, more))
}

/// What `--stats` says of the run, without what depends on the machine.
fn simulated(ended: &Ended) -> (String, String, String) {
    let mut lines = ended.stderr.lines();
    let line = lines.find(|line| line.contains("virtual time:"));
    let line = line.unwrap_or_else(|| panic!("{ended:?}"));
    let between = |begin: &str, end: &str| {
        let (_, rest) = line.split_once(begin).unwrap();
        rest.split(end).next().unwrap().to_owned()
    };
    let events = between("virtual time: ", " events");
    let time = between("events/s), ", " simulated");
    (events, time, between("hash ", "\n"))
}

/// `docs/virtual-time.md` shows a run of `hello`: its events, time and hash are those of today.
#[test]
fn the_documented_run_is_current() {
    built::library(CLOCKS);
    let hello = folder().join("hello");
    assert!(
        hello.exists(),
        "build it first: cargo build --package hostwire-examples"
    );
    let cluster = cluster("two-boards.toml");
    let hello = hello.display().to_string();
    let ended = job::run(&["run", "--cluster", &cluster, "-n", "2", "--stats", &hello]);
    assert_eq!(ended.status, 0, "{ended:?}");
    let page = include_str!("../../../../docs/virtual-time.md");
    for line in ended.stdout.lines() {
        assert!(page.contains(line), "the page lacks: {line}");
    }
    let (events, time, hash) = simulated(&ended);
    for shown in [
        format!("virtual time: {events} events in "),
        format!("{time} simulated ("),
        format!("hash {hash}\n"),
    ] {
        assert!(page.contains(&shown), "the page should say: {shown}");
    }
}

#[test]
fn a_program_runs_and_each_run_is_the_same() {
    let probe = probe();
    let run = |pes, more: &[&str]| {
        let program = ["--stats", &probe, "everything"];
        let ended = on("two-boards.toml", pes, &[more, &program].concat());
        assert_eq!(ended.status, 0, "{ended:?}");
        (simulated(&ended), ended)
    };
    // Two PEs, and more than there are cores.
    for pes in ["2", "9"] {
        let (first, ended) = run(pes, &[]);
        let (second, _) = run(pes, &[]);
        assert_eq!(first, second);
        assert!(
            ended.stdout.is_empty() || ended.stdout.contains("PE"),
            "{ended:?}"
        );
    }
    let (usual, _) = run("2", &[]);
    let (named, _) = run("2", &["--place", "left,right"]);
    let (together, _) = run("2", &["--place", "1"]);
    assert_eq!(usual, named);
    assert_ne!(usual, together);
}

/// Two hosts of the double ring are neighbours, and two are seven cables apart.
#[test]
fn a_program_runs_on_hosts_with_chips() {
    let probe = probe();
    let run = |pes, more: &[&str]| {
        let program = ["--stats", &probe, "everything"];
        let ended = on("peach2-double-ring.toml", pes, &[more, &program].concat());
        assert_eq!(ended.status, 0, "{ended:?}");
        simulated(&ended)
    };
    // A PE on each host, and two on some.
    for pes in ["2", "5", "18"] {
        assert_eq!(run(pes, &[]), run(pes, &[]));
    }
    let usual = run("2", &[]);
    assert_eq!(usual, run("2", &["--place", "n0,n1"]));
    assert_ne!(usual, run("2", &["--place", "n0,n12"]));
    assert_ne!(usual, run("2", &["--place", "n0"]));
}

#[test]
fn a_file_may_set_parameters_of_the_models() {
    let folder = tempfile::tempdir().unwrap();
    let probe = probe();
    let run = |parameters: &str| {
        let cluster = cluster("peach2-double-ring.toml");
        let text = format!("cluster = \"{cluster}\"\n[parameters]\n{parameters}\n");
        let file = folder.path().join("hardware.toml");
        std::fs::write(&file, text).unwrap();
        let program = ["--stats", &probe, "everything"];
        job::run(&arguments(file.to_str().unwrap(), "2", &program))
    };
    let usual = on(
        "peach2-double-ring.toml",
        "2",
        &["--stats", &probe, "everything"],
    );
    assert_eq!(simulated(&run("")), simulated(&usual));
    for parameters in [
        "link_rate = \"8GT/s\"",
        "dma_from = \"0B\"",
        "host_poll = \"60ns\"",
    ] {
        assert_ne!(
            simulated(&run(parameters)),
            simulated(&usual),
            "{parameters}"
        );
    }
    let wrong = run("send_work = \"1ns\"");
    assert_eq!(wrong.status, 2, "{wrong:?}");
    assert!(wrong.stderr.contains("send_work"), "{wrong:?}");
}

#[test]
fn stores_over_chips_can_be_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("stores");
    let probe = probe();
    let more = ["--record", record.to_str().unwrap(), &probe, "everything"];
    let ended = on("peach2-double-ring.toml", "2", &more);
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(std::fs::read_dir(folder.path()).unwrap().count() > 0);
}

/// Nodes that only adapters join, and islands of boards with an adapter each.
#[test]
fn programs_run_over_ethernet() {
    let probe = probe();
    for (cluster, pes) in [("htea-eight.toml", "3"), ("two-islands.toml", "8")] {
        let runs = [(); 2].map(|()| {
            let ended = on(cluster, pes, &["--stats", &probe, "everything"]);
            assert_eq!(ended.status, 0, "{ended:?}");
            simulated(&ended)
        });
        assert_eq!(runs[0], runs[1]);
    }
}

#[test]
fn clocks_show_the_time_of_the_model() {
    let ended = on("two-boards.toml", "2", &[&probe(), "turns", "clocks"]);
    assert_eq!(ended.status, 0, "{ended:?}");
    // A look at the clock takes 25 ns. The hour is after the job, and took no real time.
    let each = |pe| {
        format!(
            "PE {pe} slept 3000025 ns, an hour later by 3600 s, 3600023 ms in all, in year 2000"
        )
    };
    assert_eq!(ended.sorted_lines(), [each(0), each(1)]);
}

/// A line has the time of the turn in which it was written, and lines come in that order.
#[test]
fn lines_come_in_the_order_of_virtual_time() {
    let run = |more: &[&str]| {
        let program = [&probe()[..], "turns", "lines"];
        let ended = on("two-boards.toml", "3", &[more, &program].concat());
        assert_eq!(ended.status, 0, "{ended:?}");
        ended.stdout
    };
    let plain = run(&[]);
    // Every 3, 5 and 7 us.
    let order = [
        (0, 0),
        (1, 0),
        (0, 1),
        (2, 0),
        (0, 2),
        (1, 1),
        (2, 1),
        (1, 2),
        (2, 2),
    ];
    let expected = order.map(|(pe, round)| format!("PE {pe}, round {round}\n"));
    assert_eq!(plain, expected.concat());
    let stamped = run(&["--stamp", "--label"]);
    let parts = stamped.lines().map(|line| {
        let (stamp, rest) = line.strip_prefix('[').unwrap().split_once(" ns] ").unwrap();
        let (label, text) = rest.split_once("] ").unwrap();
        assert_eq!(label.strip_prefix('['), text.get(3..4), "{line}");
        (stamp.parse::<f64>().unwrap(), format!("{text}\n"))
    });
    let (stamps, texts): (Vec<f64>, Vec<String>) = parts.unzip();
    assert_eq!(texts, expected);
    assert!(stamps.is_sorted(), "{stamps:?}");
    let (first, last) = (stamps[0], stamps[8]);
    // 21 and 3 us after the barrier, and looks at the clock.
    assert!((17_500.0..18_500.0).contains(&(last - first)), "{stamps:?}");
    assert_eq!(run(&["--stamp", "--label"]), stamped);
}

#[test]
fn a_run_leaves_a_trace_a_capture_and_the_use_of_links() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (trace, pcap) = (file("a.pftrace"), file("a.pcapng"));
    let probe = probe();
    let program = ["--stats", &probe[..], "turns", "lines"];
    let recorded = ["--trace", &trace, "--pcap", &pcap];
    let ended = on("two-boards.toml", "2", &[&recorded[..], &program].concat());
    assert_eq!(ended.status, 0, "{ended:?}");
    let plain = on("two-boards.toml", "2", &program);
    assert_eq!(
        simulated(&ended),
        simulated(&plain),
        "a recording changes nothing"
    );
    let has = |file: &str, what: &str| {
        let bytes = std::fs::read(file).unwrap();
        bytes
            .windows(what.len())
            .any(|part| part == what.as_bytes())
    };
    for what in [
        "PE 0",
        "PE 1",
        "wait for a store",
        "sleep",
        "left.l2 - right.l2",
    ] {
        assert!(has(&trace, what), "{what}");
    }
    assert!(has(&pcap, "left.l2 - right.l2"));
    assert!(!has(&pcap, "wait for a store"), "a capture has links alone");
    assert!(
        ended.stderr.contains("link left.l2 - right.l2 ->"),
        "{ended:?}"
    );
    let nowhere = on(
        "two-boards.toml",
        "2",
        &["--trace", "/nothing/here", &probe, "meet"],
    );
    assert_eq!(nowhere.status, 2, "{nowhere:?}");
    assert!(
        nowhere.stderr.contains("cannot write /nothing/here"),
        "{nowhere:?}"
    );
}

#[test]
fn computing_takes_no_time_unless_it_is_measured() {
    let run = |more: &[&str]| {
        let probe = probe();
        let program = [&probe[..], "turns", "compute", "20"];
        let ended = on("two-boards.toml", "2", &[more, &program].concat());
        assert_eq!(ended.status, 0, "{ended:?}");
        ["took", "computed"].map(|what| {
            let begin = format!("PE 0 {what} ");
            let mut lines = ended.stdout.lines();
            let time = lines.find_map(|line| line.strip_prefix(&begin)?.strip_suffix(" ns"));
            time.unwrap().parse::<u64>().unwrap()
        })
    };
    let [zero, computed] = run(&[]);
    assert_eq!([zero, computed], run(&["--compute", "zero"]));
    assert!(zero < 10_000, "{zero}");
    // Two looks at the clock.
    assert!(computed < 100, "{computed}");
    // Two million multiplications in a row take a millisecond on the fastest machine. The clock shows it
    // before the next call of the library.
    for (how, least) in [("measured", 100_000), ("measured=100", 10_000_000)] {
        let [took, computed] = run(&["--compute", how]);
        assert!(
            computed > least && took >= computed,
            "{how}: {computed} of {took}"
        );
    }
}

/// The model has ended, since one PE has ended without joining; the other one waits for this test.
#[test]
fn a_launcher_whose_model_has_ended_does_nothing() {
    probe();
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let script = "if [ $PMI_RANK = 0 ]; then exit 0; fi; mkfifo $0; echo waits; cat $0";
    let (cluster, fifo) = (cluster("two-boards.toml"), fifo.to_str().unwrap());
    let mut job = Job::start(hostwire(&arguments(
        &cluster,
        "2",
        &["sh", "-c", script, fifo],
    )));
    assert_eq!(job.line(), "waits");
    std::thread::sleep(std::time::Duration::from_secs(3));
    let taken_s = job.processor_s();
    assert!(taken_s < 1.0, "{taken_s} s");
    std::fs::write(fifo, "end\n").unwrap();
    let ended = job.end();
    assert_eq!(
        (ended.status, ended.stdout.as_str()),
        (0, "end\n"),
        "{ended:?}"
    );
}

/// A cluster of each kind, with two processors by name.
const KINDS: [(&str, [&str; 2]); 5] = [
    ("two-boards.toml", ["left", "right"]),
    ("htx-pair.toml", ["left", "right"]),
    ("peach2-double-ring.toml", ["n0", "n1"]),
    ("htea-eight.toml", ["n0", "n1"]),
    // One on each island.
    ("two-islands.toml", ["a0", "b2"]),
];

#[test]
fn who_waits_for_ever_is_named_on_each_fabric() {
    let probe = probe();
    for (cluster, [first, second]) in KINDS {
        let place = format!("--place={first},{second}");
        let ended = on(cluster, "2", &[&place, &probe, "turns", "deadlock"]);
        assert_eq!(ended.status, 1, "{ended:?}");
        // And no device: none holds a packet.
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        for part in [
            "hostwire: virtual time: deadlock at ",
            &format!("PE 0 on {first} has waited for a store to its segment since "),
            &format!("PE 1 on {second} has waited"),
            "; ended 2 PEs: PE 0 (receiving from PE 1), PE 1 (receiving from PE 0)",
        ] {
            assert!(ended.stderr.contains(part), "{cluster}: {part}: {ended:?}");
        }
    }
}

/// The time of the model, real time, a PE that kills itself, and Ctrl-C.
#[test]
fn a_job_ends_on_each_fabric_as_it_does_without_a_model() {
    let probe = probe();
    for (name, _) in KINDS {
        let early = on(name, "2", &["--until", "100ns", &probe, "everything"]);
        assert_eq!(early.status, 1, "{name}: {early:?}");
        assert!(early.stderr.contains("100.000 ns have passed"), "{early:?}");
        let endless = [&probe[..], "turns", "spin", "/nothing"];
        let late = on(name, "2", &[&["--timeout", "300ms"], &endless[..]].concat());
        assert_eq!(late.status, 124, "{name}: {late:?}");
        assert!(late.stderr.contains("timed out after 300ms"), "{late:?}");
        let died = on(name, "2", &[&probe, "turns", "die"]);
        assert_eq!(died.status, 137, "{name}: {died:?}");
        assert!(
            died.stderr.contains("PE 1 was killed by SIGKILL"),
            "{died:?}"
        );
        assert!(!died.stderr.contains("deadlock"), "{died:?}");
        let cluster = cluster(name);
        let mut running = Job::start(hostwire(&arguments(&cluster, "2", &endless)));
        assert_eq!(running.line(), "PE 0 has begun");
        assert_eq!(running.signal_until_end(Signal::INT), Some(130), "{name}");
    }
}

#[test]
fn a_pe_that_does_not_call_the_library_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go-on").display().to_string();
    let (cluster, probe) = (cluster("two-boards.toml"), probe());
    let spin = [&probe[..], "turns", "spin", &file];
    let mut command = hostwire(&arguments(&cluster, "2", &spin));
    let mut running = command.spawn().unwrap();
    let mut stderr = std::io::BufReader::new(running.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
    assert!(
        line.contains("PE 1 has computed for a second without a call"),
        "{line}"
    );
    std::fs::write(&file, "").unwrap();
    assert!(running.wait().unwrap().success());
}

#[test]
fn a_run_has_an_end_in_virtual_time() {
    let probe = probe();
    let ended = on(
        "two-boards.toml",
        "2",
        &["--until", "100ns", &probe, "everything"],
    );
    assert_eq!(ended.status, 1, "{ended:?}");
    let said =
        "hostwire: virtual time: 100.000 ns have passed, and PE 0, PE 1 still run; ended 2 PEs: ";
    assert!(ended.stderr.starts_with(said), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
}

#[test]
fn what_cannot_be_is_refused_before_anything_starts() {
    let probe = probe();
    let two = "two-boards.toml";
    let program = [&probe[..], "meet"];
    for (more, said) in [
        (&["--wire", "udp"][..], "leave out --wire"),
        (&["--hosts", "2"], "leave out --hosts"),
        (
            &["--place", "middle"],
            "there is no processor \"middle\"; the cluster has left, right",
        ),
        (&["--place", "2"], "there is no processor \"2\""),
        (&["--until", "never"], "expected a time such as 500ns"),
        (&["--compute", "fast"], "expected zero, measured"),
    ] {
        let ended = on(two, "2", &[more, &program].concat());
        assert_eq!(ended.status, 2, "{ended:?}");
        assert!(ended.stderr.contains(said), "{said}: {ended:?}");
    }
    let missing = on("nothing.toml", "2", &program);
    assert_eq!(missing.status, 2, "{missing:?}");
    assert!(
        missing.stderr.contains("--cluster: cannot read"),
        "{missing:?}"
    );
    let alone = job::run(&["run", "-n", "1", "--place", "0", &probe, "meet"]);
    assert_eq!(alone.status, 2, "{alone:?}");
}

#[test]
fn memory_that_a_processor_does_not_have_is_named_and_so_is_a_heap_that_fits() {
    let (cluster, probe) = (cluster("two-boards.toml"), probe());
    let with = |heap: &str| {
        let job = ["run", "--heap", heap, "--cluster", &cluster, "--place", "0"];
        job::run(&[&job[..], &["-n", "3", &probe, "meet"]].concat())
    };
    let ended = with("3G");
    assert_eq!(ended.status, 1, "{ended:?}");
    let (_, rest) = ended.stderr.split_once("say --heap ").expect("a heap");
    let (fits, _) = rest.split_once(',').expect("a size");
    let ended = with(fits);
    assert_eq!(ended.status, 0, "{fits}: {ended:?}");
}

/// What starts a job ends with it: a program of an experiment, one of a sweep, and one that is compared.
#[test]
fn kill_9_of_what_starts_a_job_takes_the_job_with_it() {
    let probe = probe();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, pids) = (path("endless.toml"), folder.path().join("pids"));
    let two = cluster("two-boards.toml");
    let script = format!(
        "echo $$ >> {}; exec {probe} turns spin /nothing",
        pids.display()
    );
    let text = format!(
        "cluster = \"{two}\"\n[workload]\nkind = \"program\"\nprogram = [\"/bin/sh\", \"-c\", \"{script}\"]\n\
         pes = 2\nheap = \"4MiB\"\n"
    );
    std::fs::write(&file, text).unwrap();
    let kept = path("kept");
    let commands = [
        &["sim", &file][..],
        &[
            "sim",
            &file,
            "-j1",
            "--results",
            &kept,
            "--sweep",
            "parameters.sfence=6ns,7ns",
        ],
        &["compare", "-n", "2", "--on", &two, "sh", "-c", &script],
    ];
    for command in commands {
        // Not SIGINT, which is ignored by all that a script has started in the background.
        for signal in [Signal::KILL, Signal::TERM] {
            std::fs::write(&pids, "").unwrap();
            let starter = Job::start(hostwire(command));
            let started = || std::fs::read_to_string(&pids).unwrap();
            eventually("both PEs have started", || started().lines().count() == 2);
            starter.signal(signal);
            let status = starter.end().status;
            let expected = match signal {
                Signal::KILL => [-9, -9],
                _ => [130, -15],
            };
            assert!(expected.contains(&status), "{command:?}: {status}");
            for pid in started().lines() {
                eventually("the PEs end", || !is_running(pid));
            }
        }
    }
}

/// A workload of experiments: what a program prints of itself becomes metrics, which are swept.
#[test]
fn experiments_run_programs() {
    let probe = probe();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("turns.toml");
    let text = |program: &str| {
        format!(
            "cluster = \"{}\"\n[workload]\nkind = \"program\"\nprogram = {program}\npes = 2\nheap = \"4MiB\"\n\
             [sweep]\nkey = \"parameters.sfence\"\nvalues = [\"6ns\", \"600ns\"]\n",
            cluster("two-boards.toml")
        )
    };
    let turns = |name: &str| format!("[\"{probe}\", \"turns\", \"{name}\"]");
    std::fs::write(&file, text(&turns("figures"))).unwrap();
    let path = file.display().to_string();
    let results = |more: &[&str]| {
        let ended = job::run(&[&["sim", &path, "--json"], more].concat());
        assert_eq!(ended.status, 0, "{ended:?}");
        let outcome: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let results = outcome["results"].as_array().unwrap().clone();
        let values = results.iter().map(|result| {
            let metrics = result["metrics"].as_array().unwrap().iter();
            let metrics =
                metrics.map(|m| (m["name"].as_str().unwrap(), m["value"].as_f64().unwrap()));
            let metrics: std::collections::BTreeMap<_, _> = metrics.collect();
            assert!(!result["links"].as_array().unwrap().is_empty(), "{result}");
            (
                metrics["time"],
                metrics["barrier"],
                result["run"]["event_hash"].to_string(),
            )
        });
        values.collect::<Vec<_>>()
    };
    let found = results(&[]);
    let [(time, barrier, _), (slow_time, slow_barrier, _)] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(barrier > &0.0 && barrier < time, "{found:?}");
    assert!(
        slow_barrier > &(barrier + 500.0) && slow_time > time,
        "{found:?}"
    );
    // Each point in a process of its own.
    let kept = folder.path().join("kept").display().to_string();
    assert_eq!(results(&["-j", "2", "--results", &kept]), found);
    let swept = results(&["--results", &kept, "--sweep", "parameters.sfence=600ns"]);
    assert_eq!(swept[..], found[1..]);
    // Calls that take time.
    let costly = text(&turns("figures")) + "[calls]\nlook = \"1us\"\n";
    std::fs::write(&file, costly).unwrap();
    let costly = results(&[]);
    // A barrier has a look at least, and its other times pass meanwhile.
    assert!(
        costly[0].1 > 1_000.0 && costly[0].1 > *barrier,
        "{costly:?}"
    );
    std::fs::write(&file, text(&turns("deadlock"))).unwrap();
    let ended = job::run(&["sim", &path]);
    assert_eq!(ended.status, 2, "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("turns deadlock: virtual time: deadlock at"),
        "{ended:?}"
    );
    for (program, said) in [
        ("\"ls\"", "not a list of strings"),
        ("[\"/nothing\"]", "no such file"),
    ] {
        std::fs::write(&file, text(program)).unwrap();
        let ended = job::run(&["sim", &path]);
        assert_eq!(ended.status, 2, "{ended:?}");
        assert!(ended.stderr.contains(said), "{said}: {ended:?}");
    }
}

/// One table, and a plot for each figure. A place where the program does not run is reported.
#[test]
fn a_program_is_compared_on_wires_and_models() {
    let probe = probe();
    let folder = tempfile::tempdir().unwrap();
    let plots = folder.path().join("plots").display().to_string();
    let two = cluster("two-boards.toml");
    let on = format!("--on=shm,tccluster,htx,peach2,htea,{two}");
    let options = ["compare", "-n", "2", "--rounds", "1", &on];
    let figures = [&probe[..], "turns", "figures"];
    let run = |more: &[&str], program: &[&str]| job::run(&[&options, more, program].concat());
    let ended = run(&["--json", "--plot", &plots], &figures);
    assert_eq!(ended.status, 0, "{ended:?}");
    let rows: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let rows = rows.as_array().unwrap().iter().map(|row| {
        let metric = &row["metrics"][0];
        assert_eq!(metric["name"], "barrier");
        assert!(metric["value"].as_f64().unwrap() > 0.0, "{row}");
        (
            row["on"].as_str().unwrap().to_owned(),
            row["modelled"].as_bool().unwrap(),
        )
    });
    let wanted = [
        ("shm", false),
        ("tccluster", true),
        ("htx", true),
        ("peach2", true),
        ("htea", true),
        (&two, true),
    ];
    let wanted = wanted.map(|(name, modelled)| (name.to_owned(), modelled));
    assert_eq!(rows.collect::<Vec<_>>(), wanted);
    let plot = std::fs::read_to_string(folder.path().join("plots/barrier.svg")).unwrap();
    assert!(plot.contains("peach2"), "{plot}");
    // What was measured is a dot, and what a model says a cross, each once more beside its name.
    let marks = ["<circle", "<path"].map(|mark| plot.matches(mark).count());
    assert_eq!(marks, [1 + 1, 5 + 1], "{plot}");
    let again = run(&[], &figures);
    assert!(
        again.stdout.contains("modelled") && again.stdout.contains("barrier"),
        "{again:?}"
    );
    let silent = run(&[], &[&probe, "turns", "lines"]);
    assert_eq!(silent.status, 1, "{silent:?}");
    assert!(
        silent
            .stderr
            .contains("tccluster: the program printed no line NAME"),
        "{silent:?}"
    );
    let nowhere = job::run(&["compare", "-n", "2", "--on", "moon", &probe]);
    assert_eq!(nowhere.status, 2, "{nowhere:?}");
    assert!(nowhere.stderr.contains("tccluster"), "{nowhere:?}");
}
