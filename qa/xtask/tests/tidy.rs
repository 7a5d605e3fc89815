//! The rules of `cargo xtask tidy`, on small trees that are made up, and on this repository.

use std::fs;

use xtask::root;
use xtask::tidy::findings;

/// What tidy finds in a tree of these files, a line each.
fn found(table: &str, files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("tidy.toml", table);
    for (path, text) in files {
        write(path, text);
    }
    let found = findings(folder.path()).unwrap();
    found.iter().map(ToString::to_string).collect()
}

/// The findings there, without the advice: `FILE:LINE RULE`.
fn places(table: &str, files: &[(&str, &str)]) -> Vec<String> {
    let place = |finding: String| {
        let mut parts = finding.splitn(3, ':');
        let (file, line) = (parts.next().unwrap(), parts.next().unwrap());
        let rule = finding.rsplit(['[', ']']).nth(1).unwrap();
        format!("{file}:{line} {rule}")
    };
    found(table, files).into_iter().map(place).collect()
}

fn nothing() -> [String; 0] {
    []
}

#[test]
fn this_repository_is_tidy() {
    let found: Vec<String> = findings(&root())
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, nothing(), "{found:#?}");
}

const LOW: (&str, &str) = ("low/Cargo.toml", "[package]\nname = \"low\"\n");

#[test]
fn an_arrow_between_crates_that_is_not_allowed_is_found() {
    let high =
        "[package]\nname = \"high\"\n\n[dependencies]\nserde = \"1\"\nlow.workspace = true\n";
    let files = [LOW, ("high/Cargo.toml", high)];
    let allowed = "[crates]\nlow = {}\nhigh = { uses = [\"low\"] }\n";
    assert_eq!(found(allowed, &files), nothing());
    assert_eq!(
        found("[crates]\nlow = {}\nhigh = {}\n", &files),
        [
            "high/Cargo.toml:6: an arrow to low that tidy.toml does not allow: take another way, \
             or add it to `uses` there and say why in the commit [crates]"
        ]
    );
    // Tests may use more than the code may.
    let tests = "[crates]\nlow = {}\nhigh = { tests_use = [\"low\"] }\n";
    assert_eq!(
        places(tests, &files),
        ["high/Cargo.toml:6 crates", "tidy.toml:3 crates"]
    );
}

#[test]
fn code_of_a_product_uses_only_what_its_product_may() {
    let user = |kind: &str| format!("[package]\nname = \"high\"\n[{kind}]\nlow.workspace = true\n");
    let low = ("lab/low/Cargo.toml", LOW.1);
    let high = user("dependencies");
    let files = [low, ("runtime/high/Cargo.toml", &*high)];
    let crates = "[crates]\nlow = {}\nhigh = { uses = [\"low\"] }\n";
    let allowed = format!("{crates}[products]\nruntime = [\"lab\"]\nlab = []\n");
    assert_eq!(found(&allowed, &files), nothing());
    let refused = format!("{crates}[products]\nruntime = []\nlab = [\"runtime\"]\n");
    assert_eq!(
        found(&refused, &files),
        [
            "runtime/high/Cargo.toml:4: code of runtime/ uses low of lab/, which [products] of \
             tidy.toml does not allow [products]"
        ]
    );
    let tests = user("dev-dependencies");
    let files = [low, ("runtime/high/Cargo.toml", &*tests)];
    let crates = "[crates]\nlow = {}\nhigh = { tests_use = [\"low\"] }\n";
    let refused = format!("{crates}[products]\nruntime = []\n");
    assert_eq!(found(&refused, &files), nothing());
}

#[test]
fn all_kinds_of_dependencies_are_arrows() {
    for (kind, key) in [
        ("dependencies", "uses"),
        ("build-dependencies", "uses"),
        ("target.'cfg(unix)'.dependencies", "uses"),
        ("dev-dependencies", "tests_use"),
    ] {
        let high = format!("[package]\nname = \"high\"\n[{kind}]\nlow = {{ path = \"../low\" }}\n");
        let files = [LOW, ("high/Cargo.toml", &high)];
        let none = "[crates]\nlow = {}\nhigh = {}\n";
        assert_eq!(places(none, &files), ["high/Cargo.toml:4 crates"], "{kind}");
        let allowed = format!("[crates]\nlow = {{}}\nhigh = {{ {key} = [\"low\"] }}\n");
        assert_eq!(found(&allowed, &files), nothing(), "{kind}");
    }
}

#[test]
fn the_table_of_crates_has_all_that_are_there_and_no_others() {
    assert_eq!(places("[crates]\n", &[LOW]), ["low/Cargo.toml:1 crates"]);
    assert_eq!(
        places("[crates]\nlow = {}\ngone = {}\n", &[LOW]),
        ["tidy.toml:3 crates"]
    );
}

const LAYERS: &str = "[modules.one]\nlayers = [[\"low\"], [\"high\"]]\n";
const ROOT: (&str, &str) = (
    "one/src/lib.rs",
    "mod low;\nmod high;\npub use high::{inner::Top as Highest, Other};\n",
);

#[test]
fn a_module_that_points_back_is_found() {
    let high = ("one/src/high.rs", "mod inner { fn high() {} }\n");
    for (low, line) in [
        ("\nuse crate::high::Top;", 2),
        ("\nuse crate::{\n    high::Top,\n};", 3),
        ("use super::high;", 1),
        ("fn f() { crate::high::f() }", 1),
        ("fn f() { assert!(crate::high::F) }", 1),
        ("mod deep { fn f() { super::super::high::f() } }", 1),
        ("mod deep { use super::{super::high}; }", 1),
        // By the names that the root gives them.
        ("use crate::Other;", 1),
        ("use crate::{Highest};", 1),
    ] {
        let files = [ROOT, high, ("one/src/low.rs", low)];
        assert_eq!(
            places(LAYERS, &files),
            [format!("one/src/low.rs:{line} modules")],
            "{low}"
        );
    }
    let user = (
        "one/src/high.rs",
        "use crate::low::Low;\nmod inner { use super::super::low; }\n",
    );
    for low in [
        "use crate::low::Itself;",
        "mod deep { use super::Itself; }",
        "use other::high;",
        "#[cfg(test)]\nmod tests { use crate::high::Top; }",
        "#[cfg(all(test, unix))]\nmod tests { use crate::high::Top; }",
        "#[cfg(test)]\nuse crate::high::Top;\n",
        "//! [`crate::high::Top`]\n/// [`crate::high`]\nfn f() {} // crate::high",
    ] {
        let files = [ROOT, user, ("one/src/low.rs", low)];
        assert_eq!(found(LAYERS, &files), nothing(), "{low}");
    }
}

#[test]
fn modules_are_followed_into_folders() {
    let root = ("one/src/lib.rs", "mod low;\nmod high;\n");
    let high = ("one/src/high/mod.rs", "");
    let low = ("one/src/low.rs", "mod deep;\nmod deeper;\n");
    let deep = ("one/src/low/deep.rs", "use crate::high::A;\n");
    let deeper = (
        "one/src/low/deeper/mod.rs",
        "\nuse super::super::high::A;\n",
    );
    assert_eq!(
        found(LAYERS, &[root, high, low, deep, deeper]),
        [
            "one/src/low/deep.rs:1: module low uses high, which is in a higher layer (tidy.toml): \
             move what they share below both, or hand it in from above [modules]",
            "one/src/low/deeper/mod.rs:2: module low uses high, which is in a higher layer \
             (tidy.toml): move what they share below both, or hand it in from above [modules]"
        ]
    );
}

#[test]
fn modules_of_one_layer_do_not_use_each_other() {
    let table = "[modules.one]\nlayers = [[\"low\", \"high\"]]\n";
    let files = [
        ROOT,
        ("one/src/low.rs", ""),
        ("one/src/high.rs", "use crate::low::A;"),
    ];
    assert_eq!(places(table, &files), ["one/src/high.rs:1 modules"]);
}

#[test]
fn the_table_of_modules_has_all_that_are_there_and_no_others() {
    let files = [ROOT, ("one/src/low.rs", ""), ("one/src/high.rs", "")];
    let table = "[modules.one]\nlayers = [\n[\"low\"],\n[\"gone\"],\n]\n";
    assert_eq!(
        places(table, &files),
        ["one/src/lib.rs:2 modules", "tidy.toml:4 modules"]
    );
}

#[test]
fn circles_of_modules_are_found() {
    let root = (
        "one/src/lib.rs",
        "mod a;\nmod b;\nmod c;\nmod top;\npub use c::Word;\n",
    );
    let circle = [
        root,
        ("one/src/a.rs", "use crate::b::{self, B};\n"),
        ("one/src/b/mod.rs", "mod deep;\nfn f() { deep::g() }\n"),
        (
            "one/src/b/deep.rs",
            "use super::super::Word;\nuse super::f;\n",
        ),
        ("one/src/c.rs", "fn f() { crate::a::A }\n"),
        ("one/src/top.rs", "use crate::{a, b, c};\n"),
    ];
    assert_eq!(
        found("", &circle),
        [
            "one/src/lib.rs:1: these modules use each other in a circle: a, b, c: move what they share below \
             them, or hand it in from above [circle]"
        ]
    );
    // A module may use the one that it is in, and tests may use what they like.
    let none = [
        root,
        ("one/src/a.rs", "use crate::b::B;\n"),
        ("one/src/b/mod.rs", "mod deep;\nmod other;\n"),
        ("one/src/b/deep.rs", "use super::{B, other::O};\n"),
        (
            "one/src/b/other.rs",
            "#[cfg(test)]\nmod tests { use super::super::deep; }\n",
        ),
        ("one/src/c.rs", ""),
        ("one/src/top.rs", ""),
    ];
    assert_eq!(found("", &none), nothing());
}

#[test]
fn long_files_are_found() {
    let lines = |count: usize| "// A line.\n".repeat(count);
    for name in ["a.rs", "a.sh", "a.py", "a.c"] {
        assert_eq!(places("", &[(name, &lines(700))]), nothing(), "{name}");
        assert_eq!(
            places("", &[(name, &lines(701))]),
            [format!("{name}:1 file")]
        );
    }
    for name in [
        "a.md",
        "a.toml",
        "target/a.rs",
        "out/a.rs",
        ".hidden/a.rs",
        "a.txt",
    ] {
        assert_eq!(
            places("", &[(name, &"# A line.\n".repeat(701))]),
            nothing(),
            "{name}"
        );
    }
}

#[test]
fn long_functions_are_found() {
    let function = |lines: usize| {
        format!(
            "/// Text.\npub fn long(x: [u8; {{ 3 }}])\n{{\n{}}}\n",
            "    f();\n".repeat(lines - 3)
        )
    };
    assert_eq!(places("", &[("a.rs", &function(80))]), nothing());
    let text = function(81);
    assert_eq!(
        found("", &[("a.rs", &text)]),
        ["a.rs:2: `long` has 81 lines, more than 80: give its parts names of their own [function]"]
    );
    // At any depth.
    let inside = format!("mod m {{ impl A {{\nproptest! {{\n{text}}}\n}} }}");
    assert_eq!(places("", &[("a.rs", &inside)]), ["a.rs:4 function"]);
}

#[test]
fn a_test_that_is_ignored_says_why() {
    let text = "#[test]\n#[ignore]\nfn a() {}\n#[test]\n#[ignore = \"slow\"]\nfn b() {}\n";
    assert_eq!(places("", &[("a.rs", text)]), ["a.rs:3 ignore"]);
}

const PACKAGE: (&str, &str) = ("one/Cargo.toml", "[package]\nname = \"one\"\n");
const ONE: &str = "[crates]\none = {}\n";

/// The places in a file with a test of this body, beside some functions.
fn in_test(body: &str) -> Vec<String> {
    let text = format!(
        "fn tool() -> Option<()> {{ left_out(&need::IP, \"\"); None }}\n\
         fn maker() -> bool {{ tool().is_some() }}\n\
         fn other() -> Option<()> {{ None }}\n\
         #[test]\nfn test() {{\n{body}\n}}\n"
    );
    places(ONE, &[PACKAGE, ("one/tests/a.rs", &text)])
}

#[test]
fn a_test_that_ends_early_is_found() {
    for body in [
        "if other().is_none() { return; }",
        "let Some(it) = other() else { return };",
        "if !there { return }",
        "for a in b { if c { return; } }",
        "tool(); if other().is_none() { return; }",
        // A method of the same name is another function.
        "if it.tool() { return; }",
    ] {
        assert_eq!(in_test(body), ["one/tests/a.rs:6 skip"], "{body}");
    }
}

#[test]
fn a_test_that_says_why_is_not() {
    for body in [
        "if tool().is_none() { return; }",
        "let Some(it) = tool() else { return };",
        "if !maker() { return; }",
        "if !is_installed(\"ip\", &need::IP) { return; }",
        "if !there { left_out(&need::IP, \"\"); return; }",
        "if !there { return left_out(&need::IP, \"\"); }",
        "let Some(it) = CELL.get_or_init(one::tool) else { return };",
        "list.retain(|one| { if one { return; } f(); });",
        "let f = || { return; };",
        "let x = (|| -> u8 { return 3; })();",
    ] {
        assert_eq!(in_test(body), nothing(), "{body}");
    }
}

#[test]
fn a_test_that_is_left_out_by_hand_is_found() {
    let text =
        "fn f() {\n    eprintln!(\"skipped: no ip\");\n    println!(\"Skipping {}\", 3);\n}\n";
    assert_eq!(
        places(ONE, &[PACKAGE, ("one/tests/a.rs", text)]),
        ["one/tests/a.rs:2 skip", "one/tests/a.rs:3 skip"]
    );
    let other = "fn f() { eprintln!(\"it skipped three\"); skip(\"skipped\"); }";
    assert_eq!(
        places(ONE, &[PACKAGE, ("one/tests/a.rs", other)]),
        nothing()
    );
}

#[test]
fn marks_of_unfinished_work_are_found() {
    let marks = [
        concat!("// TO", "DO: more"),
        concat!("// FIX", "ME"),
        concat!("// (XX", "X)"),
        concat!("to", "do!()"),
        concat!("unimple", "mented!()"),
    ];
    for mark in marks {
        let text = format!("fn f() {{\n    {mark}\n}}\n");
        assert_eq!(places("", &[("a.rs", &text)]), ["a.rs:2 word"], "{mark}");
        assert_eq!(places("", &[("a.md", &text)]), ["a.md:2 word"], "{mark}");
    }
    let none = concat!(
        "// mktemp a.XX",
        "XXXX, TO",
        "DOS, not_to",
        "do!(), MY_FIX",
        "ME"
    );
    assert_eq!(places("", &[("a.rs", none)]), nothing());
}

#[test]
fn what_is_no_rust_is_said() {
    assert_eq!(places("", &[("a.rs", "fn f() {\n")]), ["a.rs:1 rust"]);
}

#[test]
fn an_exception_is_for_one_thing_and_has_a_reason() {
    let text = "#[test]\n#[ignore]\nfn a() {}\n#[test]\n#[ignore]\nfn b() {}\n";
    let files = [("a/a.rs", text)];
    let exception = |at: &str, what: &str, reason: &str| {
        format!(
            "[[exception]]\nrule = \"ignore\"\nat = \"{at}\"\nwhat = [{what}]\nreason = \"{reason}\"\n"
        )
    };
    let both = ["a/a.rs:3 ignore", "a/a.rs:6 ignore"];
    assert_eq!(places("", &files), both);
    assert_eq!(
        places(&exception("a/a.rs", "\"a\"", "why"), &files),
        both[1..]
    );
    assert_eq!(
        places(&exception("a/a.rs", "\"a\", \"b\"", "why"), &files),
        nothing()
    );
    assert_eq!(places(&exception("a", "", "why"), &files), nothing());
    assert_eq!(
        places(&exception("a", "", " "), &files),
        ["tidy.toml:1 exception"]
    );
}

#[test]
fn an_exception_that_is_not_needed_is_found() {
    let text = "#[test]\n#[ignore]\nfn a() {}\n";
    let files = [("a.rs", text)];
    let unneeded = "[[exception]]\nrule = \"ignore\"\nat = \"a.rs\"\nwhat = [\n\"a\",\n\"b\",\n]\n\
                    reason = \"why\"\n";
    assert_eq!(
        found(unneeded, &files),
        ["tidy.toml:6: the exception for `b` is not needed any more: remove it [exception]"]
    );
    let other = "[[exception]]\nrule = \"word\"\nat = \"a.rs\"\nreason = \"why\"\n";
    assert_eq!(
        places(other, &files),
        ["a.rs:3 ignore", "tidy.toml:1 exception"]
    );
    let beside = "[[exception]]\nrule = \"ignore\"\nat = \"a\"\nreason = \"why\"\n";
    assert_eq!(
        places(beside, &files),
        ["a.rs:3 ignore", "tidy.toml:1 exception"]
    );
}

#[test]
fn a_table_that_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = || findings(folder.path()).unwrap_err().to_string();
    assert!(error().contains("tidy.toml"), "{}", error());
    fs::write(folder.path().join("tidy.toml"), "[exceptions]\n").unwrap();
    assert!(error().contains("unknown field"), "{}", error());
}
