//! How a starter is started, and what it means when ssh ends instead.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use hostwire_transport::os::process::ChildSetup;
use hostwire_transport::printable;

use super::pes::End;

mod connection;
mod copy;

pub use self::connection::Connection;

/// The name of the hidden command that is a starter.
pub const STARTER: &str = "__starter";
/// The descriptor of the file with a starter that was copied to a host.
pub const COPY_FD: RawFd = 4;

/// The status by which ssh says that it has failed itself.
pub const SSH_FAILED: i32 = 255;
/// The status by which a shell says that it has not found a program.
const NOT_FOUND: i32 = 127;
/// The same of one that it cannot start.
const NOT_EXECUTED: i32 = 126;
/// The status of the command line of hostwire for a command that it does not know.
const UNKNOWN_COMMAND: i32 = 2;

/// Starts the starter of another host, as a copy of this program if that has so many bytes. Has to be called on the main
/// thread.
pub fn reach(ssh: &str, target: &str, copied_bytes: Option<usize>) -> io::Result<Connection> {
    Connection::open(command(ssh, target, copied_bytes))
}

/// The command that starts the starter of another host. If that is a copy of this program, it has so many bytes.
fn command(ssh: &str, target: &str, copied_bytes: Option<usize>) -> Command {
    let mut words = ssh.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("ssh"));
    // It must never ask for anything: nobody may be there to answer. It ends with the job, so no other connection may
    // depend on it.
    let options = ["-oBatchMode=yes", "-oControlMaster=no", "-T"];
    command.args(words).args(options).arg(target);
    command.arg(match copied_bytes {
        Some(bytes) => copy::remote_line(bytes),
        None => remote_line(own_path().as_deref()),
    });
    connected(command)
}

/// Starts the starter of this host.
pub fn start_here() -> io::Result<Connection> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(STARTER);
    Connection::open(connected(command))
}

fn connected(mut command: Command) -> Command {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C of a terminal is the launcher's.
        .process_group(0);
    // It ends with the process that starts it, and the starter with it.
    ChildSetup::default().apply(&mut command);
    command
}

/// Whether a host is this one, by its name. No ssh is needed then.
pub fn is_here(target: &str) -> bool {
    let own = rustix::system::uname();
    target == "localhost" || target.as_bytes() == own.nodename().to_bytes()
}

/// Where this program is, if any shell takes the path as it is.
fn own_path() -> Option<String> {
    let path = std::env::current_exe().ok()?.into_os_string();
    let path = path.into_string().ok()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    path.chars().all(is_plain).then_some(path)
}

/// For the shell of the user on the host, whichever that is: the same file as here, else the one in the path.
fn remote_line(own_path: Option<&str>) -> String {
    let command = STARTER;
    match own_path {
        Some(path) => {
            format!("exec sh -c 'test -x {path} && exec {path} {command}; exec hostwire {command}'")
        }
        None => format!("exec hostwire {command}"),
    }
}

/// What is known of a starter that has not greeted.
pub struct Silent<'a> {
    pub target: &'a str,
    /// The host from which ssh was to reach it, if that was not this one.
    pub from: Option<&'a str>,
    /// How ssh has ended, if it has.
    pub status: Option<End>,
    /// What came on standard error.
    pub said: &'a str,
    /// What came in place of a greeting.
    pub noise: &'a str,
    /// Whether it is a copy of this program.
    pub is_copied: bool,
}

/// Why there is no starter, in words.
pub fn why_not_started(silent: &Silent<'_>) -> String {
    let Silent {
        target,
        from,
        status,
        said,
        noise,
        is_copied,
    } = *silent;
    let (ssh, advice) = (subject(from), |here: &str| match from {
        Some(from) => format!(
            "let {from} log in there (a key of its own, or ForwardAgent), or reach all hosts from here: --fan-out 1024"
        ),
        None => here.to_owned(),
    });
    let from = from.map(|from| format!(" from {from}")).unwrap_or_default();
    let code = match status {
        Some(End::Exited(code)) => Some(code),
        _ => None,
    };
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    let last = last.map(printable);
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let version = env!("CARGO_PKG_VERSION");
    if let (true, Some(copy::REFUSED), Some(last)) = (is_copied, code, &last) {
        return last.clone();
    }
    let why = match code {
        Some(SSH_FAILED) if says(&["Permission denied", "Too many authentication failures"]) => {
            let advice = advice(&format!("ssh-copy-id {target} gives it one"));
            format!("{ssh} has no key that it takes, and is not to ask for a password; {advice}")
        }
        Some(SSH_FAILED) if says(&["Host key verification failed"]) => {
            let advice = advice(&format!("log in by hand once: ssh {target}"));
            format!("{ssh} does not know its key, or the key has changed; {advice}")
        }
        Some(SSH_FAILED) if says(&["Could not resolve"]) => {
            match from.is_empty() {
                true => "there is no host of this name".to_owned(),
                false => format!("{ssh} finds no host of this name; {}", advice("")),
            }
        }
        Some(SSH_FAILED) if says(&["Connection refused"]) => {
            format!("it does not accept connections by ssh{from}; is sshd running there?")
        }
        Some(SSH_FAILED) if says(&["timed out", "No route to host", "Network is unreachable"]) => {
            format!("it cannot be reached{from}")
        }
        Some(SSH_FAILED) => {
            let advice = advice(&format!("try: ssh {target} true"));
            format!("{ssh} has failed; {advice}")
        }
        Some(NOT_EXECUTED | NOT_FOUND | 1) if is_copied => {
            "its system does not run this hostwire; install one there that is made for it, and leave out --copy"
                .to_owned()
        }
        Some(NOT_FOUND) => {
            format!("hostwire is not in the path there; install version {version}")
        }
        Some(UNKNOWN_COMMAND) if says(&["there is no command"]) => {
            format!("hostwire there is older than this one; install version {version}")
        }
        Some(code) => {
            format!("hostwire ended there with status {code} before it had said anything")
        }
        None => match status {
            Some(_) => format!("{ssh} was killed"),
            None => "it has closed the connection".to_owned(),
        },
    };
    let noise = match noise {
        "" => String::new(),
        noise => format!("; it printed {noise:?}"),
    };
    match last {
        Some(last) => format!("{why}{noise} ({last})"),
        None => format!("{why}{noise}"),
    }
}

/// ssh, and where it ran if that was not here.
fn subject(from: Option<&str>) -> String {
    match from {
        Some(from) => format!("ssh from {from}"),
        None => "ssh".to_owned(),
    }
}

/// Why a starter is gone that was there, in words.
pub fn why_lost(status: Option<End>, said: &str, from: Option<&str>) -> String {
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    let last = last.map(|line| format!(" ({})", printable(line)));
    let last = last.unwrap_or_default();
    let why = match status {
        Some(End::Exited(SSH_FAILED)) => "its connection or its starter has ended".to_owned(),
        Some(End::Exited(code)) => format!("its starter ended with status {code}"),
        Some(_) => format!("{} was killed", subject(from)),
        None => "it has closed the connection".to_owned(),
    };
    format!("{why}{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_of_the_host_tries_the_same_file_first() {
        assert_eq!(
            remote_line(Some("/opt/hw/bin/hostwire")),
            "exec sh -c 'test -x /opt/hw/bin/hostwire && exec /opt/hw/bin/hostwire __starter; exec hostwire __starter'"
        );
        assert_eq!(remote_line(None), "exec hostwire __starter");
    }

    fn silent<'a>(status: Option<End>, said: &'a str, noise: &'a str) -> Silent<'a> {
        Silent {
            target: "b",
            from: None,
            status,
            said,
            noise,
            is_copied: false,
        }
    }

    #[test]
    fn each_failure_of_ssh_says_what_to_do() {
        let why =
            |code: i32, said: &str| why_not_started(&silent(Some(End::Exited(code)), said, ""));
        for (code, said, expected) in [
            (
                255,
                "me@b: Permission denied (publickey,password).\r\n",
                "ssh-copy-id b gives it one",
            ),
            (
                255,
                "Host key verification failed.\n",
                "log in by hand once: ssh b",
            ),
            (
                255,
                "ssh: Could not resolve hostname b: unknown\n",
                "there is no host of this name",
            ),
            (
                255,
                "ssh: connect to host b port 22: Connection refused\n",
                "is sshd running there?",
            ),
            (
                255,
                "ssh: connect to host b port 22: No route to host\n",
                "it cannot be reached",
            ),
            (255, "kex: something\n", "try: ssh b true"),
            (
                127,
                "sh: 1: exec: hostwire: not found\n",
                "hostwire is not in the path there",
            ),
            (
                2,
                "hostwire: there is no command '__starter'; there are run\n",
                "older than this one",
            ),
            (1, "", "ended there with status 1"),
        ] {
            let seen = why(code, said);
            assert!(seen.contains(expected), "{seen}");
            assert!(
                seen.ends_with(&format!("({})", said.trim())) || said.is_empty(),
                "{seen}"
            );
        }
        let seen = why_not_started(&silent(None, "", "This account is closed."));
        assert_eq!(
            seen,
            "it has closed the connection; it printed \"This account is closed.\""
        );
        let behind = Silent {
            from: Some("a"),
            ..silent(Some(End::Exited(255)), "Permission denied", "")
        };
        assert_eq!(
            why_not_started(&behind),
            "ssh from a has no key that it takes, and is not to ask for a password; let a log in there (a key of its own, \
             or ForwardAgent), or reach all hosts from here: --fan-out 1024 (Permission denied)"
        );
        let copied = |code, said: &str| {
            let silent = silent(Some(End::Exited(code)), said, "");
            why_not_started(&Silent {
                is_copied: true,
                ..silent
            })
        };
        assert_eq!(copied(copy::REFUSED, "/tmp is full\n"), "/tmp is full");
        for code in [1, 126, 127] {
            let seen = copied(code, "sh: 1: exec: /proc/self/fd/4: not found\n");
            assert!(
                seen.starts_with("its system does not run this hostwire"),
                "{seen}"
            );
        }
    }
}
