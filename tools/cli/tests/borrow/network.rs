//! Lenders on other hosts: TCP, keys, and wires between network namespaces.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use hostwire_testing::{is_installed, left_out, need};

use crate::kit::{HOSTWIRE, Lender, Running, borrow, can_borrow, finish, new_name, program, text};

pub fn new_key(folder: &Path, name: &str) -> String {
    let path = folder.join(name).to_string_lossy().into_owned();
    let made = Command::new(HOSTWIRE)
        .args(["lend", "--new-key", &path])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", text(&made));
    path
}

/// `hostwire lend` on an address, perhaps in a namespace.
fn lend(before: &[&str], address: &str, key: &str) -> Lender {
    let words: Vec<&str> = before.iter().copied().chain([HOSTWIRE]).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command.args(["lend", "--memory", "64M", "--listen", address, "--key", key]);
    Lender::of(command, address.to_owned())
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    let door = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    door.local_addr().unwrap().port()
}

#[test]
fn who_has_the_key_may_borrow_and_nobody_else() {
    if !can_borrow() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (key, other) = (
        new_key(folder.path(), "key"),
        new_key(folder.path(), "other"),
    );
    let lender = lend(&[], &format!("127.0.0.1:{}", free_port()), &key);
    let (_made, walk) = program("walk", &[]);
    let run = |key: &str| {
        let options = ["--memory", "16M", "--cache", "1M", "--key", key];
        text(&finish(borrow(&[&lender], &options, &walk, &["8", "2"])))
    };
    let right = run(&key);
    assert!(
        right.starts_with("status 0") && right.contains("right"),
        "{right}"
    );
    let wrong = run(&other);
    assert!(
        wrong.starts_with("status 2") && wrong.contains("another key"),
        "{wrong}"
    );
    let none = text(&finish(borrow(&[&lender], &["--memory", "1M"], &walk, &[])));
    assert!(none.contains("needs --key FILE"), "{none}");
}

/// Two hosts made of this machine, until it is dropped.
struct Namespaces([String; 2]);

impl Namespaces {
    fn make() -> Option<Self> {
        let is_root = rustix::process::geteuid().is_root();
        if !is_root || !is_installed("ip", &need::IP) {
            return None;
        }
        let name = new_name();
        let made = Self([format!("{name}-a"), format!("{name}-b")]);
        let [a, b] = &made.0;
        let commands = [
            format!("netns add {a}"),
            format!("netns add {b}"),
            format!("link add e0 netns {a} type veth peer name e0 netns {b}"),
            format!("-n {a} addr add 10.99.0.1/24 dev e0"),
            format!("-n {b} addr add 10.99.0.2/24 dev e0"),
            format!("-n {a} link set e0 up"),
            format!("-n {b} link set e0 up"),
            format!("-n {a} link set lo up"),
        ];
        for command in commands {
            let output = Command::new("ip")
                .args(command.split(' '))
                .output()
                .unwrap();
            if !output.status.success() {
                left_out(&need::NAMESPACES, text(&output).replace('\n', " "));
                return None;
            }
        }
        Some(made)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
    }
}

/// The same program and arguments on a host.
fn on(host: &str, inner: &Command) -> Command {
    let mut command = Command::new("ip");
    command
        .args(["netns", "exec", host])
        .arg(inner.get_program())
        .args(inner.get_args());
    command
}

#[test]
fn memory_of_another_host_is_borrowed_over_each_wire() {
    if !can_borrow() {
        return;
    }
    let Some(hosts) = Namespaces::make() else {
        return;
    };
    let [a, b] = &hosts.0;
    let folder = tempfile::tempdir().unwrap();
    let key = new_key(folder.path(), "key");
    let lender = lend(&["ip", "netns", "exec", b], "10.99.0.2:7700", &key);
    let (_made, walk) = program("walk", &[]);
    let insecure = [("HOSTWIRE_INSECURE_WIRE", "1")];
    let mut wires: Vec<(&str, Vec<(&str, &str)>)> =
        vec![("udp", vec![]), ("tcp", vec![]), ("ether", vec![])];
    match hostwire_fabric::offers() {
        Ok(_) => {
            let provider = ("HOSTWIRE_FABRIC", "tcp;ofi_rxm");
            wires.push(("fabric", [&insecure[..], &[provider]].concat()));
        }
        Err(error) => left_out(&need::LIBFABRIC, error),
    }
    for (wire, variables) in wires {
        let options = ["--memory", "16M", "--cache", "1M", "--key", &key, "--stats"];
        let inner = borrow(&[&lender], &options, &walk, &["8", "3"]);
        let mut command = on(a, &inner);
        command.env("HOSTWIRE_WIRE", wire).envs(variables);
        let text = text(&finish(command));
        assert!(
            text.starts_with("status 0") && text.contains("right"),
            "{wire}: {text}"
        );
        assert!(text.contains("began with zeros"), "{wire}: {text}");
    }
    let options = ["--memory", "16M", "--key", &key, "--pages", "map"];
    let inner = borrow(&[&lender], &options, &walk, &["8", "3"]);
    let mut command = on(a, &inner);
    command.env("HOSTWIRE_WIRE", "udp");
    let refused = text(&finish(command));
    let why = "--pages map: the wire reaches lender 1 without loads and stores";
    assert!(
        refused.starts_with("status 2") && refused.contains(why),
        "{refused}"
    );
}

/// `hostwire borrow` on the first host.
fn borrow_there(hosts: &Namespaces, lender: &Lender, key: &str, walk: [&str; 2]) -> Command {
    let options = ["--memory", "16M", "--cache", "1M", "--key", key];
    let [walk, rounds] = walk;
    let inner = borrow(&[lender], &options, Path::new(walk), &["8", rounds]);
    let mut command = on(&hosts.0[0], &inner);
    command.env("HOSTWIRE_WIRE", "udp");
    command
}

/// The line about it comes after `HOSTWIRE_LOST_AFTER`; the connection to the lender, which says nothing, stays much longer.
#[test]
fn who_cannot_reach_its_lender_any_more_does_not_wait_for_it() {
    if !can_borrow() {
        return;
    }
    let Some(hosts) = Namespaces::make() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let key = new_key(folder.path(), "key");
    let lender = lend(
        &["ip", "netns", "exec", &hosts.0[1]],
        "10.99.0.2:7700",
        &key,
    );
    let (_made, walk) = program("walk", &[]);
    let walk = walk.to_str().unwrap();
    let ready = text(&finish(borrow_there(&hosts, &lender, &key, [walk, "1"])));
    assert!(ready.starts_with("status 0"), "{ready}");
    let mut command = borrow_there(&hosts, &lender, &key, [walk, "1000000"]);
    command.env("HOSTWIRE_LOST_AFTER", "1");
    let mut running = Running::start(command, &[]);
    running.line("round 1");
    let pulled = Command::new("ip")
        .args(["-n", &hosts.0[0], "link", "set", "e0", "down"])
        .output()
        .unwrap();
    assert!(pulled.status.success(), "{}", text(&pulled));
    let why = running.error_line();
    assert!(why.contains("memory of lender 1 is lost"), "{why}");
    let told = Instant::now();
    assert_eq!(running.end().0, 1);
    // It was half a minute.
    assert!(told.elapsed().as_secs() < 20, "{:?}", told.elapsed());
}

/// In a region that the borrower names, and in one without a name.
#[test]
fn memory_is_borrowed_over_a_window() {
    if !can_borrow() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool").to_string_lossy().into_owned();
    let made = Command::new(HOSTWIRE)
        .args([
            "window",
            "make",
            &format!("{path},size=256M,contract=coherent"),
        ])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", text(&made));
    let (_made, walk) = program("walk", &[]);
    let lender = Lender::start("64M");
    for (window, pages) in [("", "map"), (&path, "move"), (&path, "map"), (&path, "map")] {
        let options = ["--memory", "16M", "--cache", "1M", "--pages", pages];
        let mut command = borrow(&[&lender], &options, &walk, &["8", "3"]);
        command.env("HOSTWIRE_WIRE", "window");
        command.env("HOSTWIRE_WINDOW", window);
        let text = text(&finish(command));
        assert!(
            text.starts_with("status 0") && text.contains("right"),
            "{window}: {text}"
        );
    }
    let shown = Command::new(HOSTWIRE)
        .args(["window", "show", &path])
        .output()
        .unwrap();
    let shown = text(&shown);
    // Borrowed memory is given back when the loan ends.
    assert!(
        shown.starts_with("status 0") && !shown.contains("job at place"),
        "{shown}"
    );
}
