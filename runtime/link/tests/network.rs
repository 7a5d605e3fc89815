//! The protocol on a bad network, in virtual time. See `net/mod.rs`.

mod net;

use hostwire_link::{CloseReason, Config, DropCause};
use net::{Fate, Faults, Net, Plan, seeds};

const S: u64 = 1_000_000_000;

fn total(plan: &Plan) -> u64 {
    let each: u64 = plan.packets.iter().map(|&packets| u64::from(packets)).sum();
    each * 2 * plan.pairs.len() as u64
}

fn run(plan: &Plan, seed: u64) -> Net {
    let mut net = Net::new(plan.clone(), seed);
    net.run_to_the_end(2_000 * S);
    assert_eq!(net.delivered(), total(plan));
    net
}

#[test]
fn a_good_network_needs_no_repairs() {
    let plan = Plan::pair(Config::default(), [3_000, 500, 500]);
    seeds(2, |seed| {
        let net = run(&plan, seed);
        for host in &net.hosts {
            let counters = host.endpoint.counters();
            assert_eq!(counters.frames_resent, 0);
            assert_eq!(counters.timeouts, 0);
            assert_eq!(counters.dropped_total(), 0);
        }
    });
}

#[test]
fn every_fault_alone() {
    let faults = [
        Faults {
            loss_ppm: 100_000,
            ..Faults::default()
        },
        Faults {
            duplicate_ppm: 300_000,
            ..Faults::default()
        },
        Faults {
            damage_ppm: 100_000,
            ..Faults::default()
        },
        Faults {
            late_ppm: 200_000,
            ..Faults::default()
        },
    ];
    seeds(2, |seed| {
        for faults in faults {
            let mut plan = Plan::pair(Config::default(), [1_500, 300, 300]);
            plan.faults = faults;
            let net = run(&plan, seed);
            let counters = net.hosts[0].endpoint.counters();
            if faults.duplicate_ppm > 0 {
                assert!(counters.dropped(DropCause::Duplicate) > 0);
            } else {
                assert!(counters.frames_resent > 0);
            }
            if faults.damage_ppm > 0 {
                assert!(counters.dropped(DropCause::Corrupt) > 0);
            }
        }
    });
}

#[test]
fn all_faults_between_four_hosts() {
    let pairs = vec![(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let plan = Plan {
        faults: Faults::all(),
        pairs,
        keep_ppm: 50_000,
        keep_ns: 100_000,
        ..Plan::pair(Config::default(), [1_000, 200, 200])
    };
    seeds(2, |seed| drop(run(&plan, seed)));
}

/// One buffer per channel, one frame in flight, no queues, batches that are never
/// reached: with all of these settings everything arrives.
#[test]
fn scarcity_is_no_deadlock() {
    seeds(24, |seed| {
        let pick = |shift: u32, values: &[u16]| values[(seed >> shift) as usize % values.len()];
        let buffers = [1, 1, 2, 5];
        let config = Config {
            buffers: [pick(0, &buffers), pick(1, &buffers), pick(2, &buffers)],
            queue_packets_max: [pick(1, &[0, 1, 8]), pick(2, &[0, 1]), pick(3, &[0, 3])],
            frames_in_flight_max: pick(3, &[1, 2, 7]),
            pool_frames_max: (seed % 3) as usize,
            credit_batch: [pick(0, &[1, 60_000]), pick(2, &[60_000, 1]), 60_000],
            frame_len_max: [128, 1500][seed as usize % 2],
            ..Config::default()
        };
        let plan = Plan {
            faults: if seed % 3 == 0 {
                Faults::default()
            } else {
                Faults::all()
            },
            keep_ppm: 200_000,
            keep_ns: 20_000,
            ..Plan::pair(config, [150, 60, 60])
        };
        run(&plan, seed);
    });
}

/// A batch of credits that takes many NOP frames to return: "credits announced
/// every so many" must not wait for more than the peer can send.
#[test]
fn batches_larger_than_a_frame() {
    let config = Config {
        buffers: [40_000, 40_000, 40_000],
        credit_batch: [30_000, 30_000, 30_000],
        frame_len_max: 256,
        ..Config::default()
    };
    let plan = Plan::pair(config.clone(), [9_000, 9_000, 9_000]);
    seeds(1, |seed| {
        let net = run(&plan, seed);
        assert!(net.hosts[0].endpoint.counters().nops_sent > 3_000);
    });
    // More is sent than one batch, with every packet kept for a while.
    let plan = Plan {
        keep_ppm: 1_000_000,
        keep_ns: 1_000_000,
        faults: Faults::all(),
        ..Plan::pair(
            Config {
                buffers: [300, 300, 300],
                ..config
            },
            [3_000, 900, 900],
        )
    };
    seeds(2, |seed| drop(run(&plan, seed)));
}

/// More frames than there are numbers. (The model and the tests frame by frame
/// cross the wrap as well.)
#[test]
#[ignore = "slow"]
fn numbers_wrap() {
    let config = Config {
        frame_len_max: 128,
        frames_in_flight_max: 64,
        ..Config::default()
    };
    let plan = Plan {
        faults: Faults {
            loss_ppm: 1_000,
            late_ppm: 1_000,
            ..Faults::default()
        },
        ..Plan::pair(config, [145_000, 0, 0])
    };
    seeds(1, |seed| {
        let net = run(&plan, seed);
        assert!(net.hosts[0].endpoint.counters().frames_sent > 66_000);
    });
}

#[test]
fn twenty_percent_loss() {
    let plan = Plan {
        faults: Faults {
            loss_ppm: 200_000,
            ..Faults::default()
        },
        ..Plan::pair(Config::default(), [2_000, 200, 200])
    };
    seeds(2, |seed| drop(run(&plan, seed)));
}

#[test]
fn pause_and_partition_are_survived() {
    let plan = Plan {
        faults: Faults {
            loss_ppm: 1_000,
            ..Faults::default()
        },
        pairs: vec![(0, 1), (1, 2), (0, 2)],
        ..Plan::pair(Config::default(), [3_000, 500, 500])
    };
    seeds(2, |seed| {
        let mut net = Net::new(plan.clone(), seed);
        net.run(net.now.after(1_000_000), |_| false);
        net.fate(100_000, 0, Fate::Pause { for_ns: 3 * S });
        net.run(net.now.after(S), |_| false);
        net.partition(1, 2, 2 * S);
        net.run_to_the_end(2_000 * S);
        assert_eq!(net.delivered(), total(&plan));
    });
}

/// A host that was stopped for longer than any peer would wait finds the links as they
/// were, if the others were stopped as well: a clock that has jumped makes no peer
/// dead.
#[test]
fn a_clock_that_jumps_kills_nobody() {
    let plan = Plan::pair(Config::default(), [8_000, 500, 500]);
    seeds(2, |seed| {
        let mut net = Net::new(plan.clone(), seed);
        net.run(net.now.after(300_000 + seed * 1_000), |_| false);
        net.fate(0, 0, Fate::Pause { for_ns: 30 * S });
        net.fate(0, 1, Fate::Pause { for_ns: 30 * S });
        net.run_to_the_end(2_000 * S);
        assert_eq!(net.delivered(), total(&plan));
    });
}

#[test]
fn a_dead_peer_is_named() {
    let plan = Plan {
        pairs: vec![(0, 1), (0, 2), (1, 2)],
        ..Plan::pair(Config::default(), [4_000, 0, 0])
    };
    seeds(3, |seed| {
        let mut net = Net::new(plan.clone(), seed);
        net.closing_is_wrong = false;
        net.run(net.now.after(100_000), |_| false);
        net.fate(0, 1, Fate::Die);
        let died = net.now;
        let told = net.run(died.after(60 * S), |net| net.lost_links().len() == 2);
        assert!(told, "{:?}", net.lost_links());
        assert!(
            net.now.since(died) < 12 * S,
            "after {:?}",
            net.now.since(died)
        );
        for (_, peer, reason) in net.lost_links() {
            assert_eq!(peer.0, 101);
            assert!(matches!(reason, CloseReason::Silent { .. }), "{reason}");
        }
    });
}

/// A host that sends nothing to it also notices its death.
#[test]
fn the_death_of_an_idle_peer_is_noticed() {
    let plan = Plan::pair(Config::default(), [1, 0, 0]);
    seeds(2, |seed| {
        let mut net = run(&plan, seed);
        net.closing_is_wrong = false;
        net.run(net.now.after(20 * S), |_| false);
        net.fate(0, 1, Fate::Die);
        let died = net.now;
        assert!(net.run(died.after(20 * S), |net| !net.lost_links().is_empty()));
    });
}

/// Restarts while frames of the earlier life are in flight: the streams of two lives are
/// never mixed, and the last life gets everything.
#[test]
fn restarts_are_not_confused_with_their_past() {
    let plan = Plan {
        faults: Faults {
            late_ns: 3_000_000,
            ..Faults::all()
        },
        pairs: vec![(0, 1), (0, 2)],
        keep_ppm: 50_000,
        keep_ns: 1_000_000,
        ..Plan::pair(Config::default(), [3_000, 300, 300])
    };
    seeds(8, |seed| {
        let mut net = Net::new(plan.clone(), seed);
        net.closing_is_wrong = false;
        for host in &mut net.hosts {
            host.reopens = true;
        }
        for _ in 0..6 {
            let after_ns = net.random.below(4_000_000);
            let host = net.random.below(3) as usize;
            net.fate(after_ns, host, Fate::Restart);
            net.run(net.now.after(after_ns + 1), |_| false);
        }
        net.run_to_the_end(2_000 * S);
        let reasons = net.lost_links();
        assert!(
            reasons
                .iter()
                .all(|(_, _, reason)| matches!(reason, CloseReason::Restarted { .. })),
            "{reasons:?}"
        );
    });
}

#[test]
fn paths_with_a_smaller_mtu_get_smaller_frames() {
    // The room in each MTU is smaller by the bytes that are added to every frame.
    for (mtu, added_bytes, expected) in [
        (9_000, 0, 9_000),
        (4_000, 0, 1500),
        (1300, 0, 1280),
        (600, 0, 576),
        (500, 0, 128),
        (9_000, 36, 8_964),
        (1500, 36, 1464),
        (1300, 36, 1244),
        (1280, 36, 1244),
        (576, 36, 540),
        (575, 36, 128),
        (1280, 84, 1196),
    ] {
        let config = Config {
            frame_len_max: 9_000 - added_bytes,
            added_bytes,
            ..Config::default()
        };
        let plan = Plan {
            faults: Faults {
                frame_len_max: mtu - added_bytes,
                ..Faults::default()
            },
            ..Plan::pair(config, [500, 50, 50])
        };
        seeds(1, |seed| {
            let net = run(&plan, seed);
            for host in &net.hosts {
                assert_eq!(
                    host.frame_lens,
                    [expected],
                    "MTU {mtu}, {added_bytes} added"
                );
            }
        });
    }
}

/// A network that carries nothing for a while, like a switch that was just switched on,
/// is not treated as one that carries only short frames.
#[test]
fn a_network_that_is_late_gets_long_frames() {
    for (mtu, expected) in [(1500, 1500), (1300, 1280)] {
        let plan = Plan {
            faults: Faults {
                frame_len_max: mtu,
                loss_ppm: 10_000,
                ..Faults::default()
            },
            ..Plan::pair(Config::default(), [500, 50, 50])
        };
        seeds(4, |seed| {
            let mut net = Net::new(plan.clone(), seed);
            net.partition(0, 1, 5 * S);
            net.run_to_the_end(2_000 * S);
            for host in &net.hosts {
                assert_eq!(host.frame_lens, [expected]);
            }
        });
    }
}

#[test]
fn a_thousand_links_on_one_endpoint() {
    let plan = Plan {
        pairs: (1..=1_000).map(|leaf| (0, leaf)).collect(),
        faults: Faults {
            loss_ppm: 5_000,
            ..Faults::default()
        },
        ..Plan::pair(Config::default(), [30, 3, 3])
    };
    seeds(1, |seed| {
        let net = run(&plan, seed);
        let hub = &net.hosts[0].endpoint;
        assert!(hub.memory_bytes() < 64 << 20, "{}", hub.memory_bytes());
    });
}

/// Millions of packets; minutes.
#[test]
#[ignore = "slow"]
fn long_run() {
    let packets = std::env::var("HOSTWIRE_NET_PACKETS")
        .ok()
        .map_or(100_000, |packets| packets.parse().expect("a number"));
    let plan = Plan {
        faults: Faults::all(),
        pairs: vec![(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
        keep_ppm: 20_000,
        keep_ns: 100_000,
        ..Plan::pair(Config::default(), [packets, packets / 5, packets / 5])
    };
    seeds(4, |seed| drop(run(&plan, seed)));
}

/// The short tests with many more seeds; minutes.
#[test]
#[ignore = "slow"]
fn many_seeds() {
    seeds(600, |seed| {
        let pick = |shift: u32, values: &[u16]| values[(seed >> shift) as usize % values.len()];
        let config = Config {
            buffers: [pick(0, &[1, 2, 9, 200]), pick(1, &[1, 3]), pick(2, &[1, 4])],
            queue_packets_max: [pick(1, &[0, 1, 8]), pick(2, &[0, 1]), pick(3, &[0, 3])],
            frames_in_flight_max: pick(3, &[1, 2, 7, 100]),
            pool_frames_max: (seed % 5) as usize * 3,
            credit_batch: [pick(0, &[1, 60_000]), pick(2, &[60_000, 1]), 60_000],
            frame_len_max: [128, 1500, 9000][seed as usize % 3],
            ..Config::default()
        };
        let plan = Plan {
            faults: Faults::all(),
            pairs: vec![(0, 1), (0, 2)],
            keep_ppm: 200_000,
            keep_ns: 20_000,
            ..Plan::pair(config, [300, 100, 100])
        };
        run(&plan, seed);
    });
}
