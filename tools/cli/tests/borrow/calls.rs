//! A program that makes random calls on its memory. With borrowed memory its results are the same as without.

use std::process::Command;

use hostwire_testing::or_long;

use crate::kit::{Lender, borrow, can_borrow, finish, program, text};

/// The cache is less than what the program uses, which is sometimes more than what is borrowed.
const OPTIONS: [&str; 6] = ["--memory", "14M", "--cache", "1M", "--above", "64K"];

#[test]
fn calls_at_random_do_the_same_with_borrowed_memory() {
    if !can_borrow() {
        return;
    }
    let (_made, calls) = program("calls", &["-pthread"]);
    let lender = Lender::start("16M");
    let (seeds, steps) = or_long((1..=3_u64, "250"), (1..=150, "600"));
    for seed in seeds.map(|seed| seed.to_string()) {
        let arguments = [seed.as_str(), steps];
        let plain = text(&Command::new(&calls).args(arguments).output().unwrap());
        assert!(plain.starts_with("status 0"), "seed {seed}: {plain}");
        for pages in ["move", "map"] {
            let options = [&OPTIONS[..], &["--pages", pages]].concat();
            let borrowed = text(&finish(borrow(&[&lender], &options, &calls, &arguments)));
            let mut lines = plain.lines().zip(borrowed.lines());
            // The status comes first, and tells least.
            let other = lines.clone().skip(1).find(|(a, b)| a != b);
            let other = other.or_else(|| lines.find(|(a, b)| a != b));
            assert!(
                plain == borrowed,
                "step, call, result and errno differ (plain, borrowed): {other:?}\nrepeat with: cc -pthread \
                 -o calls tools/cli/tests/borrow/calls.c; ./calls {seed} {steps} > plain; hostwire lend --memory 16M \
                 & hostwire borrow {} -- ./calls {seed} {steps} > borrowed; diff plain borrowed\n{}",
                options.join(" "),
                borrowed
                    .lines()
                    .rev()
                    .take(3)
                    .collect::<Vec<_>>()
                    .join("\n")
            );
        }
    }
}
