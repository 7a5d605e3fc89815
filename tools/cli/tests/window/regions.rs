//! Regions in files, as tests make them.

use tempfile::TempDir;

use crate::job::run;

/// A file with a region, which ends with the test.
pub struct Pool {
    _folder: TempDir,
    pub path: String,
}

impl Pool {
    /// Of so many MiB, with that contract.
    pub fn new(mib: u32, contract: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool").to_str().unwrap().to_owned();
        let pool = Self {
            _folder: folder,
            path,
        };
        let made = run(&[
            "window",
            "make",
            &format!("{},size={mib}M,contract={contract}", pool.path),
        ]);
        assert_eq!(made.status, 0, "{made:#?}");
        pool
    }

    /// What `hostwire window show` says.
    pub fn show(&self) -> String {
        let shown = run(&["window", "show", &self.path]);
        assert_eq!(shown.status, 0, "{shown:#?}");
        shown.stdout
    }

    /// How many jobs that are.
    pub fn jobs(&self) -> usize {
        self.show().matches("job at place").count()
    }
}

/// What `hostwire window` refuses, as one line.
fn refused(arguments: &[&str]) -> String {
    let ended = run(&[&["window"], arguments].concat());
    assert_eq!(
        (ended.status, ended.stderr.lines().count()),
        (1, 1),
        "{ended:#?}"
    );
    ended.stderr
}

#[test]
fn a_region_is_made_once_and_shown() {
    let pool = Pool::new(16, "flushed");
    assert!(
        pool.show().contains(": 16 MiB, flushed, 2 MiB used\n"),
        "{}",
        pool.show()
    );
    let mode = std::process::Command::new("chmod")
        .args(["644", &pool.path])
        .status();
    assert!(mode.unwrap().success());
    let text = refused(&["show", &pool.path]);
    assert!(
        text.contains("its mode is 0644, so other users may open it (chmod 600)"),
        "{text}"
    );
}

#[test]
fn what_is_no_region_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    assert!(refused(&["show", &path("none")]).contains("No such file"));
    assert!(
        refused(&["make", &format!("{},size=3M", path("odd"))]).contains("no multiple of 2097152")
    );
    assert!(refused(&["make", &format!("{},size=2M", path("small"))]).contains("expected 4194304"));
    let other = path("other");
    std::fs::write(&other, vec![b'x'; 8 << 20]).unwrap();
    let mode = std::process::Command::new("chmod")
        .args(["600", &other])
        .status();
    assert!(mode.unwrap().success());
    assert!(refused(&["show", &other]).contains("it is no region of hostwire"));
    assert!(refused(&["make", &other]).contains("it has other contents"));
    assert!(refused(&["make", "/dev/null"]).contains("/dev/null"));
    let usage = run(&["window", "make", "contract=flushed"]);
    assert_eq!(usage.status, 2, "{usage:#?}");
}
