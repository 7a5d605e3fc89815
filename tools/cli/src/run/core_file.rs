//! Where the kernel has written the memory of a process that crashed, or why it has not.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Resource, Signal, getrlimit};
use rustix::system::uname;

/// Signals for mistakes of a program. The system writes its memory to a core file, if that is switched on.
const CRASHES: [Signal; 7] = [
    Signal::SEGV,
    Signal::ABORT,
    Signal::BUS,
    Signal::FPE,
    Signal::ILL,
    Signal::SYS,
    Signal::TRAP,
];

/// What to say of the core file of `process`, which `signal` has ended and which is not reaped. `is_dumped`: whether
/// the kernel says that it has written one. `None` for other signals.
pub fn told(process: Pid, signal: i32, is_dumped: bool) -> Option<String> {
    if !CRASHES.iter().any(|crash| crash.as_raw() == signal) {
        return None;
    }
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let pattern = pattern.trim_end_matches('\n');
    if !is_dumped {
        let is_off = getrlimit(Resource::Core).current == Some(0);
        return Some(without_core(pattern, is_off));
    }
    let pid = process.as_raw_pid();
    if let Some(command) = pattern.strip_prefix('|') {
        return Some(given_to(command, pid));
    }
    let uses_pid = fs::read_to_string("/proc/sys/kernel/core_uses_pid");
    let uses_pid = uses_pid.is_ok_and(|on| on.trim() != "0");
    let pieces = pieces(pattern, pid, signal, uses_pid);
    Some(match find(&pieces) {
        Some(path) => format!("core file: {}", path.display()),
        None => format!("core file: '{pattern}' in the folder where it ran"),
    })
}

/// Why there is none.
fn without_core(pattern: &str, is_off: bool) -> String {
    let why = match pattern {
        "" | "|/bin/false" => "this machine writes none",
        _ if is_off => "'ulimit -c unlimited' before hostwire makes one",
        _ if pattern.starts_with('|') => "the command in /proc/sys/kernel/core_pattern took none",
        _ => "it could not be written by /proc/sys/kernel/core_pattern",
    };
    format!("no core file: {why}; --backtrace prints where it was")
}

/// Where a command that gets the core puts it.
fn given_to(command: &str, pid: i32) -> String {
    let program = command.split_whitespace().next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    match name {
        "systemd-coredump" => format!("core: coredumpctl info {pid}"),
        "apport" => "core: apport keeps it in /var/lib/apport/coredump or /var/crash".to_owned(),
        _ => format!("core: {program} got it"),
    }
}

/// Parts of the name of a core file, core(5): text, or something that is not known here.
fn pieces(pattern: &str, pid: i32, signal: i32, uses_pid: bool) -> Vec<Option<String>> {
    let mut pieces = vec![Some(String::new())];
    let push = |pieces: &mut Vec<Option<String>>, text: &str| match pieces.last_mut() {
        Some(Some(last)) => last.push_str(text),
        _ => pieces.push(Some(text.to_owned())),
    };
    let mut characters = pattern.chars();
    let mut has_pid = false;
    while let Some(character) = characters.next() {
        if character != '%' {
            push(&mut pieces, character.encode_utf8(&mut [0; 4]));
            continue;
        }
        match characters.next() {
            Some('%') => push(&mut pieces, "%"),
            Some('p' | 'P' | 'i' | 'I') => {
                has_pid = true;
                push(&mut pieces, &pid.to_string());
            }
            Some('s') => push(&mut pieces, &signal.to_string()),
            Some('h') => push(&mut pieces, &uname().nodename().to_string_lossy()),
            Some('u') => push(&mut pieces, &rustix::process::getuid().to_string()),
            Some('g') => push(&mut pieces, &rustix::process::getgid().to_string()),
            Some(_) => pieces.push(None),
            None => {}
        }
    }
    if uses_pid && !has_pid {
        push(&mut pieces, &format!(".{pid}"));
    }
    pieces
}

/// The newest file of such a name.
fn find(pieces: &[Option<String>]) -> Option<PathBuf> {
    let first = pieces.first()?.as_deref()?;
    if let [_] = pieces {
        return Some(std::path::absolute(first).ok()?).filter(|path| path.exists());
    }
    // What is not known may not be the name of a folder.
    let (folder, begin) = match first.rsplit_once('/') {
        Some((folder, begin)) => (format!("{folder}/"), begin),
        None => ("./".to_owned(), first),
    };
    let names: Vec<Option<&str>> = [Some(begin)]
        .into_iter()
        .chain(pieces.iter().skip(1).map(Option::as_deref))
        .collect();
    let entries = fs::read_dir(Path::new(&folder)).ok()?.flatten();
    let named = entries.filter(|entry| matches(&entry.file_name().to_string_lossy(), &names));
    let newest = named.max_by_key(|entry| entry.metadata().and_then(|it| it.modified()).ok())?;
    std::path::absolute(newest.path()).ok()
}

/// Whether a name has these texts, with anything between them.
fn matches(name: &str, pieces: &[Option<&str>]) -> bool {
    match pieces.split_first() {
        None => name.is_empty(),
        Some((Some(text), rest)) => name
            .strip_prefix(text)
            .is_some_and(|behind| matches(behind, rest)),
        Some((None, rest)) => {
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.filter_map(|at| name.get(at..))
                .any(|behind| matches(behind, rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_pattern() {
        let text = |pattern: &str, uses_pid| {
            let pieces = pieces(pattern, 71, 11, uses_pid);
            let texts = pieces
                .into_iter()
                .map(|piece| piece.unwrap_or("*".to_owned()));
            texts.collect::<String>()
        };
        assert_eq!(text("core", false), "core");
        assert_eq!(text("core", true), "core.71");
        assert_eq!(text("/c/%p.%s%%", true), "/c/71.11%");
        assert_eq!(text("/c/%e-%t.%p", false), "/c/*-*.71");
    }

    #[test]
    fn files_are_found_by_what_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["prog-9.71", "prog-9.72", "other"] {
            fs::write(at(name), "").unwrap();
        }
        let pattern = |name: &str| format!("{}/{name}", folder.path().display());
        let found = |name: &str| find(&pieces(&pattern(name), 71, 11, false));
        assert_eq!(found("%e-%t.%p"), Some(at("prog-9.71")));
        assert_eq!(found("other"), Some(at("other")));
        assert_eq!(found("core"), None);
        assert_eq!(found("%e-%t.%p.x"), None);
        assert!(matches("ab", &[None, Some("b")]) && !matches("abc", &[None, Some("b")]));
    }

    #[test]
    fn who_has_it_is_told() {
        assert_eq!(
            given_to("/lib/systemd/systemd-coredump %P %u", 71),
            "core: coredumpctl info 71"
        );
        assert!(given_to("/usr/share/apport/apport -p%p", 71).contains("/var/lib/apport"));
        assert_eq!(given_to("/bin/x %p", 71), "core: /bin/x got it");
        assert!(without_core("core", true).contains("ulimit -c unlimited"));
        assert!(without_core("core", false).contains("could not be written"));
        assert!(without_core("", false).contains("this machine writes none"));
        assert!(without_core("|/x", false).contains("took none"));
    }

    #[test]
    fn only_crashes_leave_one() {
        let own = rustix::process::getpid();
        assert_eq!(told(own, Signal::KILL.as_raw(), false), None);
        assert!(told(own, Signal::SEGV.as_raw(), false).is_some());
    }
}
