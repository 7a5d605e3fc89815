//! Programs that know nothing of it, and one that does.

use std::path::Path;
use std::process::Command;

use hostwire_testing::{is_installed, need};

use crate::kit::{Lender, borrow, can_borrow, finish, library_folder, program, text};

#[test]
fn an_unmodified_program_computes_in_memory_of_two_lenders() {
    if !can_borrow() {
        return;
    }
    let (_made, walk) = program("walk", &[]);
    let (a, b) = (Lender::start("20M"), Lender::start("20M"));
    for copies in ["1", "2"] {
        let memory = if copies == "1" { "32M" } else { "18M" };
        let options = [
            "--memory", memory, "--cache", "1M", "--copies", copies, "--stats", "--pages", "move",
        ];
        let output = finish(borrow(&[&a, &b], &options, &walk, &["16", "3"]));
        let text = text(&output);
        assert!(
            text.starts_with("status 0") && text.contains("right"),
            "{text}"
        );
        assert!(text.contains("borrowed at most   16.0 MiB"), "{text}");
        // Three rounds over 16 MiB, of which 1 MiB is here: two of them fetch everything.
        assert!(text.contains("began with zeros   16.0 MiB"), "{text}");
        assert!(text.contains("fetched            32.0 MiB"), "{text}");
    }
}

#[test]
fn a_program_maps_the_memory_of_two_lenders() {
    if !is_installed("cc", &need::C) {
        return;
    }
    let (_made, walk) = program("walk", &[]);
    let (a, b) = (Lender::start("20M"), Lender::start("20M"));
    // 16 MiB reach from the memory of one into that of the other.
    let options = ["--memory", "24M", "--stats", "--pages", "map"];
    let text = text(&finish(borrow(&[&a, &b], &options, &walk, &["16", "3"])));
    assert!(
        text.starts_with("status 0") && text.contains("right"),
        "{text}"
    );
    assert!(
        text.contains("mapped             16.0 MiB, which did not move"),
        "{text}"
    );
}

#[test]
fn the_family_of_malloc_and_a_fork_behave_as_ever() {
    if !can_borrow() {
        return;
    }
    let (_made, family) = program("family", &[]);
    let lender = Lender::start("64M");
    for pages in ["move", "map"] {
        let options = ["--memory", "48M", "--cache", "1M", "--pages", pages];
        let text = text(&finish(borrow(&[&lender], &options, &family, &[])));
        let rest = text.strip_prefix("status 0\nright\n");
        let said = rest.is_some_and(|rest| {
            let line = "hostwire borrow: this process was forked";
            // Two children that touch it, each in its way.
            rest.lines().count() == 2 && rest.lines().all(|said| said.starts_with(line))
        });
        assert!(said, "{pages}: {text}");
    }
}

#[test]
fn the_status_of_the_program_is_that_of_the_command() {
    if !can_borrow() {
        return;
    }
    let lender = Lender::start("8M");
    let options = ["--memory", "4M"];
    let shell = |script| {
        let text = text(&finish(borrow(
            &[&lender],
            &options,
            Path::new("sh"),
            &["-c", script],
        )));
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(shell("exit 7"), "status 7");
    assert_eq!(shell("kill -9 $$"), "status 137");
    let missing = borrow(&[&lender], &options, Path::new("./no-such-program"), &[]);
    let text = text(&finish(missing));
    assert!(
        text.starts_with("status 2") && text.contains("cannot run './no-such"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_had_is_one_line() {
    if !can_borrow() {
        return;
    }
    let lender = Lender::start("8M");
    let refused = |options: &[&str], why: &str| {
        let output = finish(borrow(&[&lender], options, Path::new("true"), &[]));
        let text = text(&output);
        assert!(
            text.starts_with("status 2\nhostwire: ") && text.contains(why),
            "{text}"
        );
        assert_eq!(text.lines().count(), 2, "{text}");
    };
    refused(&["--memory", "9M"], "8388608 are free");
    refused(
        &["--memory", "1M", "--copies", "2"],
        "needs as many lenders",
    );
    let other = Lender::start("8M");
    let both = ["--memory", "1M", "--copies", "2", "--pages", "map"];
    let refused_both = finish(borrow(&[&lender, &other], &both, Path::new("true"), &[]));
    let refused_both = text(&refused_both);
    assert!(
        refused_both.starts_with("status 2\nhostwire: --pages map: with --copies 2"),
        "{refused_both}"
    );
    refused(
        &["--memory", "1M", "--library", "/no/such.so"],
        "no such file",
    );
}

#[test]
fn a_c_program_borrows_what_it_asks_for() {
    if !can_borrow() {
        return;
    }
    let folder = library_folder().to_string_lossy().into_owned();
    let libraries = [
        &format!("-L{folder}"),
        "-lhostwire_remote",
        &format!("-Wl,-rpath,{folder}"),
    ];
    let (_made, remote) = program("remote", &libraries.map(|it| it as &str));
    let lender = Lender::start("8M");
    let options = ["--memory", "8M", "--cache", "1M", "--explicit", "--stats"];
    let borrowed = text(&finish(borrow(&[&lender], &options, &remote, &[])));
    assert!(borrowed.starts_with("status 0\nright\n"), "{borrowed}");
    assert!(
        borrowed.contains("borrowed at most   4.0 MiB"),
        "{borrowed}"
    );
    let alone = text(&Command::new(&remote).output().unwrap());
    assert_eq!(alone, "status 5\nnothing is borrowed\n");
}

/// The header declares what the library has, and nothing else.
#[test]
fn the_header_and_the_library_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    let names = |text: &str, before: &str| {
        let parts = text.split(before).skip(1);
        let names = parts.map(|part| {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            format!("hostwire_remote_{}", &part[..end.unwrap_or(part.len())])
        });
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let header = read("../../include/hostwire_remote.h");
    let declared: String = header.lines().filter(|line| line.ends_with(");")).collect();
    let source = read("../preload/src/remote.rs");
    let defined = names(&source, "pub extern \"C\" fn hostwire_remote_");
    assert_eq!(names(&declared, "hostwire_remote_"), defined);
    assert_eq!(defined.len(), 2);
}
