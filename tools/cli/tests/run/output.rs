//! Output and input of the PEs.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::job::{self, Job, hostwire, run, run_with_input};

#[test]
fn each_pe_knows_its_place() {
    let ended = run(&[
        "run",
        "-n",
        "3",
        "sh",
        "-c",
        "echo $PMI_RANK of $PMI_SIZE on $HOSTWIRE_WIRE",
    ]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert_eq!(
        ended.sorted_lines(),
        ["0 of 3 on auto", "1 of 3 on auto", "2 of 3 on auto"]
    );
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    for pes in ["1", "3"] {
        let mut command = hostwire(&["run", "-n", pes, "echo", "lost"]);
        command.stdout(std::fs::File::create("/dev/full").unwrap());
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.starts_with("hostwire: cannot write standard output: No space left"),
            "{said}"
        );
    }
}

#[test]
fn variables_stand_in_for_options() {
    let script = "echo $HOSTWIRE_WIRE $HOSTWIRE_HEAP $HOSTWIRE_RING";
    for (options, expected) in [
        (&[][..], "stores 67108864 8192\n"),
        (&["--wire", "shm", "--heap", "1G"], "shm 1073741824 8192\n"),
    ] {
        let mut command = hostwire(&[&["run", "-n1"], options, &["sh", "-c", script]].concat());
        command.envs([
            ("HOSTWIRE_WIRE", "stores"),
            ("HOSTWIRE_HEAP", "64MiB"),
            ("HOSTWIRE_RING", "8K"),
        ]);
        let ended = Job::start(command).end();
        assert_eq!(
            (ended.status, ended.stdout.as_str()),
            (0, expected),
            "{ended:?}"
        );
    }
}

#[test]
fn sizes_reach_the_pes_in_bytes() {
    let program = ["sh", "-c", "echo $HOSTWIRE_HEAP $HOSTWIRE_RING"];
    let ended = run(&[
        &["run", "-n1", "--heap", "64M", "--ring", "8K", "--"],
        &program[..],
    ]
    .concat());
    assert_eq!(
        (ended.status, ended.stdout.as_str()),
        (0, "67108864 8192\n")
    );
}

#[test]
fn labels_say_where_a_line_comes_from() {
    let script = "echo a; echo b >&2; printf c";
    let ended = run(&["run", "-n", "2", "--label", "sh", "-c", script]);
    assert_eq!(ended.status, 0);
    assert_eq!(ended.sorted_lines(), ["[0] a", "[0] c", "[1] a", "[1] c"]);
    let errors: BTreeSet<&str> = ended.stderr.lines().collect();
    assert_eq!(errors, BTreeSet::from(["[0] b", "[1] b"]));
}

#[test]
fn lines_written_in_pieces_are_not_torn() {
    let script = "for i in 1 2 3 4 5 6 7 8 9; do printf $PMI_RANK; printf $PMI_RANK; \
                  printf $PMI_RANK; echo $PMI_RANK; done";
    let ended = run(&["run", "-n", "4", "sh", "-c", script]);
    assert_eq!(ended.status, 0);
    let expected: Vec<String> = (0..4)
        .flat_map(|pe| vec![pe.to_string().repeat(4); 9])
        .collect();
    assert_eq!(ended.sorted_lines(), expected);
}

#[test]
fn one_pe_is_passed_on_byte_by_byte() {
    let input: String = (0..40_000).map(|i| format!("{i} ")).collect();
    let ended = run_with_input(&["run", "-n", "1", "cat"], &input);
    assert_eq!(ended.status, 0);
    assert!(
        ended.stdout == input,
        "{} bytes of {}",
        ended.stdout.len(),
        input.len()
    );
}

#[test]
fn a_lot_of_output_arrives_whole() {
    let script = "i=0; while [ $i -lt 2000 ]; do echo $PMI_RANK $i; i=$((i+1)); done; \
                  head -c 300000 /dev/zero | tr '\\0' x; echo";
    let ended = run(&["run", "-n", "3", "--label", "sh", "-c", script]);
    assert_eq!(ended.status, 0);
    for pe in 0..3 {
        let mut lines = ended.stdout.lines();
        for i in 0..2000 {
            let line = format!("[{pe}] {pe} {i}");
            assert!(
                lines.any(|seen| seen == line),
                "{line} is missing or out of order"
            );
        }
    }
    assert_eq!(ended.stdout.matches('x').count(), 3 * 300_000);
}

#[test]
fn long_lines_are_not_torn() {
    let script =
        "for i in 1 2 3 4 5 6 7 8; do head -c 200000 /dev/zero | tr '\\0' $PMI_RANK; echo; done";
    let ended = run(&["run", "-n", "4", "sh", "-c", script]);
    assert_eq!(ended.status, 0);
    let lines = ended.sorted_lines();
    assert_eq!(lines.len(), 4 * 8);
    for (line, place) in lines.iter().zip(0..) {
        let pe = char::from(b'0' + place / 8);
        let is_whole = line.len() == 200_000 && line.chars().all(|it| it == pe);
        assert!(is_whole, "{} bytes of PE {pe}", line.len());
    }
}

#[test]
fn standard_input_goes_to_pe_0() {
    let script = "echo $PMI_RANK got $(cat | wc -c)";
    let ended = run_with_input(&["run", "-n", "3", "sh", "-c", script], "hello\n");
    assert_eq!(ended.sorted_lines(), ["0 got 6", "1 got 0", "2 got 0"]);
}

#[test]
fn the_arguments_of_the_program_are_its_own() {
    let ended = run(&[
        "run", "-n", "1", "printf", "%s|", "-n", "--label", "--", "a b", "",
    ]);
    assert_eq!(
        (ended.status, ended.stdout.as_str()),
        (0, "-n|--label|--|a b||")
    );
}

/// All PEs have ended when the time is over, and nobody reads: there is nothing to end.
#[test]
fn a_timeout_that_passes_while_output_is_blocked_costs_nothing() {
    let fills = "head -c 150000 /dev/zero | tr '\\0' x";
    let job = Job::start(hostwire(&[
        "run",
        "-n1",
        "--timeout",
        "1s",
        "sh",
        "-c",
        fills,
    ]));
    std::thread::sleep(Duration::from_secs(3));
    let taken_s = job.processor_s();
    assert!(taken_s < 0.5, "{taken_s} s");
    job.end();
}

/// What becomes of a process that has escaped from its PE and writes a line every 30 ms. Its PE ends before the time of
/// the job is over, and it goes on after that. `None` if the machine was too slow for this to show anything.
fn lines_of_an_escaped_process(folder: &Path) -> Option<Result<(), String>> {
    const LINES: usize = 60;
    const TIMEOUT: Duration = Duration::from_secs(1);
    /// As the launcher has it.
    const SILENCE: Duration = Duration::from_millis(200);
    let log = folder.join("stamps");
    let _ = std::fs::remove_file(&log);
    let escaped = format!(
        "i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); echo $i; date +%s%N >>{0}; sleep 0.03; done",
        log.display()
    );
    // The PE ends when the other one has a session of its own.
    let script = format!(
        "setsid sh -c '{escaped}' & while [ ! -s {} ]; do sleep 0.01; done",
        log.display()
    );
    let timeout = format!("{}ms", TIMEOUT.as_millis());
    let arguments = ["run", "-n1", "--timeout", &timeout, "sh", "-c", &script];
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut job = Job::start(hostwire(&arguments));
    let first = job.line_or_end();
    // The launcher passed the line on, so the time of the job had begun.
    let begun = now();
    let ended = job.end();
    let over = now();
    let stamps = std::fs::read_to_string(&log).unwrap_or_default();
    let stamps: Vec<Duration> = stamps
        .lines()
        .filter_map(|stamp| stamp.parse().ok().map(Duration::from_nanos))
        .collect();
    if ended.status != 0 {
        return None; // The PE has not ended in time.
    }
    let came = first.lines().chain(ended.stdout.lines()).count();
    if came == LINES {
        return (*stamps.last()? > begun + TIMEOUT).then_some(Ok(()));
    }
    // The last line was written after the stamp of the one before it.
    let [.., before, _] = stamps[..] else {
        return None;
    };
    let quiet = over.saturating_sub(before);
    (quiet < SILENCE).then(|| Err(format!("{came} lines, then the job ended within {quiet:?}")))
}

/// A process that still holds an output has 200 ms after each of its lines, whichever deadline passes meanwhile.
#[test]
fn a_timeout_that_passes_when_the_pes_have_ended_cuts_no_output_off() {
    let folder = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    loop {
        match lines_of_an_escaped_process(folder.path()) {
            Some(shown) => return shown.unwrap(),
            None => assert!(begin.elapsed() < job::LIMIT, "the machine is too busy"),
        }
    }
}

#[test]
fn nobody_listening_ends_the_job_quietly() {
    let script = "while echo $PMI_RANK; do :; done; sleep 1000";
    let mut job = Job::start(hostwire(&["run", "-n", "2", "sh", "-c", script]));
    job.line();
    let ended = job.close_stdout().end();
    assert_eq!((ended.status, ended.stderr.as_str()), (141, ""));
}

#[test]
fn binding_sets_the_affinity_of_each_pe() {
    let script = "grep Cpus_allowed_list /proc/self/status";
    let ended = run(&["run", "-n", "3", "--bind", "0", "sh", "-c", script]);
    assert_eq!(ended.sorted_lines(), ["Cpus_allowed_list:\t0"; 3]);
}
