//! Two PEs that put to each other in turn, as a transport drives them, in virtual time: a round trip must
//! cost nothing besides its two frames.

use hostwire_link::packing::{Look, Packing, Timings, Turn};
use hostwire_link::{Config, Counters, Endpoint, Identity, LinkId, Node, Ns};

/// The time of a look that finds nothing.
const LOOK_NS: u64 = 50;
/// Slow start, the opening of the link and the first turns of the agents are over by then.
const WARM_NS: u64 = 2_000_000;
const ROUNDS: u64 = 1_000;

/// A PE, its agent and its half of the link.
struct Pe {
    endpoint: Endpoint,
    link: LinkId,
    packing: Packing,
    /// When the agent takes its next turn.
    alarm: Ns,
    agent_turns: u64,
    /// How often the PE has moved the alarm.
    alarms_set: u64,
}

impl Pe {
    fn new(node: u32) -> Self {
        let identity = Identity {
            node: Node(node),
            job: 1,
            incarnation: 1,
        };
        let config = Config {
            packing: Timings::SOCKET,
            early_frames_max: 1024,
            ..Config::default()
        };
        let mut endpoint = Endpoint::new(config, identity, 7).unwrap();
        let link = endpoint.link(Node(1 - node)).unwrap();
        endpoint.open(Ns(1), link).unwrap();
        Self {
            endpoint,
            link,
            packing: Packing::new(Timings::SOCKET),
            alarm: Ns(1),
            agent_turns: 0,
            alarms_set: 0,
        }
    }

    fn let_go(&mut self) {
        while let Some(link) = self.packing.let_go() {
            self.endpoint.flush(link);
        }
    }

    fn drive(&mut self, now: Ns, come: &mut Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        for frame in come.drain(..) {
            if let Ok(Some(delivery)) = self.endpoint.receive(now, &frame) {
                let (link, filled) = (delivery.link, delivery.filled());
                self.endpoint.release(now, link, filled).unwrap();
            }
        }
        self.endpoint.on_timeout(now);
        self.packing.transmits();
        let mut left = Vec::new();
        while let Some(transmit) = self.endpoint.poll_transmit(now) {
            left.push(transmit.frame.to_vec());
        }
        if !left.is_empty() {
            self.packing.left(now);
            self.endpoint.is_sent(now, self.link);
        }
        left
    }

    fn give_back(&mut self) {
        if let Some(at) = self.packing.wake_agent_by(self.endpoint.deadline()) {
            self.alarm = at;
            self.alarms_set += 1;
        }
    }

    fn look(&mut self, now: Ns, come: &mut Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let drives = self.packing.look() == Look::Drive || !come.is_empty();
        let left = match drives {
            true => {
                self.let_go();
                self.drive(now, come)
            }
            false => Vec::new(),
        };
        self.give_back();
        left
    }

    fn put(&mut self, now: Ns) -> Vec<u8> {
        assert!(self.packing.is_at_rest(), "it has looked");
        let frame = self.endpoint.put_alone(self.link, 0, &[1; 64]);
        let frame = frame.expect("no other frame waits").frame.to_vec();
        self.endpoint.has_left(now, self.link);
        self.packing.left_alone(now, self.link);
        self.give_back();
        frame
    }

    fn serve(&mut self, now: Ns) -> Vec<Vec<u8>> {
        if now < self.alarm {
            return Vec::new();
        }
        self.agent_turns += 1;
        if self.packing.begin_turn(now) {
            self.let_go();
        }
        let left = self.drive(now, &mut Vec::new());
        let due = self.packing.due(self.endpoint.deadline());
        self.alarm = match self.packing.end_turn(now, false, due) {
            Turn::Again => now.after(1_000),
            Turn::Aside(ns) => now.after(ns),
            Turn::Sleep(until) => until,
        };
        left
    }

    fn counts(&self) -> (Counters, u64, u64) {
        (self.endpoint.counters(), self.alarms_set, self.agent_turns)
    }
}

/// Both PEs and the cable between them, which takes `half_trip_ns`.
struct Pair {
    now: Ns,
    pes: [Pe; 2],
    half_trip_ns: u64,
    /// Frames on the cable, by the PE that they go to, each with when it comes.
    cable: [Vec<(Ns, Vec<u8>)>; 2],
}

impl Pair {
    fn new(half_trip_ns: u64) -> Self {
        let mut pair = Self {
            now: Ns(1),
            pes: [Pe::new(0), Pe::new(1)],
            half_trip_ns,
            cable: [Vec::new(), Vec::new()],
        };
        while pair.now < Ns(WARM_NS) || !pair.are_open() {
            pair.look();
        }
        pair
    }

    fn are_open(&self) -> bool {
        self.pes
            .iter()
            .all(|pe| pe.endpoint.is_open(pe.link) == Ok(true))
    }

    fn send(&mut self, from: usize, frames: impl IntoIterator<Item = Vec<u8>>) {
        let at = self.now.after(self.half_trip_ns);
        self.cable[1 - from].extend(frames.into_iter().map(|frame| (at, frame)));
    }

    /// Both look once. Returns whether a frame has come, by PE.
    fn look(&mut self) -> [bool; 2] {
        self.now = self.now.after(LOOK_NS);
        let now = self.now;
        [0, 1].map(|to| {
            let is_here = |(at, _): &(Ns, Vec<u8>)| *at <= now;
            let mut come: Vec<_> = self.cable[to]
                .extract_if(.., |frame| is_here(frame))
                .map(|(_, frame)| frame)
                .collect();
            let has_come = !come.is_empty();
            let served = self.pes[to].serve(now);
            let left = self.pes[to].look(now, &mut come);
            self.send(to, served.into_iter().chain(left));
            has_come
        })
    }

    fn put(&mut self, from: usize) {
        let frame = self.pes[from].put(self.now);
        self.send(from, [frame]);
    }

    fn round_trips(&mut self, rounds: u64) {
        for _ in 0..rounds {
            for from in [0, 1] {
                self.put(from);
                while !self.look()[1 - from] {}
            }
        }
    }
}

#[test]
fn a_round_trip_is_two_frames_and_sets_no_alarm() {
    // Within a machine, through a switch, and slower than an ack may wait.
    for half_trip_ns in [1_000, 2_500, 10_000, 40_000] {
        let mut pair = Pair::new(half_trip_ns);
        pair.round_trips(WARM_NS.div_ceil(2 * half_trip_ns));
        let (before, begin) = ([0, 1].map(|pe| pair.pes[pe].counts()), pair.now);
        pair.round_trips(ROUNDS);
        let took_ns = pair.now.since(begin);
        for (pe, (before, alarms_before, turns_before)) in before.into_iter().enumerate() {
            let (after, alarms, turns) = pair.pes[pe].counts();
            let frames = after.frames_sent - before.frames_sent;
            let acks = after.acks_sent - before.acks_sent;
            assert_eq!((frames, acks), (ROUNDS, 0), "{half_trip_ns} ns, PE {pe}");
            assert_eq!(alarms, alarms_before, "{half_trip_ns} ns, PE {pe}");
            let turns_max = took_ns / Timings::SOCKET.aside_looking_max_ns + 1;
            let turns = turns - turns_before;
            assert!(turns <= turns_max, "{half_trip_ns} ns, PE {pe}: {turns}");
        }
    }
}
