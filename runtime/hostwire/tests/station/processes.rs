//! Stations of several processes. One of them ends or becomes silent.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use hostwire::station::{Lane, Name, Station, Wanted};
use hostwire::{Error, PeId, Source, Ticket};

use super::{any, bytes, next, on_host, receive, tagged};

/// A process of this test. It is told the names of the others.
struct Other {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

const ROLE: &str = "STATION_TEST_RANK";
/// The host on which it pretends to be, if not this one.
const HOST: &str = "STATION_TEST_HOST";
/// Seconds of silence after which a station is lost. Ten times as much if its kernel still answers.
const SOON_LOST_S: &str = "1";
/// The usual time.
const USUAL_S: &str = "10";
/// Longer than any wait of the test: silence does not count as an end.
const NEVER_LOST_S: &str = "300";

impl Other {
    /// - `hosts`: over how many hosts they are spread, or 0 if they are on this one.
    fn start(rank: usize, hosts: usize, lost_after_s: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        if hosts > 0 {
            command.env(HOST, (rank % hosts).to_string());
        }
        let mut child = command
            .args([
                "--exact",
                "processes::a_process_of_the_tests_above",
                "--nocapture",
                "--ignored",
            ])
            .env(ROLE, rank.to_string())
            .env("HOSTWIRE_LOST_AFTER", lost_after_s)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, to, from }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
    }

    /// The rest of the next line that begins with `what`.
    fn hear(&mut self, what: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "no {what}");
            // The test harness writes the beginning of the line before.
            if let Some((_, rest)) = line.trim_end().split_once(what) {
                return rest.to_owned();
            }
        }
    }
}

fn start_all(count: usize, hosts: usize, lost_after_s: &str) -> Vec<Other> {
    let start = |rank| Other::start(rank, hosts, lost_after_s);
    let mut all: Vec<Other> = (0..count).map(start).collect();
    let names: Vec<String> = all.iter_mut().map(|other| other.hear("name=")).collect();
    for other in &mut all {
        other.say(&names.join(" "));
    }
    all
}

#[test]
fn four_processes_meet_by_name() {
    for hosts in [0, 2, 4] {
        let mut all = start_all(4, hosts, USUAL_S);
        for other in &mut all {
            assert_eq!(other.hear("done="), "all");
        }
        for other in &mut all {
            other.say("end");
            assert!(other.child.wait().unwrap().success());
        }
    }
}

#[test]
fn a_process_that_is_killed_is_missed() {
    for hosts in [0, 2, 4] {
        let mut all = start_all(4, hosts, NEVER_LOST_S);
        for other in &mut all {
            assert_eq!(other.hear("done="), "all");
        }
        all[2].child.kill().unwrap();
        all[2].child.wait().unwrap();
        miss_the_third(&mut all);
    }
}

fn miss_the_third(all: &mut [Other]) {
    for (rank, other) in all.iter_mut().enumerate().filter(|(rank, _)| *rank != 2) {
        other.say("miss");
        assert_eq!(other.hear("missed="), "2", "of rank {rank}");
        other.say("end");
        assert!(other.child.wait().unwrap().success());
    }
}

/// Its connections stay open, and nothing comes over its links.
#[test]
fn a_process_of_another_host_that_is_silent_is_missed() {
    let mut all = start_all(3, 3, SOON_LOST_S);
    for other in &mut all {
        assert_eq!(other.hear("done="), "all");
    }
    let process = rustix::process::Pid::from_child(&all[2].child);
    let begin = Instant::now();
    rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
    miss_the_third(&mut all);
    // Its kernel still answers.
    assert!(begin.elapsed() >= Duration::from_secs(10));
    all[2].child.kill().unwrap();
    all[2].child.wait().unwrap();
}

/// Sends and receives that need the lost one fail. The two others continue: before, meanwhile and after.
#[test]
fn others_go_on_when_one_of_another_host_is_lost() {
    for is_killed in [true, false] {
        let lost_after = if is_killed { NEVER_LOST_S } else { SOON_LOST_S };
        let mut all = start_all(3, 3, lost_after);
        for other in &mut all {
            assert_eq!(other.hear("done="), "all");
        }
        for other in &mut all[..2] {
            other.say("go on");
        }
        for other in &mut all[..2] {
            assert_eq!(other.hear("rounds="), "20");
        }
        let third = rustix::process::Pid::from_child(&all[2].child);
        let signal = if is_killed {
            rustix::process::Signal::KILL
        } else {
            rustix::process::Signal::STOP
        };
        rustix::process::kill_process(third, signal).unwrap();
        for other in &mut all[..2] {
            assert_eq!(other.hear("failed="), "a receive and a send");
            assert_eq!(other.hear("rounds="), "20");
            other.say("end");
            assert!(other.child.wait().unwrap().success());
        }
        all[2].child.kill().unwrap();
        all[2].child.wait().unwrap();
    }
}

#[test]
#[ignore = "a part of the tests above, which start it"]
fn a_process_of_the_tests_above() {
    if let Ok(rank) = std::env::var(ROLE) {
        be_one_of_several(rank.parse().unwrap());
    }
}

/// Sends a message to each of the others, and receives one from each.
fn be_one_of_several(rank: usize) {
    let station = match std::env::var(HOST) {
        Ok(host) => on_host(host.parse().unwrap()),
        Err(_) => Station::open().unwrap(),
    };
    let mut lines = std::io::stdin().lines().map(Result::unwrap);
    let name = station.name().to_bytes();
    let digits: Vec<String> = name.iter().map(|b| format!("{b:02x}")).collect();
    say(&format!("name={}", digits.concat()));
    let names = lines.next().unwrap();
    let numbers: Vec<PeId> = names
        .split(' ')
        .map(|name| {
            let bytes: Vec<u8> = (0..name.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&name[at..at + 2], 16).unwrap())
                .collect();
            station.number(&Name::from_bytes(&bytes).unwrap()).unwrap()
        })
        .collect();
    for (to, pe) in numbers.iter().enumerate() {
        let message = vec![rank as u8; 100_000 * to + 8];
        station
            .send(*pe, tagged(rank as u64), Box::new(message))
            .unwrap();
    }
    for from in 0..numbers.len() {
        receive(
            &station,
            Wanted {
                tag: (from as u64).into(),
                ..any(Lane::Tagged)
            },
            1 << 20,
        );
    }
    for _ in 0..2 * numbers.len() {
        let done = next(&station, &[]);
        if !done.is_receive {
            continue;
        }
        let envelope = done.result.clone().unwrap();
        let from = envelope.tag as usize;
        assert_eq!(envelope.from, numbers[from]);
        assert!(bytes(done) == vec![from as u8; 100_000 * rank + 8]);
    }
    say("done=all");
    match lines.next().unwrap().as_str() {
        "miss" => miss(&station, &numbers),
        "go on" => go_on(&station, &numbers, numbers[1 - rank]),
        _ => return,
    }
    lines.next().unwrap();
}

/// A receive from the third ends because the third is lost.
fn miss(station: &Station, numbers: &[PeId]) {
    receive_from(station, numbers[2]);
    let done = next(station, &[]);
    let Err(Error::PeerLost { pe, .. }) = done.result else {
        panic!("{:?}", done.result)
    };
    say(&format!(
        "missed={}",
        numbers.iter().position(|number| *number == pe).unwrap()
    ));
}

fn receive_from(station: &Station, pe: PeId) -> Ticket {
    let wanted = Wanted {
        from: Source::Pe(pe),
        ..any(Lane::Tagged)
    };
    receive(station, wanted, 1)
}

/// Exchanges messages with the partner, while a receive from the third and a send to it wait.
fn go_on(station: &Station, numbers: &[PeId], partner: PeId) {
    let third = numbers[2];
    let long = Box::new(vec![3_u8; 4 << 20]);
    let mut waits = vec![
        receive_from(station, third),
        station.send(third, tagged(5), long).unwrap(),
    ];
    let mut round = || round(station, partner, third, &mut waits);
    for _ in 0..20 {
        round();
    }
    say("rounds=20");
    while !round() {}
    say("failed=a receive and a send");
    for _ in 0..20 {
        round();
    }
    say("rounds=20");
}

/// One message to the partner and one from it. Anything else that ends fails because the third is lost.
/// Returns whether both had none of that left when the round began.
fn round(station: &Station, partner: PeId, third: PeId, waits: &mut Vec<Ticket>) -> bool {
    let message = vec![u8::from(waits.is_empty()); 64];
    let wanted = Wanted {
        from: Source::Pe(partner),
        tag: 9.into(),
        ..any(Lane::Tagged)
    };
    let mut is_over = waits.is_empty();
    let sent = station.send(partner, tagged(9), Box::new(message)).unwrap();
    let mut own = vec![sent, receive(station, wanted, 64)];
    while !own.is_empty() {
        let done = next(station, &[]);
        if let Some(at) = own.iter().position(|ticket| *ticket == done.ticket) {
            own.remove(at);
            if done.is_receive {
                is_over &= bytes(done) == [1; 64];
            } else {
                done.result.unwrap();
            }
        } else {
            let at = waits.iter().position(|ticket| *ticket == done.ticket);
            waits.remove(at.unwrap());
            let Err(Error::PeerLost { pe, .. }) = done.result else {
                panic!("{:?}", done.result)
            };
            assert_eq!(pe, third);
        }
    }
    is_over
}

/// Starts a new line, because the harness leaves its line open.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{line}").unwrap();
    out.flush().unwrap();
}
