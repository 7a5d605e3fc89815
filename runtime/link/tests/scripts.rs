//! Scripts for the checks that are also fuzz targets: random scripts, and the seeds of
//! their corpora, each of which reaches its intended state.

mod checks;
mod seeds;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

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

#[test]
fn sealed_seeds_reach_into_every_part() {
    use hostwire_link::DropCause;
    for (name, bytes) in seeds::sealed() {
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

/// Each seed reaches its intended state.
#[test]
fn seeds_reach_into_every_part() {
    use hostwire_link::DropCause;
    for (name, bytes) in seeds::receive() {
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
