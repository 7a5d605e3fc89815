//! Finds counter files among the open files of processes. The kernel decides who may look.
//! Anybody may have made a file that is found, so its contents are not trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};

use hostwire::counters::{FILE_NAME, RECORD_BYTES, Record};
use rustix::fs::{SealFlags, fcntl_get_seals};

/// As many PEs as a job may have.
const RECORDS_MAX: u64 = 4096;

/// A job, as far as it runs here.
pub struct Job {
    /// The process that started it.
    pub pid: u32,
    /// The name of that program.
    pub name: String,
    /// By PE.
    pub records: Vec<Record>,
}

/// The jobs that were found.
pub struct Found {
    pub jobs: Vec<Job>,
    /// Processes that could not be looked into.
    pub hidden: usize,
}

/// The jobs that process `pid` has started or is in, or all jobs without a `pid`.
pub fn jobs(pid: Option<u32>) -> Found {
    let parents = parents();
    let wanted = |process: u32| pid.is_none_or(|pid| is_below(&parents, process, pid));
    let mut hidden = 0;
    let mut seen = BTreeSet::new();
    let mut by_starter: BTreeMap<u32, Vec<Record>> = BTreeMap::new();
    // A launcher comes before its PEs: its file has all of them.
    for (process, parent) in parents.iter().filter(|(process, _)| wanted(**process)) {
        let files = match counter_files(*process) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                hidden += 1;
                continue;
            }
            // It has ended.
            Err(_) => continue,
        };
        for file in files {
            let Ok(metadata) = file.metadata() else {
                continue;
            };
            if seen.insert((metadata.dev(), metadata.ino())) {
                let records = read(&file);
                // A file of several is the launcher's, one of one is the PE's own.
                let several = metadata.len() > RECORD_BYTES as u64;
                let starter = if several { *process } else { *parent };
                by_starter.entry(starter).or_default().extend(records);
            }
        }
    }
    let jobs = by_starter
        .into_iter()
        .filter(|(_, records)| !records.is_empty());
    let jobs = jobs.map(|(pid, mut records)| {
        records.sort_by_key(|record| record.pe);
        Job {
            pid,
            name: name_of(pid),
            records,
        }
    });
    Found {
        jobs: jobs.collect(),
        hidden,
    }
}

/// The records of a file that are in use.
pub fn read(file: impl AsFd) -> Vec<Record> {
    let Ok(file) = file.as_fd().try_clone_to_owned().map(File::from) else {
        return Vec::new();
    };
    let len = file.metadata().map_or(0, |metadata| metadata.len());
    let count = (len / RECORD_BYTES as u64).min(RECORDS_MAX);
    let mut bytes = vec![0; RECORD_BYTES];
    let records = (0..count).filter_map(|number| {
        let at = number * RECORD_BYTES as u64;
        file.read_exact_at(&mut bytes, at).ok()?;
        Record::parse(&bytes)
    });
    records.collect()
}

fn counter_files(process: u32) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(format!("/proc/{process}/fd"))? {
        let path = entry?.path();
        let Ok(target) = fs::read_link(&path) else {
            continue;
        };
        let name = target.to_string_lossy();
        let name = name.strip_prefix("/memfd:").unwrap_or_default();
        if name.trim_end_matches(" (deleted)") != FILE_NAME {
            continue;
        }
        // Opening must not wait, whatever kind of file it is.
        let mut options = File::options();
        options.read(true).custom_flags(NONBLOCK);
        // Only a memory file has seals; one that is sealed keeps its size.
        if let Ok(file) = options.open(&path)
            && fcntl_get_seals(&file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK))
        {
            files.push(file);
        }
    }
    Ok(files)
}

const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

/// All processes and their parents, in the order of their numbers.
fn parents() -> BTreeMap<u32, u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, parent(pid)?))
        })
        .collect()
}

/// From `/proc/PID/stat`: number, name in parentheses, state, parent.
fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(1)?.parse().ok()
}

/// Whether `process` is `top` or descends from it.
fn is_below(parents: &BTreeMap<u32, u32>, process: u32, top: u32) -> bool {
    let mut at = process;
    // Numbers may be used again while we look, which could make a circle.
    for _ in 0..=parents.len() {
        if at == top {
            return true;
        }
        match parents.get(&at) {
            Some(parent) => at = *parent,
            None => return false,
        }
    }
    false
}

/// The name of a program; of hostwire itself with its command.
fn name_of(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let shown = |c: char| if c.is_control() { '?' } else { c };
    match name.trim_end() {
        "" => "ended".to_owned(),
        "hostwire" => ["hostwire".to_owned(), command_of(pid)]
            .join(" ")
            .trim_end()
            .to_owned(),
        name => name.chars().map(shown).collect(),
    }
}

/// The first argument of a process, if it is a word.
fn command_of(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let argument = bytes.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    let is_word = argument.iter().all(u8::is_ascii_lowercase);
    let argument = if is_word { argument } else { &[] };
    String::from_utf8_lossy(argument).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descent_is_followed_and_circles_end() {
        let parents = BTreeMap::from([(1, 0), (5, 1), (7, 5), (8, 9), (9, 8)]);
        assert!(is_below(&parents, 7, 1) && is_below(&parents, 7, 7));
        assert!(!is_below(&parents, 5, 7) && !is_below(&parents, 8, 1));
    }

    #[test]
    fn a_file_that_is_no_counter_file_has_no_records() {
        let file = tempfile::tempfile().unwrap();
        assert!(read(&file).is_empty());
        file.write_all_at(&[0x5a; 3 * RECORD_BYTES], 0).unwrap();
        assert!(read(&file).is_empty());
    }

    #[test]
    fn the_parent_of_a_process_is_found() {
        assert_eq!(
            parent(std::process::id()),
            Some(std::os::unix::process::parent_id())
        );
        assert_eq!(parent(u32::MAX), None);
    }
}
