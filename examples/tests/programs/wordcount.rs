use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::job::run;

const WORDCOUNT: &str = env!("CARGO_BIN_EXE_wordcount");

/// The same with the tools that everybody has. The newline between files keeps their
/// words apart.
const PIPELINE: &str = "\
for file; do cat -- \"$file\" && echo; done |
    tr -cs '[:alnum:]' '\\n' | grep . | sort | uniq -c | sort -rn";

fn by_pipeline(files: &[PathBuf]) -> String {
    let output = Command::new("sh")
        .args(["-c", PIPELINE, "sh"])
        .args(files)
        .env("LC_ALL", "C")
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn arguments(options: &[&str], files: &[PathBuf]) -> Vec<OsString> {
    let options = options.iter().map(OsString::from);
    options.chain(files.iter().map(OsString::from)).collect()
}

/// All Rust and Markdown files of this package and its neighbours.
fn repository() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = vec![root.join("README.md"), root.join("Cargo.toml")];
    let mut folders = vec![
        root.join("runtime"),
        root.join("lab"),
        root.join("examples"),
        root.join("docs"),
    ];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[test]
fn the_repository_counts_as_with_tr_sort_uniq() {
    let files = repository();
    assert!(files.len() > 50);
    let expected = by_pipeline(&files);
    let directory = tempfile::tempdir().unwrap();
    for pes in 1..=4 {
        let output = directory.path().join(pes.to_string());
        let options = ["--top", "7", "--output", output.to_str().unwrap()];
        let ended = run(pes, WORDCOUNT, &arguments(&options, &files)).well();
        assert_eq!(std::fs::read_to_string(output).unwrap(), expected);
        let first = expected.lines().take(7);
        assert!(ended.stdout.lines().eq(first), "{ended:?}");
        let everything = run(pes, WORDCOUNT, &arguments(&["--top", "0"], &files)).well();
        assert_eq!(everything.stdout, expected);
    }
}

#[test]
fn odd_bytes_and_odd_names_count_as_with_tr_sort_uniq() {
    let directory = tempfile::tempdir().unwrap();
    let odd_name = OsString::from_vec(b"n\xffme with\nline".to_vec());
    let texts: [(OsString, Vec<u8>); 6] = [
        ("empty".into(), Vec::new()),
        ("no-words".into(), b"\n\n --- \0\0 ...\n".to_vec()),
        (odd_name, b"one \xc3\xa9two\xff three\0four".to_vec()),
        ("-leading".into(), b"four".to_vec()),
        ("all-bytes".into(), (0..=255).cycle().take(3000).collect()),
        ("huge".into(), vec![b'h'; 3_000_000]),
    ];
    let files: Vec<PathBuf> = texts
        .into_iter()
        .map(|(name, text)| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        })
        .collect();
    let expected = by_pipeline(&files);
    for pes in 1..=4 {
        let ended = run(pes, WORDCOUNT, &arguments(&["--top", "0"], &files)).well();
        assert_eq!(ended.stdout, expected);
    }
}

#[test]
fn nothing_to_count_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("empty");
    std::fs::write(&file, "").unwrap();
    for pes in 1..=3 {
        let ended = run(pes, WORDCOUNT, &[&file]).well();
        assert_eq!(ended.stdout, "");
        assert!(
            ended
                .stderr
                .contains("0 words, 0 different; 0.0 MB in 1 file(s)")
        );
    }
}

#[test]
fn all_unusable_files_are_named_once_and_nothing_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    let good = directory.path().join("good");
    std::fs::write(&good, "word").unwrap();
    let missing = directory.path().join("missing");
    let fifo = directory.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    for pes in 1..=3 {
        let files = [directory.path(), &good, &missing, &fifo];
        let ended = run(pes, WORDCOUNT, &files);
        assert_eq!(ended.status, Some(1));
        assert_eq!(ended.stdout, "");
        for fault in [
            "is a directory",
            "No such file or directory",
            "is not a regular file",
        ] {
            assert_eq!(ended.stderr.matches(fault).count(), 1, "{ended:?}");
        }
    }
    let ended = run::<&str>(2, WORDCOUNT, &[]);
    assert_eq!(ended.status, Some(2));
    assert_eq!(ended.stderr.matches("Usage:").count(), 1, "{ended:?}");
}

#[test]
fn the_check_sees_a_lost_word() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("text");
    std::fs::write(&file, "a b c d e f g h i j k l m n o p q r s t u v w x y z").unwrap();
    let file = file.to_str().unwrap();
    for pes in [1, 2] {
        let ended = run(pes, WORDCOUNT, &["--sabotage", file]);
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("check failed"), "{ended:?}");
    }
}
