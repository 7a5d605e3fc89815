//! The hosts of `--on` and `--hostfile`.

use std::path::Path;

use super::parse::{PES_OF_HOST_MAX, pes_of_host};
use super::start_error::StartError;

/// The most hosts of one job.
const HOSTS_MAX: usize = 1024;

/// A host, as ssh finds it, and how many PEs it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName {
    /// What ssh gets: a name, an address, `user@host` or `ssh://user@host:port`.
    pub target: String,
    /// How many PEs were asked for.
    pub pes: Option<u32>,
}

/// Hosts in the order of their PEs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostNames(pub Vec<HostName>);

/// The value of `--on`: hosts with commas between them.
///
/// # Errors
/// What is wrong with which of them.
pub fn parse_on(text: &str) -> Result<HostNames, String> {
    let hosts = (1..).zip(text.split(','));
    let hosts = hosts.map(|(place, item)| {
        let host = parse_host(item.trim());
        host.map_err(|problem| format!("host {place} ('{}'): {problem}", item.trim()))
    });
    distinct(hosts.collect::<Result<_, String>>()?, "host")
}

/// Reads a file with a host in each line: `HOST`, `HOST:PES`, or `HOST slots=PES`. `#` begins a comment.
///
/// # Errors
/// A file that cannot be read, or what is wrong with which line.
pub fn read_hostfile(path: &Path) -> Result<HostNames, StartError> {
    let error = |problem| StartError::Hostfile {
        path: path.display().to_string(),
        problem,
    };
    let text = std::fs::read_to_string(path).map_err(|e| error(e.to_string()))?;
    parse_hostfile(&text).map_err(error)
}

fn parse_hostfile(text: &str) -> Result<HostNames, String> {
    let mut hosts = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(host) = words.next() else { continue };
        let at = |problem: String| format!("line {number}: {problem}");
        let mut host = parse_host(host).map_err(at)?;
        for word in words {
            match word.split_once('=') {
                Some(("slots", pes)) if host.pes.is_none() => {
                    host.pes = Some(pes_of_host(pes).map_err(at)?);
                }
                _ => return Err(at(format!("expected slots=PES, not '{word}'"))),
            }
        }
        hosts.push(host);
    }
    match hosts.is_empty() {
        true => Err("it names no host".to_owned()),
        false => distinct(hosts, "host"),
    }
}

/// Two starters on one host would share its CPUs without knowing of each other.
fn distinct(hosts: Vec<HostName>, noun: &str) -> Result<HostNames, String> {
    if hosts.len() > HOSTS_MAX {
        return Err(format!("{} hosts; at most {HOSTS_MAX}", hosts.len()));
    }
    for (place, host) in (1..).zip(&hosts) {
        let before = hosts.iter().take(place - 1);
        if let Some(first) = before.clone().position(|other| other.target == host.target) {
            let (name, first) = (&host.target, first + 1);
            return Err(format!(
                "{noun} {place} ('{name}') is {noun} {first}, too; name it once, with all its PEs"
            ));
        }
    }
    Ok(HostNames(hosts))
}

/// `HOST` or `HOST:PES`, with an IPv6 address in brackets.
fn parse_host(text: &str) -> Result<HostName, String> {
    if text.is_empty() {
        return Err("it has no name".to_owned());
    }
    let (target, pes) = match text.strip_prefix("ssh://") {
        // There the first number is a port.
        Some(rest) => {
            let authority = rest.rsplit_once(']').map_or(rest, |(_, behind)| behind);
            match authority.matches(':').count() {
                2 => text
                    .rsplit_once(':')
                    .map_or((text, None), |(a, b)| (a, Some(b))),
                _ => (text, None),
            }
        }
        None => split(text)?,
    };
    let bare = without_brackets(target);
    let is_word = |c: char| c.is_ascii_graphic() && !"'\"\\`$;&|<>(){}*?!".contains(c);
    if bare.is_empty() || bare.ends_with('@') {
        return Err("it has no name".to_owned());
    }
    // It would be an option of ssh.
    if bare.starts_with('-') {
        return Err("a name of a host does not begin with '-'".to_owned());
    }
    if let Some(wrong) = bare.chars().find(|c| !is_word(*c)) {
        return Err(format!("no host has {wrong:?} in its name"));
    }
    let pes = pes.map(|pes| match pes.is_empty() {
        true => Err("there is no number of PEs behind the colon".to_owned()),
        false => pes_of_host(pes),
    });
    Ok(HostName {
        target: bare,
        pes: pes.transpose()?,
    })
}

/// The host, and the number of PEs behind the colon.
fn split(text: &str) -> Result<(&str, Option<&str>), String> {
    let address_end = text.rfind(']').map_or(0, |at| at + 1);
    let (address, rest) = text.split_at(address_end);
    match (rest.matches(':').count(), rest.split_once(':')) {
        (0, _) if address.is_empty() || rest.is_empty() => Ok((text, None)),
        (1, Some((name, pes))) if address.is_empty() || name.is_empty() => {
            let host = text.get(..address.len() + name.len()).unwrap_or(text);
            Ok((host, Some(pes)))
        }
        (0 | 1, _) => Err("expected HOST or HOST:PES".to_owned()),
        _ => Err("write an IPv6 address in brackets, as in [fe80::1]:4".to_owned()),
    }
}

/// ssh takes an address without them.
fn without_brackets(target: &str) -> String {
    match target.starts_with("ssh://") {
        true => target.to_owned(),
        false => target.replace(['[', ']'], ""),
    }
}

impl HostNames {
    /// How many PEs each host gets, if the job has `pes`, or as many as the hosts were given.
    ///
    /// # Errors
    /// Numbers that do not agree.
    pub fn shares(&self, pes: Option<u32>) -> Result<Vec<u32>, StartError> {
        let given: u64 = self
            .0
            .iter()
            .filter_map(|host| host.pes)
            .map(u64::from)
            .sum();
        let open = self.0.iter().filter(|host| host.pes.is_none()).count() as u64;
        // Without -n a host without a number gets one PE.
        let total = pes.map_or(given + open, u64::from);
        if total > u64::from(hostwire_bootstrap::PES_MAX) {
            return Err(StartError::TooManyPes { pes: total });
        }
        let rest = total.checked_sub(given);
        let Some(rest) = rest.filter(|rest| if open == 0 { *rest == 0 } else { *rest >= open })
        else {
            return Err(StartError::Shares {
                pes: total,
                given,
                open,
            });
        };
        let mut open_before = 0;
        let share = |host: &HostName| match host.pes {
            Some(pes) => pes,
            None => {
                let more = u64::from(open_before < rest % open);
                open_before += 1;
                (rest / open + more) as u32
            }
        };
        let shares: Vec<u32> = self.0.iter().map(share).collect();
        let max = PES_OF_HOST_MAX;
        match shares.iter().find(|pes| **pes > max) {
            Some(&pes) => Err(StartError::HostTooLarge { pes, max }),
            None => Ok(shares),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(text: &str) -> Vec<(String, Option<u32>)> {
        let hosts = parse_on(text).unwrap().0.into_iter();
        hosts.map(|host| (host.target, host.pes)).collect()
    }

    #[test]
    fn hosts_are_names_and_addresses() {
        for (text, target, pes) in [
            ("a", "a", None),
            ("a:4", "a", Some(4)),
            ("me@a.example.org:1", "me@a.example.org", Some(1)),
            ("10.0.0.1", "10.0.0.1", None),
            ("[fe80::1%eth0]:2", "fe80::1%eth0", Some(2)),
            ("me@[::1]", "me@::1", None),
            ("ssh://me@a:2222", "ssh://me@a:2222", None),
            ("ssh://me@a:2222:3", "ssh://me@a:2222", Some(3)),
            ("ssh://[::1]:2222:3", "ssh://[::1]:2222", Some(3)),
        ] {
            assert_eq!(on(text), [(target.to_owned(), pes)], "{text}");
        }
        let two = [("a".to_owned(), Some(4)), ("b".to_owned(), None)];
        assert_eq!(on("a:4, b"), two);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, problem) in [
            ("", "host 1 (''): it has no name"),
            ("a,,b", "host 2 (''): it has no name"),
            (
                "a,b:",
                "host 2 ('b:'): there is no number of PEs behind the colon",
            ),
            ("a:0", "host 1 ('a:0'): a host has at least one PE"),
            ("a:x", "host 1 ('a:x'): expected a number from 1 to 4096"),
            (
                "::1",
                "host 1 ('::1'): write an IPv6 address in brackets, as in [fe80::1]:4",
            ),
            ("[::1]x", "host 1 ('[::1]x'): expected HOST or HOST:PES"),
            (
                "-oX",
                "host 1 ('-oX'): a name of a host does not begin with '-'",
            ),
            ("a;b", "host 1 ('a;b'): no host has ';' in its name"),
            ("me@", "host 1 ('me@'): it has no name"),
            (
                "a,b,a:2",
                "host 3 ('a') is host 1, too; name it once, with all its PEs",
            ),
        ] {
            assert_eq!(parse_on(text).unwrap_err(), problem, "{text}");
        }
    }

    #[test]
    fn files_have_a_host_in_each_line() {
        let hosts = parse_hostfile("# ours\na slots=4\n\nb:2 # new\nc\n")
            .unwrap()
            .0;
        let pes: Vec<_> = hosts.iter().map(|host| host.pes).collect();
        assert_eq!(pes, [Some(4), Some(2), None]);
        for (text, problem) in [
            ("", "it names no host"),
            ("a\nb max=4", "line 2: expected slots=PES, not 'max=4'"),
            ("a:2 slots=2", "line 1: expected slots=PES, not 'slots=2'"),
            ("a:-1", "line 1: expected a number from 1 to 4096"),
        ] {
            assert_eq!(parse_hostfile(text).unwrap_err(), problem, "{text}");
        }
    }

    #[test]
    fn pes_are_shared_among_hosts() {
        let shares = |text: &str, pes| parse_on(text).unwrap().shares(pes);
        assert_eq!(shares("a:4,b:2", None), Ok(vec![4, 2]));
        assert_eq!(shares("a,b", None), Ok(vec![1, 1]));
        assert_eq!(shares("a,b,c:2", Some(7)), Ok(vec![3, 2, 2]));
        assert_eq!(shares("a:4,b:2", Some(6)), Ok(vec![4, 2]));
        for (text, pes) in [("a:4,b:2", 7), ("a:4,b:2", 5), ("a:4,b", 4), ("a,b", 1)] {
            let error = shares(text, Some(pes)).unwrap_err();
            assert!(matches!(error, StartError::Shares { .. }), "{text}");
        }
        let full: String = (0..16).map(|host| format!("a{host}:4096,")).collect();
        let error = shares(&(full + "b"), None).unwrap_err();
        assert_eq!(error, StartError::TooManyPes { pes: 65_537 });
        // More than a host has, and as many as two have.
        let two = parse_on("a,b").unwrap();
        assert_eq!(two.shares(Some(8192)).unwrap(), [4096, 4096]);
        let error = two.shares(Some(8193)).unwrap_err();
        let (pes, max) = (4097, 4096);
        assert_eq!(error, StartError::HostTooLarge { pes, max });
    }
}
