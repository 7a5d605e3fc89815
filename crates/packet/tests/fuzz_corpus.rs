//! Replays the corpora of the fuzz targets, and can write them anew:
//!
//! ```text
//! cargo test -p hostwire-packet --test fuzz_corpus -- --ignored
//! ```

mod checks;
mod seeds;

use std::fs;
use std::path::PathBuf;

fn fuzz_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn names_in(dir: PathBuf) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(&dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn every_target_is_registered() {
    let registered: Vec<_> = checks::TARGETS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    for dir in ["fuzz_targets", "corpus"] {
        let names = names_in(fuzz_dir().join(dir));
        for name in &registered {
            assert!(names.contains(name), "{name} is missing in fuzz/{dir}");
        }
    }
}

#[test]
fn replay() {
    for (target, check) in checks::TARGETS {
        let dir = fuzz_dir().join("corpus").join(target);
        let mut files = 0;
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            // A panic in a check does not say which file it was.
            if std::panic::catch_unwind(|| check(&bytes)).is_err() {
                panic!("{} fails {target}", path.display());
            }
            files += 1;
        }
        assert!(files >= 5, "only {files} files in {}", dir.display());
    }
}

#[test]
#[ignore = "writes into fuzz/corpus"]
fn write_corpus() {
    for (target, _) in checks::TARGETS {
        let dir = fuzz_dir().join("corpus").join(target);
        fs::create_dir_all(&dir).unwrap();
        for (name, bytes) in seeds::of(target) {
            fs::write(dir.join(name), bytes).unwrap();
        }
    }
}
