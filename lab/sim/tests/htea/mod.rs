//! HyperTransport over Ethernet adapters: claims, conservation, determinism, limits, and the
//! same counts as the protocol engine.

mod link;

use hostwire_sim::engine::Ps;
use hostwire_sim::experiments::Class;
use hostwire_sim::experiments::htoe::{self, Optimised, Transfer};
use hostwire_sim::models::htea::fast::{Config, ConfigError, HteaError, Report, run};
use proptest::prelude::*;

fn ran(config: Config) -> Report {
    run(config).unwrap_or_else(|error| panic!("{config:?}: {error}"))
}

/// A run of a few thousand packets.
fn small() -> Config {
    Config {
        nodes: 4,
        packets: 20_000,
        packets_per_frame: 7,
        nops_per_frame: 10,
        buffers_in_bytes: 3 * 100 * 76,
        buffers_out_bytes: 50 * 76,
        ..Config::default()
    }
}

/// One constant, for one number; others are functions of it. That all claims hold is a test of the command `reproduce`.
#[test]
fn one_constant_is_fitted() {
    let claims = htoe::claims().unwrap_or_else(|error| panic!("{error}"));
    let all = claims.claim.iter();
    let fitted: Vec<(&str, &str)> = all
        .filter(|claim| claim.class == Class::Fitted)
        .map(|claim| {
            let constant = claim.parameter.as_deref().unwrap_or_default();
            (
                claim.id.as_str(),
                constant.trim_start_matches("as E4-plain: "),
            )
        })
        .collect();
    let slope = "65.4 ns of de-encapsulation per further packet";
    let ids = ["E3-most", "E4-plain", "E4-incoming", "E14-queues"];
    assert_eq!(fitted, ids.map(|id| (id, slope)));
}

/// Table I, stage by stage: each is the whole difference when it is taken away.
#[test]
fn one_packet_takes_the_sum_of_table_1() {
    let one = Config {
        nodes: 2,
        packets: 1,
        ..Config::default()
    };
    assert_eq!(ran(one).latency, Ps::from_ns(1_478));
    for (without, ns) in [
        (|c| c.timing.mapping = Ps::ZERO, 192),
        (|c| c.timing.mac_out = Ps::ZERO, 122),
        (|c| c.timing.switch = Ps::ZERO, 244),
        (|c| c.timing.mac_in = Ps::ZERO, 298),
        (|c| c.timing.queuing = Ps::ZERO, 156),
        (
            |c| c.timing.encapsulation = c.timing.encapsulation_packet,
            184,
        ),
    ] as [(fn(&mut Config), u64); 6]
    {
        let mut config = one;
        without(&mut config);
        assert_eq!(ran(config).latency, Ps::from_ns(1_478 - ns));
    }
}

/// Two frames of one packet, by hand: the second one's encapsulation begins when the first
/// one's is over, 244 ns later; nothing behind it is slower than that.
#[test]
fn a_second_frame_follows_the_first_one_through_the_slowest_stage() {
    let two = Config {
        nodes: 2,
        packets: 2,
        packets_per_frame: 1,
        ..Config::default()
    };
    assert_eq!(ran(two).latency, Ps::from_ns(1_478 + 244));
    // A payload of two waits for its second packet, and each stage takes longer; so does
    // the wire, by 72 bytes.
    let together = Config {
        packets_per_frame: 2,
        ..two
    };
    let longer = Ps(5_625 + 60_000 + 65_400 + 57_600);
    assert_eq!(ran(together).latency, Ps::from_ns(1_478) + longer);
}

/// With one pipeline, the slowest stage sets the rate: 20 packets in 222 + 19 x 65.4 ns.
#[test]
fn the_slowest_stage_sets_the_rate() {
    let rate = ran(Config {
        packets: 700_000,
        ..Optimised::Nothing.config(8, 20, 50)
    });
    let stage = 20.0 * 512.0 / (222.0 + 19.0 * 65.4);
    let off = rate.throughput_gb_s / stage - 1.0;
    assert!(off.abs() < 1e-3, "{} against {stage}", rate.throughput_gb_s);
    assert!(rate.deencapsulation_use > 0.999, "{rate:?}");
}

/// Links modulo ports: seven equal senders on `ports` ports.
#[test]
fn links_are_spread_over_ports_by_their_number() {
    let rate = |stages_in| {
        let config = Config {
            packets: 700_000,
            stages_in,
            ..Optimised::Both.config(8, 20, 50)
        };
        ran(config).throughput_gb_s
    };
    let one = rate(1);
    for (ports, fullest) in [(2, 4.0), (3, 3.0), (4, 2.0), (6, 2.0)] {
        let off = rate(ports) / one / (7.0 / fullest) - 1.0;
        assert!(off.abs() < 2e-3, "{ports} ports: {off}");
    }
}

#[test]
fn the_way_to_the_accelerator_can_be_the_limit() {
    for (transfer, gb_s) in [(Transfer::Q1, 24.46), (Transfer::Q21, 24.134)] {
        let mut config = Config {
            packets: 700_000,
            ..Optimised::Both.config(8, 20, 50)
        };
        config.timing.sink_packet = transfer.packet();
        let rate = ran(config).throughput_gb_s;
        assert!((rate / gb_s - 1.0).abs() < 3e-3, "{transfer:?}: {rate}");
    }
}

/// A get of one packet: its request, and then table I. A frame that is shorter than one with a
/// packet takes no less in a MAC.
#[test]
fn a_get_takes_its_request_and_its_answer() {
    let one = Config {
        nodes: 2,
        packets: 1,
        gets: 1,
        get_packets: 1,
        ..Config::default()
    };
    let stages = Ps(244_000 - 60_000 + 2 * 3_333) + Ps(222_000 - 65_400 + 2 * 3_333);
    let wires = Ps::from_ns(192 + 122 + 244 + 298 + 156);
    assert_eq!(ran(one).latency, stages + wires + Ps::from_ns(1_478));
    // The second of two follows when the first packet has left for the accelerator.
    let two = ran(Config { packets: 2, ..one });
    let again = Ps(5_625);
    assert_eq!(
        two.latency,
        (stages + wires + Ps::from_ns(1_478)) * 2 + again
    );
}

/// Gets that overlap hide the way of their requests; all data come, whatever the sizes.
#[test]
fn enough_gets_are_as_fast_as_senders_that_send_of_themselves() {
    let with = |gets, get_packets| {
        let config = Config {
            packets: 30_001,
            gets,
            get_packets,
            ..Optimised::Nothing.config(2, 20, 50)
        };
        let report = ran(config);
        conserves(&report, 30_001);
        report.throughput_gb_s
    };
    let pushed = with(0, 64);
    let overlapped = [1, 2, 4, 8].map(|gets| with(gets, 64));
    assert!(overlapped[0] < pushed * 0.9, "{overlapped:?} {pushed}");
    assert!(overlapped[..3].is_sorted(), "{overlapped:?}");
    // Frames that carry the last packets of all that is asked for are not full.
    for enough in &overlapped[2..] {
        assert!(
            (enough / pushed - 1.0).abs() < 0.01,
            "{overlapped:?} {pushed}"
        );
    }
    // Whatever their size, all data come.
    with(3, 7);
}

/// Four queues on one link of 40 Gb/s. The stages limit both; without them, the link that all share
/// has no fullest port.
#[test]
fn queues_on_one_link_are_as_fast_as_ports() {
    let rate = |multiplexed, fast_stages| {
        let mut config = Config {
            packets: 700_000,
            multiplexed,
            ..Optimised::Both.config(8, 20, 50)
        };
        if fast_stages {
            config.timing.deencapsulation = Ps::from_ns(70);
            config.timing.deencapsulation_packet = Ps::from_ns(1);
        }
        let report = ran(config);
        conserves(&report, 700_000);
        report
    };
    let (ports, queues) = (rate(false, false), rate(true, false));
    let off = queues.throughput_gb_s / ports.throughput_gb_s - 1.0;
    assert!(off.abs() < 2e-3, "{off}");
    // 1280 of 1498 bytes on the link are data; two of seven senders share one of four ports.
    let data = 1280.0 / 1498.0;
    for (multiplexed, gb_s) in [(false, 3.5 * 10.0 * data), (true, 40.0 * data)] {
        let got = rate(multiplexed, true);
        let off = got.throughput_gb_s / gb_s - 1.0;
        assert!(
            off.abs() < 5e-3,
            "{multiplexed}: {} {gb_s}",
            got.throughput_gb_s
        );
    }
    assert!(rate(true, true).incoming_use > 0.99);
}

/// 8 nodes, 1 GiB: 16.8 million packets. The time is checked by `cargo bench` and by hand;
/// here, that all of them come.
#[test]
fn a_gibibyte_arrives() {
    let report = ran(Config::default());
    assert_eq!(report.counts.packets_delivered, 1 << 24);
    conserves(&report, 1 << 24);
}

fn conserves(report: &Report, packets: u64) {
    let counts = &report.counts;
    assert_eq!(counts.packets_sent, packets, "{report:?}");
    assert_eq!(counts.packets_received, packets, "{report:?}");
    assert_eq!(counts.packets_delivered, packets, "{report:?}");
    assert_eq!(counts.frames_sent, counts.frames_received, "{report:?}");
    assert_eq!(counts.nop_frames_sent, counts.nop_frames_received);
    assert_eq!(counts.nops_sent, counts.nops_received, "{report:?}");
    let credits = &report.credits;
    assert_eq!(credits.held + credits.owed, credits.total, "{report:?}");
}

#[test]
fn the_same_run_has_the_same_hash_everywhere() {
    let hashes = [
        small(),
        Config {
            stages_in: 4,
            stages_out: 4,
            ..small()
        },
        Config {
            credits_per_nop: 3,
            ..small()
        },
    ]
    .map(|config| {
        let [first, second] = [ran(config), ran(config)];
        assert_eq!(first.summary.hash, second.summary.hash);
        first.summary.hash.to_string()
    });
    let known = ["b155d165d78e4298", "61a3078f7e28d646", "51a64440e046c11c"];
    assert_eq!(hashes, known);
}

#[test]
fn impossible_configurations_are_refused() {
    let refused = |config: Config| match run(config) {
        Err(HteaError::Config(error)) => error,
        other => panic!("{config:?}: {other:?}"),
    };
    let none = refused(Config {
        buffers_in_bytes: 75,
        ..small()
    });
    let ConfigError::Deadlock { credits: 0, .. } = none else {
        panic!("{none}");
    };
    let long = refused(Config {
        packets_per_frame: 21,
        ..small()
    });
    assert_eq!(
        long.to_string(),
        "a frame of 21 packets has 1532 bytes, and the MTU is 1500"
    );
    let outgoing = refused(Config {
        buffers_out_bytes: 6 * 76,
        ..small()
    });
    assert_eq!(outgoing, ConfigError::Outgoing { got: 6, needed: 7 });
    type Change = fn(&mut Config);
    let cases: [(Change, &str); 9] = [
        (|config| config.nodes = 1, "nodes"),
        (|config| config.nodes = 33, "nodes"),
        (|config| config.packets = 0, "data"),
        (|config| config.packets_per_frame = 0, "packets_per_frame"),
        (
            |config| config.packets_per_frame = u64::MAX,
            "packets_per_frame",
        ),
        (|config| config.nops_per_frame = 256, "nops_per_frame"),
        (|config| config.credits_per_nop = 4, "credits_per_nop"),
        (|config| config.stages_in = 0, "incoming_stages"),
        (|config| config.stages_out = 33, "outgoing_stages"),
    ];
    for (change, field) in cases {
        let mut config = small();
        change(&mut config);
        assert_eq!(refused(config).field(), field);
    }
}

/// The bound on credits is sharp: with one credit less some run stops for ever.
#[test]
fn the_fewest_credits_are_enough() {
    // 7 packets per payload, batches of 10: 16.
    let fewest = Config {
        buffers_in_bytes: 3 * 16 * 76,
        ..small()
    };
    conserves(&ran(fewest), fewest.packets);
    let fewer = Config {
        buffers_in_bytes: 3 * 15 * 76,
        ..small()
    };
    assert!(run(fewer).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// For every shape no packet is lost and none is invented.
    #[test]
    fn packets_and_credits_are_conserved(
        nodes in 2_u64..10,
        packets in 1_u64..5_000,
        packets_per_frame in 1_u64..=20,
        nops_per_frame in 1_u64..=60,
        credits_per_nop in 1_u64..=3,
        stages_in in 1_u64..6,
        stages_out in 1_u64..6,
        spare in 0_u64..300,
        outgoing in 20_u64..100,
    ) {
        let credits = packets_per_frame + nops_per_frame * credits_per_nop - 1 + spare;
        let config = Config {
            nodes,
            packets,
            packets_per_frame,
            nops_per_frame,
            credits_per_nop,
            stages_in,
            stages_out,
            buffers_in_bytes: credits * (nodes - 1) * 76,
            buffers_out_bytes: outgoing * 76,
            ..Config::default()
        };
        let report = ran(config);
        conserves(&report, packets);
        prop_assert!(report.incoming_use <= 1.0 && report.deencapsulation_use <= 1.0);
    }

    /// Frames, bytes, NOPs and credits are those of the protocol engine, where its rules and
    /// the paper's are the same: full payloads of single packets, and batches of whole payloads.
    #[test]
    fn counts_are_those_of_the_protocol_engine(
        senders in 1_u64..5,
        packets_per_frame in 1_u64..=20,
        payloads in 1_u64..400,
        batch in 1_u64..4,
        spare in 0_u64..50,
    ) {
        // Batches are whole NOPs of three credits, and whole payloads.
        let credits_per_batch = 3 * packets_per_frame * batch;
        let credits = 2 * credits_per_batch + packets_per_frame + spare;
        let config = Config {
            nodes: senders + 1,
            packets: senders * payloads * packets_per_frame,
            packets_per_frame,
            nops_per_frame: packets_per_frame * batch,
            credits_per_nop: 3,
            buffers_in_bytes: credits * senders * 76,
            ..Config::default()
        };
        let report = ran(config);
        let (counts, left) = link::run(&config);
        prop_assert_eq!(report.counts, counts);
        prop_assert_eq!(report.credits, left);
    }
}
