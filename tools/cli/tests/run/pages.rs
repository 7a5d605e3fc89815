//! Files of figures that `hostwire bench` writes, and the page of `make run`.

use std::path::Path;

use hostwire_testing::browser::{self, DESK, TELEPHONE};

use crate::job;

/// The smallest picture that there can be: one black pixel.
const PICTURE: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55\
\0\0\0\x0aIDAT\x78\x9c\x63\x60\0\0\0\x02\0\x01\x48\xaf\xa4\x71\0\0\0\0IEND\xae\x42\x60\x82";

const FIGURES: &str = "bench,wire,pes,size_bytes,unit,median,p99,min,limit,ratio,repeats\n\
    latency,shm,2,8,ns,150.5,170,149,120,1.25,7\n\
    latency,shm,2,64,ns,160.5,180,159,130,1.23,7\n\
    put,shm,2,1048576,GB/s,9.5,9,8,10,0.95,7\n\
    startup,shm,64,0,ms,50,60,49,,,7\n";

const PEERS: &str = "peer,bench,size_bytes,unit,value\nUCX,latency,8,ns,180\n";

const REPORT: &str = "HOSTWIRE: WHAT WAS SEEN    commit <b>\n2 CPUs\n\nwordcount: the files & more\n  \
    12 the\n  all the same\n\nhostwire bench all\n  a long table\n";

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The page needs no other file.
#[track_caller]
fn stands_alone(html: &str) {
    for outside in ["http:", "https:", "<script", "@import", "url(", "<link"] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn a_benchmark_writes_its_figures_as_csv_and_as_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let [csv, html] = ["a.csv", "a.html"].map(|name| folder.path().join(name));
    let ended = job::run(&[
        "bench",
        "barrier",
        "--repeats",
        "1",
        "--json",
        "--csv",
        csv.to_str().unwrap(),
        "--html",
        html.to_str().unwrap(),
    ]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let figures: Vec<serde_json::Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!figures.is_empty());
    let csv = text(&csv);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let (head, rows) = rows.split_first().unwrap();
    assert_eq!(rows.len(), figures.len(), "{csv}");
    for (row, figure) in rows.iter().zip(&figures) {
        for (key, field) in head.iter().zip(row) {
            let same = match &figure[key] {
                serde_json::Value::Null => field.is_empty(),
                serde_json::Value::String(word) => word == field,
                number => number.as_f64() == field.parse().ok(),
            };
            assert!(same, "{key}: {figure} and {field}");
        }
    }
    let html = text(&html);
    stands_alone(&html);
    // One figure is in the table alone.
    let row = "data-label=\"bench\">barrier<";
    assert!(html.contains(row) && !html.contains("<svg "), "{html}");
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        2,
        "nothing else is left"
    );
}

/// Before anything is measured.
#[test]
fn a_file_that_cannot_be_written_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing/a.csv");
    for option in ["--csv", "--html"] {
        let ended = job::run(&["bench", "all", option, path.to_str().unwrap()]);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{ended:?}");
        let expected = format!("hostwire: cannot write {}: No such file", path.display());
        assert!(ended.stderr.starts_with(&expected), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
}

/// Runs the hidden command of `make run` on these files.
fn run_page(folder: &Path, figures: &str, failures: &[&str]) -> (job::Ended, String) {
    let [report, csv, peers, picture, out] =
        ["report.txt", "a.csv", "b.csv", "a.png", "out.html"].map(|name| folder.join(name));
    std::fs::write(&peers, PEERS).unwrap();
    std::fs::write(&report, REPORT).unwrap();
    std::fs::write(&csv, figures).unwrap();
    std::fs::write(&picture, PICTURE).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let mut arguments = vec!["run-page".to_owned(), "--report".to_owned(), path(&report)];
    arguments.extend(["--figures".to_owned(), path(&csv), "--picture".to_owned()]);
    arguments.extend([path(&picture), "the <plate>".to_owned()]);
    arguments.extend(["--peers".to_owned(), path(&peers)]);
    for failure in failures {
        arguments.extend(["--failure".to_owned(), (*failure).to_owned()]);
    }
    arguments.push(path(&out));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = job::run(&arguments);
    let html = std::fs::read_to_string(&out).unwrap_or_default();
    (ended, html)
}

#[test]
fn the_page_of_a_run_has_everything_in_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let (ended, html) = run_page(folder.path(), FIGURES, &[]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    stands_alone(&html);
    for said in [
        "All checks passed.",
        "hostwire is a library and a launcher",
        "<p class=\"cite\">commit &lt;b&gt;; 2 CPUs",
        "wordcount: the files &amp; more",
        "12 the",
        "alt=\"the &lt;plate&gt;\"",
        "src=\"data:image/png;base64,iVBORw0KGgo",
        "4 figures, 3 of them beside a limit",
        "<svg ",
        "limit of the machine",
        "<span>UCX</span>",
    ] {
        assert!(html.contains(said), "{said} is not in {html}");
    }
    let [bars, programs] = ["How fast it is", "Programs"].map(|title| html.find(title).unwrap());
    assert!(bars < programs, "a stranger sees the bars first");
    assert_eq!(html.matches("class=\"bar\"").count(), 3);
    assert!(!html.contains("a long table"), "the charts stand for it");
    browser::fits(&html, TELEPHONE);
    browser::fits(&html, DESK);
}

#[test]
fn what_failed_stands_on_top() {
    let folder = tempfile::tempdir().unwrap();
    let (ended, html) = run_page(folder.path(), FIGURES, &["gups ended with <1>", "another"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(!html.contains("All checks passed"));
    let failed = html.find("gups ended with &lt;1&gt;").unwrap();
    assert!(failed < html.find("<main>").unwrap());
    assert_eq!(html.matches("<li>").count(), 2);
}

#[test]
fn figures_that_are_none_are_refused_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let (ended, html) = run_page(folder.path(), &format!("{FIGURES}latency,8\n"), &[]);
    assert_eq!((ended.status, html.as_str()), (1, ""), "{ended:?}");
    assert!(ended.stderr.contains("a.csv, line 6"), "{}", ended.stderr);
}

#[test]
fn the_first_line_says_where_the_cores_are_and_so_does_each_figure() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("a.csv");
    let arguments = ["bench", "barrier", "--repeats", "2", "--csv"];
    let ended = job::run(&[&arguments[..], &[csv.to_str().unwrap()]].concat());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let first = ended.stdout.lines().next().unwrap();
    let (words, measured) = first
        .strip_prefix("cores: ")
        .and_then(|rest| rest.split_once("; "))
        .unwrap_or_else(|| panic!("{first}"));
    assert!(
        ["near", "far", "neither near nor far"].contains(&words),
        "{first}"
    );
    let ns: f64 = measured.split_once(" ns").unwrap().0.parse().unwrap();
    assert!(ns > 0.0, "{first}");
    let csv = text(&csv);
    let mut rows = csv.lines().map(|line| line.split(','));
    let head: Vec<&str> = rows.next().unwrap().collect();
    let row: Vec<&str> = rows.next().unwrap().collect();
    let field = |name: &str| row[head.iter().position(|known| *known == name).unwrap()];
    assert!(["near", "between", "far", "moved"].contains(&field("cores")));
    assert!(field("line_ns").parse::<f64>().unwrap() > 0.0, "{csv}");
    assert!(field("spread").parse::<f64>().unwrap() >= 1.0, "{csv}");
}
