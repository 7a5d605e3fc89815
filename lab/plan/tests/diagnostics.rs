//! Every file of `tests/diagnostics` gives exactly the diagnostics beside it.
//!
//! Run with `HOSTWIRE_BLESS=1` to write the `.txt` files anew after a change of wording.

use std::path::{Path, PathBuf};

use hostwire_plan::diagnostic::Source;

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut cases: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is part of the repository")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    cases.sort();
    cases
}

fn rendered(name: &str, bytes: &[u8]) -> String {
    match hostwire_plan::cluster(name, bytes) {
        Err(rejected) => rejected.to_string(),
        Ok(cluster) => {
            let source = Source::new(name, String::from_utf8_lossy(bytes));
            let warnings: Vec<_> = cluster
                .warnings()
                .iter()
                .map(|w| source.render(w))
                .collect();
            assert!(!warnings.is_empty(), "{name}: planned without a word");
            warnings.join("\n")
        }
    }
}

#[test]
fn diagnostics_are_as_written() {
    let cases = cases();
    assert!(cases.len() > 50, "the cases are missing");
    for path in cases {
        let name = path
            .file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        let got = rendered(&name, &std::fs::read(&path).expect("a readable file"));
        let expected_path = path.with_extension("txt");
        if std::env::var_os("HOSTWIRE_BLESS").is_some() {
            std::fs::write(&expected_path, &got).expect("a writable folder");
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        assert_eq!(got, expected, "\n{name} gives:\n{got}");
    }
}

#[test]
fn a_huge_file_is_refused() {
    let file = vec![b'#'; hostwire_plan::FILE_BYTES_MAX + 1];
    let rejected = hostwire_plan::plan("huge.toml", &file).expect_err("it is too large");
    assert_eq!(rejected.diagnostics.len(), 1);
    assert_eq!(rejected.diagnostics[0].code, "size");
}

#[test]
fn very_many_findings_are_cut_short() {
    let file = "[[node]]\nname = 1\n".repeat(1000);
    let text = hostwire_plan::plan("many.toml", file.as_bytes())
        .expect_err("bad")
        .to_string();
    assert!(text.ends_with("more\n"), "{text}");
}
