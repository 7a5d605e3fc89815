//! Links that share a queue with each other and with a stream of TCP, in virtual time: one switch with one
//! port. Its queue drops frames that do not fit, and may mark frames that wait long.

#[path = "net/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "sharing/tcp.rs"]
mod tcp;

use std::collections::{BTreeMap, VecDeque};

use hostwire_link::{Config, Endpoint, Identity, LinkId, Node, Ns};
use hostwire_testing::or_long;
use random::Random;
use tcp::{Control, Tcp};

/// Links have opened by then.
const OPEN_NS: u64 = 1_000_000;

/// What Ethernet adds to each frame: header, CRC, preamble, gap.
const ETHERNET_BYTES: u64 = 14 + 4 + 8 + 12;

/// The port of a switch, and what lies before and behind it.
struct Port {
    ns_per_kb: u64,
    queue_bytes_max: u64,
    /// From the sender to the port, and from it to the receiver.
    delay_ns: u64,
    loss_ppm: u32,
    /// Frames behind so many bytes are marked.
    mark_bytes: u64,
    dropped: u64,
    random: Random,
    free_at: u64,
    /// When each frame that waits or leaves has left, and its bytes.
    waiting: VecDeque<(u64, u64)>,
    waiting_bytes: u64,
}

impl Port {
    fn new(megabits_per_s: u64, queue_frames: u64, delay_ns: u64) -> Self {
        Self {
            ns_per_kb: 8_000_000 / megabits_per_s,
            queue_bytes_max: queue_frames * 1538,
            delay_ns,
            loss_ppm: 0,
            mark_bytes: u64::MAX,
            dropped: 0,
            random: Random::new(1),
            free_at: 0,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
        }
    }

    fn take_ns(&self, bytes: u64) -> u64 {
        bytes * self.ns_per_kb / 1_000
    }

    /// When a frame that leaves a sender now is at its receiver, and whether it is marked; `None` if it is
    /// dropped.
    fn carry(&mut self, now: u64, frame_bytes: u64) -> Option<(u64, bool)> {
        let bytes = frame_bytes + ETHERNET_BYTES;
        while let Some((_, gone)) = self.waiting.pop_front_if(|(at, _)| *at <= now) {
            self.waiting_bytes -= gone;
        }
        let waits = self.waiting_bytes;
        if waits + bytes > self.queue_bytes_max || self.random.happens(self.loss_ppm) {
            self.dropped += 1;
            return None;
        }
        self.free_at = self.free_at.max(now) + self.take_ns(bytes);
        self.waiting.push_back((self.free_at, bytes));
        self.waiting_bytes += bytes;
        Some((self.free_at + 2 * self.delay_ns, waits > self.mark_bytes))
    }
}

/// A sender of lines without end, and its receiver.
struct Job {
    ends: [(Endpoint, LinkId); 2],
    put: u64,
    /// Lines that have arrived.
    got: u64,
}

impl Job {
    fn new(number: u32) -> Self {
        let default = Config::default();
        let config = Config {
            buffers: [20 * default.frames_in_flight_max, 256, 256],
            early_frames_max: 1024,
            ..default
        };
        let end = |node: u32| {
            let identity = Identity {
                node: Node(node),
                job: number.into(),
                incarnation: 1,
            };
            let mut endpoint = Endpoint::new(config.clone(), identity, node.into()).unwrap();
            let link = endpoint.link(Node(1 - node)).unwrap();
            endpoint.open(Ns(1), link).unwrap();
            (endpoint, link)
        };
        Self {
            ends: [end(0), end(1)],
            put: 0,
            got: 0,
        }
    }

    fn receive(&mut self, now: u64, to: usize, frame: &[u8], is_marked: bool) {
        let (end, link) = &mut self.ends[to];
        if is_marked {
            end.note_mark(Node(1 - to as u32));
        }
        let mut early;
        let mut frame = frame;
        while let Ok(Some(delivery)) = end.receive(Ns(now), frame) {
            self.got += delivery.packets.clone().count() as u64;
            end.release(Ns(now), delivery.link, delivery.filled())
                .unwrap();
            early = end.take_early(*link);
            let Some(next) = &early else { break };
            frame = next;
        }
    }

    /// The frames that each end sends now.
    fn sent(&mut self, now: u64) -> Vec<(usize, Vec<u8>)> {
        let (sender, link) = &mut self.ends[0];
        // All links open first: a program that sends waits for that as well.
        while now > OPEN_NS
            && sender.is_open(*link) == Ok(true)
            && sender.put(*link, self.put * 64, &[7; 64 * 22]).is_ok()
        {
            self.put += 22;
        }
        let mut frames = Vec::new();
        for (from, (end, _)) in self.ends.iter_mut().enumerate() {
            end.on_timeout(Ns(now));
            while let Some(transmit) = end.poll_transmit(Ns(now)) {
                frames.push((1 - from, transmit.frame.to_vec()));
            }
        }
        frames
    }
}

enum Arrival {
    /// A frame of a job, to one of its ends, and whether it is marked.
    Frame(usize, usize, Vec<u8>, bool),
    Segment(u64),
    Ack(u64),
}

/// The shares of the port that jobs and a TCP stream have got in `ms` milliseconds. The first tenth does
/// not count.
fn share(port: Port, jobs: u32, tcp: Option<Control>, ms: u64) -> Vec<f64> {
    share_and_drop(port, jobs, tcp, ms).0
}

/// Frames in flight, by time of arrival and order of sending.
#[derive(Default)]
struct Arrivals {
    waiting: BTreeMap<(u64, u64), Arrival>,
    sent: u64,
}

impl Arrivals {
    fn push(&mut self, at: u64, arrival: Arrival) {
        self.sent += 1;
        self.waiting.insert((at, self.sent), arrival);
    }

    /// The next frame that has arrived by now.
    fn pop(&mut self, now: u64) -> Option<Arrival> {
        let first = self.waiting.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// When the next one arrives.
    fn next(&self) -> Option<u64> {
        self.waiting.keys().next().map(|(at, _)| *at)
    }
}

/// The same, and how many frames were dropped.
fn share_and_drop(mut port: Port, jobs: u32, tcp: Option<Control>, ms: u64) -> (Vec<f64>, u64) {
    let end = ms * 1_000_000;
    let mut jobs: Vec<Job> = (0..jobs).map(Job::new).collect();
    let mut tcp = tcp.map(Tcp::new);
    let mut arrivals = Arrivals::default();
    let mut now = 1;
    let mut before: Option<Vec<u64>> = None;
    let bytes = |jobs: &[Job], tcp: &Option<Tcp>| -> Vec<u64> {
        let tcp = tcp.iter().map(|tcp| tcp.arrived() * 1448);
        jobs.iter().map(|job| job.got * 64).chain(tcp).collect()
    };
    while now < end {
        while let Some(arrival) = arrivals.pop(now) {
            match (arrival, &mut tcp) {
                (Arrival::Frame(job, to, frame, is_marked), _) => {
                    jobs[job].receive(now, to, &frame, is_marked);
                }
                (Arrival::Segment(number), Some(tcp)) => {
                    let ack = tcp.receive(number);
                    arrivals.push(now + 2 * port.delay_ns, Arrival::Ack(ack));
                }
                (Arrival::Ack(ack), Some(tcp)) => tcp.acked(now, ack),
                _ => unreachable!("there is no TCP"),
            }
        }
        for (job, state) in jobs.iter_mut().enumerate() {
            for (to, frame) in state.sent(now) {
                // The way back is never full.
                let carried = match to {
                    1 => port.carry(now, frame.len() as u64),
                    _ => Some((now + 2 * port.delay_ns, false)),
                };
                if let Some((at, is_marked)) = carried {
                    arrivals.push(at, Arrival::Frame(job, to, frame, is_marked));
                }
            }
        }
        while let Some(number) = tcp.as_mut().and_then(|tcp| tcp.send(now)) {
            // TCP here ignores marks.
            if let Some((at, _)) = port.carry(now, 1500) {
                arrivals.push(at, Arrival::Segment(number));
            }
        }
        if before.is_none() && now > end / 10 {
            before = Some(bytes(&jobs, &tcp));
        }
        let ends = jobs.iter().flat_map(|job| &job.ends);
        let deadlines = ends.filter_map(|(end, _)| end.deadline());
        let next = deadlines.map(|at| at.0).chain(arrivals.next());
        let next = next.chain(tcp.iter().map(Tcp::deadline)).min();
        now = next.unwrap().max(now + 1);
    }
    let carried = (end - end / 10) as f64 / port.take_ns(1538) as f64 * 1448.0;
    let (before, after) = (before.unwrap(), bytes(&jobs, &tcp));
    let got = before.iter().zip(after);
    let shares = got.map(|(before, after)| (after - before) as f64 / carried);
    (shares.collect(), port.dropped)
}

/// Ports that two jobs and TCP share: Mb/s, frames of the queue, delay before and behind it, and for how long.
const SHARED: [(u64, u64, u64, u64); 3] = [
    (1_000, 100, 20_000, 800),
    (200, 60, 20_000, 3_000),
    (10_000, 300, 5_000, 200),
];

#[test]
fn two_jobs_and_tcp_get_their_shares_of_a_link() {
    for &(megabits_per_s, queue_frames, delay_ns, ms) in &SHARED[..or_long(2, SHARED.len())] {
        for control in [Control::RENO, Control::CUBIC] {
            let port = Port::new(megabits_per_s, queue_frames, delay_ns);
            let shares = share(port, 2, Some(control), ms);
            // 0.6 of a third.
            let fair = shares.iter().all(|share| *share >= 0.2);
            assert!(
                fair,
                "{megabits_per_s} Mb/s, {queue_frames} frames, {control:?}: {shares:.2?}"
            );
        }
    }
}

#[test]
fn sixteen_senders_to_one_port_keep_it_busy() {
    // The shortest queue is the hardest to keep busy.
    for &queue_frames in or_long(&[32][..], &[32, 64, 200]) {
        // Longer than two of the longest timeouts: with a queue of two frames per sender some are lost for
        // that long.
        let shares = share(Port::new(10_000, queue_frames, 5_000), 16, None, 500);
        let sum: f64 = shares.iter().sum();
        let none_starves = shares.iter().all(|share| *share >= 0.1 / 16.0);
        assert!(
            sum >= 0.8 && none_starves,
            "{queue_frames} frames: {sum:.2} {shares:.3?}"
        );
    }
}

#[test]
fn one_percent_of_loss_does_not_bring_a_shared_link_down() {
    for control in [Control::RENO, Control::CUBIC] {
        let mut port = Port::new(1_000, 100, 20_000);
        port.loss_ppm = 10_000;
        let shares = share(port, 2, Some(control), 400);
        let sum: f64 = shares.iter().sum();
        let fair = shares.iter().all(|share| *share >= 0.2);
        assert!(sum >= 0.8 && fair, "{control:?}: {sum:.2} {shares:.2?}");
    }
}

/// Where the network marks, jobs share it as well as where it drops, and lose nearly no frames.
#[test]
fn marks_do_what_losses_do() {
    let share_with = |marks_behind_frames: u64| {
        let mut port = Port::new(1_000, 100, 20_000);
        port.mark_bytes = marks_behind_frames.saturating_mul(1538);
        share_and_drop(port, 2, None, 300)
    };
    let (_, dropped_unmarked) = share_with(u64::MAX);
    let (shares, dropped) = share_with(30);
    let sum: f64 = shares.iter().sum();
    let fair = shares.iter().all(|share| *share >= 0.3);
    assert!(
        sum >= 0.8 && fair && 10 * dropped <= dropped_unmarked,
        "{sum:.2} {shares:.2?}, {dropped} of {dropped_unmarked} dropped"
    );
}

/// The figures of the decision: `cargo test --release -p hostwire-link --test sharing -- --ignored --nocapture`.
#[test]
#[ignore = "prints a table"]
#[expect(clippy::print_stdout, reason = "its purpose")]
fn table() {
    let parts =
        |shares: &[f64], of: f64| -> Vec<f64> { shares.iter().map(|share| share * of).collect() };
    for control in [Control::RENO, Control::CUBIC] {
        for (megabits_per_s, queue_frames, delay_ns, ms) in SHARED {
            let port = Port::new(megabits_per_s, queue_frames, delay_ns);
            let shares = share(port, 2, Some(control), ms);
            println!(
                "{megabits_per_s} Mb/s, {control:?}: {:.2?}",
                parts(&shares, 3.0)
            );
        }
    }
    for queue_frames in [32, 64, 200] {
        let shares = share(Port::new(10_000, queue_frames, 5_000), 16, None, 500);
        let sum: f64 = shares.iter().sum();
        println!(
            "{queue_frames} frames: {sum:.2} {:.2?}",
            parts(&shares, 16.0)
        );
    }
}
