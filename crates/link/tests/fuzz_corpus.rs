//! Replays the corpus of the fuzz target, gives it random bytes, and can write
//! the corpus anew:
//!
//! ```text
//! cargo test -p hostwire-link --test fuzz_corpus -- --ignored
//! ```

mod checks;

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn fuzz_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

#[test]
fn replay() {
    for (target, check) in checks::TARGETS {
        assert!(
            fuzz_dir()
                .join(format!("fuzz_targets/{target}.rs"))
                .exists()
        );
        let mut files = 0;
        for entry in fs::read_dir(fuzz_dir().join("corpus").join(target)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            // A panic in a check does not say which file it was.
            if std::panic::catch_unwind(|| check(&bytes)).is_err() {
                panic!("{} fails {target}", path.display());
            }
            files += 1;
        }
        assert!(files >= 5, "only {files} files for {target}");
    }
}

fn config() -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(0);
    }
    config.failure_persistence = None;
    config
}

fn step() -> impl Strategy<Value = Vec<u8>> {
    let argument = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..8),
        prop::collection::vec(any::<u8>(), 0..120),
        // NOPs and packets that are nearly right.
        (0..4u8, 0..4u8, prop::collection::vec(any::<u8>(), 0..3)).prop_map(
            |(nops, packets, tail)| {
                let mut payload = vec![nops, packets];
                payload.extend([0, 5, 0, 0].repeat(nops.into()));
                payload.extend([0x2c, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4].repeat(packets.into()));
                payload.extend(tail);
                payload
            }
        ),
    ];
    (any::<u8>(), argument).prop_map(|(step, argument)| {
        let mut bytes = vec![step, argument.len() as u8];
        bytes.extend(argument);
        bytes
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        checks::link_receive(&bytes);
        checks::sealed_receive(&bytes);
    }

    #[test]
    fn any_steps(steps in prop::collection::vec(step(), 0..20)) {
        let mut script = vec![4, 0];
        script.extend(steps.concat());
        checks::link_receive(&script);
        checks::sealed_receive(&steps.concat());
    }
}

/// Scripts that reach into every part.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let line: Vec<u8> = [&[0, 1, 0x2c, 0, 0xc0, 3, 0, 0, 0, 0][..], &[7; 64]].concat();
    // Nine words for eight buffers.
    let words = [
        &[0, 9][..],
        &[0x2c, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4].repeat(9),
    ]
    .concat();
    let step = |step: u8, argument: &[u8]| [&[step, argument.len() as u8][..], argument].concat();
    let open = step(4, &[]);
    vec![
        ("open", open.clone()),
        (
            "put",
            [
                open.clone(),
                step(6, &[3; 100]),
                step(7, &[3]),
                step(4, &[]),
            ]
            .concat(),
        ),
        ("line", [open.clone(), step(3, &line)].concat()),
        (
            "overrun",
            [open.clone(), step(3, &line), step(3, &words)].concat(),
        ),
        (
            "credits",
            [open.clone(), step(3, &[1, 0, 0, 5, 0, 0])].concat(),
        ),
        (
            "malformed",
            [open.clone(), step(3, &[0, 1, 0xff, 0, 0, 0])].concat(),
        ),
        (
            "nak",
            [
                open.clone(),
                step(6, &[1; 64]),
                step(5, &[1]),
                step(2, &[1, 2]),
            ]
            .concat(),
        ),
        (
            "close",
            [
                open.clone(),
                step(7, &[1]),
                step(4, &[]),
                step(7, &[0]),
                step(5, &[9]),
            ]
            .concat(),
        ),
        (
            "reset",
            [open.clone(), step(1, &[2; 80]), step(0, &[0x13; 68])].concat(),
        ),
        (
            "silence",
            [open, step(6, &[1]), step(5, &[255]).repeat(8)].concat(),
        ),
    ]
}

/// Scripts for sealed frames.
fn sealed_seeds() -> Vec<(&'static str, Vec<u8>)> {
    let step = |step: u8, argument: &[u8]| [&[step, argument.len() as u8][..], argument].concat();
    let header = |kind: u8, source: u8| {
        let mut frame = vec![kind, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, source];
        frame.resize(60, 0);
        frame
    };
    vec![
        ("opened", step(1, b"frame")),
        ("replayed", [step(1, b"frame"), step(4, &[])].concat()),
        ("unsealed", step(0, &header(0x11, 2))),
        ("forged", step(0, &header(0x15, 2))),
        ("foreign", step(0, &header(0x15, 7))),
        (
            "truncated",
            [step(2, &[20, 0, 1]), step(0, &[0x15; 35])].concat(),
        ),
        ("cut", step(2, &[50; 40])),
        (
            "changed",
            [step(3, &[2, 1, 0]), step(3, &[50, 0x80, 0])].concat(),
        ),
        ("empty", [step(1, &[]), step(3, &[0, 9])].concat()),
    ]
}

#[test]
fn sealed_seeds_reach_into_every_part() {
    use hostwire_link::DropCause;
    for (name, bytes) in sealed_seeds() {
        let (opened, counters) = checks::run_sealed(&bytes);
        let cause = match name {
            "replayed" => DropCause::Replayed,
            "unsealed" => DropCause::Unsealed,
            "foreign" => DropCause::Foreign,
            "truncated" => DropCause::Truncated,
            "forged" | "cut" | "changed" => DropCause::Forged,
            _ => {
                assert!(opened > 0, "{name}");
                continue;
            }
        };
        assert!(counters.dropped(cause) > 0, "{name}: {counters:?}");
    }
}

/// The seeds are of use: each gets where it is meant to.
#[test]
fn seeds_reach_into_every_part() {
    use hostwire_link::DropCause;
    for (name, bytes) in seeds() {
        let counters = checks::run(&bytes).counters();
        assert_eq!(counters.opened, 1, "{name}");
        assert!(counters.frames_received > 0, "{name}");
        let misbehaved = counters.dropped(DropCause::Misbehaved);
        let seen = match name {
            "put" => counters.packets_sent[0] > 1 && counters.acks_received > 0,
            "line" => counters.packets_received[0] == 2,
            "overrun" => misbehaved == 1 && counters.packets_received[0] > 1,
            "credits" => misbehaved == 1,
            "malformed" => counters.dropped(DropCause::Malformed) == 1,
            "nak" => counters.naks_received == 1,
            "close" => counters.sessions_sent > 3,
            "reset" => counters.dropped(DropCause::Corrupt) == 1,
            "silence" => counters.timeouts > 4,
            _ => true,
        };
        assert!(seen, "{name}: {counters:?}");
    }
}

#[test]
#[ignore = "writes into fuzz/corpus"]
fn write_corpus() {
    for (target, seeds) in [
        ("link_receive", seeds()),
        ("sealed_receive", sealed_seeds()),
    ] {
        let dir = fuzz_dir().join("corpus").join(target);
        fs::create_dir_all(&dir).unwrap();
        for (name, bytes) in seeds {
            fs::write(dir.join(name), bytes).unwrap();
        }
    }
}
