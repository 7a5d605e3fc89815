//! Lenders that somebody keeps busy, and how they are started.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use hostwire_testing::{is_installed, left_out, need};
use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{HOSTWIRE, Lender, borrow, can_borrow, finish, new_name, program, text};
use crate::network::{free_port, new_key};

/// A command under way, and the lines that it prints.
struct Lines {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Lines {
    fn start(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_lender_says_what_it_lends_and_when_loans_begin_and_end() {
    if !can_borrow() {
        return;
    }
    let name = new_name();
    // The lender notices the end of its processes, even if its parent has blocked or ignored
    // SIGCHLD.
    let mut command = Command::new("env");
    command.args(["--block-signal=TERM,INT,CHLD", "--ignore-signal=CHLD"]);
    command.args([HOSTWIRE, "lend", "--memory", "8M", "--name", &name]);
    let mut lender = Lines::start(&mut command);
    assert_eq!(lender.next(), format!("8 MiB are lent at local:{name}"));
    for loan in ["loan 1", "loan 2"] {
        let options = [
            "borrow",
            "--from",
            &format!("local:{name}"),
            "--memory",
            "4M",
        ];
        let mut borrower = Command::new(HOSTWIRE);
        borrower.args(options).args(["--explicit", "--", "true"]);
        let borrowed = text(&finish(borrower));
        assert_eq!(borrowed, "status 0\n");
        let begun = format!("{loan} begins: 4 MiB to this user; 4 MiB are free");
        assert_eq!(lender.next(), begun);
        assert_eq!(lender.next(), format!("{loan} ends; 8 MiB are free"));
    }
    kill_process(Pid::from_child(&lender.child), Signal::TERM).unwrap();
    let status = lender.child.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
}

/// `hostwire lend` on an address, with few descriptors.
fn lend(key: &str) -> Lender {
    let address = format!("127.0.0.1:{}", free_port());
    let mut command = Command::new("sh");
    let script = "ulimit -n 700; exec \"$0\" \"$@\"";
    command.args(["-c", script, HOSTWIRE, "lend", "--memory", "16M"]);
    command.args(["--listen", &address, "--key", key]);
    Lender::of(command, address)
}

#[test]
fn strangers_keep_nobody_away() {
    if !can_borrow() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let key = new_key(folder.path(), "key");
    let lender = lend(&key);
    let run = || {
        let options = ["--memory", "4M", "--explicit", "--key", &key];
        text(&finish(borrow(
            &[&lender],
            &options,
            Path::new("true"),
            &[],
        )))
    };
    assert_eq!(run(), "status 0\n");
    let strangers: Vec<TcpStream> = (0..500)
        .map(|_| {
            let mut stranger = TcpStream::connect(&lender.place).unwrap();
            // The lender may have let it go.
            let _ = stranger.write_all(b"h");
            stranger
        })
        .collect();
    assert_eq!(run(), "status 0\n");
    drop(strangers);
}

#[test]
fn a_borrower_of_another_host_makes_no_files_at_the_lender() {
    if !can_borrow() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let key = new_key(folder.path(), "key");
    let lender = lend(&key);
    let recorded = folder.path().join("recorded");
    let options = ["--memory", "4M", "--explicit", "--key", &key];
    let mut command = borrow(&[&lender], &options, Path::new("true"), &[]);
    command.env("HOSTWIRE_RECORD", &recorded);
    let refused = text(&finish(command));
    assert!(
        refused.starts_with("status 2\nhostwire: HOSTWIRE_RECORD is set")
            && refused.contains("on another host, makes no files"),
        "{refused}"
    );
    assert!(!recorded.exists());
}

#[test]
fn another_user_who_has_the_name_of_a_lender_keeps_nobody_away() {
    let is_root = rustix::process::geteuid().is_root();
    if !can_borrow() || !is_root || !is_installed("setpriv", &need::UTIL_LINUX) {
        return;
    }
    let (made, squat) = program("squat", &[]);
    let readable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(made.path(), readable).unwrap();
    let name = new_name();
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--clear-groups"])
        .arg(&squat);
    command.arg(format!("hostwire-lend-0-{name}"));
    let mut other = Lines::start(&mut command);
    match other.lines.next() {
        Some(line) => assert_eq!(line.unwrap(), "taken"),
        None => return left_out(&need::OTHER_USER, "it cannot read the test program"),
    }
    let mut command = Command::new(HOSTWIRE);
    command.args(["lend", "--memory", "8M", "--name", &name]);
    let mut lender = Lines::start(&mut command);
    let place = format!("local:{name}");
    assert_eq!(lender.next(), format!("8 MiB are lent at {place}"));
    let mut borrower = Command::new(HOSTWIRE);
    borrower.args(["borrow", "--from", &place, "--memory", "4M", "--explicit"]);
    borrower.args(["--", "true"]);
    assert_eq!(text(&finish(borrower)), "status 0\n");
    // A second lender of this user is refused, as ever.
    let again = command.stdout(Stdio::piped()).output().unwrap();
    let again = text(&again);
    assert!(
        again.starts_with("status 1") && again.contains("cannot lend at local:"),
        "{again}"
    );
}

/// Ignored signals stay ignored in the program (nohup), and its exit status is still noticed.
#[test]
fn signals_that_are_ignored_change_nothing_for_the_program() {
    if !can_borrow() {
        return;
    }
    let lender = Lender::start("8M");
    let script = ["-c", "kill -HUP $$; kill -INT $$; exit 7"];
    let inner = borrow(&[&lender], &["--memory", "4M"], Path::new("sh"), &script);
    let mut command = Command::new("env");
    command.arg("--ignore-signal=CHLD,HUP,INT");
    command.arg(inner.get_program()).args(inner.get_args());
    command.stdin(Stdio::null());
    assert_eq!(text(&finish(command)), "status 7\n");
}
