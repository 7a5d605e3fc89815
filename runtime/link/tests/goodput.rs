//! How much of a cable's rate is left when it loses frames, in virtual time: two endpoints
//! with the settings of the wire between hosts, a stream of lines one way, one seed.

#[path = "net/random.rs"]
#[allow(dead_code)]
mod random;

use std::collections::VecDeque;

use hostwire_link::{Config, Endpoint, Identity, LinkId, Node, Ns, SendError};
use random::Random;

/// 10 Gb/s, and what Ethernet adds to each frame: header, CRC, preamble, gap.
const NS_PER_KB: u64 = 800;
const ETHERNET_BYTES: u64 = 14 + 4 + 8 + 12;
/// Cable, switch, interrupts.
const DELAY_NS: u64 = 10_000;
const LINES: u64 = 50_000;

/// As in `runtime/wires/frames/src/connect.rs`: credits for everything that may be in
/// flight.
fn config() -> Config {
    let default = Config::default();
    Config {
        buffers: [20 * default.frames_in_flight_max, 256, 256],
        early_frames_max: 1024,
        ..default
    }
}

/// One direction of a cable: frames leave one after the other and arrive in order.
#[derive(Default)]
struct Cable {
    free_at: u64,
    frames: VecDeque<(u64, Option<Vec<u8>>)>,
}

impl Cable {
    fn carry(&mut self, now: u64, frame: &[u8], is_lost: bool) {
        let bytes = frame.len() as u64 + ETHERNET_BYTES;
        self.free_at = self.free_at.max(now) + bytes * NS_PER_KB / 1_000;
        let frame = (!is_lost).then(|| frame.to_vec());
        self.frames.push_back((self.free_at + DELAY_NS, frame));
    }

    fn next_at(&self) -> Option<u64> {
        self.frames.front().map(|(at, _)| *at)
    }
}

#[derive(Debug)]
struct Run {
    ns: u64,
    resent: u64,
    timeouts: u64,
}

fn endpoint(node: u32) -> (Endpoint, LinkId) {
    let identity = Identity {
        node: Node(node),
        job: 1,
        incarnation: 1,
    };
    let mut endpoint = Endpoint::new(config(), identity, node.into()).unwrap();
    let link = endpoint.link(Node(1 - node)).unwrap();
    endpoint.open(Ns(1), link).unwrap();
    (endpoint, link)
}

/// Sends [`LINES`] lines from end 0 to end 1 until all are acknowledged.
fn run(loss_ppm: u32, seed: u64) -> Run {
    stream(loss_ppm, seed, LINES, false)
}

/// As [`run`], with `lines` lines, each sent only after the previous one has been
/// acknowledged.
fn one_by_one(loss_ppm: u32, seed: u64, lines: u64) -> Run {
    stream(loss_ppm, seed, lines, true)
}

fn stream(loss_ppm: u32, seed: u64, lines: u64, alone: bool) -> Run {
    let mut random = Random::new(seed);
    let mut ends = [endpoint(0), endpoint(1)];
    // By their receiving end.
    let mut cables = [Cable::default(), Cable::default()];
    let (mut now, mut put, mut got) = (1, 0, 0);
    let mut begin = None;
    let mut ticket = None;
    loop {
        for to in 0..2 {
            while cables[to].next_at().is_some_and(|at| at <= now) {
                let (_, frame) = cables[to].frames.pop_front().unwrap();
                let (end, link) = &mut ends[to];
                let mut next = frame;
                while let Some(frame) = next.take() {
                    let Ok(Some(delivery)) = end.receive(Ns(now), &frame) else {
                        break;
                    };
                    for packet in delivery.packets.clone() {
                        assert_eq!(packet.data(), line(got), "the line with number {got}");
                        got += 1;
                    }
                    end.release(Ns(now), delivery.link, delivery.filled())
                        .unwrap();
                    next = end.take_early(*link).map(Vec::from);
                }
            }
        }
        let (sender, link) = &mut ends[0];
        if sender.is_open(*link) == Ok(true) {
            begin.get_or_insert(now);
            let mut waits = alone && sender.frames_kept(*link) > 0;
            while put < lines && !waits {
                match sender.put(*link, put * 64, &line(put)) {
                    Ok(_) => put += 1,
                    Err(SendError::Full { .. }) => break,
                    Err(error) => panic!("{error}"),
                }
                if alone || put == lines {
                    ticket = sender.ticket(*link);
                }
                waits = alone;
            }
        }
        for from in 0..2 {
            let (end, _) = &mut ends[from];
            end.on_timeout(Ns(now));
            while let Some(transmit) = end.poll_transmit(Ns(now)) {
                let is_lost = begin.is_some() && random.happens(loss_ppm);
                cables[1 - from].carry(now, transmit.frame, is_lost);
            }
        }
        let (sender, link) = &ends[0];
        let arrived = put == lines
            && ticket.is_some_and(|ticket| {
                sender.progress(*link, ticket) == hostwire_link::Progress::Arrived
            });
        if arrived {
            assert_eq!(got, lines);
            let counters = sender.counters();
            return Run {
                ns: now - begin.unwrap_or(now),
                resent: counters.frames_resent,
                timeouts: counters.timeouts,
            };
        }
        let deadlines = ends.iter().filter_map(|(end, _)| end.deadline());
        let next = deadlines.map(|at| at.0);
        let next = next.chain(cables.iter().filter_map(Cable::next_at)).min();
        now = next.unwrap().max(now + 1);
    }
}

fn line(number: u64) -> [u8; 64] {
    let mut line = [number as u8; 64];
    line[..8].copy_from_slice(&number.to_le_bytes());
    line
}

/// Repairs do not wait for a timer: a nak names the missing frame, and every frame in
/// that direction repeats the nak until the frame has arrived.
#[test]
fn one_percent_of_loss_leaves_more_than_half_of_the_rate() {
    let clean = run(0, 0);
    assert_eq!((clean.resent, clean.timeouts), (0, 0));
    for (loss_ppm, least) in [(1_000, 0.8), (10_000, 0.5)] {
        for seed in 0..4 {
            let lossy = run(loss_ppm, seed);
            let left = clean.ns as f64 / lossy.ns as f64;
            assert!(
                left > least,
                "{left} of the rate: {loss_ppm} ppm, {seed}: {lossy:?}"
            );
            assert_eq!(lossy.timeouts, 0, "{loss_ppm} ppm, {seed}: {lossy:?}");
        }
    }
}

/// The rate is far lower then, but the stream goes on, and every line is right.
#[test]
fn twenty_percent_of_loss_leaves_some_of_it() {
    let clean = run(0, 0);
    for (loss_ppm, least) in [(100_000, 0.1), (200_000, 0.01)] {
        for seed in 0..4 {
            let lossy = run(loss_ppm, seed);
            let left = clean.ns as f64 / lossy.ns as f64;
            assert!(
                left > least,
                "{left} of the rate: {loss_ppm} ppm, {seed}: {lossy:?}"
            );
        }
    }
}

/// If a lone frame is lost, no frame behind it shows this. Only the timer does. It does
/// not stay long, although many frames are lost.
#[test]
fn a_frame_that_is_alone_waits_for_few_timeouts() {
    for seed in 0..4 {
        let lossy = one_by_one(200_000, seed, 1_000);
        let ns_per_line = lossy.ns / 1_000;
        assert!(ns_per_line < 5_000_000, "{ns_per_line}: {lossy:?}");
    }
}

/// The table of `docs/link.md`: `cargo test --release -p hostwire-link --test goodput -- --ignored --nocapture`.
#[test]
#[ignore = "prints a table"]
#[expect(clippy::print_stdout, reason = "its purpose")]
fn table() {
    let clean = run(0, 0);
    println!("clean: {clean:?}");
    for loss_ppm in [1_000, 10_000, 50_000, 100_000, 200_000] {
        let mut left: Vec<f64> = (0..8)
            .map(|seed| clean.ns as f64 / run(loss_ppm, seed).ns as f64)
            .collect();
        left.sort_by(f64::total_cmp);
        println!("{loss_ppm} ppm: {left:.3?}");
    }
}
